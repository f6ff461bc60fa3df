//! Throughputs and other searched rates: the results that come first.

mod figure;
mod sentences;
mod tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct SearchedRates;

impl Subject for SearchedRates {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "headline",
            "Results",
            vec![tables::headline(digest), tables::goals(digest)],
            vec![figure::figure(digest)],
        )]
    }

    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "by-size",
            "By frame size, in the reporting format of RFC 2544",
            tables::by_size(digest),
            vec![],
        )]
    }

    fn headline(&self, host: &Digest) -> Option<String> {
        sentences::headline(host)
    }

    fn overview(&self, host: &Digest) -> Vec<String> {
        sentences::sentences(host)
    }
}
