//! Does this machine have the memory that the largest trial of a plan takes? Asked before anything is set up.

use crate::config::units::{show_ns, show_rate};
use crate::exit::Failed;
use crate::profile::{self, Job};
use sixbench_engine::memory::{Work, octets_needed};
use sixbench_method::plan::{Plan, Test};
use sixbench_method::trial::TrialSpec;
use sixbench_testbed::{Library, facts};

/// Refuses a plan one of whose tests asks for a trial that does not fit into memory.
pub(super) fn check_plan(plan: &Plan, library: &Library) -> Result<(), Failed> {
    let available = facts::available_memory();
    plan.tests.iter().try_for_each(|test| {
        let spec = test.largest_trial(plan);
        let advice = match spec.opens().is_some() {
            true => "lower `connections`, `maximum` of [search] or `duration` of [trial]",
            false => "lower `maximum` of [search], `duration` of [trial], or those of the test's own",
        };
        check(plan, test, library, &spec, available)
            .map_err(|short| Failed::usage(format!("test {}: {}; {advice}", test.name, short.in_words(&spec))))
    })
}

/// Refuses one trial that does not fit into memory.
pub(super) fn check_trial(plan: &Plan, test: &Test, library: &Library, spec: &TrialSpec) -> Result<(), Failed> {
    let advice = if spec.opens().is_some() { "lower --connections, --rate or --for" } else { "lower --rate or --for" };
    check(plan, test, library, spec, facts::available_memory())
        .map_err(|short| Failed::usage(format!("{}; {advice}", short.in_words(spec))))
}

/// What a trial takes, and what there is.
#[derive(Debug, PartialEq, Eq)]
struct Short {
    needed: u64,
    available: u64,
}

impl Short {
    fn in_words(&self, spec: &TrialSpec) -> String {
        let (rate, time) = (show_rate(spec.rate), show_ns(spec.duration_ns));
        let (needed, available) = (mebioctets(self.needed), mebioctets(self.available));
        format!("a trial at {rate}/s for {time} takes {needed} MiB of the tester's memory, and {available} MiB are available")
    }
}

fn mebioctets(octets: u64) -> u64 {
    octets.div_ceil(1 << 20)
}

/// Nothing is refused where it is not known what there is.
fn check(plan: &Plan, test: &Test, library: &Library, spec: &TrialSpec, available: Option<u64>) -> Result<(), Short> {
    let (Some(available), Some(recipe), Some(size)) = (available, library.get(&test.dut), test.frame_sizes.first()) else {
        return Ok(());
    };
    // What is wrong with a job is told before, and better.
    let Ok(job) = profile::job(recipe, test, *size, plan.seed, plan.trial) else { return Ok(()) };
    let needed = octets_needed(spec, work(&job));
    if needed < available { Ok(()) } else { Err(Short { needed, available }) }
}

fn work(job: &Job) -> Work<'_> {
    match job {
        Job::Frames(profile, _) => Work::Frames(profile),
        Job::Dns(job) => Work::Dns(&job.1),
        Job::Tcp(_, settings) => Work::Tcp(settings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{library, parse_plan};
    use sixbench_method::terms::FrameRate;

    const PLAN: &str = r#"
        name = "memory"
        profile = "smoke"
        [trial]
        duration = "1440min"
        [search]
        maximum = "1000M"
        [[test]]
        name = "kernel"
        dut = "linux-ipv4"
    "#;

    #[test]
    fn a_trial_that_takes_more_than_there_is_says_how_much_and_what_to_lower() {
        let library = library(&[]).expect("recipes");
        let plan = parse_plan("memory.toml", PLAN, &library).expect("a plan").plan;
        let spec = plan.tests[0].largest_trial(&plan);
        let short = check(&plan, &plan.tests[0], &library, &spec, Some(4 << 30)).expect_err("too much");
        insta::assert_snapshot!(short.in_words(&spec), @"a trial at 1000.000M/s for 86400s takes 20599475 MiB of the tester's memory, and 4096 MiB are available");
        let small = TrialSpec::constant(FrameRate(1000), 1_000_000_000);
        assert_eq!(check(&plan, &plan.tests[0], &library, &small, Some(4 << 30)), Ok(()));
        assert_eq!(check(&plan, &plan.tests[0], &library, &spec, None), Ok(()), "where nobody knows nothing is refused");
        let refused = check_plan(&plan, &library).expect_err("no machine has as much").error.to_string();
        assert!(refused.starts_with("test kernel: a trial at") && refused.contains("; lower `maximum`"), "{refused}");
    }
}
