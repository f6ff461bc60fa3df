//! What is sent and received for one vector, and which frames are whose.

use super::load::is_about_load;
use sixbench_conformance::ControlFrames;
use sixbench_conformance::frame::{LayerKind, Side, dissect, vector_number_in};
use sixbench_conformance::judge::CameFrame;
use sixbench_io::pcap::TimedFrame;
use std::net::Ipv6Addr;
use std::time::{SystemTime, UNIX_EPOCH};

/// The number in the payload of control frames, which no vector has.
pub(super) const CONTROL_NUMBER: u16 = u16::MAX;

/// The number of frames kept for one attempt at a vector: more than any vector expects, so that what is left out cannot be what is missing.
pub const KEPT_FRAMES: usize = 16;

/// A control frame on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ControlFrame {
    /// The side on which it must come.
    pub(super) comes_on: Side,
    /// Its source or destination port, by which it is told from others: a stateful device changes one of them.
    pub(super) port: u16,
}

/// The frames of one attempt at a vector.
pub(super) struct VectorExchange {
    /// The number of the vector.
    pub(super) number: u16,
    /// The first [`KEPT_FRAMES`] frames that came for it.
    pub(super) came: Vec<CameFrame>,
    /// The number of frames that came after those.
    pub(super) left_out: u64,
    /// The result of its control frames.
    pub(super) control: ControlFrames,
    /// The control frame that is waited for, until it comes.
    pub(super) awaited: Option<ControlFrame>,
    /// The datagram of the control frame that came last.
    pub(super) control_datagram: Vec<u8>,
    /// The frames that were sent and those kept of what came, without the control frames, for a capture.
    pub(super) capture: Vec<TimedFrame>,
}

/// The purpose of a datagram.
#[derive(Debug, PartialEq, Eq)]
enum DatagramOwner {
    /// The vector that is being sent.
    Vector,
    /// The control frame with these ports.
    Control([u128; 2]),
    /// That of an earlier vector, whose frame came late, of the load, or of the protocols of the link.
    Other,
}

impl VectorExchange {
    pub(super) fn new(number: u16) -> Self {
        Self {
            number,
            came: Vec::new(),
            left_out: 0,
            control: ControlFrames::Came,
            awaited: None,
            control_datagram: Vec::new(),
            capture: Vec::new(),
        }
    }

    /// Keeps a frame that was sent or came.
    pub(super) fn keep(&mut self, octets: Vec<u8>) {
        let unix_ns = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        self.capture.push(TimedFrame { unix_ns, octets });
    }

    /// Notes a datagram that came on a side, in this frame.
    pub(super) fn note(&mut self, side: Side, datagram: Vec<u8>, frame: Vec<u8>) {
        match owner_of(&datagram, self.number) {
            DatagramOwner::Vector if self.came.len() < KEPT_FRAMES => {
                self.keep(frame);
                self.came.push(CameFrame { side, datagram });
            }
            DatagramOwner::Vector => self.left_out += 1,
            DatagramOwner::Control(ports) => {
                let is_awaited = self.awaited.is_some_and(|awaited| {
                    awaited.comes_on == side && ports.contains(&awaited.port.into())
                });
                if is_awaited {
                    self.awaited = None;
                    self.control_datagram = datagram;
                }
            }
            DatagramOwner::Other => {}
        }
    }
}

fn owner_of(datagram: &[u8], number: u16) -> DatagramOwner {
    match vector_number_in(datagram) {
        Some(CONTROL_NUMBER) => {
            // The control frame itself, and not an ICMP error that quotes it.
            let udp = dissect(datagram)
                .into_iter()
                .find(|layer| layer.kind == LayerKind::Udp && !layer.is_in_error);
            let ports = udp.and_then(|udp| Some([udp.value("sport")?, udp.value("dport")?]));
            ports.map_or(DatagramOwner::Other, DatagramOwner::Control)
        }
        Some(found) if found == number => DatagramOwner::Vector,
        Some(_) => DatagramOwner::Other,
        None if is_of_the_link(datagram) || is_about_load(datagram) => DatagramOwner::Other,
        // A device may answer with a message of its own, or change the payload that has the number: both are results of the vector.
        None => DatagramOwner::Vector,
    }
}

