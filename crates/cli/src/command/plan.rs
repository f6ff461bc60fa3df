//! `sixbench init`, `sixbench check` and `sixbench plan`: write a plan, validate it, and show what it would do.

use super::{PlanFile, read_plan};
use crate::args;
use crate::exit::{Exit, Failed};
use crate::hints;
use crate::output;
use sixbench_method::isolation::Isolation;
use sixbench_method::units::counted;
use sixbench_plan::{description, wizard};
use sixbench_runner::{rehearsed, store::write_new};
use std::path::{Path, PathBuf};

/// Asks for the details of a plan on standard input, and writes the plan if it can be read back.
pub(crate) fn init(path: &Path) -> Result<Exit, Failed> {
    if path.exists() {
        return Err(Failed::usage(format_args!("{} exists already; name another: sixbench init NAME.toml", path.display())));
    }
    let library = super::library(&[])?;
    let text = wizard::ask(&library, std::io::stdin().lock(), |said| output::to_stderr(format_args!("{said}")));
    let text = text.map_err(Failed::usage)?;
    super::parse_plan(&path.display().to_string(), &text, &library)?;
    write_new(&[(path, &text)])?;
    output::line(format_args!("{} is good; next: {}, {}", path.display(), hints::plan(path), hints::run(path)))?;
    Ok(Exit::Done)
}

/// Validates a plan file.
pub(crate) fn check(path: &Path, recipes: &[PathBuf]) -> Result<Exit, Failed> {
    let PlanFile { name, loaded, library, .. } = read_plan(path, recipes)?;
    // Whether the traffic may go where it would go is decided when the plan is run, where the user can force it.
    sixbench_runner::check_traffic(&loaded.plan, &library, Isolation::Declared)?;
    let points: usize = loaded.plan.tests.iter().map(|test| test.frame_sizes.len()).sum();
    let (tests, points) = (counted(loaded.plan.tests.len() as u64, "test"), counted(points as u64, "point"));
    output::line(format_args!("{name}: good ({tests}, {points})"))?;
    Ok(Exit::Done)
}

/// Shows trials, hours and clauses, or the commands of the testbed.
pub(crate) fn plan(arguments: &args::PlanArgs) -> Result<Exit, Failed> {
    let PlanFile { source, mut loaded, library, .. } = read_plan(&arguments.plan, &arguments.recipes)?;
    super::follow(arguments.profile, &mut loaded.plan, &source);
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
