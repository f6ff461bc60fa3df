//! The ends of an axis, and its ticks: their positions and labels.

use kuva::prelude::TickFormat;

/// The approximate number of steps of an axis whose figure does not set one.
const STEPS: f64 = 5.0;

/// The ends of an axis or of a bar.
#[derive(Clone, Copy)]
pub(crate) struct AxisEnds {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl AxisEnds {
    pub(crate) fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }
}

/// Returns the labelled ticks between the ends of an axis. On a logarithmic axis these are powers of ten and, if there are only a few, also two and
/// five times them.
pub(super) fn ticks(
    ends: AxisEnds,
    step: Option<f64>,
    is_log: bool,
    format: &TickFormat,
) -> Vec<(f64, String)> {
    let AxisEnds { low, high } = ends;
    let places = if is_log {
        decades(low, high)
    } else {
        even(low, high, step.unwrap_or_else(|| round(high - low)))
    };
    places
        .into_iter()
        .map(|place| (place, format.format(place)))
        .filter(|(_, label)| !label.is_empty())
        .collect()
}

fn even(low: f64, high: f64, step: f64) -> Vec<f64> {
    if step <= 0.0 || !step.is_finite() {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|count| count as f64 * step).collect()
}

/// Returns a step of 1, 2 or 5 times a power of ten that divides a length into about [`STEPS`].
fn round(length: f64) -> f64 {
    let rough = length.max(1e-12) / STEPS;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|multiple| multiple * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power)
}

fn decades(low: f64, high: f64) -> Vec<f64> {
    let (low, high) = (low.max(1e-12), high.max(1e-12));
    let between = |multiples: &'static [f64]| -> Vec<f64> {
        let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let places = powers.flat_map(|power| {
            multiples
                .iter()
                .map(move |multiple| multiple * 10f64.powi(power))
        });
        places
            .filter(|place| (low * 0.9999..=high * 1.0001).contains(place))
            .collect()
    };
    let powers = between(&[1.0]);
    if powers.len() > 2 {
        powers
    } else {
        between(&[1.0, 2.0, 5.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_at_multiples_of_the_step_and_at_powers_of_ten() {
        assert_eq!(even(0.4, 3.6, 1.0), [1.0, 2.0, 3.0]);
        assert_eq!(
            even(0.0, 500.0, round(500.0)),
            [0.0, 100.0, 200.0, 300.0, 400.0, 500.0]
        );
        assert_eq!(decades(0.01, 130.0), [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(decades(30.0, 300.0), [50.0, 100.0, 200.0]);
    }
}
