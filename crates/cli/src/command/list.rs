//! `sixbench list`: what there is, as a table or as JSON.

use super::library;
use crate::args::{ListArgs, Listed};
use crate::exit::{Exit, Failed};
use crate::output;
use crate::view::list_columns;
use serde_json::{Value, json};
use sixbench_method::measures::Measure;
use sixbench_plan::{nearest, plans, traffic_profile};
use sixbench_report::layout::aligned;
use sixbench_testbed::{Availability, Library, Recipe};

/// A row of a list.
struct Row {
    /// Its name, then what is known of it.
    cells: Vec<String>,
    /// The heading below which it stands; none in a list without headings.
    heading: Option<&'static str>,
    json: Value,
}

impl Row {
    fn new(name: impl Into<String>, summary: &str) -> Self {
        let name = name.into();
        Self {
            json: json!({ "name": name, "summary": summary }),
            cells: vec![name, summary.to_owned()],
            heading: None,
        }
    }

    fn has(&self, word: &str) -> bool {
        self.cells
            .iter()
            .any(|cell| cell.to_lowercase().contains(&word.to_lowercase()))
    }
}

/// Prints one of the lists, or those of its rows in which a word occurs.
pub(crate) fn list(arguments: &ListArgs) -> Result<Exit, Failed> {
    let mut rows = rows(arguments)?;
    if let Some(word) = &arguments.word {
        let names: Vec<String> = rows.iter().map(|row| row.cells[0].clone()).collect();
        rows.retain(|row| row.has(word));
        if rows.is_empty() {
            return Err(without_rows(word, &names));
        }
    }
    output::print(if arguments.json {
        rows.iter().map(|row| format!("{}\n", row.json)).collect()
    } else {
        table(&rows, list_columns())
    })?;
    Ok(Exit::Done)
}

/// Returns the devices as a table of the same form as `list duts`.
pub(super) fn devices(library: &Library, width: usize) -> String {
    table(&duts(library, None), width)
}

fn rows(arguments: &ListArgs) -> Result<Vec<Row>, Failed> {
    let technology = arguments.technology.as_deref();
    if technology.is_some() && arguments.what != Listed::Duts {
        return Err(Failed::usage(
            "`--technology` chooses devices: sixbench list duts --technology NAME",
        ));
    }
    Ok(match arguments.what {
        Listed::Duts => known_technology(&library(&[])?, technology)?,
        Listed::Measures => Measure::infos()
            .map(|info| Row::new(info.term.name, info.summary))
            .collect(),
        Listed::Traffic => traffic_profile::ready()
            .map(|profile| Row::new(profile.path(), profile.summary()))
            .collect(),
        Listed::Plans => plans::ready()
            .map(|plan| Row::new(plan.path(), plan.summary()))
            .collect(),
    })
}

/// Returns the devices of a technology, or refuses a technology of which there is none.
fn known_technology(library: &Library, technology: Option<&str>) -> Result<Vec<Row>, Failed> {
    let rows = duts(library, technology);
    if let Some(technology) = technology.filter(|_| rows.is_empty()) {
        let mut known: Vec<String> = library.iter().map(technology_word).collect();
        known.sort_unstable();
        known.dedup();
        return Err(Failed::usage(format!(
            "no device is of the technology `{technology}`; there are {}",
            known.join(", ")
        )));
    }
    Ok(rows)
}

fn duts(library: &Library, technology: Option<&str>) -> Vec<Row> {
    let chosen = library
        .iter()
        .filter(|recipe| technology.is_none_or(|word| technology_word(recipe) == word));
    let mut found: Vec<(Availability, &Recipe)> = chosen
        .map(|recipe| (Availability::here(recipe), recipe))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
        .iter()
        .map(|(availability, recipe)| dut(availability, recipe))
        .collect()
}

fn dut(availability: &Availability, recipe: &Recipe) -> Row {
    let fix = availability
        .fix()
        .map_or_else(String::new, |fix| format!("; {fix}"));
    let title = recipe.honest_title();
    Row {
        cells: vec![
            recipe.name.clone(),
            recipe.technology.title().to_owned(),
            title + &fix,
        ],
        heading: Some(availability.heading()),
        json: json!({
            "name": recipe.name, "technology": recipe.technology, "title": recipe.title, "untested": recipe.untested,
            "availability": availability,
        }),
    }
}

fn technology_word(recipe: &Recipe) -> String {
    json!(recipe.technology)
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Returns rows as a table. Rows with the same heading follow each other, below it and their number.
fn table(rows: &[Row], width: usize) -> String {
    let groups = rows.chunk_by(|a, b| a.heading == b.heading).map(|group| {
        let cells: Vec<Vec<String>> = group.iter().map(|row| row.cells.clone()).collect();
        match group[0].heading {
            None => aligned(&cells, 0, width),
            Some(heading) => format!("{heading} ({})\n{}", group.len(), aligned(&cells, 2, width)),
        }
    });
    groups.collect::<Vec<String>>().join("\n")
}

fn without_rows(word: &str, names: &[String]) -> Failed {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hint = nearest(word, &names).map_or_else(
        || "without a word, all are listed".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Failed::usage(format!("`{word}` occurs nowhere in this list; {hint}"))
}
