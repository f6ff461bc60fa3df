//! Determines where the DUT's kernel drops frames, from the counters of its interfaces and of the queue between an interface and its core.

use super::NetnsHolder;
use sixbench_method::record::{DropPlace, Drops};
use std::collections::BTreeMap;

pub(super) type DropCounters = BTreeMap<(DropPlace, &'static str), u64>;

/// Returns the current counters of the held network namespaces.
pub(super) fn snapshot(holders: &[NetnsHolder]) -> DropCounters {
    let mut counters: DropCounters = holders.iter().flat_map(of_namespace).collect();
    if !holders.is_empty() {
        let queues = std::fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
        counters.insert((DropPlace::Backlog, "received"), parse_queues(&queues));
    }
    counters
}

fn of_namespace(holder: &NetnsHolder) -> DropCounters {
    let interfaces =
        std::fs::read_to_string(format!("/proc/{}/net/dev", holder.process)).unwrap_or_default();
    parse_interfaces(
        &interfaces,
        &holder
            .device
            .iter()
            .map(|device| format!("{device}: "))
            .collect::<String>(),
    )
}

/// Parses lines `name: bytes packets errs drop fifo frame compressed multicast | bytes packets errs drop fifo colls carrier compressed`. Names are
/// prefixed with that of the device if there are several.
fn parse_interfaces(text: &str, device: &str) -> DropCounters {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .flat_map(|(name, counters)| parse_interface(device.to_owned() + name.trim(), counters))
        .collect()
}

fn parse_interface(name: String, counters: &str) -> Vec<((DropPlace, &'static str), u64)> {
    let fields: Vec<u64> = counters
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [
        _,
        _,
        receive_errors,
        receive_drops,
        receive_fifo,
        _,
        _,
        _,
        _,
        _,
        send_errors,
        send_drops,
        send_fifo,
        ..,
    ] = fields[..]
    else {
        return Vec::new();
    };
    let place = DropPlace::Interface(name);
    vec![
        (
            (place.clone(), "received"),
            receive_errors + receive_drops + receive_fifo,
        ),
        ((place, "sent"), send_errors + send_drops + send_fifo),
    ]
}

/// Sums the second, hexadecimal column: frames dropped because a core's queue was full. All cores, because the tester's own queues stay empty.
fn parse_queues(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok())
        .sum()
}

/// Returns the increments per interval of the counters that changed.
pub(super) fn watched(snapshots: &[DropCounters]) -> Vec<Drops> {
    let Some(last) = snapshots.last() else {
        return Vec::new();
    };
    last.keys()
        .filter_map(|key| {
            let at = |snapshot: &DropCounters| snapshot.get(key).copied().unwrap_or(0);
            let samples: Vec<u64> = snapshots
                .windows(2)
                .map(|pair| at(&pair[1]).saturating_sub(at(&pair[0])))
                .collect();
            let (place, way) = (key.0.clone(), key.1.to_owned());
            samples.iter().any(|frames| *frames > 0).then_some(Drops {
                place,
                way,
                samples,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "Inter-|   Receive |  Transmit\n face |bytes packets\n  left: 90 5 0 2 0 0 0 0 90 5 0 0 0 0 0 0\n";

    #[test]
    fn only_counters_that_moved_are_kept() {
        let after = BEFORE.replace("90 5 0 2", "99 6 0 9");
        let drops = watched(&[
            parse_interfaces(BEFORE, ""),
            parse_interfaces(&after, ""),
            parse_interfaces(&after, ""),
        ]);
        assert_eq!(
            drops,
            [Drops {
                place: DropPlace::Interface("left".to_owned()),
                way: "received".to_owned(),
                samples: vec![7, 0]
            }]
        );
    }

    #[test]
    fn full_queues_of_all_cores_are_one_counter() {
        assert_eq!(
            parse_queues("0000ffff 00000010 0 0\n00000001 00000001 0 0\n"),
            17
        );
    }

    #[test]
    fn this_machine_has_interfaces() {
        let holder = |device| NetnsHolder {
            device,
            process: std::process::id(),
        };
        let counters = snapshot(&[holder(None), holder(Some("other".to_owned()))]);
        assert!(
            ["lo", "other: lo"]
                .iter()
                .all(|name| counters.keys().any(|(place, _)| place.to_string() == *name)),
            "{counters:?}"
        );
    }
}
