//! AF_XDP sockets as a port: one for each queue, all with the same program that steers frames to them.

use super::program::{Attach, MAP_ENTRIES, Program};
use super::ring::{Consumer, Producer};
use super::socket::{self, RingMemory};
use super::umem::{RECEIVE_CHUNKS, SEND_CHUNKS, Umem, chunk_for};
use crate::backend::packet::open_sender;
use crate::sys::interface::{InterfaceQueues, check_carrier};
use crate::sys::mapping::MemoryMapping;
use crate::sys::{lacking, send_or_lose};
use crate::{
    BATCH, BackendInfo, Fill, Flushed, Halves, Interface, Port, PortError, PortOptions, Receive,
    Sent, Transmit,
};
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// The entry in the list of backends.
pub(crate) const INFO: BackendInfo = BackendInfo {
    word: "xdp",
    title: "AF_XDP",
    definition: "shares memory with the driver, on all queues of an interface; without copying where the driver can do that",
    opens_interfaces: true,
    serves_queues: true,
    obstacle: || {
        lacking(
            libc::AF_XDP,
            "AF_XDP sockets",
            "use a kernel with CONFIG_XDP_SOCKETS, or `io = \"packet\"`",
        )
    },
    open: |request| open(&Interface::open(request.address)?, request.settings),
};

/// The way in which the socket and its program cooperate with the driver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum XdpMode {
    /// The NIC reads and writes our memory directly.
    ZeroCopy,
    /// The driver runs the program; the kernel copies.
    Copy,
    /// The kernel's generic hook runs the program; this works on every interface.
    Generic,
}

impl std::fmt::Display for XdpMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ZeroCopy => "zero-copy",
            Self::Copy => "copy mode, the driver's hook",
            Self::Generic => "copy mode, the kernel's generic hook",
        })
    }
}

/// The modes in the order in which they are tried, best first.
const MODES: [XdpMode; 3] = [XdpMode::ZeroCopy, XdpMode::Copy, XdpMode::Generic];

/// The calls needed to send a whole batch, and one in reserve.
const KICKS: usize = BATCH / 32 + 1;

/// The resources that both halves of a queue share; they must live until both halves are dropped.
struct Shared {
    fd: OwnedFd,
    umem: Umem,
    /// An additional packet socket: it sends answers, and allows requests that an AF_XDP socket does not.
    plain: OwnedFd,
    _rings: [MemoryMapping; 4],
    _program: Arc<Program>,
}

// SAFETY: no mapping copies anything here. Of those of the rings only the addresses were taken, for the ends that the halves own; the memory of the
// frames hands out addresses, and octets only by unsafe functions, whose contracts say whose a chunk is. All else in here is `Sync`.
unsafe impl Sync for Shared {}

/// Opens a port on all queues of an interface of the calling thread's network namespace, in the best mode the driver has. Needs CAP_NET_RAW and
/// CAP_BPF, and an MTU that fits a chunk.
fn open(interface: &Interface, settings: PortOptions) -> Result<Port, PortError> {
    let unusable = |what| PortError::Interface {
        interface: interface.name.clone(),
        what,
    };
    // The Ethernet header and a VLAN tag are added to the MTU.
    let chunk = chunk_for(interface.mtu + 18).ok_or_else(|| {
        unusable(format!(
            "its MTU of {} is too large for AF_XDP; use the packet backend",
            interface.mtu
        ))
    })?;
    let queues = served(&interface.name, interface.queues()?, settings.queues).map_err(unusable)?;
    let mut failed = Vec::new();
    for mode in MODES {
        match open_in(interface, mode, chunk, queues, settings.busy_poll) {
            Ok(queues) => {
                let each = if queues.len() == 1 {
                    String::new()
                } else {
                    format!(", {} queues", queues.len())
                };
                let polled = if settings.busy_poll {
                    ", busy poll"
                } else {
                    ""
                };
                let how = format!("{} ({mode}{each}{polled})", INFO.title);
                return Ok(Port {
                    name: interface.name.clone(),
                    mac: interface.mac,
                    how,
                    node: None,
                    queues,
                });
            }
            Err(error) => failed.push(error),
        }
    }
    Err(why(&interface.name, failed))
}

