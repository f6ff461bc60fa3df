//! `sixbench import`: from the configuration of another tester to a plan.

use crate::args;
use crate::command::{check_traffic, parse_plan, tell};
use crate::exit::{Exit, Failed};
use crate::import::import as translate;
use anyhow::Context;
use sixbench_method::isolation::Isolation;
use std::path::Path;

/// Writes the equivalent plan and recipe, and tells what has no counterpart.
pub(crate) fn import(arguments: &args::Import) -> Result<Exit, Failed> {
    let name = arguments.file.display().to_string();
    let source =
        std::fs::read_to_string(&arguments.file).map_err(|error| Failed::usage(format!("cannot read {name}: {error}")))?;
    let imported = translate(&name, &source, &arguments.options).map_err(|mistakes| tell(&name, &source, &mistakes))?;
    let recipes = arguments.output.join("recipes");
    let (recipe, plan) = (recipes.join("siitperf.toml"), arguments.output.join("plan.toml"));
    // A plan that cannot be run must not be handed out: all is read before anything is written.
    let library = super::library(&[])?.with_recipe(&recipe.display().to_string(), &imported.recipe);
    let library = library.map_err(|error| Failed::new(Exit::Usage, error))?;
    let loaded = parse_plan(&plan.display().to_string(), &imported.plan, &library)?;
    [&recipe, &plan].into_iter().try_for_each(|path| check_new(path))?;
    std::fs::create_dir_all(&recipes).with_context(|| format!("cannot create {}", recipes.display()))?;
    write(&recipe, &imported.recipe)?;
    write(&plan, &imported.plan)?;
    for note in &imported.notes {
        match note.line {
            0 => eprintln!("note: {}", note.text),
            line => eprintln!("note: line {line}: {}", note.text),
        }
    }
    if let Err(refused) = check_traffic(&loaded.plan, &library, Isolation::Unknown) {
        eprintln!("note: a run of it would be refused as it stands: {:#}", refused.error);
    }
    println!("{}", plan.display());
    Ok(Exit::Done)
}

/// Somebody may have worked on an earlier one.
fn check_new(path: &Path) -> Result<(), Failed> {
    if path.exists() {
        return Err(Failed::usage(format!("{} is there already; remove it, or choose another --output", path.display())));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failed> {
    Ok(std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?)
}
