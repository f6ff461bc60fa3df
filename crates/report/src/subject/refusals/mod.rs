//! What devices said of the frames that they did not deliver.

use crate::digest::{Digest, PointDigest};
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::subject::fields::PointFields;
use crate::tables::refusals;

pub(super) struct DeliveryRefusals;

impl Subject for DeliveryRefusals {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::of_table(
            "refusals",
            refusals::table(digest),
            vec![],
        )]
    }

    fn reservations(&self, digest: &Digest) -> Vec<String> {
        refusals::sentences(digest)
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        _digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.refusals = refusals::of_point(point);
    }
}
