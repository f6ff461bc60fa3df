//! `sixbench dns64 --search`: the same search as in a plan, with trials judged as in a run.

use super::super::search_words::{Conclusion, SearchWords, settle_trial};
use super::{asked, trial_settings};
use crate::args;
use crate::exit::{Exit, Failed};
use sixbench_method::plan::{Measure, Plan, Profile, Test};
use sixbench_method::search::{SearchMethod, SearchSettings};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::Verdict;
use sixbench_method::units::show_ns;
use sixbench_plan::standard_search;
use sixbench_runner::{SearchFound, WatchedTester, search_alone};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The rest between the trials of a search.
const REST: Duration = Duration::from_millis(100);
/// The rest after a trial in which not every query was answered. The server cannot be restarted from here, and may still be
/// overloaded.
const LONG_REST: Duration = Duration::from_secs(2);

/// Performs the search; prints each trial, the result, and the reason for an exit code other than 0.
pub(super) fn search(
    arguments: &args::Dns64,
    tester: &mut WatchedTester,
    stop: &AtomicBool,
) -> Result<Exit, Failed> {
    let plan = plan(arguments);
    let found = search_alone(
        &plan,
        tester,
        |tester, spec| Ok::<_, Failed>(tester.measure(spec)?),
        |tester, result, verdict, patience| {
            let rest = if verdict == Verdict::Passed {
                REST
            } else {
                LONG_REST
            };
            settle_trial(result, verdict, patience, stop, || tester.occupant(), rest)
        },
    )?;
    concluded(&found, plan.search.minimum, arguments.timeout_ns).print(&found, arguments.json)
}

/// Returns the search as a plan of one test.
fn plan(arguments: &args::Dns64) -> Plan {
    let standard = standard_search(Profile::Smoke);
    // A hundredth of the rate is far below it, for servers that are much slower than the user expects.
    let minimum = FrameRate(standard.minimum.0.min(arguments.rate.0 / 100).max(1));
    let search = SearchSettings {
        method: SearchMethod::Binary,
        minimum,
        maximum: arguments.rate,
        ..standard
    };
    let test = Test {
        measure: Measure::Dns(asked(arguments)),
        ..Test::new("dns64", "dns64")
    };
    Plan::new(
        "dns64",
        Profile::Custom,
        trial_settings(arguments),
        search,
        vec![test],
    )
}

