//! `sixbench conformance`: sends a device the vectors of the RFCs that apply to it, and shows what it does not do.

use super::{find_recipe, isolation, library, locked};
use crate::args::ConformanceArgs;
use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use sixbench_conformance::notation::{RequirementFile, RequirementLevel, built_in};
use sixbench_conformance::{DeviceResults, Vector, VectorOutcome, VectorResult};
use sixbench_method::plan::{Plan, Profile};
use sixbench_plan::{Links, Loaded, nearest, standard_search, standard_trial};
use sixbench_runner::conformance::{self, ConformanceDirectory, DeviceConformance, VectorTimers};
use sixbench_runner::{Site, stop};
use sixbench_testbed::{Library, Recipe, Shell, sweep};

/// A vector with the number of its RFC.
struct SelectedVector<'f> {
    rfc: u32,
    vector: &'f Vector,
}

/// Sends the vectors, and prints the results.
pub(crate) fn conformance(arguments: &ConformanceArgs) -> Result<Exit, Failed> {
    let library = library(&arguments.recipes)?;
    let recipe = find_recipe(&library, &arguments.dut)?;
    let files = built_in().map_err(|error| Failed::new(Exit::Failure, error))?;
    let selected = selected(arguments, &conformance::applicable(recipe, &files)?)?;
    let directory = output_directory(arguments, &selected)?;
    let done = perform(arguments, &library, recipe, &selected)?;
    let outcomes: Vec<VectorOutcome> = selected
        .iter()
        .zip(&done.records)
        .map(|(selected, record)| {
            VectorOutcome::new(
                selected.rfc,
                selected.vector,
                record.judgement.clone(),
                record.attempts,
            )
        })
        .collect();
    let mut results = DeviceResults::new(&recipe.name, &recipe.title, &done.version, outcomes)
        .with_known_defects(&recipe.defect_vectors);
    if let Some(directory) = &directory {
        directory.write(&mut results, &done.records)?;
    }
    show(arguments, &results)?;
    Ok(exit_of(&results))
}

/// Opens the directory for the results before anything is sent, so that a bad one is told at once.
fn output_directory(
    arguments: &ConformanceArgs,
    selected: &[SelectedVector<'_>],
) -> Result<Option<ConformanceDirectory>, Failed> {
    let names = selected.iter().map(|selected| &selected.vector.name[..]);
    let opened = arguments
        .output
        .as_deref()
        .map(|path| ConformanceDirectory::open(path, names));
    Ok(opened.transpose()?)
}

/// Brings the device up on links of its own, and sends it the vectors.
fn perform(
    arguments: &ConformanceArgs,
    library: &Library,
    recipe: &Recipe,
    selected: &[SelectedVector<'_>],
) -> Result<DeviceConformance, Failed> {
    let (loaded, isolation) = (one_test(recipe), isolation(arguments.force));
    let _locks = locked(
        &loaded.links,
        &format!("conformance {}", arguments.dut),
        None,
        &arguments.waiting,
    )?;
    sixbench_runner::check(&loaded, library, isolation)?;
    let stop = stop::install()?;
    let shell = Shell::new()
        .stopped_by(stop.clone())
        .told_to(|text| tell!("{text}"))
        .waiting_for_other_runs(arguments.waiting.wait);
    sweep(&shell)?;
    let site = Site {
        shell,
        links: &loaded.links,
        stop,
        isolation,
        pcap: None,
    };
    let vectors: Vec<&Vector> = selected.iter().map(|selected| selected.vector).collect();
    let timers = if arguments.long {
        VectorTimers::Own
    } else {
        VectorTimers::Short
    };
    let done = conformance::perform_with_timers(&site, recipe, &vectors, timers);
    Ok(done?)
}

/// Returns the vectors that the user wants.
fn selected<'f>(
    arguments: &ConformanceArgs,
    files: &[&'f RequirementFile],
) -> Result<Vec<SelectedVector<'f>>, Failed> {
    let rfcs: Vec<String> = files
        .iter()
        .map(|file| format!("rfc{}", file.rfc))
        .collect();
    if let Some(unknown) = arguments.only.iter().find(|only| !rfcs.contains(only)) {
        return Err(Failed::usage(format!(
            "--only {unknown}: there are vectors of {}",
            rfcs.join(", ")
        )));
    }
    let of_files = files.iter().filter(|file| {
        arguments.only.is_empty() || arguments.only.contains(&format!("rfc{}", file.rfc))
    });
    let all: Vec<SelectedVector<'f>> = of_files
        .flat_map(|file| {
            file.vectors.iter().map(|vector| SelectedVector {
                rfc: file.rfc,
                vector,
            })
        })
        .collect();
    check_names(&arguments.vector, &all)?;
    Ok(all
        .into_iter()
        .filter(|known| {
            arguments.vector.is_empty() || arguments.vector.contains(&known.vector.name)
        })
        .collect())
}

/// Refuses a name that no vector has, with a suggestion.
fn check_names(wanted: &[String], all: &[SelectedVector<'_>]) -> Result<(), Failed> {
    let names: Vec<&str> = all.iter().map(|known| known.vector.name.as_str()).collect();
    let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) else {
        return Ok(());
    };
    let hint =
        nearest(unknown, &names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Failed::usage(format!(
        "--vector {unknown}: there is no such vector for this device{hint}"
    )))
}

/// Returns a plan of one test of the device, so that what it needs is checked as for any other.
fn one_test(recipe: &Recipe) -> Loaded {
    let (trial, search) = (
        standard_trial(Profile::Smoke),
        standard_search(Profile::Smoke),
    );
    let test = conformance::test_of(recipe);
    let plan = Plan::new("conformance", Profile::Custom, trial, search, vec![test]);
    Loaded {
        plan,
        links: Links::default(),
        left_out: Vec::new(),
    }
}

/// Prints the results.
fn show(arguments: &ConformanceArgs, results: &DeviceResults) -> Result<(), Failed> {
    if arguments.json {
        let json = serde_json::to_string_pretty(results).map_err(anyhow::Error::from)?;
        output::line(json)?;
    } else if arguments.vector.is_empty() {
        output::print(results.table() + &results.findings())?;
    } else {
        output::print(results.table() + &results.in_full())?;
    }
    Ok(())
}

/// Returns the exit code: a violated MUST is an expectation missed; a vector without a result is a result missing.
fn exit_of(results: &DeviceResults) -> Exit {
    if results.violations(RequirementLevel::Must) > 0 {
        Exit::Missed
    } else if results.count(VectorResult::Unknown) > 0 {
        Exit::Missing
    } else {
        Exit::Done
    }
}
