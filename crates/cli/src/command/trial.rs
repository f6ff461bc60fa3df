//! `sixbench trial`: performs one trial from the command line and prints all its counts, or one after the other with a line for each.

use super::one_device::OneDevice;
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_method::disturbance::accident;
use sixbench_method::plan::{Measure, Point, Profile, ResponseTime, Stateful};
use sixbench_method::record::{FORMAT, TrialRecord, Watch};
use sixbench_method::terms::{FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{TrialResult, TrialSettings, TrialSpec, Verdict};
use sixbench_method::units::{counted, part_of};
use sixbench_plan::{standard_search, standard_trial};
use sixbench_report::{event_words, trial_words};
use sixbench_runner::store::make_directory;
use sixbench_runner::{OwnFile, Session, owner};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The files in which the frames of both ports are saved.
const CAPTURES: [&str; 2] = ["left.pcap", "right.pcap"];

/// Performs the trial and prints its counts.
pub(crate) fn trial(arguments: &args::TrialArgs) -> Result<Exit, Failed> {
    // Phase 1 alone sends as many frames as it opens connections, whatever the time.
    if !arguments.establish
        && TrialSpec::constant(arguments.rate, arguments.duration_ns).frames() == 0
    {
        return Err(Failed::usage(
            "no frame would be sent: raise --rate or --for",
        ));
    }
    let device = OneDevice {
        command: "trial",
        rate_option: "--rate",
        dut: &arguments.dut,
        load: &arguments.load,
        options: &arguments.options,
        pcap: arguments.pcap.as_deref(),
    };
    let loaded = device.planned(
        measure(arguments),
        settings(arguments),
        standard_search(Profile::Smoke),
    )?;
    let spec = spec(arguments, loaded.plan.tests[0].stateful);
    device.with_session(
        &loaded,
        Some(&spec),
        || arguments.pcap.as_deref().map_or(Ok(()), prepare),
        |session, stop| {
            if arguments.repeat {
                repeated(session, &spec, stop)
            } else {
                single(session, &spec, arguments)
            }
        },
    )
}

/// Returns the settings of the trial: the two seconds of RFC 2544 section 23 for residual frames, or of one that is repeated those of a short trial, so
/// that there is a line each second.
fn settings(arguments: &args::TrialArgs) -> TrialSettings {
    let short = standard_trial(Profile::Smoke);
    TrialSettings {
        residual_ns: if arguments.repeat {
            short.residual_ns
        } else {
            2_000_000_000
        },
        ..short
    }
}

fn captures(directory: &Path) -> impl Iterator<Item = PathBuf> {
    CAPTURES.into_iter().map(|file| directory.join(file))
}

/// Makes the directory for the frames of both ports, unless files there are somebody else's.
fn prepare(directory: &Path) -> Result<(), Failed> {
    captures(directory).try_for_each(|file| OwnFile::Capture.check(&file))?;
    make_directory(directory).map_err(|error| {
        Failed::usage(format!(
            "--pcap {}: cannot create this directory: {error}",
            directory.display()
        ))
    })?;
    Ok(())
}

/// Performs one trial and prints everything that it counted.
fn single(
    session: &mut Session,
    spec: &TrialSpec,
    arguments: &args::TrialArgs,
) -> Result<Exit, Failed> {
    let (result, watch) = session.measure(spec)?;
    let captured = arguments.pcap.as_deref().into_iter().flat_map(captures);
    captured
        .into_iter()
        .try_for_each(|file| owner::give_at(&file))?;
    if arguments.options.json {
        output::line(serde_json::to_string_pretty(&result).map_err(anyhow::Error::from)?)?;
    } else {
        output::print(
            trial_words::trial(&result, &watch)
                + &describe_disturbance(&result, watch, arguments.load.frame_size()),
        )?;
    }
    let is_invalid = result.verdict(LossRatio::ZERO) == Verdict::Invalid;
    Ok(if is_invalid {
        Exit::TesterUnfit
    } else {
        Exit::Done
    })
}

/// Repeats a trial until it is interrupted; prints a line for each, and the sum.
fn repeated(session: &mut Session, spec: &TrialSpec, stop: &AtomicBool) -> Result<Exit, Failed> {
    let mut sum = Sum::default();
    while !stop.load(Ordering::Relaxed) {
        match session.measure(spec) {
            Ok((result, _)) => {
                let verdict = result.verdict(LossRatio::ZERO);
                output::line(event_words::trial(&result, verdict))?;
                sum.add(&result, verdict);
            }
            // Ctrl-C in the middle of a trial, which then counts for nothing.
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) => return Err(error.into()),
        }
    }
    if sum.trials == 0 {
        return Ok(Exit::Interrupted);
    }
    output::line(sum.line())?;
    Ok(if sum.invalid == sum.trials {
        Exit::TesterUnfit
    } else {
        Exit::Done
    })
}

/// The counts of repeated trials.
#[derive(Debug, Default)]
struct Sum {
    trials: u64,
    passed: u64,
    invalid: u64,
    offered: u64,
    received: u64,
}

impl Sum {
    /// Adds a trial. Frames of an invalid one are not counted, because the load was not the one that was asked for.
    fn add(&mut self, result: &TrialResult, verdict: Verdict) {
        self.trials += 1;
        self.passed += u64::from(verdict == Verdict::Passed);
        self.invalid += u64::from(verdict == Verdict::Invalid);
        if verdict != Verdict::Invalid {
            let directions = &result.directions;
            self.offered += directions.iter().map(|of| of.offered).sum::<u64>();
            self.received += directions.iter().map(|of| of.received).sum::<u64>();
        }
    }

    fn line(&self) -> String {
        let lost = self.trials - self.passed - self.invalid;
        format!(
            "{}: {} passed, {lost} lost, {} invalid; {} lost in the valid ones",
            counted(self.trials, "trial"),
            self.passed,
            self.invalid,
            part_of(
                (self.offered - self.received) as usize,
                self.offered as usize,
                "frame"
            )
        )
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
    let clients = arguments.load.subscribers.map_or(1, NonZeroU32::get);
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
        let begin = "  disturbed: all losses fall within one moment of the trial, and no core is known to have been full: a single event on the machine";
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
