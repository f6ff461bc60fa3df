//! The pattern of a rate limiter, such as a policer, a rule of netfilter, a limit on ICMP or a limit on responses of a DNS server: what passes in a
//! time is the same whatever is offered, and the device has processor time to spare. A device at its limit shows the same plateau, but with a core that
//! is busy; so nothing is said where the cores are not known.
//!
//! A bucket of tokens passes the same rate in each trial (`plateau`). A limiter that counts by the second, as Unbound's does, passes a number of queries
//! at the beginning of each second and then nothing, so that short trials differ in what they pass (`by_second`). A limiter that charges for refused
//! queries as well, as BIND's does, passes a number at first and then nothing for as long as it is asked (`exhausted`).

mod by_second;
mod evidence;
mod exhausted;
mod plateau;
#[cfg(test)]
mod tests;

use super::cores::{busy_percent, dut_cores};
use super::losses::are_of_queries;
use super::with;
use crate::lists::each_once;
use crate::record::{LossSource, TrialRecord};
use crate::terms::LossRatio;
use crate::trial::{TrialKind, Verdict};

/// The busy time of all cores of a device together, in per cent of one core, from which one thread may be its limit, wherever the scheduler puts it.
const ONE_CORE: f64 = 80.0;

/// Returns the sentence on the pattern of the losing trials; `None` if there is none, or if a processor may be the reason.
pub(super) fn pattern(records: &[&TrialRecord], goal: LossRatio) -> Option<String> {
    let mut lost = with(records, goal, Verdict::Lost);
    lost.retain(|record| {
        [TrialKind::Constant, TrialKind::Queries].contains(&record.result.spec.kind)
    });
    if !have_time_to_spare(&lost) {
        return None;
    }
    let of_queries = if are_of_queries(&lost) {
        exhausted::sentence(&lost)
    } else {
        None
    };
    plateau::sentence(&lost)
        .or_else(|| by_second::sentence(&lost))
        .or(of_queries)
}

/// Returns whether nothing but the interfaces tells of the frames that are missing in these trials: the place where they stayed is not known.
pub(super) fn is_place_unknown(lost: &[&TrialRecord]) -> bool {
    let counters = lost
        .iter()
        .filter_map(|record| record.watch.as_deref())
        .flat_map(|watch| &watch.losses);
    let directions = lost.iter().flat_map(|record| &record.result.directions);
    counters
        .map(|counter| counter.source)
        .all(|source| source == LossSource::Passage)
        && directions
            .flat_map(|direction| &direction.icmp_errors)
            .all(|errors| errors.quoting == 0)
}

/// Returns whether the cores of every device were watched in all trials, and no thread can have been at its end.
fn have_time_to_spare(lost: &[&TrialRecord]) -> bool {
    lost.iter().all(|record| {
        let Some(watch) = record.watch.as_deref().filter(|watch| !watch.polling) else {
            return false;
        };
        let devices = each_once(watch.devices.iter().map(|of| of.device.as_str()));
        let machines: Vec<Option<&str>> = if devices.is_empty() {
            vec![None]
        } else {
            devices.into_iter().map(Some).collect()
        };
        machines.into_iter().all(|device| {
            let cores = dut_cores(&[record], device);
            let busy = busy_percent(&cores.iter().collect::<Vec<_>>()) * cores.len() as f64;
            !cores.is_empty() && busy < ONE_CORE
        })
    })
}
