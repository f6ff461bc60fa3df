//! Ports in memory to which an arbitrary peer writes, for the targets in `fuzz/`.

use super::channel::ControlChannel;
use super::error::MemifError;
use super::handshake::{ClientBuffers, MemifLink, RegionLayout};
use super::memory::SharedMemory;
use super::message::MemifMessage;
use super::port;
use super::ring::{RingEnd, RingPlace, RingUse};
use crate::sys::memfd::Doorbell;
use crate::{Halves, PortError};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Octets of the only region.
pub const REGION_OCTETS: usize = 1 << 15;
const LOG2_RING: u8 = 3;
const LONGEST: usize = 256;

/// Returns whether the octets are a message of the control socket. Panics if the message changes when it is written and read again; a text
/// without a terminating zero is then one octet shorter.
pub fn is_memif_message(octets: &[u8]) -> bool {
    let again = |message: &MemifMessage| MemifMessage::decode(&message.encode()).expect("a message that was written");
    let Ok(message) = MemifMessage::decode(octets) else { return false };
    let written = again(&message);
    assert_eq!((written.name(), again(&written)), (message.name(), written.clone()));
    true
}

/// Memory shared with a peer.
#[derive(Clone)]
pub struct MemifMemory(Arc<SharedMemory>);

impl MemifMemory {
    /// Creates one region.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new() -> io::Result<Self> {
        let (memory, _) = SharedMemory::new(REGION_OCTETS).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(Arc::new(memory)))
    }

    /// Writes octets, as the peer may at any time. Octets that do not fit are left out.
    pub fn write(&self, offset: usize, octets: &[u8]) {
        let offset = offset % REGION_OCTETS;
        self.0.region(0).copy_from(offset, &octets[..octets.len().min(REGION_OCTETS - offset)]);
    }

    /// Returns the port of a client, whose rings are at the beginning of the memory, in the initial state of a link.
    ///
    /// # Errors
    /// The kernel's.
    pub fn client(&self) -> io::Result<Halves> {
        let layout = RegionLayout::new(ClientBuffers { sending: LONGEST, receiving: 2048 }, LOG2_RING);
        let ring = |nth, sends| RingEnd::new(self.0.clone(), layout.ring(nth), RingUse { is_client: true, sends });
        self.halves(ring(0, true), ring(1, false), Some(layout))
    }

    /// Returns the port of a server whose peer has given the places of its rings: region, offset and size as a power of two.
    ///
    /// # Errors
    /// No ring can be at one of these places; or the kernel's.
    pub fn server(&self, places: [(u16, u32, u8); 2]) -> io::Result<Halves> {
        let places = places.map(|(region, offset, log2_size)| RingPlace { region, offset, log2_size });
        let refused = |error: MemifError| io::Error::other(error.to_string());
        places.iter().try_for_each(|place| place.check(&self.0)).map_err(refused)?;
        let end = |place, sends| RingEnd::new(self.0.clone(), place, RingUse { is_client: false, sends });
        self.halves(end(places[1], true), end(places[0], false), None)
    }

    fn halves(&self, sending: RingEnd, receiving: RingEnd, layout: Option<RegionLayout>) -> io::Result<Halves> {
        let (socket, _) = UnixStream::pair()?;
        let channel = ControlChannel::of_socket(socket.into());
        let (bell, unused_bell) = (Doorbell::new()?, Doorbell::new()?);
        let link =
            MemifLink { channel, memory: self.0.clone(), peer: "peer".to_owned(), sending, bell, receiving, unused_bell };
        Ok(port::halves("memif", link, layout, LONGEST))
    }
}

/// Makes a port receive, answer and send once; returns the octets of the received frames.
///
/// # Errors
/// The peer's memory violates the protocol.
pub fn memif_turn(halves: &mut Halves, answer: &[u8]) -> Result<Vec<Vec<u8>>, PortError> {
    let mut frames = Vec::new();
    let count = halves.receive.receive(&mut |frame| frames.push(frame.to_vec()))?;
    assert!(count == frames.len() && count <= crate::BATCH);
    halves.receive.answer(answer)?;
    let sent = halves.transmit.transmit(3, &mut |_, buffer| {
        buffer[..60].fill(0xaa);
        60
    })?;
    assert!(sent.refused <= sent.taken && sent.taken <= 3);
    Ok(frames)
}
