//! The XDP program: six instructions that redirect every frame to the socket of its queue, or pass it to the kernel if there is none. It is
//! attached by a BPF link, which the kernel removes when the descriptor is closed, however the process ends.

use crate::sys::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The way in which the program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attach {
    /// By the driver, before a socket buffer is allocated.
    Driver,
    /// By the kernel's generic hook, which works everywhere.
    Generic,
}

// The numbers of linux/bpf.h, and the two flags of linux/if_link.h.
const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE: libc::c_long = 2;
const PROGRAM_LOAD: libc::c_long = 5;
const LINK_CREATE: libc::c_long = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROGRAM_TYPE_XDP: u32 = 6;
const ATTACH_TYPE_XDP: u32 = 37;
const FLAG_GENERIC: u32 = 1 << 1;
const FLAG_DRIVER: u32 = 1 << 2;
const XDP_PASS: i32 = 2;
const HELPER_REDIRECT_MAP: i32 = 51;
/// Queues that a map holds, which is the most that are served.
pub(super) const MAP_ENTRIES: u32 = 64;

/// One BPF instruction: operation, registers (source high, destination low), offset, immediate.
#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction(u8, u8, i16, i32);

/// Returns `return bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS)`. `ctx->rx_queue_index` is at offset 16 of `xdp_md`.
fn instructions(map: i32) -> [Instruction; 6] {
    [
        Instruction(0x61, 0x12, 16, 0),       // r2 = *(u32 *)(r1 + 16)
        Instruction(0x18, 0x11, 0, map), // r1 = map (first half; source register 1 marks a map's descriptor)
        Instruction(0x00, 0x00, 0, 0),   // (second half)
        Instruction(0xb7, 0x03, 0, XDP_PASS), // r3 = XDP_PASS
        Instruction(0x85, 0x00, 0, HELPER_REDIRECT_MAP), // call
        Instruction(0x95, 0x00, 0, 0),   // exit
    ]
}

/// An attached program. Dropping it detaches it.
pub(super) struct Program {
    map: OwnedFd,
    _program: OwnedFd,
    _link: OwnedFd,
}

impl Program {
    /// Loads the program and attaches it to the interface `index`.
    pub(super) fn attach(index: u32, how: Attach) -> io::Result<Self> {
        let map = create_map()?;
        let program = load(&map)?;
        let link = link(&program, index, how)?;
        Ok(Self {
            map,
            _program: program,
            _link: link,
        })
    }

    /// Steers the frames of `queue` to `socket`.
    pub(super) fn steer(&self, queue: u32, socket: &OwnedFd) -> io::Result<()> {
        let value = socket.as_raw_fd() as u32;
        let attributes = [
            self.map.as_raw_fd() as u64,
            std::ptr::from_ref(&queue) as u64,
            std::ptr::from_ref(&value) as u64,
            0,
        ];
        bpf(MAP_UPDATE, &attributes).map(drop)
    }
}

/// Returns the 64-bit word that two 32-bit attributes share.
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Makes the bpf system call; every attribute struct used here is an array of 64-bit words.
fn bpf(command: libc::c_long, attributes: &[u64]) -> io::Result<libc::c_int> {
    let size = size_of_val(attributes);
    // SAFETY: the attributes, and the data they point to, outlive the call; the size is theirs.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes.as_ptr(), size) };
    check(result as libc::c_int)
}

fn owned(fd: libc::c_int) -> OwnedFd {
    // SAFETY: the kernel has just created this descriptor for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn create_map() -> io::Result<OwnedFd> {
    bpf(
        MAP_CREATE,
        &[pair(MAP_TYPE_XSKMAP, 4), pair(4, MAP_ENTRIES), 0],
    )
    .map(owned)
}

fn load(map: &OwnedFd) -> io::Result<OwnedFd> {
    let instructions = instructions(map.as_raw_fd());
    let attributes = [
        pair(PROGRAM_TYPE_XDP, instructions.len() as u32),
        instructions.as_ptr() as u64,
        c"Dual MIT/GPL".as_ptr() as u64,
        0, // log level and size
        0, // log buffer
        0, // kernel version, flags
    ];
    bpf(PROGRAM_LOAD, &attributes).map(owned)
}

fn link(program: &OwnedFd, index: u32, how: Attach) -> io::Result<OwnedFd> {
    let flags = match how {
        Attach::Driver => FLAG_DRIVER,
        Attach::Generic => FLAG_GENERIC,
    };
    bpf(
        LINK_CREATE,
        &[
            pair(program.as_raw_fd() as u32, index),
            pair(ATTACH_TYPE_XDP, flags),
        ],
    )
    .map(owned)
}
