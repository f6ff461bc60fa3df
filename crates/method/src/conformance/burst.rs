//! Back-to-back frames: RFC 9004, and what it leaves of RFC 2544 section 26.4.

use super::Clause;
use super::numbers::{SECOND, count, list, missing_sizes, repetitions, seconds};
use super::traffic::ETHERNET;
use super::trial::highest_theoretical;
use crate::plan::{BackToBack, Plan, Test};
use crate::terms::{FrameSize, LossRatio};

const PREREQUISITES: &str = "RFC 9004 section 5";
const SINGLE_SIZE: &str = "RFC 9004 section 6.2";
const REPORTING: &str = "RFC 9004 section 7";

/// Back-to-back frames.
pub(crate) fn clauses(plan: &Plan, test: &Test, settings: &BackToBack) -> Vec<Clause> {
    let mut clauses = throughput(plan, test);
    clauses.extend(burst(plan, test, settings));
    clauses.extend(waiting(plan, settings));
    clauses.extend(search(settings));
    clauses.extend(repetition(test));
    clauses.extend(reporting(plan, test, settings));
    clauses
}

/// Returns the clauses on the throughput: only the throughput can tell which frame sizes fill a buffer at all.
fn throughput(plan: &Plan, test: &Test) -> Vec<Clause> {
    let is_throughput = |other: &&Test| other.dut == test.dut && other.measure.is_throughput();
    let requirement = "the throughput of all frame sizes is known";
    let Some(other) = plan.tests.iter().filter(is_throughput).max_by_key(|other| is_alike(other, test)) else {
        return vec![Clause::must(PREREQUISITES, requirement, "the plan measures no throughput of this device", false)];
    };
    let mut missing = missing_sizes(other, &ETHERNET);
    missing.extend(missing_sizes(other, &test.frame_sizes).into_iter().filter(|size| !ETHERNET.contains(size)));
    let alike = if is_alike(other, test) { "the same traffic" } else { "other directions or other traffic" };
    let goals = list(&plan.search.goals);
    let is_zero_loss = plan.search.goals.is_empty() || plan.search.goals.contains(&LossRatio::ZERO);
    vec![
        Clause::must(PREREQUISITES, requirement, known(other, &missing), missing.is_empty()).or_in_part(true),
        Clause::must(PREREQUISITES, "throughput and bursts are measured with the same traffic", alike, is_alike(other, test)),
        Clause::must(PREREQUISITES, "the throughput is measured without loss", format!("goals: {goals} of loss"), is_zero_loss),
    ]
}

fn known(other: &Test, missing: &[FrameSize]) -> String {
    let but = if missing.is_empty() { String::new() } else { format!(", but not of {}", list(missing)) };
    format!("measured by {}{but}", other.name)
}

fn is_alike(other: &Test, test: &Test) -> bool {
    (other.directions, other.foreground, other.traffic) == (test.directions, test.foreground, test.traffic)
}

fn burst(plan: &Plan, test: &Test, settings: &BackToBack) -> Vec<Clause> {
    let speed = match plan.link_rate {
        Some(rate) => format!("{} Mbit/s", rate as f64 / 1e6),
        None => "the plan does not know the rate of the medium".to_owned(),
    };
    let most = highest_theoretical(plan, test);
    let gap = match most {
        Some(most) if settings.rate >= most => "at the medium's maximum of each frame size".to_owned(),
        Some(most) => format!("at {} or the medium's maximum below it, which is {most} at the smallest size", settings.rate),
        None => format!("at {}; whether the medium carries more is not known", settings.rate),
    };
    let is_at_maximum = most.is_some_and(|most| settings.rate >= most);
    vec![
        Clause::must(
            PREREQUISITES,
            "the maximum frame rate is computed from the speed of the links",
            speed,
            plan.link_rate.is_some(),
        ),
        Clause::must(SINGLE_SIZE, "a burst after idle time, with the minimum gap between frames", gap, is_at_maximum)
            .or_in_part(most.is_none()),
        Clause::must("RFC 9004 section 3", "no mixture of frame sizes", "one size in each burst", true),
    ]
}

fn waiting(plan: &Plan, settings: &BackToBack) -> Vec<Clause> {
    let residual_ns = plan.trial.residual_ns;
    let actual = format!("{} after the last frame received", seconds(residual_ns));
    let is_enough = residual_ns >= 2 * SECOND;
    let mut clauses = vec![
        Clause::must(SINGLE_SIZE, "at least 2 s more than the burst takes to be received", actual.clone(), is_enough),
        Clause::must("RFC 2544 section 26.4", "a trial of at least 2 s", actual, is_enough),
    ];
    if settings.longest_ns > 2 * SECOND {
        let actual =
            format!("{} after the last frame received, for up to {}", seconds(residual_ns), seconds(settings.longest_ns));
        let longer =
            Clause::must(SINGLE_SIZE, "a longer wait where bursts take more than 2 s", actual, residual_ns > 2 * SECOND);
        // The wait begins again with every frame, so it does grow with the buffer.
        clauses.push(longer.or_in_part(is_enough));
    }
    clauses
}

fn search(settings: &BackToBack) -> Vec<Clause> {
    let longest = format!("up to {}", seconds(settings.longest_ns));
    let step = count(settings.step_frames, "frame");
    vec![
        Clause::must(SINGLE_SIZE, "the longest burst can be set to as much as 30 s", longest, true),
        Clause::must(SINGLE_SIZE, "binary search, its parameters reported", "binary search; both are in the plan", true),
        Clause::must(SINGLE_SIZE, "the step size is reported", step, true),
    ]
}

fn repetition(test: &Test) -> Vec<Clause> {
    let actual = repetitions(test);
    vec![
        Clause::should(
            "RFC 2544 section 26.4",
            "at least 50 repetitions, averaged",
            actual.clone(),
            test.repetitions.least() >= 50,
        ),
        Clause::must(
            "RFC 9004 section 6.3",
            "N independent searches, every value kept",
            actual.clone(),
            test.repetitions.least() >= 1,
        ),
        Clause::must(REPORTING, "N is reported", actual, true),
    ]
}

fn reporting(plan: &Plan, test: &Test, settings: &BackToBack) -> Vec<Clause> {
    let is_known = plan.link_rate.is_some();
    let buffer =
        if is_known { "calculated from burst, throughput and maximum rate" } else { "not without the rate of the medium" };
    let sizes = list(&test.frame_sizes);
    vec![
        Clause::should(
            REPORTING,
            "a row for each frame size, with the average count",
            format!("a row for each of {sizes}"),
            true,
        ),
        Clause::should(REPORTING, "minimum, maximum and standard deviation", "beside the average", true),
        Clause::should(REPORTING, "the corrected DUT buffer time", buffer, is_known),
        Clause::should(
            REPORTING,
            "a limit of the burst length is reported",
            format!("{}; a value there is \"at least\"", seconds(settings.longest_ns)),
            true,
        ),
    ]
}
