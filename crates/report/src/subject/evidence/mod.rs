//! The evidence behind the results: every quantity with every statistic, repetitions and trials as figures, memory, drops and delays.

mod delays;
mod figures;
mod resources;
mod summaries;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct TrialEvidence;

impl Subject for TrialEvidence {
    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        vec![
            Chapter::new(
                "summaries",
                "Summaries by RFC 2330",
                vec![summaries::table(digest)],
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
            Chapter::new("delays", "Delays", vec![delays::table(digest)], vec![]),
        ]
    }
}
