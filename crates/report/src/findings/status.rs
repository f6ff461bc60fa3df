//! The status of planned points in words: their results, and why some have none.

use crate::digest::{Digest, PointDigest};
use crate::wording::bound::between;
use crate::wording::faults::kind;
use crate::wording::numbers::{
    capitalised, count, enumerated, full_rate_unit, has_size_in_names, stretch, title,
};
use sixbench_method::lists::by_key;
use sixbench_method::measures::Quantity;
use sixbench_method::plan::Test;
use sixbench_method::status::{
    InvalidCause, InvalidStage, LowerBoundReasons, NoResult, NotRun, PlannedPoint, PointStatus,
    RepetitionCounts, StatusCounts, Stop,
};
use sixbench_method::trial::Fault;
use sixbench_method::units::part_of;

/// The most kinds of faults that are named with a status; the table of faults has all of them.
const MOST_FAULTS: usize = 3;

/// The most names in one sentence about missing points; the table of points has all of them.
const MOST_NAMES: usize = 8;

pub(crate) fn status(status: &PointStatus) -> &'static str {
    match status {
        PointStatus::Result => "result",
        PointStatus::AtLeast(_) => "at least",
        PointStatus::NoResult(_) => "no result",
        PointStatus::NotRun(_) => "not run",
    }
}

/// Returns the reason why a point has no number, or a less complete one than planned; empty if nothing is missing.
pub(crate) fn why(planned: &PlannedPoint) -> String {
    let parts = match &planned.status {
        PointStatus::Result => vec![repetitions(planned)],
        PointStatus::AtLeast(open) => vec![why_open(planned, open), repetitions(planned)],
        PointStatus::NoResult(reason) => vec![why_no_result(planned.test, reason)],
        PointStatus::NotRun(NotRun::LeftToOthers) => {
            vec!["left to other runs of the campaign".to_owned()]
        }
        PointStatus::NotRun(NotRun::LeftOut { why }) => vec![why.clone()],
        PointStatus::NotRun(NotRun::Stopped(stop)) => vec![before(stop)],
    };
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

/// Returns how many repetitions have a result and what happened to the others; empty if all have one.
fn repetitions(planned: &PlannedPoint) -> String {
    let RepetitionCounts {
        with_result,
        made,
        planned: wanted,
    } = planned.repetitions;
    if with_result >= wanted {
        return String::new();
    }
    let have = if with_result == 1 { "has" } else { "have" };
    let stop = planned
        .stop
        .as_ref()
        .filter(|_| made < wanted)
        .map(|stop| format!(": {}", ended(stop)))
        .unwrap_or_default();
    let none = made - with_result;
    let none = if none > 0 {
        format!(", {none} did not produce one")
    } else {
        String::new()
    };
    format!(
        "{with_result} of {} {have} a result{none}{stop}",
        count(wanted.into(), "repetition")
    )
}

fn why_open(planned: &PlannedPoint, open: &LowerBoundReasons) -> String {
    let in_repetitions = |n: u32| {
        format!(
            "in {n} of {}",
            count(planned.repetitions.with_result.into(), "repetition")
        )
    };
    let invalid = match open.cause {
        InvalidCause::Tester => "the tester fell short above it",
        InvalidCause::Disturbed => "other work used the device's processors above it",
        InvalidCause::TesterDisturbed => "other work used the tester's processors above it",
        InvalidCause::Link => "a link to the device went down or damaged frames above it",
        InvalidCause::Connections => "not all connections of phase 1 were opened or kept above it",
        InvalidCause::Names => {
            "the names were not cached as intended above it, or there were too few"
        }
    };
    let maximum = planned.test.measure.info().open_end;
    let disturbed = "other work, or a single event on the machine, may have ended the search";
    let parts = [
        (open.disturbed, disturbed),
        (open.invalid, invalid),
        (open.maximum, maximum),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0);
    parts
        .map(|(n, words)| format!("{words} {}", in_repetitions(n)))
        .collect::<Vec<_>>()
        .join("; ")
}

fn why_no_result(test: &Test, reason: &NoResult) -> String {
    match reason {
        NoResult::Invalid { cause, stage, trials, faults } => {
            format!("{}{}", why_invalid(*cause, *stage), fault_counts(*trials, faults))
        }
        NoResult::NotFound { lower, upper, cause } => {
            let (between, unit) = (between(*lower, *upper), full_rate_unit(&test.measure));
            format!("{between} {unit}, because {}", why_not_found(*cause))
        }
        NoResult::NoLoad => {
            "the device lost frames even at the lowest load of the plan, so there is no throughput to measure at".to_owned()
        }
        NoResult::NothingSeen if test.measure.info().headline == Some(Quantity::RecoveryTime) => {
            "the device lost nothing in the overload, so there was nothing to recover from".to_owned()
        }
        NoResult::NothingSeen => "the trials were valid, but no frame came back to be measured".to_owned(),
        NoResult::Mismatched { trials } => format!(
            "{} on record {} not what this plan requires, because the plan was changed since, or an earlier version judged a trial \
             differently",
            count((*trials).into(), "trial"),
            if *trials == 1 { "is" } else { "are" }
        ),
        NoResult::Unfinished { trials, stop } => {
            format!("not complete after {}, because {}", count((*trials).into(), "trial"), ended(stop))
        }
    }
}

fn why_not_found(cause: InvalidCause) -> &'static str {
    match cause {
        InvalidCause::Tester => "the tester fell short between them",
        InvalidCause::Disturbed | InvalidCause::TesterDisturbed => {
            "other work disturbed the trials between them"
        }
        InvalidCause::Link => "a link to the device went down or damaged frames between them",
        InvalidCause::Connections => {
            "not all connections of phase 1 were opened or kept between them"
        }
        InvalidCause::Names => {
            "the names were not cached as intended between them, or there were too few"
        }
    }
}