/// Returns what is said of the search.
fn concluded(found: &SearchFound, minimum: FrameRate, timeout_ns: u64) -> Conclusion {
    let words = SearchWords {
        subject: "the server",
        unit: "queries/s",
        passed: &format!(", all answered correctly within {}", show_ns(timeout_ns)),
        maximum_option: "--rate",
        minimum,
    };
    Conclusion::new(&found.bracket, &words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;
    use sixbench_method::patience::Patience;
    use sixbench_method::search::Limit;
    use sixbench_method::simulated::{Behaviour, SimulatedDut};
    use sixbench_method::trial::{Fault, Measurer, TrialResult, TrialSpec};

    const CAPACITY: FrameRate = FrameRate(700);

    fn arguments() -> args::Dns64 {
        let line = [
            "sixbench", "dns64", "::1", "--rate", "1000", "--for", "1s", "--search",
        ];
        match Arguments::try_parse_from(line)
            .expect("a command line")
            .command
        {
            Command::Dns64(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the result of the search on a simulated server whose results `disturb` alters, and the verdicts of the trials.
    fn found(
        mut server: SimulatedDut,
        disturb: impl Fn(&mut TrialResult),
    ) -> (SearchFound, Vec<Verdict>) {
        let mut told = Vec::new();
        let measure = |server: &mut SimulatedDut, spec: &TrialSpec| {
            let Ok(mut result) = server.measure(spec);
            disturb(&mut result);
            Ok((result, None))
        };
        let after = |_: &mut SimulatedDut, _: &TrialResult, verdict, _: &mut Patience| {
            told.push(verdict);
            Ok::<(), Failed>(())
        };
        let found =
            search_alone(&plan(&arguments()), &mut server, measure, after).expect("a result");
        (found, told)
    }

    fn server(behaviour: Behaviour) -> SimulatedDut {
        SimulatedDut::new(behaviour, CAPACITY, 1)
    }

    fn concluded(found: &SearchFound) -> (Limit, Exit, String) {
        let Conclusion { exit, words } = super::concluded(found, FrameRate(10), 1_000_000_000);
        (found.bracket.limit, exit, words)
    }

    /// Returns a disturbance: in every trial with missing queries, other processes had the server's cores for this long.
    fn taken(milliseconds: u64) -> impl Fn(&mut TrialResult) {
        move |result| {
            if result.not_received() > 0 {
                result.faults.push(Fault::CpuTaken { milliseconds });
            }
        }
    }

    #[test]
    fn the_limit_of_an_undisturbed_server_is_its_own() {
        let (found, told) = found(server(Behaviour::HardLimit), |_| ());
        let (limit, exit, words) = concluded(&found);
        assert_eq!((limit, exit), (Limit::Dut, Exit::Done));
        assert!(
            words.ends_with(" queries/s, all answered correctly within 1s"),
            "{words}"
        );
        assert_eq!(told.len(), found.results.len());
    }

    #[test]
    fn what_other_work_may_have_lost_is_no_limit_of_the_server() {
        // 60 ms at 1000 queries/s explain only a fifth of the 300 missing answers: such a trial counts as lost.
        for milliseconds in [60, 1_000] {
            let (found, _) = found(server(Behaviour::HardLimit), taken(milliseconds));
            let (limit, exit, words) = concluded(&found);
            assert_eq!(
                (limit, exit),
                (Limit::Disturbed, Exit::TesterUnfit),
                "{milliseconds} ms"
            );
            assert!(
                words.ends_with(" within 1s; other work disturbed the trials"),
                "{words}"
            );
        }
    }

    #[test]
    fn the_json_says_what_the_text_says() {
        let (found, _) = found(server(Behaviour::HardLimit), taken(60));
        let json: serde_json::Value = serde_json::from_str(&found.json()).expect("JSON");
        assert_eq!(json[0]["limit"], "disturbed");
        assert_eq!(json[1].as_array().map(Vec::len), Some(found.results.len()));
    }

    #[test]
    fn a_tester_that_falls_short_is_told_with_exit_code_4() {
        let (found, _) = found(server(Behaviour::SlowTester { ceiling: 0.5 }), |_| ());
        let (limit, exit, words) = concluded(&found);
        assert_eq!((limit, exit), (Limit::Tester, Exit::TesterUnfit));
        assert!(words.ends_with("; the tester fell short"), "{words}");
    }

    #[test]
    fn of_a_search_without_a_valid_trial_nothing_is_said_of_the_server() {
        let stalled = |result: &mut TrialResult| {
            result
                .faults
                .push(Fault::PreloadFailed { failed: 1, of: 1 });
        };
        let (found, _) = found(server(Behaviour::HardLimit), stalled);
        let (_, exit, words) = concluded(&found);
        assert_eq!(exit, Exit::TesterUnfit);
        assert_eq!(
            words,
            "the server's limit is not known: the tester fell short down to 10 queries/s"
        );
    }

    #[test]
    fn a_rate_at_which_everything_passes_is_a_lower_bound_and_done() {
        let (found, _) = found(
            SimulatedDut::new(Behaviour::HardLimit, FrameRate(5_000), 1),
            |_| (),
        );
        let (limit, exit, words) = concluded(&found);
        assert_eq!((limit, exit), (Limit::Maximum, Exit::Done));
        assert_eq!(
            words,
            "at least 1000 queries/s, all answered correctly within 1s; --rate is the highest that was tried"
        );
    }

    #[test]
    fn a_server_that_answers_nothing_is_done_and_said_to_have_passed_nothing() {
        let (found, _) = found(
            SimulatedDut::new(Behaviour::HardLimit, FrameRate(1), 1),
            |_| (),
        );
        let (limit, exit, words) = concluded(&found);
        assert_eq!((limit, exit), (Limit::Dut, Exit::Done));
        assert_eq!(words, "nothing passed, not even 10 queries/s");
    }
}
