//! AF_PACKET: sends with `sendmmsg`, bypassing the queueing discipline, and receives from a TPACKET_V2 ring. It works on every interface.
//!
//! Plain receive sockets lost half of the frames where the ring lost none (measured). V2 is used rather than V3, because V3 hands over whole
//! blocks and so delays the last frames of each.

use super::full::FullCounter;
use crate::sys::interface::{check_carrier, is_running};
use crate::sys::mapping::MemoryMapping;
use crate::sys::{bind_packet, get_option, is_full, lacking, send_or_lose, set_option, socket};
use crate::{
    BATCH, BackendInfo, Fill, Flushed, Halves, Interface, Port, PortError, Receive, Sent, Transmit,
};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Frames that the receive ring holds: 40 ms at 400,000 frames/s, longer than all but the rarest stalls.
pub const RING_FRAMES: usize = 16_384;

/// Enough for any number of frames in flight, so that the DUT's queue fills up and not our socket.
const SEND_BUFFER: libc::c_int = 64 << 20;

const TX_BUFFER: usize = 2048;
/// From linux/if_packet.h; not defined in every libc crate.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// The entry in the list of backends.
pub(crate) const INFO: BackendInfo = BackendInfo {
    word: "packet",
    title: "AF_PACKET",
    definition: "sends by sendmmsg past the queueing discipline and receives from a ring; runs on every interface",
    opens_interfaces: true,
    serves_queues: false,
    obstacle: || lacking(libc::AF_PACKET, "AF_PACKET sockets", "modprobe af_packet"),
    open: |request| {
        request.check_plain(request.address, INFO.title)?;
        open(&Interface::open(request.address)?)
    },
};

/// Opens both halves on an interface of the calling thread's network namespace. Needs CAP_NET_RAW.
///
/// # Errors
/// If the kernel refuses a socket or its ring, most often for lack of CAP_NET_RAW.
pub fn open(interface: &Interface) -> Result<Port, PortError> {
    let transmit = Box::new(PacketTransmit::open(interface)?);
    let receive = Box::new(PacketReceive::open(interface)?);
    let how = format!("{} (sendmmsg past the qdisc, TPACKET_V2 ring)", INFO.title);
    Ok(Port {
        name: interface.name.clone(),
        mac: interface.mac,
        how,
        node: None,
        queues: vec![Halves { transmit, receive }],
    })
}

/// Returns the octets of a buffer for a frame of an interface with this MTU, a power of two.
pub(crate) fn buffer_octets(mtu: u32) -> usize {
    // 14 for Ethernet, 4 for a VLAN tag, and at most 128 for what the ring puts in front: TPACKET2_HDRLEN, aligned. The reserve of PACKET_RESERVE is
    // not used.
    (mtu as usize + 14 + 4 + 128)
        .next_power_of_two()
        .max(TX_BUFFER)
}

/// Opens a packet socket bound to `interface` for sending only.
pub(crate) fn open_sender(interface: &Interface) -> Result<OwnedFd, PortError> {
    let fail = |what| PortError::kernel(&interface.name, what);
    let fd = socket(libc::AF_PACKET, libc::SOCK_RAW, 0)
        .map_err(PortError::socket(&interface.name, "open a packet socket"))?;
    bind_packet(&fd, interface.index, 0).map_err(fail("bind a packet socket"))?;
    set_option(&fd, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1i32)
        .map_err(fail("bypass the qdisc"))?;
    Ok(fd)
}

/// The sending half.
struct PacketTransmit {
    fd: OwnedFd,
    name: String,
    buffer_octets: usize,
    buffers: Box<[u8]>,
    /// Pointers into the boxes, of which [`set_pointers`](Self::set_pointers) writes those that the next calls use. The lengths are those of the frames.
    vectors: Box<[libc::iovec]>,
    messages: Box<[libc::mmsghdr]>,
    /// A full queue behind a veth is the DUT's; behind a NIC it is our own, and the frame must wait.
    full_is_dut: bool,
    /// Messages that were filled and wait for room in that queue.
    waiting: Range<usize>,
    full: FullCounter,
}

