//! The neighbours whose link-layer addresses a device has asked for in vain (ARP, neighbour discovery), as `ip -s -j neigh` prints them. The kernel has
//! no counter for the datagrams that wait for such an address and are given up; its counters of the neighbour tables cover all namespaces.

use serde::Deserialize;

/// The most neighbours that are named.
const MOST_NAMED: usize = 3;

/// The unresolved entries of a device's neighbour tables at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NeighbourTable {
    /// The time since the machine was started, in seconds.
    uptime_s: u64,
    unresolved: Vec<NeighbourEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct NeighbourEntry {
    #[serde(rename = "dst")]
    address: String,
    #[serde(rename = "dev")]
    interface: String,
    /// The whole seconds since a datagram was last sent to it. Old versions of `ip` print none.
    #[serde(rename = "used")]
    used_s: Option<u64>,
    #[serde(default)]
    state: Vec<String>,
}

impl NeighbourTable {
    /// Parses `/proc/uptime` and the JSON of `ip`. A table that is not understood has no entry.
    pub(super) fn parse(uptime: &str, entries: &str) -> Self {
        let uptime_s = uptime.split('.').next().unwrap_or_default().trim();
        let mut unresolved: Vec<NeighbourEntry> = serde_json::from_str(entries).unwrap_or_default();
        unresolved.retain(NeighbourEntry::is_unresolved);
        Self {
            uptime_s: uptime_s.parse().unwrap_or(0),
            unresolved,
        }
    }

    /// Returns the neighbours to which the device has sent since `before` without an answer, with their interfaces; only those of other interfaces than
    /// `arrival`, at which the frames came in. `None` if there are none.
    pub(super) fn silent_since(&self, before: &Self, arrival: &str) -> Option<String> {
        let mut silent = self.unresolved.iter().filter(|entry| {
            let used_s = entry
                .used_s
                .map(|used_s| self.uptime_s.saturating_sub(used_s));
            entry.interface != arrival && used_s.is_none_or(|used_s| used_s >= before.uptime_s)
        });
        let mut named: Vec<String> = silent
            .by_ref()
            .take(MOST_NAMED)
            .map(|entry| format!("{} on {}", entry.address, entry.interface))
            .collect();
        match silent.count() {
            0 => {}
            others => named.push(format!("{others} more")),
        }
        (!named.is_empty()).then(|| named.join(", "))
    }
}

impl NeighbourEntry {
    fn is_unresolved(&self) -> bool {
        self.state
            .iter()
            .any(|state| state == "INCOMPLETE" || state == "FAILED")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As iproute2 6.1 prints it on Linux 6.18, with an answered neighbour between the two that are not there.
    const RECORDED: &str = r#"[{"dst":"198.19.0.9","dev":"right","refcnt":1,"used":1,"confirmed":61,"updated":1,"probes":4,"state":["INCOMPLETE"]},
        {"dst":"198.18.0.2","dev":"left","lladdr":"02:00:00:00:00:01","refcnt":1,"used":0,"confirmed":0,"updated":0,"probes":1,"state":["REACHABLE"]},
        {"dst":"2001:2::9","dev":"right","used":5,"confirmed":65,"updated":1,"probes":6,"state":["FAILED"]}]"#;

    fn silent(began_s: u64, arrival: &str) -> Option<String> {
        let before = NeighbourTable::parse(&format!("{began_s}.40 1.00"), "[]");
        NeighbourTable::parse("56013.15 41841.15", RECORDED).silent_since(&before, arrival)
    }

    #[test]
    fn what_was_asked_for_in_vain_during_the_trial_is_named() {
        let both = "198.19.0.9 on right, 2001:2::9 on right";
        assert_eq!(silent(56_000, "left").as_deref(), Some(both));
        assert_eq!(
            silent(56_011, "left").as_deref(),
            Some("198.19.0.9 on right"),
            "the other one was last used before the trial"
        );
        assert_eq!(silent(56_013, "left"), None);
        assert_eq!(
            silent(56_000, "right"),
            None,
            "no frame leaves where it came in"
        );
    }

    #[test]
    fn a_device_without_such_a_table_names_nobody_and_many_are_counted() {
        let none = NeighbourTable::default();
        for text in ["", "ip: invalid option -- 'j'", "[]"] {
            assert_eq!(
                NeighbourTable::parse("7.00 1.00", text).silent_since(&none, "left"),
                None,
                "{text}"
            );
        }
        let entries: Vec<String> = (1..=5)
            .map(|host| format!(r#"{{"dst":"10.0.0.{host}","dev":"a","state":["FAILED"]}}"#))
            .collect();
        let table = NeighbourTable::parse("7.00 1.00", &format!("[{}]", entries.join(",")));
        assert_eq!(
            table.silent_since(&none, "b").as_deref(),
            Some("10.0.0.1 on a, 10.0.0.2 on a, 10.0.0.3 on a, 2 more")
        );
    }
}
