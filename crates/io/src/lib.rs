//! Frames to and from the kernel or the NIC, and time. The only crate with `unsafe`; it knows neither protocols nor methods.
//!
//! A [`Port`] is one end of a link. It has a transmitting and a receiving half, so that a paced sender can own its core.
//! No half allocates, locks or logs once it is open.

mod backend;
pub mod clock;
pub mod files;
pub mod limit;
pub mod loopback;
mod numa;
pub mod pcap;
mod round_trip;
pub mod thread;
pub mod udp;

mod sys;

#[doc(hidden)]
pub use backend::fuzzing;
pub use backend::{BACKENDS, Backend, PortSpec, packet};
pub use numa::NumaNode;
pub use round_trip::round_trip_ns;
pub use sys::interface::Interface;

use std::io;
use std::num::NonZeroU32;

/// Most frames taken or given in one call: the time stamp a batch shares stays true.
pub const BATCH: usize = 64;

/// One end of a link, open.
pub struct Port {
    /// Its name, as people call it: that of the interface, where it is one.
    pub name: String,
    /// The hardware address frames are sent from.
    pub mac: [u8; 6],
    /// A description of how frames are sent and received, for the facts of a run.
    pub how: String,
    /// The NUMA node that its NIC is on, where that is known and there are several.
    pub node: Option<NumaNode>,
    /// The halves of each of its queues, of which there is at least one.
    pub queues: Vec<Halves>,
}

impl Port {
    /// Returns the halves of the only queue.
    ///
    /// # Panics
    /// The port has several: frames of the others would be taken for lost.
    pub fn into_single_queue(mut self) -> Halves {
        assert!(self.queues.len() == 1, "{} has {} queues, and one is served", self.name, self.queues.len());
        self.queues.remove(0)
    }
}

/// The entry of a backend.
#[derive(Debug)]
pub struct BackendInfo {
    /// The word for it: a value of `io`, or what stands before the colon in the name of a port.
    pub word: &'static str,
    /// Its name in the facts of a run.
    pub title: &'static str,
    /// One sentence that says what it is and where it works.
    pub definition: &'static str,
    /// True if it serves several queues of a port, and polls the driver where that is wanted.
    pub serves_queues: bool,
    /// True if it opens interfaces of the kernel; otherwise its ports are named by its word, a colon, and an address that it alone understands.
    pub opens_interfaces: bool,
    /// Returns what this machine lacks for it, apart from the rights of the user.
    pub obstacle: fn() -> Option<Obstacle>,
    /// Opens a port.
    pub open: fn(&PortRequest<'_>) -> Result<Port, PortError>,
}

impl PartialEq for BackendInfo {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for BackendInfo {}

/// Something that this machine lacks, and what to do about it.
pub struct Obstacle {
    /// A description of what is missing.
    pub what: String,
    /// The action that helps.
    pub cure: String,
}

/// The port that a backend is asked to open.
pub struct PortRequest<'a> {
    /// The name of an interface in the calling thread's network namespace, or the address.
    pub address: &'a str,
    /// The settings that it is to have.
    pub settings: PortOptions,
}

/// The settings of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOptions {
    /// Octets of the longest frame to be sent, without FCS. An interface has room for as many as its MTU says.
    pub longest_frame: u32,
    /// The number of queues; `None`: as many as the port has, where the backend serves several, else one.
    pub queues: Option<NonZeroU32>,
    /// True if the threads that receive are to poll the driver themselves, instead of waiting for its interrupts.
    pub busy_poll: bool,
}

impl PortOptions {
    /// The defaults, for frames of up to `longest_frame` octets without FCS.
    pub fn of(longest_frame: u32) -> Self {
        Self { longest_frame, queues: None, busy_poll: false }
    }

    /// Returns whether a backend that serves one queue by its interrupts will do.
    fn is_plain(self) -> bool {
        self.queues.is_none_or(|queues| queues.get() == 1) && !self.busy_poll
    }
}

impl PortRequest<'_> {
    /// Refuses what a backend that serves one queue by its interrupts has not got; `port` names the port, and `title` the backend.
    fn check_plain(&self, port: &str, title: &str) -> Result<(), PortError> {
        let PortOptions { queues, busy_poll, .. } = self.settings;
        let refused = |what: String| Err(PortError::Interface { interface: port.to_owned(), what });
        match queues.map(NonZeroU32::get) {
            Some(queues @ 2..) => refused(format!("{title} serves one queue, not {queues}; leave out `queues`, or use AF_XDP")),
            _ if busy_poll => refused(format!("{title} has no `busy-poll`; leave it out, or use AF_XDP")),
            _ => Ok(()),
        }
    }
}

