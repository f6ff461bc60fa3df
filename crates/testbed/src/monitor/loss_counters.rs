//! Counters of a device's kernel before and after a trial that lost much: where the frames stayed. They are read between trials, by the same script in
//! a namespace, in a virtual machine and over ssh; a counter that a system does not have is left out.

use super::conntrack::ConntrackLimit;
use super::neighbours::NeighbourTable;
use super::nft::{RuleCounters, Ruleset};
use crate::exec::Shell;
use sixbench_method::record::{LossCounter, LossSource};
use std::collections::BTreeMap;

/// Prints the files, the rules, the neighbours, and the statistics of interfaces that are network cards. A device without nft has no rules.
const SCRIPT: &str = "cat /proc/net/snmp /proc/net/netstat 2>/dev/null; echo ---; cat /proc/net/snmp6 2>/dev/null; echo ---; \
                      cat /proc/net/dev 2>/dev/null; echo ---; nft list ruleset 2>/dev/null; echo ---; cat /proc/net/stat/nf_conntrack 2>/dev/null; echo ---; \
                      cat /proc/sys/net/netfilter/nf_conntrack_max 2>/dev/null; echo ---; cat /proc/uptime 2>/dev/null; echo ---; \
                      ip -s -j neigh 2>/dev/null; echo ---; \
                      for card in /sys/class/net/*/device; do \
                      grep -s '' /dev/null \"${card%/device}\"/statistics/[rt]x_*; done; exit 0";

/// The kernel's counters of a family, by which it is known what becomes of the datagrams that it receives.
struct IpCounters {
    /// The family's name in nftables.
    nft: &'static str,
    /// The counter of the datagrams received.
    received: &'static str,
    /// The counters of [`LossCounters::sent_on`].
    sent_on: [&'static str; 3],
    /// The counters of datagrams delivered here, or given up for a reason that the kernel tells.
    accounted: &'static [&'static str],
}

const IPV4: IpCounters = IpCounters {
    nft: "ip",
    received: "IpInReceives",
    sent_on: ["IpForwDatagrams", "IpOutTransmits", "IpOutRequests"],
    accounted: &[
        "IpInDelivers",
        "IpInHdrErrors",
        "IpInAddrErrors",
        "IpInDiscards",
        "IpOutDiscards",
        "IpOutNoRoutes",
        "IpFragFails",
        "IpExtInNoRoutes",
        "IpExtInTruncatedPkts",
        "IpExtInCsumErrors",
        "TcpExtIPReversePathFilter",
    ],
};

const IPV6: IpCounters = IpCounters {
    nft: "ip6",
    received: "Ip6InReceives",
    sent_on: ["Ip6OutForwDatagrams", "Ip6OutTransmits", "Ip6OutRequests"],
    accounted: &[
        "Ip6InDelivers",
        "Ip6InHdrErrors",
        "Ip6InAddrErrors",
        "Ip6InDiscards",
        "Ip6OutDiscards",
        "Ip6OutNoRoutes",
        "Ip6FragFails",
        "Ip6InNoRoutes",
        "Ip6InTooBigErrors",
        "Ip6InTruncatedPkts",
    ],
};

/// A counter is reported from this part of the missing frames on, a twentieth: a device has other traffic, too.
const SMALLEST_PART: u64 = 20;

/// The counters of a device at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossCounters {
    /// Those of IP by name.
    ip: BTreeMap<String, u64>,
    /// Frames received and sent by interface.
    interfaces: BTreeMap<String, (u64, u64)>,
    ruleset: Ruleset,
    conntrack: ConntrackLimit,
    neighbours: NeighbourTable,
    /// Those of each network card, by its interface and the name of the counter. Other interfaces have no hardware that could drop frames.
    cards: BTreeMap<(String, String), u64>,
}

impl LossCounters {
    /// Returns the present counters at the place of `shell`. They are empty if they cannot be read, which does not end a run.
    pub(crate) fn read(shell: &Shell) -> Self {
        shell
            .look(&["sh", "-c", SCRIPT])
            .map(|text| Self::parse(&text))
            .unwrap_or_default()
    }

    /// Returns the counters without the frames that each interface sent and received again. The interfaces of a virtual machine of the lab are raw
    /// sockets of this machine, to which the kernel hands every frame of the link, also their own.
    #[must_use]
    pub(crate) fn without_own_frames(mut self) -> Self {
        self.interfaces
            .values_mut()
            .for_each(|(received, sent)| *received = received.saturating_sub(*sent));
        self
    }

