//! Frames that were neither received as they were sent nor simply lost.

use crate::digest::Digest;
use crate::findings::warning;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::trial;

pub(super) struct AnomalousFrames;

impl Subject for AnomalousFrames {
    /// Returns the chapter under the heading of its first table.
    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        let anomalies = trial::anomalies(digest);
        vec![Chapter::new(
            "anomalies",
            anomalies.title.clone(),
            vec![
                anomalies,
                warning::by_test(digest),
                trial::wrong_fields(digest),
            ],
            vec![],
        )]
    }

    fn is_a_list(&self) -> bool {
        true
    }
}
