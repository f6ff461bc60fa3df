//! A DNS server set up by the user and queried from this machine's sockets: without a testbed, and possibly on the tester's own cores.

use super::session::add_faults_of_the_machine;
use crate::error::RunError;
use sixbench_engine::dns::DnsTester;
use sixbench_io::thread::allowed_cores;
use sixbench_method::record::Watch;
use sixbench_method::trial::{Measurer, TrialResult, TrialSpec};
use sixbench_plan::Links;
use sixbench_testbed::Cores;
use sixbench_testbed::monitor::{self, Monitor, Occupant};
use std::io;
use std::net::{IpAddr, UdpSocket};

/// The tester, with the processors watched if the server may run on them. The server's processes are unknown, so time taken by other processes
/// cannot be detected, but time taken by the host of this virtual machine can.
pub struct WatchedTester {
    tester: DnsTester,
    /// The cores of the tester and of the server, or `None` if the server's address is another machine's.
    cores: Option<Cores>,
}

impl WatchedTester {
    /// Returns the tester for a server that may share these cores with it, or for one on another machine if there are none.
    pub fn new(tester: DnsTester, cores: Option<Cores>) -> Self {
        Self { tester, cores }
    }

    /// Returns the cores of a tester and of a server, if the server has an address of this machine.
    ///
    /// # Errors
    /// The system does not report which cores this process may use.
    pub fn cores_shared_with(server: IpAddr, tester: &[u32]) -> io::Result<Option<Cores>> {
        is_local(server).then(|| shared_cores(tester)).transpose()
    }

    /// Performs one trial, and returns its result and the watch of the processors.
    ///
    /// # Errors
    /// The trial could not be performed, or a stop was requested.
    pub fn measure(&mut self, spec: &TrialSpec) -> Result<(TrialResult, Option<Watch>), RunError> {
        let monitor = self
            .cores
            .as_ref()
            .map(|cores| Monitor::start(cores, monitor::MonitorTargets::default()));
        let measured = self.tester.measure(spec);
        let watch = monitor.map(Monitor::stop);
        let mut result = measured?;
        if let (Some(watch), Some(cores)) = (&watch, &self.cores) {
            add_faults_of_the_machine(&mut result, watch, cores.dut.len());
        }
        Ok((result, watch))
    }

    /// Returns who else uses the cores of tester or server now, between two trials, or `None` if they are free or the server is on another machine.
    /// The server, which is idle then, is not distinguished from other work. Takes a fifth of a second.
    pub fn occupant(&self) -> Option<Occupant> {
        self.cores
            .as_ref()
            .and_then(|cores| monitor::occupant(cores, monitor::MonitorTargets::default()))
    }
}

/// Returns the links of such a tester for the locks on its cores: it has no ports, and a server on another machine uses no cores of this one.
pub fn links_of_server(tester: &[u32], shared: Option<&Cores>) -> Links {
    let dut_cores = shared.map_or(tester, |shared| &shared.dut).to_vec();
    Links {
        tester_cores: tester.to_vec(),
        dut_cores,
        ..Links::default()
    }
}

/// Returns true if the address belongs to this machine, because only such an address can be bound.
pub fn is_local(server: IpAddr) -> bool {
    UdpSocket::bind((server, 0)).is_ok()
}

/// Returns the tester's cores and those of a server on this machine: all cores that are not the tester's, or every core if the tester has them all.
fn shared_cores(tester: &[u32]) -> io::Result<Cores> {
    let allowed = allowed_cores()?;
    let others: Vec<u32> = allowed
        .iter()
        .copied()
        .filter(|core| !tester.contains(core))
        .collect();
    Ok(Cores {
        tester: tester.to_vec(),
        dut: if others.is_empty() { allowed } else { others },
    })
}
