//! The memory frames live in, cut into chunks of equal size. The lower chunks are for receiving, the upper ones for sending, so
//! that the two halves of a port never meet in a chunk.

use crate::sys::mapping::Mapping;
use std::io;

/// Chunks the receiving half owns; also the size of its rings.
pub(super) const RECEIVE_CHUNKS: u32 = 8192;
/// Chunks the sending half owns; also the size of its rings. A chunk comes back only when the peer has taken its frame out of the
/// queue, so there must be more of them than the longest queue of a DUT (netdev_max_backlog, 1000): else a DUT that cannot keep up
/// would hold the sender back instead of losing frames. The one freed last is used first, so that few are touched.
pub(super) const SEND_CHUNKS: u32 = 4096;
/// Octets of a chunk: the kernel allows 2048 and 4096.
pub(super) const CHUNK: usize = 4096;
/// Octets the kernel keeps free before a received frame (XDP_PACKET_HEADROOM).
const HEADROOM: u32 = 256;
/// The largest frame that fits into a chunk.
pub(super) const LARGEST_FRAME: u32 = CHUNK as u32 - HEADROOM;

/// The memory of one port.
pub(super) struct Umem {
    memory: Mapping,
}

impl Umem {
    pub(super) fn new() -> io::Result<Self> {
        let chunks = (RECEIVE_CHUNKS + SEND_CHUNKS) as usize;
        Ok(Self { memory: Mapping::anonymous(chunks * CHUNK)? })
    }

    /// Address and length, for the kernel.
    pub(super) fn area(&self) -> (u64, u64) {
        (self.memory.at(0) as u64, self.memory.length() as u64)
    }

    /// Addresses of the receiving half's chunks.
    pub(super) fn receive_chunks() -> impl Iterator<Item = u64> {
        (0..u64::from(RECEIVE_CHUNKS)).map(|i| i * CHUNK as u64)
    }

    /// Address of the sending half's chunk `slot`.
    pub(super) fn send_chunk(slot: u32) -> u64 {
        u64::from(RECEIVE_CHUNKS + slot) * CHUNK as u64
    }

    /// The sending half's slot at an address.
    pub(super) fn slot_of(address: u64) -> u32 {
        (address / CHUNK as u64) as u32 - RECEIVE_CHUNKS
    }

    /// The octets of a frame.
    ///
    /// # Safety
    /// The caller must own the chunk: taken from a ring and not given back while the slice lives.
    pub(super) unsafe fn octets(&self, address: u64, length: u32) -> &[u8] {
        let length = (length as usize).min(self.memory.length() - address as usize);
        // SAFETY: `at` checks the start, the length was clamped to the mapping, and the chunk is the caller's.
        unsafe { std::slice::from_raw_parts(self.memory.at(address as usize), length) }
    }

    /// A sending chunk, to be written.
    ///
    /// # Safety
    /// As for [`Umem::octets`]; and the caller must hold the only reference into the chunk.
    #[expect(clippy::mut_from_ref, reason = "the rings, not the borrow checker, say who owns a chunk")]
    pub(super) unsafe fn chunk_mut(&self, slot: u32) -> &mut [u8] {
        // SAFETY: slots are below SEND_CHUNKS at every caller, so the chunk lies within the mapping (`at` asserts its start).
        unsafe { std::slice::from_raw_parts_mut(self.memory.at(Self::send_chunk(slot) as usize), CHUNK) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_share_no_chunk_and_slots_round_trip() {
        assert!(Umem::receive_chunks().all(|address| address < Umem::send_chunk(0)));
        assert!((0..SEND_CHUNKS).all(|slot| Umem::slot_of(Umem::send_chunk(slot)) == slot));
    }
}
