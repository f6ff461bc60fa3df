//! Rankings of DUTs by a measure of connections (RFC 9693, and RFC 3511 for TCP).

use super::ranking::{RankedValue, RankingWords, ranking, with_others};
use crate::digest::{Digest, PointDigest};
use crate::wording::numbers::{grouped, title};
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::measures::{Family, ResultKind};
use sixbench_method::plan::Measure;

/// A measure of connections: its tests, and the words for its results.
pub(super) struct ConnectionRanking {
    pub(super) family: Family,
    pub(super) result: ResultKind,
    pub(super) kind: RankingWords,
    pub(super) unit: &'static str,
    /// True if the number of connections is a condition of the result rather than the result.
    pub(super) has_number: bool,
    /// A further statement about the numbers, which is appended to the sentence.
    pub(super) tail: &'static str,
}

/// N, if it is a condition, and the size of the DUT's table, if the plan sets it.
type Condition = (Option<u64>, Option<u64>);

/// Returns a ranking for each measure and number of connections.
pub(super) fn sentences(digest: &Digest, rankings: &[ConnectionRanking]) -> Vec<String> {
    rankings
        .iter()
        .flat_map(|ranking| ranking.sentences(digest))
        .collect()
}

impl ConnectionRanking {
    fn sentences(&self, digest: &Digest) -> Vec<String> {
        let points = self.points(digest);
        let ranked = |number: Condition| {
            let alike = points.iter().filter(|p| self.number(p) == number);
            // Connections that had already left the Responder's ring were not validated.
            let is_whole = !alike.clone().any(|p| p.is_validated_in_part());
            let tail = if is_whole { self.tail } else { "" };
            self.in_full(
                number.0,
                tail,
                &ranking(alike.filter_map(|p| RankedValue::new(title(p.test), p))),
            )
        };
        each_once(points.iter().map(|p| self.number(p)))
            .into_iter()
            .flat_map(ranked)
            .collect()
    }

    fn is_of(&self, measure: &Measure) -> bool {
        (self.family, self.result) == (measure.family(), measure.result_kind())
    }

    fn points<'d, 'a>(&self, digest: &'d Digest<'a>) -> Vec<&'d PointDigest<'a>> {
        let rated = digest.points.iter().filter(|p| {
            self.is_of(&p.test.measure) && digest.is_compared(p.test) && p.rated().is_some()
        });
        by_key(rated.map(|point| (&point.test.name, point)))
            .into_iter()
            .map(|(_, points)| points[0])
            .collect()
    }

    /// Returns N and the size of the DUT's table, which must be the same for results to be compared.
    fn number(&self, point: &PointDigest) -> Condition {
        let stateful = point.test.stateful;
        (
            stateful.filter(|_| self.has_number).map(|s| s.connections),
            stateful.and_then(|s| s.table_size),
        )
    }

    fn in_full(&self, number: Option<u64>, tail: &str, ranking: &[RankedValue]) -> Vec<String> {
        let Some(leader) = ranking.first() else {
            return Vec::new();
        };
        with_others(self.first(number, tail, leader), ranking, self.kind)
    }

    /// Returns the sentence on the leader: `Linux kernel, NAT44 opened 201 k connections/s, 100,000 of them, each validated.`
    fn first(&self, number: Option<u64>, tail: &str, leader: &RankedValue) -> String {
        let RankingWords { verb, nothing, .. } = self.kind;
        let of = number
            .map(|n| format!(", {} of them", grouped(n as f64)))
            .unwrap_or_default();
        if leader.median == 0.0 {
            format!("{} {nothing}.", leader.name)
        } else {
            let (amount, why) = (leader.amount(), leader.why_open(self.kind));
            format!(
                "{} {verb} {amount}{}{of}{tail}{}{why}.",
                leader.name, self.unit, leader.beside
            )
        }
    }
}
