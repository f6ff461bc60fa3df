//! Numbers in a readable form. All spaces inside a quantity are no-break spaces.

use crate::wording::bound::Bound;
use sixbench_method::measures::{Family, Quantity, SearchedRate, Unit};
use sixbench_method::plan::{Measure, Test};
use sixbench_method::search::AcceptedLoss;
use sixbench_method::terms::{Directions, FrameSize, LossRatio};
use sixbench_method::trial::TrialSpec;
use sixbench_method::units::agreeing;

/// Returns a count or a rate with three significant digits and a prefix: `412 k`, `1.23 M`, `950`.
pub(crate) fn short(value: f64) -> String {
    let (scaled, prefix) = prefixed(value.round());
    format!("{}{prefix}", three_digits(scaled))
}

/// Does the same as [`short`] for a number that may be a bound; rounding keeps the bound valid.
pub(crate) fn short_bound(value: f64, bound: Bound) -> String {
    short(if value == 0.0 {
        value
    } else {
        bound.rounded(value, unit_of_digits(value, 3).max(1.0))
    })
}

/// Returns the unit in which a non-zero number has this many digits.
fn unit_of_digits(value: f64, digits: i32) -> f64 {
    10f64.powi(first_place(value) + 1 - digits)
}

/// Returns the decimal place of a number's first digit: 3 for 1,234.
fn first_place(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// Returns a number scaled for a prefix, and the prefix.
fn prefixed(value: f64) -> (f64, &'static str) {
    match value.abs() {
        // With three digits, 999.5 is already printed as 1,000.
        v if v >= 999_500_000.0 => (value / 1e9, "\u{a0}G"),
        v if v >= 999_500.0 => (value / 1e6, "\u{a0}M"),
        v if v >= 999.5 => (value / 1e3, "\u{a0}k"),
        _ => (value, ""),
    }
}

/// Does the same as [`three_digits`] for a number that may be a bound; rounding keeps the bound valid.
pub(crate) fn three_digits_bound(value: f64, bound: Bound) -> String {
    three_digits(if value == 0.0 {
        value
    } else {
        bound.rounded(value, unit_of_digits(value, 3))
    })
}

/// Returns a number with three significant digits, without trailing zeros in the fraction.
pub(crate) fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        // Each threshold is the first value that rounding gives another digit.
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.0995 => 3,
        v => (2.0 - v.log10().floor()).min(9.0) as usize,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Returns a count or a rate as a whole number in groups of three: `412,345`. The median of an even sample may lie between two whole numbers, but no
/// device forwards half a frame.
pub(crate) fn grouped(value: f64) -> String {
    with_decimals(value.round(), 0)
}

/// Returns a number with this many decimals, and groups of three before the point: `-1,234.56`.
pub(crate) fn with_decimals(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    // A number that is rounded to zero has no sign.
    let sign = if value < 0.0 && text.contains(|c: char| c.is_ascii_digit() && c != '0') {
        "-"
    } else {
        ""
    };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

/// Returns a ratio in per cent: `12 %`, `0.35 %`.
pub(crate) fn percent(ratio: f64) -> String {
    format!("{}\u{a0}%", three_digits(ratio * 100.0))
}

/// Does the same as [`share`] for a ratio that may be a bound; rounding keeps the bound valid.
pub(crate) fn share_bound(ratio: f64, bound: Bound) -> String {
    share(bound.rounded(ratio, if ratio >= 0.1 { 0.01 } else { 0.001 }))
}

/// Does the same as [`share`] for a column: numbers below 10 % have one decimal.
pub(crate) fn share_in_column(ratio: f64) -> String {
    if ratio < 0.1 {
        format!("{:.1}\u{a0}%", ratio * 100.0)
    } else {
        share(ratio)
    }
}

/// Returns a ratio in per cent for a sentence: a whole number from 10 % on.
pub(crate) fn share(ratio: f64) -> String {
    if ratio >= 0.1 {
        format!("{:.0}\u{a0}%", ratio * 100.0)
    } else {
        format!("{}\u{a0}%", three_digits((ratio * 1000.0).round() / 10.0))
    }
}

/// Returns nanoseconds in milliseconds, without the unit: `0.0241`, `1.250`, `1,204.5`. Small values show single nanoseconds.
pub(crate) fn ms(ns: f64) -> String {
    let decimals = match ns.abs() {
        v if v >= 1e8 => 1,
        v if v >= 1e6 => 3,
        v if v >= 1e3 || v == 0.0 => 4,
        _ => 6,
    };
    with_decimals(ns / 1e6, decimals)
}

/// Returns nanoseconds in milliseconds, for a sentence: `0.0241 ms`, `1.25 ms`.
pub(crate) fn short_ms(ns: f64) -> String {
    format!("{}\u{a0}ms", three_digits(ns / 1e6))
}

/// Returns the value of a quantity for tables, in the unit of [`unit`].
pub(crate) fn value(quantity: Quantity, value: f64) -> String {
    match quantity.unit() {
        Unit::Nanoseconds => ms(value),
        Unit::Percent => percentage(value),
        Unit::Frames => grouped(value),
        Unit::Connections
        | Unit::ConnectionsPerSecond
        | Unit::FramesPerSecond
        | Unit::Requirements => grouped(value.round()),
        Unit::Octets | Unit::OctetsPerHour => grouped((value / 1e3).round()),
    }
}

/// Returns the factor that converts a stored quantity to the unit of [`unit`].
pub(crate) fn printed_scale(quantity: Quantity) -> f64 {
    match quantity.unit() {
        Unit::Nanoseconds => 1e-6,
        Unit::Octets | Unit::OctetsPerHour => 1e-3,
        Unit::Percent
        | Unit::Frames
        | Unit::Connections
        | Unit::ConnectionsPerSecond
        | Unit::FramesPerSecond
        | Unit::Requirements => 1.0,
    }
}

/// Returns a number with a prefix and as many digits as the spread of its repetitions (highest minus lowest) supports, two to four: 292,123 with a
/// spread of 30,000 is `290 k`, with one of 300 `292.1 k`. Without a spread it has three digits. Rounding keeps a bound valid.
pub(crate) fn supported(value: f64, spread: f64, bound: Bound) -> String {
    if value == 0.0 {
        return short_or_fraction(value);
    }
    if spread <= 0.0 {
        return short_or_fraction(bound.rounded(value, unit_of_digits(value, 3)));
    }
    let digits = (first_place(value) - first_place(spread) + 1).clamp(2, 4);
    let (scaled, prefix) = prefixed(bound.rounded(value, unit_of_digits(value, digits)));
    format!(
        "{scaled:.*}{prefix}",
        (digits - 1 - first_place(scaled)).max(0) as usize
    )
}

/// Does the same as [`short`], but with three significant digits for numbers below a hundred.
pub(crate) fn short_or_fraction(value: f64) -> String {
    if value.abs() < 100.0 {
        three_digits(value)
    } else {
        short(value)
    }
}

/// Returns the unit in which reports print a quantity.
pub(crate) fn unit(quantity: Quantity) -> &'static str {
    match quantity.unit() {
        Unit::Nanoseconds => "ms",
        Unit::FramesPerSecond => "frames/s, both directions",
        Unit::Octets => "kB",
        Unit::OctetsPerHour => "kB/h",
        unit @ (Unit::Percent
        | Unit::Frames
        | Unit::Connections
        | Unit::ConnectionsPerSecond
        | Unit::Requirements) => unit.symbol(),
    }
}

/// Returns a percentage without the sign: small ones have four decimals or more, since one lost frame in a million is not nothing.
pub(crate) fn percentage(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        v if v >= 1.0 => 2,
        v if v >= 0.001 => 4,
        _ => 6,
    };
    with_decimals(value, decimals)
}

