//! From the counts and delays of a trial to the quantities of the RFCs.

use super::{Quantity, Value};
use crate::terms::{Direction, LossRatio};
use crate::trial::{Delay, DirectionResult, LOSS_BIN_NS, Shape, Spoilt, TrialResult, Verdict};

// Each result says how much of it a fault of the tester may explain before it no longer holds. A trial whose faults spoil some of its
// results gives the others.

/// A loss: so much of it may be the tester's doing. Near the capacity of a device a per cent of load is a large part of the loss, so
/// repetitions differ by more. The same holds for the spread of delays.
pub(super) const EXCUSABLE_SHARE: f64 = 0.1;

/// A mean of times, or a rate: so much of it. Searches for a rate are no finer.
const NEGLIGIBLE_SHARE: f64 = 0.02;

/// The 99.9th percentile: so many of the frames, which is half of what lies above it.
const TAIL_SHARE: f64 = 0.0005;

/// The median and the minimum: so many of the frames. The rank of either moves by no more.
const RANK_SHARE: f64 = 0.01;

/// What one trial says to a measurement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    /// Invalid where no value holds.
    pub(super) verdict: Verdict,
    /// The values that hold.
    pub(super) values: Vec<Value>,
    /// Whether no value was left out because the tester may have spoilt it.
    pub(super) is_whole: bool,
}

impl Reading {
    /// A trial that is valid as a whole or not at all.
    fn new(verdict: Verdict, values: Vec<Value>) -> Self {
        Self { verdict, values, is_whole: true }
    }

    /// The values of a trial that was as asked, each with whether it holds; one trial may give some of its values and not others.
    fn of_those_that_hold(result: &TrialResult, found: Vec<(Value, bool)>) -> Self {
        let all = found.len();
        let values: Vec<Value> = found.into_iter().filter(|(_, holds)| *holds).map(|(value, _)| value).collect();
        let is_invalid = !result.is_as_asked() || (values.is_empty() && all > 0);
        let verdict = if is_invalid { Verdict::Invalid } else { Verdict::Passed };
        Self { verdict, is_whole: values.len() == all, values }
    }
}

/// TL and WCL (RFC 8219 section 7.2).
pub(super) fn latency(result: &TrialResult) -> Reading {
    delays(result, |direction| {
        let tagged = direction.tagged.as_ref()?;
        Some(vec![
            (Quantity::TypicalLatency, tagged.median_ns as f64, RANK_SHARE),
            (Quantity::WorstCaseLatency, tagged.p999_ns as f64, TAIL_SHARE),
        ])
    })
}

/// PDV with the two delays it is the difference of (RFC 8219 section 7.3.1).
pub(super) fn pdv(result: &TrialResult) -> Reading {
    delays(result, |direction| {
        let delay = direction.delay.as_ref()?;
        Some(vec![
            (Quantity::Pdv, delay.pdv_ns() as f64, TAIL_SHARE),
            (Quantity::MinimumDelay, delay.min_ns as f64, RANK_SHARE),
            (Quantity::HighDelay, delay.p999_ns as f64, TAIL_SHARE),
        ])
    })
}

/// The three values of RFC 8219 section 7.3.2. Its extremes are single frames: one look too late of the tester spoils them.
pub(super) fn ipdv(result: &TrialResult) -> Reading {
    delays(result, |direction| {
        let ipdv = direction.ipdv?;
        Some(vec![
            (Quantity::IpdvMinimum, ipdv.min_ns as f64, 0.0),
            (Quantity::IpdvMedian, ipdv.median_ns as f64, RANK_SHARE),
            (Quantity::IpdvMaximum, ipdv.max_ns as f64, 0.0),
        ])
    })
}

