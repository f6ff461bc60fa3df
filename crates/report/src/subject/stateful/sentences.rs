//! Sentences that compare stateful gateways (RFC 9693).

use crate::digest::Digest;
use crate::subject::connections::{self, ConnectionRanking};
use crate::subject::ranking::RankingWords;
use sixbench_method::measures::{Family, ResultKind};

const RANKINGS: [ConnectionRanking; 3] = [
    ConnectionRanking {
        family: Family::PhaseOne,
        result: ResultKind::Rate,
        kind: RankingWords {
            verb: "opened",
            ceiling: "the highest rate of the plan",
            nothing: "did not open as many even at the lowest rate of the plan",
        },
        unit: " connections/s",
        has_number: true,
        tail: ", each validated",
    },
    ConnectionRanking {
        family: Family::PhaseOne,
        result: ResultKind::Quantity,
        kind: RankingWords {
            verb: "deleted",
            ceiling: "",
            nothing: "deleted none",
        },
        unit: " connections/s",
        has_number: true,
        tail: "",
    },
    ConnectionRanking {
        family: Family::PhaseOne,
        result: ResultKind::Number,
        kind: RankingWords {
            verb: "held",
            ceiling: "the most that the plan tries",
            nothing: "held none",
        },
        unit: " connections",
        has_number: false,
        tail: "",
    },
];

pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    connections::sentences(digest, &RANKINGS)
}
