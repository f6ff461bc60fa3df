//! The frames of each size, where the trials have a mix of frame sizes.

mod table;
pub(crate) mod totals;

pub(crate) use table::{FrameSizeRow, rows};

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};

pub(super) struct MixedSizes;

impl Subject for MixedSizes {
    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "sizes",
            "Frames of each size",
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
        fields.sizes = totals::of_point(point);
    }
}
