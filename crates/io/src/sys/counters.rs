//! What the kernel counts of an interface: frames that its driver or the kernel dropped, and how often its link went down. It is asked by rtnetlink, whose
//! socket belongs to the network namespace in which it was opened, whichever thread uses it. (The files below `/sys/class/net` are those of the namespace in
//! which `/sys` was mounted.)

use super::socket;
use crate::PortError;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::os::fd::OwnedFd;

/// Octets for an answer. One interface needs about two thousand; the virtual functions of a NIC are not asked for.
const ANSWER_OCTETS: usize = 16 * 1024;

// From linux/netlink.h, linux/rtnetlink.h and linux/if_link.h.
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_CARRIER: u16 = 33;
const IFLA_CARRIER_DOWN_COUNT: u16 = 48;
const IFLA_INFO_KIND: u16 = 1;
/// Octets of `struct nlmsghdr`, and of `struct ifinfomsg` behind it.
const HEADER_OCTETS: usize = 16;
const LINK_OCTETS: usize = 16;
/// The bits of an attribute's type that are flags.
const TYPE_MASK: u16 = 0x3fff;

/// A counter of dropped frames: its name, as in `/sys/class/net/*/statistics`, and its place in `struct rtnl_link_stats64`.
type CounterPlace = (&'static str, usize);

/// Counters of frames that arrived and were not handed on. Those that sum others up, such as `rx_errors`, are left out, and so is `rx_length_errors`: whoever
/// sent such a frame made it so.
const RECEIVED: [CounterPlace; 6] = [
    ("rx_missed_errors", 15),
    ("rx_fifo_errors", 14),
    ("rx_over_errors", 11),
    ("rx_dropped", 6),
    ("rx_crc_errors", 12),
    ("rx_frame_errors", 13),
];
/// Counters of frames that were handed over to be sent, and did not leave.
const SENT: [CounterPlace; 4] = [
    ("tx_dropped", 7),
    ("tx_fifo_errors", 18),
    ("tx_carrier_errors", 17),
    ("tx_aborted_errors", 16),
];

/// Reads the counters of one interface. Reading takes some microseconds and a kernel lock, so it must not happen while frames are due.
#[derive(Debug)]
pub struct CounterReader {
    interface: String,
    socket: OwnedFd,
}

/// The counters of an interface at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounters {
    /// True if it is one end of a veth pair. Then a frame that is dropped at it was dropped by the kernel on the core of the device that sent it.
    pub is_veth: bool,
    /// True if its link is up.
    pub has_carrier: bool,
    /// The number of times that its link has gone down.
    pub link_downs: u32,
    /// Frames that arrived and were not handed on, by the counters `rx_missed_errors`, `rx_fifo_errors`, `rx_over_errors`, `rx_dropped`, `rx_crc_errors`
    /// and `rx_frame_errors`.
    pub received: [u64; RECEIVED.len()],
    /// Frames that were handed over to be sent and did not leave, by the counters `tx_dropped`, `tx_fifo_errors`, `tx_carrier_errors` and
    /// `tx_aborted_errors`.
    pub sent: [u64; SENT.len()],
}

impl CounterReader {
    /// Prepares to read the counters of an interface in the calling thread's network namespace.
    ///
    /// # Errors
    /// The kernel has no rtnetlink for this process.
    pub fn open(interface: &str) -> Result<Self, PortError> {
        let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)
            .map_err(PortError::kernel(interface, "open an rtnetlink socket"))?;
        Ok(Self {
            interface: interface.to_owned(),
            socket,
        })
    }

    /// Returns the name of the interface.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// Returns the present counters.
    ///
    /// # Errors
    /// The interface is gone, or the kernel does not answer.
    pub fn read(&self) -> Result<InterfaceCounters, PortError> {
        self.ask()
            .map_err(PortError::kernel(&self.interface, "read its counters"))
    }

    fn ask(&self) -> io::Result<InterfaceCounters> {
        send(&self.socket, &request(&self.interface), SendFlags::empty())?;
        let mut answer = vec![0; ANSWER_OCTETS];
        // The kernel answers within the call above.
        let (octets, _) = recv(&self.socket, &mut answer[..], RecvFlags::DONTWAIT)?;
        parse(&answer[..octets])
    }
}

