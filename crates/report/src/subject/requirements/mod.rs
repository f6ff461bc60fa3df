//! The requirements of RFCs that devices meet and violate.

pub(super) mod json;

use crate::digest::{Digest, PointDigest};
use crate::subject::{PointFields, Subject};
use crate::wording::numbers::title;
use crate::wording::requirements::requirements_in_words;
use json::JsonRequirements;

pub(super) struct DeviceRequirements;

impl Subject for DeviceRequirements {
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
