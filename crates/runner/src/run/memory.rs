//! Checks, before anything is set up, that this machine has enough memory for the largest trial of a plan.

use super::dns::MOST_CERTIFIED;
use crate::error::{NotEnoughMemory, RunError};
use crate::profile;
use sixbench_engine::memory::{Footprint, neediest, octets_needed};
use sixbench_io::limit;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{TrialSettings, TrialSpec};
use sixbench_method::units::show_ns;
use sixbench_testbed::{Library, facts};

/// Refuses a plan if one of its tests may have a trial that does not fit into memory.
pub(crate) fn check_plan(plan: &Plan, library: &Library) -> Result<(), RunError> {
    check_plan_within(plan, library, available_memory())
}

/// The address space for threads, reservations of the allocator and the report, in octets. A trial that needs little was possible with 450 MiB.
const BASE: u64 = 512 << 20;

/// Refuses a run if the limit on the address space of this process leaves too little: an allocation that fails ends the process at once, with the
/// testbed still up.
///
/// # Errors
/// The octets that are left, and those that are needed.
pub(crate) fn check_limit() -> Result<(), RunError> {
    check_limit_within(limit::address_space_left())
}

fn check_limit_within(left: Option<u64>) -> Result<(), RunError> {
    left.filter(|left| *left < BASE).map_or(Ok(()), |left| {
        Err(RunError::MemoryLimit { left, needed: BASE })
    })
}

/// Returns the octets that a trial may use: those of this machine, within the limit of this process.
fn available_memory() -> Option<u64> {
    let within_limit = limit::address_space_left().map(|left| left.saturating_sub(BASE));
    [facts::available_memory(), within_limit]
        .into_iter()
        .flatten()
        .min()
}

fn check_plan_within(
    plan: &Plan,
    library: &Library,
    available: Option<u64>,
) -> Result<(), RunError> {
    plan.tests.iter().try_for_each(|test| {
        check_test(plan, test, library, available).map_err(|short| {
            let advice = advice(plan, test, library, available);
            RunError::from(Box::new(NotEnoughMemory {
                advice: Some(advice),
                ..short
            }))
            .of_test(&test.name)
        })
    })
}

/// Refuses a test if one of its trials may need more memory than is available. Gives no advice, as [`check_trial`] does not.
///
/// # Errors
/// The memory that the neediest trial needs, which is more than is available.
pub fn check_trials_of(plan: &Plan, test: &Test, library: &Library) -> Result<(), NotEnoughMemory> {
    check_test(plan, test, library, available_memory())
}

fn check_test(
    plan: &Plan,
    test: &Test,
    library: &Library,
    available: Option<u64>,
) -> Result<(), NotEnoughMemory> {
    check(plan, test, library, available, |traffic| {
        neediest(largest(plan, test), traffic)
    })
}

/// Returns the largest trial that the test may have. Queries to a server with an authority behind it are not sent at more than the rate certified
/// by the self-test.
fn largest(plan: &Plan, test: &Test) -> TrialSpec {
    let spec = test.largest_trial(plan);
    if profile::dns::is_certified(test) {
        TrialSpec {
            rate: spec.rate.min(MOST_CERTIFIED),
            ..spec
        }
    } else {
        spec
    }
}

/// Returns advice on which settings to lower, and to what. Each suffices on its own.
fn advice(plan: &Plan, test: &Test, library: &Library, available: Option<u64>) -> String {
    let fits = |change: &dyn Fn(&mut Plan)| {
        let mut changed = plan.clone();
        change(&mut changed);
        check_test(&changed, test, library, available).is_ok()
    };
    // The plan must be accepted with the advised value.
    let maximum = most_that(plan.search.maximum.0, |most| {
        fits(&|plan| plan.search.maximum = FrameRate(most))
    })
    .filter(|&most| most > plan.search.minimum.0);
    let duration = most_that(plan.trial.duration_ns, |most| {
        fits(&|plan| plan.trial.duration_ns = most)
    })
    .filter(|&most| most >= TrialSettings::SHORTEST_NS);
    let of_search = maximum.map(|most| format!("`maximum` of [search] to {}", plain_rate(most)));
    let of_trial = duration.map(|most| format!("`duration` of [trial] to \"{}\"", show_ns(most)));
    let named: Vec<String> = of_search.into_iter().chain(of_trial).collect();
    let largest = largest(plan, test);
    if !named.is_empty() {
        format!("lower {}", named.join(", or "))
    } else if largest.opens().is_some() {
        "lower `connections`".to_owned()
    } else if largest.outstanding.is_some() {
        "lower `outstanding` or the rate, the duration or the clients of the test".to_owned()
    } else {
        "lower the rate, the duration or the connections of the test itself".to_owned()
    }
}

