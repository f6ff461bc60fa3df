//! What the results are based on: how much was measured, for how long, how often, and what the numbers do not say.

use crate::Input;
use crate::digest::Digest;
use crate::findings::status;
use crate::wording::numbers::{count, seconds, stretch};
use sixbench_method::lists::each_once;
use sixbench_method::measures::SendingTime;
use sixbench_method::plan::{Measure, Plan, Profile, Test};
use sixbench_method::repeat::Repetition;
use sixbench_method::throughput::saved;
use sixbench_method::trial::Verdict;
use std::collections::BTreeSet;

/// Returns the amount of data on which the results are based: tests, points with and without a result, and trials by verdict.
pub(crate) fn tally(digest: &Digest) -> String {
    format!(
        "{}; {}; {}: {} passed, {} {}, {} invalid",
        count(
            digest.input.plan.tests.len() as u64 + digest.input.facts.left_out().count() as u64,
            "test"
        ),
        status::counted(digest),
        count(digest.input.records.len() as u64, "trial"),
        digest.counted(Verdict::Passed),
        digest.counted(Verdict::Lost),
        digest.lost_word("lost frames"),
        digest.counted(Verdict::Invalid),
    )
}

/// Returns the sentences on what the numbers mean and what they do not.
pub(crate) fn notice(digest: &Digest) -> Vec<String> {
    let plan = digest.input.plan;
    let repetitions: BTreeSet<String> = plan
        .tests
        .iter()
        .filter(|test| test.measure.family().has_load())
        .map(|t| repetitions(t.repetitions))
        .collect();
    let repetitions: Vec<String> = repetitions.into_iter().collect();
    let mut notice = vec![
        "Tester and devices share one machine and are joined by virtual links (veth) unless the layout below says otherwise: the \
         numbers rank these devices on this machine. They do not show the performance over a wire and must not be compared with \
         those of other machines."
            .to_owned(),
    ];
    if !repetitions.is_empty() {
        notice.push(format!(
            "A trial lasted {} (RFC 2544 section 24: at least 60 s){} and a measurement was made {} times (RFC 8219: at \
             least 20).{}",
            seconds(plan.trial.duration_ns),
            own_durations(plan),
            repetitions.join(" or "),
            if digest.has_queries_and_others().1 { " All frame rates are per direction." } else { "" },
        ));
    }
    notice.extend(shared_searches(digest));
    notice
}

/// Returns a sentence about what was saved by searching for each throughput only once, or `None` if nothing was.
fn shared_searches(digest: &Digest) -> Option<String> {
    let saved = saved(digest.input.plan, digest.input.outcomes);
    (saved.points > 0).then(|| {
        format!(
            "Every throughput was searched for in one test only, and measurements at the throughput use the median of those \
             searches: for {}, this saved searches of {} in total, {} or more.",
            count(saved.points.into(), "point"),
            count(saved.trials.into(), "trial"),
            stretch(saved.time_ns / 1_000_000_000),
        )
    })
}

/// Returns the durations of measures that set their own: `, of latency 120 s`.
fn own_durations(plan: &Plan) -> String {
    let duration = |measure: &Measure| match measure.sending() {
        _ if !measure.family().has_load() => None,
        SendingTime::For(ns) => Some(ns),
        SendingTime::AsPlanned | SendingTime::AtMost(_) | SendingTime::UntilConnected => None,
    };
    let of = |t: &Test| {
        duration(&t.measure).map(|ns| format!(", of {} {}", t.measure.name(), seconds(ns)))
    };
    each_once(plan.tests.iter().filter_map(of)).concat()
}

/// Returns the planned repetitions: `20`, or `6 to 20`; the tables have the actual number.
fn repetitions(repetition: Repetition) -> String {
    match repetition {
        Repetition::Fixed(count) => count.to_string(),
        Repetition::Adaptive { least, most, .. } => format!("{least} to {most}"),
    }
}

/// Returns a sentence on what a conformant run would take; `None` if the plan has the profile `rfc` or the cost is unknown.
pub(crate) fn conformant_run(input: &Input) -> Option<String> {
    let budget = input
        .rfc_budget
        .filter(|_| input.plan.profile != Profile::Rfc)?;
    let (trials, time) = (
        count(budget.trials.into(), "trial"),
        stretch(budget.seconds),
    );
    Some(format!("The conformant run would need {trials}, {time}:"))
}
