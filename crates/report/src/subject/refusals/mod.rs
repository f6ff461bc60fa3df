//! What devices said of the frames that they did not deliver.

mod table;

pub(crate) use table::{RefusalRow, rows};

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};

pub(super) struct DeliveryRefusals;

impl Subject for DeliveryRefusals {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "refusals",
            "Why frames were not delivered",
            vec![table::table(digest)],
            vec![],
        )]
    }

    fn reservations(&self, digest: &Digest) -> Vec<String> {
        table::sentences(digest)
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        _digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.refusals = table::of_point(point);
    }
}
