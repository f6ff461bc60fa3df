//! A search outside of a run as it is told: a line for each trial, and what was found as a sentence with an exit code.

use crate::exit::{Exit, Failed};
use crate::output::{self, tell, tell_progress};
use sixbench_method::patience::Patience;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{TrialResult, Verdict};
use sixbench_report::event_words;
use sixbench_runner::{SearchFound, stop, wait_until_quiet};
use sixbench_testbed::monitor::Occupant;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Prints a trial of a search, waits until other work has left the cores if the trial is made again, and rests.
pub(super) fn settle_trial(
    result: &TrialResult,
    verdict: Verdict,
    patience: &mut Patience,
    stop: &AtomicBool,
    occupant: impl FnMut() -> Option<Occupant>,
    rest: Duration,
) -> Result<(), Failed> {
    tell_progress(event_words::trial(result, verdict));
    if result.was_made_again() {
        wait_until_quiet(patience, stop, jiff::Timestamp::now, occupant, |text| {
            tell_progress(text);
        })?;
    }
    Ok(stop::rest(stop, rest)?)
}

pub(super) struct SearchWords<'a> {
    /// The subject of the search, such as `the server`.
    pub(super) subject: &'a str,
    /// The unit of its rates, such as `queries/s`.
    pub(super) unit: &'a str,
    /// The words after a rate that passed, such as `, all answered correctly within 1s`.
    pub(super) passed: &'a str,
    /// The option that sets the highest rate.
    pub(super) maximum_option: &'a str,
    /// The lowest rate of the search.
    pub(super) minimum: FrameRate,
}

/// The sentence about a search, and the exit code. Both follow from the bracket alone, in every output format.
pub(super) struct Conclusion {
    pub(super) exit: Exit,
    pub(super) words: String,
}

impl Conclusion {
    pub(super) fn new(bracket: &Bracket, of: &SearchWords<'_>) -> Self {
        let maximum = format!("{} is the highest that was tried", of.maximum_option);
        let (exit, open) = match bracket.limit {
            Limit::Dut => (Exit::Done, ""),
            Limit::Maximum => (Exit::Done, maximum.as_str()),
            Limit::Tester => (Exit::TesterUnfit, "the tester fell short"),
            Limit::Disturbed => (Exit::TesterUnfit, "other work disturbed the trials"),
        };
        let SearchWords {
            unit,
            passed,
            subject,
            minimum: FrameRate(lowest),
            ..
        } = of;
        let words = match (bracket.lower, exit) {
            (Some(FrameRate(rate)), _) if open.is_empty() => format!("{rate} {unit}{passed}"),
            (Some(FrameRate(rate)), _) => format!("at least {rate} {unit}{passed}; {open}"),
            (None, Exit::Done) => format!("nothing passed, not even {lowest} {unit}"),
            (None, _) => format!("{subject}'s limit is not known: {open} down to {lowest} {unit}"),
        };
        Self { exit, words }
    }

    /// Prints the result of a search, as JSON if that is asked for, and the reason for an exit code other than 0.
    pub(super) fn print(self, found: &SearchFound, is_json: bool) -> Result<Exit, Failed> {
        output::line(if is_json { found.json() } else { self.words })?;
        if self.exit != Exit::Done {
            tell!("{}", self.exit.with_meaning());
        }
        Ok(self.exit)
    }
}
