//! Dimensioning: the number of subscribers of a traffic profile that a device can carry, based on its measurements. Reads outcomes, never files.
//!
//! No direction is planned to carry more than was measured while the other carried as much, which is what a throughput in both directions at once
//! states. Frames of a mix take the mean of the times per frame; see [`TimeSource`] for sizes that were not measured.

mod caveats;
mod devices;
mod estimate;
mod frames;
mod gateway;
mod limits;
#[cfg(test)]
mod tests;
mod traffic;

pub use caveats::{PlanningCaveat, PlanningCaveats};
pub use devices::TestedDevice;
pub use estimate::Estimate;
pub use frames::TimeSource;
pub use gateway::{LeftOutDevice, shares_addresses};
pub use limits::{CarryingLimit, MissingLimit, MixGap, SubscriberLimit};
pub use traffic::{Assumption, Imix, PrintedAssumption, SubscriberLoad, SubscriberTraffic};

use crate::trust::trust;
use limits::MeasuredRun;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Plan;
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::status::planned_points;

/// The number of ports of an IPv4 address that translators assign, 1024 to 65535.
pub const PORTS_OF_AN_ADDRESS: f64 = 64_512.0;

/// The number of subscribers that a device can carry.
#[derive(Clone, Debug)]
pub struct Dimensioning<'a> {
    /// The device and its tests.
    pub device: TestedDevice<'a>,
    /// Each measured limit, the lowest number of subscribers first.
    pub limits: Vec<CarryingLimit>,
    /// The number of subscribers whose frames and new connections together use up the same processors; `None` if either was not measured, or if they
    /// use separate processors.
    pub together: Option<Estimate>,
    /// The limits that were not measured, with the points that should have measured them.
    pub missing: Vec<MissingLimit<'a>>,
    /// The mixes of which fewer than half of the octets are in frames of measured sizes.
    pub gaps: Vec<MixGap>,
}

/// The subscribers that the gateways of a run can carry.
#[derive(Clone, Debug)]
pub struct SubscriberEstimates<'a> {
    /// Each gateway, in the order of the plan.
    pub gateways: Vec<Dimensioning<'a>>,
    /// The devices that are not gateways for subscribers.
    pub left_out: Vec<LeftOutDevice>,
    /// How the numbers came about.
    pub caveats: PlanningCaveats,
}

impl Dimensioning<'_> {
    /// Returns the number of subscribers that the device can carry according to its measurements; `None` unless frames of both mixes were measured.
    pub fn carried(&self) -> Option<Estimate> {
        let has = |limit| self.limits.iter().any(|found| found.limit == limit);
        if !has(SubscriberLimit::Downstream) || !has(SubscriberLimit::Upstream) {
            return None;
        }
        let alone = self.limits.first().map(|limit| limit.subscribers)?;
        Some(
            self.together
                .filter(|together| together.value < alone.value)
                .unwrap_or(alone),
        )
    }

    /// Returns the number of public IPv4 addresses that this many subscribers need if each connection has its own port.
    pub fn addresses(traffic: &SubscriberTraffic, subscribers: f64) -> f64 {
        (traffic.load().held_connections * subscribers / PORTS_OF_AN_ADDRESS).ceil()
    }
}

/// Returns the dimensioning of each gateway of a run, in the order of the plan, with the devices that are none.
///
/// `outcomes` are the completed repetitions among `records`.
pub fn dimension<'a>(
    traffic: &SubscriberTraffic,
    plan: &'a Plan,
    records: &[TrialRecord],
    outcomes: &[Outcome],
    facts: &'a Facts,
) -> SubscriberEstimates<'a> {
    let points = planned_points(plan, records, outcomes, facts);
    let (gateways, others) = divided(plan, |dut| {
        facts.duts.get(dut).map(|facts| {
            (
                facts.technology.clone(),
                shares_addresses(&facts.technology, facts.path.as_ref()),
            )
        })
    });
    let caveats = PlanningCaveats::find(
        &gateways,
        records,
        facts,
        trust(plan, facts, records, outcomes, &points),
    );
    let run = MeasuredRun {
        traffic,
        points: &points,
        outcomes,
    };
    SubscriberEstimates {
        gateways: gateways
            .into_iter()
            .map(|device| run.dimension(device))
            .collect(),
        left_out: others,
        caveats,
    }
}

/// Divides the devices of a plan into gateways and others. `technology_of` returns the title of a device's technology and whether subscribers share
/// its addresses, or `None` if the device is not known.
pub fn divided(
    plan: &Plan,
    technology_of: impl Fn(&str) -> Option<(String, bool)>,
) -> (Vec<TestedDevice<'_>>, Vec<LeftOutDevice>) {
    let (mut gateways, mut others) = (Vec::new(), Vec::new());
    for device in TestedDevice::all(plan) {
        let known = technology_of(device.dut);
        if known.as_ref().is_some_and(|(_, is_gateway)| *is_gateway) {
            gateways.push(device);
            continue;
        }
        let other = LeftOutDevice {
            dut: device.dut.to_owned(),
            technology: known.map(|(technology, _)| technology),
        };
        if !others.contains(&other) {
            others.push(other);
        }
    }
    (gateways, others)
}