/// Returns nanoseconds in seconds with the unit: `2 s`, `0.5 s`.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{}\u{a0}s", three_digits(ns as f64 / 1e9))
}

/// Returns a duration in a readable unit: `40 s`, `12 min`, `5.4 h`.
pub(crate) fn stretch(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds}\u{a0}s"),
        120..=7199 => format!("{:.0}\u{a0}min", seconds as f64 / 60.0),
        _ => format!("{}\u{a0}h", three_digits(seconds as f64 / 3600.0)),
    }
}

/// Returns a number with a noun: `1 trial`, `3 trials`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    format!("{n}\u{a0}{}", agreeing(n == 1, noun))
}

/// Returns a list in words: `84, 128 and 1518`.
pub(crate) fn enumerated<T: ToString>(items: &[T]) -> String {
    joined(items, "and")
}

/// Returns a list of which one applies, in words: `1, 3 or 5`.
pub(crate) fn alternatives<T: ToString>(items: &[T]) -> String {
    joined(items, "or")
}

fn joined<T: ToString>(items: &[T], conjunction: &str) -> String {
    let words: Vec<String> = items.iter().map(T::to_string).collect();
    match &words[..] {
        [first @ .., last] if !first.is_empty() => {
            format!("{} {conjunction} {last}", first.join(", "))
        }
        _ => words.concat(),
    }
}

