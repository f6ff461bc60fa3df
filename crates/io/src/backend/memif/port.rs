//! A link in shared memory as a port.
//!
//! The ring to the device is the device's receive queue: if it is full, the device refuses the frame, and we do not keep it.

use super::bell::Ringer;
use super::channel::ControlChannel;
use super::error::MemifError;
use super::handshake::{MemifLink, RegionLayout};
use super::ring::{FLAG_NEXT, RingEnd, RingEntry};
use crate::backend::full::FullCounter;
use crate::backend::turn::{take_soon, try_take};
use crate::port::LONGEST_FRAME;
use crate::sys::memfd::Doorbell;
use crate::{BATCH, Fill, Halves, PortError, Receive, Sent, Transmit};
use std::sync::{Arc, Mutex};

/// The number of times in a row that a ring is polled without a change before we check that the peer is still there. The check is a system call; at
/// most one poll in 32,768 makes it.
const EMPTY_POLLS_BEFORE_CHECK: u32 = 1 << 15;

/// The parts of a link that both halves share.
struct LinkShared {
    name: String,
    channel: ControlChannel,
    _unused_bell: Doorbell,
}

impl LinkShared {
    #[cold]
    fn fail(&self, error: &MemifError) -> PortError {
        PortError::Peer {
            port: self.name.clone(),
            what: error.to_string(),
        }
    }

    fn check(&self) -> Result<(), PortError> {
        self.channel.check().map_err(|error| self.fail(&error))
    }
}

/// Returns the halves of a link; `layout` is that of the memory, if it is our own.
pub(super) fn halves(
    name: &str,
    link: MemifLink,
    layout: Option<RegionLayout>,
    longest: usize,
) -> Halves {
    let MemifLink {
        channel,
        sending,
        bell,
        receiving,
        unused_bell,
        ..
    } = link;
    let shared = Arc::new(LinkShared {
        name: name.to_owned(),
        channel,
        _unused_bell: unused_bell,
    });
    let slots = usize::from(sending.size());
    let transmit_ring = Arc::new(Mutex::new(TransmitRing {
        end: sending,
        bell,
        layout,
    }));
    let transmit: Box<dyn Transmit> = if let Some(layout) = layout {
        let spare = vec![0; layout.buffers.sending].into_boxed_slice();
        Box::new(ClientTransmit {
            transmit_ring: transmit_ring.clone(),
            layout,
            slots,
            spare,
            full: FullCounter::default(),
            shared: shared.clone(),
        })
    } else {
        let buffers = vec![0; longest * BATCH].into_boxed_slice();
        Box::new(ServerTransmit {
            transmit_ring: transmit_ring.clone(),
            longest,
            buffers,
            full: FullCounter::default(),
            shared: shared.clone(),
        })
    };
    let frame = vec![0; LONGEST_FRAME].into_boxed_slice();
    let receive = Box::new(MemifReceive {
        end: receiving,
        layout,
        frame,
        empty_polls: 0,
        transmit_ring,
        shared,
    });
    Halves { transmit, receive }
}

/// The ring on which frames leave. The sending half and the answers of the receiving half share it; whoever finds it locked goes on without waiting.
struct TransmitRing {
    end: RingEnd,
    bell: Ringer,
    /// The layout of our own memory, if it is ours.
    layout: Option<RegionLayout>,
}

impl TransmitRing {
    /// Shows the peer the entries that were put in.
    fn publish(&self) {
        self.end.publish();
        if self.end.wants_waking() {
            self.bell.ring();
        }
    }

    /// Puts one frame from our memory into the ring; returns whether there was room.
    fn put(&mut self, frame: &[u8]) -> Result<bool, MemifError> {
        let free = self.end.available()?;
        match self.layout {
            Some(layout) => self.put_into_own(frame, layout, free),
            None => self.put_into_theirs(frame, free),
        }
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the same signature as `put_into_theirs`"
    )]
    fn put_into_own(
        &mut self,
        frame: &[u8],
        layout: RegionLayout,
        free: u16,
    ) -> Result<bool, MemifError> {
        // Only answers to neighbour requests come here, which always fit; a longer one is dropped like one without room.
        if free == 0 || frame.len() > layout.buffers.sending {
            return Ok(false);
        }
        let offset = layout.answering(self.end.slot(0));
        self.end.memory().region(0).copy_from(offset, frame);
        self.end.set_entry(
            0,
            RingEntry {
                flags: 0,
                region: 0,
                octets: frame.len() as u32,
                offset: offset as u32,
            },
        );
        self.end.advance(1);
        Ok(true)
    }

    /// Copies a frame into as many of the peer's buffers as it needs.
    fn put_into_theirs(&mut self, frame: &[u8], free: u16) -> Result<bool, MemifError> {
        let (mut rest, mut taken) = (frame, 0);
        loop {
            if taken == free {
                return Ok(false);
            }
            let entry = self.end.entry(taken);
            let room = entry.octets as usize;
            let region = self.end.memory().find(entry.region, entry.offset, room)?;
            if room == 0 {
                return Err(MemifError::broken("it offers an empty buffer of 0 octets"));
            }
            let (part, after) = rest.split_at(room.min(rest.len()));
            region.copy_from(entry.offset as usize, part);
            let flags = if after.is_empty() { 0 } else { FLAG_NEXT };
            // Every part but the last fills its buffer, so an entry that is written here and not handed over still has the room that the client gave it.
            self.end.set_entry(
                taken,
                RingEntry {
                    flags,
                    octets: part.len() as u32,
                    ..entry
                },
            );
            (rest, taken) = (after, taken + 1);
            if rest.is_empty() {
                self.end.advance(taken);
                return Ok(true);
            }
        }
    }
}

