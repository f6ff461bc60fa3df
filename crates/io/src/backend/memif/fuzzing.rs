//! Ports in memory to which an arbitrary peer writes, for the targets in `fuzz/`.

use super::bell::Ringer;
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
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

/// Octets of the only region.
pub const REGION_OCTETS: usize = 1 << 15;
const LOG2_RING: u8 = 3;
const LONGEST: usize = 256;

/// Returns whether the octets are a message of the control socket. Panics if the message changes when it is written and read again; a text
/// without a terminating zero is then one octet shorter.
pub fn is_memif_message(octets: &[u8]) -> bool {
    let again = |message: &MemifMessage| {
        MemifMessage::decode(&message.encode()).expect("a message that was written")
    };
    let Ok(message) = MemifMessage::decode(octets) else {
        return false;
    };
    let written = again(&message);
    assert_eq!(
        (written.name(), again(&written)),
        (message.name(), written.clone())
    );
    true
}

/// Memory shared with a peer.
#[derive(Clone)]
pub struct MemifMemory {
    /// By which the peer writes.
    theirs: Rc<SharedMemory>,
    file: Rc<OwnedFd>,
}

impl MemifMemory {
    /// Creates one region.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new() -> io::Result<Self> {
        let ([theirs, _], file) = SharedMemory::new(REGION_OCTETS).map_err(refused)?;
        Ok(Self {
            theirs: theirs.into(),
            file: file.into(),
        })
    }

    /// Maps the region for both halves of a port.
    fn ours(&self) -> io::Result<[SharedMemory; 2]> {
        SharedMemory::of_client(&[(REGION_OCTETS as u64, self.file.try_clone()?)]).map_err(refused)
    }

    /// Writes octets, as the peer may at any time. Octets that do not fit are left out.
    pub fn write(&self, offset: usize, octets: &[u8]) {
        let offset = offset % REGION_OCTETS;
        self.theirs
            .region(0)
            .copy_from(offset, &octets[..octets.len().min(REGION_OCTETS - offset)]);
    }

    /// Returns the port of a client, whose rings are at the beginning of the memory, in the initial state of a link.
    ///
    /// # Errors
    /// The kernel's.
    pub fn client(&self) -> io::Result<Halves> {
        let layout = RegionLayout::new(
            ClientBuffers {
                sending: LONGEST,
                receiving: 2048,
            },
            LOG2_RING,
        );
        let (sending, receiving) = layout.client_rings(self.ours()?);
        halves(sending, receiving, Some(layout))
    }

    /// Returns the port of a server whose peer has given the places of its rings: region, offset and size as a power of two.
    ///
    /// # Errors
    /// No ring can be at one of these places; or the kernel's.
    pub fn server(&self, places: [(u16, u32, u8); 2]) -> io::Result<Halves> {
        let places = places.map(|(region, offset, log2_size)| RingPlace {
            region,
            offset,
            log2_size,
        });
        places
            .iter()
            .try_for_each(|place| place.check(&self.theirs))
            .map_err(refused)?;
        let end = |memory, place, sends| {
            RingEnd::new(
                memory,
                place,
                RingUse {
                    is_client: false,
                    sends,
                },
            )
        };
        let [to_server, to_client] = self.ours()?;
        halves(
            end(to_client, places[1], true),
            end(to_server, places[0], false),
            None,
        )
    }
}

fn refused(error: MemifError) -> io::Error {
    io::Error::other(error.to_string())
}

fn halves(
    sending: RingEnd,
    receiving: RingEnd,
    layout: Option<RegionLayout>,
) -> io::Result<Halves> {
    let (socket, _) = UnixStream::pair()?;
    let channel = ControlChannel::of_socket(socket.into());
    let (bell, unused_bell) = (Ringer::mute(), Doorbell::new()?);
    let link = MemifLink {
        channel,
        peer: "peer".to_owned(),
        sending,
        bell,
        receiving,
        unused_bell,
    };
    Ok(port::halves("memif", link, layout, LONGEST))
}

/// Makes a port receive, answer and send once; returns the octets of the received frames.
///
/// # Errors
/// The peer's memory violates the protocol.
pub fn memif_turn(halves: &mut Halves, answer: &[u8]) -> Result<Vec<Vec<u8>>, PortError> {
    let mut frames = Vec::new();
    let count = halves
        .receive
        .receive(&mut |frame| frames.push(frame.to_vec()))?;
    assert!(count == frames.len() && count <= crate::BATCH);
    halves.receive.answer(answer)?;
    let sent = halves.transmit.transmit(3, &mut |_, buffer| {
        buffer[..60].fill(0xaa);
        60
    })?;
    assert!(sent.refused <= sent.taken && sent.taken <= 3);
    Ok(frames)
}
