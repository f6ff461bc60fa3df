//! The rigs, and which vectors each of them fails.

mod ipv4_in_ipv6;
mod ipv6_in_ipv4;
mod map_t;
mod ranges;

use super::fault::Fault;
use super::network::{Network, Technology};

/// A fault in some kinds of devices, with the names of the vectors that each of them fails with it.
pub(super) struct RigRow {
    pub(super) technologies: &'static [Technology],
    pub(super) fault: Fault,
    pub(super) fails: &'static [&'static str],
}

const fn rig(
    technologies: &'static [Technology],
    fault: Fault,
    fails: &'static [&'static str],
) -> RigRow {
    RigRow {
        technologies,
        fault,
        fails,
    }
}

/// Returns the rows of the rigs of the device in a network.
pub(super) fn rigs_of(network: &Network) -> impl Iterator<Item = &'static RigRow> {
    let technology = network.technology;
    let tables = match network.ranges {
        Some(_) => vec![ranges::RIGS],
        None => vec![ipv6_in_ipv4::RIGS, ipv4_in_ipv6::RIGS, map_t::RIGS],
    };
    tables
        .into_iter()
        .flatten()
        .filter(move |row| row.technologies.contains(&technology))
}
