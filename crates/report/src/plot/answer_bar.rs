//! The bar of one result on the first screen: its median, and each repetition as a dot. Colours are classes of the style sheet, so that they follow the
//! reader's choice of a light or dark page.

use super::sheet::escaped;
use std::fmt::Write;

/// The size of the drawing, pixels; the page scales it to its column.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 26.0;
/// The margin to the right of the highest dot, pixels.
const MARGIN: f64 = 6.0;

pub(crate) struct RepetitionDot {
    pub(crate) number: u32,
    pub(crate) value: f64,
    /// False if the tester, the plan or a disturbance ended it, so that the true value may be higher.
    pub(crate) is_by_device: bool,
    /// The value with its unit.
    pub(crate) words: String,
}

/// Draws a percentage of the repetitions on a scale up to 100 %.
pub(crate) fn share_bar(label: &str, percent: f64) -> String {
    let (label, width) = (escaped(label), (WIDTH - MARGIN) * percent / 100.0);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\"><rect class=\"bar\" y=\"6\" height=\"14\" width=\"{width:.1}\"/></svg>"
    )
}

/// Draws a result on a scale from zero to `end`. The bar is hatched if the true value may be higher.
pub(crate) fn bar(
    name: &str,
    median: f64,
    is_open: bool,
    repetitions: &[RepetitionDot],
    end: f64,
) -> String {
    let x = |value: f64| (WIDTH - MARGIN) * value / end.max(f64::MIN_POSITIVE);
    let (n, class) = (repetitions.len(), if is_open { "bar open" } else { "bar" });
    let label = format!(
        "{name}: {}, {}",
        sixbench_method::units::counted(n as u64, "repetition"),
        extremes(repetitions)
    );
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\"><rect class=\"{class}\" y=\"6\" height=\"14\" width=\"{:.1}\"/>",
        escaped(&label),
        x(median)
    );
    for (i, repetition) in repetitions.iter().enumerate() {
        // The dots are below each other in the order of the run, so that equal values can be distinguished and a slope shows a drift.
        let y = if n == 1 {
            13.0
        } else {
            5.0 + 16.0 * i as f64 / (n - 1) as f64
        };
        let (class, by) = if repetition.is_by_device {
            ("dot", "")
        } else {
            ("dot hollow", ", not ended by the device")
        };
        let title = format!("repetition {}: {}{by}", repetition.number, repetition.words);
        let _ = write!(
            svg,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{}</title></circle>",
            x(repetition.value),
            escaped(&title)
        );
    }
    svg + "</svg>"
}

fn extremes(repetitions: &[RepetitionDot]) -> String {
    let by = |a: &&RepetitionDot, b: &&RepetitionDot| a.value.total_cmp(&b.value);
    match (repetitions.iter().min_by(by), repetitions.iter().max_by(by)) {
        (Some(low), Some(high)) if low.value < high.value => {
            format!("{} to {}", low.words, high.words)
        }
        (Some(only), _) => only.words.clone(),
        (None, _) => "no result".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repetition(number: u32, value: f64, is_by_device: bool) -> RepetitionDot {
        RepetitionDot {
            number,
            value,
            is_by_device,
            words: format!("{value}"),
        }
    }

    #[test]
    fn a_repetition_that_the_device_did_not_end_is_hollow_and_a_lower_bound_is_hatched() {
        let repetitions = [repetition(1, 50.0, true), repetition(2, 100.0, false)];
        let svg = bar("<b>", 75.0, true, &repetitions, 100.0);
        assert!(
            svg.contains("aria-label=\"&lt;b&gt;: 2 repetitions, 50 to 100\""),
            "{svg}"
        );
        assert!(
            svg.contains("class=\"bar open\" y=\"6\" height=\"14\" width=\"235.5\""),
            "{svg}"
        );
        assert!(
            svg.contains("class=\"dot\" cx=\"157.0\"")
                && svg.contains("class=\"dot hollow\" cx=\"314.0\""),
            "{svg}"
        );
        assert!(
            svg.contains("repetition 2: 100, not ended by the device"),
            "{svg}"
        );
    }
}
