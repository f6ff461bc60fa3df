//! A single trial in words.

mod connections;
mod counts;
mod queries;

pub use connections::connections;
pub use counts::{direction, exchange};
pub use queries::queries;

use crate::wording::anomalies;
use crate::wording::event_words::word as verdict_word;
use sixbench_method::record::{LossCounter, Watch};
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::tcp::TcpResult;
use sixbench_method::trial::{TrialKind, TrialResult};
use sixbench_method::units::{counted, show_ns, show_rate};

/// Returns the counters of the device's kernel that grew in a trial which lost much, one per line.
fn losses(result: &TrialResult, watch: &Watch) -> String {
    let missing = result.not_received();
    let line = |counter: &LossCounter| {
        let advice = counter
            .advice()
            .map_or_else(String::new, |advice| format!("; {advice}"));
        format!("  device: of {missing} missing, {counter}{advice}\n")
    };
    watch.losses.iter().map(line).collect()
}

/// Returns what was asked of a trial, what it counted, and what the device's kernel counted as lost, in lines.
pub fn trial(result: &TrialResult, watch: &Watch) -> String {
    let spec = result.spec;
    let verdict = verdict_word(result.verdict(LossRatio::ZERO));
    let (rate, time) = (show_rate(spec.rate), show_ns(spec.duration_ns));
    let mut text = match spec.kind {
        TrialKind::Establish {
            connections,
            validation,
        } => {
            format!(
                "{} opened at {rate}/s, then validated at {}/s: {verdict}\n",
                counted(connections, "connection"),
                show_rate(validation)
            )
        }
        TrialKind::Response => {
            format!("{rate} requests/s for {time}, each to be answered: {verdict}\n")
        }
        _ => format!("{rate} frames/s per direction for {time}: {verdict}\n"),
    };
    text += &result
        .exchange()
        .map_or(String::new(), |found| exchange(&found));
    text += &result.phase_one_result().map_or(String::new(), connections);
    result
        .directions
        .iter()
        .for_each(|counts| text += &direction(counts));
    let resets = result
        .tcp()
        .map(TcpResult::resets_in_words)
        .unwrap_or_default();
    for line in &resets {
        text += &format!("  connections: {line}\n");
    }
    text += &anomalies::of_trial(result);
    result
        .faults
        .iter()
        .for_each(|fault| text += &format!("  tester: {fault}\n"));
    text + &losses(result, watch)
}
