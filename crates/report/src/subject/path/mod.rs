//! The path of datagrams: mappings, tunnels, and devices in a row.

mod tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct DatagramPaths;

impl Subject for DatagramPaths {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "path",
            "Mappings, tunnels, and devices in a row",
            tables::tables(digest),
            vec![],
        )]
    }
}
