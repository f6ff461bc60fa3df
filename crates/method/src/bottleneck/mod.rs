//! The reason why a DUT loses frames: the part of its machine that was exhausted when losses began. Reads records, never the machine.

mod cores;
mod devices;
mod losses;
mod rate_limit;
mod refusals;
mod table;
#[cfg(test)]
mod tests;

pub use crate::watch::cause::{Bottleneck, Cause};
pub use devices::{Chain, ChainBottleneck, Idleness, idleness, weakest};
pub use refusals::{DeliveryRefusal, of_trial, refusals};

use crate::record::TrialRecord;
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{Fault, TrialKind, Verdict};
use crate::units::part_of;
use cores::{Core, busy_percent, dut_cores, list};
use losses::are_of_queries;
use table::Refusals;

/// The number of trials examined on either side of the limit: a single one may be an accident.
pub const TRIALS_AT_LIMIT: usize = 3;

/// The multiple of the lowest losing load beyond which losing trials show an overload rather than the limit.
pub const NEAR_LIMIT: f64 = 1.2;

/// Returns the limit of the DUT in `records`, which belong to one point, from the losing trials at the lowest loads and the passing ones at the
/// highest. A load without a valid trial between the two comes first. Otherwise returns `None` if nothing was lost, or if there is no evidence.
/// Processor shares in the evidence name the trials they come from; those of a passing trial come from [`busiest`], which is the trial that reports
/// plot.
pub fn explain(records: &[&TrialRecord], goal: LossRatio) -> Option<Bottleneck> {
    if let Some(found) = tester(records, goal) {
        return Some(found);
    }
    let lost = lowest_lost(records, goal);
    if lost.is_empty() {
        return None;
    }
    let limit = TrialsAtLimit::new(records, lost, goal);
    let found = limit
        .excuse(goal)
        .or_else(|| limit.exhausted_part())
        .or_else(|| limit.other_cause())?;
    let found = limit.recognize_rate_limit(found, records, goal);
    Some(limit.add_counters(found))
}

/// What the trials on both sides of the limit show of the DUT.
struct TrialsAtLimit<'a> {
    /// The losing trials at the lowest loads.
    lost: Vec<&'a TrialRecord>,
    /// The device whose cores are looked at, if it is not the one under test itself but another of a chain, or an outer machine.
    device: Option<String>,
    losing: WatchedCores,
    at_most: WatchedCores,
    /// The cores in the passing trials at the highest loads.
    before: Vec<Core>,
    /// True if the DUT polls: its cores are always full, and their shares say nothing.
    is_polling: bool,
    drops: Option<losses::Dropped>,
    of_table: Option<Refusals>,
}