/// Returns true for what a device's kernel sends on a link by itself: router solicitations, reports of MLD and IGMP. Octets in which no datagram can
/// be found count as such, too, because no vector expects them.
fn is_of_the_link(datagram: &[u8]) -> bool {
    const IGMP: u128 = 2;
    let layers = dissect(datagram);
    let Some(ip) = layers.first() else {
        return true;
    };
    match ip.kind {
        LayerKind::Ipv4 => ip.value("proto") == Some(IGMP),
        LayerKind::Ipv6 => ip
            .value("src")
            .map(Ipv6Addr::from)
            .is_some_and(|source| source.is_unspecified() || source.is_unicast_link_local()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_conformance::frame::PayloadPattern;
    use sixbench_conformance::notation::{FrameSpec, RequiredAnswer};
    use sixbench_conformance::octets::{Resolver, build};
    use sixbench_conformance::{DeviceSetting, Role, RoleAddresses};

    fn datagram(text: &str, number: u16) -> Vec<u8> {
        let address = |role, ipv4: &str, ipv6: &str| RoleAddresses {
            role,
            ipv4: ipv4.parse().ok(),
            ipv6: ipv6.parse().ok(),
        };
        let roles = vec![
            address(Role::Host4, "198.19.0.2", "2001:2:0:1::2"),
            address(Role::Host6, "198.18.0.2", "2001:2::2"),
        ];
        let setting = DeviceSetting {
            roles,
            hops_from_ipv4: 1,
            hops_from_ipv6: 1,
            mtu4: 1500,
            mtu6: 1500,
            subscribers: None,
        };
        let sent = FrameSpec::parse(text).expect("a frame");
        build(
            &sent,
            PayloadPattern { vector: number },
            &Resolver {
                setting: &setting,
                sent: &sent,
            },
        )
        .expect("octets")
    }

    #[test]
    fn fewer_frames_are_expected_than_are_kept() {
        let files = sixbench_conformance::notation::built_in().expect("the vectors");
        let vectors = files.iter().flat_map(|file| &file.vectors);
        let answers = vectors.flat_map(|vector| {
            let allowed = vector.allowed.iter().map(|choice| &choice.expect);
            allowed.chain([&vector.expect])
        });
        let most = answers.map(|answer| match answer {
            RequiredAnswer::Nothing => 0,
            RequiredAnswer::Frames(frames) => frames.len(),
        });
        let most = most.max().expect("vectors");
        assert!((1..KEPT_FRAMES).contains(&most), "{most}");
    }

    #[test]
    fn a_datagram_belongs_to_the_vector_whose_payload_it_carries() {
        let text = "6: ipv6(src=host4, dst=host6) / icmp6(type=1) / ipv6(src=host6, dst=host4) / udp / payload(32)";
        assert_eq!(owner_of(&datagram(text, 5), 5), DatagramOwner::Vector);
        assert_eq!(
            owner_of(&datagram(text, 4), 5),
            DatagramOwner::Other,
            "the answer to an earlier vector came late"
        );
        let cut = "6: ipv6(src=host4, dst=host6) / icmp6(type=1) / ipv6(src=host6, dst=host4) / udp / payload(0)";
        assert_eq!(
            owner_of(&datagram(cut, 4), 5),
            DatagramOwner::Vector,
            "an error may be cut before the payload"
        );
    }

    #[test]
    fn a_control_frame_is_known_by_its_port_and_its_side() {
        let control = datagram(
            "6: ipv6(src=host4, dst=host6) / udp(sport=777) / payload(32)",
            CONTROL_NUMBER,
        );
        let mut exchange = VectorExchange::new(5);
        exchange.awaited = Some(ControlFrame {
            comes_on: Side::Ipv6,
            port: 777,
        });
        exchange.note(Side::Ipv4, control.clone(), Vec::new());
        assert!(exchange.awaited.is_some(), "on the wrong side");
        exchange.note(Side::Ipv6, control, Vec::new());
        assert_eq!((exchange.awaited, exchange.came.len()), (None, 0));
        let to_the_port = datagram(
            "6: ipv6(src=host4, dst=host6) / udp(sport=9, dport=777) / payload(32)",
            CONTROL_NUMBER,
        );
        exchange.awaited = Some(ControlFrame {
            comes_on: Side::Ipv6,
            port: 777,
        });
        exchange.note(Side::Ipv6, to_the_port, Vec::new());
        assert_eq!(exchange.awaited, None, "a subscriber's port is not free");
        let refused = "4: ipv4(src=198.19.0.1, dst=host4) / icmp(type=3) / ipv4(src=host4, dst=host6) / udp(sport=777) / payload(32)";
        assert_eq!(
            owner_of(&datagram(refused, CONTROL_NUMBER), 5),
            DatagramOwner::Other,
            "an error about it does not say that it passed"
        );
    }

    #[test]
    fn what_a_kernel_sends_by_itself_is_no_answer() {
        assert_eq!(
            owner_of(
                &datagram(
                    "6: ipv6(src=fe80::1, dst=ff02::2, hlim=255) / icmp6(type=133)",
                    0
                ),
                5
            ),
            DatagramOwner::Other
        );
        assert_eq!(
            owner_of(
                &datagram(
                    "4: ipv4(src=198.19.0.1, dst=224.0.0.22, proto=2) / bytes(22000000)",
                    0
                ),
                5
            ),
            DatagramOwner::Other
        );
    }
}
