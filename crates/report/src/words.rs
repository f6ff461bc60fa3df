//! Numbers as people read them. All spaces inside a quantity are no-break spaces.

use sixbench_method::plan::Test;
use sixbench_method::terms::{Directions, LossRatio};

/// Three significant digits and a prefix: `412 k`, `1.23 M`, `950`.
pub(crate) fn short(value: f64) -> String {
    let (scaled, prefix) = match value.abs() {
        v if v >= 999_500_000.0 => (value / 1e9, "\u{a0}G"),
        v if v >= 999_500.0 => (value / 1e6, "\u{a0}M"),
        v if v >= 999.5 => (value / 1e3, "\u{a0}k"),
        _ => (value, ""),
    };
    format!("{}{prefix}", three_digits(scaled))
}

/// Three significant digits, trailing zeros of a fraction dropped.
pub(crate) fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Every digit, in groups of three: `412,345`; halves (medians of even samples) keep theirs: `412,345.5`.
pub(crate) fn grouped(value: f64) -> String {
    let half = if value.fract() == 0.0 { "" } else { ".5" };
    let digits = (value.trunc() as u64).to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + half
}

/// A ratio in per cent: `12 %`, `0.35 %`.
pub(crate) fn percent(ratio: f64) -> String {
    format!("{}\u{a0}%", three_digits(ratio * 100.0))
}

/// A ratio in per cent for a sentence: whole numbers from 10 % on.
pub(crate) fn share(ratio: f64) -> String {
    match ratio >= 0.1 {
        true => format!("{:.0}\u{a0}%", ratio * 100.0),
        false => format!("{}\u{a0}%", three_digits((ratio * 1000.0).round() / 10.0)),
    }
}

/// Nanoseconds in milliseconds, without the unit: `0.024`.
pub(crate) fn ms(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e6)
}

/// Nanoseconds in seconds with the unit: `2 s`, `0.5 s`.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{}\u{a0}s", three_digits(ns as f64 / 1e9))
}

/// A stretch of time for people: `40 s`, `12 min`, `5.4 h`.
pub(crate) fn stretch(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds}\u{a0}s"),
        120..=7199 => format!("{:.0}\u{a0}min", seconds as f64 / 60.0),
        _ => format!("{}\u{a0}h", three_digits(seconds as f64 / 3600.0)),
    }
}

/// `1 trial`, `3 trials`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n}\u{a0}{noun}{plural}")
}

/// The title of a test, with the direction where it is not the usual both.
pub(crate) fn title(test: &Test) -> String {
    match test.directions {
        Directions::Both => test.title.clone(),
        Directions::Forward => format!("{} (forward only)", test.title),
        Directions::Reverse => format!("{} (reverse only)", test.title),
    }
}

/// What is accepted, in words. Only the goal of zero loss is the throughput of RFC 2544 section 26.1.
pub(crate) fn loss_goal(goal: LossRatio) -> String {
    match goal == LossRatio::ZERO {
        true => "without loss".to_owned(),
        false => format!("with at most {} loss", percent(goal.0)),
    }
}

/// The name of the quantity found for a goal.
pub(crate) fn quantity(goal: LossRatio) -> String {
    match goal == LossRatio::ZERO {
        true => "Throughput".to_owned(),
        false => format!("Rate at {} loss or less", percent(goal.0)),
    }
}

/// Text cut to `width` characters, the cut marked.
pub(crate) fn cut(text: &str, width: usize) -> String {
    match text.chars().count() <= width {
        true => text.to_owned(),
        false => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_have_three_digits_and_a_prefix() {
        let cases = [(0.0, "0"), (950.0, "950"), (999.7, "1\u{a0}k"), (50_400.0, "50.4\u{a0}k"), (412_345.0, "412\u{a0}k")];
        cases.iter().for_each(|&(value, text)| assert_eq!(short(value), text));
        assert_eq!(short(1_488_095.0), "1.49\u{a0}M");
    }

    #[test]
    fn full_numbers_are_grouped_and_keep_halves() {
        assert_eq!(grouped(1_488_095.0), "1,488,095");
        assert_eq!(grouped(12.5), "12.5");
        assert_eq!(grouped(0.0), "0");
    }

    #[test]
    fn small_shares_are_not_rounded_to_nothing() {
        assert_eq!(percent(0.0035), "0.35\u{a0}%");
        assert_eq!(percent(0.12), "12\u{a0}%");
        assert_eq!(percent(1.0), "100\u{a0}%");
    }
}
