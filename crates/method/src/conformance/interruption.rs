//! System recovery and reset: RFC 2544 section 26.5 and RFC 6201.

use super::numbers::{SECOND, list, percent, repetitions, seconds};
use super::rate::is_first_goal_zero;
use super::{Clause, trial};
use crate::plan::{Load, Plan, Recovery, Reset, Test};
use crate::terms::FrameSize;

const RECOVERY: &str = "RFC 2544 section 26.5";
const PROCESS: &str = "RFC 6201 section 4.2.2";

/// System recovery.
pub(crate) fn recovery(plan: &Plan, test: &Test, recovery: &Recovery) -> Vec<Clause> {
    let limit = match plan.link_rate {
        Some(_) => "at most the medium's maximum".to_owned(),
        None => format!("at most {}, the plan's highest load", plan.search.maximum),
    };
    let overload = format!("{} of it, {limit}", percent(recovery.overload));
    let is_overload = (recovery.overload - 1.1).abs() < 1e-6;
    let lasts = seconds(recovery.duration_ns);
    let found =
        if is_first_goal_zero(plan) { "searched for, in the first repetition" } else { "a rate with loss is searched for" };
    let drop = format!("50 % for {}; the result is B - A, while the RFC's text says A - B", seconds(recovery.after_ns));
    vec![
        Clause::must(RECOVERY, "the throughput is determined at each frame size", found, is_first_goal_zero(plan)),
        Clause::must(RECOVERY, "110 % of the throughput, or the medium's maximum if that is lower", overload, is_overload),
        Clause::must(RECOVERY, "overload for at least 60 s", lasts, recovery.duration_ns >= 60 * SECOND),
        Clause::must(RECOVERY, "at time A down to 50 % of that rate, until the last frame lost at B", drop, true),
        Clause::should(RECOVERY, "repeated a number of times, averaged", repetitions(test), test.repetitions.least() >= 2),
    ]
}

/// Reset of the DUT's processes.
pub(crate) fn reset(plan: &Plan, test: &Test, reset: &Reset) -> Vec<Clause> {
    let before = seconds(reset.before_ns);
    let is_smallest = test.frame_sizes == [FrameSize::MINIMUM];
    vec![
        Clause::may(PROCESS, "a process reset", "the device's processes, as its recipe says"),
        Clause::must(PROCESS, "at least 15 s of forwarding before the reset", before, reset.before_ns >= 15 * SECOND),
        Clause::should(PROCESS, "the minimum frame size", list(&test.frame_sizes), is_smallest),
        full_load(plan, reset.load),
        Clause::should(
            "RFC 6201 section 1.3",
            "the frame-loss or the timestamp method, whichever is more accurate",
            "both; sending continues whatever the link does",
            true,
        ),
        Clause::must(
            "RFC 6201 section 1.4",
            "set-up and methods that may influence the result are listed",
            "facts, recipe and commands",
            true,
        ),
        trial::several_times(test, "RFC 6201 section 1.4"),
    ]
}

fn full_load(plan: &Plan, load: Load) -> Clause {
    let actual = match load {
        Load::OfThroughput(share) => format!("{} of the throughput", percent(share)),
        Load::Rate(rate) => format!("{rate}, as the plan says"),
    };
    let is_full = matches!(load, Load::OfThroughput(share) if share >= 1.0) && is_first_goal_zero(plan);
    Clause::should(PROCESS, "a rate at which the DUT reaches its maximum forwarding", actual, is_full)
}
