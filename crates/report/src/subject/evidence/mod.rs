//! The evidence behind the results: every quantity with every statistic, repetitions and trials as figures, memory, drops and delays.

mod figures;

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::{repeated, resources, trial};

pub(super) struct TrialEvidence;

impl Subject for TrialEvidence {
    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        vec![
            Chapter::new(
                "summaries",
                "Summaries by RFC 2330",
                vec![repeated::summaries(digest)],
                vec![],
            ),
            Chapter::new(
                "evidence",
                "Behind the numbers",
                vec![],
                figures::figures(digest),
            ),
            Chapter::new(
                "resources",
                "Memory and drops of the devices",
                vec![resources::memory(digest), resources::drops(digest)],
                vec![],
            ),
            Chapter::of_table("delays", trial::delays(digest), vec![]),
        ]
    }
}
