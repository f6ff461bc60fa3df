//! Fills in the lines of a device's configuration about a subscriber.

use super::lines;
use std::net::IpAddr;

/// A subscriber as defined by a recipe's rule. This module does not interpret the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// The number of the subscriber, from 0.
    pub number: u32,
    /// The subscriber's IPv6 address.
    pub ipv6: IpAddr,
    /// The subscriber's IPv4 address, unless all share one.
    pub ipv4: Option<IpAddr>,
    /// The port set identifier.
    pub psid: u16,
    /// The first and the last port of the first range of the port set.
    pub ports: (u16, u16),
}

/// The prefix of a subscriber's placeholders. A line with one of them is repeated for each subscriber.
const MARK: &str = "{subscriber";

impl Subscriber {
    fn fill(&self, line: &str) -> String {
        let ipv4 = self
            .ipv4
            .map(|address| address.to_string())
            .unwrap_or_default();
        [
            ("{subscriber}", self.number.to_string()),
            ("{subscriber-ipv6}", self.ipv6.to_string()),
            ("{subscriber-ipv4}", ipv4),
            ("{subscriber-psid}", self.psid.to_string()),
            ("{subscriber-first-port}", self.ports.0.to_string()),
            ("{subscriber-last-port}", self.ports.1.to_string()),
        ]
        .iter()
        .fold(line.to_owned(), |line, (word, value)| {
            line.replace(word, value)
        })
    }
}

/// Returns `text` with each line about a subscriber repeated for each subscriber.
pub(crate) fn fill(text: &str, subscribers: &[Subscriber]) -> String {
    lines::repeated(text, MARK, subscribers, Subscriber::fill)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_a_subscriber_stands_once_for_each() {
        let subscriber = |number: u32| Subscriber {
            number,
            ipv6: format!("2001:db8::{number}").parse().expect("an address"),
            ipv4: Some("192.0.2.1".parse().expect("an address")),
            psid: number as u16,
            ports: (1024, 2047),
        };
        let filled = fill(
            "a\nadd {subscriber}: {subscriber-ipv6} {subscriber-ipv4} {subscriber-psid} {subscriber-first-port}\nb",
            &[0, 1].map(subscriber),
        );
        assert_eq!(
            filled,
            "a\nadd 0: 2001:db8::0 192.0.2.1 0 1024\nadd 1: 2001:db8::1 192.0.2.1 1 1024\nb"
                .replace("8::0", "8::")
        );
    }
}
