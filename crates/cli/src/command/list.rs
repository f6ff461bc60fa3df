//! `sixbench list`.

use super::library;
use crate::args::Listed;
use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_method::measures::Measure;
use sixbench_plan::plans;
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{Recipe, lab};

/// Prints one of the lists.
pub(crate) fn list(what: Listed) -> Result<Exit, Failed> {
    let lines: String = match what {
        Listed::Duts => duts()?,
        Listed::Measures => Measure::infos().map(|info| format!("{:<22} {}\n", info.term.name, info.summary)).collect(),
        Listed::Plans => plans::ready().map(|plan| format!("{:<42} {}\n", plan.path(), plan.summary())).collect(),
    };
    output::print(lines)?;
    Ok(Exit::Done)
}

fn duts() -> Result<String, Failed> {
    let line = |recipe: &Recipe| {
        let (technology, title) = (recipe.technology.title(), recipe.honest_title());
        format!("{:<22} {technology:<24} {title:<44} {}\n", recipe.name, state(recipe))
    };
    Ok(library(&[])?.iter().map(line).collect())
}

/// Returns whether a recipe runs here and, if not, what to do about it, in words.
fn state(recipe: &Recipe) -> String {
    if recipe.host == DeviceHost::Manual {
        return "set up by hand, cabled to two interfaces".to_owned();
    }
    if !recipe.is_for_namespaces() {
        return format!("runs on {}, over ssh", recipe.system.title());
    }
    let missing = recipe.missing();
    match (lab::check_for(recipe), missing.first()) {
        (Err(error), _) => error.to_string(),
        (Ok(()), Some(need)) => format!("needs {}: {}", need.program, need.cure()),
        (Ok(()), None) => "runs here".to_owned(),
    }
}
