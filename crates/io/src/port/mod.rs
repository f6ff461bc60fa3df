//! A port of the tester: one end of a link, open, and what a backend must do to be one.

pub mod loopback;
pub mod pcap;

use crate::numa::NumaNode;
use std::io;
use std::num::NonZeroU32;

/// The most frames taken or given in one call, so few that the time stamp a batch shares stays accurate.
pub const BATCH: usize = 64;

/// The most octets of a frame.
pub(crate) const LONGEST_FRAME: usize = 1 << 16;

/// One end of a link, open.
pub struct Port {
    /// Its name for users: that of the interface, if it is one.
    pub name: String,
    /// The hardware address frames are sent from.
    pub mac: [u8; 6],
    /// A description of how frames are sent and received, for the facts of a run.
    pub how: String,
    /// The NUMA node of its NIC, if that is known and there are several.
    pub node: Option<NumaNode>,
    /// The halves of each of its queues; there is at least one queue.
    pub queues: Vec<Halves>,
}

impl Port {
    /// Returns the halves of the only queue.
    ///
    /// # Panics
    /// The port has several queues: frames on the others would be counted as lost.
    pub fn into_single_queue(mut self) -> Halves {
        assert!(
            self.queues.len() == 1,
            "{} has {} queues, and one is served",
            self.name,
            self.queues.len()
        );
        self.queues.remove(0)
    }
}

/// The description of a backend.
#[derive(Debug)]
pub struct BackendInfo {
    /// Its word: a value of `io`, or the part before the colon in a port's name.
    pub word: &'static str,
    /// Its name in the facts of a run.
    pub title: &'static str,
    /// One sentence that says what it is and where it works.
    pub definition: &'static str,
    /// True if it supports several queues per port, and busy polling of the driver.
    pub serves_queues: bool,
    /// True if it opens kernel interfaces; otherwise its ports are named by its word, a colon, and an address that only it understands.
    pub opens_interfaces: bool,
    /// Returns what this machine lacks for it, apart from the user's rights.
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

/// Something that this machine lacks, and the remedy.
pub struct Obstacle {
    /// A description of what is missing.
    pub what: String,
    /// The action that helps.
    pub cure: String,
}

/// A request to a backend to open a port.
pub struct PortRequest<'a> {
    /// The name of an interface in the calling thread's network namespace, or an address.
    pub address: &'a str,
    /// The settings that the port is to have.
    pub settings: PortOptions,
}

/// The settings of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOptions {
    /// Octets of the longest frame to be sent, without FCS. An interface has room for as many as its MTU allows.
    pub longest_frame: u32,
    /// The number of queues; `None` for as many as the port has, or one if the backend does not support several.
    pub queues: Option<NonZeroU32>,
    /// True if the receiving threads are to poll the driver instead of waiting for its interrupts.
    pub busy_poll: bool,
}

impl PortOptions {
    /// Returns the default settings, for frames of up to `longest_frame` octets without FCS.
    pub fn new(longest_frame: u32) -> Self {
        Self {
            longest_frame,
            queues: None,
            busy_poll: false,
        }
    }

    /// Returns whether a backend with one queue and interrupts is sufficient.
    pub(crate) fn is_plain(self) -> bool {
        self.queues.is_none_or(|queues| queues.get() == 1) && !self.busy_poll
    }
}

impl PortRequest<'_> {
    /// Refuses settings that a backend with one queue and interrupts does not support; `port` names the port, and `title` the backend.
    pub(crate) fn check_plain(&self, port: &str, title: &str) -> Result<(), PortError> {
        let PortOptions {
            queues, busy_poll, ..
        } = self.settings;
        let refused = |what: String| {
            Err(PortError::Interface {
                interface: port.to_owned(),
                what,
            })
        };
        match queues.map(NonZeroU32::get) {
            Some(queues @ 2..) => refused(format!(
                "{title} serves one queue, not {queues}; leave out `queues`, or use AF_XDP"
            )),
            _ if busy_poll => refused(format!(
                "{title} has no `busy-poll`; leave it out, or use AF_XDP"
            )),
            _ => Ok(()),
        }
    }
}

/// The two halves of a port, or of one of its queues. Each can be moved to its own thread.
pub struct Halves {
    /// The half that sends.
    pub transmit: Box<dyn Transmit>,
    /// The half that receives.
    pub receive: Box<dyn Receive>,
}

