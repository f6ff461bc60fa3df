//! The path of datagrams: mappings, tunnels, and devices in a row.

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::path;

pub(super) struct DatagramPaths;

impl Subject for DatagramPaths {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "path",
            "Mappings, tunnels, and devices in a row",
            path::tables(digest),
            vec![],
        )]
    }
}
