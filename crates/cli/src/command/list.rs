//! `sixbench list`.

use super::library;
use crate::args::Listed;
use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_method::measures::Measure;
use sixbench_plan::{plans, traffic_profile};
use sixbench_testbed::{Recipe, availability};

/// Prints one of the lists.
pub(crate) fn list(what: Listed) -> Result<Exit, Failed> {
    let lines: String = match what {
        Listed::Duts => duts()?,
        Listed::Measures => Measure::infos().map(|info| format!("{:<22} {}\n", info.term.name, info.summary)).collect(),
        Listed::Traffic => {
            traffic_profile::ready().map(|profile| format!("{:<42} {}\n", profile.path(), profile.summary())).collect()
        }
        Listed::Plans => plans::ready().map(|plan| format!("{:<42} {}\n", plan.path(), plan.summary())).collect(),
    };
    output::print(lines)?;
    Ok(Exit::Done)
}

fn duts() -> Result<String, Failed> {
    let line = |recipe: &Recipe| {
        let (technology, title) = (recipe.technology.title(), recipe.honest_title());
        format!("{:<22} {technology:<24} {title:<44} {}\n", recipe.name, availability(recipe))
    };
    Ok(library(&[])?.iter().map(line).collect())
}
