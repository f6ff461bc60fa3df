//! The performance of tests in relation to others of the same device.

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::relative;

pub(super) struct RelativePerformance;

impl Subject for RelativePerformance {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "relative",
            "Relative performance",
            relative::tables(digest),
            vec![],
        )]
    }
}
