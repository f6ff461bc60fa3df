//! `sixbench conformance --robustness`: sends a device malformed frames, and shows what became of it.

use crate::args::ConformanceArgs;
use crate::exit::{Exit, Failed};
use crate::hints;
use crate::output;
use sixbench_conformance::Vector;
use sixbench_conformance::robustness::RobustnessResults;
use sixbench_runner::conformance::robustness::{
    FrameSource, KeptFrames, ProbedRecord, RobustnessDirectory, check as check_device,
};
use sixbench_testbed::Recipe;
use std::path::PathBuf;

/// Returns the malformed frames that the user wants; `None` if vectors are to be sent.
pub(super) fn wanted<'v>(
    arguments: &ConformanceArgs,
    vectors: &[&'v Vector],
) -> Result<Option<FrameSource<'v>>, Failed> {
    let options = &arguments.malformed;
    if let Some(file) = &options.replay {
        return Ok(Some(FrameSource::File(KeptFrames::read(file)?)));
    }
    Ok(options.robustness.map(|frames| FrameSource::Seed {
        seed: options.seed,
        frames,
        vectors: vectors.to_vec(),
    }))
}

/// Refuses malformed frames for a device whose crash would do damage, and together with a load. This is checked here and not by clap, whose message for
/// conflicting options gives no reason.
pub(super) fn check(arguments: &ConformanceArgs, recipe: &Recipe) -> Result<(), Failed> {
    if arguments.under_load.is_some() {
        let option = match &arguments.malformed.replay {
            Some(_) => "--replay",
            None => "--robustness",
        };
        return Err(Failed::usage(format!(
            "{option} with --under-load: malformed frames are sent alone, because a crash must be known to come from one of them; leave --under-load out"
        )));
    }
    Ok(check_device(&arguments.options.links()?, recipe)?)
}

/// Opens the directory before anything is sent. Without `--output`, only a crash is kept, in a directory named after the device; frames that are replayed
/// from a file are not kept again.
pub(super) fn directory(
    arguments: &ConformanceArgs,
    recipe: &Recipe,
) -> Result<Option<RobustnessDirectory>, Failed> {
    let usual = PathBuf::from(format!("robustness-{}", recipe.name));
    let usual = arguments.malformed.replay.is_none().then_some(&usual);
    let path = arguments.output.as_ref().or(usual);
    Ok(path
        .map(|path| RobustnessDirectory::open(path))
        .transpose()?)
}

/// Writes and prints what became of the device.
pub(super) fn show(
    arguments: &ConformanceArgs,
    recipe: &Recipe,
    directory: Option<&RobustnessDirectory>,
    probed: ProbedRecord,
) -> Result<Exit, Failed> {
    let ProbedRecord {
        facts,
        outcome,
        capture,
    } = probed;
    let is_violation = outcome.is_violation();
    let mut results = RobustnessResults::new(&recipe.name, &recipe.title, &facts.version, outcome);
    let kept = directory.filter(|_| arguments.output.is_some() || is_violation);
    let written = kept.map(|directory| directory.write(&mut results, &capture));
    if arguments.options.json {
        output::line(serde_json::to_string_pretty(&results).map_err(anyhow::Error::from)?)?;
    } else {
        let file = kept.map(RobustnessDirectory::results);
        let file = file.as_ref().or(arguments.malformed.replay.as_ref());
        let again = file
            .map(|file| hints::replay(&arguments.dut, &arguments.options.further.recipes, file));
        output::print(results.text(&again.map(|command| command.to_string()).unwrap_or_default()))?;
    }
    // What was found is shown even where it cannot be written.
    written.transpose()?;
    Ok(if is_violation {
        Exit::Missed
    } else {
        Exit::Done
    })
}
