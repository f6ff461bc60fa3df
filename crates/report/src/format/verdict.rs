//! The result of a run in sentences. They claim no more than the numbers show: "at least" if the plan ended the search, "limited by the tester" if it
//! fell short, "no difference shown" if ranges overlap.

use crate::digest::{Digest, PointDigest};
use crate::findings::status;
use crate::subject::{SUBJECTS, requirements};
use sixbench_analysis::trust::{Trust, TrustLevel};
use sixbench_method::plan::Test;
use sixbench_method::status::Stop;
use sixbench_method::units::part_of;

/// Returns the first sentence of the report, and beside it the one on requirements, if devices were asked for them. With several hosts, it is about the
/// first with a throughput. Its lines are short, so percentages in users' titles get no-break spaces, too.
pub(crate) fn headline(digest: &Digest) -> String {
    let measured = of_first_host(digest)
        .or_else(|| rates(digest).into_iter().next())
        .or_else(|| values_of(digest, |test| test.measure.result_kind().varies()).next());
    let sentences: Vec<String> = measured
        .into_iter()
        .chain(of_requirements(digest))
        .collect();
    let headline = if sentences.is_empty() {
        nothing(digest)
    } else {
        sentences.join(" ")
    };
    headline.replace(" %", "\u{a0}%")
}

/// Returns the sentence on the requirements of all devices that were asked for them.
fn of_requirements(digest: &Digest) -> Option<String> {
    requirements::sentence(digest).or_else(|| {
        let mut asked = digest
            .points
            .iter()
            .filter(|point| point.requirements().is_some());
        asked.next().and_then(requirements::sentence_on)
    })
}

/// Returns the headline of the first host that has one.
fn of_first_host(digest: &Digest) -> Option<String> {
    let of_hosts = digest.of_each_host(|host| {
        SUBJECTS
            .into_iter()
            .find_map(|subject| subject.headline(host))
    });
    of_hosts
        .into_iter()
        .find_map(|(host, sentence)| Some(on_host(&host, sentence?)))
}

/// Returns a sentence with the host that it is about, if there are several.
fn on_host(host: &str, sentence: String) -> String {
    if host.is_empty() {
        sentence
    } else {
        format!("On {host}: {sentence}")
    }
}

/// Returns the verdict as sentences, the most important first.
pub(crate) fn sentences(digest: &Digest) -> Vec<String> {
    let mut sentences = rates(digest);
    sentences.extend(values(digest));
    if sentences.is_empty() {
        return std::iter::once(nothing(digest))
            .chain(reservations_of_subjects(digest))
            .chain(status::missing(digest))
            .collect();
    }
    sentences.extend(status::missing(digest));
    sentences.extend(reservations(digest));
    sentences
}

/// Returns the reservations about the results: which of them say little, and whether the run is incomplete.
pub(crate) fn reservations(digest: &Digest) -> Vec<String> {
    reservations_of_subjects(digest)
        .chain(disturbed(digest))
        .chain(caution(digest))
        .chain(progress(digest))
        .collect()
}

/// Returns the sentences that compare rates and numbers of connections; the results of other measures are not ranked.
pub(crate) fn rates(digest: &Digest) -> Vec<String> {
    let of_hosts = digest.of_each_host(rates_of_host).into_iter();
    of_hosts
        .flat_map(|(host, sentences)| {
            sentences
                .into_iter()
                .map(move |sentence| on_host(&host, sentence))
        })
        .collect()
}

fn rates_of_host(digest: &Digest) -> Vec<String> {
    let overviews = SUBJECTS
        .into_iter()
        .flat_map(|subject| subject.overview(digest));
    let comparisons = digest
        .of_each_group(rates_of_group)
        .into_iter()
        .flat_map(|(_, sentences)| sentences);
    overviews.chain(comparisons).collect()
}

fn rates_of_group(digest: &Digest) -> Vec<String> {
    SUBJECTS
        .into_iter()
        .flat_map(|subject| subject.comparisons(digest))
        .collect()
}

/// Returns the sentences on the results that are not ranked: one for each test, at its smallest frame size with a result, in the worse direction.
fn values(digest: &Digest) -> Vec<String> {
    values_of(digest, |_| true).collect()
}