/// The two halves of a port, or of one of its queues, each fit for a thread of its own.
pub struct Halves {
    /// Sends.
    pub transmit: Box<dyn Transmit>,
    /// Receives.
    pub receive: Box<dyn Receive>,
}

/// Writes a frame: gets the number of the buffer (stable, below [`Transmit::slots`]) and the buffer, which still holds what
/// was written there last; returns the frame's octets without FCS.
pub type Fill<'a> = dyn FnMut(usize, &mut [u8]) -> usize + 'a;

/// The sending half of a port.
pub trait Transmit: Send {
    /// Returns the number of different buffers.
    fn slots(&self) -> usize;

    /// Sends up to `wanted` frames, each written by `fill`; returns at once with what became of them.
    /// A frame that was filled has left the tester or waits in a queue of ours (`taken`), or was turned away (`refused`, counted in `taken`
    /// too, now or when it was filled): by a full DUT, or by a link that is down.
    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError>;

    /// Pushes on what was taken and still waits in a queue of ours; says whether nothing does any more. Never waits.
    fn flush(&mut self) -> Result<bool, PortError> {
        Ok(true)
    }

    /// Checks that the link can carry frames. Takes a lock of the kernel: not to be called while frames are due.
    ///
    /// # Errors
    /// [`PortError::LinkDown`] or [`PortError::Peer`] where it cannot.
    fn check_link(&self) -> Result<(), PortError> {
        Ok(())
    }
}

/// The outcome of one [`Transmit::transmit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames filled and offered.
    pub taken: usize,
    /// Frames among these and those before them that a full receive queue of the peer or a link that is down refused.
    pub refused: usize,
}

/// The receiving half of a port.
pub trait Receive: Send {
    /// Hands waiting frames (at most [`BATCH`]) to `each`, oldest first; returns how many. Never waits.
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError>;

    /// Sends one frame outside the schedule: answers to ARP and neighbour solicitations.
    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError>;

    /// Frames for which the receive ring had no room since the last call.
    fn overruns(&mut self) -> Result<u64, PortError>;
}

/// The reason why a port cannot be opened or has failed.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The interface cannot be used.
    #[error("cannot use interface {interface}: {what}")]
    Interface {
        /// Its name.
        interface: String,
        /// A description of what is wrong with it, and of what to do next.
        what: String,
    },
    /// Nothing can be sent or received.
    #[error("{interface}: the link is down: is the device's interface at its other end up, and the cable in?")]
    LinkDown {
        /// Name of the interface.
        interface: String,
    },
    /// A link in memory that is shared with another program cannot be made, or is over.
    #[error("{port}: {what}")]
    Peer {
        /// Name of the port.
        port: String,
        /// A description of what is wrong with the peer, and of what to do next.
        what: String,
    },
    /// A port of DPDK cannot be opened, or has failed.
    #[error("{port}: {what}")]
    Driver {
        /// Name of the port.
        port: String,
        /// A description of what is wrong, and of what to do next.
        what: String,
    },
    /// Opening a socket takes rights that this process has not.
    #[error("{interface}: cannot {what}: {source}; root is needed")]
    Denied {
        /// Name of the interface.
        interface: String,
        /// The operation that was tried.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Another program or socket has the interface's XDP hook, or its queue.
    #[error(
        "{interface}: cannot open an AF_XDP socket: another AF_XDP socket or XDP program has the interface ({source}); `ip \
         link show dev {interface}` names a program after `prog/xdp`: stop the process to which it belongs, remove the program \
         (ip link set dev {interface} xdp off), or use `io = \"packet\"`"
    )]
    Busy {
        /// Name of the interface.
        interface: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A call to the kernel failed.
    #[error("{interface}: cannot {what}: {source}")]
    Kernel {
        /// Name of the interface.
        interface: String,
        /// The operation that was tried.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl PortError {
    pub(crate) fn kernel<'a>(interface: &'a str, what: &'static str) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Kernel { interface: interface.to_owned(), what, source }
    }

    /// Returns the conversion of an error from a socket that only root may open: rights are named if they are what is missing,
    /// and nowhere else.
    pub(crate) fn socket<'a>(interface: &'a str, what: &'static str) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Denied { interface: interface.to_owned(), what, source },
            _ => Self::kernel(interface, what)(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_rights_are_called_so() {
        let told = |code| PortError::socket("e0", "open a packet socket")(io::Error::from_raw_os_error(code)).to_string();
        assert!(told(libc::EPERM).ends_with("; root is needed"), "{}", told(libc::EPERM));
        assert!(!told(libc::EBUSY).contains("root") && !told(libc::EMFILE).contains("root"));
    }
}
