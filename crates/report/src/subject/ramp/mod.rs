//! The ramps before trials, whose frames no result counts.

mod table;
pub(crate) mod totals;

pub(crate) use table::{RampRow, rows};

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};

pub(super) struct Ramps;

impl Subject for Ramps {
    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "ramps",
            "Ramps before the trials",
            vec![table::table(digest)],
            vec![],
        )]
    }

    fn is_a_list(&self) -> bool {
        true
    }

    fn reservations(&self, digest: &Digest) -> Vec<String> {
        table::sentence(digest).into_iter().collect()
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        _digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.ramps = totals::of_point(point);
    }
}
