//! `sixbench import`: turns the configuration of another tester into a plan.

use crate::args;
use crate::command::{parse_plan, refused};
use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use sixbench_method::isolation::Isolation;
use sixbench_method::record::CodeOrigin;
use sixbench_runner::store::write_new;
use sixbench_siitperf_import::import as translate;

/// Writes the equivalent plan and recipe, and prints a note on each setting that has no counterpart.
pub(crate) fn import(arguments: &args::Import) -> Result<Exit, Failed> {
    let name = arguments.file.display().to_string();
    let source = std::fs::read_to_string(&arguments.file)
        .map_err(|error| Failed::usage(format!("cannot read {name}: {error}")))?;
    let imported = translate(&name, &source, &arguments.siitperf.options())
        .map_err(|mistakes| refused(&name, &source, &mistakes))?;
    let recipes = arguments.output.join("recipes");
    let (recipe, plan) = (
        recipes.join("siitperf.toml"),
        arguments.output.join("plan.toml"),
    );
    // A plan that cannot be run must not be handed out, so both files are parsed before either is written.
    let library = super::library(&[])?.with_texts(
        vec![(recipe.display().to_string(), imported.recipe.clone())],
        CodeOrigin::Plan,
    );
    let library = library.map_err(|error| Failed::new(Exit::Usage, error))?;
    let loaded = parse_plan(&plan.display().to_string(), &imported.plan, &library)?;
    write_new(&[(&recipe, &imported.recipe), (&plan, &imported.plan)])?;
    for note in &imported.notes {
        tell!("note: {note}");
    }
    if let Err(refused) = sixbench_runner::check_traffic(&loaded.plan, &library, Isolation::Unknown)
    {
        tell!(
            "note: a run of this plan would be refused: {:#}",
            Failed::from(refused).error
        );
    }
    output::line(plan.display())?;
    Ok(Exit::Done)
}
