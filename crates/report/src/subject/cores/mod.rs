//! Core scaling: series over the cores of the device.

mod figures;
pub(super) mod json;
mod scaling;
mod sentences;
mod tables;

pub(crate) use scaling::{Scaling, scalings};

use crate::digest::Digest;
use crate::subject::{Chapter, RunFields, Subject};

pub(super) struct CoreScaling;

impl Subject for CoreScaling {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "cores",
            "Core scaling",
            tables::tables(digest),
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
