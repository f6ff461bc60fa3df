//! The rates of a device with different traffic, each in relation to that of its first test.

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