/// Returns the same of these tests.
fn values_of<'d>(
    digest: &'d Digest,
    is_wanted: fn(&Test) -> bool,
) -> impl Iterator<Item = String> + 'd {
    let tests = digest.input.plan.tests.iter();
    tests
        .filter(move |test| digest.is_compared(test) && is_wanted(test))
        .filter_map(move |test| {
            digest
                .points
                .iter()
                .filter(|point| point.test.name == test.name)
                .find_map(of_point)
        })
}

/// Returns the sentence on the result of one point; `None` if it has none or is ranked.
pub(crate) fn of_point(point: &PointDigest) -> Option<String> {
    SUBJECTS
        .into_iter()
        .find_map(|subject| subject.point_sentence(point))
}

fn reservations_of_subjects(digest: &Digest) -> impl Iterator<Item = String> {
    SUBJECTS
        .into_iter()
        .flat_map(|subject| subject.reservations(digest))
}

/// Returns a sentence on why a run without any result ended.
pub(crate) fn nothing(digest: &Digest) -> String {
    let trials = crate::wording::numbers::count(digest.input.records.len() as u64, "trial");
    let what = match stop(digest) {
        _ if !digest.input.interrupted => "There is no result".to_owned(),
        Stop::SetUpFailed { dut, error } => format!("The set-up of {dut} failed: {error}"),
        Stop::Failed { error } => {
            format!("An error ended the run before its first result: {error}")
        }
        Stop::CutOff => {
            "The run has no result: it was killed before the first one, or is still under way"
                .to_owned()
        }
        Stop::Interrupted | Stop::Unknown => {
            "The run was interrupted before its first result".to_owned()
        }
        Stop::TimeUp { .. } => "The run's time was up before its first result".to_owned(),
    };
    format!("{what}; {trials} recorded.")
}

fn stop(digest: &Digest) -> Stop {
    let stops = || {
        digest
            .planned
            .iter()
            .filter_map(|planned| planned.stop.as_ref())
    };
    let set_up = stops()
        .find(|stop| matches!(stop, Stop::SetUpFailed { .. }))
        .cloned();
    set_up.unwrap_or_else(|| Stop::from_facts(digest.input.facts))
}

/// Returns a sentence on how many trials were disturbed by other work, except those that were repeated, which decide nothing; `None` if there were
/// none. Its counts and its advice are those of the line on trust.
fn disturbed(digest: &Digest) -> Option<String> {
    let (found, level) = digest.trust.as_ref()?.disturbed_trials()?;
    let advice = match level {
        TrustLevel::High => "These are too few for a median to depend on them.",
        TrustLevel::Fair | TrustLevel::Low => {
            "A rate decided by one of them is a lower bound, and a delay an upper bound. Run again on a quiet machine."
        }
    };
    (found.not_made_again() > 0).then(|| {
        format!(
            "Other work used the cores of the device or the tester in {} that were not repeated. {advice}",
            part_of(found.not_made_again(), found.deciding(), "trial")
        )
    })
}

/// Returns a caution if there are single repetitions: they show no spread, without which a small difference means nothing.
fn caution(digest: &Digest) -> Option<String> {
    let has_single = digest
        .trust
        .as_ref()
        .is_some_and(Trust::has_single_repetition);
    has_single.then(|| {
        "Where n = 1, nothing is known about the spread, so small differences mean nothing."
            .to_owned()
    })
}

fn progress(digest: &Digest) -> Option<String> {
    let (made, planned) = digest.repetitions();
    let cause = match stop(digest) {
        _ if !digest.input.interrupted => "The run is incomplete",
        Stop::SetUpFailed { .. } | Stop::Failed { .. } => "An error ended the run",
        Stop::CutOff => "The run was killed or is still under way",
        Stop::Interrupted | Stop::Unknown => "The run was interrupted",
        Stop::TimeUp { .. } => "The run's time was up",
    };
    (made < planned).then(|| {
        format!(
            "{cause}: {} {} made.",
            part_of(made as usize, planned as usize, "repetition"),
            if made < 2 { "was" } else { "were" }
        )
    })
}
