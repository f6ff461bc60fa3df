//! The messages of the control socket, as octets. This module does not use sockets.
//!
//! Version 2.0 of memif (VPP, `src/plugins/memif/memif.h`): each message has 128 octets, packed, in the machine's byte order, and begins with its type.

use super::error::MemifError;

/// Octets of every message.
pub(super) const MESSAGE_OCTETS: usize = 128;
/// The supported version, 2.0.
pub(super) const VERSION: u16 = 0x0200;
/// The mode in which frames begin with an Ethernet header.
pub(super) const MODE_ETHERNET: u8 = 0;

const NAME_OCTETS: usize = 32;
const SECRET_OCTETS: usize = 24;
const REASON_OCTETS: usize = 96;
/// The flag of a ring whose frames go from the client to the server.
const FLAG_TO_SERVER: u16 = 1;

/// One message. The client sends [`Init`](Self::Init), [`AddRegion`](Self::AddRegion), [`AddRing`](Self::AddRing) and [`Connect`](Self::Connect),
/// the server the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MemifMessage {
    /// The last request was granted.
    Ack,
    /// The first message, with the capabilities of the server.
    Hello(ServerOffer),
    /// The interface that the client wants.
    Init {
        version: u16,
        id: u32,
        mode: u8,
        name: String,
    },
    /// Memory, whose descriptor comes with the message.
    AddRegion { index: u16, size: u64 },
    /// A ring in that memory; the descriptor that wakes its reader comes with the message.
    AddRing(RingOffer),
    /// Everything has been added.
    Connect { name: String },
    /// Frames may be sent.
    Connected { name: String },
    /// The link has ended, or was never set up.
    Disconnect { reason: String },
}

/// The server's limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerOffer {
    pub(super) name: String,
    pub(super) min_version: u16,
    pub(super) max_version: u16,
    /// The highest index of a region.
    pub(super) max_region: u16,
    /// The highest index of a ring to the client.
    pub(super) max_to_client: u16,
    /// The highest index of a ring to the server.
    pub(super) max_to_server: u16,
    pub(super) max_log2_ring: u8,
}

/// The place of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingOffer {
    pub(super) is_to_server: bool,
    pub(super) index: u16,
    pub(super) region: u16,
    pub(super) offset: u32,
    pub(super) log2_size: u8,
}

