//! `sixbench trial`: performs one trial from the command line and prints all its counts.

use super::{find_recipe, isolation, library, locked};
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use sixbench_io::PortSpec;
use sixbench_method::disturbance::accident;
use sixbench_method::plan::{
    Measure, Plan, Point, Profile, ResponseTime, Stateful, Test, TrafficSettings,
};
use sixbench_method::record::{FORMAT, TrialRecord, Watch};
use sixbench_method::terms::{FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{TrialResult, TrialSettings, TrialSpec, Verdict};
use sixbench_plan::{Links, Loaded, standard_search, standard_trial};
use sixbench_report::trial_words;
use sixbench_runner::store::make_directory;
use sixbench_runner::{
    NotEnoughMemory, OwnFile, Session, SessionRequest, Site, owner, profile, stop,
};
use sixbench_testbed::{Recipe, Shell, sweep};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// T of phase 1, as in siitperf's scripts.
const PHASE_1_TIMEOUT_NS: u64 = 500_000_000;

/// The files in which the frames of both ports are saved.
const CAPTURES: [&str; 2] = ["left.pcap", "right.pcap"];

/// Performs the trial and prints its counts.
pub(crate) fn trial(arguments: &args::TrialArgs) -> Result<Exit, Failed> {
    let library = library(&arguments.recipes)?;
    let recipe = find_recipe(&library, &arguments.dut)?;
    check_state(arguments, recipe)?;
    if !arguments.establish
        && TrialSpec::constant(arguments.rate, arguments.duration_ns).frames() == 0
    {
        return Err(Failed::usage(
            "no frame would be sent: raise --rate or --for",
        ));
    }
    let loaded = one_test(arguments)?;
    let spec = spec(arguments, loaded.plan.tests[0].stateful);
    sixbench_runner::check_trial(&loaded.plan, &loaded.plan.tests[0], &library, &spec)
        .map_err(smaller)?;
    let isolation = isolation(arguments.force);
    let _locks = locked(
        &loaded.links,
        &format!("trial {}", arguments.dut),
        None,
        &arguments.waiting,
    )?;
    sixbench_runner::check(&loaded, &library, isolation)?;
    let captures: Vec<PathBuf> = arguments
        .pcap
        .iter()
        .flat_map(|directory| CAPTURES.map(|file| directory.join(file)))
        .collect();
    captures
        .iter()
        .try_for_each(|file| OwnFile::Capture.check(file))?;
    let (plan, stop) = (&loaded.plan, stop::install()?);
    let shell = Shell::new()
        .stopped_by(stop.clone())
        .told_to(|text| tell!("{text}"));
    let shell = shell.waiting_for_other_runs(arguments.waiting.wait);
    sweep(&shell)?;
    let pcap = arguments.pcap.as_deref();
    if let Some(directory) = pcap {
        let unusable = |error| {
            Failed::usage(format!(
                "--pcap {}: cannot create this directory: {error}",
                directory.display()
            ))
        };
        make_directory(directory).map_err(unusable)?;
    }
    let site = Site {
        shell: shell.clone(),
        links: &loaded.links,
        stop,
        isolation,
        pcap,
    };
    let job = profile::job(
        recipe,
        &plan.tests[0],
        arguments.size,
        plan.seed,
        plan.trial,
    )?;
    let mut session = Session::open(&site, &SessionRequest::alone(recipe, arguments.size), job)?;
    session
        .warnings()
        .iter()
        .for_each(|warning| tell!("warning: {warning}"));
    session
        .shared_core()
        .into_iter()
        .for_each(|sentence| tell!("warning: {sentence}"));
    session.check_state(&plan.tests[0], plan)?;
    let (result, watch) = session.measure(&spec)?;
    captures.iter().try_for_each(|file| owner::give_at(file))?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&result).map_err(anyhow::Error::from)?)?;
    } else {
        output::print(
            trial_words::trial(&result, &watch)
                + &describe_disturbance(&result, watch, arguments.size),
        )?;
    }
    let is_invalid = result.verdict(LossRatio::ZERO) == Verdict::Invalid;
    Ok(if is_invalid {
        Exit::TesterUnfit
    } else {
        Exit::Done
    })
}

/// Returns the error for a trial that needs too much memory, with the options that make it smaller.
fn smaller(short: NotEnoughMemory) -> Failed {
    let options = if short.spec.opens().is_some() {
        "--connections, --rate or --for"
    } else {
        "--rate or --for"
    };
    Failed::usage(format!("{short}; lower {options}"))
}

/// Returns an error for a stateful device without connections, and for connections with any other device.
fn check_state(arguments: &args::TrialArgs, recipe: &Recipe) -> Result<(), Failed> {
    match (&recipe.state, arguments.connections) {
        (Some(_), None) => Err(Failed::usage(format!(
            "the device {} is stateful: say how many connections phase 1 opens, such as --connections 10k",
            recipe.name
        ))),
        (None, Some(_)) => Err(Failed::usage(format!(
            "--connections is for stateful devices: the recipe {} has no [state]",
            recipe.name
        ))),
        _ => Ok(()),
    }
}

/// Returns the trial: phase 1 alone, phase 1 followed by the trial, or a trial of a stateless device.
fn spec(arguments: &args::TrialArgs, stateful: Option<Stateful>) -> TrialSpec {
    let constant = TrialSpec::constant(arguments.rate, arguments.duration_ns);
    match stateful {
        _ if arguments.response => TrialSpec::response(arguments.rate, arguments.duration_ns),
        Some(stateful) if arguments.establish => {
            stateful.establishing(stateful.connections, arguments.rate)
        }
        stateful => TrialSpec {
            phase_one: stateful.map(|stateful| stateful.phase_one()),
            ..constant
        },
    }
}

