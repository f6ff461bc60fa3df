//! Soak tests: loss, memory and connections over hours.

mod figure;
mod sentences;

use crate::digest::{Digest, PointDigest};
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::soak;

pub(super) struct SoakTests;

impl Subject for SoakTests {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "soak",
            "Soak",
            soak::tables(digest),
            vec![figure::figure(digest)],
        )]
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        sentences::sentence(point)
    }
}