/// Returns the largest number of two digits and zeroes below `value` that `fits`, or `None` if there is none.
fn most_that(value: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut fitting, mut beyond) = (0, value);
    while beyond - fitting > 1 {
        let middle = fitting.midpoint(beyond);
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    let unit = 10u64.pow(fitting.checked_ilog10()?.saturating_sub(1));
    Some(fitting / unit * unit).filter(|&rounded| rounded < value && fits(rounded))
}

fn plain_rate(rate: u64) -> String {
    match rate {
        rate if rate >= 1_000_000 => format!("\"{}M\"", rate as f64 / 1e6),
        rate if rate >= 1_000 => format!("\"{}k\"", rate as f64 / 1e3),
        rate => format!("\"{rate}\""),
    }
}

/// Refuses a single trial that does not fit into memory. Gives no advice, because the caller that chose the trial knows how to make it smaller.
///
/// # Errors
/// The memory that the trial needs, which is more than is available.
pub fn check_trial(
    plan: &Plan,
    test: &Test,
    library: &Library,
    spec: &TrialSpec,
) -> Result<(), NotEnoughMemory> {
    check(plan, test, library, available_memory(), |_| *spec)
}

/// Refuses the trial of a test if it needs more memory than is available. Accepts it if the available memory is unknown.
fn check(
    plan: &Plan,
    test: &Test,
    library: &Library,
    available: Option<u64>,
    trial: impl Fn(&dyn Footprint) -> TrialSpec,
) -> Result<(), NotEnoughMemory> {
    let (Some(available), Some(recipe), Some(size)) =
        (available, library.get(&test.dut), test.frame_sizes.first())
    else {
        return Ok(());
    };
    // Mistakes in a job are reported earlier, with better messages.
    let Ok(job) = profile::job(recipe, test, *size, plan.seed, plan.trial) else {
        return Ok(());
    };
    let spec = trial(job.footprint());
    let needed = octets_needed(&spec, job.footprint());
    if needed < available {
        Ok(())
    } else {
        Err(NotEnoughMemory {
            spec: Box::new(spec),
            needed,
            available,
            advice: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_causes;
    use std::path::Path;

    fn library() -> Library {
        Library::load::<&Path>(&[]).expect("recipes")
    }

    const GIGAOCTETS: u64 = 1 << 30;

    #[test]
    fn a_limit_that_leaves_too_little_is_told_with_its_command() {
        assert!(check_limit_within(None).is_ok() && check_limit_within(Some(GIGAOCTETS)).is_ok());
        let error = check_limit_within(Some(200 << 20))
            .expect_err("too little")
            .to_string();
        assert!(
            error.contains("only 200 MiB more")
                && error.contains("needs 512 MiB")
                && error.contains("ulimit -v"),
            "{error}"
        );
    }

    fn plan(duration: &str, maximum: &str, test: &str) -> Plan {
        let text = format!(
            "name = \"memory\"\n[trial]\nduration = \"{duration}\"\n[search]\nmaximum = \"{maximum}\"\n\
             [[test]]\nname = \"t\"\n{test}"
        );
        sixbench_plan::load(&text, &library()).expect("a plan").plan
    }

    fn kernel(duration: &str, maximum: &str) -> Plan {
        plan(duration, maximum, "dut = \"linux-ipv4\"\n")
    }

    /// Returns the error for a plan on a machine with this amount of memory.
    fn said(plan: &Plan, available: u64) -> String {
        let library = library();
        check_plan_within(plan, &library, Some(available))
            .map_or_else(|error| with_causes(&error), |()| String::new())
    }

    #[test]
    fn a_plan_that_takes_more_than_there_is_says_how_much_and_which_setting_to_lower_to_what() {
        let refused = said(&kernel("1440min", "100M"), 4 * GIGAOCTETS);
        insta::assert_snapshot!(refused, @r#"test t: a trial at 100.000M/s for 86400s takes 2060046 MiB of the tester's memory, but only 4096 MiB are available; lower `maximum` of [search] to "190k", or `duration` of [trial] to "160s""#);
        assert_eq!(
            check_plan(&kernel("1s", "2k"), &library()).map_err(|error| with_causes(&error)),
            Ok(())
        );
        let library = library();
        assert!(
            check_plan_within(&kernel("1440min", "100M"), &library, None).is_ok(),
            "an unknown amount of memory refuses nothing"
        );
    }

    #[test]
    fn a_plan_with_the_setting_that_was_named_is_taken() {
        for (duration, maximum) in [("1440min", "190k"), ("160s", "100M")] {
            assert_eq!(
                said(&kernel("1440min", "100M"), 4 * GIGAOCTETS).contains(maximum),
                maximum != "100M"
            );
            assert_eq!(
                said(&kernel(duration, maximum), 4 * GIGAOCTETS),
                "",
                "{duration} {maximum}"
            );
        }
    }

    #[test]
    fn no_setting_is_advised_that_a_plan_file_may_not_have() {
        let refused = kernel("60s", "20M");
        let with = |minimum: u64, duration_ns: u64| {
            let mut plan = refused.clone();
            (plan.search.minimum, plan.trial.duration_ns) = (FrameRate(minimum), duration_ns);
            said(&plan, GIGAOCTETS / 4)
        };
        let minute = 60_000_000_000;
        assert!(
            with(1_000, minute).contains("; lower `maximum` of [search] to \""),
            "{}",
            with(1_000, minute)
        );
        let below_its_minimum = with(19_999_999, minute);
        assert!(
            below_its_minimum.contains("; lower `duration` of [trial] to \""),
            "{below_its_minimum}"
        );
        let shortest = said(&kernel("10ms", "20M"), 1);
        assert!(
            shortest
                .ends_with("; lower the rate, the duration or the connections of the test itself"),
            "{shortest}"
        );
    }

    #[test]
    fn a_trial_of_the_command_line_that_takes_more_than_there_is_is_refused() {
        let (plan, library) = (kernel("60s", "2M"), library());
        let said = |rate: u64, seconds: u64, available: u64| {
            let spec = TrialSpec::constant(FrameRate(rate), seconds * 1_000_000_000);
            let checked = check(&plan, &plan.tests[0], &library, Some(available), |_| spec);
            checked.map_err(|short| short.to_string())
        };
        let error = said(20_000_000, 86_400, 4 * GIGAOCTETS).expect_err("refused");
        assert!(error.ends_with(" MiB are available"), "{error}");
        // A rate that no sender reaches is given up after half a second, and only needs memory for that time.
        assert_eq!(said(1_000_000_000, 86_400, 4 * GIGAOCTETS), Ok(()));
        assert_eq!(said(1_000_000, 60, 4 * GIGAOCTETS), Ok(()));
    }

    #[test]
    fn the_highest_maximum_of_all_is_taken_on_a_small_machine() {
        assert_eq!(
            said(&kernel("60s", "1000M"), 2 * GIGAOCTETS),
            "",
            "15 GB at a rate that no sender reaches"
        );
        assert_eq!(said(&kernel("10s", "1000M"), GIGAOCTETS / 2), "");
        assert!(
            said(&kernel("60s", "1000M"), GIGAOCTETS).contains("`maximum` of [search] to"),
            "one that may be reached"
        );
        let queries = plan(
            "60s",
            "1000M",
            "dut = \"unbound-dns64\"\nmeasure = \"dns64\"\n",
        );
        assert_eq!(
            said(&queries, GIGAOCTETS / 2),
            "",
            "nothing is asked above the certified rate"
        );
    }

    #[test]
    fn connections_that_do_not_fit_are_the_setting_that_is_named() {
        let capacity = plan("1s", "1M", "dut = \"jool-nat64\"\nconnections = \"400M\"\n");
        assert!(
            said(&capacity, 4 * GIGAOCTETS).ends_with("lower `connections`"),
            "{}",
            said(&capacity, 4 * GIGAOCTETS)
        );
    }

    #[test]
    fn requests_that_may_wait_are_the_setting_that_is_named() {
        let test = "dut = \"linux-ipv6\"\nmeasure = \"response-time\"\nrate-per-client = \"1k\"\noutstanding = 4000000000\n";
        let refused = said(&plan("1s", "1M", test), 4 * GIGAOCTETS);
        assert!(refused.contains("lower `outstanding` or "), "{refused}");
    }
}
