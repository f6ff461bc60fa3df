//! Latency, delay variation, recovery and reset: the quantities that are measured in one trial per repetition, each with a chapter.

mod sentences;
mod tables;

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, Subject};

pub(super) struct TimesOfOneTrial;

impl Subject for TimesOfOneTrial {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        tables::chapters(digest)
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        sentences::sentence(point)
    }
}