fn why_invalid(cause: InvalidCause, stage: InvalidStage) -> &'static str {
    match (cause, stage) {
        (InvalidCause::Names, _) => {
            "the names were not cached as planned at any rate that was tried, or there were too few of them; check the plan's \
             `names` and `ttl` and the server's cache"
        }
        (InvalidCause::Connections, _) => {
            "before every trial phase 1 failed to open all its connections, or they were not kept; lower the plan's \
             `phase-1-rate`, or check the device's table and timeouts"
        }
        (InvalidCause::Disturbed, _) => {
            "other work used the device's processors in the trials that decided"
        }
        (InvalidCause::TesterDisturbed, _) => {
            "other work used the tester's processors in the trials that decided"
        }
        (InvalidCause::Link, _) => {
            "a link between tester and device went down or damaged frames in the trials; check the cable, the transceivers and the device's end of it"
        }
        (InvalidCause::Tester, InvalidStage::Search) => {
            "the tester fell short at every load that was tried"
        }
        (InvalidCause::Tester, InvalidStage::Measurement) => {
            "every trial of the measurement was invalid"
        }
    }
}

/// Returns the faults of invalid trials: ` (9 trials: sent too slowly 9×, receiver stalled 2×)`.
fn fault_counts(trials: u32, faults: &[(Fault, u32)]) -> String {
    let named: Vec<String> = faults
        .iter()
        .take(MOST_FAULTS)
        .map(|(fault, n)| format!("{} {n}×", kind(fault)))
        .collect();
    if named.is_empty() {
        String::new()
    } else {
        format!(" ({}: {})", count(trials.into(), "trial"), named.join(", "))
    }
}

/// Returns the reason why a point was not started.
fn before(stop: &Stop) -> String {
    match stop {
        Stop::Interrupted => "the run was interrupted before it".to_owned(),
        Stop::TimeUp { .. } => ended(stop),
        Stop::SetUpFailed { .. } => ended(stop),
        Stop::Failed { error } => format!("an error ended the run before it: {error}"),
        Stop::CutOff => "the run was killed before it, or is still under way".to_owned(),
        Stop::Unknown => "the run ended before it, for a reason that was not recorded".to_owned(),
    }
}

pub(crate) fn ended(stop: &Stop) -> String {
    match stop {
        Stop::Interrupted => "the run was interrupted".to_owned(),
        Stop::TimeUp { within_s } => format!("the run was to end within {}", stretch(*within_s)),
        Stop::SetUpFailed { dut, error } => format!("the set-up of {dut} failed: {error}"),
        Stop::Failed { error } => format!("an error ended the run: {error}"),
        Stop::CutOff => "the run was killed, or is still under way".to_owned(),
        Stop::Unknown => "the run ended, for a reason that was not recorded".to_owned(),
    }
}

/// Returns the number of points by status: `25 of 34 points have a result, 5 do not, 4 were left out`.
pub(crate) fn counted(digest: &Digest) -> String {
    let counts = StatusCounts::count(&digest.planned);
    let is_left_out = |planned: &&PlannedPoint| {
        matches!(planned.status, PointStatus::NotRun(NotRun::LeftOut { .. }))
    };
    let left_out = digest.planned.iter().filter(is_left_out).count();
    let (with, all) = (counts.with_result(), counts.points);
    let have = if with < 2 { "has" } else { "have" };
    let mut words = format!("{} {have} a result", part_of(with, all, "point"));
    for (number, one, several) in [
        (all - with - left_out, "does not", "do not"),
        (left_out, "was left out", "were left out"),
    ] {
        match number {
            0 => {}
            1 => words += &format!(", 1 {one}"),
            _ => words += &format!(", {number} {several}"),
        }
    }
    words
}

