//! One device with the tester at its two links, ready for trials.

use super::ports;
use crate::config::{Backend, Links};
use crate::exit::{Exit, Failed};
use sixbench_engine::profile::Profile;
use sixbench_engine::{FrameTester, Layout, MeasureError};
use sixbench_io::thread::allowed_cores;
use sixbench_method::plan::TrialSettings;
use sixbench_method::record::{DutFacts, Watch};
use sixbench_method::terms::FrameSize;
use sixbench_method::trial::{Fault, Measurer, TrialResult, TrialSpec};
use sixbench_testbed::monitor::Monitor;
use sixbench_testbed::{Cores, Dut, Recipe, Shell, Topology, existing};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Octets of layer 3 on links of our own: room for every frame size up to Ethernet's ordinary maximum.
const ORDINARY_MTU: u32 = 1500;

/// Where and how devices are measured.
pub(crate) struct Site<'a> {
    pub(crate) shell: &'a Shell,
    pub(crate) links: &'a Links,
    pub(crate) trial: TrialSettings,
    pub(crate) stop: Arc<AtomicBool>,
    /// Where the first frames of both ports are kept, if anywhere.
    pub(crate) pcap: Option<&'a std::path::Path>,
}

/// A device and its tester. What is dropped first comes first: ports, then the device, then its links.
pub(crate) struct Session {
    tester: FrameTester,
    dut: Option<Dut>,
    /// Held for its drop.
    _topology: Option<Topology>,
    cores: Cores,
    layout: Vec<String>,
    warnings: Vec<String>,
}

impl Session {
    /// Builds the testbed for `recipe`, brings the device up and opens the ports for `profile`.
    /// The links carry frames of up to `largest`.
    pub(crate) fn open(site: &Site<'_>, recipe: &Recipe, profile: Profile, largest: FrameSize) -> Result<Self, Failed> {
        let cores = cores(site.links)?;
        let broken = |e| Failed::new(Exit::Testbed, e);
        let (topology, dut) = match &site.links.interfaces {
            Some((left, right)) => {
                existing::check(site.shell, left).and_then(|()| existing::check(site.shell, right)).map_err(broken)?;
                (None, None)
            }
            None => {
                let mtu = ORDINARY_MTU.max(u32::from(largest.0).saturating_sub(18));
                let topology = Topology::build(site.shell, "", cores.clone(), mtu).map_err(broken)?;
                let dut = Dut::bring_up(recipe, &topology).map_err(broken)?;
                (Some(topology), Some(dut))
            }
        };
        let mut layout = topology.as_ref().map(Topology::layout).unwrap_or_else(|| on_interfaces(site.links));
        let (ports, how) = open_ports(site, topology.as_ref())?;
        layout.push(format!("frames are sent and received by {how}"));
        let threads = Layout { cores: cores.tester.clone() };
        let warnings = threads.warnings();
        let tester = FrameTester::new(ports, profile, site.trial, threads, site.stop.clone());
        Ok(Self { tester, dut, _topology: topology, cores, layout, warnings })
    }

    /// Changes the traffic.
    pub(crate) fn set_profile(&mut self, profile: Profile) {
        self.tester.set_profile(profile);
    }

    /// One trial, with the processors watched.
    pub(crate) fn measure(&mut self, spec: &TrialSpec) -> Result<(TrialResult, Watch), Failed> {
        let monitor = Monitor::start(&self.cores);
        let result = self.tester.measure(spec);
        let watch = monitor.stop();
        match result {
            Ok(mut result) => {
                let milliseconds = watch.stolen_ms("dut");
                if milliseconds > 0 {
                    result.faults.push(Fault::CpuStolen { milliseconds });
                }
                self.check_alive().map(|()| (result, watch))
            }
            Err(MeasureError::Interrupted) => Err(Failed::new(Exit::Interrupted, MeasureError::Interrupted)),
            // A silent device may be a dead one: that is the better message.
            Err(error) => self.check_alive().and(Err(Failed::new(Exit::Testbed, error))),
        }
    }

