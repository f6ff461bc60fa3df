//! Refuses, before anything is touched, plans that no machine could run and those that cannot work on this one.

use super::conformance;
use super::memory;
use crate::agent;
use crate::ends::cores::{check_cores, check_rss_hash};
use crate::error::{PlanError, RunError, with_causes};
use crate::profile::{self, Job};
use crate::version::VERSION;
use sixbench_io::PortSpec;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::record::{SkipReason, SkippedTest};
use sixbench_method::terms::FrameSize;
use sixbench_plan::{Links, LoadedPlan, check_filtering, check_vector_load};
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{
    Library, Recipe, Shell, check_machines, doctor, existing, interfaces, lab, why_missing,
};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// Removes optional tests whose devices are not available on this machine, and records them with the reason in the plan's `left_out`. Returns one
/// sentence for each. [`leave_out_missing_elsewhere`] does the same for devices on other machines.
pub fn leave_out_missing(loaded: &mut LoadedPlan, library: &Library) -> Vec<String> {
    if loaded.links.ports.is_some() {
        return unseen(loaded);
    }
    leave_out(loaded, library, |_, recipe| why_missing(recipe))
}

/// Does the same for devices on other machines, which are examined over ssh. The user must have agreed to the plan's files.
///
/// # Errors
/// A machine cannot be reached, so its devices are unknown.
pub fn leave_out_missing_elsewhere(
    loaded: &mut LoadedPlan,
    library: &Library,
) -> Result<Vec<String>, RunError> {
    if loaded.links.machines.is_empty() || !loaded.plan.tests.iter().any(|test| test.optional) {
        return Ok(Vec::new());
    }
    let shell = Shell::new();
    let reached = loaded
        .links
        .machines
        .iter()
        .map(|machine| machine.reach(&shell))
        .collect::<Result<Vec<_>, _>>()?;
    let why = |test: &Test, recipe: &Recipe| {
        check_machines(&reached, recipe, &test.core_limits(), &shell)
            .err()
            .map(|error| error.to_string())
    };
    Ok(leave_out(loaded, library, why))
}

/// Returns a sentence about optional tests whose devices the user sets up: such a device can only be detected once it has to answer.
fn unseen(loaded: &LoadedPlan) -> Vec<String> {
    let optional = loaded
        .plan
        .tests
        .iter()
        .filter(|test| test.optional && loaded.links.machines.is_empty());
    let names: Vec<&str> = optional.map(|test| test.name.as_str()).collect();
    let text = "`optional` leaves out no test whose device you set up yourself at `left` and `right`, as it cannot be seen before; choose the tests \
                with --only";
    if names.is_empty() {
        Vec::new()
    } else {
        vec![format!("{}: {text}", names.join(", "))]
    }
}

/// Removes the optional tests for which `why` returns a reason.
fn leave_out(
    loaded: &mut LoadedPlan,
    library: &Library,
    why: impl Fn(&Test, &Recipe) -> Option<String>,
) -> Vec<String> {
    let mut left_out = Vec::new();
    loaded.plan.tests.retain(|test| {
        let Some(recipe) = library.get(&test.dut).filter(|_| test.optional) else {
            return true;
        };
        let why = why(test, recipe);
        left_out.extend(why.clone().map(|why| (test.clone(), why)));
        why.is_none()
    });
    let texts = left_out
        .iter()
        .map(|(test, why)| format!("test {} is left out: {why}", test.name))
        .collect();
    loaded
        .left_out
        .extend(left_out.into_iter().map(|(test, why)| {
            let name = test.name.clone();
            SkippedTest {
                test: name,
                reason: SkipReason::LeftOut {
                    why,
                    planned: Box::new(test),
                },
            }
        }));
    texts
}

