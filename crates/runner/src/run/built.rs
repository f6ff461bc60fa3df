//! The testbed of one device: the device, and the links to the tester. No frames are sent here.

use crate::agent::{self, Agent};
use crate::ends::cores::{cores, fewer};
use crate::ends::{TesterLinks, built_queues, defers_interrupts};
use crate::error::RunError;
use crate::request::{SessionRequest, Site};
use crate::version::VERSION;
use sixbench_io::PortSpec;
use sixbench_plan::{AgentMachine, Links, end_word};
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{
    AuthorityMachine, Cores, Devices, DutOptions, LinkSettings, Recipe, RemoteAuthority, Sysctls,
    TestbedError, layout_of_machines,
};

/// Parts of the tester that are on other machines.
#[derive(Default)]
pub(crate) struct RemoteParts {
    /// The authority behind a DNS64 server, if it has its own machine.
    pub(crate) authority: Option<RemoteAuthority>,
    /// The machine with the other end of the tester, which has taken its interface.
    pub(crate) agent: Option<Agent>,
}

/// A device with its links, ready for a tester. Fields are dropped in the order of declaration: first the device, then its links.
pub(crate) struct BuiltTestbed {
    /// `None` if the user has set the device up.
    pub(crate) dut: Option<Devices>,
    pub(crate) links: TesterLinks,
    /// The parts of the tester on other machines, until the tester takes them over.
    pub(crate) remote: RemoteParts,
    /// The governor that the plan sets, restored last.
    _governor: Option<Sysctls>,
    pub(crate) cores: Cores,
    /// Sentences about the layout.
    pub(crate) layout: Vec<String>,
}

impl BuiltTestbed {
    /// Builds the testbed for a device and brings it up. `carries_frames` is true if the tester sends frames instead of using the kernel's sockets.
    ///
    /// # Errors
    /// The testbed cannot be built. Everything done until then is undone.
    pub(crate) fn build(
        site: &Site<'_>,
        request: &SessionRequest<'_>,
        carries_frames: bool,
    ) -> Result<Self, RunError> {
        let recipe = request.recipe;
        // For all cores of the plan, since the layout of this device is not known yet.
        let governor = set_governor(site)?;
        let of_namespace = request
            .cores
            .of_every()
            .filter(|_| site.links.machines.is_empty());
        let cores = fewer(cores(site.links)?, of_namespace, Some(recipe))?;
        let options = request.device_options()?;
        let settings = LinkSettings {
            mtu: request.mtu(),
            queues: built_queues(site.links, carries_frames),
        };
        let (links, remote, dut) = if let Some(ports) = &site.links.ports {
            set_up_cabled(site, request, ports, carries_frames, &options)?
        } else {
            let (links, dut) = set_up_here(site, request, &cores, settings, &options)?;
            (links, RemoteParts::default(), dut)
        };
        if defers_interrupts(site.links, carries_frames) {
            links.defer_interrupts()?;
        }
        let mut layout = match &links {
            TesterLinks::Built(topology) => topology.layout(),
            TesterLinks::Taken(_) | TesterLinks::Addresses(_) => on_ports(site.links, recipe),
            TesterLinks::Started(_) => cores.layout_in_memory(),
        };
        layout.extend(dut.iter().flat_map(Devices::layout));
        layout.extend(remote.authority.as_ref().map(RemoteAuthority::layout));
        Ok(Self {
            dut,
            links,
            remote,
            _governor: governor,
            cores,
            layout,
        })
    }

    /// Returns an error if one of the devices has ended.
    pub(crate) fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.dut.as_mut().map_or(Ok(()), Devices::check_alive)
    }
}

/// Sets the governor that the plan names, if it names one, for the cores of the tester and of the device.
fn set_governor(site: &Site<'_>) -> Result<Option<Sysctls>, RunError> {
    let Some(governor) = &site.links.governor else {
        return Ok(None);
    };
    let Cores { tester, dut } = cores(site.links)?;
    Ok(Some(Sysctls::govern(
        &[tester, dut].concat(),
        governor,
        &site.shell,
    )?))
}