/// Notes whether the ring was full, and occasionally checks for the peer: one that has disconnected takes nothing out.
fn note_full(is_full: bool, full: &mut FullCounter, shared: &LinkShared) -> Result<(), PortError> {
    if full.note(is_full) {
        shared.check()
    } else {
        Ok(())
    }
}

/// The sending half of a client: frames are written where the server reads them.
struct ClientTransmit {
    transmit_ring: Arc<Mutex<TransmitRing>>,
    layout: RegionLayout,
    slots: usize,
    /// The buffer for frames for which the ring has no room.
    spare: Box<[u8]>,
    full: FullCounter,
    shared: Arc<LinkShared>,
}

impl ClientTransmit {
    /// Fills up to `wanted` frames; returns how many found room, or `None` while an answer is being sent.
    fn fill_ring(&self, wanted: usize, fill: &mut Fill<'_>) -> Result<Option<usize>, MemifError> {
        let Some(mut turn) = try_take(&self.transmit_ring) else {
            return Ok(None);
        };
        let free = turn.end.available()?.min(wanted as u16);
        let (memory, room) = (turn.end.memory().region(0), self.layout.buffers.sending);
        for nth in 0..free {
            let slot = turn.end.slot(nth);
            let offset = self.layout.sending(slot);
            // SAFETY: a buffer belongs to its slot and the slot to us until it is published, and the turn is held: there is no other reference.
            // By the rules of memif the server does not touch it before, and never writes there. Against one that does, this reference breaks its
            // promise: there is no other writer while it lives. That is accepted, since a frame would have to be copied otherwise. `fill` writes
            // octets and reads none, no length, offset or index comes from a buffer, and what a peer can do to the octets of a frame is seen when
            // it comes back.
            let octets = fill(usize::from(slot), unsafe {
                memory.octets_mut(offset, room)
            });
            assert!(
                octets <= room,
                "a frame of {octets} octets in a buffer of {room}"
            );
            turn.end.set_entry(
                nth,
                RingEntry {
                    flags: 0,
                    region: 0,
                    octets: octets as u32,
                    offset: offset as u32,
                },
            );
        }
        if free > 0 {
            turn.end.advance(free);
            turn.publish();
        }
        Ok(Some(usize::from(free)))
    }
}

impl Transmit for ClientTransmit {
    /// Returns the number of slots. The last one is `spare`: a frame without room in the ring is still written, so that its number and its time are
    /// used up.
    fn slots(&self) -> usize {
        self.slots + 1
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let wanted = wanted.min(BATCH);
        let sent = self
            .fill_ring(wanted, fill)
            .map_err(|error| self.shared.fail(&error))?;
        let Some(sent) = sent else {
            return Ok(Sent::default());
        };
        for _ in sent..wanted {
            fill(self.slots, &mut self.spare);
        }
        note_full(sent < wanted, &mut self.full, &self.shared)?;
        Ok(Sent {
            taken: wanted,
            refused: wanted - sent,
        })
    }

    fn check_link(&self) -> Result<(), PortError> {
        self.shared.check()
    }
}

/// The sending half of a server: frames are copied into the buffers that the client has put into the ring.
struct ServerTransmit {
    transmit_ring: Arc<Mutex<TransmitRing>>,
    longest: usize,
    buffers: Box<[u8]>,
    full: FullCounter,
    shared: Arc<LinkShared>,
}

impl ServerTransmit {
    /// Fills and copies `wanted` frames; returns how many found room, or `None` while an answer is being sent.
    fn copy_out(
        &mut self,
        wanted: usize,
        fill: &mut Fill<'_>,
    ) -> Result<Option<usize>, MemifError> {
        let Some(mut turn) = try_take(&self.transmit_ring) else {
            return Ok(None);
        };
        let mut sent = 0;
        for (slot, buffer) in self
            .buffers
            .chunks_exact_mut(self.longest)
            .enumerate()
            .take(wanted)
        {
            let octets = fill(slot, buffer);
            // After a frame without room, a shorter one is not sent either, to keep the order.
            if sent == slot && turn.put(&buffer[..octets])? {
                sent += 1;
            }
        }
        if sent > 0 {
            turn.publish();
        }
        Ok(Some(sent))
    }
}

