//! The requirements of RFCs that devices meet and violate.

pub(super) mod json;
mod tables;

pub(crate) use tables::{VectorRow, rows};

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};
use crate::wording::numbers::title;
use crate::wording::requirements::requirements_in_words;
use json::JsonRequirements;

pub(super) struct DeviceRequirements;

impl Subject for DeviceRequirements {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "requirements",
            "Requirements of RFCs on the devices",
            vec![
                tables::by_rfc(digest),
                tables::violated(digest),
                tables::side_by_side(digest),
            ],
            vec![],
        )]
    }

    /// Whether a device is right does not depend on how it is joined to the tester.
    fn is_a_list(&self) -> bool {
        true
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        Some(format!(
            "{}: {}.",
            title(point.test),
            requirements_in_words(point.requirements()?)
        ))
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        _digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.requirements = point.requirements().map(JsonRequirements::new);
    }
}
