//! The numbering of the frames that arrived: gaps, order and copies.

pub(super) mod json;
mod table;

pub(crate) use table::{SequenceRow, rows};

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};

pub(super) struct FrameSequence;

impl Subject for FrameSequence {
    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "sequence",
            "Gaps, order and copies",
            vec![table::table(digest)],
            vec![],
        )]
    }

    fn is_a_list(&self) -> bool {
        true
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        _digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.sequence = json::sequence(point);
    }
}