/// Writes a frame. It gets the number of the buffer (stable, below [`Transmit::slots`]) and the buffer, which still holds the frame last written
/// there; it returns the frame's octets without FCS.
pub type Fill<'a> = dyn FnMut(usize, &mut [u8]) -> usize + 'a;

/// The sending half of a port.
pub trait Transmit: Send {
    /// Returns the number of different buffers.
    fn slots(&self) -> usize;

    /// Sends up to `wanted` frames, each written by `fill`, and returns at once with the outcome. A frame that was filled has left the tester or
    /// waits in one of our queues (`taken`), or it was refused (`refused`, which is also counted in `taken`, now or when it was filled) by a full
    /// DUT or a link that is down.
    ///
    /// # Errors
    /// If the port can send no more. A full queue or a link that is down is no error.
    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError>;

    /// Sends on frames that were taken and still wait in one of our queues, without blocking.
    ///
    /// # Errors
    /// If the port can send no more.
    fn flush(&mut self) -> Result<Flushed, PortError> {
        Ok(Flushed {
            is_empty: true,
            refused: 0,
        })
    }

    /// Checks that the link can carry frames. It takes a kernel lock, so it must not be called while frames are due.
    ///
    /// # Errors
    /// [`PortError::LinkDown`] or [`PortError::Peer`] if it cannot.
    fn check_link(&self) -> Result<(), PortError> {
        Ok(())
    }
}

/// The outcome of one [`Transmit::transmit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames filled and offered.
    pub taken: usize,
    /// Those of these and earlier frames that were refused because the peer's receive queue was full or the link was down.
    pub refused: usize,
}

/// The outcome of one [`Transmit::flush`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// True if no frame waits any more.
    pub is_empty: bool,
    /// Frames that were taken before and refused now.
    pub refused: usize,
}

/// The receiving half of a port.
pub trait Receive: Send {
    /// Hands waiting frames (at most [`BATCH`]) to `each`, oldest first, without blocking; returns their number.
    ///
    /// Which frames these are is settled before the first of them is handed out: all had arrived by then. So the time at which `each` is called
    /// first bounds the arrival of every frame of the call from above. If there are fewer than [`BATCH`], none was left behind, and a frame of a
    /// later call arrived after this call began.
    ///
    /// # Errors
    /// If the port can receive no more.
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<usize, PortError>;

    /// Sends one frame outside the schedule: an answer to an ARP request or neighbour solicitation.
    ///
    /// # Errors
    /// If the frame was not sent.
    fn answer(&mut self, frame: &[u8]) -> Result<(), PortError>;

    /// Returns the number of frames for which the receive ring had no room since the last call.
    ///
    /// # Errors
    /// If the kernel does not tell it.
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
    #[error(
        "{interface}: the link is down: is the device's interface at its other end up, and the cable in?"
    )]
    LinkDown {
        /// Name of the interface.
        interface: String,
    },
    /// A link in memory shared with another program cannot be set up, or has ended.
    #[error("{port}: {what}")]
    Peer {
        /// Name of the port.
        port: String,
        /// A description of what is wrong with the peer, and of what to do next.
        what: String,
    },
    /// A DPDK port cannot be opened, or has failed.
    #[error("{port}: {what}")]
    Driver {
        /// Name of the port.
        port: String,
        /// A description of what is wrong, and of what to do next.
        what: String,
    },
    /// This process lacks the rights to open a socket.
    #[error("{interface}: cannot {what}: {source}; root is needed")]
    Denied {
        /// Name of the interface.
        interface: String,
        /// The operation that was tried.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Another program or socket occupies the interface's XDP hook or queue.
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
    pub(crate) fn kernel<'a>(
        interface: &'a str,
        what: &'static str,
    ) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Kernel {
            interface: interface.to_owned(),
            what,
            source,
        }
    }

    /// Returns the conversion for errors of a socket that only root may open. It mentions rights only if they are what is missing.
    pub(crate) fn socket<'a>(
        interface: &'a str,
        what: &'static str,
    ) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Denied {
                interface: interface.to_owned(),
                what,
                source,
            },
            _ => Self::kernel(interface, what)(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_rights_are_called_so() {
        let told = |code| {
            PortError::socket("e0", "open a packet socket")(io::Error::from_raw_os_error(code))
                .to_string()
        };
        assert!(
            told(libc::EPERM).ends_with("; root is needed"),
            "{}",
            told(libc::EPERM)
        );
        assert!(!told(libc::EBUSY).contains("root") && !told(libc::EMFILE).contains("root"));
    }
}