/// Returns a whole number, such as one of connections, in groups of three and without a unit.
pub(crate) fn whole(value: u64) -> String {
    grouped(value as f64)
}

/// Returns the unit of the rate that a measure searches for or is made at: in phase 1 of RFC 9693 every frame opens a connection.
pub(crate) fn rate_unit(measure: &Measure) -> &'static str {
    measure.family().noun().per_second()
}

/// Does the same as [`rate_unit`], with the direction; connections and queries have none, since only one side opens or asks.
pub(crate) fn full_rate_unit(measure: &Measure) -> &'static str {
    measure.family().noun().per_second_and_direction()
}

/// Returns the load of a trial with its unit: `412 k frames/s`, `95 k connections/s`, `12 k queries/s`.
pub(crate) fn load(spec: &TrialSpec) -> String {
    format!("{} {}", short(spec.rate.0 as f64), spec.kind.rate_unit())
}

/// Returns the title of a test, with the direction if there is only one (queries always have one), with the accepted loss if the test sets it, and with the
/// mix of its frame sizes.
pub(crate) fn title(test: &Test) -> String {
    let goal = test.own_goals.as_ref().and_then(|goals| goals.first());
    let goal = goal.map_or_else(String::new, |&goal| {
        format!(" ({})", loss_goal(AcceptedLoss::in_every_trial(goal)))
    });
    let direction = match test.measure.family() {
        Family::Queries | Family::Vectors => "",
        Family::Frames | Family::Requests | Family::PhaseOne | Family::Tcp => {
            only_direction(test.directions)
        }
    };
    let mix = test.traffic.size_mix;
    let mix = mix.map_or_else(String::new, |mix| format!(" ({})", mix.label()));
    format!("{}{direction}{goal}{mix}", test.title)
}

fn only_direction(directions: Directions) -> &'static str {
    match directions {
        Directions::Both => "",
        Directions::Forward => " (forward only)",
        Directions::Reverse => " (reverse only)",
    }
}

/// Returns whether the names of a test's points have the frame size. That of DNS queries follows from the names that are asked for, and each vector has
/// frames of its own.
pub(crate) fn has_size_in_names(test: &Test) -> bool {
    match test.measure.family() {
        Family::Queries | Family::Vectors => false,
        Family::Frames | Family::Requests | Family::PhaseOne | Family::Tcp => true,
    }
}

