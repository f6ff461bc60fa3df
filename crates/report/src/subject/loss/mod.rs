//! Frame loss rates (RFC 2544 section 26.3).

mod figure;
mod sentences;
mod table;

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, Subject};

pub(super) struct LossRates;

impl Subject for LossRates {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        let figures = vec![figure::figure(digest)];
        let chapter = Chapter::new(
            "loss-rate",
            "Frame loss rate",
            vec![table::table(digest)],
            figures,
        );
        vec![chapter.with_graph_first()]
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        sentences::sentence(point)
    }
}