/// Returns the number of queues to serve: all on which the interface receives, as the frames of a queue without a socket would go to the kernel.
/// It is an error if their number is not the wanted one, or if there are fewer to send on.
fn served(name: &str, there: InterfaceQueues, wanted: Option<NonZeroU32>) -> Result<u32, String> {
    let InterfaceQueues { receive, send } = there;
    let settle = |queues: u32| {
        format!(
            "`ethtool -L {name} combined {queues}` (or, if it takes none: rx {queues} tx {queues})"
        )
    };
    match wanted.map(NonZeroU32::get) {
        Some(wanted) if wanted != receive => Err(format!(
            "it receives on {receive} queues, and {wanted} are wanted; {} makes it so",
            settle(wanted)
        )),
        _ if receive > MAP_ENTRIES => Err(format!(
            "it receives on {receive} queues, and at most {MAP_ENTRIES} are served; use {}",
            settle(MAP_ENTRIES)
        )),
        _ if send < receive => Err(format!(
            "it receives on {receive} queues but sends on {send}; {} makes them as many",
            settle(send)
        )),
        _ => Ok(receive),
    }
}

/// A socket that is bound to a queue, with its memory and rings.
struct BoundSocket {
    fd: OwnedFd,
    umem: Umem,
    rings: Rings,
}

fn open_in(
    interface: &Interface,
    mode: XdpMode,
    chunk: usize,
    queues: u32,
    busy_poll: bool,
) -> io::Result<Vec<Halves>> {
    let bound = (0..queues).map(|queue| bind_queue(interface.index, queue, mode, chunk, busy_poll));
    let bound: Vec<BoundSocket> = bound.collect::<io::Result<_>>()?;
    let attach = if mode == XdpMode::Generic {
        Attach::Generic
    } else {
        Attach::Driver
    };
    // The program comes after the sockets, so that a mode whose sockets cannot be bound leaves the interface as it was.
    let program = Arc::new(Program::attach(interface.index, attach)?);
    let mut opened = Vec::with_capacity(bound.len());
    for (queue, socket) in (0..).zip(bound) {
        program.steer(queue, &socket.fd)?;
        let plain = open_sender(interface).map_err(io::Error::other)?;
        opened.push(halves(interface, socket, busy_poll, program.clone(), plain));
    }
    Ok(opened)
}

fn bind_queue(
    index: u32,
    queue: u32,
    mode: XdpMode,
    chunk: usize,
    busy_poll: bool,
) -> io::Result<BoundSocket> {
    let umem = Umem::new(chunk)?;
    let (fd, offsets) = socket::open(&umem)?;
    let rings = Rings {
        fill: socket::map(
            &fd,
            &offsets.fill,
            RECEIVE_CHUNKS,
            libc::XDP_UMEM_PGOFF_FILL_RING as i64,
        )?,
        completion: socket::map(
            &fd,
            &offsets.completion,
            SEND_CHUNKS,
            libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64,
        )?,
        rx: socket::map(&fd, &offsets.rx, RECEIVE_CHUNKS, libc::XDP_PGOFF_RX_RING)?,
        tx: socket::map(&fd, &offsets.tx, SEND_CHUNKS, libc::XDP_PGOFF_TX_RING)?,
    };
    if busy_poll {
        socket::prefer_busy_poll(&fd)?;
    }
    socket::bind_to(&fd, index, queue, mode == XdpMode::ZeroCopy)?;
    Ok(BoundSocket { fd, umem, rings })
}

