//! The reassembly of fragments.

use super::fault::Fault;
use crate::tests::rigs::reference::datagram::Fragment;
use std::net::IpAddr;

/// A fragment, and what it is a fragment of.
#[derive(Clone, Debug)]
struct Part {
    source: IpAddr,
    fragment: Fragment,
    data: Vec<u8>,
}

/// Fragments that wait for others.
#[derive(Default)]
pub(super) struct Reassembly {
    parts: Vec<Part>,
}

impl Reassembly {
    /// Returns the data of a whole datagram: of one that is no fragment, or of which this is the last one missing.
    pub(super) fn whole(
        &mut self,
        source: IpAddr,
        fragment: Option<Fragment>,
        data: &[u8],
        fault: Option<Fault>,
    ) -> Option<Vec<u8>> {
        let Some(fragment) = fragment.filter(|fragment| fragment.more || fragment.offset > 0)
        else {
            return Some(data.to_vec());
        };
        if fault == Some(Fault::NoReassembly) {
            return None;
        }
        let is_first = fragment.offset == 0;
        if fault == Some(Fault::ReassemblyInOrder) && !is_first && self.parts.is_empty() {
            return None;
        }
        let is_loose = fault == Some(Fault::IdentificationIgnored);
        self.parts.push(Part {
            source,
            fragment,
            data: data.to_vec(),
        });
        let is_alike =
            |part: &&Part| part.source == source && (is_loose || part.fragment.id == fragment.id);
        let mut alike: Vec<&Part> = self.parts.iter().filter(is_alike).collect();
        alike.sort_by_key(|part| part.fragment.offset);
        let mut whole = Vec::new();
        for part in &alike {
            if usize::from(part.fragment.offset) != whole.len() {
                return None;
            }
            whole.extend(&part.data);
        }
        let is_complete = alike.last().is_some_and(|last| !last.fragment.more);
        is_complete.then_some(whole)
    }
}
