//! The requirements of RFCs that devices meet and violate.

pub(super) mod json;
mod loaded;
mod sentence;
mod side_by_side;
mod tables;

pub(crate) use sentence::sentence;
pub(crate) use side_by_side::{ComparedRfc, ComparedVector, compared};
pub(crate) use tables::{VectorRow, answer_frames, rows};

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};
use crate::wording::numbers::title;
use crate::wording::requirements::requirements_in_words;
use json::JsonRequirements;

pub(super) struct DeviceRequirements;

impl Subject for DeviceRequirements {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        let tables = [tables::by_rfc(digest)]
            .into_iter()
            .chain(side_by_side::tables(digest))
            .chain([
                tables::violated(digest),
                loaded::differing(digest),
                loaded::counts(digest),
            ]);
        vec![Chapter::new(
            "requirements",
            "Requirements of RFCs on the devices",
            tables.collect(),
            vec![],
        )]
    }

    /// Whether a device is right does not depend on how it is joined to the tester.
    fn is_a_list(&self) -> bool {
        true
    }

    fn point_sentence(&self, point: &PointDigest) -> Option<String> {
        let known = point.requirements()?.known_violations();
        let known = known.map_or_else(String::new, |known| format!(" Known violations: {known}."));
        Some(sentence_on(point)? + &known)
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

/// Returns the sentence on the requirements of one device.
pub(crate) fn sentence_on(point: &PointDigest) -> Option<String> {
    Some(format!(
        "{}: {}.",
        title(point.test),
        requirements_in_words(point.requirements()?)
    ))
}
