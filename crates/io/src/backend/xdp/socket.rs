//! The calls that create an AF_XDP socket and its rings.

use super::ring::RingParts;
use super::umem::{RECEIVE_CHUNKS, SEND_CHUNKS, Umem};
use crate::sys::mapping::MemoryMapping;
use crate::sys::{bind, get_option, set_option, socket};
use std::io;
use std::os::fd::OwnedFd;

/// In copy mode every frame in flight counts against it. It is enough for all chunks, so that our socket never fills up before the DUT does.
const SEND_BUFFER: libc::c_int = 64 << 20;

/// The place of one ring's parts within its mapping: `struct xdp_ring_offset`.
#[derive(Clone, Copy)]
pub(super) struct Offsets {
    producer: u64,
    consumer: u64,
    descriptors: u64,
    flags: u64,
}

/// `struct xdp_mmap_offsets`.
#[derive(Clone, Copy)]
pub(super) struct AllOffsets {
    pub(super) rx: Offsets,
    pub(super) tx: Offsets,
    pub(super) fill: Offsets,
    pub(super) completion: Offsets,
}

impl AllOffsets {
    /// Reads the words of the struct, in its order.
    fn of_words(words: [u64; 16]) -> Self {
        let ring = |first: usize| {
            let [producer, consumer, descriptors, flags] =
                std::array::from_fn(|nth| words[first + nth]);
            Offsets {
                producer,
                consumer,
                descriptors,
                flags,
            }
        };
        Self {
            rx: ring(0),
            tx: ring(4),
            fill: ring(8),
            completion: ring(12),
        }
    }
}

/// `struct xdp_umem_reg`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Registration {
    address: u64,
    length: u64,
    chunk: u32,
    headroom: u32,
    flags: u32,
    metadata: u32,
}

/// One ring's mapping and parts.
pub(super) struct RingMemory<T> {
    pub(super) mapping: MemoryMapping,
    pub(super) parts: RingParts<T>,
}

/// Returns a socket with its memory registered and its four rings created.
pub(super) fn open(umem: &Umem) -> io::Result<(OwnedFd, AllOffsets)> {
    let fd = socket(libc::AF_XDP, libc::SOCK_RAW, 0)?;
    set_option(&fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER)?;
    let (address, length) = umem.area();
    let registration = Registration {
        address,
        length,
        chunk: umem.chunk() as u32,
        headroom: 0,
        flags: 0,
        metadata: 0,
    };
    set_option(&fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)?;
    set_option(
        &fd,
        libc::SOL_XDP,
        libc::XDP_UMEM_FILL_RING,
        &RECEIVE_CHUNKS,
    )?;
    set_option(
        &fd,
        libc::SOL_XDP,
        libc::XDP_UMEM_COMPLETION_RING,
        &SEND_CHUNKS,
    )?;
    set_option(&fd, libc::SOL_XDP, libc::XDP_RX_RING, &RECEIVE_CHUNKS)?;
    set_option(&fd, libc::SOL_XDP, libc::XDP_TX_RING, &SEND_CHUNKS)?;
    let offsets = get_option(&fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
    Ok((fd, AllOffsets::of_words(offsets)))
}

/// Maps one ring.
pub(super) fn map<T>(
    fd: &OwnedFd,
    at: &Offsets,
    size: u32,
    page: i64,
) -> io::Result<RingMemory<T>> {
    let length = at.descriptors as usize + size as usize * size_of::<T>();
    let mapping = MemoryMapping::shared(fd, length, page)?;
    let parts = RingParts {
        producer: mapping.at(at.producer as usize).cast(),
        consumer: mapping.at(at.consumer as usize).cast(),
        flags: mapping.at(at.flags as usize).cast(),
        entries: mapping.at(at.descriptors as usize).cast(),
        size,
    };
    Ok(RingMemory { mapping, parts })
}

/// Microseconds for which a call polls the driver if nothing has arrived, and the most frames that it takes in: 20 us and one batch, as in xdpsock, the
/// benchmark of AF_XDP's authors (xdp-project/bpf-examples).
const BUSY_POLL_US: libc::c_int = 20;
const BUSY_POLL_BUDGET: libc::c_int = 64;

/// Makes the socket's calls poll the driver instead of relying on its interrupts. This takes effect if the interface defers them
/// (`napi_defer_hard_irqs`, `gro_flush_timeout`).
pub(super) fn prefer_busy_poll(fd: &OwnedFd) -> io::Result<()> {
    set_option(fd, libc::SOL_SOCKET, libc::SO_PREFER_BUSY_POLL, &1i32)?;
    set_option(fd, libc::SOL_SOCKET, libc::SO_BUSY_POLL, &BUSY_POLL_US)?;
    set_option(
        fd,
        libc::SOL_SOCKET,
        libc::SO_BUSY_POLL_BUDGET,
        &BUSY_POLL_BUDGET,
    )
}

/// Binds the socket to a queue of an interface.
pub(super) fn bind_to(fd: &OwnedFd, index: u32, queue: u32, zero_copy: bool) -> io::Result<()> {
    let mode = if zero_copy {
        libc::XDP_ZEROCOPY
    } else {
        libc::XDP_COPY
    };
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: mode | libc::XDP_USE_NEED_WAKEUP,
        sxdp_ifindex: index,
        sxdp_queue_id: queue,
        sxdp_shared_umem_fd: 0,
    };
    bind(fd, &address)
}

/// Returns the number of frames that the kernel has dropped so far for lack of room: `struct xdp_statistics`.
pub(super) fn drops(fd: &OwnedFd) -> io::Result<u64> {
    // Order: rx_dropped, rx_invalid_descs, tx_invalid_descs, rx_ring_full, rx_fill_ring_empty_descs, tx_ring_empty_descs.
    // rx_dropped counts the frames that found no chunk or a full ring; the others give the cause.
    let statistics: [u64; 6] = get_option(fd, libc::SOL_XDP, libc::XDP_STATISTICS)?;
    Ok(statistics[0] + statistics[3])
}
