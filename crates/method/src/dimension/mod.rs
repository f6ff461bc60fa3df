//! Dimensioning: the number of subscribers of a traffic profile that a device can carry, based on its measurements. Reads outcomes, never files.
//!
//! No direction is planned to carry more than was measured while the other carried as much, which is what a throughput in both directions at once
//! states. Frames of a mix take the mean of the times per frame; see [`TimeSource`] for sizes that were not measured.

mod devices;
mod estimate;
mod frames;
mod limits;
#[cfg(test)]
mod tests;
mod traffic;

pub use devices::TestedDevice;
pub use estimate::Estimate;
pub use frames::TimeSource;
pub use limits::{CarryingLimit, MissingLimit, SubscriberLimit};
pub use traffic::{Assumed, Imix, PrintedAssumption, SubscriberLoad, SubscriberTraffic};

use crate::measures::Outcome;
use crate::plan::Plan;
use crate::record::{Facts, TrialRecord};
use crate::status::planned_points;
use limits::MeasuredRun;

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
}

impl Dimensioning<'_> {
    /// Returns the number of subscribers that the device can carry according to its measurements; `None` without any.
    pub fn carried(&self) -> Option<Estimate> {
        let alone = self.limits.first().map(|limit| limit.subscribers)?;
        Some(self.together.filter(|together| together.value < alone.value).unwrap_or(alone))
    }

    /// Returns the number of public IPv4 addresses that this many subscribers need if each connection has its own port.
    pub fn addresses(traffic: &SubscriberTraffic, subscribers: f64) -> f64 {
        (traffic.load().held_connections * subscribers / PORTS_OF_AN_ADDRESS).ceil()
    }
}

/// Returns the dimensioning of each device of a run, in the order of the plan.
///
/// `outcomes` are the completed repetitions among `records`.
pub fn dimension<'a>(
    traffic: &SubscriberTraffic,
    plan: &'a Plan,
    records: &[TrialRecord],
    outcomes: &[Outcome],
    facts: &'a Facts,
) -> Vec<Dimensioning<'a>> {
    let points = planned_points(plan, records, outcomes, facts);
    let of = |device| MeasuredRun { traffic, points: &points, outcomes }.dimension(device);
    TestedDevice::all(plan).into_iter().map(of).collect()
}