    fn check_alive(&mut self) -> Result<(), Failed> {
        let dut = self.dut.as_mut();
        dut.map_or(Ok(()), Dut::check_alive).map_err(|error| Failed::new(Exit::Testbed, error))
    }

    /// What the report says of the device. One that somebody else set up is known by its recipe only.
    pub(crate) fn dut_facts(&self, recipe: &Recipe) -> DutFacts {
        let unknown = || DutFacts {
            title: recipe.title.clone(),
            technology: recipe.technology.title().to_owned(),
            version: "set up by hand: version not known to sixbench".to_owned(),
            ..DutFacts::default()
        };
        self.dut.as_ref().map_or_else(unknown, |dut| dut.facts().clone())
    }

    /// A shell beside the device, where it runs in a namespace of ours.
    #[cfg(test)]
    pub(crate) fn dut_shell(&self) -> Option<Shell> {
        self._topology.as_ref().map(|topology| topology.dut().shell())
    }

    /// How it is laid out, in sentences.
    pub(crate) fn layout(&self) -> &[String] {
        &self.layout
    }

    /// What is not as it should be, in sentences.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Who runs on which core: as the plan says, else divided.
pub(crate) fn cores(links: &Links) -> Result<Cores, Failed> {
    let allowed = allowed_cores()?;
    let mut wanted = links.tester_cores.iter().chain(&links.dut_cores);
    if let Some(core) = wanted.find(|core| !allowed.contains(core)) {
        return Err(Failed::usage(format!("core {core} is not among the cores this process may use ({allowed:?})")));
    }
    let divided = Cores::divide(&allowed);
    let or = |wanted: &[u32], otherwise: Vec<u32>| if wanted.is_empty() { otherwise } else { wanted.to_vec() };
    Ok(match links.interfaces {
        // The device has a machine of its own; all cores are the tester's.
        Some(_) => Cores { tester: or(&links.tester_cores, allowed.into_iter().take(4).collect()), dut: vec![] },
        None => Cores { tester: or(&links.tester_cores, divided.tester), dut: or(&links.dut_cores, divided.dut) },
    })
}

fn on_interfaces(links: &Links) -> Vec<String> {
    let (left, right) = links.interfaces.clone().unwrap_or_default();
    vec![format!("the DUT is cabled to this machine's interfaces {left} and {right}; it was set up by somebody else")]
}

type Ports = (Box<dyn sixbench_io::Port>, Box<dyn sixbench_io::Port>);

fn open_ports(site: &Site<'_>, topology: Option<&Topology>) -> Result<(Ports, String), Failed> {
    let namespace = topology.map(|t| t.tester().name().to_owned());
    let ours = || ("left".to_owned(), "right".to_owned());
    let (left, right) = site.links.interfaces.clone().unwrap_or_else(ours);
    let open = |interface: &str, backend: Backend| {
        ports::open(namespace.as_deref(), interface, backend).map_err(|error| Failed::new(Exit::Testbed, error))
    };
    let (left, right) = (open(&left, site.links.io)?, open(&right, site.links.io)?);
    let how = if left.how == right.how { left.how.clone() } else { format!("{} and {}", left.how, right.how) };
    Ok(((tee(site, left.port, "left")?, tee(site, right.port, "right")?), how))
}

/// Frames kept of each port.
const TEE_FRAMES: usize = 10_000;

fn tee(site: &Site<'_>, port: Box<dyn sixbench_io::Port>, name: &str) -> Result<Box<dyn sixbench_io::Port>, Failed> {
    let Some(directory) = site.pcap else { return Ok(port) };
    let path = directory.join(format!("{name}.pcap"));
    let tee = sixbench_io::pcap::Tee::new(port, &path, TEE_FRAMES);
    let tee = tee.map_err(|e| Failed::usage(format!("cannot write {}: {e}", path.display())))?;
    Ok(Box::new(tee))
}
