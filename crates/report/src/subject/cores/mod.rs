//! Core scaling: series over the cores of the device.

mod figures;
pub(super) mod json;
mod sentences;

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::subject::fields::RunFields;
use crate::tables::scaling;

pub(super) struct CoreScaling;

impl Subject for CoreScaling {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "cores",
            "Core scaling",
            scaling::tables(digest),
            vec![figures::rates(digest), figures::idle(digest)],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }

    fn fill_run<'a>(&self, fields: &mut RunFields<'a>, digest: &Digest<'a>) {
        fields.core_scaling = json::all(digest);
    }
}