/// Returns why no mode could be used. Another program or socket on the interface prevents only some modes, but is the error to report.
fn why(interface: &str, mut failed: Vec<io::Error>) -> PortError {
    // A queue with another socket is busy, as is a driver's hook with another program; the generic hook then fails with EEXIST.
    let is_busy =
        |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST));
    if let Some(index) = failed.iter().position(is_busy) {
        PortError::Busy {
            interface: interface.to_owned(),
            source: failed.swap_remove(index),
        }
    } else {
        let last = failed
            .pop()
            .unwrap_or_else(|| io::Error::other("no mode to try"));
        PortError::socket(interface, "open an AF_XDP socket")(last)
    }
}

struct Rings {
    fill: RingMemory<u64>,
    completion: RingMemory<u64>,
    rx: RingMemory<libc::xdp_desc>,
    tx: RingMemory<libc::xdp_desc>,
}

fn halves(
    interface: &Interface,
    socket: BoundSocket,
    is_polled: bool,
    program: Arc<Program>,
    plain: OwnedFd,
) -> Halves {
    let BoundSocket { fd, umem, rings } = socket;
    // SAFETY: the parts lie in the four mappings, which `Shared` keeps alive as long as either half lives; each ring gets exactly one end here;
    // the other end is the kernel's.
    let (mut fill, completion, rx, tx) = unsafe {
        (
            Producer::new(rings.fill.parts),
            Consumer::new(rings.completion.parts),
            Consumer::new(rings.rx.parts),
            Producer::new(rings.tx.parts),
        )
    };
    umem.receive_chunks().for_each(|chunk| fill.put(chunk));
    fill.publish();
    let mappings = [
        rings.fill.mapping,
        rings.completion.mapping,
        rings.rx.mapping,
        rings.tx.mapping,
    ];
    let shared = Arc::new(Shared {
        fd,
        umem,
        plain,
        _rings: mappings,
        _program: program,
    });
    let name = interface.name.clone();
    let free = (0..SEND_CHUNKS).rev().collect();
    let transmit = XdpTransmit {
        shared: shared.clone(),
        name: name.clone(),
        completion,
        tx,
        free,
    };
    Halves {
        transmit: Box::new(transmit),
        receive: Box::new(XdpReceive {
            shared,
            name,
            fill,
            rx,
            is_polled,
            drops_seen: 0,
        }),
    }
}

struct XdpTransmit {
    completion: Consumer<u64>,
    tx: Producer<libc::xdp_desc>,
    /// Slots that are not in flight; never grows beyond its initial capacity.
    free: Vec<u32>,
    name: String,
    // Last, so that the rings are dropped before the memory they lie in.
    shared: Arc<Shared>,
}

impl XdpTransmit {
    fn reclaim(&mut self) {
        while let Some(address) = self.completion.take() {
            self.free.push(self.shared.umem.slot_of(address));
        }
        self.completion.release();
    }

    /// Kicks until the kernel has taken everything, or takes no more: in copy mode one call sends at most 32 frames.
    fn push(&mut self) -> Result<(), PortError> {
        for _ in 0..KICKS {
            if self.tx.is_empty() || !self.tx.needs_wakeup() {
                break;
            }
            self.kick()?;
        }
        Ok(())
    }

    /// Makes the kernel check the ring. Busy and full are not errors: the entries stay in the ring.
    fn kick(&self) -> Result<(), PortError> {
        let fd = self.shared.fd.as_raw_fd();
        // SAFETY: no buffer is passed.
        let result = unsafe {
            libc::sendto(
                fd,
                std::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
                std::ptr::null(),
                0,
            )
        };
        if result >= 0 {
            return Ok(());
        }
        harmless(io::Error::last_os_error()).map_err(PortError::kernel(&self.name, "start sending"))
    }
}

impl Transmit for XdpTransmit {
    fn slots(&self) -> usize {
        SEND_CHUNKS as usize
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        self.reclaim();
        let taken = wanted
            .min(BATCH)
            .min(self.free.len())
            .min(self.tx.free() as usize);
        for _ in 0..taken {
            let Some(slot) = self.free.pop() else { break };
            // SAFETY: a slot on the free list is ours alone, and is put into the ring only after the slice is gone.
            let length = fill(slot as usize, unsafe { self.shared.umem.chunk_mut(slot) });
            self.tx.put(libc::xdp_desc {
                addr: self.shared.umem.send_chunk(slot),
                len: length as u32,
                options: 0,
            });
        }
        self.tx.publish();
        self.push()?;
        Ok(Sent { taken, refused: 0 })
    }