/// Returns sentences on the points without a result, one for each reason: `Not run: Jool; Linux in the lab. There is no kernel lab.`
pub(crate) fn missing(digest: &Digest) -> Vec<String> {
    sentences(digest, |_| true)
}

/// Returns those of the sentences that are on points which were not run.
pub(crate) fn not_run(digest: &Digest) -> Vec<String> {
    sentences(digest, |planned| !was_run(planned))
}

fn was_run(planned: &PlannedPoint) -> bool {
    !matches!(planned.status, PointStatus::NotRun(_))
}

fn sentences(digest: &Digest, is_wanted: fn(&PlannedPoint) -> bool) -> Vec<String> {
    let reason = |planned: &PlannedPoint| match &planned.status {
        PointStatus::NotRun(NotRun::LeftOut { why }) => why.clone(),
        _ => why(planned),
    };
    let reasons = by_test(digest)
        .into_iter()
        .filter(|(_, planned)| is_wanted(planned))
        .map(|(name, planned)| ((was_run(planned), reason(planned)), name));
    by_key(reasons)
        .into_iter()
        .map(|((was_run, why), names)| sentence(was_run, &why, &names))
        .collect()
}

fn sentence(was_run: bool, why: &str, names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let mut shown = names[..names.len() - more].join("; ");
    if more > 0 {
        shown += &format!("; and {more} more in the table of points");
    }
    let said = if was_run { "No result" } else { "Not run" };
    format!(
        "{said}: {shown}. {}.",
        capitalised(why.trim_end_matches('.'))
    )
}

/// Returns the points without a result. Those of one test with the same reason have one name: `TAYGA, reset at 84 and 1518 bytes`, or only that of
/// the test if it has no other points.
fn by_test<'d, 'a>(digest: &'d Digest<'a>) -> Vec<(String, &'d PlannedPoint<'a>)> {
    let without = digest
        .planned
        .iter()
        .filter(|planned| !planned.status.has_result());
    let groups = by_key(without.map(|planned| ((&planned.test.name, why(planned)), planned)));
    let all = |test: &Test| {
        digest
            .planned
            .iter()
            .filter(|planned| planned.test.name == test.name)
            .count()
    };
    let named = |group: &[&PlannedPoint]| {
        if group.len() == all(group[0].test) {
            title(group[0].test)
        } else {
            name(group)
        }
    };
    groups
        .into_iter()
        .map(|(_, group)| (named(&group), group[0]))
        .collect()
}

fn name(points: &[&PlannedPoint]) -> String {
    let test = points[0].test;
    if !has_size_in_names(test) {
        return title(test);
    }
    let sizes: Vec<_> = points
        .iter()
        .map(|planned| planned.point.frame_size)
        .collect();
    format!("{} at {}\u{a0}bytes", title(test), enumerated(&sizes))
}

/// Returns every test with the status of its points: `TAYGA, reset at 84 and 1518 bytes: no result: ...`. If some points have no result, the last line
/// lists those with a plain result.
pub(crate) fn list(digest: &Digest) -> Vec<String> {
    let key = |planned: &PlannedPoint| {
        (
            planned.test.name.clone(),
            planned.status.name(),
            why(planned),
        )
    };
    let planned: Vec<&PlannedPoint> = digest.planned.iter().collect();
    let groups = planned.chunk_by(|a, b| key(a) == key(b));
    let is_plain = |group: &&[&PlannedPoint]| {
        group[0].status == PointStatus::Result && why(group[0]).is_empty()
    };
    let (plain, others): (Vec<_>, Vec<_>) = groups.partition(is_plain);
    let last = format!(
        "result: {}",
        plain
            .iter()
            .map(|group| name(group))
            .collect::<Vec<_>>()
            .join("; ")
    );
    let is_needed = !plain.is_empty()
        && digest
            .planned
            .iter()
            .any(|planned| !planned.status.has_result());
    let last = is_needed.then_some(last);
    others.iter().map(|group| line(group)).chain(last).collect()
}

fn line(group: &[&PlannedPoint]) -> String {
    let why = why(group[0]);
    let because = if why.is_empty() {
        String::new()
    } else {
        format!("; {why}")
    };
    format!("{}: {}{because}", name(group), status(&group[0].status))
}

impl PointDigest<'_> {
    pub(crate) fn planned<'d>(&self, digest: &'d Digest) -> Option<&'d PlannedPoint<'d>> {
        digest
            .planned
            .iter()
            .find(|planned| planned.point == self.point)
    }
}