    fn parse(text: &str) -> Self {
        // In the order of `SCRIPT`.
        let mut parts = text.split("---\n");
        let mut part = || parts.next().unwrap_or_default();
        let mut ip = of_pairs(part());
        ip.extend(of_lines(part()));
        let (interfaces, ruleset) = (of_interfaces(part()), Ruleset::parse(part()));
        let conntrack = ConntrackLimit::parse(part(), part());
        let neighbours = NeighbourTable::parse(part(), part());
        let cards = of_cards(part());
        Self {
            ip,
            interfaces,
            ruleset,
            conntrack,
            neighbours,
            cards,
        }
    }

    /// Returns the counters that grew since `before`, as far as they matter among `missing` frames, the largest first. `device` is its name if there are
    /// several.
    pub(crate) fn since(
        &self,
        before: &Self,
        missing: u64,
        device: Option<&str>,
    ) -> Vec<LossCounter> {
        let mut grown = self.rules(before);
        grown.extend(self.conntrack.dropped(&before.conntrack));
        // Connection tracking is a part of netfilter, too.
        let by_rules: u64 = grown.iter().map(|(.., frames)| *frames).sum();
        grown.extend(self.of_ip(before));
        grown.extend(self.policies(before, by_rules));
        grown.extend(self.of_cards(before));
        // Counters of interfaces say the least, so they are used only where no other explains half of the loss.
        if grown.iter().all(|(.., frames)| 2 * frames < missing) {
            // What is more than the missing frames is not of them: a counter of an interface counts something else as well.
            grown.extend(
                self.passage(before)
                    .into_iter()
                    .filter(|(.., frames)| *frames <= missing),
            );
        }
        grown.retain(|(.., frames)| frames * SMALLEST_PART >= missing && *frames > 0);
        grown.sort_by_key(|(.., frames)| std::cmp::Reverse(*frames));
        grown
            .into_iter()
            .map(|(source, name, frames)| LossCounter {
                device: device.map(str::to_owned),
                source,
                name,
                frames,
            })
            .collect()
    }

    fn rules(&self, before: &Self) -> Vec<(LossSource, String, u64)> {
        let RuleCounters(old) = before.ruleset.counters();
        let RuleCounters(new) = self.ruleset.counters();
        new.iter()
            .map(|(rule, count)| {
                (
                    LossSource::NftRule,
                    rule.clone(),
                    count.saturating_sub(old.get(rule).copied().unwrap_or(0)),
                )
            })
            .collect()
    }

    fn of_ip(&self, before: &Self) -> Vec<(LossSource, String, u64)> {
        let names = self
            .ip
            .keys()
            .filter(|name| LossCounter::meaning_of(name).is_some());
        names
            .map(|name| (LossSource::Ip, name.clone(), self.grown(before, name)))
            .collect()
    }

    /// Returns, for each network card and way, the counter of dropped frames that grew most.
    fn of_cards(&self, before: &Self) -> Vec<(LossSource, String, u64)> {
        let mut grown: BTreeMap<(&str, &str), Vec<(&str, u64)>> = BTreeMap::new();
        for ((interface, counter), now) in &self.cards {
            let key = (interface.clone(), counter.clone());
            // What a card that was not there before has counted is not of this trial.
            let frames = now.saturating_sub(before.cards.get(&key).copied().unwrap_or(*now));
            let way = counter.split('_').next().unwrap_or(counter);
            grown
                .entry((interface, way))
                .or_default()
                .push((counter, frames));
        }
        let most = grown.into_iter().filter_map(|((interface, _), counters)| {
            let (counter, frames) = LossCounter::grown_most(counters)?;
            Some((LossSource::Port, format!("{interface} {counter}"), frames))
        });
        most.collect()
    }

    fn grown(&self, before: &Self, name: &str) -> u64 {
        let at = |of: &Self| of.ip.get(name).copied().unwrap_or(0);
        at(self).saturating_sub(at(before))
    }

