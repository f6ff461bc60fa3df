//! Dimensioning: how many subscribers of a traffic profile a device carries, by what was measured of it. Reads outcomes, never files.
//!
//! No direction is planned to carry more than was measured of it while the other one carried as much, which is what a throughput in both directions
//! at once says. Frames of a mix take the mean of the times per frame; see [`TimeSource`] for sizes that were not measured.

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

/// The ports of an IPv4 address that translators give away, 1024 to 65535.
pub const PORTS_OF_AN_ADDRESS: f64 = 64_512.0;

/// How many subscribers a device carries.
#[derive(Clone, Debug)]
pub struct Dimensioning<'a> {
    /// The device and its tests.
    pub device: TestedDevice<'a>,
    /// Each limit that was measured, the lowest number of subscribers first.
    pub limits: Vec<CarryingLimit>,
    /// The subscribers whose frames and new connections fill the same processors together; `None` where one of both was not measured, or they have
    /// processors of their own.
    pub together: Option<Estimate>,
    /// The limits that were not measured, with the points that should have told them.
    pub missing: Vec<MissingLimit<'a>>,
}

impl Dimensioning<'_> {
    /// Returns the number of subscribers that the device carries as far as it was measured; `None` where nothing was.
    pub fn carried(&self) -> Option<Estimate> {
        let alone = self.limits.first().map(|limit| limit.subscribers)?;
        Some(self.together.filter(|together| together.value < alone.value).unwrap_or(alone))
    }

    /// Returns the public IPv4 addresses that so many subscribers need if each connection has a port of its own.
    pub fn addresses(traffic: &SubscriberTraffic, subscribers: f64) -> f64 {
        (traffic.load().held_connections * subscribers / PORTS_OF_AN_ADDRESS).ceil()
    }
}

/// Returns how many subscribers each device of a run carries, in the order of the plan.
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