impl InterfaceCounters {
    /// Returns by how many frames each counter of frames that arrived and were not handed on has grown since `before`, with the kernel's name of it.
    pub fn not_handed_on_since(&self, before: &Self) -> impl Iterator<Item = (&'static str, u64)> {
        grown(&RECEIVED, self.received, before.received)
    }

    /// Returns the same for frames that were handed over to be sent, and did not leave.
    pub fn not_sent_since(&self, before: &Self) -> impl Iterator<Item = (&'static str, u64)> {
        grown(&SENT, self.sent, before.sent)
    }
}

fn grown<const N: usize>(
    places: &'static [CounterPlace; N],
    now: [u64; N],
    before: [u64; N],
) -> impl Iterator<Item = (&'static str, u64)> {
    let counters = places.iter().zip(now.into_iter().zip(before));
    // A driver that was reset begins at 0 again.
    counters.map(|((name, _), (now, before))| (*name, now.saturating_sub(before)))
}

/// Returns the octets that ask for an interface by its name.
fn request(interface: &str) -> Vec<u8> {
    let name_octets = interface.len() + 1;
    let attribute_octets = 4 + name_octets;
    let octets = HEADER_OCTETS + LINK_OCTETS + attribute_octets.next_multiple_of(4);
    let mut message = Vec::with_capacity(octets);
    message.extend((octets as u32).to_ne_bytes());
    message.extend(RTM_GETLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.resize(HEADER_OCTETS + LINK_OCTETS, 0);
    message.extend((attribute_octets as u16).to_ne_bytes());
    message.extend(IFLA_IFNAME.to_ne_bytes());
    message.extend(interface.as_bytes());
    message.resize(octets, 0);
    message
}

/// Parses the kernel's answer: a description of the interface, or an error number.
fn parse(message: &[u8]) -> io::Result<InterfaceCounters> {
    match word16(message, 4).ok_or_else(cut_off)? {
        NLMSG_ERROR => {
            let number = word32(message, HEADER_OCTETS).ok_or_else(cut_off)?;
            Err(io::Error::from_raw_os_error((number as i32).wrapping_neg()))
        }
        RTM_NEWLINK => {
            let described = message
                .get(HEADER_OCTETS + LINK_OCTETS..)
                .ok_or_else(cut_off)?;
            Ok(counters(described))
        }
        other => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the kernel's answer is of the type {other}"),
        )),
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the kernel's answer was cut")
}

/// Reads the attributes of an interface. What a kernel does not tell is 0.
fn counters(described: &[u8]) -> InterfaceCounters {
    let mut found = InterfaceCounters::default();
    for (kind, value) in Attributes(described) {
        match kind {
            IFLA_STATS64 => {
                found.received = RECEIVED.map(|(_, place)| word64(value, 8 * place).unwrap_or(0));
                found.sent = SENT.map(|(_, place)| word64(value, 8 * place).unwrap_or(0));
            }
            IFLA_CARRIER => found.has_carrier = value.first() == Some(&1),
            IFLA_CARRIER_DOWN_COUNT => found.link_downs = word32(value, 0).unwrap_or(0),
            IFLA_LINKINFO => {
                found.is_veth = Attributes(value)
                    .any(|(kind, value)| kind == IFLA_INFO_KIND && value.starts_with(b"veth\0"));
            }
            _ => {}
        }
    }
    found
}

/// The attributes in a part of a message, each with its type and its value: two octets of length, two of the type, the value, and octets up to a multiple of 4.
struct Attributes<'a>(&'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let octets = usize::from(word16(self.0, 0)?);
        let kind = word16(self.0, 2)? & TYPE_MASK;
        let value = self.0.get(4..octets)?;
        self.0 = self.0.get(octets.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    }
}

