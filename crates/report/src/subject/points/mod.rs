//! Every point of the plan, and what its results are.

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::points;

pub(super) struct EveryPoint;

impl Subject for EveryPoint {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        let tables = vec![points::table(digest), points::meanings(digest)];
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
