//! Neighbours: the tester answers ARP requests and neighbour solicitations for its addresses and resolves the DUT's, so that nothing has to be
//! configured by hand on the DUT. These few frames are rare and outside the schedule, so they may be built on the heap.

use super::profile::Neighbours;
use crate::error::MeasureError;
use sixbench_io::clock::Clock;
use sixbench_io::{PortError, Receive};
use sixbench_wire::arp::{Arp, Operation};
use sixbench_wire::ethernet::{EtherType, EthernetView};
use sixbench_wire::ndp::{NdpMessage, Solicitation};
use sixbench_wire::{Ipv6View, MacAddress, WireError, protocol};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of requests before the DUT is considered silent.
pub(crate) const TRIES: u32 = 10;
/// The time limit for an answer to each request, in nanoseconds. A namespace that was just created may need a while.
const RESOLUTION_TIMEOUT_NS: u64 = 300_000_000;

/// The minimum time between two answers for one address, in nanoseconds. A host asks once a second (RFC 4861 section 10, RFC 1122 section
/// 2.3.2.1); a flood of requests must not cause a flood of answers, which would take capacity of the link and the receiver from the test frames.
const BETWEEN_ANSWERS_NS: u64 = 1_000_000;

/// An address of the tester, and the time from which it may be answered for again.
struct OwnAddress {
    address: IpAddr,
    again_ns: u64,
}

/// Answers the DUT's requests on one link, for each address at most once in [`BETWEEN_ANSWERS_NS`].
pub(crate) struct NeighbourAnswerer {
    own: MacAddress,
    addresses: Vec<OwnAddress>,
    answers: Vec<Vec<u8>>,
    asked_by_all: Vec<IpAddr>,
}

/// A question for an address, and whose it is.
struct NeighbourQuestion<'a> {
    frame: &'a [u8],
    target: IpAddr,
    asker: IpAddr,
    asker_mac: MacAddress,
}

impl NeighbourAnswerer {
    /// Returns an answerer that answers with `own` for the tester's addresses among `neighbours`.
    pub(crate) fn new(own: MacAddress, neighbours: &[Neighbours]) -> Self {
        let addresses = neighbours
            .iter()
            .map(|n| OwnAddress {
                address: n.tester,
                again_ns: 0,
            })
            .collect();
        Self {
            own,
            addresses,
            answers: Vec::with_capacity(4),
            asked_by_all: Vec::with_capacity(4),
        }
    }

    /// Returns whether `frame`, seen at `now_ns`, is a neighbour's message, and prepares the answer if it asks for one of our addresses.
    pub(crate) fn consider(&mut self, frame: &[u8], now_ns: u64) -> bool {
        if let Ok(arp) = Arp::parse(frame) {
            if arp.operation == Operation::Request {
                let (target, asker, asker_mac) =
                    (arp.target.into(), arp.sender.into(), arp.sender_mac);
                self.answer(
                    NeighbourQuestion {
                        frame,
                        target,
                        asker,
                        asker_mac,
                    },
                    now_ns,
                    |own| arp.reply(own).to_frame().to_vec(),
                );
            }
            return true;
        }
        match NdpMessage::parse(frame) {
            Ok(NdpMessage::Solicitation(asked)) => {
                let (target, asker) = (asked.target.into(), asked.src.into());
                // A unicast solicitation may leave the option out.
                let asker_mac = asked.source_mac.unwrap_or(asked.src_mac);
                self.answer(
                    NeighbourQuestion {
                        frame,
                        target,
                        asker,
                        asker_mac,
                    },
                    now_ns,
                    |own| asked.advertise(own).to_frame(),
                );
                true
            }
            Ok(NdpMessage::Advertisement(_)) => true,
            Err(_) => false,
        }
    }

    fn answer(
        &mut self,
        question: NeighbourQuestion<'_>,
        now_ns: u64,
        build: impl FnOnce(MacAddress) -> Vec<u8>,
    ) {
        if !self.may_ask(question.asker, question.asker_mac) {
            return;
        }
        let target = question.target;
        let Some(asked) = self.addresses.iter_mut().find(|own| own.address == target) else {
            return;
        };
        if now_ns >= asked.again_ns {
            asked.again_ns = now_ns + BETWEEN_ANSWERS_NS;
            self.answers.push(build(self.own));
        }
        // A neighbour that still knows our hardware address probes only it; one that asks all has lost it.
        let is_to_all =
            EthernetView::new(question.frame).is_ok_and(|ethernet| !ethernet.dst().is_unicast());
        if is_to_all && !self.asked_by_all.contains(&target) {
            self.asked_by_all.push(target);
        }
    }