/// Returns the title of a test for a place that already names the measure: `linux-ipv4 throughput` becomes `linux-ipv4`.
pub(crate) fn subject(test: &Test) -> String {
    let title = title(test);
    let named = title
        .strip_suffix(test.measure.name())
        .map(|rest| rest.trim_end_matches([' ', ',', ':', '-']));
    named
        .filter(|rest| !rest.is_empty())
        .map_or(title.clone(), str::to_owned)
}

/// Returns the description of the accepted loss. Only the goal of zero loss in every trial is the throughput of RFC 2544 section 26.1.
pub(crate) fn loss_goal(goal: AcceptedLoss) -> String {
    let trials = in_trials(goal);
    if goal.loss_ratio == LossRatio::ZERO {
        format!("without loss{trials}")
    } else {
        format!("with at most {} loss{trials}", percent(goal.loss_ratio.0))
    }
}

/// Returns the share of the trials at a load that kept the loss goal, as the end of a phrase; nothing where all of them had to.
pub(crate) fn in_trials(goal: AcceptedLoss) -> String {
    if goal.exceed_ratio == 0.0 {
        return String::new();
    }
    format!(
        " in at least {} of the trials",
        percent(1.0 - goal.exceed_ratio)
    )
}

/// Returns the name of the quantity found for a loss goal.
pub(crate) fn quantity(goal: AcceptedLoss) -> String {
    if goal == AcceptedLoss::NONE {
        "Throughput".to_owned()
    } else if goal.loss_ratio == LossRatio::ZERO {
        format!("Rate {}", loss_goal(goal))
    } else {
        format!("Rate at {}", at_most(goal))
    }
}

/// Returns the accepted loss as what a quantity is found at: `0.1 % loss or less`.
fn at_most(goal: AcceptedLoss) -> String {
    format!(
        "{} loss or less{}",
        percent(goal.loss_ratio.0),
        in_trials(goal)
    )
}

/// Returns the name of the quantity found for the first loss goal of several tests; `None` means that their goals differ.
pub(crate) fn common_quantity(goal: Option<AcceptedLoss>) -> String {
    goal.map_or_else(|| "Rate at the loss goal of the test".to_owned(), quantity)
}

/// Returns the name of the quantity that a measure searched for, or that of [`common_quantity`] if the goals of several tests differ.
pub(crate) fn commonly_searched(measure: &Measure, goal: Option<AcceptedLoss>) -> String {
    goal.map_or_else(|| common_quantity(None), |goal| searched(measure, goal))
}

/// Returns the name of the quantity that a measure searched for with a loss goal.
pub(crate) fn searched(measure: &Measure, goal: AcceptedLoss) -> String {
    match measure.info().searched {
        Some(SearchedRate::OfAll(name)) => format!("{name}{}", in_trials(goal)),
        Some(SearchedRate::Named(name)) if goal == AcceptedLoss::NONE => name.to_owned(),
        Some(SearchedRate::Named(name)) => format!("{name} at {}", at_most(goal)),
        Some(SearchedRate::Throughput) | None => quantity(goal),
    }
}

/// Returns the description of a panel's frames: their size, or DNS queries, which have no size.
pub(crate) fn frames(size: Option<FrameSize>) -> String {
    size.map_or("DNS queries".to_owned(), |size| {
        format!("{size}\u{a0}bytes")
    })
}

/// Returns the name of a quantity for use inside a sentence, with a small first letter unless it is an abbreviation.
pub(crate) fn in_a_sentence(quantity: &str) -> String {
    let is_word =
        quantity.chars().nth(1).is_some_and(char::is_lowercase) && !quantity.starts_with("Dm");
    if is_word {
        quantity[..1].to_lowercase() + &quantity[1..]
    } else {
        quantity.to_owned()
    }
}

