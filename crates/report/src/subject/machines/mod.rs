//! The processors of devices on separate machines.

use crate::digest::Digest;
use crate::subject::chapter::Chapter;
use crate::subject::contribution::Subject;
use crate::tables::machines;

pub(super) struct DeviceMachines;

impl Subject for DeviceMachines {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::of_table(
            "machines",
            machines::table(digest),
            vec![],
        )]
    }

    fn is_a_list(&self) -> bool {
        true
    }
}
