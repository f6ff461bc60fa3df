//! TCP connections (RFC 3511).

mod sentences;
mod tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct TcpConnections;

impl Subject for TcpConnections {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "tcp",
            "TCP connections (RFC 3511)",
            tables::tables(digest),
            vec![],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }
}