impl MemifMessage {
    /// Returns its name in the protocol.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Ack => "ACK",
            Self::Hello(_) => "HELLO",
            Self::Init { .. } => "INIT",
            Self::AddRegion { .. } => "ADD_REGION",
            Self::AddRing(_) => "ADD_RING",
            Self::Connect { .. } => "CONNECT",
            Self::Connected { .. } => "CONNECTED",
            Self::Disconnect { .. } => "DISCONNECT",
        }
    }

    fn number(&self) -> u16 {
        match self {
            Self::Ack => 1,
            Self::Hello(_) => 2,
            Self::Init { .. } => 3,
            Self::AddRegion { .. } => 4,
            Self::AddRing(_) => 5,
            Self::Connect { .. } => 6,
            Self::Connected { .. } => 7,
            Self::Disconnect { .. } => 8,
        }
    }

    /// Returns the message as octets.
    pub(super) fn encode(&self) -> [u8; MESSAGE_OCTETS] {
        let mut out = FieldWriter {
            octets: [0; MESSAGE_OCTETS],
            at: 0,
        };
        out.put(self.number().to_ne_bytes());
        match self {
            Self::Ack => {}
            Self::Hello(offer) => {
                out.put_text(&offer.name, NAME_OCTETS);
                let limits = [
                    offer.min_version,
                    offer.max_version,
                    offer.max_region,
                    offer.max_to_client,
                    offer.max_to_server,
                ];
                for limit in limits {
                    out.put(limit.to_ne_bytes());
                }
                out.put([offer.max_log2_ring]);
            }
            Self::Init {
                version,
                id,
                mode,
                name,
            } => {
                out.put(version.to_ne_bytes());
                out.put(id.to_ne_bytes());
                out.put([*mode]);
                out.put([0; SECRET_OCTETS]);
                out.put_text(name, NAME_OCTETS);
            }
            Self::AddRegion { index, size } => {
                out.put(index.to_ne_bytes());
                out.put(size.to_ne_bytes());
            }
            Self::AddRing(ring) => {
                out.put(if ring.is_to_server { FLAG_TO_SERVER } else { 0 }.to_ne_bytes());
                out.put(ring.index.to_ne_bytes());
                out.put(ring.region.to_ne_bytes());
                out.put(ring.offset.to_ne_bytes());
                out.put([ring.log2_size]);
            }
            Self::Connect { name } | Self::Connected { name } => out.put_text(name, NAME_OCTETS),
            Self::Disconnect { reason } => {
                out.put(0u32.to_ne_bytes());
                out.put_text(reason, REASON_OCTETS);
            }
        }
        out.octets
    }

    /// Parses a message.
    ///
    /// # Errors
    /// It has a wrong length or an unknown type.
    pub(super) fn decode(octets: &[u8]) -> Result<Self, MemifError> {
        let octets = octets
            .first_chunk::<MESSAGE_OCTETS>()
            .filter(|all| all.len() == octets.len())
            .ok_or_else(|| {
                MemifError::broken(format!(
                    "a message of {} octets, where each has {MESSAGE_OCTETS}",
                    octets.len()
                ))
            })?;
        let mut fields = FieldReader { octets, at: 0 };
        let number = u16::from_ne_bytes(fields.take());
        Ok(match number {
            1 => Self::Ack,
            2 => Self::Hello(fields.server_offer()),
            3 => {
                let (version, id) = (
                    u16::from_ne_bytes(fields.take()),
                    u32::from_ne_bytes(fields.take()),
                );
                let [mode] = fields.take();
                // This end requires no secret, so any secret is accepted.
                let _secret: [u8; SECRET_OCTETS] = fields.take();
                Self::Init {
                    version,
                    id,
                    mode,
                    name: fields.text::<NAME_OCTETS>(),
                }
            }
            4 => Self::AddRegion {
                index: u16::from_ne_bytes(fields.take()),
                size: u64::from_ne_bytes(fields.take()),
            },
            5 => Self::AddRing(fields.ring_offer()),
            6 => Self::Connect {
                name: fields.text::<NAME_OCTETS>(),
            },
            7 => Self::Connected {
                name: fields.text::<NAME_OCTETS>(),
            },
            8 => {
                let _code: [u8; 4] = fields.take();
                Self::Disconnect {
                    reason: fields.text::<REASON_OCTETS>(),
                }
            }
            _ => {
                return Err(MemifError::broken(format!(
                    "a message of the unknown type {number}"
                )));
            }
        })
    }
}

/// A message being written. Every message is known to fit.
struct FieldWriter {
    octets: [u8; MESSAGE_OCTETS],
    at: usize,
}

impl FieldWriter {
    fn put<const N: usize>(&mut self, field: [u8; N]) {
        self.octets[self.at..self.at + N].copy_from_slice(&field);
        self.at += N;
    }

    /// Writes a zero-terminated text, truncated to its field.
    fn put_text(&mut self, text: &str, room: usize) {
        for (to, from) in self.octets[self.at..self.at + room - 1]
            .iter_mut()
            .zip(text.bytes())
        {
            *to = from;
        }
        self.at += room;
    }
}

/// A message being read.
struct FieldReader<'a> {
    octets: &'a [u8; MESSAGE_OCTETS],
    at: usize,
}

