//! The rings: two indices and an array of descriptors in shared memory. The client moves the head, the server the tail. On the ring to the
//! server, the client puts frames in at the head; on the ring to the client, it puts in empty buffers, which the server fills at the tail.
//! Indices count up and wrap at 16 bits.

use super::error::MemifError;
use super::memory::SharedMemory;
use std::sync::atomic::{AtomicU16, Ordering, fence};

/// The number with which a ring begins: VPP's MEMIF_COOKIE.
const COOKIE: u32 = 0x03E3_1F20;
/// The reader polls, and need not be woken.
const MASK_INTERRUPT: u16 = 1;
/// The frame continues in the next descriptor.
pub(super) const FLAG_NEXT: u16 = 1;

const COOKIE_AT: usize = 0;
const FLAGS_AT: usize = 4;
const HEAD_AT: usize = 6;
const TAIL_AT: usize = 64;
const DESCRIPTORS_AT: usize = 128;
const DESCRIPTOR_OCTETS: usize = 16;

/// The most frames that a ring may hold, as a power of two; VPP and DPDK have the same limit.
pub(super) const MOST_LOG2_RING: u8 = 14;

/// The place of a ring within the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingPlace {
    pub(super) region: u16,
    pub(super) offset: u32,
    pub(super) log2_size: u8,
}

impl RingPlace {
    /// Returns the octets of a ring.
    pub(super) fn octets(log2_size: u8) -> usize {
        DESCRIPTORS_AT + (DESCRIPTOR_OCTETS << log2_size)
    }

    /// Fails if there cannot be a ring at this place.
    pub(super) fn check(self, memory: &SharedMemory) -> Result<(), MemifError> {
        if !(1..=MOST_LOG2_RING).contains(&self.log2_size) {
            return Err(MemifError::broken(format!(
                "it wants a ring of 2^{} frames",
                self.log2_size
            )));
        }
        if !(self.offset as usize).is_multiple_of(DESCRIPTOR_OCTETS) {
            return Err(MemifError::broken(format!(
                "it has a ring at {}, which is not aligned",
                self.offset
            )));
        }
        let mut cookie = [0; 4];
        memory
            .find(self.region, self.offset, Self::octets(self.log2_size))?
            .copy_to(self.offset as usize + COOKIE_AT, &mut cookie);
        // Both ends are on one machine, so octets are in its own order.
        match u32::from_ne_bytes(cookie) {
            COOKIE => Ok(()),
            other => Err(MemifError::broken(format!(
                "where its ring should begin there is {other:#x} instead of {COOKIE:#x}"
            ))),
        }
    }

    /// Writes the header of a new ring.
    pub(super) fn begin(self, memory: &SharedMemory) {
        memory
            .region(self.region)
            .copy_from(self.offset as usize + COOKIE_AT, &COOKIE.to_ne_bytes());
    }
}

/// One entry of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingEntry {
    pub(super) flags: u16,
    pub(super) region: u16,
    pub(super) octets: u32,
    pub(super) offset: u32,
}

/// One of the four uses of a ring.
#[derive(Clone, Copy)]
pub(super) struct RingUse {
    pub(super) is_client: bool,
    pub(super) sends: bool,
}

/// Our end of a ring.
pub(super) struct RingEnd {
    memory: SharedMemory,
    place: RingPlace,
    size: u16,
    /// Offsets of our own index and of the peer's.
    own_at: usize,
    their_at: usize,
    /// The distance from the entries that we have finished to our index.
    ahead: u16,
    /// The distance from the peer's index to the end of our entries.
    behind: u16,
    /// The number of entries that we have finished, modulo 2^16.
    position: u16,
    /// The number of entries known to be ours.
    known: u16,
}

impl RingEnd {
    /// Returns the end of a ring that was checked.
    pub(super) fn new(
        memory: SharedMemory,
        place: RingPlace,
        RingUse { is_client, sends }: RingUse,
    ) -> Self {
        let size = 1 << place.log2_size;
        let (own_at, their_at) = if is_client {
            (HEAD_AT, TAIL_AT)
        } else {
            (TAIL_AT, HEAD_AT)
        };
        // A client's ring is full of its own entries when it begins to send, and full of the server's entries when it begins to receive.
        let (ahead, behind) = match (is_client, sends) {
            (true, true) => (0, size),
            (true, false) => (size, 0),
            (false, _) => (0, 0),
        };
        Self {
            memory,
            place,
            size,
            own_at,
            their_at,
            ahead,
            behind,
            position: 0,
            known: behind,
        }
    }

    /// Returns the memory of the half that has this end.
    #[inline]
    pub(super) fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// Gives the memory back.
    pub(super) fn into_memory(self) -> SharedMemory {
        self.memory
    }