// SAFETY: the raw pointers are into boxes that the same value owns, and are written again before each use.
unsafe impl Send for PacketTransmit {}

impl PacketTransmit {
    fn open(interface: &Interface) -> Result<Self, PortError> {
        let fd = open_sender(interface)?;
        // Without force, the kernel would silently keep to net.core.wmem_max.
        set_option(&fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER).map_err(
            PortError::kernel(&interface.name, "enlarge the send buffer"),
        )?;
        let buffer_octets = buffer_octets(interface.mtu);
        let buffers = vec![0u8; buffer_octets * BATCH].into_boxed_slice();
        let vectors = vec![
            libc::iovec {
                iov_base: std::ptr::null_mut(),
                iov_len: 0
            };
            BATCH
        ]
        .into_boxed_slice();
        let messages = vec![empty_message(); BATCH].into_boxed_slice();
        let name = interface.name.clone();
        let full_is_dut = interface.is_veth;
        Ok(Self {
            fd,
            name,
            buffer_octets,
            buffers,
            vectors,
            messages,
            full_is_dut,
            waiting: 0..0,
            full: FullCounter::default(),
        })
    }

    /// Sends waiting messages, as far as there is room; returns how many frames were refused. It never blocks: the kernel gives the same error
    /// for a full queue and for a link that is down.
    fn push(&mut self) -> Result<usize, PortError> {
        let mut refused = 0;
        self.set_pointers();
        while !self.waiting.is_empty() {
            match self.send_some(self.waiting.start, self.waiting.end) {
                // The kernel does not say why it stopped early; the next call starts with that frame and will.
                Ok(sent) => {
                    self.waiting.start += sent;
                    self.full.note(false);
                }
                Err(error) if is_full(&error) && self.full_is_dut => {
                    self.waiting.start += 1;
                    refused += 1;
                }
                Err(error) if is_full(&error) && self.is_dead()? => {
                    refused += self.waiting.len();
                    self.waiting = 0..0;
                }
                Err(error) if is_full(&error) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(PortError::kernel(&self.name, "send")(error)),
            }
        }
        Ok(refused)
    }

    /// Points the messages that wait at their buffers. Pointers of an earlier call are stale, as the buffers were filled since.
    #[inline]
    fn set_pointers(&mut self) {
        let buffers = self.buffers.chunks_exact_mut(self.buffer_octets);
        let parts = self
            .messages
            .iter_mut()
            .zip(self.vectors.iter_mut())
            .zip(buffers);
        for ((message, vector), buffer) in parts.take(self.waiting.end).skip(self.waiting.start) {
            vector.iov_base = buffer.as_mut_ptr().cast();
            (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (vector, 1);
        }
    }

    /// Returns whether the queue is full because the link is down.
    #[cold]
    fn is_dead(&mut self) -> Result<bool, PortError> {
        if !self.full.note(true) {
            return Ok(false);
        }
        let is_running = is_running(&self.fd, &self.name)
            .map_err(PortError::kernel(&self.name, "read the state of its link"))?;
        if !is_running {
            self.full.check_next_time();
        }
        Ok(!is_running)
    }

    /// Hands `messages[from..to]`, which point at their buffers, to the kernel; returns how many it took before one was turned away.
    fn send_some(&mut self, from: usize, to: usize) -> io::Result<usize> {
        let messages = &mut self.messages[from..to];
        // SAFETY: `push` had every header point to a vector and a buffer of this struct, and borrowed neither since. Both are alive during the call.
        let sent = unsafe {
            libc::sendmmsg(
                self.fd.as_raw_fd(),
                messages.as_mut_ptr(),
                messages.len() as u32,
                libc::MSG_DONTWAIT as _,
            )
        };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(sent as usize)
        }
    }
}