/// Returns the measure of the trial, which determines how the device is set up.
fn measure(arguments: &args::TrialArgs) -> Measure {
    let clients = arguments.subscribers.map_or(1, NonZeroU32::get);
    match arguments.establish {
        true => Measure::EstablishmentRate,
        false if arguments.response => {
            let rate_per_client = FrameRate((arguments.rate.0 / u64::from(clients)).max(1));
            Measure::ResponseTime(ResponseTime {
                rate_per_client,
                duration_ns: arguments.duration_ns,
                outstanding: None,
            })
        }
        false => Measure::Throughput,
    }
}

/// Returns the arguments as a plan of one test.
fn one_test(arguments: &args::TrialArgs) -> Result<Loaded, Failed> {
    let subscribers = arguments.subscribers.map(NonZeroU32::get);
    let test = Test {
        frame_sizes: vec![arguments.size],
        directions: arguments.directions,
        foreground: arguments.background,
        measure: measure(arguments),
        traffic: TrafficSettings {
            subscribers,
            payload: arguments.payload,
            ..TrafficSettings::RFC_4814
        },
        stateful: arguments
            .connections
            .map(|n| Stateful::new(n, arguments.phase_1_rate, PHASE_1_TIMEOUT_NS)),
        ..Test::of("trial", &arguments.dut)
    };
    let trial = TrialSettings {
        // The two seconds of RFC 2544 section 23.
        residual_ns: 2_000_000_000,
        ..standard_trial(Profile::Smoke)
    };
    let plan = Plan::new(
        "trial",
        Profile::Custom,
        trial,
        standard_search(Profile::Smoke),
        vec![test],
    );
    Ok(Loaded {
        plan,
        links: links(arguments)?,
        left_out: Vec::new(),
    })
}

fn links(arguments: &args::TrialArgs) -> Result<Links, Failed> {
    let pair = |list| {
        PortSpec::parse_pair(list)
            .ok_or_else(|| Failed::usage("--interfaces takes two names: LEFT,RIGHT"))
    };
    let ports = arguments.interfaces.as_deref().map(pair).transpose()?;
    Ok(Links {
        ports,
        io: arguments.io,
        ..Links::default()
    })
}

/// Returns the reason why a trial does not show a limit of the device, as a line in the words of reports; nothing where there is none.
fn describe_disturbance(result: &TrialResult, watch: Watch, frame_size: FrameSize) -> String {
    let (point, started) = (
        Point {
            test: "trial".to_owned(),
            frame_size,
        },
        String::new(),
    );
    let (result, watch) = (result.clone(), Some(watch.into()));
    // The explanation is made of records, so the trial becomes one of a run that is not stored.
    let record = TrialRecord {
        format: FORMAT,
        point,
        repetition: 1,
        trial: 1,
        load: None,
        started,
        result,
        watch,
    };
    accident(&[&record], LossRatio::ZERO)
        .map_or(String::new(), |found| format!("  disturbed: {found}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::record::{CoreRole, CoreWatch, CpuSample};
    use sixbench_method::terms::Direction;
    use sixbench_method::trial::{DirectionResult, Fault};

    /// Returns the line for a trial of 1 s at 20,000 frames/s that lost frames in these bins while the device's core was partly idle.
    fn told(lost_by_bin: Vec<u64>, faults: Vec<Fault>) -> String {
        let mut counted = DirectionResult::counted(
            Direction::Forward,
            20_000,
            20_000 - lost_by_bin.iter().sum::<u64>(),
        );
        counted.lost_by_bin = lost_by_bin;
        let spec = TrialSpec::constant(FrameRate(20_000), 1_000_000_000);
        let result = TrialResult::new(spec, vec![counted], faults);
        let samples = vec![
            CpuSample {
                idle: 700,
                softirq: 300,
                ..CpuSample::default()
            };
            10
        ];
        let cores = vec![CoreWatch {
            core: 1,
            role: CoreRole::Dut,
            samples,
        }];
        let watch = Watch {
            interval_ns: 100_000_000,
            cores,
            process_ms: Some(0),
            ..Watch::default()
        };
        describe_disturbance(&result, watch, FrameSize(84))
    }

    #[test]
    fn a_trial_says_what_may_have_lost_its_frames_instead_of_the_device() {
        let moment = told(vec![0, 0, 0, 80, 40, 0, 0, 0, 0, 0], vec![]);
        let begin = "  disturbed: all losses fall within one moment of the trial, and no core is known to have been full: an accident on the machine";
        assert!(
            moment.starts_with(begin)
                && moment.contains("120 of 120 missing frames were due around 0.3 s"),
            "{moment}"
        );
        let taken = told(vec![50; 10], vec![Fault::CpuTaken { milliseconds: 100 }]);
        assert!(
            taken
                .starts_with("  disturbed: other work on the machine used the device's processors"),
            "{taken}"
        );
    }

    #[test]
    fn a_trial_that_passed_or_lost_all_along_was_not_disturbed() {
        assert_eq!(told(vec![0; 10], vec![]), "");
        assert_eq!(told(vec![50; 10], vec![]), "");
        assert_eq!(
            told(vec![0; 10], vec![Fault::CpuTaken { milliseconds: 1 }]),
            "",
            "nothing is missing that it explains"
        );
    }
}