    /// Returns whether the answer would go to one station with a unicast address that is not ours. The link's prefix is not known
    /// here, and would not decide: Linux asks from an address of any of its interfaces (`arp_announce` 0), such as the end of a tunnel. A question
    /// from no address looks for duplicates (RFC 5227 section 2.1.1, RFC 4862 section 5.4); the answer says that there is one.
    fn may_ask(&self, asker: IpAddr, asker_mac: MacAddress) -> bool {
        let is_host = match asker {
            IpAddr::V4(address) => {
                !address.is_multicast() && !address.is_broadcast() && !address.is_loopback()
            }
            IpAddr::V6(address) => !address.is_multicast() && !address.is_loopback(),
        };
        is_host && asker_mac.is_station() && self.addresses.iter().all(|own| own.address != asker)
    }

    /// Returns the next answer to send.
    #[inline]
    pub(crate) fn next_answer(&mut self) -> Option<Vec<u8>> {
        self.answers.pop()
    }

    /// Returns those of our addresses that the DUT has requested by broadcast or multicast.
    pub(crate) fn asked_by_all(&self) -> &[IpAddr] {
        &self.asked_by_all
    }
}

/// The outcome of resolving the neighbours.
pub(crate) enum NeighbourResolution {
    /// Every neighbour answered; the hardware address of the last one.
    All(MacAddress),
    /// This one did not answer.
    Silent(IpAddr),
    /// This one answered, but never with the hardware address of a station.
    NoStation {
        address: IpAddr,
        claimed: MacAddress,
    },
    /// Answers came, and none could be accepted, for this reason.
    Refused {
        address: IpAddr,
        answers: u64,
        why: String,
    },
    /// The user asked to stop.
    Interrupted,
}

impl NeighbourResolution {
    /// Returns the hardware address of the last neighbour; `port` is the tester's port for errors.
    ///
    /// # Errors
    /// A neighbour was silent or answered wrongly, or a stop was requested.
    pub(crate) fn into_station(self, port: &str) -> Result<MacAddress, MeasureError> {
        let port = port.to_owned();
        match self {
            Self::All(mac) => Ok(mac),
            Self::Interrupted => Err(MeasureError::Interrupted),
            Self::Silent(address) => Err(MeasureError::Silent {
                port,
                address,
                tries: TRIES,
            }),
            Self::Refused {
                address,
                answers,
                why,
            } => Err(MeasureError::AnswersRefused {
                port,
                address,
                answers,
                why,
            }),
            Self::NoStation { address, claimed } => Err(MeasureError::NoStation {
                port,
                address,
                claimed,
            }),
        }
    }
}

