//! Assigns cores to the tester and the device.

use crate::error::{PlanError, RunError};
use sixbench_io::thread::allowed_cores;
use sixbench_method::plan::Plan;
use sixbench_plan::Links;
use sixbench_testbed::{Cores, Library, Recipe, RemoteMachine, SshConfig};

const BY_DEVICE: &str = "`cores` by device needs a machine for each device of the row (host = [\"ssh:A\", \"ssh:B\"]); in namespaces every device has \
                         as many cores: give a number or a list of numbers";

/// Refuses, before anything is touched, more cores than this machine has. Other machines are checked separately.
pub(crate) fn check_cores(links: &Links, plan: &Plan, library: &Library) -> Result<(), RunError> {
    if !links.machines.is_empty() {
        return cores(links).map(drop);
    }
    if let Some(test) = plan.tests.iter().find(|test| !test.device_cores.is_empty()) {
        return Err(RunError::from(PlanError(BY_DEVICE.to_owned())).of_test(&test.name));
    }
    let cores = cores(links)?;
    plan.tests.iter().try_for_each(|test| {
        let of_test = |error: RunError| error.of_test(&test.name);
        fewer(cores.clone(), test.cores, library.get(&test.dut))
            .map(drop)
            .map_err(of_test)
    })
}

/// Refuses, before anything is touched, a hash for the network cards of a device that has no machine of its own over ssh.
pub(crate) fn check_rss_hash(links: &Links, plan: &Plan) -> Result<(), RunError> {
    const TEXT: &str = "`dut-rss-hash` sets the network cards of a device on another machine (host = \"ssh:NAME\" in [testbed]); the veth pairs of a \
                        namespace have no such hash, and a device that you set up yourself keeps its own: ethtool -N there";
    let wanted = plan
        .tests
        .iter()
        .find(|test| test.dut_rss_hash.is_some())
        .filter(|_| links.machines.is_empty());
    wanted.map_or(Ok(()), |test| {
        Err(RunError::from(PlanError(TEXT.to_owned())).of_test(&test.name))
    })
}

/// Limits the device to the wanted number of its cores. Each of several devices in a row gets that number. Virtual machines may have to share
/// cores: each has at least one virtual core, and the watch shows the sharing.
pub(crate) fn fewer(
    cores: Cores,
    wanted: Option<u32>,
    recipe: Option<&Recipe>,
) -> Result<Cores, RunError> {
    let Some(wanted) = wanted.map(|cores| cores as usize) else {
        return Ok(cores);
    };
    let devices = recipe.map_or(1, |recipe| recipe.parts.len().max(1));
    // Virtual machines share cores where there are too few for all, but there must be as many as one of them wants.
    let wanted = if recipe.is_some_and(Recipe::is_in_lab) {
        (wanted * devices).min(cores.dut.len()).max(wanted)
    } else {
        wanted * devices
    };
    if wanted > cores.dut.len() {
        return Err(RunError::FewCores {
            wanted,
            own: cores.dut,
        });
    }
    Ok(Cores {
        dut: cores.dut[..wanted].to_vec(),
        ..cores
    })
}

/// Returns the default cores of a tester and a DUT on this machine.
pub(crate) fn of_machine() -> std::io::Result<Cores> {
    allowed_cores().map(|allowed| Cores::divide(&allowed))
}

/// Returns the cores that this process may use but neither tester nor DUT does, or none if they cannot be determined.
pub fn spare_cores(links: &Links) -> Vec<u32> {
    let (Ok(used), Ok(allowed)) = (cores(links), allowed_cores()) else {
        return Vec::new();
    };
    allowed
        .into_iter()
        .filter(|core| !used.tester.contains(core) && !used.dut.contains(core))
        .collect()
}

/// Returns what a plan names of this machine and is not there: the key of [testbed], and the mistake.
pub fn check_named_here(links: &Links) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let allowed = allowed_cores().unwrap_or_default();
    for (key, cores) in [
        ("tester-cores", &links.tester_cores),
        ("dut-cores", &links.dut_cores),
    ] {
        if let Some(core) = cores
            .iter()
            .find(|core| !allowed.is_empty() && !allowed.contains(core))
        {
            all.push((
                key,
                RunError::ForeignCore {
                    core: *core,
                    allowed: allowed.clone(),
                }
                .to_string(),
            ));
        }
    }
    let configurations = links.machines.iter().filter_map(RemoteMachine::ssh_config);
    let missing = configurations
        .into_iter()
        .map(SshConfig::path)
        .find_map(|path| Some((path, std::fs::metadata(path).err()?)));
    all.extend(missing.map(|(path, error)| {
        (
            "ssh-config",
            format!("cannot read {}: {error}", path.display()),
        )
    }));
    all
}

/// Returns the cores of a tester's end that has its machine to itself: those wanted, or the default.
pub(crate) fn of_end(wanted: &[u32]) -> Result<Vec<u32>, RunError> {
    let allowed = allowed_cores()?;
    if let Some(core) = wanted.iter().find(|core| !allowed.contains(core)) {
        return Err(RunError::ForeignCore {
            core: *core,
            allowed,
        });
    }
    Ok(if wanted.is_empty() {
        Cores::of_tester(&allowed)
    } else {
        wanted.to_vec()
    })
}

/// Returns the cores of the tester and of the DUT: those in the plan, or a default division.
pub(crate) fn cores(links: &Links) -> Result<Cores, RunError> {
    let allowed = allowed_cores()?;
    let mut wanted = links.tester_cores.iter().chain(&links.dut_cores);
    if let Some(core) = wanted.find(|core| !allowed.contains(core)) {
        return Err(RunError::ForeignCore {
            core: *core,
            allowed,
        });
    }
    let divided = Cores::divide(&allowed);
    let or = |wanted: &[u32], otherwise: Vec<u32>| {
        if wanted.is_empty() {
            otherwise
        } else {
            wanted.to_vec()
        }
    };
    Ok(match links.ports {
        // The device has its own machine, so all cores are the tester's.
        Some(_) => Cores {
            tester: or(&links.tester_cores, Cores::of_tester(&allowed)),
            dut: vec![],
        },
        None => Cores {
            tester: or(&links.tester_cores, divided.tester),
            dut: or(&links.dut_cores, divided.dut),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_for_network_cards_needs_a_machine_over_ssh() {
        let source =
            "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\ndut-rss-hash = \"sd\"\n";
        let there = "[testbed]\nleft = \"e0\"\nright = \"e1\"\nhost = \"ssh:dut\"\ndut-left = \"e0\"\ndut-right = \"e1\"\n";
        let library = Library::load::<&std::path::Path>(&[]).expect("the built-in recipes");
        let check = |source: &str| {
            let loaded = sixbench_plan::load(source, &library).expect("a plan");
            check_rss_hash(&loaded.links, &loaded.plan).map_err(|error| crate::with_causes(&error))
        };
        let refused = check(source).expect_err("veth pairs have no hash");
        assert!(
            refused
                .contains("`dut-rss-hash` sets the network cards of a device on another machine"),
            "{refused}"
        );
        assert_eq!(check(&format!("{source}{there}")), Ok(()));
    }
}
