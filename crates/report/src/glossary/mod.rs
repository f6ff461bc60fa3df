//! The terms of reports and plans: definition, clause, how sixbench measures it, and unit.

mod headings;
mod technologies;
mod terms;

use headings::HEADINGS;
use sixbench_method::measures::{Measure, Term};
use technologies::TECHNOLOGIES;
use terms::TERMS;

/// The signs that reports print before a value, each of which is explained as a word.
const SIGNS: [char; 3] = ['≥', '≤', '≈'];

/// Returns the term with this name, in any spelling, or with this heading in reports.
pub fn find(wanted: &str) -> Option<&'static Term> {
    let key = key(wanted);
    let by_name = |name: &str| terms().find(|term| term.name == name);
    let heading = || {
        HEADINGS
            .iter()
            .find(|(heading, _)| *heading == key)
            .and_then(|(_, name)| by_name(name))
    };
    by_name(&key).or_else(heading)
}

/// Returns a name in the form of a term: `Loss ratio` becomes loss-ratio. Only the part before a bracket, colon or comma counts, as in `Latency (RFC
/// 8219 section 7.2)` or `Core scaling: x`.
pub fn key(wanted: &str) -> String {
    let beginning = wanted.split(['(', ':', ',']).next().unwrap_or_default();
    let letters = beginning.to_lowercase().replace(['\'', '’'], "");
    letters
        .split(|c: char| !c.is_alphanumeric() && !SIGNS.contains(&c))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// Returns every name by which [`find`] knows a term: that of the term itself first, then the headings.
pub fn names() -> impl Iterator<Item = &'static str> {
    terms()
        .map(|term| term.name)
        .chain(HEADINGS.iter().map(|(heading, _)| *heading))
}

/// Returns what must be added to the definition of a term; empty for most.
pub fn details(term: &Term) -> String {
    if term.name == "trust" {
        format!("\n{}", crate::findings::trust::rules())
    } else {
        String::new()
    }
}

/// Returns all terms: the measures, then the technologies, then the other terms of the field.
pub fn terms() -> impl Iterator<Item = &'static Term> {
    Measure::infos()
        .map(|info| &info.term)
        .chain(&TECHNOLOGIES)
        .chain(&TERMS)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("DUT", "dut"),
            ("≥", "at-least"),
            ("device under test", "dut"),
        ] {
            assert_eq!(find(typed).map(|term| term.name), Some(name), "{typed}");
        }
        assert!(find("sideways").is_none());
    }

    #[test]
    fn a_heading_is_explained_by_a_term_there_is() {
        let names: Vec<&str> = terms().map(|term| term.name).collect();
        let strange: Vec<_> = HEADINGS
            .iter()
            .filter(|(_, name)| !names.contains(name))
            .collect();
        assert!(strange.is_empty(), "{strange:?}");
    }
}
