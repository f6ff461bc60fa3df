//! Mixed traffic: a series over the share of frames that the device does not translate.

mod figure;
mod sentences;
mod tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct MixedTraffic;

impl Subject for MixedTraffic {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "mixed",
            "Mixed traffic",
            tables::mixed(digest),
            vec![figure::figure(digest)],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }
}
