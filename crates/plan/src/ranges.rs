//! The ranges of the numbers in a resolved plan. A plan file is checked key by key where it is read; a resolved plan may come from any source, and its
//! numbers must lie in the same ranges, since memory, time and arithmetic depend on them.

use crate::reader::diagnostic::Diagnostic;
use sixbench_method::plan::AddressPart;
use sixbench_method::terms::FrameSize;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// The shortest `duration` that a plan may set.
pub const SHORTEST_TRIAL_NS: u64 = 10_000_000;

/// The longest time, nanoseconds: the greatest patience of a plan, which is five trials of a day.
const LONGEST_NS: f64 = 5.0 * 86_400e9;

/// The greatest number below 1, since a loss goal must be less than 1.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON;

/// The highest rate that a plan file accepts, and the highest that results from the fastest medium at the smallest frame size.
const RATE: f64 = 1e9;
const RATE_OF_MEDIUM: f64 = 2e10;

/// The end of a key's path (`flows.count` is `count` in the table `flows`), with the least and the greatest value. The first match applies.
const RANGES: &[(&str, f64, f64)] = &[
    ("trial.duration-ns", SHORTEST_TRIAL_NS as f64, LONGEST_NS),
    ("trial.stall-ns", 1.0, LONGEST_NS),
    ("dns.timeout-ns", 1.0, 1e9),
    ("back-to-back.longest-ns", 1.0, 60e9),
    ("minimum", 1.0, RATE),
    ("maximum", 1.0, RATE),
    ("rates", 1.0, RATE_OF_MEDIUM),
    ("rate", 1.0, RATE_OF_MEDIUM),
    ("rate-per-client", 1.0, RATE),
    ("of-throughput", 0.0, 1.0),
    ("overload", 0.0, 1000.0),
    ("link-rate", 1e6, 1e13),
    ("width", 0.00001, 0.5),
    ("goals", 0.0, BELOW_ONE),
    ("loss-goals", 0.0, BELOW_ONE),
    ("max-invalid", 1.0, 1000.0),
    ("repetitions.fixed", 1.0, 1000.0),
    ("adaptive.least", 6.0, 1000.0),
    ("adaptive.most", 6.0, 1000.0),
    ("adaptive.within", 0.0, 1.0),
    ("frame-sizes", FrameSize::MINIMUM.0 as f64, FrameSize::MAXIMUM.0 as f64),
    ("foreground.foreground", 0.0, 10_000.0),
    ("foreground.of", 1.0, 10_000.0),
    ("left-networks", 1.0, 256.0),
    ("right-networks", 1.0, 256.0),
    ("left-addresses.range.last", 0.0, AddressPart::LAST_VALUE as f64),
    ("right-addresses.range.last", 0.0, AddressPart::LAST_VALUE as f64),
    ("ipv4-offset", 0.0, 2.0),
    ("ipv6-offset", 0.0, 14.0),
    ("flows.count", 1.0, 1e9),
    ("subscribers", 1.0, 1e9),
    ("connections", 1.0, 1e9),
    ("state-table", 1.0, 1e9),
    ("table-size", 1.0, 1e9),
    ("start", 1.0, 1e9),
    ("most", 1.0, 1e9),
    ("error", 1.0, 1e9),
    ("validation", 0.0, 1.0),
    ("exponential-share", 0.0, 1.0),
    ("binary-share", 0.0, 1.0),
    ("tagged", 1.0, 1e12),
    ("step-frames", 1.0, 1e12),
    ("object-octets", 1.0, 1e6),
    ("cached", 0.0, 100.0),
    ("with-aaaa", 0.0, 100.0),
    ("cached-names", 1.0, 1e9),
    ("ttl-s", 0.0, i32::MAX as f64),
    ("dns.ports", 1.0, 4096.0),
    ("dns.burst", 1.0, 1e6),
    ("cores", 1.0, 1000.0),
];

/// Pairs of keys in one table, of which the first must not be greater than the second.
const ORDERED: [(&str, &str); 5] =
    [("minimum", "maximum"), ("least", "most"), ("start", "most"), ("first", "last"), ("foreground", "of")];

/// Returns the first number of a resolved plan that lies outside its range.
pub(crate) fn first_outside(plan: &DeTable<'_>) -> Option<Diagnostic> {
    in_table(plan, "")
}

fn in_table(table: &DeTable<'_>, path: &str) -> Option<Diagnostic> {
    let entries = || table.iter().map(|(key, value)| (format!("{path}.{}", key.get_ref()), value));
    entries().find_map(|(path, value)| in_value(value, &path)).or_else(|| disordered(table))
}

fn in_value(value: &Spanned<DeValue<'_>>, path: &str) -> Option<Diagnostic> {
    match value.get_ref() {
        DeValue::Table(table) => in_table(table, path),
        DeValue::Array(items) => items.iter().find_map(|item| in_value(item, path)),
        other => {
            let (number, (least, most)) = (number(other)?, range_of(path)?);
            let key = path.rsplit('.').next().unwrap_or_default();
            let title = format!("`{key}` must be between {} and {}, not {number}", shown(least), shown(most));
            (!(least..=most).contains(&number)).then(|| Diagnostic::new(value.span(), title))
        }
    }
}