/// Resolves every neighbour on a link. The requests tell the DUT our hardware address for each of our own addresses.
pub(crate) fn resolve(
    port: &mut dyn Receive,
    own: MacAddress,
    neighbours: &[Neighbours],
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<NeighbourResolution, PortError> {
    let mut answerer = NeighbourAnswerer::new(own, neighbours);
    let mut found = MacAddress::BROADCAST;
    for neighbour in neighbours {
        let (address, claims) = (
            neighbour.dut,
            ask(port, own, neighbour, &mut answerer, clock, stop)?,
        );
        match (claims.believed, claims.refused) {
            (Some(mac), _) => found = mac,
            (None, _) if stop.load(Ordering::Relaxed) => {
                return Ok(NeighbourResolution::Interrupted);
            }
            (None, Some(claimed)) => {
                return Ok(NeighbourResolution::NoStation { address, claimed });
            }
            (None, None) => {
                let silent = NeighbourResolution::Silent(address);
                let refused = |why| NeighbourResolution::Refused {
                    address,
                    answers: claims.unacceptable,
                    why,
                };
                return Ok(claims.why.map_or(silent, refused));
            }
        }
    }
    Ok(NeighbourResolution::All(found))
}

fn ask(
    port: &mut dyn Receive,
    own: MacAddress,
    neighbour: &Neighbours,
    answerer: &mut NeighbourAnswerer,
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<Claims, PortError> {
    let mut claims = Claims::default();
    let Some(question) = question(own, neighbour) else {
        return Ok(claims);
    };
    for _ in 0..TRIES {
        if stop.load(Ordering::Relaxed) {
            return Ok(claims);
        }
        port.answer(&question)?;
        let end_ns = clock.now_ns() + RESOLUTION_TIMEOUT_NS;
        while clock.now_ns() < end_ns && !stop.load(Ordering::Relaxed) {
            port.receive(&mut |frame| {
                claims.note(frame, neighbour.dut);
                answerer.consider(frame, clock.now_ns());
            })?;
            while let Some(frame) = answerer.next_answer() {
                port.answer(&frame)?;
            }
            if claims.believed.is_some() {
                return Ok(claims);
            }
            std::thread::yield_now();
        }
    }
    Ok(claims)
}

/// The hardware addresses that were named for a neighbour, the first of each kind.
#[derive(Default)]
struct Claims {
    believed: Option<MacAddress>,
    refused: Option<MacAddress>,
    /// Answers that could not be accepted, and the reason for the first.
    unacceptable: u64,
    why: Option<String>,
}

impl Claims {
    /// Notes what `frame` says of `wanted`. The address of a group is not believed (RFC 1812 section 3.3.2): test frames would go to all stations
    /// of the link, and the hardware addresses of what comes back could not be checked.
    fn note(&mut self, frame: &[u8], wanted: IpAddr) {
        let Some(claimed) = claim_in(frame, wanted) else {
            if let Some(why) = why_unacceptable(frame, wanted) {
                self.unacceptable += 1;
                self.why.get_or_insert(why);
            }
            return;
        };
        let kind = if claimed.is_station() {
            &mut self.believed
        } else {
            &mut self.refused
        };
        kind.get_or_insert(claimed);
    }
}

/// Returns the request; `None` if the two addresses are of different families.
fn question(own: MacAddress, neighbour: &Neighbours) -> Option<Vec<u8>> {
    match (neighbour.tester, neighbour.dut) {
        (IpAddr::V4(tester), IpAddr::V4(dut)) => {
            Some(Arp::request(own, tester, dut).to_frame().to_vec())
        }
        (IpAddr::V6(tester), IpAddr::V6(dut)) => {
            Some(Solicitation::multicast(own, tester, dut).to_frame())
        }
        _ => None,
    }
}

/// Returns the reason for refusing an answer to a question for `wanted`; `None` for a frame that is not an answer.
fn why_unacceptable(frame: &[u8], wanted: IpAddr) -> Option<String> {
    let ethernet = EthernetView::new(frame).ok()?;
    match (ethernet.ether_type(), wanted) {
        (EtherType::ARP, IpAddr::V4(_)) => match Arp::parse(frame) {
            Ok(arp) if arp.operation == Operation::Reply => {
                Some(format!("an ARP reply of {}", arp.sender))
            }
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        },
        (EtherType::IPV6, IpAddr::V6(_)) => {
            const ADVERTISEMENT: u8 = 136;
            let ip = Ipv6View::new(ethernet.payload()).ok()?;
            if ip.next_header() != protocol::ICMPV6 || ip.payload().first() != Some(&ADVERTISEMENT)
            {
                return None;
            }
            Some(match NdpMessage::parse(frame) {
                Ok(NdpMessage::Advertisement(other)) => {
                    format!("an advertisement of {}", other.target)
                }
                Ok(NdpMessage::Solicitation(_)) => return None,
                Err(WireError::Checksum { .. }) => "wrong ICMPv6 checksum".to_owned(),
                Err(WireError::Field {
                    field: "hop limit",
                    value,
                    ..
                }) => format!("hop limit {value} instead of 255"),
                Err(error) => error.to_string(),
            })
        }
        _ => None,
    }
}

/// Returns the hardware address of a station that `frame` names for `wanted`.
pub(crate) fn answer_in(frame: &[u8], wanted: IpAddr) -> Option<MacAddress> {
    let mut claims = Claims::default();
    claims.note(frame, wanted);
    claims.believed
}

/// Returns the hardware address that `frame` names for `wanted`, be it that of a station or not.
fn claim_in(frame: &[u8], wanted: IpAddr) -> Option<MacAddress> {
    if let Ok(arp) = Arp::parse(frame) {
        return (IpAddr::V4(arp.sender) == wanted).then_some(arp.sender_mac);
    }
    match NdpMessage::parse(frame) {
        Ok(NdpMessage::Advertisement(a)) if IpAddr::V6(a.target) == wanted => {
            Some(a.target_mac.unwrap_or(a.src_mac))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_wire::ndp::Advertisement;

    const TESTER: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const DUT: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    fn neighbours(tester: &str, dut: &str) -> Neighbours {
        Neighbours {
            tester: tester.parse().expect("address"),
            dut: dut.parse().expect("address"),
        }
    }

    /// Returns our answer to the other side's request, and whether that was sent by broadcast or multicast.
    fn asked(tester: &str, dut: &str) -> (Option<Vec<u8>>, bool) {
        let ours = neighbours(tester, dut);
        let theirs = Neighbours {
            tester: ours.dut,
            dut: ours.tester,
        };
        let mut answerer = NeighbourAnswerer::new(TESTER, &[ours]);
        assert!(answerer.consider(&question(DUT, &theirs).expect("same family"), 0));
        (answerer.next_answer(), !answerer.asked_by_all().is_empty())
    }

    #[test]
    fn a_question_for_our_address_is_answered_with_our_hardware_address() {
        for (tester, dut) in [("198.18.0.2", "198.18.0.1"), ("2001:2::2", "2001:2::1")] {
            let (answer, by_all) = asked(tester, dut);
            let answer = answer.expect("an answer");
            assert_eq!(
                answer_in(&answer, tester.parse().expect("address")),
                Some(TESTER)
            );
            assert!(by_all);
        }
    }

    #[test]
    fn a_question_for_another_address_is_not_answered() {
        let mut answerer =
            NeighbourAnswerer::new(TESTER, &[neighbours("198.18.0.2", "198.18.0.1")]);
        let other = Arp::request(
            DUT,
            "198.18.0.1".parse().expect("address"),
            "198.18.0.3".parse().expect("address"),
        );
        assert!(answerer.consider(&other.to_frame(), 0));
        assert!(answerer.next_answer().is_none());
    }

    /// Hardware addresses that no station has: of all, of a group of IPv4 and of IPv6, and none.
    const NO_STATIONS: [MacAddress; 4] = [
        MacAddress::BROADCAST,
        MacAddress([1, 0, 0x5e, 0, 0, 1]),
        MacAddress([0x33, 0x33, 0, 0, 0, 1]),
        MacAddress([0; 6]),
    ];

    #[test]
    fn an_answer_that_names_a_group_or_nobody_is_not_believed() {
        let (four, six) = (
            "198.18.0.1".parse().expect("address"),
            "2001:2::1".parse().expect("address"),
        );
        let arp = Arp::request(TESTER, "198.18.0.2".parse().expect("address"), four);
        let solicitation =
            Solicitation::multicast(TESTER, "2001:2::2".parse().expect("address"), six);
        for mac in NO_STATIONS {
            let without_option = Advertisement {
                target_mac: None,
                ..solicitation.advertise(mac)
            };
            let frames = [
                arp.reply(mac).to_frame().to_vec(),
                solicitation.advertise(mac).to_frame(),
                without_option.to_frame(),
            ];
            for (frame, wanted) in frames.iter().zip([four.into(), six.into(), six.into()]) {
                assert_eq!(
                    (claim_in(frame, wanted), answer_in(frame, wanted)),
                    (Some(mac), None),
                    "{mac}"
                );
            }
        }
        assert_eq!(
            answer_in(&arp.reply(DUT).to_frame(), four.into()),
            Some(DUT)
        );
        assert_eq!(
            answer_in(&solicitation.advertise(DUT).to_frame(), six.into()),
            Some(DUT)
        );
    }

    #[test]
    fn an_answer_that_cannot_be_accepted_is_told_with_the_reason() {
        let wanted = "2001:2::1".parse().expect("address");
        let good = Solicitation::multicast(TESTER, "2001:2::2".parse().expect("address"), wanted)
            .advertise(DUT)
            .to_frame();
        let changed = |at: usize, to: u8| {
            let mut frame = good.clone();
            frame[at] = to;
            why_unacceptable(&frame, wanted.into())
        };
        assert_eq!(changed(56, 0xff).as_deref(), Some("wrong ICMPv6 checksum"));
        assert_eq!(
            changed(21, 64).as_deref(),
            Some("hop limit 64 instead of 255")
        );
        let other = why_unacceptable(&good, "2001:2::7".parse().expect("address"));
        assert_eq!(other.as_deref(), Some("an advertisement of 2001:2::1"));
        assert_eq!(changed(54, 128), None, "an echo is no answer");
        let four = "198.18.0.1".parse().expect("address");
        let reply = Arp::request(TESTER, "198.18.0.2".parse().expect("address"), four)
            .reply(DUT)
            .to_frame();
        let refused = why_unacceptable(&reply, "198.18.0.9".parse().expect("address"));
        assert_eq!(refused.as_deref(), Some("an ARP reply of 198.18.0.1"));
        let mut claims = Claims::default();
        (0..3).for_each(|_| claims.note(&reply, "198.18.0.9".parse().expect("address")));
        assert_eq!((claims.unacceptable, claims.believed), (3, None));
    }

    /// The answer to a question with this asker for our address of the same family.
    fn answer_to(asker: &str, asker_mac: MacAddress) -> Option<Vec<u8>> {
        let ours = [
            neighbours("198.18.0.2", "198.18.0.1"),
            neighbours("2001:2::2", "2001:2::1"),
        ];
        let mut answerer = NeighbourAnswerer::new(TESTER, &ours);
        let asked = match asker.parse().expect("address") {
            IpAddr::V4(asker) => {
                Arp::request(asker_mac, asker, "198.18.0.2".parse().expect("address"))
                    .to_frame()
                    .to_vec()
            }
            IpAddr::V6(asker) => {
                let asked = Solicitation::multicast(
                    asker_mac,
                    asker,
                    "2001:2::2".parse().expect("address"),
                );
                let source_mac = asked.source_mac.filter(|_| !asker.is_unspecified());
                Solicitation {
                    source_mac,
                    ..asked
                }
                .to_frame()
            }
        };
        assert!(answerer.consider(&asked, 0), "{asker}");
        let answer = answerer.next_answer();
        assert_eq!(
            answer.is_some(),
            !answerer.asked_by_all().is_empty(),
            "what is not answered is no sign of a lost entry"
        );
        answer
    }

    #[test]
    fn a_question_whose_answer_would_go_to_a_group_or_to_nobody_is_not_answered() {
        for mac in NO_STATIONS {
            for asker in ["198.18.0.1", "0.0.0.0", "2001:2::1", "::"] {
                assert_eq!(answer_to(asker, mac), None, "{asker} at {mac}");
            }
        }
    }

    #[test]
    fn a_question_from_an_address_that_no_other_host_can_have_is_not_answered() {
        for asker in [
            "224.0.0.1",
            "255.255.255.255",
            "127.0.0.1",
            "198.18.0.2",
            "::1",
            "2001:2::2",
        ] {
            assert_eq!(answer_to(asker, DUT), None, "{asker}");
        }
    }

    #[test]
    fn a_router_may_ask_from_any_of_its_addresses_also_from_those_of_its_other_interfaces() {
        // The second of each family are those from which Linux asks where a tunnel begins at an address of its loopback interface.
        for asker in [
            "198.18.0.1",
            "192.88.99.1",
            "2001:2::1",
            "2001:2:0:9::1",
            "fe80::1",
        ] {
            let answer = answer_to(asker, DUT).unwrap_or_else(|| panic!("{asker}"));
            assert_eq!(EthernetView::new(&answer).expect("a frame").dst(), DUT);
        }
    }

    #[test]
    fn whoever_looks_for_duplicates_is_told_and_for_ipv6_all_nodes() {
        let answer = answer_to("0.0.0.0", DUT).expect("an answer");
        assert_eq!(EthernetView::new(&answer).expect("a frame").dst(), DUT);
        let answer = answer_to("::", DUT).expect("an answer");
        let Ok(NdpMessage::Advertisement(told)) = NdpMessage::parse(&answer) else {
            panic!("no advertisement")
        };
        assert_eq!(
            (told.dst.to_string(), told.dst_mac),
            ("ff02::1".to_owned(), NO_STATIONS[2])
        );
        assert!(!told.is_solicited);
    }

    #[test]
    fn a_probe_to_us_alone_is_no_sign_of_a_lost_entry() {
        let ours = neighbours("2001:2::2", "2001:2::1");
        let mut answerer = NeighbourAnswerer::new(TESTER, &[ours]);
        let (tester, dut) = (
            "2001:2::2".parse().expect("address"),
            "2001:2::1".parse().expect("address"),
        );
        answerer.consider(
            &Solicitation::unicast(DUT, dut, tester, TESTER).to_frame(),
            0,
        );
        assert!(answerer.next_answer().is_some());
        assert!(answerer.asked_by_all().is_empty());
    }

    #[test]
    fn an_address_is_answered_for_once_a_millisecond_however_often_it_is_asked_for() {
        let mut answerer =
            NeighbourAnswerer::new(TESTER, &[neighbours("198.18.0.2", "198.18.0.1")]);
        let question = question(DUT, &neighbours("198.18.0.1", "198.18.0.2")).expect("same family");
        let answered: u64 = (0..10_000_000)
            .step_by(1_000)
            .map(|now_ns| {
                answerer.consider(&question, now_ns);
                u64::from(answerer.next_answer().is_some())
            })
            .sum();
        assert_eq!(answered, 10);
    }

    #[test]
    fn a_test_frame_is_no_neighbours_message() {
        let mut answerer = NeighbourAnswerer::new(TESTER, &[]);
        assert!(!answerer.consider(&[0; 60], 0));
    }
}
