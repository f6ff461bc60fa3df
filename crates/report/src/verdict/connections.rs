//! What the measures of connections came to in sentences (RFC 9693).

use crate::digest::PointDigest;
use crate::words::{grouped, short, title};
use sixbench_method::measure::Quantity;
use sixbench_method::plan::Measure;

/// `Linux kernel, NAT44: opened 201 k connections/s, 100,000 of them, each validated.`
pub(super) fn sentence(point: &PointDigest) -> Option<String> {
    let result = match &point.test.measure {
        Measure::EstablishmentRate => established(point)?,
        Measure::TearDownRate => {
            let sample = point.worst(Quantity::TearDownRate)?;
            format!("deleted {} connections/s{}", short(sample.summary.median), of_so_many(point))
        }
        Measure::TableCapacity(_) => {
            let sample = point.worst(Quantity::TableCapacity)?;
            format!("held {}{} connections", sample.sign(), grouped(sample.summary.median))
        }
        _ => return None,
    };
    Some(format!("{}: {result}.", title(point.test)))
}

fn established(point: &PointDigest) -> Option<String> {
    let summary = point.goals.first()?.summary.as_ref()?;
    let rate = short(summary.median);
    Some(format!("opened {}{rate} connections/s{}, each validated", point.sign(), of_so_many(point)))
}

fn of_so_many(point: &PointDigest) -> String {
    point.test.stateful.map(|s| format!(", {} of them", grouped(s.connections as f64))).unwrap_or_default()
}
