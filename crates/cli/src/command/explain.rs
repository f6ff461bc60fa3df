//! `sixbench explain`: definition, clause, how it is measured here, unit.

mod headings;
mod technologies;
pub(crate) mod terms;

use crate::exit::{Exit, Failed};
use crate::output;
use headings::HEADINGS;
use sixbench_method::measures::{Measure, Term};
use sixbench_plan::nearest;
use technologies::TECHNOLOGIES;
use terms::TERMS;

/// Explains the term that these words name together, or lists all terms if there are no words.
pub(crate) fn explain(words: &[String]) -> Result<Exit, Failed> {
    if words.is_empty() {
        let terms: String = all().map(|term| format!("{:<28} {}\n", term.name, term.definition)).collect();
        output::print(terms)?;
        return Ok(Exit::Done);
    }
    let wanted = words.join(" ");
    let Some(term) = find(&wanted) else {
        let names: Vec<&str> = all().map(|term| term.name).collect();
        let hint = nearest(&key(&wanted), &names).map_or_else(|| names.join(", "), |near| format!("did you mean {near}?"));
        return Err(Failed::usage(format!("no explanation of `{wanted}`; {hint}")));
    };
    let Term { name, definition, clause, here, unit } = term;
    output::print(format_args!("{name}\n\n{definition}\n\nclause  {clause}\nhere    {here}\nunit    {unit}\n"))?;
    Ok(Exit::Done)
}

/// Returns the term with this name, in whatever spelling, or with this heading in reports.
fn find(wanted: &str) -> Option<&'static Term> {
    let key = key(wanted);
    let by_name = |name: &str| all().find(|term| term.name == name);
    let heading = || HEADINGS.iter().find(|(heading, _)| *heading == key).and_then(|(_, name)| by_name(name));
    by_name(&key).or_else(heading)
}

/// Returns a name in the form that terms have: `Loss ratio` becomes loss-ratio. Only the part before a bracket, colon or comma
/// counts, as in `Latency (RFC 8219 section 7.2)` or `Core scaling: x`.
fn key(wanted: &str) -> String {
    let beginning = wanted.split(['(', ':', ',']).next().unwrap_or_default();
    let letters = beginning.to_lowercase().replace(['\'', '’'], "");
    letters.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

fn all() -> impl Iterator<Item = &'static Term> {
    Measure::infos().map(|info| &info.term).chain(&TECHNOLOGIES).chain(&TERMS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;

    /// Reports as their own tests have them.
    const REPORTS: [&str; 6] = [
        include_str!("../../../report/tests/report/snapshots/report__dns__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__measures__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__response__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__scaling__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__stateful__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__views__markdown.snap"),
    ];

    /// What the command makes of a heading whose words are arguments of their own, as a shell without quotes passes them.
    fn typed(heading: &str) -> String {
        let line = ["sixbench", "explain"].into_iter().chain(heading.split_whitespace());
        match Arguments::try_parse_from(line).expect("a command line").command {
            Command::Explain { term } => term.join(" "),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_term_is_found_in_any_spelling() {
        for (typed, name) in [
            ("NAT64", "nat64"),
            ("SIIT", "siit"),
            ("MLRsearch", "mlrsearch"),
            ("loss ratio", "loss-ratio"),
            ("Loss_Ratio", "loss-ratio"),
            ("DS-Lite", "ds-lite"),
            ("Amdahl's law", "amdahls-law"),
            ("TL", "latency"),
        ] {
            assert_eq!(find(typed).map(|term| term.name), Some(name), "{typed}");
        }
        assert!(find("sideways").is_none());
    }

    #[test]
    fn every_heading_of_a_report_is_explained() {
        let lines = REPORTS.iter().flat_map(|report| report.lines());
        let headings: Vec<&str> = lines.filter_map(|line| line.strip_prefix("## ")).collect();
        // Those named after a device of the plan say more behind it.
        let is_of_a_device = |heading: &&&str| heading.contains("bytes") || heading.contains(": queries/s by");
        let is_unknown = |heading: &&&str| find(&typed(heading)).is_none();
        let unknown: Vec<_> = headings.iter().filter(|heading| !is_of_a_device(heading) && is_unknown(heading)).collect();
        assert!(unknown.is_empty() && headings.len() > 30, "{unknown:?} of {}", headings.len());
    }

    #[test]
    fn a_heading_is_explained_by_a_term_there_is() {
        let names: Vec<&str> = all().map(|term| term.name).collect();
        let strange: Vec<_> = HEADINGS.iter().filter(|(_, name)| !names.contains(name)).collect();
        assert!(strange.is_empty(), "{strange:?}");
    }
}
