//! The reasons why connections were not created, or were lost again, according to the counters of the DUT's kernel.

use super::losses::counted;
use crate::record::{DropPlace, TrialRecord};
use crate::watch::cause::{Bottleneck, Cause};
use std::fmt;

/// Counters of the connection tracking table that increased, and the number of frames missing in the same trials.
pub(super) struct Refusals {
    /// The refusals by the kernel's name of the counter, largest first.
    counters: Vec<(String, u64)>,
    missing: u64,
}

pub(super) fn table_refusals(trials: &[&TrialRecord]) -> Option<Refusals> {
    let (counters, missing) = counted(
        trials,
        |drops| drops.place == DropPlace::Conntrack,
        |drops| drops.way.clone(),
    );
    (!counters.is_empty()).then_some(Refusals { counters, missing })
}

impl Refusals {
    /// Returns the cause of the losses if the counters explain at least half of the missing frames. Frames of unknown connections are a consequence,
    /// not a cause.
    pub(super) fn as_the_cause(&self) -> Option<Bottleneck> {
        let of_reasons: u64 = self
            .counters
            .iter()
            .filter(|(name, _)| name != "invalid")
            .map(|(_, count)| count)
            .sum();
        let evidence = format!("{self}, of {} missing", self.missing);
        (of_reasons > 0 && 2 * of_reasons >= self.missing).then_some(Bottleneck {
            cause: Cause::ConnectionTable,
            evidence,
        })
    }
}

impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters: Vec<String> = self
            .counters
            .iter()
            .map(|(name, count)| format!("{} ({name}): {count}", meaning(name)))
            .collect();
        f.write_str(&counters.join(", "))
    }
}

/// Returns the meaning of a counter of `/proc/net/stat/nf_conntrack`.
fn meaning(counter: &str) -> &'static str {
    match counter {
        "early_drop" => "the connection tracking table was full and made room by dropping others",
        "insert_failed" => "no free port or bucket",
        "drop" => "table full",
        "invalid" => "frames of unknown connections",
        _ => "connections not created",
    }
}
