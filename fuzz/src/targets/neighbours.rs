//! ARP and neighbour discovery. An answer must be accepted by our own parser, be for an address of ours, and be sent to the node that asked.

use crate::input::Input;
use sixbench_engine::frames::profile::Neighbours;
use sixbench_engine::fuzzing::neighbour_answers;
use sixbench_wire::arp::{Arp, Operation};
use sixbench_wire::ndp::{NdpMessage, Solicitation};
use sixbench_wire::{EthernetView, MacAddress};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const PEER: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
const TESTER_4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
const DUT_4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const TESTER_6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 2);
const DUT_6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1);

/// The first octet selects a right message, which the rest changes, or that the rest is the frame.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    let how = input.octet();
    let mut frame = match how % 4 {
        0 => return check(input.0),
        1 => Arp::request(PEER, DUT_4, TESTER_4).to_frame().to_vec(),
        2 => Solicitation::multicast(PEER, DUT_6, TESTER_6).to_frame(),
        _ => Solicitation::multicast(PEER, DUT_6, TESTER_6)
            .advertise(OWN)
            .to_frame(),
    };
    input.change(&mut frame);
    if how & 0x80 == 0 {
        super::checksums::mend(&mut frame);
    }
    check(&frame);
}

fn check(frame: &[u8]) {
    let neighbours = [
        Neighbours {
            tester: TESTER_4.into(),
            dut: DUT_4.into(),
        },
        Neighbours {
            tester: TESTER_6.into(),
            dut: DUT_6.into(),
        },
    ];
    let (answers, is_message) = neighbour_answers(OWN, &neighbours, frame);
    assert!(answers.len() <= 1 && (is_message || answers.is_empty()));
    if let Ok(arp) = Arp::parse(frame)
        && arp.operation == Operation::Reply
    {
        assert_eq!(Arp::parse(&arp.to_frame()).as_ref(), Ok(&arp));
    }
    for answer in answers {
        check_answer(&answer);
    }
}

fn check_answer(answer: &[u8]) {
    let ethernet = EthernetView::new(answer).expect("an answer is a frame");
    assert_eq!(ethernet.src(), OWN);
    let told = match (Arp::parse(answer), NdpMessage::parse(answer)) {
        (Ok(arp), _) => (arp.operation == Operation::Reply)
            .then_some((IpAddr::V4(arp.sender), Some(arp.sender_mac))),
        (_, Ok(NdpMessage::Advertisement(message))) => {
            Some((IpAddr::V6(message.target), message.target_mac))
        }
        (_, read) => panic!("an answer that nobody takes: {read:?}"),
    };
    let (address, mac) = told.expect("an answer is no question");
    assert!([IpAddr::V4(TESTER_4), IpAddr::V6(TESTER_6)].contains(&address));
    assert_eq!(mac, Some(OWN));
}
