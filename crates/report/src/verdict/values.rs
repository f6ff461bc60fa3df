//! Sentences on the results of the other measures: one for each test, at its smallest frame size with a result, in the worse direction.

use crate::digest::{Digest, PointDigest, PointSample};
use crate::tables::soak;
use crate::wording::numbers::{grouped, percentage, short, short_ms, stretch, three_digits, title};
use crate::wording::requirements::requirements_in_words;
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{Measure, Recovery, Soak};

pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    let tests = digest
        .input
        .plan
        .tests
        .iter()
        .filter(|test| digest.is_compared(test));
    tests
        .filter_map(|test| {
            digest
                .points
                .iter()
                .filter(|p| p.test.name == test.name)
                .find_map(sentence)
        })
        .collect()
}

/// Returns the sentence on a point: `TAYGA, SIIT: typical latency 0.085 ms, worst-case 0.9 ms at 84 bytes and 20 k frames/s.`
pub(crate) fn sentence(point: &PointDigest) -> Option<String> {
    let result = match &point.test.measure {
        Measure::Throughput
        | Measure::EstablishmentRate
        | Measure::TearDownRate
        | Measure::TableCapacity(_)
        | Measure::TcpEstablishmentRate(_)
        | Measure::TcpCapacity(_)
        | Measure::Dns(_)
        // A series of clients has one sentence for all.
        | Measure::ResponseTime(_) => return None,
        Measure::Requirements(_) => return requirements(point),
        Measure::FrameLossRate(_) => return losses(point),
        Measure::Soak(soak) if soak.tcp.is_some() => return cycled(point, soak),
        Measure::Soak(soak) => soaked(point, soak)?,
        Measure::Latency(_) => latency(point)?,
        Measure::Pdv(_) => format!("packet delay variation {}", time(point.worst(Quantity::Pdv)?)),
        Measure::Ipdv(_) => ipdv(point)?,
        Measure::BackToBack(_) => burst(point.worst(Quantity::BackToBackFrames)?),
        Measure::Recovery(recovery) => recovered(point, recovery)?,
        Measure::Reset(_) => format!("forwarded nothing after a reset for {}", mean(point.worst(Quantity::ResetTimeByLoss)?)),
    };
    let rate = short(point.samples.first()?.load.0 as f64);
    let result = result + &point.beside_the_goal();
    Some(format!(
        "{}: {result} at {}\u{a0}bytes and {rate} frames/s.",
        title(point.test),
        point.point.frame_size
    ))
}

/// Returns the sentence on the requirements of RFCs: `TAYGA, SIIT: 267 of 322 requirements met, 12 MUSTs violated.`
fn requirements(point: &PointDigest) -> Option<String> {
    let results = point.requirements()?;
    Some(format!(
        "{}: {}.",
        title(point.test),
        requirements_in_words(results)
    ))
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

fn burst(sample: &PointSample) -> String {
    let frames = format!("{}{}", sample.sign(), grouped(sample.mean));
    match sample.summary.n {
        1 => format!("bursts of {frames} frames without loss"),
        n => format!(
            "bursts of {frames} frames on average without loss, at least {} (n = {n})",
            grouped(sample.summary.min)
        ),
    }
}

fn recovered(point: &PointDigest, recovery: &Recovery) -> Option<String> {
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

/// Returns the words on a soak test: `lost 0.01 % of the frames in 4 h; memory of the device grew by 100 kB/h (95 %: 90 to 110)`.
fn soaked(point: &PointDigest, soak: &Soak) -> Option<String> {
    let loss = percentage(point.worst(Quantity::SoakLoss)?.summary.median);
    Some(format!(
        "lost {loss}\u{a0}% of the frames in {}{}",
        stretch(soak.duration_ns / 1_000_000_000),
        grown(point)
    ))
}

/// Returns the sentence on a soak test of new connections: `TAYGA: opened 100 and closed 100 connections/s for 4 h, 0 % failed; at most 12,030 entries
/// in the table, -2 gained after the warm-up; no growth of the memory ...`.
fn cycled(point: &PointDigest, soak: &Soak) -> Option<String> {
    let median = |quantity| Some(point.worst(quantity)?.summary.median);
    let [opened, closed] = [
        median(Quantity::ConnectionsOpened)?,
        median(Quantity::ConnectionsClosed)?,
    ]
    .map(short);
    let failed = percentage(median(Quantity::FailedConnections)?);
    let table = median(Quantity::TableLargest)
        .zip(median(Quantity::TableGrowth))
        .map(|(most, gained)| {
            format!(
                "; at most {} entries in the table, {} gained after the warm-up",
                grouped(most),
                grouped(gained)
            )
        });
    Some(format!(
        "{}: opened {opened} and closed {closed} connections/s for {}, {failed}\u{a0}% failed{}{}.",
        title(point.test),
        stretch(soak.duration_ns / 1_000_000_000),
        table.unwrap_or_default(),
        grown(point)
    ))
}

/// Returns the words on memory: `; memory of the device grew by 100 kB/h (95 %: 90 to 110); no growth of the memory of the kernel is shown`.
fn grown(point: &PointDigest) -> String {
    soak::KINDS
        .iter()
        .filter_map(|kind| Some(format!("; {}", kind.sentence(point)?)))
        .collect()
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

/// Returns the loss at the highest rate, and up to which rate there was none.
fn losses(point: &PointDigest) -> Option<String> {
    let losses = point.losses();
    let (rate, most) = losses.last()?;
    let lossless = losses.iter().take_while(|(_, s)| s.median == 0.0).last();
    let up_to = lossless
        .filter(|(r, _)| r != rate)
        .map(|(r, _)| format!(", none at {} and below", short(r.0 as f64)));
    Some(format!(
        "{}: lost {}\u{a0}% of the frames at {} frames/s and {}\u{a0}bytes{}.",
        title(point.test),
        percentage(most.median),
        short(rate.0 as f64),
        point.point.frame_size,
        up_to.unwrap_or_default()
    ))
}
