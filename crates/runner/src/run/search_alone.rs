//! A search outside of a run, such as that of a server by its address: its trials are evaluated like those of a run, and nothing is written to
//! disk.

use crate::run_clock::RunClock;
use sixbench_method::measures::procedure;
use sixbench_method::patience::Patience;
use sixbench_method::plan::{Plan, Point};
use sixbench_method::record::{FORMAT, TrialRecord, Watch};
use sixbench_method::replay;
use sixbench_method::search::Bracket;
use sixbench_method::trial::{TrialResult, TrialSpec, Verdict};

/// The result of a search.
pub struct SearchFound {
    /// The bracket as in the report of a run with these trials.
    pub bracket: Bracket,
    /// The trials in the order in which they were performed.
    pub results: Vec<TrialResult>,
}

impl SearchFound {
    /// Returns the bracket and the results as JSON, in the order of the trials.
    pub fn json(&self) -> String {
        format!("{:#}", serde_json::json!((self.bracket, &self.results)))
    }
}

/// Performs the trials of the only test of `plan`, and calls `after` with each result and the remaining patience.
///
/// # Errors
/// The errors of `measure` and `after`.
///
/// # Panics
/// The plan has no test, or its test no frame size: readers of plans refuse both.
pub fn search_alone<T, E>(
    plan: &Plan,
    tester: &mut T,
    mut measure: impl FnMut(&mut T, &TrialSpec) -> Result<(TrialResult, Option<Watch>), E>,
    mut after: impl FnMut(&mut T, &TrialResult, Verdict, &mut Patience) -> Result<(), E>,
) -> Result<SearchFound, E> {
    let test = &plan.tests[0];
    let point = Point {
        test: test.name.clone(),
        frame_size: test.frame_sizes[0],
    };
    let mut procedure = procedure(plan, test, point.frame_size, &[], None);
    let (mut records, mut patience) = (Vec::new(), Patience::new(plan, &[]));
    let clock = RunClock::start();
    while let Some(spec) = procedure.next_trial() {
        let started = clock.now().to_string();
        let (result, watch) = measure(tester, &spec)?;
        let (trial, point) = (records.len() as u32 + 1, point.clone());
        let mut record = TrialRecord {
            format: FORMAT,
            point,
            repetition: 1,
            trial,
            load: None,
            started,
            result,
            watch: watch.map(Into::into),
        };
        let judgement = procedure.judgement(&record.result);
        let is_excused = patience.excuse(&mut record, judgement);
        if !is_excused {
            procedure.learn(&record.result);
        }
        after(
            tester,
            &record.result,
            procedure.verdict(&record.result),
            &mut patience,
        )?;
        records.push(record);
    }
    let outcomes = replay::outcomes_of(plan, &point, &records);
    let bracket = outcomes
        .first()
        .and_then(|outcome| outcome.brackets.first().copied());
    let bracket = bracket.expect("the records of a search replay to its result");
    Ok(SearchFound {
        bracket,
        results: records.into_iter().map(|record| record.result).collect(),
    })
}