impl FieldReader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let field = std::array::from_fn(|nth| self.octets[self.at + nth]);
        self.at += N;
        field
    }

    /// Returns a text up to its terminating zero. It goes into messages and reports, so characters that are not printable are shown as question marks.
    fn text<const N: usize>(&mut self) -> String {
        let field: [u8; N] = self.take();
        let is_printable = |octet: u8| octet == b' ' || octet.is_ascii_graphic();
        field
            .into_iter()
            .take_while(|octet| *octet != 0)
            .map(|octet| {
                if is_printable(octet) {
                    octet.into()
                } else {
                    '?'
                }
            })
            .collect()
    }

    fn server_offer(&mut self) -> ServerOffer {
        let name = self.text::<NAME_OCTETS>();
        let [
            min_version,
            max_version,
            max_region,
            max_to_client,
            max_to_server,
        ] = std::array::from_fn(|_| u16::from_ne_bytes(self.take()));
        let [max_log2_ring] = self.take();
        ServerOffer {
            name,
            min_version,
            max_version,
            max_region,
            max_to_client,
            max_to_server,
            max_log2_ring,
        }
    }

    fn ring_offer(&mut self) -> RingOffer {
        let [flags, index, region] = std::array::from_fn(|_| u16::from_ne_bytes(self.take()));
        let offset = u32::from_ne_bytes(self.take());
        let [log2_size] = self.take();
        RingOffer {
            is_to_server: flags & FLAG_TO_SERVER != 0,
            index,
            region,
            offset,
            log2_size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer() -> ServerOffer {
        ServerOffer {
            name: "VPP 26.06".to_owned(),
            min_version: VERSION,
            max_version: VERSION,
            max_region: 255,
            max_to_client: 1,
            max_to_server: 2,
            max_log2_ring: 14,
        }
    }

    #[test]
    fn every_message_is_read_as_it_was_written() {
        let ring = RingOffer {
            is_to_server: true,
            index: 1,
            region: 2,
            offset: 0x12345,
            log2_size: 11,
        };
        let messages = [
            MemifMessage::Ack,
            MemifMessage::Hello(offer()),
            MemifMessage::Init {
                version: VERSION,
                id: 7,
                mode: MODE_ETHERNET,
                name: "sixbench".to_owned(),
            },
            MemifMessage::AddRegion {
                index: 3,
                size: 1 << 40,
            },
            MemifMessage::AddRing(ring),
            MemifMessage::AddRing(RingOffer {
                is_to_server: false,
                ..ring
            }),
            MemifMessage::Connect {
                name: "left".to_owned(),
            },
            MemifMessage::Connected {
                name: String::new(),
            },
            MemifMessage::Disconnect {
                reason: "ID not found".to_owned(),
            },
        ];
        for message in messages {
            assert_eq!(
                MemifMessage::decode(&message.encode()).expect("a message"),
                message
            );
        }
    }

    #[test]
    fn fields_stand_where_vpp_and_dpdk_have_them() {
        let hello = MemifMessage::Hello(offer()).encode();
        assert_eq!(&hello[..11], b"\x02\0VPP 26.06");
        assert_eq!(hello[34..45], [0, 2, 0, 2, 255, 0, 1, 0, 2, 0, 14]);
        let init = MemifMessage::Init {
            version: VERSION,
            id: 7,
            mode: MODE_ETHERNET,
            name: "x".to_owned(),
        }
        .encode();
        assert_eq!(
            (&init[..9], init[33]),
            (&[3, 0, 0, 2, 7, 0, 0, 0, 0][..], b'x')
        );
        let ring = RingOffer {
            is_to_server: true,
            index: 1,
            region: 2,
            offset: 0x4321,
            log2_size: 11,
        };
        assert_eq!(
            MemifMessage::AddRing(ring).encode()[..13],
            [5, 0, 1, 0, 1, 0, 2, 0, 0x21, 0x43, 0, 0, 11]
        );
        assert_eq!(
            MemifMessage::AddRegion {
                index: 3,
                size: 0x1234
            }
            .encode()[..8],
            [4, 0, 3, 0, 0x34, 0x12, 0, 0]
        );
        assert_eq!(
            MemifMessage::Disconnect {
                reason: "no".to_owned()
            }
            .encode()[..9],
            *b"\x08\0\0\0\0\0no\0"
        );
    }

    #[test]
    fn texts_are_cut_to_their_field_and_shown_as_plain_text() {
        let long = MemifMessage::Connect {
            name: "n".repeat(40),
        }
        .encode();
        let MemifMessage::Connect { name } = MemifMessage::decode(&long).expect("a message") else {
            panic!("another message")
        };
        assert_eq!(name, "n".repeat(31));
        let mut strange = MemifMessage::Disconnect {
            reason: String::new(),
        }
        .encode();
        strange[6..].fill(b'<');
        strange[8..10].copy_from_slice(&[0x1b, 0xff]);
        let read = MemifMessage::decode(&strange).expect("a message");
        assert_eq!(
            read,
            MemifMessage::Disconnect {
                reason: format!("<<??{}", "<".repeat(92))
            }
        );
    }

    #[test]
    fn other_lengths_and_types_are_refused() {
        for length in [0, 1, 127, 129] {
            let error = MemifMessage::decode(&vec![1; length])
                .expect_err("no message")
                .to_string();
            assert!(
                error.contains(&format!("a message of {length} octets, where each has 128")),
                "{error}"
            );
        }
        for number in [0, 9, 0x0100] {
            let mut octets = MemifMessage::Ack.encode();
            octets[..2].copy_from_slice(&u16::to_ne_bytes(number));
            let error = MemifMessage::decode(&octets)
                .expect_err("no message")
                .to_string();
            assert!(error.contains(&format!("unknown type {number}")), "{error}");
        }
    }
}