/// Quantiles of delays, each with the share of the frames that may be spoilt before it no longer holds. What does not hold in one direction
/// is given of neither: of two directions the worse is the result.
fn delays(result: &TrialResult, of: impl Fn(&DirectionResult) -> Option<Vec<(Quantity, f64, f64)>>) -> Reading {
    let each = result.directions.iter().flat_map(|direction| {
        let spoilt = result.spoilt(direction.direction);
        let found = of(direction).unwrap_or_default();
        found.into_iter().map(move |(quantity, value, share)| {
            let (direction, received) = (direction.direction, direction.received);
            let value = Value { quantity, direction, load: result.spec.rate, value, is_at_least: false };
            (value, spoilt.is_within(share, received))
        })
    });
    let mut each: Vec<(Value, bool)> = each.collect();
    let spoilt: Vec<Quantity> = each.iter().filter(|(_, holds)| !holds).map(|(value, _)| value.quantity).collect();
    each.iter_mut().for_each(|(value, holds)| *holds = !spoilt.contains(&value.quantity));
    Reading::of_those_that_hold(result, each)
}

/// From the drop of the rate to the last frame lost (RFC 2544 section 26.5, whose text subtracts the wrong way round).
pub(super) fn recovery(result: &TrialResult) -> Reading {
    let Shape::Drop { at_ns, .. } = result.spec.shape else {
        return Reading::new(Verdict::Invalid, Vec::new());
    };
    let mut values = each(result, |direction| {
        // What was lost to nothing was not overloaded, and has nothing to recover from.
        let last_ns = direction.last_missing_ns.filter(|_| direction.not_received() > missing_from(direction, at_ns))?;
        Some(vec![(Quantity::RecoveryTime, last_ns.saturating_sub(at_ns) as f64)])
    });
    // Still losing when the trial ended.
    let end_ns = (result.spec.duration_ns - at_ns) as f64 * 0.99;
    values.iter_mut().for_each(|value| value.is_at_least = value.value > end_ns);
    let is_the_testers = result.directions.iter().any(|direction| {
        let missing = missing_from(direction, at_ns);
        missing > 0 && missing <= result.excusable(direction.direction)
    });
    Reading::new(if is_the_testers { Verdict::Invalid } else { sent_as_asked(result) }, values)
}

/// Frames not received that were due from a moment on, to the bin of 100 ms it lies in.
fn missing_from(direction: &DirectionResult, at_ns: u64) -> u64 {
    direction.lost_by_bin.iter().skip((at_ns / LOSS_BIN_NS) as usize + 1).sum()
}

/// Both methods of RFC 6201 section 1.3. A DUT that does not come back has no first frame after the reset, hence no time by timestamps.
pub(super) fn reset(result: &TrialResult) -> Reading {
    let mut values = each(result, |direction| {
        let mut found = vec![(Quantity::ResetTimeByLoss, by_loss_ns(direction, result))];
        if !is_gone_to_the_end(direction, result) {
            found.push((Quantity::ResetTimeByTimestamps, by_timestamps_ns(direction)));
        }
        Some(found)
    });
    for value in &mut values {
        let of = result.directions.iter().find(|direction| direction.direction == value.direction);
        value.is_at_least = of.is_some_and(|direction| is_gone_to_the_end(direction, result));
    }
    let is_the_duts = result.is_loss_of_the_dut(EXCUSABLE_SHARE);
    Reading::new(if is_the_duts { sent_as_asked(result) } else { Verdict::Invalid }, values)
}

fn by_loss_ns(direction: &DirectionResult, result: &TrialResult) -> f64 {
    direction.not_received() as f64 / result.spec.rate.0.max(1) as f64 * 1e9
}

fn by_timestamps_ns(direction: &DirectionResult) -> f64 {
    let silence = direction.silence.filter(|_| direction.not_received() > 0);
    silence.map_or(0, |silence| silence.to_ns - silence.from_ns) as f64
}

/// Whether the last frames of the trial were lost, too: the DUT did not come back. A stray loss near the end does not count: then the
/// frames lost at the reset leave a silence between two others.
fn is_gone_to_the_end(direction: &DirectionResult, result: &TrialResult) -> bool {
    let end_ns = result.spec.duration_ns as f64 * 0.999;
    let is_lossy_at_the_end = direction.last_missing_ns.is_some_and(|last_ns| last_ns as f64 > end_ns);
    is_lossy_at_the_end && by_timestamps_ns(direction) < by_loss_ns(direction, result) / 2.0
}

