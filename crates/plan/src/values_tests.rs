//! Values that no key of a plan file takes are refused at their lines, with what is allowed: each key of docs/plan-keys.toml with each such value.

use crate::documented_keys_tests::{Place, places};
use crate::schema::rows::{KeyRow, rows};
use crate::{Diagnostic, parse, render};

/// Numbers that no key takes: below zero, no number, and more than 64 bits have.
const NO_NUMBERS: [&str; 7] = [
    "-1",
    "-9223372036854775808",
    "nan",
    "inf",
    "1e30",
    "18446744073709551616",
    "99999999999999999999999999",
];
/// Texts that no quantity has.
const NO_QUANTITIES: [&str; 6] = [
    "\"-1\"",
    "\"nan\"",
    "\"1e30\"",
    "\"99999999999999999999999999M\"",
    "\"5 bananas\"",
    "\"\"",
];
/// Values of types that no key takes.
const NO_VALUES: [&str; 3] = ["1979-05-27", "[[1]]", "[{ no-such-key = 1 }]"];
/// Values that some keys take: where one is refused, that is at its line as well.
const DOUBTFUL: [&str; 7] = ["0", "1", "65536", "4000000000", "1.5", "\"\"", "[]"];

/// Words of a message that says what is allowed.
const ALLOWED: [&str; 15] = [
    "expected ",
    " must ",
    "at least",
    "at most",
    "known keys: ",
    "known: ",
    "did you mean",
    " from ",
    "between ",
    "above 0%",
    "only covers ",
    "write ",
    "it has ",
    " needs ",
    ": give ",
];
/// Words of a message about a key that does not go with another one, whatever its value.
const OTHER_KEY: [&str; 5] = [
    "leave it out",
    "only applies to interfaces of this machine",
    "begins with `start`",
    "fewer than those of `start`",
    "longer than this delay",
];
/// The keys of [testbed] that others need beside them.
const BESIDE: [(&str, &str); 5] = [
    (
        "dut-",
        "host = \"ssh:m\"\nleft = \"a\"\nright = \"b\"\ndut-left = \"c\"\ndut-right = \"d\"\n",
    ),
    (
        "ssh-config",
        "host = \"ssh:m\"\nleft = \"a\"\nright = \"b\"\ndut-left = \"c\"\ndut-right = \"d\"\n",
    ),
    (
        "agent",
        "agent = \"ssh:m\"\nleft = \"a\"\nagent-right = \"b\"\n",
    ),
    ("left", "right = \"b\"\n"),
    ("", "left = \"a\"\nright = \"b\"\n"),
];

/// Returns the lines of other keys that this key of [testbed] needs beside it.
fn beside(place: Place<'_>, key: &str) -> String {
    let Place::Table("[testbed]") = place else {
        return String::new();
    };
    let found = BESIDE.iter().find(|(start, _)| key.starts_with(start));
    let lines = found.map_or("", |(_, lines)| lines).lines();
    let others = lines.filter(|line| line.split(" = ").next() != Some(key));
    others.map(|line| format!("{line}\n")).collect()
}

fn mistakes(source: &str) -> Vec<Diagnostic> {
    parse(source, &["d"]).err().unwrap_or_default()
}

/// Returns what is wrong with the messages about `line`, of which there must be one if the value `is_never_taken`.
fn complaint(place: Place<'_>, key: &str, value: &str, is_never_taken: bool) -> Option<String> {
    let line = format!("{key} = {value}");
    let source = place.plan(key, &format!("{}{line}", beside(place, key)));
    let start = source.find(&line)?;
    let lines = start..=start + line.len();
    let found = mistakes(&source);
    let of_line: Vec<&Diagnostic> = found
        .iter()
        .filter(|mistake| lines.contains(&mistake.span.start))
        .collect();
    if of_line.is_empty() && is_never_taken {
        return Some(format!("{line}: taken, or refused elsewhere: {found:?}"));
    }
    let shown = render("plan.toml", &source, &found, false);
    if !of_line.is_empty() && !shown.contains(&line) {
        return Some(format!("{line}: not shown: {shown}"));
    }
    let unclear = of_line.iter().find(|mistake| {
        let text = format!(
            "{} {}",
            mistake.title,
            mistake.help.as_deref().unwrap_or("")
        );
        let words = ALLOWED.iter().chain(&OTHER_KEY);
        !words.into_iter().any(|words| text.contains(words))
    });
    unclear.map(|mistake| format!("{line}: does not say what is allowed: {}", mistake.title))
}

fn complaints(row: &KeyRow) -> Vec<String> {
    let is_number = ["number", "time", "rate", "share", "quantity"]
        .iter()
        .any(|kind| row.value.split(", ").any(|word| word == *kind));
    let is_text = row.value.split(", ").any(|word| word == "text");
    let mut never = NO_VALUES.to_vec();
    never.extend(NO_NUMBERS);
    if is_number && !is_text {
        never.extend(NO_QUANTITIES);
    }
    let of_value = |value: &&str, is_never_taken: bool| {
        let of_row = places(row);
        let (place, key) = of_row.first()?;
        complaint(*place, key, value, is_never_taken)
    };
    let of_never = never.iter().filter_map(|value| of_value(value, true));
    let doubtful = DOUBTFUL.iter().filter_map(|value| of_value(value, false));
    of_never.chain(doubtful).collect()
}

#[test]
fn a_value_that_no_key_takes_is_refused_at_its_line_with_what_is_allowed() {
    let all: Vec<String> = rows().iter().flat_map(complaints).collect();
    assert!(all.is_empty(), "{} of them:\n{}", all.len(), all.join("\n"));
}