    /// Returns the number of entries.
    pub(super) fn size(&self) -> u16 {
        self.size
    }

    /// Sets both indices to zero, as a server does when the link is set up.
    pub(super) fn reset(&self) {
        self.word(HEAD_AT).store(0, Ordering::Relaxed);
        self.word(TAIL_AT).store(0, Ordering::Release);
    }

    /// Tells the peer that we need not be woken for entries in this ring.
    pub(super) fn mask_interrupts(&self) {
        self.word(FLAGS_AT).store(MASK_INTERRUPT, Ordering::Relaxed);
    }

    #[inline]
    fn word(&self, at: usize) -> &AtomicU16 {
        self.memory
            .region(self.place.region)
            .word_16(self.place.offset as usize + at)
    }

    /// Returns the number of entries that are ours now.
    ///
    /// # Errors
    /// The peer's index went back, or advanced further than the ring's length.
    #[inline]
    pub(super) fn available(&mut self) -> Result<u16, MemifError> {
        let theirs = self.word(self.their_at).load(Ordering::Acquire);
        let available = theirs.wrapping_add(self.behind).wrapping_sub(self.position);
        if available > self.size || available < self.known {
            return Err(self.jumped(theirs));
        }
        self.known = available;
        Ok(available)
    }

    #[cold]
    fn jumped(&self, theirs: u16) -> MemifError {
        let before = self
            .position
            .wrapping_add(self.known)
            .wrapping_sub(self.behind);
        MemifError::broken(format!(
            "its index of a ring of {} frames jumped from {before} to {theirs}",
            self.size
        ))
    }

    /// Returns the slot of our entry `nth`.
    #[inline]
    pub(super) fn slot(&self, nth: u16) -> u16 {
        self.position.wrapping_add(nth) & (self.size - 1)
    }

    #[inline]
    fn entry_at(&self, nth: u16) -> usize {
        self.place.offset as usize
            + DESCRIPTORS_AT
            + usize::from(self.slot(nth)) * DESCRIPTOR_OCTETS
    }

    /// Returns our entry `nth`, which is read only once: the peer may write anything into it at any time.
    #[inline]
    pub(super) fn entry(&self, nth: u16) -> RingEntry {
        let (region, at) = (self.memory.region(self.place.region), self.entry_at(nth));
        let first = region.word_64(at).load(Ordering::Relaxed).to_ne_bytes();
        let second = region.word_64(at + 8).load(Ordering::Relaxed).to_ne_bytes();
        let [f0, f1, r0, r1, l0, l1, l2, l3] = first;
        let [o0, o1, o2, o3, ..] = second;
        RingEntry {
            flags: u16::from_ne_bytes([f0, f1]),
            region: u16::from_ne_bytes([r0, r1]),
            octets: u32::from_ne_bytes([l0, l1, l2, l3]),
            offset: u32::from_ne_bytes([o0, o1, o2, o3]),
        }
    }

    /// Writes our entry `nth`.
    #[inline]
    pub(super) fn set_entry(&self, nth: u16, entry: RingEntry) {
        let ([f0, f1], [r0, r1]) = (entry.flags.to_ne_bytes(), entry.region.to_ne_bytes());
        let ([l0, l1, l2, l3], [o0, o1, o2, o3]) =
            (entry.octets.to_ne_bytes(), entry.offset.to_ne_bytes());
        let (region, at) = (self.memory.region(self.place.region), self.entry_at(nth));
        region.word_64(at).store(
            u64::from_ne_bytes([f0, f1, r0, r1, l0, l1, l2, l3]),
            Ordering::Relaxed,
        );
        region.word_64(at + 8).store(
            u64::from_ne_bytes([o0, o1, o2, o3, 0, 0, 0, 0]),
            Ordering::Relaxed,
        );
    }

    /// Finishes our first `count` entries; the peer does not see it yet.
    #[inline]
    pub(super) fn advance(&mut self, count: u16) {
        debug_assert!(count <= self.known, "only entries that are ours");
        self.position = self.position.wrapping_add(count);
        self.known -= count;
    }

    /// Shows the peer the entries that we have finished.
    #[inline]
    pub(super) fn publish(&self) {
        self.word(self.own_at)
            .store(self.position.wrapping_add(self.ahead), Ordering::Release);
    }

