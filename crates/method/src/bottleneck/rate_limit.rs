//! The pattern of a rate limiter, such as a policer, a rule of netfilter or a limit on ICMP: what passes in a time is the same whatever is offered, and
//! the device has processor time to spare. A device at its limit shows the same plateau, but with a core that is busy; so nothing is said where the
//! cores are not known.

use super::cores::{busy_percent, dut_cores};
use super::with;
use crate::lists::each_once;
use crate::record::{LossSource, TrialRecord};
use crate::terms::{Direction, FrameRate, LossRatio};
use crate::trial::{TrialKind, Verdict};
use crate::units::show_rate;

/// Losing trials that make a pattern.
const FEWEST_TRIALS: usize = 3;

/// The highest of their loads as a multiple of the lowest: over less, a device that is at its limit may pass the same, too.
const SMALLEST_RANGE: f64 = 2.0;

/// Frames that passed in each of them: of fewer, the same number may be an accident.
const FEWEST_FRAMES: u64 = 1000;

/// The share by which the rates that passed may differ.
const LARGEST_SPREAD: f64 = 0.02;

/// The busy time of all cores of a device together, in per cent of one core, from which one thread may be its limit, wherever the scheduler puts it.
const ONE_CORE: f64 = 80.0;

/// What passed in a direction of the losing trials.
struct Plateau {
    direction: Direction,
    passed: FrameRate,
    lowest_load: FrameRate,
    highest_load: FrameRate,
    trials: usize,
}

/// Returns the sentence on the plateau of the losing trials; `None` if there is none, or if a processor may be the reason.
pub(super) fn pattern(records: &[&TrialRecord], goal: LossRatio) -> Option<String> {
    let mut lost = with(records, goal, Verdict::Lost);
    lost.retain(|record| record.result.spec.kind == TrialKind::Constant);
    if !have_time_to_spare(&lost) {
        return None;
    }
    let plateaus: Vec<String> = [Direction::Forward, Direction::Reverse]
        .into_iter()
        .filter_map(|direction| plateau(&lost, direction))
        .map(|plateau| plateau.sentence())
        .collect();
    (!plateaus.is_empty()).then(|| plateaus.join("; "))
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

fn plateau(lost: &[&TrialRecord], direction: Direction) -> Option<Plateau> {
    let mut trials: Vec<(FrameRate, f64)> = Vec::new();
    for record in lost {
        let spec = &record.result.spec;
        let of_direction = record.result.directions.iter();
        let mut losing =
            of_direction.filter(|of| of.direction == direction && of.not_received() > 0);
        let Some(of) = losing.next() else { continue };
        if of.received < FEWEST_FRAMES {
            return None;
        }
        let passed = of.received as f64 * 1e9 / spec.duration_ns.max(1) as f64;
        trials.push((spec.rate, passed));
    }
    let loads = || trials.iter().map(|(load, _)| *load);
    let (lowest_load, highest_load) = (loads().min()?, loads().max()?);
    let least = trials
        .iter()
        .map(|(_, passed)| *passed)
        .fold(f64::MAX, f64::min);
    let most = trials.iter().map(|(_, passed)| *passed).fold(0.0, f64::max);
    let is_flat = least > 0.0 && most - least <= LARGEST_SPREAD * most;
    let is_wide = highest_load.0 as f64 >= SMALLEST_RANGE * lowest_load.0 as f64;
    (trials.len() >= FEWEST_TRIALS && is_flat && is_wide).then(|| Plateau {
        direction,
        passed: FrameRate(least.midpoint(most).round() as u64),
        lowest_load,
        highest_load,
        trials: trials.len(),
    })
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

impl Plateau {
    fn sentence(&self) -> String {
        format!(
            "consistent with a rate limit at about {} frames/s: in the {} direction as much passed in each of {} losing trials at {} to {} frames/s",
            show_rate(self.passed),
            self.direction,
            self.trials,
            show_rate(self.lowest_load),
            show_rate(self.highest_load)
        )
    }
}
