//! Values of measurements with their units, in a readable form.

use crate::wording::bound::Bound;
use sixbench_analysis::comparison::ComparedValue;
use sixbench_method::measures::{Quantity, Unit};
use sixbench_method::terms::FrameRate;
use sixbench_method::units::{counted, show_rate, shown_unit};

/// Returns a value with its unit, to about four significant digits.
pub(crate) fn show(subject: &ComparedValue, value: f64) -> String {
    match subject {
        ComparedValue::Rate(_)
        | ComparedValue::ConnectionRate(_)
        | ComparedValue::QueryRate(_)
        | ComparedValue::TolerantRate(..) => {
            format!("{} {}", show_rate(FrameRate(value as u64)), subject.unit())
        }
        ComparedValue::Value(quantity, ..) => match quantity.unit() {
            Unit::Nanoseconds => format!("{:.3} ms", value / 1e6),
            Unit::Percent => format!("{value:.4} %"),
            Unit::FramesPerSecond => format!("{value:.0} frames/s of both directions"),
            Unit::Octets => format!("{:.0} kB", value / 1e3),
            Unit::OctetsPerHour => format!("{:.0} kB/h", value / 1e3),
            Unit::Frames | Unit::Connections | Unit::ConnectionsPerSecond | Unit::Requirements => {
                format!("{value:.0} {}", subject.unit())
            }
        },
    }
}

/// Does the same as [`show`] for a value that may be a bound: `at least 295.9k frames/s`, `at most 0.120 ms`; `about` if it may be too low or too high.
pub(crate) fn show_bound(subject: &ComparedValue, value: f64, bound: Bound) -> String {
    let shown = match subject {
        ComparedValue::Rate(_)
        | ComparedValue::ConnectionRate(_)
        | ComparedValue::QueryRate(_)
        | ComparedValue::TolerantRate(..) => bound.rounded(value, shown_unit(value as u64)),
        ComparedValue::Value(..) => value,
    };
    format!(
        "{}{}",
        bound.phrase().unwrap_or("about "),
        show(subject, shown)
    )
}

/// Returns a value with its unit in full precision, so that it can be distinguished from a nearby bound.
pub(crate) fn exact(subject: &ComparedValue, value: f64) -> String {
    // The sixth decimal is a picosecond, or one frame in a hundred million.
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    match subject {
        ComparedValue::Value(quantity, ..) if quantity.unit() == Unit::Nanoseconds => {
            format!("{} ms", rounded(value / 1e6))
        }
        ComparedValue::Value(quantity, ..) if quantity.unit() == Unit::Octets => {
            format!("{} kB", rounded(value / 1e3))
        }
        ComparedValue::Value(quantity, ..) if quantity.unit() == Unit::OctetsPerHour => {
            format!("{} kB/h", rounded(value / 1e3))
        }
        ComparedValue::Value(quantity, ..) if quantity.unit() == Unit::Requirements => {
            counted(value as u64, "requirement")
        }
        subject => format!("{} {}", rounded(value), subject.unit()),
    }
}

/// Returns the unit of stored values in machine-readable formats.
pub(crate) fn unit_name(quantity: Quantity) -> &'static str {
    match quantity.unit() {
        Unit::Percent => "percent",
        Unit::FramesPerSecond => "frames/s of both directions",
        unit @ (Unit::Nanoseconds
        | Unit::Frames
        | Unit::Connections
        | Unit::ConnectionsPerSecond
        | Unit::Octets
        | Unit::OctetsPerHour
        | Unit::Requirements) => unit.symbol(),
    }
}