/// Reads the rate of the NICs' media if the plan does not give one. The lower of the two counts.
pub fn find_link_rate(loaded: &mut LoadedPlan) {
    if let (None, Some([left, right])) = (loaded.plan.link_rate, loaded.links.interfaces()) {
        // A run that was killed may not have given them back.
        interfaces::give_back_stale(&Shell::new());
        loaded.plan.link_rate = existing::link_rate(left)
            .zip(existing::link_rate(right))
            .map(|(l, r)| l.min(r));
    }
}

/// Refuses plans that no machine could run, because a device does not understand the traffic or a test cannot have it.
///
/// # Errors
/// All tests that do not match their devices' recipes or, if none, the first forbidden address.
pub fn check_traffic(plan: &Plan, library: &Library, isolation: Isolation) -> Result<(), RunError> {
    // The plan may have been given another profile after it was read.
    if let Some((test, empty)) = plan
        .tests
        .iter()
        .find_map(|test| Some((test, test.empty_trial(plan)?)))
    {
        return Err(RunError::from(PlanError(empty.to_string())).of_test(&test.name));
    }
    // Collects all mistakes. One that occurs at every frame size is listed once.
    let (mut mistakes, mut forbidden) = (Vec::new(), None::<RunError>);
    for test in &plan.tests {
        let unknown = || RunError::UnknownRecipe(test.dut.clone()).of_test(&test.name);
        let recipe = library.get(&test.dut).ok_or_else(unknown)?;
        // Includes destinations to which only the device sends, such as a DNS64 server's authority.
        if isolation == Isolation::Unknown && forbidden.is_none() {
            let destination = recipe.forbidden_destinations().into_iter().next();
            forbidden = destination.map(RunError::ForbiddenInRecipe);
        }
        if let Some(selection) = test.measure.requirements() {
            let checked = conformance::trial::check(recipe, test, selection, isolation);
            note(checked, &mut mistakes, &mut forbidden);
            continue;
        }
        match first_job(plan, test, recipe) {
            Ok(job) => {
                let admitted = job.map_or(Ok(()), |job| job.admit(isolation));
                forbidden = forbidden.or(admitted.err().map(RunError::from));
            }
            Err(mistake) => mistakes.push(mistake.to_string()),
        }
        if let Err(mistake) = profile::dns::authority(library, test) {
            mistakes.push(mistake.to_string());
        }
    }
    if !mistakes.is_empty() {
        return Err(PlanError(mistakes.join("\n")).into());
    }
    forbidden.map_or(Ok(()), Err)
}

/// Returns the job of a test at its first frame size, at each of which the addresses are the same. Every size must be possible.
fn first_job(plan: &Plan, test: &Test, recipe: &Recipe) -> Result<Option<Job>, PlanError> {
    check_sizes(test)?;
    check_conditions(test)?;
    let job = |size: &FrameSize| profile::job(recipe, test, *size, plan.seed, plan.trial);
    let jobs: Vec<Job> = test.frame_sizes.iter().map(job).collect::<Result<_, _>>()?;
    Ok(jobs.into_iter().next())
}

/// Refuses a resolved plan whose frame size is not that of its mix of sizes, as results would be filed under a size that no mean has, and a mix where the
/// frames of a trial can have only one size. The reader of a plan file sees to both.
fn check_sizes(test: &Test) -> Result<(), PlanError> {
    let Some(mix) = test.traffic.size_mix else {
        return Ok(());
    };
    let (name, nominal) = (&test.name, mix.nominal());
    let mistake = if !test.measure.family().can_mix_sizes() {
        format!(
            "{} has frames of one size; leave size-mix out",
            test.measure.name()
        )
    } else if test.frame_sizes != [nominal] {
        format!("the mix {mix} has the mean size {nominal}; write frame-sizes = [{nominal}]")
    } else {
        return Ok(());
    };
    Err(PlanError(format!("test {name}: {mistake}")))
}