fn word16(octets: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(octets.get(at..at + 2)?.try_into().ok()?))
}

fn word32(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(octets.get(at..at + 4)?.try_into().ok()?))
}

fn word64(octets: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(octets.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an attribute, padded.
    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut octets = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
        octets.extend(kind.to_ne_bytes());
        octets.extend(value);
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets
    }

    /// Returns an answer about an interface of this kind whose counter number `i` has the value `100 + i`, and whose link went down this often.
    fn answer(kind: &[u8], downs: u32) -> Vec<u8> {
        let numbers: Vec<u8> = (100..124_u64).flat_map(u64::to_ne_bytes).collect();
        let mut message = vec![0; HEADER_OCTETS + LINK_OCTETS];
        message[4..6].copy_from_slice(&RTM_NEWLINK.to_ne_bytes());
        message.extend(attribute(IFLA_IFNAME, b"e0\0"));
        // The flag of nested attributes is no part of the type.
        message.extend(attribute(
            IFLA_LINKINFO | 0x8000,
            &attribute(IFLA_INFO_KIND, kind),
        ));
        message.extend(attribute(IFLA_STATS64, &numbers));
        message.extend(attribute(IFLA_CARRIER, &[u8::from(downs == 0)]));
        message.extend(attribute(IFLA_CARRIER_DOWN_COUNT, &downs.to_ne_bytes()));
        message
    }

    #[test]
    fn counters_are_at_the_places_of_the_kernels_struct() {
        let found = parse(&answer(b"veth\0", 3)).expect("an answer");
        assert_eq!(found.received, [115, 114, 111, 106, 112, 113]);
        assert_eq!(found.sent, [107, 118, 117, 116]);
        assert_eq!(
            (found.is_veth, found.has_carrier, found.link_downs),
            (true, false, 3)
        );
        let other = parse(&answer(b"vlan\0", 0)).expect("an answer");
        assert!(other.has_carrier && !other.is_veth);
    }

    fn has_grown((_, frames): &(&str, u64)) -> bool {
        *frames > 0
    }

    #[test]
    fn what_counters_have_grown_by_is_told_with_their_names() {
        let before = parse(&answer(b"", 0)).expect("an answer");
        let mut after = before.clone();
        after.received[3] += 412;
        after.sent[1] += 2;
        let received = after.not_handed_on_since(&before).filter(has_grown);
        assert_eq!(received.collect::<Vec<_>>(), [("rx_dropped", 412)]);
        let sent = after.not_sent_since(&before).filter(has_grown);
        assert_eq!(sent.collect::<Vec<_>>(), [("tx_fifo_errors", 2)]);
        // A driver that was reset begins at 0 again.
        assert_eq!(
            before.not_handed_on_since(&after).filter(has_grown).count(),
            0
        );
    }

    #[test]
    fn an_answer_that_is_cut_or_an_error_is_no_reading() {
        let whole = answer(b"", 0);
        assert!(parse(&whole[..5]).is_err() && parse(&whole[..20]).is_err());
        let cut = parse(&whole[..whole.len() - 9]).expect("what came before");
        assert_eq!(cut.link_downs, 0, "its attribute is not whole");
        let mut error = vec![0; HEADER_OCTETS];
        error[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        error.extend((-libc::ENODEV).to_ne_bytes());
        let told = parse(&error).expect_err("an error");
        assert_eq!(told.raw_os_error(), Some(libc::ENODEV));
    }

    #[test]
    fn the_loopback_interface_has_counters_and_one_that_is_not_there_is_named() {
        let lo = CounterReader::open("lo").expect("a socket");
        assert!(!lo.read().expect("counters").is_veth);
        assert_eq!(lo.read().expect("again").link_downs, 0);
        let told = CounterReader::open("sb-none").expect("a socket").read();
        let told = told.expect_err("no interface").to_string();
        assert!(
            told.starts_with("sb-none: cannot read its counters: "),
            "{told}"
        );
    }
}
