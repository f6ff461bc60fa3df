//! `sixbench plan` and `sixbench check`: what would happen, before anything does.

use super::{PlanFile, read_plan};
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_method::isolation::Isolation;
use sixbench_plan::{apply_profile, description};
use sixbench_runner::rehearsed;
use std::path::{Path, PathBuf};

/// Validates a plan file.
pub(crate) fn check(path: &Path, recipes: &[PathBuf]) -> Result<Exit, Failed> {
    let PlanFile { name, loaded, library, .. } = read_plan(path, recipes)?;
    // Whether its traffic may go where it goes is the run's question: there it can be forced.
    sixbench_runner::check_traffic(&loaded.plan, &library, Isolation::Declared)?;
    let points: usize = loaded.plan.tests.iter().map(|test| test.frame_sizes.len()).sum();
    output::line(format_args!("{name}: good ({} tests, {points} points)", loaded.plan.tests.len()))?;
    Ok(Exit::Done)
}

/// Shows trials, hours and clauses, or the testbed's commands.
pub(crate) fn plan(arguments: &args::PlanArgs) -> Result<Exit, Failed> {
    let PlanFile { mut loaded, library, .. } = read_plan(&arguments.plan, &arguments.recipes)?;
    if let Some(profile) = arguments.profile {
        apply_profile(&mut loaded.plan, profile);
    }
    if arguments.shell {
        output::print(rehearsed(&loaded, &library)?)?;
        return Ok(Exit::Done);
    }
    if arguments.json {
        output::line(sixbench_runner::campaign::plan_json(&loaded.plan))?;
        return Ok(Exit::Done);
    }
    output::print(description::describe(&loaded.plan, arguments.all))?;
    Ok(Exit::Done)
}
