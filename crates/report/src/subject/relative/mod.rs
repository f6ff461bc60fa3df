//! The performance of tests in relation to others of the same device.

mod tables;

pub(crate) use tables::narrow_tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct RelativePerformance;

impl Subject for RelativePerformance {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "relative",
            "Relative performance",
            tables::tables(digest),
            vec![],
        )]
    }
}
