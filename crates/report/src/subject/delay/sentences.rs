//! Sentences on latency, delay variation, recovery and reset: of a test at one frame size, in the worse direction.

use crate::digest::{PointDigest, PointSample};
use crate::subject::point_sentence::at_its_load;
use crate::wording::numbers::{short_ms, three_digits};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::Measure;

/// Returns the sentence on a point; `None` if it has none of these quantities. Each quantity is that of one measure.
pub(super) fn sentence(point: &PointDigest) -> Option<String> {
    let result = latency(point)
        .or_else(|| pdv(point))
        .or_else(|| ipdv(point))
        .or_else(|| recovered(point))
        .or_else(|| reset(point))?;
    at_its_load(point, &result)
}

fn latency(point: &PointDigest) -> Option<String> {
    let (typical, worst) = (
        point.worst(Quantity::TypicalLatency)?,
        point.worst(Quantity::WorstCaseLatency)?,
    );
    Some(format!(
        "typical latency {}, worst-case {}",
        time(typical),
        time(worst)
    ))
}

fn pdv(point: &PointDigest) -> Option<String> {
    let pdv = point.worst(Quantity::Pdv)?;
    Some(format!("packet delay variation {}", time(pdv)))
}

fn ipdv(point: &PointDigest) -> Option<String> {
    let most = point.worst(Quantity::IpdvMaximum)?;
    let minima = point
        .samples
        .iter()
        .filter(|sample| sample.quantity == Quantity::IpdvMinimum);
    let least = minima.min_by(|a, b| a.summary.median.total_cmp(&b.summary.median))?;
    Some(format!(
        "inter packet delay variation {} to {}",
        time(least),
        time(most)
    ))
}

fn recovered(point: &PointDigest) -> Option<String> {
    let Measure::Recovery(recovery) = &point.test.measure else {
        return None;
    };
    let sample = point.worst(Quantity::RecoveryTime)?;
    let overload = three_digits(recovery.overload * 100.0);
    let of = if point.is_load_at_least() {
        "the rate that it is known to forward"
    } else {
        "its throughput"
    };
    Some(if sample.summary.max == 0.0 {
        format!("lost no more frames after {overload}\u{a0}% of {of}")
    } else {
        format!(
            "took {} to recover from {overload}\u{a0}% of {of}",
            mean(sample)
        )
    })
}

fn reset(point: &PointDigest) -> Option<String> {
    let without = point.worst(Quantity::ResetTimeByLoss)?;
    Some(format!(
        "forwarded nothing after a reset for {}",
        mean(without)
    ))
}

fn time(sample: &PointSample) -> String {
    format!(
        "{}{}",
        sample.median_sign(),
        short_ms(sample.summary.median)
    )
}

/// Returns `on average 20.7 ms, 41.2 ms at most (n = 2)`: the clauses on recovery and reset require the average, which says nothing about single times.
fn mean(sample: &PointSample) -> String {
    let mean = format!("{}{}", sample.sign(), short_ms(sample.mean));
    match sample.summary.n {
        1 => mean,
        n => format!(
            "on average {mean}, {}{} at most (n = {n})",
            sample.sign(),
            short_ms(sample.summary.max)
        ),
    }
}
