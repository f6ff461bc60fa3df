//! `run.bib`: BibTeX and BibLaTeX entries for sixbench and for the data of the run.

use crate::Input;
use crate::digest::Digest;
use crate::findings::origin;
use crate::findings::status;
use crate::layout::latex::escaped;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The key of the entry for sixbench.
pub(crate) const TESTER_KEY: &str = "sixbench";

/// Returns the key of the entry for the run, made of its plan and its start: `sixbench-quickstart-20261121T090000Z`.
pub(crate) fn run_key(digest: &Digest<'_>) -> String {
    let start = digest
        .span
        .map(|span| utc(span.from, "-%Y%m%dT%H%M%SZ"))
        .unwrap_or_default();
    let name: String = digest
        .input
        .plan
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("sixbench-{name}{start}")
}

/// Returns both entries. Their type is `misc`, since BibTeX's standard styles know neither `software` nor `dataset`.
pub(crate) fn bibliography(digest: &Digest<'_>) -> String {
    format!("{}\n{}", tester(digest.input), run(digest))
}

fn tester(input: &Input) -> String {
    let version = format!("Version {}", input.facts.sixbench);
    // The version ends with the date of its commit.
    let year_of_commit = input
        .facts
        .sixbench
        .trim_end_matches(')')
        .rsplit(' ')
        .next()
        .and_then(|date| date.split('-').next());
    let year = year_of_commit
        .filter(|year| year.len() == 4 && year.bytes().all(|c| c.is_ascii_digit()))
        .unwrap_or_default();
    entry(
        TESTER_KEY,
        &[
            ("author", "{The sixbench authors}".to_owned()),
            (
                "title",
                "{sixbench}: a tester of {IPv6} transition technologies".to_owned(),
            ),
            ("year", year.to_owned()),
            (
                "howpublished",
                "\\url{https://github.com/sixbench/sixbench}".to_owned(),
            ),
            (
                "note",
                escaped(if input.facts.sixbench.is_empty() {
                    ""
                } else {
                    &version
                }),
            ),
        ],
    )
}

fn run(digest: &Digest<'_>) -> String {
    let input = digest.input;
    let date = |form: &str| {
        digest
            .span
            .map(|span| utc(span.to, form))
            .unwrap_or_default()
    };
    let trust = digest
        .trust
        .as_ref()
        .map(|trust| format!("; trust: {}", trust.level.word()))
        .unwrap_or_default();
    let note = format!(
        "{}; {}{trust}",
        origin::sentence(digest),
        status::counted(digest)
    );
    let comment = "% Put the names of those who measured into `author`, and the DOI of the archive (sixbench archive DIR) into `doi`.\n";
    let fields = [
        ("author", "{The authors of the measurement}".to_owned()),
        (
            "title",
            format!("{{{}}}: results of sixbench", escaped(&input.plan.name)),
        ),
        ("year", date("%Y")),
        ("month", date("%b").to_lowercase()),
        ("howpublished", "Data set".to_owned()),
        ("note", escaped(&note)),
    ];
    format!("{comment}{}", entry(&run_key(digest), &fields))
}

fn entry(key: &str, fields: &[(&str, String)]) -> String {
    let line = |(name, value): &(&str, String)| match *name {
        // BibTeX has predefined names for the months.
        "month" => format!("  month = {value},\n"),
        name => format!("  {name} = {{{value}}},\n"),
    };
    let fields: String = fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(line)
        .collect();
    format!("@misc{{{key},\n{fields}}}\n")
}

fn utc(time: Timestamp, form: &str) -> String {
    time.to_zoned(TimeZone::UTC).strftime(form).to_string()
}
