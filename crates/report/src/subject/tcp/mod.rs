//! TCP connections (RFC 3511).

mod sentences;

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::tcp;

pub(super) struct TcpConnections;

impl Subject for TcpConnections {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "tcp",
            "TCP connections (RFC 3511)",
            tcp::tables(digest),
            vec![],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }
}
