//! The rules of netfilter that drop frames, and how often they did, as `nft list ruleset` prints them.

use std::collections::BTreeMap;

/// The rules and chains of a device that drop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ruleset {
    /// Rules with a counter that drop or reject, by chain and text, with the frames that they met.
    counted: BTreeMap<String, u64>,
    /// What drops without counting: the family of its table, and its name.
    silent: Vec<(String, String)>,
}

/// The counts of rules that drop, by chain and text.
pub(super) struct RuleCounters<'r>(pub(super) &'r BTreeMap<String, u64>);

/// The place of a line.
#[derive(Default)]
struct Position {
    family: String,
    table: String,
    chain: Option<String>,
    /// The name of a named counter whose numbers follow.
    counter: Option<String>,
    /// True if the chain is one that IP itself calls before it has forwarded a datagram.
    is_called: bool,
}

impl Ruleset {
    /// Parses the text. Lines that are not understood are left out.
    pub(super) fn parse(text: &str) -> Self {
        let named = named_counters(text);
        let (mut rules, mut at) = (Self::default(), Position::default());
        for line in text.lines().map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["table", family, table, "{"] => {
                    at = Position {
                        family: family.to_owned(),
                        table: table.to_owned(),
                        ..Position::default()
                    }
                }
                ["chain", chain, "{"] => at.chain = Some(chain.to_owned()),
                ["}"] => at.chain = None,
                ["type", _, "hook", hook, ..] => rules.note_hook(&mut at, hook, line),
                _ => rules.note_rule(&at, line, &named),
            }
        }
        rules
    }

    fn note_hook(&mut self, at: &mut Position, hook: &str, line: &str) {
        at.is_called = matches!(hook, "prerouting" | "forward" | "input" | "ingress");
        if at.is_called && line.contains("policy drop") {
            self.silent
                .push((at.family.clone(), format!("{} (policy drop)", at.name())));
        }
    }

    fn note_rule(&mut self, at: &Position, line: &str, named: &BTreeMap<(String, String), u64>) {
        let is_dropping = line
            .split_whitespace()
            .any(|word| matches!(word, "drop" | "reject"));
        if at.chain.is_none() || !is_dropping {
            return;
        }
        let (text, count) = without_counter(line, |name| {
            named.get(&(at.table.clone(), name.to_owned())).copied()
        });
        let rule = format!("{} ({text})", at.name());
        match count {
            Some(count) => *self.counted.entry(rule).or_default() += count,
            None => self.silent.push((at.family.clone(), rule)),
        }
    }

    /// Returns the counts of the rules that drop.
    pub(super) fn counters(&self) -> RuleCounters<'_> {
        RuleCounters(&self.counted)
    }

    /// Returns the chains and rules that may have dropped datagrams of this family, `ip` or `ip6`, without counting them.
    pub(super) fn silent_droppers(&self, family: &str) -> Vec<String> {
        let fits = |of: &str| of == family || matches!(of, "inet" | "netdev" | "bridge");
        self.silent
            .iter()
            .filter(|(of, _)| fits(of))
            .map(|(_, name)| name.clone())
            .collect()
    }
}

impl Position {
    fn name(&self) -> String {
        format!(
            "{} {} {}",
            self.family,
            self.table,
            self.chain.as_deref().unwrap_or_default()
        )
    }
}

/// Returns the packets of named counters, by table and name.
fn named_counters(text: &str) -> BTreeMap<(String, String), u64> {
    let (mut found, mut at) = (BTreeMap::new(), Position::default());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["table", _, table, "{"] => {
                at = Position {
                    table: table.to_owned(),
                    ..Position::default()
                }
            }
            ["counter", name, "{"] => at.counter = Some(name.to_owned()),
            ["packets", packets, "bytes", _] => {
                if let (Some(name), Ok(packets)) = (at.counter.take(), packets.parse()) {
                    found.insert((at.table.clone(), name), packets);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns a rule without the numbers of its counter, and the packets that it counted; `None` for the packets without a counter.
fn without_counter(line: &str, named: impl Fn(&str) -> Option<u64>) -> (String, Option<u64>) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(at) = words.iter().position(|word| *word == "counter") else {
        return (line.to_owned(), None);
    };
    let (count, length) = match words[at + 1..] {
        ["packets", packets, "bytes", _, ..] => (packets.parse().ok(), 5),
        ["name", name, ..] => (named(name.trim_matches('"')), 3),
        _ => (None, 1),
    };
    (
        [&words[..at], &words[(at + length).min(words.len())..]]
            .concat()
            .join(" "),
        count,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "table inet filter {
	counter refused {
		packets 12 bytes 900
	}

	chain forward {
		type filter hook forward priority filter; policy drop;
		ct state established accept
		udp dport 9 counter packets 400 bytes 2000 drop
		udp dport 10 counter name \"refused\" reject
		udp dport 11 limit rate over 100/second drop
		udp dport 12 counter packets 7 bytes 8 accept
	}

	chain output {
		type filter hook output priority filter; policy drop;
	}
}
table ip other {
	chain input {
		type filter hook input priority filter; policy accept;
	}
}
";

    #[test]
    fn rules_that_drop_are_told_with_their_counts_and_those_that_accept_are_not() {
        let rules = Ruleset::parse(TEXT);
        let RuleCounters(counted) = rules.counters();
        let counted: Vec<_> = counted
            .iter()
            .map(|(rule, frames)| (rule.as_str(), *frames))
            .collect();
        let expected = [
            ("inet filter forward (udp dport 10 reject)", 12),
            ("inet filter forward (udp dport 9 drop)", 400),
        ];
        assert_eq!(counted, expected);
    }

    #[test]
    fn what_may_drop_without_counting_is_known_by_family_and_hook() {
        let rules = Ruleset::parse(TEXT);
        let silent = [
            "inet filter forward (policy drop)",
            "inet filter forward (udp dport 11 limit rate over 100/second drop)",
        ];
        assert_eq!(rules.silent_droppers("ip6"), silent);
        assert_eq!(rules.silent_droppers("ip"), silent);
        assert_eq!(
            Ruleset::parse(&TEXT.replace("inet filter", "ip6 filter")).silent_droppers("ip"),
            [""; 0]
        );
    }

    #[test]
    fn text_that_is_no_ruleset_has_no_rules() {
        assert_eq!(
            Ruleset::parse("drop\n{ chain\ntable\n}\n}\n"),
            Ruleset::default()
        );
    }
}
