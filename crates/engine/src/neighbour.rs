//! Neighbours: the tester answers ARP requests and neighbour solicitations for its addresses and resolves the DUT's, so that nothing has to be
//! configured by hand on the DUT. These few frames are rare and outside the schedule, so they may be built on the heap.

use crate::profile::Neighbours;
use sixbench_io::clock::Clock;
use sixbench_io::{PortError, Receive};
use sixbench_wire::MacAddress;
use sixbench_wire::arp::{Arp, Operation};
use sixbench_wire::ethernet::EthernetView;
use sixbench_wire::ndp::{NdpMessage, Solicitation};
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

impl NeighbourAnswerer {
    /// Returns an answerer that answers with `own` for the tester's addresses among `neighbours`.
    pub(crate) fn new(own: MacAddress, neighbours: &[Neighbours]) -> Self {
        let addresses = neighbours.iter().map(|n| OwnAddress { address: n.tester, again_ns: 0 }).collect();
        Self { own, addresses, answers: Vec::with_capacity(4), asked_by_all: Vec::with_capacity(4) }
    }

    /// Returns whether `frame`, seen at `now_ns`, is a neighbour's message, and prepares the answer if it asks for one of our addresses.
    pub(crate) fn consider(&mut self, frame: &[u8], now_ns: u64) -> bool {
        if let Ok(arp) = Arp::parse(frame) {
            if arp.operation == Operation::Request {
                self.answer((frame, now_ns), arp.target.into(), |own| arp.reply(own).to_frame().to_vec());
            }
            return true;
        }
        match NdpMessage::parse(frame) {
            Ok(NdpMessage::Solicitation(question)) => {
                self.answer((frame, now_ns), question.target.into(), |own| question.advertise(own).to_frame());
                true
            }
            Ok(NdpMessage::Advertisement(_)) => true,
            Err(_) => false,
        }
    }

    fn answer(&mut self, (question, now_ns): (&[u8], u64), target: IpAddr, build: impl FnOnce(MacAddress) -> Vec<u8>) {
        let Some(asked) = self.addresses.iter_mut().find(|own| own.address == target) else {
            return;
        };
        if now_ns >= asked.again_ns {
            asked.again_ns = now_ns + BETWEEN_ANSWERS_NS;
            self.answers.push(build(self.own));
        }
        // A neighbour that still knows our hardware address probes it by unicast; one that uses broadcast or multicast has lost it.
        let is_to_all = EthernetView::new(question).is_ok_and(|ethernet| !ethernet.dst().is_unicast());
        if is_to_all && !self.asked_by_all.contains(&target) {
            self.asked_by_all.push(target);
        }
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
    /// The user asked to stop.
    Interrupted,
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
        match ask(port, own, neighbour, &mut answerer, (clock, stop))? {
            Some(mac) => found = mac,
            None if stop.load(Ordering::Relaxed) => return Ok(NeighbourResolution::Interrupted),
            None => return Ok(NeighbourResolution::Silent(neighbour.dut)),
        }
    }
    Ok(NeighbourResolution::All(found))
}

fn ask(
    port: &mut dyn Receive,
    own: MacAddress,
    neighbour: &Neighbours,
    answerer: &mut NeighbourAnswerer,
    (clock, stop): (&Clock, &AtomicBool),
) -> Result<Option<MacAddress>, PortError> {
    let Some(question) = question(own, neighbour) else {
        return Ok(None);
    };
    for _ in 0..TRIES {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        port.answer(&question)?;
        let end_ns = clock.now_ns() + RESOLUTION_TIMEOUT_NS;
        while clock.now_ns() < end_ns && !stop.load(Ordering::Relaxed) {
            let mut answer = None;
            port.receive(&mut |frame| {
                answer = answer.or_else(|| answer_in(frame, neighbour.dut));
                answerer.consider(frame, clock.now_ns());
            })?;
            while let Some(frame) = answerer.next_answer() {
                port.answer(&frame)?;
            }
            if answer.is_some() {
                return Ok(answer);
            }
            std::thread::yield_now();
        }
    }
    Ok(None)
}

/// Returns the request; `None` if the two addresses are of different families.
fn question(own: MacAddress, neighbour: &Neighbours) -> Option<Vec<u8>> {
    match (neighbour.tester, neighbour.dut) {
        (IpAddr::V4(tester), IpAddr::V4(dut)) => Some(Arp::request(own, tester, dut).to_frame().to_vec()),
        (IpAddr::V6(tester), IpAddr::V6(dut)) => Some(Solicitation::multicast(own, tester, dut).to_frame()),
        _ => None,
    }
}

/// Returns the hardware address that `frame` gives for `wanted`.
pub(crate) fn answer_in(frame: &[u8], wanted: IpAddr) -> Option<MacAddress> {
    if let Ok(arp) = Arp::parse(frame) {
        return (IpAddr::V4(arp.sender) == wanted).then_some(arp.sender_mac);
    }
    match NdpMessage::parse(frame) {
        Ok(NdpMessage::Advertisement(a)) if IpAddr::V6(a.target) == wanted => Some(a.target_mac.unwrap_or(a.src_mac)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTER: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const DUT: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    fn neighbours(tester: &str, dut: &str) -> Neighbours {
        Neighbours { tester: tester.parse().expect("address"), dut: dut.parse().expect("address") }
    }

    /// Returns our answer to the other side's request, and whether that was sent by broadcast or multicast.
    fn asked(tester: &str, dut: &str) -> (Option<Vec<u8>>, bool) {
        let ours = neighbours(tester, dut);
        let theirs = Neighbours { tester: ours.dut, dut: ours.tester };
        let mut answerer = NeighbourAnswerer::new(TESTER, &[ours]);
        assert!(answerer.consider(&question(DUT, &theirs).expect("same family"), 0));
        (answerer.next_answer(), !answerer.asked_by_all().is_empty())
    }

    #[test]
    fn a_question_for_our_address_is_answered_with_our_hardware_address() {
        for (tester, dut) in [("198.18.0.2", "198.18.0.1"), ("2001:2::2", "2001:2::1")] {
            let (answer, by_all) = asked(tester, dut);
            let answer = answer.expect("an answer");
            assert_eq!(answer_in(&answer, tester.parse().expect("address")), Some(TESTER));
            assert!(by_all);
        }
    }

    #[test]
    fn a_question_for_another_address_is_not_answered() {
        let mut answerer = NeighbourAnswerer::new(TESTER, &[neighbours("198.18.0.2", "198.18.0.1")]);
        let other = Arp::request(DUT, "198.18.0.1".parse().expect("address"), "198.18.0.3".parse().expect("address"));
        assert!(answerer.consider(&other.to_frame(), 0));
        assert!(answerer.next_answer().is_none());
    }

    #[test]
    fn a_probe_to_us_alone_is_no_sign_of_a_lost_entry() {
        let ours = neighbours("2001:2::2", "2001:2::1");
        let mut answerer = NeighbourAnswerer::new(TESTER, &[ours]);
        let (tester, dut) = ("2001:2::2".parse().expect("address"), "2001:2::1".parse().expect("address"));
        answerer.consider(&Solicitation::unicast(DUT, dut, tester, TESTER).to_frame(), 0);
        assert!(answerer.next_answer().is_some());
        assert!(answerer.asked_by_all().is_empty());
    }

    #[test]
    fn an_address_is_answered_for_once_a_millisecond_however_often_it_is_asked_for() {
        let mut answerer = NeighbourAnswerer::new(TESTER, &[neighbours("198.18.0.2", "198.18.0.1")]);
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
