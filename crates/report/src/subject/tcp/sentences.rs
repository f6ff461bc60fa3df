//! Sentences that compare devices by the TCP connections that they take (RFC 3511).

use crate::digest::Digest;
use crate::subject::connections::{self, ConnectionRanking};
use crate::subject::ranking::RankingWords;
use sixbench_method::measures::{Family, ResultKind};

const RANKINGS: [ConnectionRanking; 2] = [
    ConnectionRanking {
        family: Family::Tcp,
        result: ResultKind::Rate,
        kind: RankingWords {
            verb: "took",
            ceiling: "the highest rate of the plan",
            nothing: "did not accept as many TCP connections even at the lowest rate of the plan",
        },
        unit: " TCP connections/s",
        has_number: false,
        tail: ", a GET on each",
    },
    ConnectionRanking {
        family: Family::Tcp,
        result: ResultKind::Number,
        kind: RankingWords {
            verb: "kept",
            ceiling: "the most that the plan tries",
            nothing: "kept no TCP connection",
        },
        unit: " TCP connections open at once",
        has_number: false,
        tail: "",
    },
];

pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    connections::sentences(digest, &RANKINGS)
}
