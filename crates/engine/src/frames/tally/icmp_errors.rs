//! Counts the ICMP errors that arrive at a port by kind and source, in constant memory.

use crate::frames::verify::ReceivedError;
use sixbench_method::terms::IpVersion;
use sixbench_method::trial::{DirectionDetails, DirectionResult, IcmpErrors};
use std::cmp::Reverse;

/// The kinds and sources that are distinguished. A device has a few reasons and a few addresses; more come from a hostile one.
const MOST_KINDS: usize = 32;

/// The errors by kind and source. All memory is allocated before the trial.
pub(crate) struct IcmpErrorTable {
    kinds: Vec<IcmpErrors>,
    others: u64,
}

impl IcmpErrorTable {
    /// Returns an empty table.
    pub(super) fn new() -> Self {
        Self {
            kinds: Vec::with_capacity(MOST_KINDS),
            others: 0,
        }
    }

    /// Counts a message. `of_background` is whether the frame of this trial that it quotes is background; `None` if it quotes none.
    #[cold]
    pub(super) fn count(&mut self, error: &ReceivedError, of_background: Option<bool>) {
        self.add_kind(&IcmpErrors {
            version: if error.version == sixbench_wire::IpVersion::V4 {
                IpVersion::Ipv4
            } else {
                IpVersion::Ipv6
            },
            kind: error.kind,
            code: error.code,
            value: error.value,
            source: error.source,
            messages: 1,
            quoting: u64::from(of_background.is_some()),
            background: u64::from(of_background == Some(true)),
            wrong_checksum: u64::from(!error.is_checksum_right),
        });
    }

    /// Adds the messages of one kind and source.
    fn add_kind(&mut self, new: &IcmpErrors) {
        let key = |of: &IcmpErrors| (of.version, of.kind, of.code, of.value, of.source);
        let place = self.kinds.iter().position(|known| key(known) == key(new));
        match place {
            Some(place) => {
                let known = &mut self.kinds[place];
                known.messages += new.messages;
                known.quoting += new.quoting;
                known.background += new.background;
                known.wrong_checksum += new.wrong_checksum;
            }
            None if self.kinds.len() < MOST_KINDS => self.kinds.push(new.clone()),
            None => self.others += new.messages,
        }
    }

    /// Adds the messages that another queue of the port received.
    pub(crate) fn add(&mut self, other: &Self) {
        other.kinds.iter().for_each(|kind| self.add_kind(kind));
        self.others += other.others;
    }

    /// Writes the messages, which came back to the port of its sender, into a direction's result: by kind and source, the most frequent first, and
    /// the number of those for which there was no room.
    pub(crate) fn note(mut self, result: &mut DirectionResult) {
        self.kinds
            .sort_by_key(|kind| Reverse((kind.quoting, kind.messages)));
        result.change_details(|of| DirectionDetails {
            icmp_errors: self.kinds,
            other_icmp_errors: self.others,
            ..of
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::Direction;

    fn error(source: u8) -> ReceivedError {
        ReceivedError {
            version: sixbench_wire::IpVersion::V4,
            kind: 3,
            code: 1,
            value: None,
            source: [198, 18, 0, source].into(),
            is_checksum_right: source != 7,
            quoted: None,
        }
    }

    fn noted(table: IcmpErrorTable) -> (Vec<IcmpErrors>, u64) {
        let mut result = DirectionResult::counted(Direction::Forward, 0, 0);
        table.note(&mut result);
        (result.icmp_errors.clone(), result.other_icmp_errors)
    }

    #[test]
    fn errors_of_two_queues_are_added_by_kind_and_source_and_the_most_frequent_comes_first() {
        let (mut one, mut other) = (IcmpErrorTable::new(), IcmpErrorTable::new());
        one.count(&error(1), Some(false));
        for of in &[Some(false), Some(true), None] {
            other.count(&error(2), *of);
        }
        other.count(&error(1), None);
        other.count(&error(7), None);
        one.add(&other);
        let (kinds, others) = noted(one);
        let counts: Vec<_> = kinds
            .iter()
            .map(|of| [of.messages, of.quoting, of.background, of.wrong_checksum])
            .collect();
        assert_eq!(
            (counts, others),
            (vec![[3, 2, 1, 0], [2, 1, 0, 0], [1, 0, 0, 1]], 0)
        );
        assert_eq!(kinds[0].source.to_string(), "198.18.0.2");
    }

    #[test]
    fn the_table_never_grows_and_counts_what_has_no_room() {
        let mut table = IcmpErrorTable::new();
        let capacity = table.kinds.capacity();
        (0..=255).for_each(|source| table.count(&error(source), None));
        assert_eq!(table.kinds.capacity(), capacity);
        let (kinds, others) = noted(table);
        assert_eq!((kinds.len(), others), (MOST_KINDS, 256 - MOST_KINDS as u64));
    }
}
