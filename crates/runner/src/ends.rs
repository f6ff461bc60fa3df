//! The tester's ends at a device's links.

use super::cores::cores;
use super::error::RunError;
use super::neighbours;
use super::request::{SessionRequest, Site};
use sixbench_testbed::topology::LINKS;
use sixbench_testbed::{Hosts, Interfaces, Topology};
use std::net::IpAddr;

/// The tester's ends: always in network namespaces of the tester's own, so that nothing gets from one to the other but through the device.
pub(super) enum TesterLinks {
    /// The testbed's own links to devices in namespaces.
    Built(Topology),
    /// Interfaces of this machine.
    Taken(Interfaces),
}

impl TesterLinks {
    /// Returns the namespace and the name of the left and of the right interface.
    pub(super) fn ends(&self) -> [(&str, &str); 2] {
        match self {
            Self::Built(topology) => LINKS.map(|link| (topology.tester().name(), link)),
            Self::Taken(interfaces) => {
                let ([left, right], [left_name, right_name]) = (interfaces.namespaces(), interfaces.names());
                [(left.name(), left_name), (right.name(), right_name)]
            }
        }
    }
}

/// Settles hosts at both ends of the device, with the addresses of its recipe and `others` beside them.
pub(super) fn settle(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    others: (&[IpAddr], &[IpAddr]),
) -> Result<Hosts, RunError> {
    match links {
        TesterLinks::Built(topology) => Ok(Hosts::settle(topology, request.recipe, &request.name, others, &site.shell)?),
        TesterLinks::Taken(interfaces) => {
            let cores = cores(site.links)?.tester;
            let hosts = Hosts::settle_on(interfaces, &cores, request.recipe, others)?;
            neighbours::wait_for(request.recipe, &hosts, site)?;
            Ok(hosts)
        }
    }
}