    /// Returns what the IP layer received, and neither sent on, nor delivered, nor counted as an error: netfilter dropped it. It is reported if there is
    /// a chain that may have done so; `by_rules` are the frames that rules with counters, and connection tracking, have already reported.
    fn policies(&self, before: &Self, by_rules: u64) -> Vec<(LossSource, String, u64)> {
        let families = [IPV4, IPV6].map(|family| (family.nft, self.unaccounted(before, &family)));
        let both: u64 = families.iter().map(|(_, frames)| frames).sum();
        let rest = both.saturating_sub(by_rules);
        let told = |(family, frames): &(&str, u64)| {
            let frames = if both == 0 {
                0
            } else {
                (u128::from(*frames) * u128::from(rest) / u128::from(both)) as u64
            };
            let chains = self.ruleset.silent_droppers(family);
            (!chains.is_empty() && frames > 0)
                .then(|| (LossSource::NftPolicy, chains.join(" or "), frames))
        };
        let mut told: Vec<_> = families.iter().filter_map(told).collect();
        // A chain of the family inet has dropped frames of both.
        if let [one, other] = &told[..]
            && one.1 == other.1
        {
            told = vec![(LossSource::NftPolicy, one.1.clone(), one.2 + other.2)];
        }
        told
    }

    /// Returns the datagrams of a family that the IP layer received, and that none of its other counters accounts for.
    fn unaccounted(&self, before: &Self, family: &IpCounters) -> u64 {
        let accounted: u64 = family
            .accounted
            .iter()
            .map(|name| self.grown(before, name))
            .sum();
        self.grown(before, family.received)
            .saturating_sub(accounted + self.sent_on(before, family.sent_on))
    }

    /// Returns the datagrams that were forwarded and left the chains of netfilter. Since Linux 6.7 the first counter grows before the chain `forward`, and
    /// another one counts what leaves, with what the device sends itself.
    fn sent_on(&self, before: &Self, [forwarded, transmitted, own]: [&str; 3]) -> u64 {
        let forwarded = self.grown(before, forwarded);
        if self.ip.contains_key(transmitted) {
            forwarded.min(
                self.grown(before, transmitted)
                    .saturating_sub(self.grown(before, own)),
            )
        } else {
            forwarded
        }
    }

    /// Returns the frames that arrived at each interface, less those that all others sent. Where the device asked for a neighbour of another interface in
    /// vain, that is why they stayed: nothing counts what waits for a link-layer address and is given up.
    fn passage(&self, before: &Self) -> Vec<(LossSource, String, u64)> {
        let grown = |name: &String| {
            let (received, sent) = self.interfaces.get(name).copied().unwrap_or_default();
            let (old_received, old_sent) = before.interfaces.get(name).copied().unwrap_or_default();
            (
                received.saturating_sub(old_received),
                sent.saturating_sub(old_sent),
            )
        };
        self.interfaces
            .keys()
            .filter(|name| *name != "lo")
            .map(|name| {
                let others: u64 = self
                    .interfaces
                    .keys()
                    .filter(|other| *other != name)
                    .map(|other| grown(other).1)
                    .sum();
                let stayed = grown(name).0.saturating_sub(others);
                match self.neighbours.silent_since(&before.neighbours, name) {
                    Some(neighbour) => (LossSource::Neighbour, neighbour, stayed),
                    None => (LossSource::Passage, name.clone(), stayed),
                }
            })
            .collect()
    }
}

/// Parses pairs of lines `Ip: NAME NAME ...` and `Ip: NUMBER NUMBER ...`. A line without its other half is left out, and shifts no other.
fn of_pairs(text: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let mut lines = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .peekable();
    while let Some((table, names)) = lines.next() {
        let Some((_, numbers)) = lines.next_if(|(next, _)| *next == table) else {
            continue;
        };
        for (name, number) in names.split_whitespace().zip(numbers.split_whitespace()) {
            if let Ok(number) = number.parse() {
                counters.insert(format!("{table}{name}"), number);
            }
        }
    }
    counters
}

/// Parses lines `NAME NUMBER`.
fn of_lines(text: &str) -> BTreeMap<String, u64> {
    text.lines()
        .filter_map(|line| {
            let (name, number) = line.split_once(char::is_whitespace)?;
            Some((name.to_owned(), number.trim().parse().ok()?))
        })
        .collect()
}

/// Parses lines `NAME: bytes packets (6 more) bytes packets ...`.
fn of_interfaces(text: &str) -> BTreeMap<String, (u64, u64)> {
    text.lines()
        .filter_map(|line| {
            let (name, counters) = line.split_once(':')?;
            let fields: Vec<u64> = counters
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect();
            Some((name.trim().to_owned(), (*fields.get(1)?, *fields.get(9)?)))
        })
        .collect()
}