impl<'a> TrialsAtLimit<'a> {
    fn new(records: &[&'a TrialRecord], lost: Vec<&'a TrialRecord>, goal: LossRatio) -> Self {
        let elsewhere = devices::least_idle_elsewhere(&lost);
        let on = elsewhere
            .as_ref()
            .map_or_else(String::new, |of| format!("on {} ", of.place()));
        let device = elsewhere.map(|of| of.device);
        let watched = |trials: &str, records: &[&TrialRecord]| WatchedCores {
            name: format!("{on}{trials}"),
            cores: dut_cores(records, device.as_deref()),
        };
        Self {
            losing: watched(LOSING, &lost),
            at_most: watched(HIGHEST, busiest(records, goal).as_slice()),
            before: dut_cores(&highest_passed(records, goal), device.as_deref()),
            is_polling: lost
                .iter()
                .any(|record| record.watch.as_ref().is_some_and(|watch| watch.polling)),
            drops: losses::drops(&lost),
            of_table: table::table_refusals(&lost),
            device,
            lost,
        }
    }

    /// Returns what was done to the DUT, by other work on its machine or by a refusal that it told: neither is a limit of its speed.
    fn excuse(&self, goal: LossRatio) -> Option<Bottleneck> {
        // What a trial lost while nobody disturbed it is not explained by what others did at other times.
        let is_decided = self
            .lost
            .iter()
            .any(|record| record.result.is_loss_decided(goal));
        taken(&self.lost)
            .filter(|_| !is_decided)
            .or_else(|| refusals::as_the_cause(&self.lost))
            .or_else(|| {
                let nothing_lost = nothing_lost(&self.lost);
                steal(&self.losing.cores, &self.before, nothing_lost).filter(|_| !is_decided)
            })
    }

    /// Returns the table or the cores that had nothing left in the losing trials.
    fn exhausted_part(&self) -> Option<Bottleneck> {
        let of_table = self.of_table.as_ref().and_then(Refusals::as_the_cause);
        if of_table.is_some() || self.is_polling {
            return of_table;
        }
        saturation(&self.losing, &self.at_most)
            .or_else(|| one_process_on_the_move(&self.lost, &self.losing, self.device.as_deref()))
    }

    /// Returns the cause where no part was exhausted in the losing trials: a moment's event, or as much as is known of the cores.
    fn other_cause(&self) -> Option<Bottleneck> {
        let event = losses::event(&self.lost).map(|found| Bottleneck {
            evidence: with_shares(found.evidence, &self.losing, &self.at_most),
            ..found
        });
        event
            .or_else(|| self.is_polling.then(|| polling(&self.losing)))
            // A core that was full before anything was lost has no capacity to spare, even if it has some in losing trials.
            .or_else(|| saturation(&self.at_most, &self.losing))
            .or_else(|| {
                (!self.losing.cores.is_empty())
                    .then(|| idle(&self.losing, &self.at_most, self.drops.as_ref()))
            })
    }

    /// Returns a rate limit as the cause instead of `found` if the losses follow its pattern, and `found` does not contradict it.
    fn recognize_rate_limit(
        &self,
        found: Bottleneck,
        records: &[&TrialRecord],
        goal: LossRatio,
    ) -> Bottleneck {
        let may_be_limited = match found.cause {
            Cause::Refused => rate_limit::is_place_unknown(&self.lost),
            // Just above a limit by the second, all that is missing in the lowest losing trial may be due in one second. The pattern is that of several
            // loads.
            cause => matches!(cause, Cause::Unexplained | Cause::Event),
        };
        let pattern = may_be_limited.then(|| rate_limit::pattern(records, goal));
        let Some(pattern) = pattern.flatten() else {
            return found;
        };
        Bottleneck {
            cause: if are_of_queries(&self.lost) {
                Cause::QueryRateLimit
            } else {
                Cause::RateLimit
            },
            evidence: format!("{pattern}; {}", found.evidence),
        }
    }

    /// Adds what counters tell of the losses, where the cause is not that already.
    fn add_counters(&self, mut found: Bottleneck) -> Bottleneck {
        if let Some(at_port) = refusals::at_a_port(&self.lost) {
            // No counter of the kernel above the card tells of these, and cores that had time to spare did not fetch them.
            if found.cause == Cause::Unexplained {
                found.cause = at_port.cause;
            }
            found.evidence = format!("{}; {}", at_port.evidence, found.evidence);
        }
        if let Some(drops) = &self.drops
            && found.cause != Cause::QueueOverflow
        {
            found.evidence = format!("{}; {drops}", found.evidence);
        }
        if let Some(refusals) = &self.of_table
            && found.cause != Cause::ConnectionTable
        {
            found.evidence = format!("{}; {refusals}", found.evidence);
        }
        if found.cause == Cause::Unexplained && are_of_queries(&self.lost) {
            found.cause = Cause::Waiting;
        }
        found
    }
}

/// Returns the words for the trials without loss with which the losing ones are compared.
fn nothing_lost(losing: &[&TrialRecord]) -> &'static str {
    if are_of_queries(losing) {
        "while every query was answered"
    } else {
        "while frames passed"
    }
}

fn rate(record: &TrialRecord) -> FrameRate {
    record.result.spec.rate
}

fn with<'a>(
    records: &[&'a TrialRecord],
    goal: LossRatio,
    verdict: Verdict,
) -> Vec<&'a TrialRecord> {
    let mut trials: Vec<_> = records
        .iter()
        .copied()
        .filter(|record| record.result.verdict(goal) == verdict)
        .collect();
    trials.sort_by_key(|record| rate(record));
    trials
}

fn lowest_lost<'a>(records: &[&'a TrialRecord], goal: LossRatio) -> Vec<&'a TrialRecord> {
    let lost = with(records, goal, Verdict::Lost);
    let near = lost
        .first()
        .map_or(0.0, |lowest| NEAR_LIMIT * rate(lowest).0 as f64);
    lost.into_iter()
        .take(TRIALS_AT_LIMIT)
        .filter(|record| rate(record).0 as f64 <= near)
        .collect()
}

/// Returns the passing trial at the highest load, the last one if there are several: the DUT worked hardest there without loss.
pub fn busiest<'a>(records: &[&'a TrialRecord], goal: LossRatio) -> Option<&'a TrialRecord> {
    with(records, goal, Verdict::Passed).pop()
}

