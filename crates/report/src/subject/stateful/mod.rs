//! Stateful gateways (RFC 9693).

mod figures;
pub(super) mod json;
mod sentences;
mod tables;

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};

pub(super) struct StatefulGateways;

impl Subject for StatefulGateways {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "stateful",
            "Stateful gateways (RFC 9693)",
            tables::tables(digest),
            figures::figures(digest),
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.stateful = json::point(digest, point);
    }
}
