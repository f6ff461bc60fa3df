//! The kinds of frames that a trial counts beside received and lost ones: their names in sentences, and their numbers in a whole trial.

use super::dns::Answers;
use super::{AnomalyKind, DirectionResult, TrialResult};

/// The frames that a number of anomalous frames is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareBase {
    /// Those that left the tester.
    Offered,
    /// Those that came back right and in time.
    Received,
}

impl ShareBase {
    /// Returns the word for these frames in a sentence.
    pub fn word(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Received => "received",
        }
    }

    fn frames(self, of: &DirectionResult) -> u64 {
        match self {
            Self::Offered => of.offered,
            Self::Received => of.received,
        }
    }
}

impl AnomalyKind {
    /// Returns the noun for so many of these frames: `duplicate frame`, `duplicate frames`.
    pub fn noun(self, frames: u64) -> &'static str {
        let [one, several] = match self {
            Self::Late => ["late frame", "late frames"],
            Self::Mistranslated => ["mistranslated frame", "mistranslated frames"],
            Self::Corrupt => ["corrupt frame", "corrupt frames"],
            Self::Duplicate => ["duplicate frame", "duplicate frames"],
            Self::Reordered => ["reordered frame", "reordered frames"],
            Self::Defective => ["frame with a known defect", "frames with a known defect"],
            Self::Foreign => ["foreign frame", "foreign frames"],
            Self::Icmp => ["ICMP message", "ICMP messages"],
            Self::Fragments => ["fragment", "fragments"],
            Self::Misdirected => ["misdirected frame", "misdirected frames"],
            Self::Refused => [
                "frame refused by a full link",
                "frames refused by a full link",
            ],
        };
        if frames == 1 { one } else { several }
    }

    /// Returns the word for these frames in front of their number: `duplicate 12`.
    pub fn in_a_list(self) -> &'static str {
        match self {
            Self::Defective => "received with a known defect",
            Self::Icmp => "ICMP messages",
            Self::Refused => "refused by the full link",
            Self::Late
            | Self::Mistranslated
            | Self::Corrupt
            | Self::Duplicate
            | Self::Reordered
            | Self::Foreign
            | Self::Fragments
            | Self::Misdirected => self.name(),
        }
    }

    /// Returns what such a frame is, as the end of a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Late => "right, but after the frame timeout: it counts as lost",
            Self::Mistranslated => "it has a wrong header field, and counts as lost",
            Self::Corrupt => "its payload is damaged, and it counts as lost",
            Self::Duplicate => {
                "a further copy of a frame that had arrived before: it makes up for no loss"
            }
            Self::Reordered => "it arrived after a frame that was sent later",
            Self::Defective => {
                "it has the defect that the recipe of the device names, and counts as received"
            }
            Self::Foreign => "not a test frame of the trial, and ignored (RFC 2544 section 10)",
            Self::Icmp => {
                "a foreign frame with which a device refuses to forward, or reports an error"
            }
            Self::Fragments => "a foreign frame: test frames are never to be fragmented",
            Self::Misdirected => "it came back at the port that it was sent from",
            Self::Refused => "it is lost, because the receive queue of the device was full",
        }
    }

    /// Returns whether such frames are nothing but lost, so that the loss tells them.
    pub fn is_plain_loss(self) -> bool {
        match self {
            Self::Refused => true,
            Self::Late
            | Self::Mistranslated
            | Self::Corrupt
            | Self::Duplicate
            | Self::Reordered
            | Self::Defective
            | Self::Foreign
            | Self::Icmp
            | Self::Fragments
            | Self::Misdirected => false,
        }
    }

    /// Returns the frames that the number of these is a share of.
    pub fn base(self) -> ShareBase {
        match self {
            Self::Duplicate | Self::Reordered | Self::Defective => ShareBase::Received,
            Self::Late
            | Self::Mistranslated
            | Self::Corrupt
            | Self::Foreign
            | Self::Icmp
            | Self::Fragments
            | Self::Misdirected
            | Self::Refused => ShareBase::Offered,
        }
    }

    /// Returns the number of these frames in a trial, all directions. For DNS queries, these are the further answers, those to no query that was asked,
    /// and the errors of the network (a late or a wrong answer is the outcome of its query, and lost); for TCP, the connections to the server that are not the
    /// trial's.
    pub fn in_trial(self, result: &TrialResult) -> u64 {
        if let Some(dns) = result.dns() {
            return self.beside_answers(&dns.answers);
        }
        let frames = result
            .directions
            .iter()
            .map(|direction| self.count(direction))
            .fold(0, u64::saturating_add);
        frames.saturating_add(self.of_connections(result))
    }

    fn beside_answers(self, answers: &Answers) -> u64 {
        match self {
            Self::Duplicate => answers.duplicate,
            Self::Foreign => answers.mismatched.saturating_add(answers.unasked),
            Self::Icmp => answers.unreachable,
            Self::Late
            | Self::Mistranslated
            | Self::Corrupt
            | Self::Reordered
            | Self::Defective
            | Self::Fragments
            | Self::Misdirected
            | Self::Refused => 0,
        }
    }

    fn of_connections(self, result: &TrialResult) -> u64 {
        let foreign = || {
            result
                .tcp()
                .and_then(|tcp| tcp.server.as_ref())
                .map_or(0, |server| server.foreign)
        };
        if self == Self::Foreign { foreign() } else { 0 }
    }

    /// Returns the number in a trial as a share of the frames received or offered there, by the kind; `None` if there were none of those.
    pub fn share_in_trial(self, result: &TrialResult) -> Option<f64> {
        let of = self.base_in_trial(result);
        (of > 0).then(|| self.in_trial(result) as f64 / of as f64)
    }

    /// Returns the number of the frames in a trial that these are a share of.
    pub(crate) fn base_in_trial(self, result: &TrialResult) -> u64 {
        result
            .directions
            .iter()
            .map(|direction| self.base().frames(direction))
            .fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Direction;
    use std::collections::BTreeSet;

    /// The counts of a direction that are not anomalies: frames sent, correct frames received, and the tester's own doing.
    const OTHERS: [&str; 3] = ["intended", "offered", "received"];

    #[test]
    fn every_count_of_a_direction_is_an_anomaly_or_known_to_be_none() {
        let counted = DirectionResult::counted(Direction::Forward, 7, 7);
        let json = serde_json::to_value(counted).expect("JSON");
        let counts = json
            .as_object()
            .expect("fields")
            .iter()
            .filter(|(_, value)| value.is_u64());
        let counts: BTreeSet<&str> = counts.map(|(name, _)| name.as_str()).collect();
        let known: BTreeSet<&str> = AnomalyKind::ALL
            .iter()
            .map(|kind| kind.name())
            .chain(OTHERS)
            .collect();
        assert_eq!(
            counts, known,
            "a new count belongs among the anomalies of direction.rs, or into the list of this test"
        );
    }

    #[test]
    fn each_kind_counts_its_own_field() {
        for kind in AnomalyKind::ALL {
            let mut counted = DirectionResult::counted(Direction::Forward, 7, 7);
            *kind.count_mut(&mut counted) = 3;
            let found: Vec<u64> = AnomalyKind::ALL
                .iter()
                .map(|other| other.count(&counted))
                .collect();
            assert_eq!(found.iter().sum::<u64>(), 3);
            assert_eq!(
                (
                    kind.count(&counted),
                    &serde_json::to_value(&counted).expect("JSON")[kind.name()]
                ),
                (3, &3.into())
            );
        }
    }
}
