//! Files of queries: that of `sixbench dns64 --queries`, and those that the tests of a plan name, which lie beside it.

use super::refused;
use crate::exit::Failed;
use sixbench_method::plan::{MOST_OCTETS_IN_PLAN, QueryFile, QueryMistake};
use sixbench_plan::{Diagnostic, LoadedPlan, span_in, unread_query_files};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path};

/// The most octets of a file that is named on the command line, which is held in memory.
const MOST_OCTETS: usize = 256 << 20;

/// Reads the file of `--queries`.
///
/// # Errors
/// It cannot be read, or has lines that are no queries, which are shown.
pub(super) fn read(path: &Path) -> Result<QueryFile, Failed> {
    let name = path.display().to_string();
    let text = text_of(path, MOST_OCTETS)
        .map_err(|error| Failed::usage(format!("cannot read the queries of {name}: {error}")))?;
    parsed(&name, &name, &text)
}

/// Reads the files that the tests of a plan name. `folder` is that of the plan file.
///
/// # Errors
/// A file cannot be read, which is shown at the key; or has lines that are no queries, which are shown.
pub(super) fn read_of_plan(
    folder: &Path,
    plan: (&str, &str),
    loaded: &mut LoadedPlan,
) -> Result<(), Failed> {
    let mut known = BTreeMap::new();
    for (name, queries) in unread_query_files(&mut loaded.plan) {
        let file = queries.file().to_owned();
        if let Some(read) = known.get(&file) {
            *queries = QueryFile::clone(read);
            continue;
        }
        let text = beside(folder, &file).map_err(|error| at_its_key(plan, name, &file, &error))?;
        *queries = parsed(&folder.join(&file).display().to_string(), &file, &text)?;
        known.insert(file, queries.clone());
    }
    Ok(())
}

/// Returns the text of a file beside a plan. The plan may be anybody's, so it names no other files.
fn beside(folder: &Path, file: &str) -> io::Result<String> {
    let is_beside = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_beside {
        return Err(io::Error::other(
            "a plan names files in its own folder and below; put the file there",
        ));
    }
    text_of(&folder.join(file), MOST_OCTETS_IN_PLAN)
}

fn text_of(path: &Path, most: usize) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut octets = Vec::new();
    File::open(path)?
        .take(most as u64 + 1)
        .read_to_end(&mut octets)?;
    // Other octets than UTF-8 are no letters of a name: what replaces them is refused at its place. It is longer, and is what is kept with the results.
    let text = String::from_utf8_lossy(&octets).into_owned();
    if text.len() > most {
        return Err(io::Error::other(format!(
            "it has more than {most} octets; name a file with fewer queries"
        )));
    }
    Ok(text)
}

fn at_its_key(plan: (&str, &str), test: &str, file: &str, error: &io::Error) -> Failed {
    let (name, source) = plan;
    let span = span_in(source, &["test", test, "queries"]).unwrap_or(0..0);
    let title = format!("cannot read the queries of {file}: {error}");
    let help = "`queries` names a file relative to the plan file: a name and a type on each line";
    refused(name, source, &[Diagnostic::new(span, title).help(help)])
}

/// Returns the queries of a text, or shows the lines that are none. `shown` is the path to show, `name` the one to keep.
fn parsed(shown: &str, name: &str, text: &str) -> Result<QueryFile, Failed> {
    QueryFile::read(name, text).map_err(|mistakes| {
        let placed =
            |mistake: QueryMistake| Diagnostic::new(mistake.span, mistake.title).help(mistake.help);
        let placed: Vec<Diagnostic> = mistakes.into_iter().map(placed).collect();
        refused(shown, text, &placed)
    })
}