fn empty_message() -> libc::mmsghdr {
    // SAFETY: mmsghdr is a C struct of integers and pointers, for which all zeroes is a value.
    unsafe { std::mem::zeroed() }
}

impl Transmit for PacketTransmit {
    fn slots(&self) -> usize {
        BATCH
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        let before = self.push()?;
        if !self.waiting.is_empty() {
            return Ok(Sent {
                taken: 0,
                refused: before,
            });
        }
        let wanted = wanted.min(BATCH);
        for slot in 0..wanted {
            let buffer = &mut self.buffers[slot * self.buffer_octets..][..self.buffer_octets];
            self.vectors[slot].iov_len = fill(slot, buffer);
        }
        self.waiting = 0..wanted;
        Ok(Sent {
            taken: wanted,
            refused: before + self.push()?,
        })
    }

    fn flush(&mut self) -> Result<Flushed, PortError> {
        let refused = self.push()?;
        Ok(Flushed {
            is_empty: self.waiting.is_empty(),
            refused,
        })
    }

    fn check_link(&self) -> Result<(), PortError> {
        check_carrier(&self.fd, &self.name)
    }
}

/// The receiving half.
struct PacketReceive {
    fd: OwnedFd,
    name: String,
    ring: MemoryMapping,
    frame_octets: usize,
    next: usize,
}

impl PacketReceive {
    fn open(interface: &Interface) -> Result<Self, PortError> {
        let fail = |what| PortError::kernel(&interface.name, what);
        let fd = socket(libc::AF_PACKET, libc::SOCK_RAW, 0)
            .map_err(PortError::socket(&interface.name, "open a packet socket"))?;
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set_option(&fd, libc::SOL_PACKET, libc::PACKET_VERSION, &version)
            .map_err(fail("choose TPACKET_V2"))?;
        let frame_octets = buffer_octets(interface.mtu);
        let request = ring_request(frame_octets);
        set_option(&fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
            .map_err(fail("make a receive ring"))?;
        let ring = MemoryMapping::shared(&fd, frame_octets * RING_FRAMES, 0)
            .map_err(fail("map the receive ring"))?;
        set_option(&fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32)
            .map_err(fail("ignore outgoing frames"))?;
        // Only now does the socket have a protocol: nothing is received before the ring is there, and no frame of our own.
        bind_packet(&fd, interface.index, libc::ETH_P_ALL as u16)
            .map_err(fail("bind a packet socket"))?;
        Ok(Self {
            fd,
            name: interface.name.clone(),
            ring,
            frame_octets,
            next: 0,
        })
    }

    /// Returns the status word of frame `index` in the ring, which the kernel writes last.
    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: `at` checked the bound; frames are aligned to their power-of-two size; both sides access the word atomically.
        unsafe { AtomicU32::from_ptr(self.ring.at(index * self.frame_octets).cast()) }
    }

    /// Returns the number of frames in the ring that are ours, at most [`BATCH`].
    fn ready(&self) -> usize {
        let is_ours = |nth: &usize| {
            self.status((self.next + nth) % RING_FRAMES)
                .load(Ordering::Acquire)
                & libc::TP_STATUS_USER
                != 0
        };
        (0..BATCH).take_while(is_ours).count()
    }

    /// Returns the octets of frame `index` in the ring, which must be owned by us (TP_STATUS_USER seen with Acquire). A VLAN tag that the kernel
    /// has stripped is put back, so that the frame is shown as it arrived.
    fn octets(&mut self, index: usize) -> &[u8] {
        let start = self.ring.at(index * self.frame_octets);
        // SAFETY: the kernel filled the header before it set the status, and does not touch the frame until we return it; there is no other
        // reference into it, because `self` is borrowed exclusively. `tp_mac + tp_snaplen` lies within the frame by the kernel's contract; the
        // slice is clamped to it all the same.
        unsafe {
            let header = &*start.cast::<libc::tpacket2_hdr>();
            let tag = stripped_tag(header);
            let mac = usize::from(header.tp_mac).min(self.frame_octets);
            let length = (header.tp_snaplen as usize).min(self.frame_octets - mac);
            // The tag is written before the frame, over the header, which was already read, and over an address that is not read.
            let room = if tag.is_some() { TAG_OCTETS } else { 0 };
            let offset = mac.saturating_sub(room);
            let frame = std::slice::from_raw_parts_mut(start.add(offset), length + mac - offset);
            if let Some(tag) = tag {
                put_tag(frame, tag);
            }
            frame
        }
    }
}