/// Refuses a resolved plan with conditions of RFC 2544 section 11, or bursts, that the trials of a test cannot have. The reader of a plan file does so at the line.
fn check_conditions(test: &Test) -> Result<(), PlanError> {
    let trials = test.conditioned();
    let (what, key) =
        if test.traffic.broadcast_every.is_some() && trials.broadcast_conflict().is_some() {
            ("its trials can have no broadcast frames", "broadcast-every")
        } else if test.filters > 0 && trials.filter_conflict().is_some() {
            ("its frames would not pass filters", "filters")
        } else if test.traffic.burst.is_some() && trials.burst_conflict().is_some() {
            ("its frames cannot be sent in bursts", "burst")
        } else {
            return Ok(());
        };
    let text = format!("test {}: {what}; leave {key} out", test.name);
    Err(PlanError(text))
}

/// Adds the error of a test to the mistakes; a forbidden address is told only if there is no mistake.
fn note(
    checked: Result<(), RunError>,
    mistakes: &mut Vec<String>,
    forbidden: &mut Option<RunError>,
) {
    match checked {
        Err(error) if matches!(error.root(), RunError::Forbidden(_)) => {
            forbidden.get_or_insert(error);
        }
        Err(error) => mistakes.push(with_causes(&error)),
        Ok(()) => {}
    }
}

/// Refuses, before anything is touched, plans that cannot work here: no root privileges, a missing program or core, a forbidden destination.
///
/// # Errors
/// The first reason why the plan cannot be run here.
pub fn check(loaded: &LoadedPlan, library: &Library, isolation: Isolation) -> Result<(), RunError> {
    memory::check_limit()?;
    check_traffic(&loaded.plan, library, isolation)?;
    check_vectors(loaded, library)?;
    check_filters(loaded, library)?;
    check_devices(loaded, library)?;
    check_settings(loaded, library)?;
    check_ports(loaded, library)?;
    let links = &loaded.links;
    let own: Vec<String> = links
        .own_ports()
        .flat_map(PortSpec::kernel_interfaces)
        .collect();
    if !own.is_empty() {
        let shell = Shell::new();
        interfaces::give_back_stale(&shell);
        own.iter()
            .try_for_each(|interface| existing::check(&shell, interface, links.own_addresses))?;
    }
    check_remote(loaded, library)?;
    let of_delays = loaded
        .plan
        .tests
        .iter()
        .find(|test| test.needs_one_way_delays(&loaded.plan));
    loaded.links.agent.as_ref().map_or(Ok(()), |machine| {
        agent::check(machine, loaded.links.own_addresses, of_delays)
    })
}

/// Refuses settings that do not fit this machine or each other: cores, hashes, devices that are up at once, memory. Touches nothing.
///
/// # Errors
/// The first setting that does not fit. Where it is one of a test, the error names the test.
pub fn check_settings(loaded: &LoadedPlan, library: &Library) -> Result<(), RunError> {
    memory::check_limit()?;
    check_cores(&loaded.links, &loaded.plan, library)?;
    check_rss_hash(&loaded.links, &loaded.plan)?;
    check_interleaving(loaded, library)?;
    memory::check_plan(&loaded.plan, library)
}

/// Refuses ports of two kinds, as an interface is moved into a namespace and an address cannot be. Ports that are no interfaces need no root.
fn check_ports(loaded: &LoadedPlan, library: &Library) -> Result<(), RunError> {
    let links = &loaded.links;
    let in_memory = |test: &Test| {
        library
            .get(&test.dut)
            .is_some_and(|recipe| recipe.host == DeviceHost::Memif)
    };
    match &links.ports {
        Some([PortSpec::Address(..), PortSpec::Address(..)]) => Ok(()),
        Some([left, right]) if left.interface().is_some() != right.interface().is_some() => {
            let text = format!(
                "the ports {left} and {right} are of two kinds: name two interfaces, or two addresses of a backend"
            );
            Err(PlanError(text).into())
        }
        None if loaded.plan.tests.iter().all(in_memory) => Ok(()),
        _ if doctor::is_root() => Ok(()),
        _ => Err(RunError::NeedsRoot),
    }
}