    fn flush(&mut self) -> Result<Flushed, PortError> {
        self.push()?;
        self.reclaim();
        Ok(Flushed {
            is_empty: self.tx.is_empty(),
            refused: 0,
        })
    }

    fn check_link(&self) -> Result<(), PortError> {
        check_carrier(&self.shared.plain, &self.name)
    }
}

struct XdpReceive {
    fill: Producer<u64>,
    rx: Consumer<libc::xdp_desc>,
    name: String,
    /// True if the driver takes in frames only when it is called.
    is_polled: bool,
    drops_seen: u64,
    // Last, as above.
    shared: Arc<Shared>,
}

impl XdpReceive {
    /// Makes the driver check for frames, and take up the chunks that were returned. It is not an error if there are none.
    fn wake(&self) -> Result<(), PortError> {
        let fd = self.shared.fd.as_raw_fd();
        // SAFETY: no buffer is passed.
        let result = unsafe { libc::recv(fd, std::ptr::null_mut(), 0, libc::MSG_DONTWAIT) };
        if result >= 0 {
            return Ok(());
        }
        harmless(io::Error::last_os_error())
            .map_err(PortError::kernel(&self.name, "poll the driver"))
    }
}

/// Returns the error of a call to the socket unless it is harmless: if the driver is busy or has no room, its rings stay as they are.
fn harmless(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

impl Receive for XdpReceive {
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let count = (self.rx.ready() as usize).min(BATCH);
        for _ in 0..count {
            let Some(descriptor) = self.rx.take() else {
                break;
            };
            // SAFETY: the chunk came out of the receive ring and is returned only below, after `each` is done with the slice.
            each(unsafe { self.shared.umem.octets(descriptor.addr, descriptor.len) });
            // There is always room: the ring holds as many entries as there are receiving chunks.
            self.fill.put(self.shared.umem.chunk_of(descriptor.addr));
        }
        if count > 0 {
            self.rx.release();
            self.fill.publish();
        }
        if (self.is_polled && count == 0) || self.fill.needs_wakeup() {
            self.wake()?;
        }
        Ok(count)
    }

    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError> {
        send_or_lose(&self.shared.plain, frame)
            .map_err(PortError::kernel(&self.name, "send an answer"))
    }

    fn overruns(&mut self) -> Result<u64, PortError> {
        let drops = socket::drops(&self.shared.fd).map_err(PortError::kernel(
            &self.name,
            "read the socket's statistics",
        ))?;
        let new = drops - self.drops_seen;
        self.drops_seen = drops;
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_queues_are_served_or_the_error_says_how_to_make_them_as_many() {
        let served = |receive, send, wanted| {
            served(
                "e0",
                InterfaceQueues { receive, send },
                NonZeroU32::new(wanted),
            )
        };
        assert_eq!(
            [served(1, 1, 0), served(4, 4, 0), served(2, 8, 2)],
            [Ok(1), Ok(4), Ok(2)]
        );
        let wrong = [
            (
                served(8, 8, 2),
                "it receives on 8 queues, and 2 are wanted; `ethtool -L e0 combined 2` (or, if it takes none: rx 2 tx 2) makes it so",
            ),
            (
                served(65, 65, 0),
                "it receives on 65 queues, and at most 64 are served; use `ethtool -L e0 combined 64` (or, if it takes none: rx 64 tx 64)",
            ),
            (
                served(4, 2, 0),
                "it receives on 4 queues but sends on 2; `ethtool -L e0 combined 2` (or, if it takes none: rx 2 tx 2) makes them as many",
            ),
        ];
        for (error, words) in wrong {
            assert_eq!(error.expect_err("too many"), words);
        }
    }
}
