//! `results.md`: the verdict and the tables of results, for pasting into an issue or into notes.

use crate::digest::Digest;
use crate::findings::origin;
use crate::findings::status;
use crate::findings::trust;
use crate::findings::warning::BY_TEST;
use crate::format::document::Document;
use crate::layout::markdown::{escaped, table};

pub(crate) fn markdown(document: &Document<'_>) -> String {
    let input = document.digest.input;
    let sentences = document
        .verdict()
        .iter()
        .map(|s| format!("- {}\n", escaped(s)))
        .collect::<String>();
    let warnings = warnings(&document.digest);
    let anomalies = document
        .evidence()
        .iter()
        .flat_map(|chapter| &chapter.tables)
        .filter(|table| table.title == BY_TEST);
    let tables = document
        .results()
        .iter()
        .flat_map(|chapter| &chapter.tables)
        .chain(anomalies);
    let tables: String = tables
        .map(|t| format!("\n## {}\n\n{}", escaped(&t.title), table(t)))
        .collect();
    let of_run = [document.run(), document.code()]
        .into_iter()
        .filter(|table| !table.rows.is_empty());
    let run: String = of_run
        .map(|t| format!("\n## {}\n\n{}", escaped(&t.title), table(t)))
        .collect();
    let (name, origin) = (
        escaped(&input.plan.name),
        escaped(&origin::sentence(&document.digest)),
    );
    let trust = trust::sentence(&document.digest)
        .map_or_else(String::new, |line| format!("**{}**\n\n", escaped(&line)));
    format!(
        "# {name}\n\n{origin}.\n\n{}.\n\n{trust}{sentences}{warnings}{tables}{run}",
        status::counted(&document.digest)
    )
}

fn warnings(digest: &Digest<'_>) -> String {
    let lines: String = digest
        .warnings_in_brief()
        .iter()
        .map(|warning| format!("- {}\n", escaped(warning)))
        .collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nWarnings of the run:\n\n{lines}")
    }
}
