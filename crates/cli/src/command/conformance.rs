//! `sixbench conformance`: sends a device the vectors of the RFCs that apply to it, and shows what it does not do.

use super::{find_recipe, isolation, library, locked, robustness};
use crate::args::ConformanceArgs;
use crate::exit::{Exit, Failed};
use crate::output::{self, tell, tell_progress};
use crate::view::VectorBar;
use sixbench_conformance::exchange::DeviceTimers;
use sixbench_conformance::notation::{RequirementFile, RequirementLevel, built_in};
use sixbench_conformance::{DeviceResults, Vector, VectorResult};
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::trial::JudgedVector;
use sixbench_method::units::{part_of, show_seconds};
use sixbench_plan::{Links, LoadedPlan, nearest, standard_search, standard_trial};
use sixbench_runner::conformance::robustness::probe_device;
use sixbench_runner::conformance::{
    self, ConformanceDirectory, DeviceConformance, RfcVector, VectorOptions, VectorTimers,
};
use sixbench_runner::{RunError, Site, stop};
use sixbench_testbed::{Library, Recipe, Shell, sweep};
use std::time::Duration;

/// Sends the vectors, or malformed frames, and prints the results.
pub(crate) fn conformance(arguments: &ConformanceArgs) -> Result<Exit, Failed> {
    let library = library(&arguments.options.further.recipes)?;
    let recipe = find_recipe(&library, &arguments.dut)?;
    let files = built_in().map_err(|error| Failed::new(Exit::Failure, error))?;
    let applicable = conformance::applicable(recipe, files)?;
    check_defect_vectors(recipe, &applicable)?;
    let selected = selected(arguments, &applicable)?;
    let vectors: Vec<&Vector> = selected.iter().map(|selected| selected.vector).collect();
    if let Some(source) = robustness::wanted(arguments, &vectors)? {
        robustness::check(arguments, recipe)?;
        let directory = robustness::directory(arguments, recipe)?;
        let probed = on_site(arguments, &library, recipe, |site| {
            probe_device(site, recipe, &source, &|text| tell_progress(text))
        })?;
        return robustness::show(arguments, recipe, directory.as_ref(), probed);
    }
    send_vectors(arguments, &library, recipe, &selected)
}

