//! Frames that were neither received as they were sent nor simply lost.

mod tables;

pub(crate) use tables::{EXAMPLES, examples};

use crate::digest::Digest;
use crate::findings::warning;
use crate::subject::{Chapter, Subject};

pub(super) struct AnomalousFrames;

impl Subject for AnomalousFrames {
    /// Returns the chapter under the heading of its first table.
    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        let anomalies = tables::anomalies(digest);
        vec![Chapter::new(
            "anomalies",
            anomalies.title.clone(),
            vec![
                anomalies,
                warning::by_test(digest),
                tables::wrong_fields(digest),
            ],
            vec![],
        )]
    }

    fn is_a_list(&self) -> bool {
        true
    }
}
