//! `sixbench import`: from the configuration of another tester to a plan.

use crate::args;
use crate::command::{check_traffic, parse_plan, refused};
use crate::exit::{Exit, Failed};
use crate::import::import as translate;
use crate::output::{self, tell};
use crate::run::owner;
use crate::run::store::make_directory;
use anyhow::Context;
use std::path::Path;

/// Writes the equivalent plan and recipe, and tells what has no counterpart.
pub(crate) fn import(arguments: &args::Import) -> Result<Exit, Failed> {
    let name = arguments.file.display().to_string();
    let source =
        std::fs::read_to_string(&arguments.file).map_err(|error| Failed::usage(format!("cannot read {name}: {error}")))?;
    let imported = translate(&name, &source, &arguments.options).map_err(|mistakes| refused(&name, &source, &mistakes))?;
    let recipes = arguments.output.join("recipes");
    let unusable = |error| Failed::usage(format!("cannot create {}: {error}; choose another --output", recipes.display()));
    make_directory(&recipes).map_err(unusable)?;
    write_new(&recipes.join("siitperf.toml"), &imported.recipe)?;
    let plan = arguments.output.join("plan.toml");
    write_new(&plan, &imported.plan)?;
    // Read back: a plan that cannot be run must not be handed out.
    let library = super::library(&[recipes])?;
    let loaded = parse_plan(&plan.display().to_string(), &imported.plan, &library)?;
    for note in &imported.notes {
        match note.line {
            0 => tell!("note: {}", note.text),
            line => tell!("note: line {line}: {}", note.text),
        }
    }
    if let Err(refused) = check_traffic(&loaded.plan, &library, false) {
        tell!("note: a run of it would be refused as it stands: {:#}", refused.error);
    }
    output::line(plan.display())?;
    Ok(Exit::Done)
}

/// Somebody may have worked on an earlier one.
fn write_new(path: &Path, text: &str) -> Result<(), Failed> {
    if path.exists() {
        return Err(Failed::usage(format!("{} is there already; remove it, or choose another --output", path.display())));
    }
    let written = std::fs::write(path, text).and_then(|()| owner::give(path));
    Ok(written.with_context(|| format!("cannot write {}", path.display()))?)
}
