//! Soak tests: loss, memory and connections over hours.

mod figure;
mod sentences;
mod tables;

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, Subject};

pub(super) struct SoakTests;

impl Subject for SoakTests {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            tables::ID,
            "Soak",
            tables::tables(digest),
            vec![figure::figure(digest)],
        )]
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        sentences::sentence(point)
    }
}
