//! Setting up a link: the messages between client and server before the first frame.

use super::address::MemifAddress;
use super::bell::Ringer;
use super::channel::{ControlChannel, STEP_LIMIT, unexpected};
use super::error::MemifError;
use super::memory::SharedMemory;
use super::message::{MODE_ETHERNET, MemifMessage, RingOffer, ServerOffer, VERSION};
use super::ring::{MOST_LOG2_RING, RingEnd, RingEntry, RingPlace, RingUse};
use crate::sys::memfd::Doorbell;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Frames of a ring, as a power of two, unless the server has a lower limit: 2 ms at a million frames/s, like the receive queue of a NIC.
const LOG2_RING: u8 = 11;
/// Our name in the messages.
const OWN_NAME: &str = "sixbench";
/// The highest index of a region that a client may add. One region is usual, plus one for each pool of buffers that it lends.
const MOST_REGION: u16 = 15;
/// The pause before a server is asked again.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// A link that was set up, seen from one end.
pub(super) struct MemifLink {
    /// Closing it ends the link.
    pub(super) channel: ControlChannel,
    /// The peer's name for itself.
    pub(super) peer: String,
    /// The ring on which frames leave, and the doorbell that wakes its reader.
    pub(super) sending: RingEnd,
    pub(super) bell: Ringer,
    /// The ring by which frames come.
    pub(super) receiving: RingEnd,
    /// Kept for the peer, which may ring it although we do not listen.
    pub(super) unused_bell: Doorbell,
}

/// The sizes of a client's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientBuffers {
    /// The octets of buffers from which frames are sent.
    pub(super) sending: usize,
    /// The octets of buffers into which the server writes.
    pub(super) receiving: usize,
}

/// The layout of a client's region: two rings, then the buffers. Frames outside the schedule have separate buffers, as scheduled frames rely on
/// what was last written to theirs.
#[derive(Clone, Copy)]
pub(super) struct RegionLayout {
    pub(super) buffers: ClientBuffers,
    log2_ring: u8,
}

impl RegionLayout {
    /// Returns the client's ends of both rings, in the memory of each half: the first one sends, the second one receives.
    pub(super) fn client_rings(
        &self,
        [to_server, to_client]: [SharedMemory; 2],
    ) -> (RingEnd, RingEnd) {
        let end = |memory, nth, sends| {
            let role = RingUse {
                is_client: true,
                sends,
            };
            RingEnd::new(memory, self.ring(nth), role)
        };
        (end(to_server, 0, true), end(to_client, 1, false))
    }

    pub(super) fn new(buffers: ClientBuffers, log2_ring: u8) -> Self {
        Self { buffers, log2_ring }
    }

    pub(super) fn ring(self, nth: usize) -> RingPlace {
        RingPlace {
            region: 0,
            offset: (nth * RingPlace::octets(self.log2_ring)) as u32,
            log2_size: self.log2_ring,
        }
    }

    /// Returns the offset of the buffer from which the frame in `slot` is sent.
    pub(super) fn sending(self, slot: u16) -> usize {
        (2 * RingPlace::octets(self.log2_ring)).next_multiple_of(4096)
            + usize::from(slot) * self.buffers.sending
    }

    /// Returns the offset of the buffer from which a frame outside the schedule is sent.
    pub(super) fn answering(self, slot: u16) -> usize {
        self.sending(1 << self.log2_ring) + usize::from(slot) * self.buffers.sending
    }

    /// Returns the offset of the buffer into which the server writes the frame in `slot`.
    pub(super) fn receiving(self, slot: u16) -> usize {
        self.answering(1 << self.log2_ring) + usize::from(slot) * self.buffers.receiving
    }

    fn octets(self) -> usize {
        self.receiving(1 << self.log2_ring).next_multiple_of(4096)
    }

    /// Returns the ring entry of an empty buffer for the server.
    #[inline]
    pub(super) fn empty(self, slot: u16) -> RingEntry {
        RingEntry {
            flags: 0,
            region: 0,
            octets: self.buffers.receiving as u32,
            offset: self.receiving(slot) as u32,
        }
    }
}