impl Transmit for ServerTransmit {
    fn slots(&self) -> usize {
        BATCH
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let wanted = wanted.min(BATCH);
        let sent = self
            .copy_out(wanted, fill)
            .map_err(|error| self.shared.fail(&error))?;
        let Some(sent) = sent else {
            return Ok(Sent::default());
        };
        note_full(sent < wanted, &mut self.full, &self.shared)?;
        Ok(Sent {
            taken: wanted,
            refused: wanted - sent,
        })
    }

    fn check_link(&self) -> Result<(), PortError> {
        self.shared.check()
    }
}

/// The receiving half.
struct MemifReceive {
    end: RingEnd,
    /// The layout of the memory, if it is our own.
    layout: Option<RegionLayout>,
    /// A copy of the frame being examined, as the peer could change the original at any time.
    frame: Box<[u8]>,
    /// The number of polls in a row that found nothing.
    empty_polls: u32,
    transmit_ring: Arc<Mutex<TransmitRing>>,
    shared: Arc<LinkShared>,
}

impl MemifReceive {
    /// Appends the part of a frame in entry `nth` to the octets that were already copied; returns the entry's flags.
    #[inline]
    fn copy_part(&mut self, nth: u16, octets: &mut usize) -> Result<u16, MemifError> {
        let entry = self.end.entry(nth);
        let length = entry.octets as usize;
        if let Some(layout) = self.layout {
            let slot = self.end.slot(nth);
            let empty = layout.empty(slot);
            if (entry.region, entry.offset) != (empty.region, empty.offset)
                || entry.octets > empty.octets
            {
                return Err(changed_buffer_error(entry, empty));
            }
        }
        let region = self.end.memory().find(entry.region, entry.offset, length)?;
        let Some(room) = self.frame.get_mut(*octets..*octets + length) else {
            return Err(oversized_frame_error());
        };
        region.copy_to(entry.offset as usize, room);
        *octets += length;
        Ok(entry.flags)
    }

    /// Copies the frame that begins at entry `first`; returns its octets and the entry after it.
    #[inline]
    fn copy_frame(&mut self, first: u16, available: u16) -> Result<(usize, u16), MemifError> {
        let (mut octets, mut nth) = (0, first);
        while self.copy_part(nth, &mut octets)? & FLAG_NEXT != 0 {
            nth += 1;
            if nth == available {
                return Err(MemifError::broken(
                    "it hands over the beginning of a frame without its end",
                ));
            }
        }
        Ok((octets, nth + 1))
    }

    fn take_frames(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, MemifError> {
        let available = self.end.available()?;
        let (mut next, mut frames) = (0, 0);
        while next < available && frames < BATCH {
            let (octets, after) = self.copy_frame(next, available)?;
            each(&self.frame[..octets]);
            (next, frames) = (after, frames + 1);
        }
        if next > 0 {
            self.give_back(next);
        }
        Ok(frames)
    }

    /// Returns the buffers of the first `count` entries to the peer.
    #[inline]
    fn give_back(&mut self, count: u16) {
        if let Some(layout) = self.layout {
            (0..count).for_each(|nth| self.end.set_entry(nth, layout.empty(self.end.slot(nth))));
        }
        self.end.advance(count);
        self.end.publish();
    }
}

#[cold]
fn changed_buffer_error(entry: RingEntry, empty: RingEntry) -> MemifError {
    let RingEntry {
        region,
        octets,
        offset,
        ..
    } = entry;
    MemifError::broken(format!(
        "it hands over {octets} octets at {offset} of region {region}, where its buffer has {} at {}",
        empty.octets, empty.offset
    ))
}

#[cold]
fn oversized_frame_error() -> MemifError {
    MemifError::broken(format!(
        "it hands over a frame of more than {LONGEST_FRAME} octets"
    ))
}

impl Receive for MemifReceive {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let frames = self
            .take_frames(each)
            .map_err(|error| self.shared.fail(&error))?;
        self.empty_polls = if frames == 0 { self.empty_polls + 1 } else { 0 };
        if self.empty_polls >= EMPTY_POLLS_BEFORE_CHECK {
            self.empty_polls = 0;
            self.shared.check()?;
        }
        Ok(frames)
    }

    /// Sends one frame. If the ring is full, the frame is lost, as on a wire; a caller that needs an answer sends it again.
    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        let Some(mut turn) = take_soon(&self.transmit_ring) else {
            return Ok(());
        };
        if turn.put(frame).map_err(|error| self.shared.fail(&error))? {
            turn.publish();
        }
        Ok(())
    }

    /// Always 0: if the ring is full, the peer keeps or drops the frame, and we cannot know which.
    fn overruns(&mut self) -> Result<u64, PortError> {
        Ok(0)
    }
}