    /// Returns whether the peer is sleeping and must be woken. To be called after [`publish`](Self::publish).
    #[inline]
    pub(super) fn wants_waking(&self) -> bool {
        // The peer may be about to sleep: either it must see our index, or we its flag.
        fence(Ordering::SeqCst);
        self.word(FLAGS_AT).load(Ordering::Relaxed) & MASK_INTERRUPT == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: RingPlace = RingPlace {
        region: 0,
        offset: 64,
        log2_size: 2,
    };

    fn memory() -> [SharedMemory; 2] {
        let (memory, _) = SharedMemory::new(4096).expect("memory");
        PLACE.begin(&memory[0]);
        memory
    }

    /// Returns both ends of a ring by which the client sends, or the server.
    fn ends(client_sends: bool) -> [RingEnd; 2] {
        let [sender, receiver] = memory();
        let end =
            |memory, is_client, sends| RingEnd::new(memory, PLACE, RingUse { is_client, sends });
        [
            end(sender, client_sends, true),
            end(receiver, !client_sends, false),
        ]
    }

    fn entry(number: u32) -> RingEntry {
        RingEntry {
            flags: FLAG_NEXT,
            region: 2,
            octets: number,
            offset: !number,
        }
    }

    /// Passes entries from one end to the other until the indices have wrapped.
    fn pass([mut sender, mut receiver]: [RingEnd; 2]) {
        receiver.publish();
        for round in 0..30_000 {
            let count = 1 + (round % 4) as u16;
            assert_eq!(
                (
                    sender.available().expect("room"),
                    receiver.available().expect("nothing yet")
                ),
                (4, 0)
            );
            (0..count).for_each(|nth| sender.set_entry(nth, entry(round + u32::from(nth))));
            sender.advance(count);
            assert_eq!(
                receiver.available().expect("nothing yet"),
                0,
                "nothing is seen before it is published"
            );
            sender.publish();
            assert_eq!(
                (
                    sender.available().expect("less room"),
                    receiver.available().expect("entries")
                ),
                (4 - count, count)
            );
            (0..count)
                .for_each(|nth| assert_eq!(receiver.entry(nth), entry(round + u32::from(nth))));
            receiver.advance(count);
            assert_eq!(
                sender.available().expect("less room"),
                4 - count,
                "room comes back when it is published"
            );
            receiver.publish();
        }
    }

    #[test]
    fn entries_pass_in_order_in_both_directions_also_when_the_indices_wrap() {
        pass(ends(true));
        pass(ends(false));
    }

    #[test]
    fn an_index_that_jumps_or_goes_back_is_refused_at_every_end() {
        for (is_client, sends) in [(true, true), (true, false), (false, true), (false, false)] {
            let [memory, _] = memory();
            let mut ours = RingEnd::new(memory, PLACE, RingUse { is_client, sends });
            let start = ours.word(ours.their_at).load(Ordering::Relaxed);
            let known = ours.available().expect("a new ring");
            let mut at = |theirs: u16| {
                ours.word(ours.their_at).store(theirs, Ordering::Relaxed);
                ours.available().map_err(|error| error.to_string())
            };
            let most = 4 - known;
            assert_eq!(at(start.wrapping_add(most)), Ok(4));
            for wrong in [most.wrapping_add(1), most.wrapping_sub(1), 0x8000, u16::MAX] {
                let error = at(start.wrapping_add(wrong)).expect_err("a lie");
                assert!(
                    error.contains("its index of a ring of 4 frames jumped from"),
                    "{error}"
                );
            }
            assert_eq!(at(start.wrapping_add(most)), Ok(4));
        }
    }

    #[test]
    fn a_ring_lies_aligned_within_its_region_and_begins_with_the_cookie() {
        let [memory, _] = memory();
        PLACE.check(&memory).expect("a ring");
        let refused = |place: RingPlace| place.check(&memory).expect_err("no ring").to_string();
        assert!(
            refused(RingPlace { region: 1, ..PLACE }).contains("the region 1, which there is not")
        );
        assert!(
            refused(RingPlace {
                offset: 72,
                ..PLACE
            })
            .contains("a ring at 72, which is not aligned")
        );
        assert!(
            refused(RingPlace {
                offset: 4096 - 128,
                ..PLACE
            })
            .contains("192 octets at 3968 of region 0, which has 4096")
        );
        assert!(
            refused(RingPlace {
                log2_size: 8,
                ..PLACE
            })
            .contains("of region 0, which has 4096")
        );
        for log2_size in [0, 15, 64, 255] {
            assert!(
                refused(RingPlace { log2_size, ..PLACE })
                    .contains(&format!("a ring of 2^{log2_size} frames"))
            );
        }
        assert!(
            refused(RingPlace {
                offset: 128,
                ..PLACE
            })
            .contains("instead of 0x3e31f20")
        );
    }

    #[test]
    fn a_peer_that_polls_need_not_be_woken() {
        let [ours, theirs] = ends(true);
        assert!(ours.wants_waking());
        theirs.mask_interrupts();
        assert!(!ours.wants_waking());
    }
}