/// Returns a text with a large first letter, for the beginning of a sentence.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Returns text cut to `width` characters, with an ellipsis if it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        text.to_owned()
    } else {
        text.chars()
            .take(width.saturating_sub(1))
            .chain(['…'])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_ends_with_the_measure_does_not_name_it_twice() {
        let titled = |title: &str| {
            subject(&Test {
                title: title.to_owned(),
                ..Test::new("t", "linux")
            })
        };
        assert_eq!(
            [
                "linux-ipv4 throughput",
                "Jool, SIIT, throughput",
                "throughput",
                "Jool"
            ]
            .map(titled),
            ["linux-ipv4", "Jool, SIIT", "throughput", "Jool"]
        );
    }

    #[test]
    fn a_number_has_the_digits_that_its_spread_supports() {
        let cases = [
            (292_123.0, 30_000.0),
            (292_123.0, 3_000.0),
            (292_123.0, 300.0),
            (292_123.0, 1.0),
            (292_123.0, 400_000.0),
            (292_123.0, 0.0),
        ];
        let shown = cases
            .map(|(value, spread)| supported(value, spread, Bound::Exact).replace('\u{a0}', " "));
        assert_eq!(
            shown,
            ["290 k", "292 k", "292.1 k", "292.1 k", "290 k", "292 k"]
        );
        assert_eq!(
            [
                (0.0241, 0.002),
                (0.0241, 0.0001),
                (12.3456, 0.01),
                (0.0, 5.0)
            ]
            .map(|(v, s)| supported(v, s, Bound::Exact)),
            ["0.024", "0.0241", "12.35", "0"]
        );
    }

    #[test]
    fn a_lower_bound_is_rounded_down() {
        let shown = |value, spread| supported(value, spread, Bound::AtLeast).replace('\u{a0}', " ");
        assert_eq!(
            [
                shown(295_923.0, 60_000.0),
                shown(34_903.0, 4_000.0),
                shown(0.0, 1.0)
            ],
            ["290 k", "34 k", "0"]
        );
        let short =
            [295_923.0, 950.7, 999_900.0, 0.0].map(|value| short_bound(value, Bound::AtLeast));
        assert_eq!(short, ["295\u{a0}k", "950", "999\u{a0}k", "0"]);
        assert_eq!(
            [0.128, 0.0789].map(|ratio| share_bound(ratio, Bound::AtLeast)),
            ["12\u{a0}%", "7.8\u{a0}%"]
        );
    }

    #[test]
    fn short_numbers_have_three_digits_and_a_prefix() {
        let cases = [
            (0.0, "0"),
            (950.0, "950"),
            (999.7, "1\u{a0}k"),
            (50_400.0, "50.4\u{a0}k"),
            (412_345.0, "412\u{a0}k"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(1_488_095.0), "1.49\u{a0}M");
    }

    #[test]
    fn full_numbers_are_grouped_and_there_are_no_half_frames() {
        assert_eq!(grouped(1_488_095.0), "1,488,095");
        assert_eq!(grouped(221_782.5), "221,783");
        assert_eq!(short(12.5), "13");
        assert_eq!(grouped(0.0), "0");
        assert_eq!(with_decimals(-1234.5678, 2), "-1,234.57");
        assert_eq!(with_decimals(-0.0001, 2), "0.00");
    }

    #[test]
    fn a_tenth_of_a_microsecond_is_not_rounded_away() {
        let cases = [
            (24_100.0, "0.0241"),
            (1_250_000.0, "1.250"),
            (-300.0, "-0.000300"),
            (1.2045e9, "1,204.5"),
            (0.0, "0.0000"),
        ];
        for (ns, text) in cases {
            assert_eq!(ms(ns), text);
        }
        assert_eq!(short_ms(85_000.0), "0.085\u{a0}ms");
    }

    #[test]
    fn small_shares_are_not_rounded_to_nothing() {
        assert_eq!(percent(0.0035), "0.35\u{a0}%");
        assert_eq!(percent(0.12), "12\u{a0}%");
        assert_eq!(percent(1.0), "100\u{a0}%");
        assert_eq!(percent(0.000_001), "0.0001\u{a0}%");
    }
}
