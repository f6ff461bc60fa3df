//! Sentences on repetitions that rise or fall, or that form two modes, which a median alone would hide.

use crate::digest::{Digest, PointDigest};
use crate::wording::numbers::{short, short_ms, three_digits};
use sixbench_method::measures::{Quantity, Unit};
use sixbench_stats::{Drift, TwoModes, drift, modes};

/// Returns one sentence for each finding.
pub(crate) fn findings(digest: &Digest) -> Vec<String> {
    digest.points.iter().flat_map(of_point).collect()
}

fn of_point(point: &PointDigest) -> Vec<String> {
    let values: Vec<f64> = point.headlines().iter().map(|(_, value)| *value).collect();
    let name = point.name();
    let drifting = drift(&values).map(|drift| drift_sentence(&name, &drift));
    let bimodal = modes(&values).map(|modes| modes_sentence(&name, point, &modes));
    drifting.into_iter().chain(bimodal).collect()
}

fn drift_sentence(name: &str, drift: &Drift) -> String {
    format!(
        "{name} drifts: by {} % of the median from one repetition to the next (p = {}, n = {}), so the median does not describe a steady device.",
        three_digits(drift.slope * 100.0),
        three_digits(drift.p),
        drift.n
    )
}

fn modes_sentence(name: &str, point: &PointDigest, modes: &TwoModes) -> String {
    let shown = |value: f64| match point.test.measure.info().headline.map(Quantity::unit) {
        Some(Unit::Nanoseconds) => short_ms(value),
        _ => short(value),
    };
    format!(
        "{name} is bimodal: {} repetitions around {}, {} around {}. The median only says which group is larger.",
        modes.low.count,
        shown(modes.low.centre),
        modes.high.count,
        shown(modes.high.centre)
    )
}
