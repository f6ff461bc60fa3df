//! `sixbench find`: the throughput of a device in one line, by the search of a plan with short trials and one repetition.

use super::one_device::OneDevice;
use super::search_words::{Conclusion, SearchWords, settle_trial};
use crate::args;
use crate::exit::{Exit, Failed};
use sixbench_method::plan::{Measure, Plan, Profile};
use sixbench_method::search::SearchSettings;
use sixbench_method::terms::Directions;
use sixbench_method::trial::TrialSettings;
use sixbench_plan::{standard_search, standard_trial};
use sixbench_runner::{SearchFound, Session, search_alone};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The time for disturbed trials and for waiting until other work leaves the cores: an answer is expected in less than a minute.
const PATIENCE_NS: u64 = 20_000_000_000;

/// Searches, and prints a line for each trial and the result.
pub(crate) fn find(arguments: &args::FindArgs) -> Result<Exit, Failed> {
    let device = OneDevice {
        command: "find",
        rate_option: "--maximum",
        dut: &arguments.dut,
        load: &arguments.load,
        options: &arguments.options,
        pcap: None,
    };
    let measure = if arguments.establish {
        Measure::EstablishmentRate
    } else {
        Measure::Throughput
    };
    let trial = TrialSettings {
        duration_ns: arguments.duration_ns,
        ..standard_trial(Profile::Smoke)
    };
    let standard = standard_search(Profile::Smoke);
    let search = SearchSettings {
        minimum: standard.minimum.min(arguments.maximum),
        maximum: arguments.maximum,
        ..standard
    };
    let mut loaded = device.planned(measure, trial, search)?;
    loaded.plan.patience_ns = PATIENCE_NS;
    let plan = &loaded.plan;
    let found = device.with_session(
        &loaded,
        None,
        || Ok(()),
        |session, stop| searched(plan, session, stop),
    )?;
    conclusion(arguments, plan, &found).print(&found, arguments.options.json)
}

fn searched(plan: &Plan, session: &mut Session, stop: &AtomicBool) -> Result<SearchFound, Failed> {
    let rest = Duration::from_nanos(plan.trial.rest_ns);
    search_alone(
        plan,
        session,
        |session, spec| {
            let (result, watch) = session.measure(spec)?;
            Ok((result, Some(watch)))
        },
        |session, result, verdict, patience| {
            settle_trial(result, verdict, patience, stop, || session.occupant(), rest)
        },
    )
}

/// Returns the line of the result: `tayga-siit: 71200 frames/s per direction without loss, at 84 bytes`.
fn conclusion(arguments: &args::FindArgs, plan: &Plan, found: &SearchFound) -> Conclusion {
    let unit = match (arguments.establish, arguments.load.directions) {
        (true, _) => "new connections/s",
        (false, Directions::Both) => "frames/s per direction",
        (false, _) => "frames/s",
    };
    let words = SearchWords {
        subject: &arguments.dut,
        unit,
        passed: &format!(
            " without loss, at {}",
            plan.tests[0].size_in_words(arguments.load.frame_size())
        ),
        maximum_option: "--maximum",
        minimum: plan.search.minimum,
    };
    let Conclusion { exit, words } = Conclusion::new(&found.bracket, &words);
    Conclusion {
        exit,
        words: format!("{}: {words}", arguments.dut),
    }
}
