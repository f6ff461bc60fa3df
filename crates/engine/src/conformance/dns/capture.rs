//! Messages as frames of a capture. The kernel's sockets do not show their frames, so that headers of Ethernet, IP, UDP and TCP are written around
//! each message; one over TCP is a single segment.

use super::client::ClientExchange;
use super::server::AuthorityExchange;
use sixbench_conformance::DeviceSetting;
use sixbench_conformance::dns::DnsTransport;
use sixbench_conformance::frame::PayloadPattern;
use sixbench_conformance::notation::FrameSpec;
use sixbench_conformance::octets::{Resolver, build};
use sixbench_io::pcap::TimedFrame;
use sixbench_wire::MacAddress;
use sixbench_wire::ethernet::{EtherType, EthernetHeader, HEADER_LEN};
use std::fmt::Write;
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// The addresses of Ethernet in captures, which are locally administered.
const FROM: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const TO: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

/// A message from one address to another.
struct CapturedMessage<'m> {
    at: SystemTime,
    from: SocketAddr,
    to: SocketAddr,
    transport: DnsTransport,
    octets: &'m [u8],
}

/// Returns the frames of an exchange with the server at `server`, and of those of the server with the authority at `authority`, in the order of time.
pub(super) fn frames(
    asked: &ClientExchange,
    transport: DnsTransport,
    server: SocketAddr,
    upstream: &[AuthorityExchange],
    authority: SocketAddr,
) -> Vec<TimedFrame> {
    let of_client = [
        (asked.sent_at, asked.local, server, &asked.query),
        (asked.came_at, server, asked.local, &asked.answer_octets),
    ];
    let of_client = of_client.map(|(at, from, to, octets)| CapturedMessage {
        at,
        from,
        to,
        transport,
        octets,
    });
    let of_authority = upstream
        .iter()
        .flat_map(|exchange| of_authority(exchange, authority));
    let messages = of_client.into_iter().chain(of_authority);
    let said = messages.filter(|message| !message.octets.is_empty());
    let mut frames: Vec<TimedFrame> = said.filter_map(|message| message.frame()).collect();
    frames.sort_by_key(|frame| frame.unix_ns);
    frames
}

/// Returns the query of the server to the authority, and the answer if there is one.
fn of_authority(
    exchange: &AuthorityExchange,
    authority: SocketAddr,
) -> impl Iterator<Item = CapturedMessage<'_>> {
    let query = CapturedMessage {
        at: exchange.at,
        from: exchange.from,
        to: authority,
        transport: exchange.transport,
        octets: &exchange.query,
    };
    let answer = exchange.answer.as_ref().map(|octets| CapturedMessage {
        at: exchange.at,
        from: authority,
        to: exchange.from,
        transport: exchange.transport,
        octets,
    });
    [query].into_iter().chain(answer)
}

impl CapturedMessage<'_> {
    /// Returns its frame; `None` if the message is too large for one.
    fn frame(&self) -> Option<TimedFrame> {
        let spec = FrameSpec::parse(&self.notation()).ok()?;
        let setting = DeviceSetting {
            roles: Vec::new(),
            hops_from_ipv4: 1,
            hops_from_ipv6: 1,
            mtu4: u16::MAX,
            mtu6: u16::MAX,
            subscribers: None,
        };
        let resolver = Resolver {
            setting: &setting,
            sent: &spec,
        };
        let datagram = build(&spec, PayloadPattern { vector: 0 }, &resolver).ok()?;
        let mut octets = vec![0; HEADER_LEN];
        EthernetHeader {
            dst: TO,
            src: FROM,
            ether_type: if self.from.is_ipv4() {
                EtherType::IPV4
            } else {
                EtherType::IPV6
            },
        }
        .emit(&mut octets);
        octets.extend_from_slice(&datagram);
        let since = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(TimedFrame {
            unix_ns: since.as_nanos(),
            octets,
        })
    }

    /// Returns it in the notation of frames.
    fn notation(&self) -> String {
        let (from, to) = (self.from, self.to);
        let (side, ip) = if from.is_ipv4() {
            ("4", "ipv4")
        } else {
            ("6", "ipv6")
        };
        let ports = format!("sport={}, dport={}", from.port(), to.port());
        let length = self.octets.len() as u16;
        let (layer, prefix) = match self.transport {
            DnsTransport::Udp => (format!("udp({ports})"), Vec::new()),
            DnsTransport::Tcp => (
                format!("tcp({ports}, seq=1, ack=1, flags=PA)"),
                length.to_be_bytes().to_vec(),
            ),
        };
        let mut text = format!(
            "{side}: {ip}(src={}, dst={}) / {layer} / bytes(",
            from.ip(),
            to.ip()
        );
        for octet in prefix.iter().chain(self.octets) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{octet:02x}");
        }
        text + ")"
    }
}
