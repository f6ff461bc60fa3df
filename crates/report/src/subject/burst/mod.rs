//! Back-to-back frames: the longest bursts without loss.

mod sentences;
mod table;

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, Subject};

pub(super) struct Bursts;

impl Subject for Bursts {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            table::ID,
            "Back-to-back frames",
            vec![table::table(digest)],
            vec![],
        )]
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        sentences::sentence(point)
    }
}
