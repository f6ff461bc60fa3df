//! `sixbench explain`: the definition of a term, the clause it comes from, how sixbench measures it, and its unit.

use crate::exit::{Exit, Failed};
use crate::output;
use crate::view::list_columns;
use sixbench_io::{BACKENDS, BackendInfo};
use sixbench_method::measures::Term;
use sixbench_plan::nearest;
use sixbench_report::glossary::{details, find, key, names, terms};
use sixbench_report::layout::{aligned, wrapped};

/// Explains the term that these words form together, or lists all terms if there are no words.
pub(crate) fn explain(words: &[String]) -> Result<Exit, Failed> {
    let text = if words.is_empty() {
        all()
    } else {
        explanation(&words.join(" "))?
    };
    output::print(text)?;
    Ok(Exit::Done)
}

/// Returns the explanation of a term, or of a backend.
fn explanation(wanted: &str) -> Result<String, Failed> {
    if let Some(term) = find(wanted) {
        return Ok(explained(term));
    }
    let info = BACKENDS
        .iter()
        .find(|info| info.word == key(wanted))
        .ok_or_else(|| unknown(wanted))?;
    Ok(format!(
        "{}\n\n{}",
        info.word,
        wrapped(&definition(info), list_columns())
    ))
}

/// Returns every term with its definition.
fn all() -> String {
    let terms = terms().map(|term| [term.name, term.definition].map(str::to_owned).to_vec());
    let backends = BACKENDS
        .iter()
        .map(|info| vec![info.word.to_owned(), definition(info)]);
    aligned(
        &terms.chain(backends).collect::<Vec<_>>(),
        0,
        list_columns(),
    )
}

fn explained(term: &Term) -> String {
    let Term {
        name,
        definition,
        clause,
        here,
        unit,
    } = term;
    let rows = [("clause", clause), ("here", here), ("unit", unit)]
        .map(|(name, text)| vec![name.to_owned(), (*text).to_owned()]);
    let definition = wrapped(definition, list_columns());
    let details: String = details(term)
        .lines()
        .map(|line| wrapped(line, list_columns()))
        .collect();
    format!(
        "{name}\n\n{definition}\n{}{details}",
        aligned(&rows, 0, list_columns())
    )
}

/// Returns the refusal of a term that is not known, with the nearest name there is: one with few other letters, or one that contains the term. One or
/// two letters occur in too many names to suggest one of them.
fn unknown(wanted: &str) -> Failed {
    let names: Vec<&str> = names()
        .chain(BACKENDS.iter().map(|info| info.word))
        .collect();
    let wanted_key = key(wanted);
    let containing = || {
        names
            .iter()
            .find(|name| wanted_key.len() > 2 && name.contains(&wanted_key))
            .copied()
    };
    let near = nearest(&wanted_key, &names).or_else(containing);
    // The nearest name may be a heading of a table; the suggestion is the term that explains it. A backend has no term.
    let near = near.map(|near| find(near).map_or(near, |term| term.name));
    let hint = near.map_or_else(
        || "`sixbench explain` lists all".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Failed::usage(format!("no explanation of `{wanted}`; {hint}"))
}

fn definition(info: &BackendInfo) -> String {
    format!("The backend {}: {}.", info.title, info.definition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;

    /// Reports from the snapshots of the report crate's tests.
    const REPORTS: [&str; 6] = [
        include_str!("../../../report/tests/report/snapshots/report__dns__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__measures__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__response__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__scaling__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__stateful__markdown.snap"),
        include_str!("../../../report/tests/report/snapshots/report__views__markdown.snap"),
    ];

    /// Returns the term that the command looks up for a heading if each word is a separate argument, as in a shell without quotes.
    fn typed(heading: &str) -> String {
        let line = ["sixbench", "explain"]
            .into_iter()
            .chain(heading.split_whitespace());
        match Arguments::try_parse_from(line)
            .expect("a command line")
            .command
        {
            Command::Explain { term } => term.join(" "),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_heading_of_a_report_is_explained() {
        let lines = REPORTS.iter().flat_map(|report| report.lines());
        let headings: Vec<&str> = lines.filter_map(|line| line.strip_prefix("## ")).collect();
        // Headings that begin with the name of a device go on with more words after it.
        let is_of_a_device =
            |heading: &&&str| heading.contains("bytes") || heading.contains(": queries/s by");
        let is_unknown = |heading: &&&str| find(&typed(heading)).is_none();
        let unknown: Vec<_> = headings
            .iter()
            .filter(|heading| !is_of_a_device(heading) && is_unknown(heading))
            .collect();
        assert!(
            unknown.is_empty() && headings.len() > 30,
            "{unknown:?} of {}",
            headings.len()
        );
    }
}