/// The DUT's cores in some trials, and the name of these trials in sentences.
struct WatchedCores {
    name: String,
    cores: Vec<Core>,
}

const LOSING: &str = "in the losing trials";
const HIGHEST: &str = "in the highest passing trial";

impl WatchedCores {
    /// Returns the shares as in `in the losing trials cores 1, 2 at 30 %`; `None` if no core was observed.
    fn share(&self) -> Option<String> {
        let all: Vec<&Core> = self.cores.iter().collect();
        (!all.is_empty()).then(|| {
            format!(
                "{} {} at {:.0} %",
                self.name,
                list(&all),
                busy_percent(&all)
            )
        })
    }
}

fn with_shares(evidence: String, losing: &WatchedCores, at_most: &WatchedCores) -> String {
    let shares = [losing.share(), at_most.share()].into_iter().flatten();
    std::iter::once(evidence)
        .chain(shares)
        .collect::<Vec<_>>()
        .join("; ")
}

fn highest_passed<'a>(records: &[&'a TrialRecord], goal: LossRatio) -> Vec<&'a TrialRecord> {
    with(records, goal, Verdict::Passed)
        .into_iter()
        .rev()
        .take(TRIALS_AT_LIMIT)
        .collect()
}

/// Returns the tester, or phase 1, as the limit if no trial was valid at some load between the highest passing one and the lowest losing one.
fn tester(records: &[&TrialRecord], goal: LossRatio) -> Option<Bottleneck> {
    let passed = with(records, goal, Verdict::Passed)
        .last()
        .map_or(FrameRate(0), |highest| rate(highest));
    let lost = with(records, goal, Verdict::Lost)
        .first()
        .map_or(FrameRate(u64::MAX), |lowest| rate(lowest));
    let mut invalid = with(records, goal, Verdict::Invalid);
    invalid.retain(|record| passed < rate(record) && rate(record) < lost);
    let load = rate(invalid.first()?);
    invalid.retain(|record| rate(record) == load);
    let fault = invalid
        .iter()
        .flat_map(|record| &record.result.faults)
        .next();
    let cause = match fault {
        Some(fault) if fault.is_of_connections() => Cause::PhaseOne,
        Some(fault) if fault.is_of_names() => Cause::Names,
        Some(_)
            if invalid
                .iter()
                .all(|record| record.result.faults.iter().any(Fault::is_of_a_link)) =>
        {
            Cause::Link
        }
        Some(_) if invalid.iter().all(|record| record.is_disturbed()) => Cause::Disturbed,
        _ => Cause::Tester,
    };
    let fault = fault.map_or_else(String::new, |fault| format!(": {fault}"));
    let refusals = table::table_refusals(&invalid)
        .map_or_else(String::new, |refusals| format!("; {refusals}"));
    let load = words_of(invalid[0]);
    let evidence = match invalid.len() {
        1 => format!("the only trial at {load} was invalid{fault}{refusals}"),
        count => format!("all {count} trials at {load} were invalid{fault}{refusals}"),
    };
    Some(Bottleneck { cause, evidence })
}

/// Returns the load of a trial in words; if every frame opens a connection, it is in connections per second.
fn words_of(record: &TrialRecord) -> String {
    match record.result.spec.kind {
        TrialKind::Queries => format!("{} queries/s", rate(record).0),
        kind if kind.connections().is_some() => format!("{} connections/s", rate(record).0),
        _ => rate(record).to_string(),
    }
}

/// Returns a disturbance as the cause if, in most of the losing trials, other work on the DUT's processors explains more of the loss than may be
/// ignored.
fn taken(lost: &[&TrialRecord]) -> Option<Bottleneck> {
    let doubtful: Vec<_> = lost
        .iter()
        .filter(|record| record.is_disturbed() && record.has_excusable_loss())
        .collect();
    let first = doubtful
        .first()
        .filter(|_| 2 * doubtful.len() > lost.len())?;
    let fault = first
        .result
        .faults
        .iter()
        .find(|fault| fault.is_of_the_machine())?;
    let evidence = format!(
        "in {} of {} losing trials; in the first, {fault}",
        doubtful.len(),
        lost.len()
    );
    Some(Bottleneck {
        cause: Cause::Disturbed,
        evidence,
    })
}

