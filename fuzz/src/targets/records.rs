//! The files of a results directory: `trials.jsonl` and `facts.json`. A line that is not a record is reported; all others are unchanged after
//! they are written and parsed again, and can be replayed.

use super::report;
use sixbench_method::record::Facts;
use sixbench_method::replay;
use sixbench_runner::fuzzing::{read_trials, trial_line};

/// Takes the text of a `trials.jsonl`.
pub(crate) fn run_trials(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    let lines = text.split_inclusive('\n').count();
    match read_trials(text) {
        Err(error) => {
            let said = error.to_string();
            assert!(
                (1..=lines).any(|line| said.starts_with(&format!("line {line} "))),
                "no line is named: {said}"
            );
        }
        Ok((records, is_torn)) => {
            assert_eq!(records.len() + usize::from(is_torn), lines);
            let written: String = records.iter().map(trial_line).collect();
            assert_eq!(
                read_trials(&written).expect("what was written"),
                (records.clone(), false)
            );
            let replayed = replay::replay(&report::sample().plan, &records);
            assert!(replayed.finished.len() <= records.len());
        }
    }
}

/// Takes the text of a `facts.json`.
pub(crate) fn run_facts(octets: &[u8]) {
    let Ok(facts) = serde_json::from_slice::<Facts>(octets) else {
        return;
    };
    let written = serde_json::to_string_pretty(&facts).expect("facts can be written");
    assert_eq!(
        serde_json::from_str::<Facts>(&written).expect("what was written"),
        facts
    );
    assert!(
        facts.layouts().len()
            <= facts.layout.len()
                + facts
                    .duts
                    .values()
                    .map(|dut| dut.layout.len())
                    .sum::<usize>()
    );
    assert!(facts.left_out().count() <= facts.not_run.len());
}