/// Returns the range of a key by the end of its path; `None` if the type is limit enough.
fn range_of(path: &str) -> Option<(f64, f64)> {
    let is_of = |end: &str| path.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    if let Some((_, least, most)) = RANGES.iter().find(|(end, ..)| is_of(end)) {
        return Some((*least, *most));
    }
    let is_of_device = path.rsplit('.').nth(1) == Some("device-cores");
    if is_of_device { Some((1.0, 1000.0)) } else { path.ends_with("-ns").then_some((0.0, LONGEST_NS)) }
}

fn disordered(table: &DeTable<'_>) -> Option<Diagnostic> {
    ORDERED.iter().find_map(|(low, high)| {
        let (below, above) = (table.get(*low)?, table.get(*high)?);
        let is_wrong = number(below.get_ref())? > number(above.get_ref())?;
        is_wrong.then(|| Diagnostic::new(below.span(), format!("`{low}` must not be above `{high}`")))
    })
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => whole(integer),
        DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

fn whole(integer: &DeInteger<'_>) -> Option<f64> {
    i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(|number| number as f64)
}

/// Returns a bound in the notation used in messages.
fn shown(bound: f64) -> String {
    if bound == BELOW_ONE { "1 (exclusive)".to_owned() } else { format!("{bound}") }
}

#[cfg(test)]
mod tests {
    use crate::fixture_tests::SMALLEST;
    use crate::{parse, resolved};

    const STATEFUL: &str =
        "measure = \"pdv\"\nrate = \"5k\"\nrepetitions = \"adaptive\"\nconnections = \"1k\"\nflow-step = \"0s\"\n";

    fn resolved_of(lines: &str) -> String {
        let source = format!("{SMALLEST}{lines}");
        let plan = parse(&source, &["linux-ipv4"]).expect("a plan").plan;
        resolved::write(&plan, &source, "recipes").expect("text")
    }

    #[test]
    fn a_number_outside_of_its_range_is_refused_at_its_line_and_one_at_its_end_is_not() {
        let whole = resolved_of(STATEFUL);
        for (key, at_the_end, outside) in [
            ("duration-ns", "86400000000000", "9_000_000_000_000_000_000"),
            ("residual-ns", "0", "18446744073709551615"),
            ("patience-ns", "432000000000000", "432000000000001"),
            ("minimum", "1", "0"),
            ("maximum", "1000000000", "18000000000000000000"),
            ("max-invalid", "1000", "4294967295"),
            ("width", "0.5", "nan"),
            ("least", "6", "0"),
            ("most", "1000", "4000000000"),
            ("within", "1.0", "-0.1"),
            ("of", "10000", "0"),
            ("connections", "1000000000", "18000000000000000000"),
            ("validation", "1.0", "inf"),
            ("rate", "20000000000", "0"),
        ] {
            let with = |value: &str| changed(&whole, key, value);
            assert!(
                resolved::plan_of(&with(at_the_end)).is_ok(),
                "{key} = {at_the_end}: {:?}",
                resolved::plan_of(&with(at_the_end))
            );
            let (text, mistake) = (with(outside), resolved::plan_of(&with(outside)).expect_err(key));
            assert!(mistake.title.starts_with(&format!("`{key}` must be between ")), "{}", mistake.title);
            let line = text[..mistake.span.start].lines().last().unwrap_or_default();
            assert!(line.starts_with(&format!("{key} = ")), "{line}");
        }
    }

    /// Returns the text with the first number of this key replaced.
    fn changed(text: &str, key: &str, value: &str) -> String {
        let mut is_open = true;
        let set = |line: &str| {
            let is_it = is_open && line.starts_with(&format!("{key} = "));
            is_open &= !is_it;
            if is_it { format!("{key} = {value}") } else { line.to_owned() }
        };
        let changed: Vec<String> = text.lines().map(set).collect();
        assert!(!is_open, "no {key} in {text}");
        changed.join("\n")
    }

    #[test]
    fn so_many_addresses_that_the_guard_could_not_look_at_each_are_refused() {
        let text = resolved_of("right-addresses = { range = \"0-1048575\" }\n");
        assert!(resolved::plan_of(&text).is_ok());
        let mistake = resolved::plan_of(&text.replacen("last = 1048575", "last = 1048576", 1)).expect_err("too many");
        assert_eq!(mistake.title, "`last` must be between 0 and 1048575, not 1048576");
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_refused() {
        let text = resolved_of("forward-ports = { source = \"10-20\" }\n");
        assert!(resolved::plan_of(&text).is_ok());
        let mistake = resolved::plan_of(&text.replacen("first = 10", "first = 30", 1)).expect_err("a range");
        assert_eq!(mistake.title, "`first` must not be above `last`");
    }

    #[test]
    fn every_number_of_a_list_is_looked_at() {
        let text = resolved_of("frame-sizes = [84, 128]\nloss-goals = [\"0%\", \"1%\"]\n");
        assert!(resolved::plan_of(&text).is_ok(), "{text}");
        for (from, to) in [("128", "65535"), ("0.01", "1.0")] {
            let mistake = resolved::plan_of(&text.replacen(from, to, 1)).expect_err(to);
            assert!(mistake.title.contains(" must be between "), "{}", mistake.title);
        }
    }
}
