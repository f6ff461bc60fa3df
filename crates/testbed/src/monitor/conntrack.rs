//! The kernel's connection tracking table in the DUT's namespace: the number of entries, and why connections were not created or were lost. Reading
//! it from outside takes microseconds, whereas `conntrack -C` would take milliseconds of the DUT's core.

use sixbench_method::record::{DropPlace, Drops, LossSource};

/// The counters that explain why connections are missing. The others in the file count successes.
const LOSSES: [&str; 4] = ["invalid", "insert_failed", "drop", "early_drop"];

/// The table at one time. All values are zero if the kernel has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConntrackCounters {
    entries: u64,
    losses: [u64; LOSSES.len()],
}

/// Returns the current state of the table in the network namespace of the process `holder`.
pub(super) fn snapshot(holder: u32) -> ConntrackCounters {
    parse(
        &std::fs::read_to_string(format!("/proc/{holder}/net/stat/nf_conntrack"))
            .unwrap_or_default(),
    )
}

/// Parses a line of names, then one of hexadecimal numbers for each core. `entries` covers the whole table and is the same in every line.
fn parse(text: &str) -> ConntrackCounters {
    let mut lines = text.lines();
    let names: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let mut snapshot = ConntrackCounters::default();
    for line in lines {
        let numbers = line
            .split_whitespace()
            .map(|number| u64::from_str_radix(number, 16).unwrap_or(0));
        for (name, number) in names.iter().zip(numbers) {
            if *name == "entries" {
                snapshot.entries = number;
            }
            if let Some(at) = LOSSES.iter().position(|loss| loss == name) {
                snapshot.losses[at] += number;
            }
        }
    }
    snapshot
}

/// The table with the number of entries from which it is full, before or after a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConntrackLimit {
    counters: ConntrackCounters,
    /// `nf_conntrack_max`; 0 if it is not known, or if there is no limit.
    most: u64,
}

impl ConntrackLimit {
    /// Parses `/proc/net/stat/nf_conntrack` and `nf_conntrack_max`.
    pub(super) fn parse(counters: &str, most: &str) -> Self {
        Self {
            counters: parse(counters),
            most: most.trim().parse().unwrap_or(0),
        }
    }

    /// Returns the frames that were dropped since `before`, and whether it was for want of room. `drop` alone does not say it: the kernel also counts there
    /// what a protocol's checks refuse. A full table makes room if it can (`early_drop`), and its entries outlive the trial.
    pub(super) fn dropped(&self, before: &Self) -> Option<(LossSource, String, u64)> {
        let grown = |name: &str| {
            let at = LOSSES.iter().position(|loss| *loss == name)?;
            Some(self.counters.losses[at].saturating_sub(before.counters.losses[at]))
        };
        let frames = grown("drop").filter(|frames| *frames > 0)?;
        let is_nearly_full = 10 * self.counters.entries >= 9 * self.most;
        let was_full = self.most > 0 && (is_nearly_full || grown("early_drop") > Some(0));
        Some(if was_full {
            (
                LossSource::ConntrackFull,
                format!("nf_conntrack_max = {}", self.most),
                frames,
            )
        } else {
            (LossSource::Conntrack, "drop".to_owned(), frames)
        })
    }
}

/// Returns the entries at each sample, if there ever were any.
pub(super) fn entries(snapshots: &[ConntrackCounters]) -> Vec<u64> {
    let entries: Vec<u64> = snapshots.iter().map(|snapshot| snapshot.entries).collect();
    if entries.iter().all(|entries| *entries == 0) {
        Vec::new()
    } else {
        entries
    }
}

/// Returns the increments per interval of the counters that changed.
pub(super) fn watched(snapshots: &[ConntrackCounters]) -> Vec<Drops> {
    LOSSES
        .iter()
        .enumerate()
        .filter_map(|(at, name)| {
            let moved =
                |pair: &[ConntrackCounters]| pair[1].losses[at].saturating_sub(pair[0].losses[at]);
            let samples: Vec<u64> = snapshots.windows(2).map(moved).collect();
            let is_moving = samples.iter().any(|count| *count > 0);
            is_moving.then(|| Drops {
                place: DropPlace::Conntrack,
                way: (*name).to_owned(),
                samples,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_CORES: &str =
        "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error
0000270c  00000000 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000002 00000003 00002714 00000000
0000270c  00000000 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000000
";

    #[test]
    fn counters_are_of_all_cores_and_entries_of_the_table() {
        let snapshot = parse(TWO_CORES);
        assert_eq!(snapshot.entries, 9_996);
        assert_eq!(snapshot.losses, [2, 2, 3, 10_005]);
    }

    #[test]
    fn only_counters_that_moved_are_kept() {
        let snapshots = [parse(""), parse(TWO_CORES), parse(TWO_CORES)];
        let drops = watched(&snapshots);
        assert_eq!(drops.len(), 4);
        assert_eq!(
            (drops[3].way.as_str(), &drops[3].samples[..]),
            ("early_drop", &[10_005, 0][..])
        );
        assert_eq!(entries(&snapshots), [0, 9_996, 9_996]);
        assert!(entries(&[parse("")]).is_empty());
    }
}
