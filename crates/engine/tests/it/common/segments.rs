//! TCP over IPv4 as a device on the way sees it: just enough to forward segments, to forge some, and to open connections without keeping any.

use std::net::Ipv4Addr;

const ETHERNET: usize = 14;
const IP: usize = 20;
const TCP: usize = 20;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

/// The hardware address of the device on both of its links.
pub(crate) const DEVICE: &str = "02:00:00:00:00:09";

/// One end of a connection.
pub(crate) type End = (Ipv4Addr, u16);

/// A segment without options.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) sequence: u32,
    pub(crate) acknowledged: u32,
    pub(crate) flags: u8,
    pub(crate) payload: Vec<u8>,
}

fn word(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

fn double_word(octets: &[u8], at: usize) -> u32 {
    u32::from(word(octets, at)) << 16 | u32::from(word(octets, at + 2))
}

fn address(octets: &[u8], at: usize) -> Ipv4Addr {
    double_word(octets, at).into()
}

impl Segment {
    /// Reads a frame; `None` if it is not TCP over IPv4.
    pub(crate) fn parse(frame: &[u8]) -> Option<Self> {
        let is_tcp = frame.len() >= ETHERNET + IP + TCP
            && word(frame, 12) == 0x0800
            && frame[14] == 0x45
            && frame[23] == 6;
        let octets =
            frame.get(ETHERNET..ETHERNET + usize::from(is_tcp.then(|| word(frame, 16))?))?;
        let header = usize::from(octets[IP + 12] >> 4) * 4;
        Some(Self {
            from: (address(octets, 12), word(octets, IP)),
            to: (address(octets, 16), word(octets, IP + 2)),
            sequence: double_word(octets, IP + 4),
            acknowledged: double_word(octets, IP + 8),
            flags: octets[IP + 13],
            payload: octets.get(IP + header..)?.to_vec(),
        })
    }

    /// Returns whether exactly these of SYN, ACK, FIN and RST are set.
    pub(crate) fn has(&self, flags: u8) -> bool {
        self.flags & (SYN | ACK | FIN | RST) == flags
    }

    /// The octets that it takes of the sequence.
    pub(crate) fn length(&self) -> u32 {
        self.payload.len() as u32
            + u32::from(self.flags & SYN != 0)
            + u32::from(self.flags & FIN != 0)
    }

    /// The answer of the other end to this segment, which acknowledges it.
    pub(crate) fn answer(&self, flags: u8, payload: &[u8]) -> Self {
        let (from, to, sequence) = (self.to, self.from, self.acknowledged);
        let acknowledged = self.sequence.wrapping_add(self.length());
        Self {
            from,
            to,
            sequence,
            acknowledged,
            flags,
            payload: payload.to_vec(),
        }
    }

    /// As a frame with valid checksums to the end at the right, or at the left.
    pub(crate) fn frame(&self, to_right: bool) -> Vec<u8> {
        let mut frame = vec![0; ETHERNET + IP + TCP];
        frame[12] = 8;
        let length = (IP + TCP + self.payload.len()) as u16;
        frame[14] = 0x45;
        frame[16..18].copy_from_slice(&length.to_be_bytes());
        (frame[22], frame[23]) = (64, 6);
        frame[26..30].copy_from_slice(&self.from.0.octets());
        frame[30..34].copy_from_slice(&self.to.0.octets());
        let sum = checksum(0, &frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        frame[34..36].copy_from_slice(&self.from.1.to_be_bytes());
        frame[36..38].copy_from_slice(&self.to.1.to_be_bytes());
        frame[38..42].copy_from_slice(&self.sequence.to_be_bytes());
        frame[42..46].copy_from_slice(&self.acknowledged.to_be_bytes());
        (frame[46], frame[47]) = (0x50, self.flags);
        frame[48..50].copy_from_slice(&[0xff; 2]);
        frame.extend(&self.payload);
        forwarded(&frame, to_right)
    }
}

/// The frame of a segment as the device sends it on. The kernel leaves checksums to a NIC that these links have not, so that the device writes them.
pub(crate) fn forwarded(frame: &[u8], to_right: bool) -> Vec<u8> {
    let end = ETHERNET + usize::from(word(frame, 16));
    let mut frame = frame[..end].to_vec();
    frame[..12].copy_from_slice(&[
        2,
        0,
        0,
        0,
        0,
        if to_right { 2 } else { 1 },
        2,
        0,
        0,
        0,
        0,
        9,
    ]);
    frame[50..52].fill(0);
    let pseudo_header = 6 + (end - ETHERNET - IP) as u32;
    let sum = checksum(pseudo_header, &frame[26..]);
    frame[50..52].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// The checksum of the Internet (RFC 1071) over these octets, beginning with a sum of others.
fn checksum(sum: u32, octets: &[u8]) -> u16 {
    let words = octets
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |octet| u32::from(*octet)));
    let sum = words.fold(sum, |sum, word| sum + word);
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}