/// Octets of a VLAN tag.
const TAG_OCTETS: usize = 4;
/// Octets of the two addresses before it.
const ADDRESS_OCTETS: usize = 12;

/// Returns the VLAN tag that the kernel stores separately from the frame, as octets of a frame.
fn stripped_tag(header: &libc::tpacket2_hdr) -> Option<[u8; TAG_OCTETS]> {
    let has = |flag| header.tp_status & flag != 0;
    let protocol = if has(libc::TP_STATUS_VLAN_TPID_VALID) {
        header.tp_vlan_tpid
    } else {
        libc::ETH_P_8021Q as u16
    };
    let ([a, b], [c, d]) = (protocol.to_be_bytes(), header.tp_vlan_tci.to_be_bytes());
    has(libc::TP_STATUS_VLAN_VALID).then_some([a, b, c, d])
}

/// Puts a tag behind the addresses of a frame that has room for it at its front.
fn put_tag(frame: &mut [u8], tag: [u8; TAG_OCTETS]) {
    if frame.len() >= ADDRESS_OCTETS + TAG_OCTETS {
        frame.copy_within(TAG_OCTETS..TAG_OCTETS + ADDRESS_OCTETS, 0);
        frame[ADDRESS_OCTETS..ADDRESS_OCTETS + TAG_OCTETS].copy_from_slice(&tag);
    }
}

fn ring_request(frame_octets: usize) -> libc::tpacket_req {
    // A block must be a multiple of the page size, which is 64 KiB at most, and hold whole frames; both sizes are powers of two.
    let block_octets = frame_octets.max(1 << 16);
    let frames_per_block = block_octets / frame_octets;
    libc::tpacket_req {
        tp_block_size: block_octets as u32,
        tp_block_nr: (RING_FRAMES / frames_per_block) as u32,
        tp_frame_size: frame_octets as u32,
        tp_frame_nr: RING_FRAMES as u32,
    }
}

impl Receive for PacketReceive {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let count = self.ready();
        for _ in 0..count {
            each(self.octets(self.next));
            self.status(self.next)
                .store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % RING_FRAMES;
        }
        Ok(count)
    }

    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        send_or_lose(&self.fd, frame).map_err(PortError::kernel(&self.name, "send an answer"))
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        // `struct tpacket_stats`. Reading the statistics resets them.
        let [_packets, drops]: [u32; 2] =
            get_option(&self.fd, libc::SOL_PACKET, libc::PACKET_STATISTICS)
                .map_err(PortError::kernel(&self.name, "read the ring's statistics"))?;
        Ok(u64::from(drops))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_powers_of_two_with_room_for_the_largest_frame() {
        assert_eq!(buffer_octets(1500), 2048);
        assert_eq!(buffer_octets(9000), 16_384);
    }

    #[test]
    fn a_tag_goes_between_addresses_and_protocol() {
        let mut frame = *b"....ddddddssssssppxx";
        put_tag(&mut frame, *b"vlan");
        assert_eq!(frame, *b"ddddddssssssvlanppxx");
    }

    #[test]
    fn the_ring_is_made_of_whole_blocks() {
        for frame in [2048, 16_384, 65_536] {
            let request = ring_request(frame);
            assert_eq!(
                request.tp_frame_nr * request.tp_frame_size,
                request.tp_block_nr * request.tp_block_size
            );
        }
    }
}
