//! The procedure of a trial: RFC 2544 sections 10, 20, 23 and 24.

use crate::clause::Clause;
use crate::clause::numbers::{SECOND_NS, seconds};
use crate::measures::{Family, Noun, SendingTime};
use crate::plan::{Plan, Test};
use crate::search::Goal;

/// Returns the clauses that apply to every kind of trial, and those on searches if there is one.
pub(super) fn clauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    match test.measure.family() {
        // The phases and frames of a DNS trial are those of RFC 8219 section 9.
        Family::Queries => return vec![rest(plan, test)],
        Family::Vectors => return Vec::new(),
        Family::Frames | Family::Requests | Family::PhaseOne | Family::Tcp => {}
    }
    let mut clauses = pauses(plan, test);
    clauses.extend(ramp(test));
    clauses.extend(verification());
    if is_searched(test) || is_of_planned_frames(test) {
        clauses.push(duration(plan));
    }
    if is_searched(test) {
        clauses.push(maximum_rate(plan, test));
        clauses.extend(shorter_trials(plan));
    }
    clauses
}

/// Returns whether the measurement rests on a search for the throughput, either its own or that for the load it is made at.
fn is_searched(test: &Test) -> bool {
    test.measure.finds_the_load() || test.measure.is_at_throughput()
}

/// Returns whether the trials send frames for the duration in the plan.
fn is_of_planned_frames(test: &Test) -> bool {
    test.measure.sending() == SendingTime::AsPlanned && test.measure.family().noun() == Noun::Frames
}

fn pauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    let trial = test.trial_settings(plan);
    let timeout = trial.frame_timeout_ns;
    // A frame that arrives after its timeout but before the end of the wait counts as received in RFC 2544, and as late here.
    let is_residual =
        trial.residual_ns >= 2 * SECOND_NS && (timeout == 0 || timeout >= 2 * SECOND_NS);
    let residual = match timeout {
        0 => seconds(trial.residual_ns),
        _ => format!(
            "{}; a frame later than {} does not count as received",
            seconds(trial.residual_ns),
            seconds(timeout)
        ),
    };
    vec![
        Clause::should(
            "RFC 2544 section 23",
            "a wait of 2 s for residual frames",
            residual,
            is_residual,
        ),
        rest(plan, test),
    ]
}

/// Returns the clause on the ramp before each trial, if there is one.
fn ramp(test: &Test) -> Option<Clause> {
    let ramp_ns = test.traffic.ramp_ns?;
    let actual = format!(
        "test frames at a rising load for {} before each trial, which count apart: a device that loses the first frames of a flow loses them there",
        seconds(ramp_ns)
    );
    Some(Clause::should(
        "RFC 2544 section 23",
        "only routing updates and learning frames are sent before the trial",
        actual,
        false,
    ))
}

fn rest(plan: &Plan, test: &Test) -> Clause {
    let rest_ns = test.trial_settings(plan).rest_ns;
    let requirement = "at least 5 s for the DUT to restabilise";
    Clause::should(
        "RFC 2544 section 23",
        requirement,
        seconds(rest_ns),
        rest_ns >= 5 * SECOND_NS,
    )
}

fn duration(plan: &Plan) -> Clause {
    let duration_ns = plan.trial.duration_ns;
    Clause::should(
        "RFC 2544 section 24",
        "trials of at least 60 s",
        seconds(duration_ns),
        duration_ns >= 60 * SECOND_NS,
    )
}

/// Returns a clause on the shorter trials of a search, if it has any.
fn shorter_trials(plan: &Plan) -> Option<Clause> {
    let goal = Goal::rfc2544(plan.search.width, plan.trial.duration_ns);
    let is_shorter = goal.initial_duration_ns < goal.final_duration_ns;
    let actual = || {
        format!(
            "from {} on; bounds come from trials of {}",
            seconds(goal.initial_duration_ns),
            seconds(goal.final_duration_ns)
        )
    };
    let requirement = "a search may use shorter trials, if the final value comes from full ones";
    (plan.search.method.info().has_shorter_trials && is_shorter)
        .then(|| Clause::may("RFC 2544 section 24", requirement, actual()))
}

fn maximum_rate(plan: &Plan, test: &Test) -> Clause {
    let maximum = test.search_settings(plan).maximum;
    let requirement = "the highest rate tried is the theoretical maximum of the medium";
    let (actual, is_met) = match test.context(plan).highest_theoretical() {
        None => (
            format!("{maximum}; the plan does not know the rate of the medium"),
            false,
        ),
        Some(most) => (
            format!("{maximum}; the medium carries {most} at the smallest size"),
            maximum >= most,
        ),
    };
    Clause::should("RFC 2544 section 20", requirement, actual, is_met)
}

fn verification() -> Vec<Clause> {
    const SECTION: &str = "RFC 2544 section 10";
    vec![
        Clause::should(
            SECTION,
            "frames other than forwarded test frames are not counted as received",
            "distinguished by their tag, counted as foreign",
            true,
        ),
        Clause::should(
            SECTION,
            "the length of received frames is verified",
            "length and every field, compared with the expected frame",
            true,
        ),
        Clause::should(
            SECTION,
            "sequence numbers are sent and checked; lost, reordered and duplicate frames and the gaps in the numbering are reported",
            "one bit for each number, all counts in every trial; gaps with their lengths (RFC 3357), reordering with its extent (RFC 4737)",
            true,
        ),
    ]
}