/// Checks, before the first test begins, that the machines of the device or devices and that of the authority can be reached and have everything
/// that the tests need.
fn check_remote(loaded: &LoadedPlan, library: &Library) -> Result<(), RunError> {
    let shell = Shell::new();
    let reached = loaded
        .links
        .machines
        .iter()
        .map(|machine| machine.reach(&shell))
        .collect::<Result<Vec<_>, _>>()?;
    let tests = || {
        loaded
            .plan
            .tests
            .iter()
            .filter_map(|test| Some((test, library.get(&test.dut)?)))
    };
    for (test, recipe) in tests().filter(|_| !reached.is_empty()) {
        check_machines(&reached, recipe, &test.core_limits(), &shell)
            .map_err(|error| RunError::from(error).of_test(&test.name))?;
    }
    let Some(authority) = &loaded.links.authority else {
        return Ok(());
    };
    let listen: BTreeSet<SocketAddr> = tests()
        .map(|(_, recipe)| profile::dns::authority_address(recipe))
        .collect();
    let listen: Vec<SocketAddr> = listen.into_iter().collect();
    Ok(authority
        .reach(&shell)?
        .check(&reached, VERSION, &listen, &shell)?)
}

/// Refuses vectors for devices at interfaces that the plan names: they are sent to devices that sixbench sets up on links of its own. Refuses a load
/// beside them that a device cannot have, which the reader of a plan file tells at its line, and that of a resolved plan does not.
fn check_vectors(loaded: &LoadedPlan, library: &Library) -> Result<(), RunError> {
    let mut tests = loaded.plan.tests.iter();
    let asked = tests.find(|test| test.measure.requirements().is_some());
    match asked.filter(|_| loaded.links.ports.is_some()) {
        Some(test) => Err(PlanError(format!(
            "test {}: conformance is for devices on links that sixbench builds, not at interfaces of [testbed]",
            test.name
        ))
        .into()),
        None => loaded
            .plan
            .tests
            .iter()
            .try_for_each(|test| check_load_of(test, library, &loaded.links)),
    }
}

fn check_load_of(test: &Test, library: &Library, links: &Links) -> Result<(), RunError> {
    let is_loaded = test
        .measure
        .requirements()
        .is_some_and(|selection| selection.under_load.is_some());
    match library.get(&test.dut).filter(|_| is_loaded) {
        Some(recipe) => check_vector_load(recipe, links.io, links.ports.as_ref())
            .map_err(|refusal| RunError::from(refusal).of_test(&test.name)),
        None => Ok(()),
    }
}

/// Refuses filters of devices that cannot have them, which the reader of a plan file tells at their line, and that of a resolved plan does not.
fn check_filters(loaded: &LoadedPlan, library: &Library) -> Result<(), RunError> {
    let mut filtering = loaded.plan.tests.iter().filter(|test| test.filters > 0);
    filtering.try_for_each(|test| {
        library.get(&test.dut).map_or(Ok(()), |recipe| {
            check_filtering(recipe, loaded.links.is_set_up_by_hand())
                .map_err(|refusal| RunError::from(refusal).of_test(&test.name))
        })
    })
}

/// Checks that the programs of devices on this machine are installed, and that the interfaces of devices set up by hand are given.
fn check_devices(loaded: &LoadedPlan, library: &Library) -> Result<(), RunError> {
    if loaded.links.ports.is_some() {
        return Ok(());
    }
    loaded.plan.tests.iter().try_for_each(|test| {
        let Some(recipe) = library.get(&test.dut) else {
            return Ok(());
        };
        let authority = profile::dns::authority(library, test)?;
        let recipe = recipe.with_filters(test.filters);
        check_device(test, &recipe, authority).map_err(|error| error.of_test(&test.name))
    })
}