/// Returns time stolen by the host as the cause if it is more than in trials without loss (`before`), which `nothing_lost` names.
fn steal(cores: &[Core], before: &[Core], nothing_lost: &str) -> Option<Bottleneck> {
    let worst = cores
        .iter()
        .max_by(|a, b| a.steal_percent().total_cmp(&b.steal_percent()))?;
    let usual = before.iter().map(Core::steal_percent).fold(0.0, f64::max);
    if !worst.is_robbed() || worst.steal_percent() < 2.0 * usual {
        return None;
    }
    let (mean, peak) = (worst.steal_percent(), worst.steal_peak_percent());
    let passed = if before.is_empty() {
        String::new()
    } else {
        format!("; {usual:.0} % {nothing_lost}")
    };
    let evidence = format!(
        "{}: {mean:.0} % of its time, up to {peak:.0} % of a sample{passed}",
        list(&[worst])
    );
    Some(Bottleneck {
        cause: Cause::HostSteal,
        evidence,
    })
}

/// Returns saturation as the cause if some or all cores are full in these trials, and adds the load of the same cores in the other trials.
fn saturation(watched: &WatchedCores, beside: &WatchedCores) -> Option<Bottleneck> {
    /// The average load, in per cent, above which cores have no capacity for work that does not fit on another core.
    const NOTHING_TO_SPARE: f64 = 80.0;
    let (full, others): (Vec<&Core>, Vec<&Core>) =
        watched.cores.iter().partition(|core| core.is_saturated());
    if full.is_empty() {
        return None;
    }
    let of_process: f64 = full.iter().map(|core| core.process_percent()).sum();
    let of_softirq: f64 = full.iter().map(|core| core.softirq_percent()).sum();
    let cause = if others.is_empty() || busy_percent(&others) >= NOTHING_TO_SPARE {
        Cause::AllCores
    } else if of_process > of_softirq {
        Cause::OneProcess
    } else {
        Cause::OneCoreSoftirq
    };
    let mut evidence: Vec<String> = full.iter().map(|core| core.describe()).collect();
    evidence[0] = format!("{} {}", watched.name, evidence[0]);
    if !others.is_empty() {
        evidence.push(format!(
            "{} at {:.0} %",
            list(&others),
            busy_percent(&others)
        ));
    }
    let same: Vec<&Core> = beside
        .cores
        .iter()
        .filter(|core| full.iter().any(|full| full.number == core.number))
        .collect();
    if !same.is_empty() {
        evidence.push(format!(
            "{} {} at {:.0} %",
            beside.name,
            list(&same),
            busy_percent(&same)
        ));
    }
    Some(Bottleneck {
        cause,
        evidence: evidence.join("; "),
    })
}

/// Returns one process as the cause if the scheduler moves its thread around: no core is full, but the process time of all cores together is that of
/// one, sample by sample.
fn one_process_on_the_move(
    trials: &[&TrialRecord],
    losing: &WatchedCores,
    device: Option<&str>,
) -> Option<Bottleneck> {
    const ONE_CORE: std::ops::RangeInclusive<u32> = 950..=1050;
    let sums: Vec<u32> = trials
        .iter()
        .flat_map(|record| cores::process_time(record, device))
        .collect();
    let ones = sums.iter().filter(|sum| ONE_CORE.contains(sum)).count();
    if losing.cores.len() < 2 || !cores::is_most(ones, sums.len()) {
        return None;
    }
    let all: Vec<&Core> = losing.cores.iter().collect();
    let evidence = format!(
        "{} user and system time of {} add up to one core in {}, and none of them is full",
        losing.name,
        list(&all),
        part_of(ones, sums.len(), "sample")
    );
    Some(Bottleneck {
        cause: Cause::OneProcess,
        evidence,
    })
}

/// Returns polling as the cause. The processor shares of a device that polls mean nothing, but are reported so that their absence raises no question.
fn polling(losing: &WatchedCores) -> Bottleneck {
    Bottleneck {
        cause: Cause::Polling,
        evidence: losing
            .share()
            .unwrap_or_else(|| "no core was watched".to_owned()),
    }
}

fn idle(
    losing: &WatchedCores,
    at_most: &WatchedCores,
    drops: Option<&losses::Dropped>,
) -> Bottleneck {
    let at = [losing.share(), at_most.share()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ");
    match drops.filter(|drops| drops.are_most_of_the_missing()) {
        Some(drops) => Bottleneck {
            cause: Cause::QueueOverflow,
            evidence: format!("{drops}; {at}"),
        },
        None => Bottleneck {
            cause: Cause::Unexplained,
            evidence: at,
        },
    }
}
