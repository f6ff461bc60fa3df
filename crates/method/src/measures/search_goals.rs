//! The clauses of RFC 9971 on a search of its kind: the attributes of its goals, and what the report says of them.

use super::TestContext;
use super::clauses::goals;
use crate::clause::Clause;
use crate::clause::numbers::{SECOND_NS, percent, seconds};
use crate::search::{Certainty, SearchMethod};
use crate::terms::LossRatio;

/// Returns the clauses of RFC 9971, if the search is its own: the attributes of the goals, and the known goals that are among them.
pub(super) fn clauses(test: &TestContext<'_>) -> Vec<Clause> {
    if test.search.method != SearchMethod::Mlrsearch {
        return Vec::new();
    }
    let duration_ns = test.trial.duration_ns;
    let certainty = test
        .search
        .certainty
        .unwrap_or(Certainty::one_trial(duration_ns));
    let attributes = format!(
        "{}; final trial duration {}, duration sum {}, exceed ratio {}",
        goals(test),
        seconds(duration_ns),
        seconds(certainty.duration_sum_ns),
        percent(certainty.exceed_ratio)
    );
    let reported = Clause::must(
        "RFC 9971 section 4.9.3",
        "the report has all attributes of the search goals",
        attributes,
        true,
    );
    [reported, irregular_results()]
        .into_iter()
        .chain(loss_of_a_trial(test))
        .chain(known_goal(test, certainty))
        .collect()
}

/// Returns the clause on a goal that RFC 9971 says to be that of another document, if the test has one.
fn known_goal(test: &TestContext<'_>, certainty: Certainty) -> Option<Clause> {
    if !test.search.goals.contains(&LossRatio::ZERO) {
        return None;
    }
    let trial_ns = test.trial.duration_ns;
    let trials = seconds(trial_ns);
    if certainty.exceed_ratio == 0.0 {
        let actual = if trial_ns >= 60 * SECOND_NS {
            "unconditionally".to_owned()
        } else {
            format!("conditionally: trials of {trials} instead of 60 s")
        };
        let requirement = "the goal of no loss is that of RFC 2544 section 24";
        return Some(Clause::may("RFC 9971 section 4.10.2", requirement, actual));
    }
    (certainty == Certainty::tst009(trial_ns)).then(|| {
        Clause::may(
            "RFC 9971 section 4.10.3",
            "the goal of no loss is that of ETSI GS NFV-TST 009 with max(r) = 2",
            format!("with trials of {trials}"),
        )
    })
}

/// Returns the clause on the loss of a trial in two directions, which only matters where loss is accepted: none in both together is none in each.
fn loss_of_a_trial(test: &TestContext<'_>) -> Option<Clause> {
    let accepts_loss = test.search.goals.iter().any(|goal| *goal > LossRatio::ZERO);
    let clause = Clause::should(
        "RFC 9971 section 4.5.5",
        "the loss of a trial is that of the frames of all directions together",
        "that of the direction which lost more, so that no load passes which RFC 9971 would not let pass",
        false,
    );
    accepts_loss.then(|| clause.or_in_part(true))
}

fn irregular_results() -> Clause {
    Clause::must(
        "RFC 9971 section 4.8.4",
        "results without both relevant bounds are marked",
        "with \u{2265}, and the reason why the search ended",
        true,
    )
}
