//! Mixed traffic: a series over the share of frames that the device does not translate.

mod figure;
mod sentences;

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::mix;

pub(super) struct MixedTraffic;

impl Subject for MixedTraffic {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "mixed",
            "Mixed traffic",
            mix::mixed(digest),
            vec![figure::figure(digest)],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }
}
