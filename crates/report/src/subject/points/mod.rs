//! Every point of the plan, and what its results are.

mod tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct EveryPoint;

impl Subject for EveryPoint {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        let tables = vec![tables::table(digest), tables::meanings(digest)];
        vec![Chapter::new(
            "points",
            tables[0].title.clone(),
            tables,
            vec![],
        )]
    }

    fn is_a_list(&self) -> bool {
        true
    }
}