/// Connects to a server; returns the link and the layout of our memory.
pub(super) fn connect(
    address: &MemifAddress,
    buffers: ClientBuffers,
) -> Result<(MemifLink, RegionLayout), MemifError> {
    let end = Instant::now() + STEP_LIMIT;
    loop {
        match connect_once(address, buffers) {
            Err(MemifError::Refused { reason, .. })
                if may_pass(&reason) && Instant::now() < end =>
            {
                std::thread::sleep(RETRY_PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Returns whether a server may soon answer differently: it has not noticed that its last client (perhaps this program a moment ago) has
/// disconnected; or it already listens, and its interface is about to start.
fn may_pass(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["already connected", "id not found"]
        .iter()
        .any(|known| reason.contains(known))
}

fn connect_once(
    address: &MemifAddress,
    buffers: ClientBuffers,
) -> Result<(MemifLink, RegionLayout), MemifError> {
    let channel = ControlChannel::connect(&address.path)?;
    let connected = offer_memory(&channel, address, buffers);
    let (client, peer) = connected.inspect_err(|error| explain(&channel, error))?;
    let ClientMemory {
        memory,
        layout,
        bells: [bell, unused_bell],
    } = client;
    let (sending, receiving) = layout.client_rings(memory);
    let bell = ringer(bell)?;
    receiving.mask_interrupts();
    // This must wait until the server is ready, as it sets all indices to zero.
    receiving.publish();
    Ok((
        MemifLink {
            channel,
            peer,
            sending,
            bell,
            receiving,
            unused_bell,
        },
        layout,
    ))
}

/// Starts the thread that rings a doorbell.
fn ringer(bell: Doorbell) -> Result<Ringer, MemifError> {
    Ringer::new(bell).map_err(MemifError::system("start the thread that wakes the peer"))
}

/// Tells the peer why the link cannot be set up, if it does not know.
fn explain(channel: &ControlChannel, error: &MemifError) {
    use MemifError::{Broken, OtherInterface, UnusableMemory, Version};
    if matches!(
        error,
        Broken(_) | UnusableMemory(_) | Version { .. } | OtherInterface { .. }
    ) {
        channel.refuse(error.to_string());
    }
}

struct ClientMemory {
    /// For the half that sends, and for the other.
    memory: [SharedMemory; 2],
    layout: RegionLayout,
    bells: [Doorbell; 2],
}

fn offer_memory(
    channel: &ControlChannel,
    address: &MemifAddress,
    buffers: ClientBuffers,
) -> Result<(ClientMemory, String), MemifError> {
    let offer = receive_hello(channel)?;
    let layout = RegionLayout::new(buffers, LOG2_RING.min(offer.max_log2_ring));
    if layout.log2_ring == 0 {
        return Err(MemifError::broken(
            "it allows no ring of more than one frame",
        ));
    }
    let (memory, region) = new_region(layout)?;
    let system = || MemifError::system("make a descriptor that wakes the peer");
    let bells = [
        Doorbell::new().map_err(system())?,
        Doorbell::new().map_err(system())?,
    ];

    channel.send(
        &MemifMessage::Init {
            version: VERSION,
            id: address.id,
            mode: MODE_ETHERNET,
            name: OWN_NAME.to_owned(),
        },
        None,
    )?;
    channel.receive_ack()?;
    channel.send(
        &MemifMessage::AddRegion {
            index: 0,
            size: layout.octets() as u64,
        },
        Some(region.as_fd()),
    )?;
    channel.receive_ack()?;
    for (nth, bell) in bells.iter().enumerate() {
        add_ring(channel, layout, nth, bell)?;
    }
    let name = request_connection(channel)?;
    Ok((
        ClientMemory {
            memory,
            layout,
            bells,
        },
        peer_name(&offer.name, &name),
    ))
}

/// Receives the server's offer, which must include our version of the protocol.
fn receive_hello(channel: &ControlChannel) -> Result<ServerOffer, MemifError> {
    let offer = match channel.receive_plain("HELLO")? {
        MemifMessage::Hello(offer) => offer,
        other => return Err(unexpected("HELLO", &other)),
    };
    if (offer.min_version..=offer.max_version).contains(&VERSION) {
        Ok(offer)
    } else {
        Err(MemifError::Version {
            min: offer.min_version,
            max: offer.max_version,
        })
    }
}

/// Offers the ring `nth` of our memory: the first leads to the server.
fn add_ring(
    channel: &ControlChannel,
    layout: RegionLayout,
    nth: usize,
    bell: &Doorbell,
) -> Result<(), MemifError> {
    let RingPlace {
        region,
        offset,
        log2_size,
    } = layout.ring(nth);
    let ring = RingOffer {
        is_to_server: nth == 0,
        index: 0,
        region,
        offset,
        log2_size,
    };
    channel.send(&MemifMessage::AddRing(ring), Some(bell.file().as_fd()))?;
    channel.receive_ack()
}

/// Requests the connection, and returns the name of the server's interface.
fn request_connection(channel: &ControlChannel) -> Result<String, MemifError> {
    channel.send(
        &MemifMessage::Connect {
            name: OWN_NAME.to_owned(),
        },
        None,
    )?;
    match channel.receive_plain("CONNECTED")? {
        MemifMessage::Connected { name } => Ok(name),
        other => Err(unexpected("CONNECTED", &other)),
    }
}

/// Makes a region with two rings, of which the second has all the server's buffers in it.
fn new_region(layout: RegionLayout) -> Result<([SharedMemory; 2], OwnedFd), MemifError> {
    let ([to_server, to_client], fd) = SharedMemory::new(layout.octets())?;
    (0..2).for_each(|nth| layout.ring(nth).begin(&to_client));
    let to_client = RingEnd::new(
        to_client,
        layout.ring(1),
        RingUse {
            is_client: true,
            sends: false,
        },
    );
    (0..to_client.size()).for_each(|slot| to_client.set_entry(slot, layout.empty(slot)));
    Ok(([to_server, to_client.into_memory()], fd))
}

fn peer_name(program: &str, interface: &str) -> String {
    let known: Vec<&str> = [program, interface]
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    if known.is_empty() {
        "a peer without a name".to_owned()
    } else {
        known.join(", ")
    }
}

/// Waits for a client; returns the link.
pub(super) fn serve(address: &MemifAddress) -> Result<MemifLink, MemifError> {
    let channel = ControlChannel::accept(&address.path)?;
    let accepted = accept_memory(&channel, address.id);
    let accepted = accepted.inspect_err(|error| explain(&channel, error))?;
    let AcceptedClient {
        memory: [incoming, outgoing],
        peer,
        to_server,
        to_client,
    } = accepted;
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
    let (receiving, sending) = (
        end(incoming, to_server.0, false),
        end(outgoing, to_client.0, true),
    );
    let bell = ringer(to_client.1)?;
    receiving.reset();
    sending.reset();
    receiving.mask_interrupts();
    channel.send(
        &MemifMessage::Connected {
            name: OWN_NAME.to_owned(),
        },
        None,
    )?;
    Ok(MemifLink {
        channel,
        peer,
        sending,
        bell,
        receiving,
        unused_bell: to_server.1,
    })
}

/// The offer of a client after it was checked.
struct AcceptedClient {
    memory: [SharedMemory; 2],
    peer: String,
    to_server: (RingPlace, Doorbell),
    to_client: (RingPlace, Doorbell),
}

/// The offer of a client so far.
#[derive(Default)]
struct ClientOffer {
    regions: Vec<(u64, OwnedFd)>,
    to_server: Option<(RingPlace, Doorbell)>,
    to_client: Option<(RingPlace, Doorbell)>,
}

fn accept_memory(channel: &ControlChannel, id: u32) -> Result<AcceptedClient, MemifError> {
    channel.send(&MemifMessage::Hello(own_offer()), None)?;
    let program = accept_init(channel, id)?;
    let mut offer = ClientOffer::default();
    let interface = loop {
        match channel.receive("ADD_REGION, ADD_RING or CONNECT")? {
            (MemifMessage::AddRegion { index, size }, fds) => offer.add_region(index, size, fds)?,
            (MemifMessage::AddRing(ring), fds) => offer.add_ring(ring, fds)?,
            (MemifMessage::Connect { name }, fds) if fds.is_empty() => break name,
            (other, _) => return Err(unexpected("ADD_REGION, ADD_RING or CONNECT", &other)),
        }
        channel.send(&MemifMessage::Ack, None)?;
    };
    let (Some(to_server), Some(to_client)) = (offer.to_server, offer.to_client) else {
        return Err(MemifError::broken(
            "it wants to begin without a ring in each direction",
        ));
    };
    let memory = SharedMemory::of_client(&offer.regions)?;
    to_server.0.check(&memory[0])?;
    to_client.0.check(&memory[1])?;
    Ok(AcceptedClient {
        memory,
        peer: peer_name(&program, &interface),
        to_server,
        to_client,
    })
}

fn own_offer() -> ServerOffer {
    ServerOffer {
        name: OWN_NAME.to_owned(),
        min_version: VERSION,
        max_version: VERSION,
        max_region: MOST_REGION,
        max_to_client: 0,
        max_to_server: 0,
        max_log2_ring: MOST_LOG2_RING,
    }
}

/// Acknowledges the client's request for this interface; returns the name of its program.
fn accept_init(channel: &ControlChannel, here: u32) -> Result<String, MemifError> {
    let (version, id, mode, name) = match channel.receive_plain("INIT")? {
        MemifMessage::Init {
            version,
            id,
            mode,
            name,
        } => (version, id, mode, name),
        other => return Err(unexpected("INIT", &other)),
    };
    if version != VERSION {
        return Err(MemifError::Version {
            min: version,
            max: version,
        });
    }
    let other = |wanted, here| Err(MemifError::OtherInterface { wanted, here });
    if id != here {
        return other(
            format!("the interface {id}"),
            format!("the interface {here}"),
        );
    }
    if mode != MODE_ETHERNET {
        return other(
            format!("the mode {mode}"),
            "Ethernet, the mode 0".to_owned(),
        );
    }
    channel.send(&MemifMessage::Ack, None)?;
    Ok(name)
}

impl ClientOffer {
    fn add_region(&mut self, index: u16, size: u64, fds: Vec<OwnedFd>) -> Result<(), MemifError> {
        if usize::from(index) != self.regions.len() || index > MOST_REGION {
            return Err(MemifError::broken(format!(
                "it adds the region {index} where {} is due, of {} at most",
                self.regions.len(),
                MOST_REGION + 1
            )));
        }
        self.regions.push((size, only("ADD_REGION", fds)?));
        Ok(())
    }

    fn add_ring(&mut self, ring: RingOffer, fds: Vec<OwnedFd>) -> Result<(), MemifError> {
        let fd = only("ADD_RING", fds)?;
        let bell = Doorbell::of_peer(fd)
            .map_err(MemifError::system("look at a descriptor of the peer"))?;
        let bell =
            bell.ok_or_else(|| MemifError::broken("the descriptor of its ring is no eventfd"))?;
        let known = if ring.is_to_server {
            &mut self.to_server
        } else {
            &mut self.to_client
        };
        if ring.index != 0 || known.is_some() {
            return Err(MemifError::broken(
                "it adds a second ring in one direction; one queue is served",
            ));
        }
        let RingOffer {
            region,
            offset,
            log2_size,
            ..
        } = ring;
        *known = Some((
            RingPlace {
                region,
                offset,
                log2_size,
            },
            bell,
        ));
        Ok(())
    }
}

/// Returns the single descriptor that came with a message.
fn only(message: &str, mut fds: Vec<OwnedFd>) -> Result<OwnedFd, MemifError> {
    match (fds.pop(), fds.len()) {
        (Some(fd), 0) => Ok(fd),
        (fd, others) => {
            let count = others + usize::from(fd.is_some());
            Err(MemifError::broken(format!(
                "{count} descriptors came with {message}, which has one"
            )))
        }
    }
}
