//! From the counts and delays of a trial to the quantities of the RFCs.

use super::{Quantity, Value};
use crate::terms::{Direction, LossRatio};
use crate::trial::{Delay, DirectionResult, LOSS_BIN_NS, Shape, TrialResult, Verdict};

/// Of the frames of a stream so many may be late by the tester's own doing before its 99.9th percentile is: half of what lies above it.
const SPOILT_SHARE: f64 = 0.0005;

/// Where a loss is the result, so much of it may be the tester's doing.
pub(super) const EXCUSABLE_SHARE: f64 = 0.1;

/// TL and WCL (RFC 8219 section 7.2).
pub(super) fn latency(result: &TrialResult) -> (Verdict, Vec<Value>) {
    let values = each(result, |direction| {
        let tagged = direction.tagged.as_ref()?;
        Some(vec![(Quantity::TypicalLatency, tagged.median_ns as f64), (Quantity::WorstCaseLatency, tagged.p999_ns as f64)])
    });
    (result.delay_verdict(SPOILT_SHARE), values)
}

/// PDV with the two delays it is the difference of (RFC 8219 section 7.3.1).
pub(super) fn pdv(result: &TrialResult) -> (Verdict, Vec<Value>) {
    let values = each(result, |direction| {
        let delay = direction.delay.as_ref()?;
        Some(vec![
            (Quantity::Pdv, delay.pdv_ns() as f64),
            (Quantity::MinimumDelay, delay.min_ns as f64),
            (Quantity::HighDelay, delay.p999_ns as f64),
        ])
    });
    (result.delay_verdict(SPOILT_SHARE), values)
}

/// The three values of RFC 8219 section 7.3.2. Its extremes are single frames: one look too late of the tester spoils them.
pub(super) fn ipdv(result: &TrialResult) -> (Verdict, Vec<Value>) {
    let values = each(result, |direction| {
        let ipdv = direction.ipdv?;
        Some(vec![
            (Quantity::IpdvMinimum, ipdv.min_ns as f64),
            (Quantity::IpdvMedian, ipdv.median_ns as f64),
            (Quantity::IpdvMaximum, ipdv.max_ns as f64),
        ])
    });
    (result.delay_verdict(0.0), values)
}

/// From the drop of the rate to the last frame lost (RFC 2544 section 26.5, whose text subtracts the wrong way round).
pub(super) fn recovery(result: &TrialResult) -> (Verdict, Vec<Value>) {
    let Shape::Drop { at_ns, .. } = result.spec.shape else {
        return (Verdict::Invalid, Vec::new());
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
    (if is_the_testers { Verdict::Invalid } else { sent_as_asked(result) }, values)
}

/// Frames not received that were due from a moment on, to the bin of 100 ms it lies in.
fn missing_from(direction: &DirectionResult, at_ns: u64) -> u64 {
    direction.lost_by_bin.iter().skip((at_ns / LOSS_BIN_NS) as usize + 1).sum()
}

/// Both methods of RFC 6201 section 1.3. A DUT that does not come back has no first frame after the reset, hence no time by timestamps.
pub(super) fn reset(result: &TrialResult) -> (Verdict, Vec<Value>) {
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
    (if is_the_duts { sent_as_asked(result) } else { Verdict::Invalid }, values)
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
pub(super) fn tear_down(result: &TrialResult) -> (Verdict, Vec<Value>) {
    let connections = result.connections.as_ref().filter(|connections| connections.lost() == 0);
    let Some((opened, took_ns)) = connections.and_then(|c| Some((c.established, c.torn_down_ns?))) else {
        return (Verdict::Invalid, Vec::new());
    };
    let value = Value {
        quantity: Quantity::TearDownRate,
        direction: result.directions.first().map_or(Direction::Forward, |first| first.direction),
        load: result.spec.rate,
        value: opened as f64 * 1e9 / took_ns.max(1) as f64,
        is_at_least: false,
    };
    (sent_as_asked(result), vec![value])
}

/// What the paper's tables have of a number of clients. Loss and response time are both the result: the tester must not be the cause of
/// either.
pub(super) fn response_time(result: &TrialResult) -> (Verdict, Vec<Value>) {
    let Some(exchange) = result.exchange() else {
        return (Verdict::Invalid, Vec::new());
    };
    let forwarded = exchange.forwarded() as f64 * 1e9 / result.spec.duration_ns.max(1) as f64;
    let time = exchange.time();
    let found = [
        (Quantity::RequestLoss, Some(exchange.loss_ratio().0 * 100.0)),
        (Quantity::ResponseTime, time.and_then(Delay::mean_ns)),
        (Quantity::ResponseTimeDeviation, time.and_then(Delay::deviation_ns)),
        (Quantity::ForwardedFrames, Some(forwarded)),
    ];
    // What is of both ways together stands with the requests.
    let value = |(quantity, value): (Quantity, Option<f64>)| {
        let (direction, load) = (Direction::Forward, result.spec.rate);
        Some(Value { quantity, direction, load, value: value?, is_at_least: false })
    };
    let is_the_duts = result.is_loss_of_the_dut(EXCUSABLE_SHARE);
    let verdict = if is_the_duts { result.delay_verdict(SPOILT_SHARE) } else { Verdict::Invalid };
    (verdict, found.into_iter().filter_map(value).collect())
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