/// Sends vectors, and prints their results.
fn send_vectors(
    arguments: &ConformanceArgs,
    library: &Library,
    recipe: &Recipe,
    selected: &[RfcVector<'_>],
) -> Result<Exit, Failed> {
    let vectors: Vec<&Vector> = selected.iter().map(|selected| selected.vector).collect();
    let directory = output_directory(arguments, selected)?;
    if arguments.long {
        tell_waits(&vectors);
    }
    let done = on_site(arguments, library, recipe, |site| {
        let bar = VectorBar::new();
        conformance::perform(site, recipe, &vectors, vector_options(arguments, &bar))
    })?;
    let mut results = results_of(recipe, selected, &done).with_options(arguments.for_repetition());
    // What was found is shown even where it cannot be written, as on a full disk.
    // A part of the results does not take the place of what an earlier run found.
    let is_taken = |directory: &ConformanceDirectory| {
        let is_taken = done.is_interrupted && directory.has_results();
        if is_taken {
            tell!("what was found is not written: the results of an earlier run stay there");
        }
        is_taken
    };
    let free = directory.filter(|directory| !is_taken(directory));
    let written = free.map_or(Ok(()), |directory| {
        directory.write(&mut results, &done.records, done.loaded_records())
    });
    show(arguments, &results)?;
    written?;
    if done.is_interrupted {
        tell!("{}", until_the_stop(&results));
        return Ok(Exit::Interrupted);
    }
    Ok(exit_of(&results))
}

/// Returns how far an interrupted command came.
fn until_the_stop(results: &DeviceResults) -> String {
    let requirements = &results.requirements;
    let unsent = requirements.count(JudgedVector::was_not_sent);
    let open = requirements.found(VectorResult::Unknown);
    let all = requirements.vectors.len();
    if open == 0 {
        return "interrupted under load: every vector has a result, but none under load".to_owned();
    }
    format!(
        "interrupted before {}; these, and those that had no answer yet, are unknown",
        part_of(unsent, all, "vector")
    )
}

/// Tells how long the vectors wait in all. A share of a timer is not known of a device with timers of its own, and not waited for.
fn tell_waits(vectors: &[&Vector]) {
    let timers = DeviceTimers::default();
    let waits: Duration = vectors
        .iter()
        .filter_map(|vector| timers.waits_of(vector))
        .sum();
    if waits.is_zero() {
        return;
    }
    let waits = show_seconds(waits.as_secs());
    tell_progress(format_args!(
        "the vectors wait for {waits} in all; those without an answer are sent once more"
    ));
}

/// Returns the results, with what differs under load.
fn results_of(
    recipe: &Recipe,
    selected: &[RfcVector<'_>],
    done: &DeviceConformance,
) -> DeviceResults {
    let (name, title, version) = (&recipe.name, &recipe.title, &done.facts.version);
    DeviceResults::new(name, title, version, done.results(selected))
        .with_known_defects(&recipe.defect_vectors)
}

/// Opens the directory for the results before anything is sent, so that a bad one is told at once.
fn output_directory(
    arguments: &ConformanceArgs,
    selected: &[RfcVector<'_>],
) -> Result<Option<ConformanceDirectory>, Failed> {
    let names = selected.iter().map(|selected| &selected.vector.name[..]);
    let opened = arguments
        .output
        .as_deref()
        .map(|path| ConformanceDirectory::open(path, names));
    Ok(opened.transpose()?)
}

/// Does the work with a device on links of its own, or on the interfaces to which it is cabled.
fn on_site<T>(
    arguments: &ConformanceArgs,
    library: &Library,
    recipe: &Recipe,
    work: impl FnOnce(&Site<'_>) -> Result<T, RunError>,
) -> Result<T, Failed> {
    let options = &arguments.options;
    let (loaded, isolation) = (
        one_test(recipe, options.links()?),
        isolation(options.isolation.force),
    );
    let _locks = locked(
        &loaded.links,
        &format!("conformance {}", arguments.dut),
        None,
        &options.waiting,
    )?;
    sixbench_runner::check(&loaded, library, isolation)?;
    let stop = stop::install()?;
    let shell = Shell::new()
        .stopped_by(stop.clone())
        .told_to(|text| tell_progress(text))
        .waiting_for_other_runs(options.waiting.wait);
    sweep(&shell)?;
    let site = Site {
        shell,
        links: &loaded.links,
        stop,
        isolation,
        pcap: None,
    };
    Ok(work(&site)?)
}

/// Returns the way in which the vectors are sent.
fn vector_options(arguments: &ConformanceArgs, bar: &VectorBar) -> VectorOptions {
    VectorOptions {
        timers: if arguments.long {
            VectorTimers::Own
        } else {
            VectorTimers::Short
        },
        load: arguments.under_load,
        progress: bar.progress(),
    }
}

/// Returns the vectors that the user wants.
fn selected<'f>(
    arguments: &ConformanceArgs,
    files: &[&'f RequirementFile],
) -> Result<Vec<RfcVector<'f>>, Failed> {
    check_rfcs(&arguments.only, files)?;
    let of_files = files
        .iter()
        .filter(|file| arguments.only.is_empty() || arguments.only.contains(&file_word(file)));
    let all: Vec<RfcVector<'f>> = of_files
        .flat_map(|file| {
            file.vectors.iter().map(|vector| RfcVector {
                rfc: file.rfc,
                vector,
            })
        })
        .collect();
    check_names(&arguments.vector, &all, files)?;
    Ok(all
        .into_iter()
        .filter(|known| {
            arguments.vector.is_empty() || arguments.vector.contains(&known.vector.name)
        })
        .collect())
}

/// Refuses an RFC of which no vector applies to the device, with a suggestion.
fn check_rfcs(wanted: &[String], files: &[&RequirementFile]) -> Result<(), Failed> {
    let rfcs: Vec<String> = files.iter().map(|file| file_word(file)).collect();
    let Some(unknown) = wanted.iter().find(|only| !rfcs.contains(only)) else {
        return Ok(());
    };
    let words: Vec<&str> = rfcs.iter().map(String::as_str).collect();
    let number: String = unknown.chars().filter(char::is_ascii_digit).collect();
    Err(Failed::usage(format!(
        "--only `{unknown}`: there are vectors of {} for this device{}",
        rfcs.join(", "),
        suggestion(&format!("rfc{number}"), &words)
    )))
}

/// Returns the word for the RFC of a file of vectors on the command line.
fn file_word(file: &RequirementFile) -> String {
    format!("rfc{}", file.rfc)
}

/// Returns the end of a message about an unknown name.
fn suggestion(unknown: &str, names: &[&str]) -> String {
    nearest(unknown, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// Refuses a name that no vector has, with a suggestion. `all` are the vectors that `--only` leaves.
fn check_names(
    wanted: &[String],
    all: &[RfcVector<'_>],
    files: &[&RequirementFile],
) -> Result<(), Failed> {
    let names: Vec<&str> = all.iter().map(|known| known.vector.name.as_str()).collect();
    let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) else {
        return Ok(());
    };
    let mut files = files.iter();
    let left_out = files.find(|file| file.vectors.iter().any(|vector| vector.name == *unknown));
    Err(Failed::usage(match left_out {
        Some(file) => format!(
            "--vector {unknown}: it is a vector of {}, which --only leaves out",
            file_word(file)
        ),
        None => format!(
            "--vector `{unknown}`: there is no such vector for this device{}",
            suggestion(unknown, &names)
        ),
    }))
}

/// Refuses a recipe whose known defects are shown by vectors that there are not: nothing would be marked, and nothing said.
fn check_defect_vectors(recipe: &Recipe, files: &[&RequirementFile]) -> Result<(), Failed> {
    let vectors = files.iter().flat_map(|file| &file.vectors);
    let names: Vec<&str> = vectors.map(|vector| vector.name.as_str()).collect();
    let mut named = recipe.defect_vectors.iter();
    let Some(unknown) = named.find(|name| !names.contains(&name.as_str())) else {
        return Ok(());
    };
    Err(Failed::usage(format!(
        "the recipe {}: `defect-vectors` names `{unknown}`, and there is no such vector for this device{}",
        recipe.name,
        suggestion(unknown, &names)
    )))
}

/// Returns a plan of one test of the device on these links, so that what it needs is checked as for any other.
fn one_test(recipe: &Recipe, links: Links) -> LoadedPlan {
    let (trial, search) = (
        standard_trial(Profile::Smoke),
        standard_search(Profile::Smoke),
    );
    let test = conformance::test_of(recipe);
    let plan = Plan::new("vectors", Profile::Custom, trial, search, vec![test]);
    LoadedPlan {
        plan,
        links,
        left_out: Vec::new(),
    }
}

/// Prints the results.
fn show(arguments: &ConformanceArgs, results: &DeviceResults) -> Result<(), Failed> {
    if arguments.options.json {
        let json = serde_json::to_string_pretty(results).map_err(anyhow::Error::from)?;
        output::line(json)?;
    } else if arguments.vector.is_empty() {
        output::print(results.table() + &results.findings())?;
    } else {
        output::print(results.table() + &results.in_full())?;
    }
    Ok(())
}

/// Returns the exit code: a violated MUST is an expectation missed, also under load; a vector without a result is a result missing.
fn exit_of(results: &DeviceResults) -> Exit {
    if results.has_any(|level, result| level == RequirementLevel::Must && result.is_violation()) {
        Exit::Missed
    } else if results
        .requirements
        .load
        .as_ref()
        .is_some_and(|load| load.invalid_trials > 0)
    {
        Exit::TesterUnfit
    } else if results.has_any(|_, result| result == VectorResult::Unknown) {
        Exit::Missing
    } else {
        Exit::Done
    }
}
