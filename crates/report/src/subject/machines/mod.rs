//! The processors of devices on separate machines.

mod table;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};

pub(super) struct DeviceMachines;

impl Subject for DeviceMachines {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "machines",
            "Idle time of machines",
            vec![table::table(digest)],
            vec![],
        )]
    }

    fn is_a_list(&self) -> bool {
        true
    }
}
