//! Back-to-back frames: the longest bursts without loss.

mod sentences;

use crate::digest::{Digest, PointDigest};
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::burst;

pub(super) struct Bursts;

impl Subject for Bursts {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::of_table(
            "back-to-back",
            burst::table(digest),
            vec![],
        )]
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        sentences::sentence(point)
    }
}
