//! The memory for frames, divided into chunks of equal size. The lower chunks are for receiving, the upper ones for sending, so that the two
//! halves of a port never use the same chunk.

use crate::sys::mapping::MemoryMapping;
use std::io;

/// Chunks of the receiving half; also the size of its rings.
pub(super) const RECEIVE_CHUNKS: u32 = 8192;
/// Chunks of the sending half; also the size of its rings. A chunk comes back only when the peer has taken its frame out of the queue, so there
/// must be more chunks than the longest queue of a DUT has room for (netdev_max_backlog, 1000): otherwise a DUT that cannot keep up would hold
/// the sender back instead of losing frames. The chunk freed last is used first, so that few are touched.
pub(super) const SEND_CHUNKS: u32 = 4096;
/// The chunk sizes in octets that the kernel allows. Smaller is better, since every chunk of the receiving half is touched.
const CHUNKS: [usize; 2] = [2048, 4096];
/// Octets that the kernel keeps free before a received frame (XDP_PACKET_HEADROOM).
const HEADROOM: u32 = 256;

/// Returns the octets of a chunk for frames of `octets`; `None` if no size is large enough.
pub(super) fn chunk_for(octets: u32) -> Option<usize> {
    CHUNKS
        .into_iter()
        .find(|chunk| octets + HEADROOM <= *chunk as u32)
}

/// The memory of one port.
pub(super) struct Umem {
    memory: MemoryMapping,
    chunk: usize,
}

impl Umem {
    /// Allocates chunks of `chunk` octets, which must be a result of [`chunk_for`].
    pub(super) fn new(chunk: usize) -> io::Result<Self> {
        let chunks = (RECEIVE_CHUNKS + SEND_CHUNKS) as usize;
        Ok(Self {
            memory: MemoryMapping::anonymous(chunks * chunk)?,
            chunk,
        })
    }

    /// Returns the octets of a chunk.
    pub(super) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Returns the address and length, for the kernel.
    pub(super) fn area(&self) -> (u64, u64) {
        (self.memory.at(0) as u64, self.memory.length() as u64)
    }

    /// Returns the addresses of the receiving half's chunks.
    pub(super) fn receive_chunks(&self) -> impl Iterator<Item = u64> {
        let chunk = self.chunk as u64;
        (0..u64::from(RECEIVE_CHUNKS)).map(move |i| i * chunk)
    }

    /// Returns the address of the sending half's chunk `slot`.
    pub(super) fn send_chunk(&self, slot: u32) -> u64 {
        u64::from(RECEIVE_CHUNKS + slot) * self.chunk as u64
    }

    /// Returns the sending half's slot at an address.
    pub(super) fn slot_of(&self, address: u64) -> u32 {
        (address / self.chunk as u64) as u32 - RECEIVE_CHUNKS
    }

    /// Returns the chunk an address lies in.
    pub(super) fn chunk_of(&self, address: u64) -> u64 {
        address - address % self.chunk as u64
    }

    /// Returns the octets of a frame.
    ///
    /// # Safety
    /// The caller must own the chunk: it was taken from a ring and is not returned while the slice lives.
    pub(super) unsafe fn octets(&self, address: u64, length: u32) -> &[u8] {
        let length = (length as usize).min(self.memory.length() - address as usize);
        // SAFETY: `at` checks the start, the length was clamped to the mapping, and the chunk is the caller's.
        unsafe { std::slice::from_raw_parts(self.memory.at(address as usize), length) }
    }

    /// Returns a sending chunk for writing.
    ///
    /// # Safety
    /// As for [`Umem::octets`]; the caller must also hold the only reference into the chunk.
    #[expect(
        clippy::mut_from_ref,
        reason = "the rings, not the borrow checker, say who owns a chunk"
    )]
    pub(super) unsafe fn chunk_mut(&self, slot: u32) -> &mut [u8] {
        // SAFETY: slots are below SEND_CHUNKS at every caller, so the chunk lies within the mapping (`at` asserts its start).
        unsafe {
            std::slice::from_raw_parts_mut(
                self.memory.at(self.send_chunk(slot) as usize),
                self.chunk,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_share_no_chunk_and_slots_round_trip() {
        for chunk in CHUNKS {
            let umem = Umem::new(chunk).expect("memory");
            assert!(
                umem.receive_chunks()
                    .all(|address| address < umem.send_chunk(0))
            );
            assert!((0..SEND_CHUNKS).all(|slot| umem.slot_of(umem.send_chunk(slot)) == slot));
        }
    }

    #[test]
    fn ordinary_frames_take_small_chunks_and_the_largest_none() {
        assert_eq!(
            [
                chunk_for(1518),
                chunk_for(1793),
                chunk_for(3840),
                chunk_for(3841)
            ],
            [Some(2048), Some(4096), Some(4096), None]
        );
    }
}
