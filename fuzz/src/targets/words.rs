//! Names and values that are put into commands. Quoted words must be the same words to a shell, according to the crate shlex; an accepted name is
//! one plain word, not an option and not a path; a value parsed from a text is unchanged after it is written and parsed again.

use crate::input::Input;
use sixbench_io::PortSpec;
use sixbench_method::names::{HOST, INTERFACE, NameRule, RECIPE, RESOLVED_TEST, TEST, check_title};
use sixbench_method::plan::{Names, checked_domain};
use sixbench_method::text::{is_control, visible};
use sixbench_method::units;
use sixbench_testbed::quoted;
use sixbench_wire::{MacAddress, Prefix4, Prefix6, Prefix6052};
use std::fmt::Display;
use std::str::FromStr;

/// The first octet decides whether one text follows, or words separated by zeros.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    let how = input.octet();
    let text = String::from_utf8_lossy(input.0);
    match how % 3 {
        0 => check_quoted(&text),
        1 => check_names(&text),
        _ => check_values(&text),
    }
}

fn check_quoted(text: &str) {
    let words: Vec<String> = text.split('\0').map(str::to_owned).collect();
    let line = quoted(&words);
    // Control characters but line ends are printed by a command that the shell runs, which shlex does not.
    assert!(
        !line.contains(|letter| is_control(letter) && letter != '\n'),
        "{line:?}"
    );
    if text.split('\0').any(|word| word.contains(is_control)) {
        return;
    }
    assert_eq!(shlex::split(&line).as_ref(), Some(&words), "{line}");
    // A command line quoted within another one, as for ssh.
    assert_eq!(
        shlex::split(&quoted(std::slice::from_ref(&line))),
        Some(vec![line])
    );
}

fn check_names(text: &str) {
    let rules: [(NameRule, &str); 5] = [
        (RECIPE, ""),
        (TEST, ""),
        (RESOLVED_TEST, ""),
        (INTERFACE, ""),
        (HOST, "[]%"),
    ];
    for (rule, quoted_signs) in rules {
        match rule.check(text) {
            Ok(()) => {
                let is_plain = quoted(&[text.to_owned()]) == text
                    || text.contains(|c| quoted_signs.contains(c));
                assert!(
                    is_plain
                        && !text.is_empty()
                        && !text.starts_with(['-', '.'])
                        && !text.contains(['/', '\n', ' ', '$', '`'])
                );
            }
            Err(error) => {
                let words = error.to_string();
                let is_told = words.contains("expected") || words.contains("has at most");
                assert!(is_told && !words.contains(is_control), "{words}");
            }
        }
    }
    if check_title(text).is_ok() {
        assert!(!text.contains(is_control) && text.chars().count() <= 200);
    }
    assert!(!visible(text).contains(is_control));
    if let Ok(domain) = checked_domain(text) {
        assert_eq!(
            quoted(std::slice::from_ref(&domain)),
            domain,
            "a domain goes into configuration files"
        );
    }
    PortSpec::parse(text);
}

fn check_values(text: &str) {
    is_same::<MacAddress>(text);
    is_same::<Prefix4>(text);
    is_same::<Prefix6>(text);
    is_same::<Prefix6052>(text);
    is_same::<Names>(text);
    for number in [
        units::percent,
        units::octets,
        units::share,
        units::factor,
        units::signed_ns,
    ] {
        assert!(
            number(text).is_ok_and(f64::is_finite) || number(text).is_err(),
            "{text}"
        );
    }
    if let Ok(ns) = units::duration_ns(text) {
        assert!(!units::show_ns(ns).is_empty());
    }
    if let Ok(rate) = units::rate(text) {
        assert!(!units::show_rate(rate).is_empty());
    }
    if let Ok((first, last)) = units::range(text) {
        assert!(first <= last, "{text}");
    }
    let numbers = [
        units::bit_rate,
        units::bits_per_second,
        units::dns_timeout,
        units::connections,
        units::frames,
    ];
    for number in numbers {
        assert!(
            number(text).map_or_else(|error| error.to_string().contains(text), |_| true),
            "{text}"
        );
    }
    let shares = [
        units::loss(text).map(drop),
        units::background(text).map(drop),
        units::whole_percent(text).map(drop),
    ];
    let others = [
        units::frame_size(text).map(drop),
        units::ttl_s(text).map(drop),
    ];
    assert!(
        shares
            .iter()
            .chain(&others)
            .filter_map(|read| read.as_ref().err())
            .all(|error| !error.to_string().is_empty()),
        "{text}"
    );
}

/// Checks that a parsed value is unchanged after it is written and parsed again.
fn is_same<T: FromStr<Err: std::fmt::Debug> + Display + PartialEq + std::fmt::Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        assert_eq!(
            value.to_string().parse::<T>().as_ref().ok(),
            Some(&value),
            "{text}"
        );
    }
}