/// Connections over the time the DUT took to delete them all (RFC 9693).
pub(super) fn tear_down(result: &TrialResult) -> Reading {
    let connections = result.connections.as_ref().filter(|connections| connections.lost() == 0);
    let Some((opened, took_ns)) = connections.and_then(|c| Some((c.established, c.torn_down_ns?))) else {
        return Reading::new(Verdict::Invalid, Vec::new());
    };
    let value = Value {
        quantity: Quantity::TearDownRate,
        direction: result.directions.first().map_or(Direction::Forward, |first| first.direction),
        load: result.spec.rate,
        value: opened as f64 * 1e9 / took_ns.max(1) as f64,
        is_at_least: false,
    };
    Reading::new(sent_as_asked(result), vec![value])
}

/// What the paper's tables have of a number of clients. Loss and response time are both the result, and a fault that may explain one of
/// them need not touch the other.
pub(super) fn response_time(result: &TrialResult) -> Reading {
    let Some(exchange) = result.exchange() else {
        return Reading::new(Verdict::Invalid, Vec::new());
    };
    let both = [Direction::Forward, Direction::Reverse];
    let excusable = both.map(|way| result.excusable(way)).into_iter().fold(0, u64::saturating_add) as f64;
    let spoilt = result.spoilt(Direction::Forward).and(result.spoilt(Direction::Reverse));
    let (unanswered, forwarded) = (exchange.unanswered() as f64, exchange.forwarded() as f64);
    let time = exchange.time();
    let found = [
        (
            Quantity::RequestLoss,
            Some(exchange.loss_ratio().0 * 100.0),
            unanswered == 0.0 || excusable <= EXCUSABLE_SHARE * unanswered,
        ),
        (Quantity::ResponseTime, time.and_then(Delay::mean_ns), time.is_some_and(|time| mean_holds(time, spoilt))),
        (
            Quantity::ResponseTimeDeviation,
            time.and_then(Delay::deviation_ns),
            time.is_some_and(|time| deviation_holds(time, spoilt)),
        ),
        (
            Quantity::ForwardedFrames,
            Some(forwarded * 1e9 / result.spec.duration_ns.max(1) as f64),
            unanswered == 0.0 || excusable <= NEGLIGIBLE_SHARE * forwarded,
        ),
    ];
    // What is of both ways together stands with the requests.
    let value = |(quantity, value, holds): (Quantity, Option<f64>, bool)| {
        let (direction, load) = (Direction::Forward, result.spec.rate);
        Some((Value { quantity, direction, load, value: value?, is_at_least: false }, holds))
    };
    Reading::of_those_that_hold(result, found.into_iter().filter_map(value).collect())
}

/// Whether the tester's part in the sum of all times is negligible.
fn mean_holds(time: &Delay, spoilt: Spoilt) -> bool {
    let sum_ns = time.moments.map_or(0, |moments| moments.sum_ns);
    spoilt.is_within(TAIL_SHARE, time.count) || spoilt.sum_ns as f64 <= NEGLIGIBLE_SHARE * sum_ns as f64
}

/// Whether the tester's part in the spread is small: by the triangle inequality a standard deviation moves by no more than the root of the
/// mean square of what was added.
fn deviation_holds(time: &Delay, spoilt: Spoilt) -> bool {
    let added_ns = (spoilt.frames as f64 / time.count.max(1) as f64).sqrt() * spoilt.worst_ns as f64;
    spoilt.is_within(TAIL_SHARE, time.count) || added_ns <= EXCUSABLE_SHARE * time.deviation_ns().unwrap_or(0.0)
}

/// Loss is the result here: only a tester that did not offer the load is unfit.
fn sent_as_asked(result: &TrialResult) -> Verdict {
    match result.verdict(LossRatio(1.0)) {
        Verdict::Invalid => Verdict::Invalid,
        _ => Verdict::Passed,
    }
}

fn each(result: &TrialResult, of: impl Fn(&DirectionResult) -> Option<Vec<(Quantity, f64)>>) -> Vec<Value> {
    let values = result.directions.iter().flat_map(|direction| {
        let found = of(direction).unwrap_or_default();
        found.into_iter().map(|(quantity, value)| Value {
            quantity,
            direction: direction.direction,
            load: result.spec.rate,
            value,
            is_at_least: false,
        })
    });
    values.collect()
}
