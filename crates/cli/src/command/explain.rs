//! `sixbench explain`: the definition of a term, the clause it comes from, how sixbench measures it, and its unit.

use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_io::{BACKENDS, BackendInfo};
use sixbench_method::measures::Term;
use sixbench_plan::nearest;
use sixbench_report::glossary::{details, find, key, terms};

/// Explains the term that these words form together, or lists all terms if there are no words.
pub(crate) fn explain(words: &[String]) -> Result<Exit, Failed> {
    if words.is_empty() {
        let listed: String = terms().map(|term| format!("{:<28} {}\n", term.name, term.definition)).collect();
        let backends: String = BACKENDS.iter().map(|info| format!("{:<28} {}\n", info.word, definition(info))).collect();
        output::print(listed + &backends)?;
        return Ok(Exit::Done);
    }
    let wanted = words.join(" ");
    if let Some(info) = BACKENDS.iter().find(|info| info.word == key(&wanted)) {
        output::print(format_args!("{}\n\n{}\n", info.word, definition(info)))?;
        return Ok(Exit::Done);
    }
    let Some(term) = find(&wanted) else {
        let names: Vec<&str> = terms().map(|term| term.name).chain(BACKENDS.iter().map(|info| info.word)).collect();
        let hint = nearest(&key(&wanted), &names)
            .map_or_else(|| "`sixbench explain` lists all".to_owned(), |near| format!("did you mean {near}?"));
        return Err(Failed::usage(format!("no explanation of `{wanted}`; {hint}")));
    };
    let Term { name, definition, clause, here, unit } = term;
    output::print(format_args!(
        "{name}\n\n{definition}\n\nclause  {clause}\nhere    {here}\nunit    {unit}\n{}",
        details(term)
    ))?;
    Ok(Exit::Done)
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
        let line = ["sixbench", "explain"].into_iter().chain(heading.split_whitespace());
        match Arguments::try_parse_from(line).expect("a command line").command {
            Command::Explain { term } => term.join(" "),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_heading_of_a_report_is_explained() {
        let lines = REPORTS.iter().flat_map(|report| report.lines());
        let headings: Vec<&str> = lines.filter_map(|line| line.strip_prefix("## ")).collect();
        // Headings that begin with the name of a device go on with more words after it.
        let is_of_a_device = |heading: &&&str| heading.contains("bytes") || heading.contains(": queries/s by");
        let is_unknown = |heading: &&&str| find(&typed(heading)).is_none();
        let unknown: Vec<_> = headings.iter().filter(|heading| !is_of_a_device(heading) && is_unknown(heading)).collect();
        assert!(unknown.is_empty() && headings.len() > 30, "{unknown:?} of {}", headings.len());
    }
}
