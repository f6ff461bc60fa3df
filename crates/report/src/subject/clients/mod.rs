//! Response times of a relay over the number of clients (6to4 paper).

mod figure;
mod sentences;
mod tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct ResponseTimes;

impl Subject for ResponseTimes {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "clients",
            "Response time over the number of clients (6to4 paper)",
            tables::tables(digest),
            vec![figure::figure(digest)],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }
}