/// Takes ports that are cabled to a device, and sets up the device, or the devices of a row, if they are on other machines. If the authority behind
/// them has its own machine, that is set up first, because the link to it has no carrier until then.
fn set_up_cabled(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    ports: &[PortSpec; 2],
    carries_frames: bool,
    options: &DutOptions,
) -> Result<(TesterLinks, RemoteParts, Option<Devices>), RunError> {
    let links = TesterLinks::of_ports(site, request, ports, carries_frames)?;
    let authority = site
        .links
        .authority
        .as_ref()
        .map(|machine| set_up_authority(site, machine, request))
        .transpose()?;
    let remote = RemoteParts {
        authority,
        agent: agent::lend(site, request)?,
    };
    let dut = (!site.links.machines.is_empty())
        .then(|| set_up_remote_devices(site, request, options))
        .transpose()?;
    links.wait_for_carriers()?;
    Ok((links, remote, dut))
}

/// Sets up the authority behind a DNS64 server on its own machine.
fn set_up_authority(
    site: &Site<'_>,
    machine: &AuthorityMachine,
    request: &SessionRequest<'_>,
) -> Result<RemoteAuthority, TestbedError> {
    RemoteAuthority::bring_up(
        &machine.reach(&site.shell)?,
        request.recipe,
        &request.name,
        VERSION,
        &site.shell,
    )
}

/// Sets up a device on this machine and its links. `settings` apply to links that are built.
fn set_up_here(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    cores: &Cores,
    settings: LinkSettings,
    options: &DutOptions,
) -> Result<(TesterLinks, Option<Devices>), RunError> {
    let recipe = request.recipe;
    if recipe.host == DeviceHost::Memif {
        let dut = Devices::bring_up_in_memory(recipe, &request.name, cores, &site.shell, options)?;
        let sockets = dut.sockets().expect("a device in memory has sockets");
        return Ok((TesterLinks::of_sockets(sockets), Some(dut)));
    }
    let topology = Devices::links(recipe, &site.shell, &request.name, cores, settings)?;
    let dut = Devices::bring_up(recipe, &topology, options)?;
    Ok((TesterLinks::Built(topology), Some(dut)))
}

/// Sets up the device, or the devices of a row, on other machines.
fn set_up_remote_devices(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    options: &DutOptions,
) -> Result<Devices, TestbedError> {
    let reached = site
        .links
        .machines
        .iter()
        .map(|machine| machine.reach(&site.shell))
        .collect::<Result<Vec<_>, _>>()?;
    Devices::bring_up_on(
        &reached,
        request.recipe,
        &request.name,
        &site.shell,
        options,
    )
}

/// Returns the sentences on the layout of a tester that uses ports it did not create.
fn on_ports(links: &Links, recipe: &Recipe) -> Vec<String> {
    let Some([left, right]) = &links.ports else {
        return Vec::new();
    };
    let (kind, apart) = match links.own_interfaces().len() {
        1.. => (
            "interfaces",
            ", each in a network namespace of the tester's own",
        ),
        0 => ("ports", ""),
    };
    if let Some(agent) = &links.agent {
        return on_two_machines(links, agent, recipe, apart);
    }
    match (links.machines.is_empty(), links.authority.is_some()) {
        (true, true) => vec![
            format!(
                "the DUT is cabled to this machine's interface {left}; it was not set up by sixbench"
            ),
            format!("the tester's interfaces are {left} and {right}{apart}"),
        ],
        (true, false) => vec![format!(
            "the DUT is cabled to this machine's {kind} {left} and {right}{apart}; it was not set up by sixbench"
        )],
        (false, _) => {
            let mut sentences = layout_of_machines(&links.machines, recipe);
            sentences.push(format!("the tester's are {left} and {right}{apart}"));
            sentences
        }
    }
}

/// Returns the sentences on a tester with an end on each of two machines.
fn on_two_machines(
    links: &Links,
    agent: &AgentMachine,
    recipe: &Recipe,
    apart: &str,
) -> Vec<String> {
    let (here, there) = (end_word(agent.other_end()), end_word(agent.sends));
    let mut sentences = vec![format!(
        "the tester is on two machines: its {here} end is the interface {} of this one, its {there} end {} of {}{apart}; the DUT is \
         cabled to both",
        links.own_interfaces().concat(),
        agent.interface,
        agent.remote.destination()
    )];
    if links.machines.is_empty() {
        sentences.push("the DUT was not set up by sixbench".to_owned());
    } else {
        sentences.extend(layout_of_machines(&links.machines, recipe));
    }
    sentences
}