fn check_device(test: &Test, recipe: &Recipe, authority: Option<&Recipe>) -> Result<(), RunError> {
    if recipe.host == DeviceHost::Manual {
        return Err(RunError::SetUpByHand(recipe.name.clone()));
    }
    if recipe.host == DeviceHost::Memif && test.measure.family().needs_hosts() {
        return Err(RunError::NeedsInterfaces);
    }
    lab::check_for(recipe)?;
    if let Some(wanted) = test.cores.filter(|cores| *cores > 1 && recipe.is_in_lab()) {
        return Err(RunError::OneCore {
            wanted,
            is_row: !recipe.parts.is_empty(),
        });
    }
    if !recipe.is_for_namespaces() {
        return Err(RunError::NeedsMachine {
            recipe: recipe.name.clone(),
            system: recipe.system.title(),
        });
    }
    let mut missing = [Some(recipe), authority]
        .into_iter()
        .flatten()
        .flat_map(Recipe::missing);
    missing.next().map_or(Ok(()), |need| {
        Err(RunError::NotInstalled {
            program: need.program.clone(),
            cure: need.cure().clone(),
        })
    })
}

/// Refuses to interleave several devices on the same interfaces, because only one can be cabled at a time, and a polling device with others,
/// because it would take their cores.
fn check_interleaving(loaded: &LoadedPlan, library: &Library) -> Result<(), RunError> {
    let devices: BTreeSet<&str> = loaded
        .plan
        .tests
        .iter()
        .map(|test| test.dut.as_str())
        .collect();
    if !loaded.plan.interleave || devices.len() < 2 {
        return Ok(());
    }
    let polls = |name: &&&str| {
        library
            .get(name)
            .is_some_and(|recipe| recipe.devices().iter().any(|part| part.polling))
    };
    if let Some(name) = devices
        .iter()
        .find(polls)
        .filter(|_| loaded.links.machines.is_empty())
    {
        let text = format!(
            "{name} polls, so it would take the cores of the other devices: set interleave = false"
        );
        return Err(PlanError(text).into());
    }
    if loaded.links.ports.is_some() {
        let text =
            "two devices cannot be up at once on the same two interfaces: set interleave = false";
        return Err(PlanError(text.to_owned()).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_refused_at_interfaces_that_the_plan_names() {
        const CABLED: &str = "[testbed]\nleft = \"eth1\"\nright = \"eth2\"\n";
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let checked = |testbed: &str, measure: &str| {
            let text = format!(
                "name = \"p\"\n{testbed}[[test]]\nname = \"t\"\ndut = \"tayga-siit\"\nmeasure = \"{measure}\"\n"
            );
            let loaded = sixbench_plan::load(&text, &library).expect("a plan");
            check_vectors(&loaded, &library).map_err(|error| error.to_string())
        };
        assert_eq!(checked("", "conformance"), Ok(()));
        assert_eq!(checked(CABLED, "throughput"), Ok(()));
        let refused = checked(CABLED, "conformance").expect_err("refused");
        assert!(refused.contains("test t: conformance is for"), "{refused}");
    }

    #[test]
    fn a_load_beside_vectors_is_refused_where_no_line_of_a_plan_file_asks_for_it() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let text = "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"tayga-siit\"\nmeasure = \"conformance\"\nunder-load = \"20k\"\n";
        let mut loaded = sixbench_plan::load(text, &library).expect("a plan");
        let checked =
            |loaded: &LoadedPlan| check_vectors(loaded, &library).map_err(|e| with_causes(&e));
        assert_eq!(checked(&loaded), Ok(()));
        loaded.plan.tests[0].dut = "nft-nat44".to_owned();
        let refused = checked(&loaded).expect_err("refused");
        assert!(
            refused.contains("test t") && refused.contains("nft-nat44 keeps connections"),
            "{refused}"
        );
    }
}