/// Parses lines `/sys/class/net/INTERFACE/statistics/COUNTER:NUMBER`, of the counters that count losses.
fn of_cards(text: &str) -> BTreeMap<(String, String), u64> {
    text.lines()
        .filter_map(|line| {
            let (path, number) = line.rsplit_once(':')?;
            let rest = path.strip_prefix("/sys/class/net/")?;
            let (interface, counter) = rest.split_once("/statistics/")?;
            LossCounter::meaning_at_port(counter)?;
            Some((
                (interface.to_owned(), counter.to_owned()),
                number.trim().parse().ok()?,
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "table inet filter {\n\tchain forward {\n\t\ttype filter hook forward priority filter; policy drop;\n\
                         \t\tudp dport 9 counter packets RULE bytes 900 drop\n\t}\n}\n";

    /// Returns the counters of a device that received so many datagrams, and what became of them.
    fn counters(
        [received, forwarded, no_route, by_rule]: [u64; 4],
        (left, right): (u64, u64),
    ) -> LossCounters {
        LossCounters::parse(&format!(
            "Ip: InReceives ForwDatagrams InDelivers\nIp: {received} {forwarded} 0\nIpExt: InNoRoutes\nIpExt: {no_route}\n---\n\
             Ip6InReceives 7\nIp6InNoRoutes                   \t0\n---\n head\n  left: 9 {left} 0 0 0 0 0 0 9 0 0 0\n right: 0 0 0 0 0 0 0 0 9 {right} 0 0\n---\n{}",
            RULES.replace("RULE", &by_rule.to_string())
        ))
    }

    fn told(after: &LossCounters) -> Vec<String> {
        let before = counters([5, 5, 0, 3], (5, 5));
        after
            .since(&before, 400, None)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn what_ip_received_and_did_not_account_for_was_dropped_by_the_chain_with_a_policy() {
        assert_eq!(
            told(&counters([405, 5, 0, 3], (405, 5))),
            ["400 dropped by nft chain inet filter forward (policy drop)"]
        );
    }

    #[test]
    fn a_kernel_that_counts_before_the_chain_tells_what_it_dropped_by_what_left() {
        let at = |received: u64, left: u64| {
            let line = format!("{received} {received} {left} 3");
            LossCounters::parse(&format!(
                "Ip: InReceives ForwDatagrams OutTransmits OutRequests\nIp: {line}\n---\n---\n---\n{}",
                RULES.replace("RULE", "0")
            ))
        };
        let policy = "dropped by nft chain inet filter forward (policy drop)";
        let told = |left| {
            at(405, left)
                .since(&at(5, 5), 400, None)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (told(5), told(405)),
            (vec![format!("400 {policy}")], vec![])
        );
    }

    #[test]
    fn what_connection_tracking_dropped_is_told_once_and_is_not_the_policys() {
        let at = |received: u64, [entries, dropped, early]: [&str; 3], most: &str| {
            let of_ip = format!(
                "Ip: InReceives ForwDatagrams\nIp: {received} 5\n---\n---\n---\n{}",
                RULES.replace("RULE", "0")
            );
            let table = format!(
                "entries insert_failed drop early_drop\n{entries} 7 {dropped} {early}\n{entries} 0 0 0\n"
            );
            LossCounters::parse(&format!("{of_ip}---\n{table}---\n{most}\n"))
        };
        let told = |[entries, early]: [&str; 2], most: &str| {
            let before = at(5, ["0"; 3], most);
            let grown = at(405, [entries, "0000012c", early], most).since(&before, 400, None);
            grown.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let policy = "100 dropped by nft chain inet filter forward (policy drop)";
        let full =
            "300 dropped because the connection tracking table was full (nf_conntrack_max = 1000)";
        assert_eq!(told(["000003e8", "0"], "1000"), [full, policy]);
        assert_eq!(
            told(["00000010", "1"], "1000"),
            [full, policy],
            "the kernel had to make room"
        );
        let not_full = "300 dropped by connection tracking (drop), although its table was not full";
        assert_eq!(told(["00000010", "0"], "1000"), [not_full, policy]);
        assert_eq!(told(["000003e8", "0"], "0"), [not_full, policy], "no limit");
    }

    #[test]
    fn a_rule_with_a_counter_is_told_with_its_text_and_the_rest_is_the_policys() {
        let rule = "dropped by nft chain inet filter forward (udp dport 9 drop)";
        let policy = "dropped by nft chain inet filter forward (policy drop)";
        assert_eq!(
            told(&counters([405, 5, 0, 303], (405, 5))),
            [format!("300 {rule}"), format!("100 {policy}")]
        );
    }

    #[test]
    fn what_ip_counts_is_no_drop_of_netfilter() {
        assert_eq!(
            told(&counters([405, 5, 400, 3], (405, 5))),
            ["400 counted as IpExtInNoRoutes: no route to the destination"]
        );
    }

    #[test]
    fn a_device_that_counts_nothing_is_told_by_its_interfaces() {
        assert_eq!(
            told(&counters([5, 5, 0, 3], (405, 25))),
            ["380 arrived at the device's interface left, and left it by no other"]
        );
    }

    #[test]
    fn a_neighbour_that_does_not_answer_is_told_in_place_of_the_interface() {
        let at = |received: u64, uptime: &str, neighbours: &str| {
            let interfaces =
                format!(" left: 9 {received} 0 0 0 0 0 0 9 0 0\nright: 9 0 0 0 0 0 0 0 9 3 0\n");
            LossCounters::parse(&format!(
                "---\n---\n{interfaces}---\n---\n---\n---\n{uptime}\n---\n{neighbours}\n"
            ))
        };
        let silent =
            r#"[{"dst":"198.19.0.9","dev":"right","used":1,"probes":6,"state":["FAILED"]}]"#;
        let told = |neighbours| {
            let grown =
                at(405, "56013.15 1.0", neighbours).since(&at(5, "56010.00 1.0", ""), 400, None);
            grown.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            told(silent),
            [
                "400 arrived, and left by no other interface: nothing answered the device's requests for the neighbour 198.19.0.9 on right"
            ]
        );
        assert_eq!(
            told("[]"),
            ["400 arrived at the device's interface left, and left it by no other"]
        );
    }

    #[test]
    fn a_network_card_that_had_no_room_is_named_with_its_counter_and_once() {
        let at = |missed: u64, total: u64| {
            let counter = |name: &str, frames: u64| {
                format!("/sys/class/net/eth1/statistics/{name}:{frames}\n")
            };
            let counters = [
                counter("rx_dropped", 1),
                counter("rx_errors", total),
                counter("rx_fifo_errors", missed),
                counter("rx_missed_errors", missed),
                counter("tx_dropped", 9),
            ];
            LossCounters::parse(&format!("{}{}", "---\n".repeat(8), counters.concat()))
        };
        let told = |before: &LossCounters| {
            let grown = at(420, 5000).since(before, 420, None);
            grown.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let [only] = &told(&at(8, 0))[..] else {
            panic!("one counter: {:?}", told(&at(8, 0)));
        };
        assert!(only.starts_with("412 in eth1 rx_missed_errors: the card had no free descriptor"));
        assert_eq!(
            told(&LossCounters::default()),
            [""; 0],
            "nothing is known of before"
        );
    }

    #[test]
    fn frames_that_a_virtual_machine_sent_are_not_taken_for_frames_that_arrived() {
        // Of 1,000 frames each way 900 left; each interface also received the 900 that it sent. As read in a virtual machine of the lab.
        let at = |received: u64, sent: u64| {
            let line = format!("9 {received} 0 0 0 0 0 0 9 {sent} 0 0 0");
            LossCounters::parse(&format!(
                "---\n---\n head\n left: {line}\n right: {line}\n---\n"
            ))
        };
        let told = |before: &LossCounters, after: &LossCounters| {
            after
                .since(before, 200, None)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let each = ["left", "right"].map(|name| {
            format!("100 arrived at the device's interface {name}, and left it by no other")
        });
        assert_eq!(
            told(
                &at(6, 6).without_own_frames(),
                &at(1906, 906).without_own_frames()
            ),
            each
        );
        assert_eq!(
            told(&at(6, 6), &at(1906, 906)),
            [""; 0],
            "more than are missing"
        );
    }

    #[test]
    fn a_line_without_its_numbers_shifts_no_other() {
        let text = "Ip: InReceives\nIpExt: InNoRoutes\nIpExt: 7\nno table\nUdp: NoPorts InErrors\nUdp: 8 9\n";
        let counters: Vec<(String, u64)> = of_pairs(text).into_iter().collect();
        let expected = [
            ("IpExtInNoRoutes", 7),
            ("UdpInErrors", 9),
            ("UdpNoPorts", 8),
        ];
        assert_eq!(
            counters,
            expected.map(|(name, number)| (name.to_owned(), number))
        );
    }

    #[test]
    fn a_few_other_frames_are_not_told_and_a_device_that_was_restarted_has_lost_nothing() {
        assert_eq!(told(&counters([405, 395, 9, 3], (405, 405))), [""; 0]);
        assert_eq!(told(&LossCounters::default()), [""; 0]);
    }
}
