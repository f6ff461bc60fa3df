//! Throughput, RFC 2544 section 26.1 and RFC 8219 section 7.1: the highest rate at which every offered frame comes back correctly.

use super::clauses::{goals, several_times};
use super::info::HIGHEST_LOAD_PASSED;
use super::loads::Loads;
use super::{
    Family, Info, Measurement, Procedure, ProcedureContext, SearchedRate, SendingTime, Term,
    TestContext, TrafficRequirements, search_goals,
};
use crate::clause::Clause;
use crate::clause::numbers::{percent, seconds};
use crate::plan::{Profile, Stateful};
use crate::terms::LossRatio;
use crate::trial::TrialKind;

/// The measurement; its only settings are the plan's.
pub(super) struct Throughput;

const THROUGHPUT: &str = "RFC 2544 section 26.1";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "throughput",
        definition: "The highest rate at which the DUT forwards every frame it is offered.",
        clause: "RFC 2544 section 26.1, RFC 8219 section 7.1",
        here: "A search over loads; at each load a trial in which every frame is numbered, verified and accounted for. It \
               passes only if every offered frame came back correctly, in every loaded direction, and the tester kept its \
               schedule.",
        unit: "frames per second, per direction",
    },
    summary: "the highest rate without loss (RFC 2544 section 26.1, RFC 8219 section 7.1)",
    family: Family::Frames,
    traffic: TrafficRequirements::All,
    demand: None,
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: true,
    searches_phase_one: false,
    repetitions: 20,
    searched: Some(SearchedRate::Throughput),
    quantities: &[],
    headline: None,
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl Measurement for Throughput {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Searched
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let mut clauses = vec![
            zero_loss(test),
            search(test),
            theoretical_line(test),
            Clause::must(
                THROUGHPUT,
                "the rate is given in frames per second",
                "frames/s, per direction",
                true,
            ),
            Clause::must(
                THROUGHPUT,
                "a single figure comes with rate, frame size, theoretical limit and protocol",
                if test.link_rate.is_some() {
                    "all four"
                } else {
                    "rate, frame size and protocol, no limit"
                },
                test.link_rate.is_some(),
            )
            .or_in_part(true),
            several_times(test.repetitions, "RFC 8219 section 12"),
        ];
        clauses.extend(search_goals::clauses(test));
        clauses
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(context.throughput())
    }
}

/// Returns the clause on zero loss: any goal of zero loss finds the throughput; other goals are listed with their loss.
fn zero_loss(test: &TestContext<'_>) -> Clause {
    let has_goal = test.search.goals.is_empty() || test.search.goals.contains(&LossRatio::ZERO);
    let actual = match test.search.certainty {
        Some(certainty) if certainty.exceed_ratio > 0.0 => format!(
            "{}, which {} of {} of trials at a load may exceed",
            goals(test),
            percent(certainty.exceed_ratio),
            seconds(certainty.duration_sum_ns)
        ),
        _ => goals(test),
    };
    Clause::must(
        THROUGHPUT,
        "the fastest rate at which as many frames are received as sent",
        actual,
        has_goal && !test.search.tolerates_lossy_trials(),
    )
}

fn search(test: &TestContext<'_>) -> Clause {
    let method = test.search.method.info().title;
    let width = percent(test.search.width);
    let (trials, start) = (seconds(test.trial.duration_ns), test.search.start.phrase());
    let actual = format!("{method}, to {width}, with trials of {trials}; {start}");
    Clause::must(
        THROUGHPUT,
        "after a loss the rate is reduced and the test is run again",
        actual,
        true,
    )
}

fn theoretical_line(test: &TestContext<'_>) -> Clause {
    let actual = match test.link_rate {
        Some(rate) => format!("both lines, for {} Mbit/s", rate as f64 / 1e6),
        None => "no theoretical line; the plan does not know the rate of the medium".to_owned(),
    };
    let requirement =
        "a graph of the rate over the frame size, with the theoretical rate of the medium";
    Clause::should(THROUGHPUT, requirement, actual, test.link_rate.is_some())
}
