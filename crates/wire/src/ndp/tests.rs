//! Neighbour discovery with frames that Linux sent.

use proptest::prelude::*;

use super::*;
use crate::octets::hex;

/// 2001:2::2 (02:..:02) asks the group for 2001:2::1.
const MULTICAST_QUESTION: &str = "3333ff00000102000000000286dd6000000000203aff20010002000000000000000000000002ff0200000000000000000001ff0000018700379300000000200100020000000000000000000000010101020000000002";
/// 2001:2::1 (02:..:01) answers.
const ANSWER: &str = "02000000000202000000000186dd6000000000203aff20010002000000000000000000000001200100020000000000000000000000028800b39560000000200100020000000000000000000000010201020000000001";
/// fe80::ff:fe00:1 asks 2001:2::2 by unicast whether it is still there.
const UNICAST_QUESTION: &str = "02000000000202000000000186dd6000000000203afffe80000000000000000000fffe000001200100020000000000000000000000028700381700000000200100020000000000000000000000020101020000000001";
/// 2001:2::2 answers without the option.
const BRIEF_ANSWER: &str = "02000000000102000000000286dd6000000000183aff20010002000000000000000000000002fe80000000000000000000fffe0000018800fa204000000020010002000000000000000000000002";
/// Duplicate address detection for fe80::ff:fe00:2, with a nonce option (RFC 7527).
const DUPLICATE_DETECTION: &str = "3333ff00000202000000000286dd6000000000203aff00000000000000000000000000000000ff0200000000000000000001ff0000028700de0600000000fe80000000000000000000fffe0000020e016969efef37ba";
const CAPTURED: [&str; 5] = [
    MULTICAST_QUESTION,
    ANSWER,
    UNICAST_QUESTION,
    BRIEF_ANSWER,
    DUPLICATE_DETECTION,
];

const MAC_1: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const MAC_2: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

fn address(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

fn solicitation(digits: &str) -> Solicitation {
    match NdpMessage::parse(&hex(digits)) {
        Ok(NdpMessage::Solicitation(solicitation)) => solicitation,
        other => panic!("{other:?}"),
    }
}

fn advertisement(digits: &str) -> Advertisement {
    match NdpMessage::parse(&hex(digits)) {
        Ok(NdpMessage::Advertisement(advertisement)) => advertisement,
        other => panic!("{other:?}"),
    }
}

/// Returns a captured frame with one octet changed and the checksum corrected.
fn changed(digits: &str, at: usize, octet: u8) -> Vec<u8> {
    let mut frame = hex(digits);
    frame[at] = octet;
    frame[ICMP_AT + 2..ICMP_AT + 4].fill(0);
    let ip = Ipv6View::new(&frame[ethernet::HEADER_LEN..]).unwrap();
    let checksum = checksum::finish(ip.pseudo_header() + checksum::sum(ip.payload()));
    frame[ICMP_AT + 2..ICMP_AT + 4].copy_from_slice(&checksum.to_be_bytes());
    frame
}

fn refusal(frame: &[u8]) -> String {
    let error = NdpMessage::parse(frame).unwrap_err().to_string();
    error
        .trim_start_matches("neighbour discovery message: ")
        .to_owned()
}

#[test]
fn a_question_to_all_is_built_as_linux_builds_it() {
    let question = Solicitation::multicast(MAC_2, address("2001:2::2"), address("2001:2::1"));
    assert_eq!(question.to_frame(), hex(MULTICAST_QUESTION));
    assert_eq!(question.to_frame().len(), FRAME_LEN);
}

#[test]
fn a_question_to_one_is_built_as_linux_builds_it() {
    let (own, asked) = (address("fe80::ff:fe00:1"), address("2001:2::2"));
    let question = Solicitation::unicast(MAC_1, own, asked, MAC_2);
    assert_eq!(question.to_frame(), hex(UNICAST_QUESTION));
}

#[test]
fn a_question_is_answered_as_linux_answered_it() {
    let answer = solicitation(MULTICAST_QUESTION).advertise(MAC_1);
    assert_eq!(answer.to_frame(), hex(ANSWER));
    assert!(answer.is_solicited && answer.is_override && !answer.is_router);
}

#[test]
fn an_answer_without_option_falls_back_to_the_frames_source() {
    let answer = advertisement(BRIEF_ANSWER);
    assert_eq!(answer.target_mac, None);
    assert_eq!(
        NdpMessage::Advertisement(answer).to_string(),
        "nd 2001:2::2 is at 02:00:00:00:00:02"
    );
    assert_eq!(answer.to_frame(), hex(BRIEF_ANSWER));
}

#[test]
fn duplicate_detection_is_answered_to_all_nodes() {
    let question = solicitation(DUPLICATE_DETECTION);
    assert_eq!(
        (question.src, question.source_mac),
        (Ipv6Addr::UNSPECIFIED, None)
    );
    let answer = question.advertise(MAC_1);
    assert_eq!((answer.dst, answer.is_solicited), (ALL_NODES, false));
    assert_eq!(answer.dst_mac.to_string(), "33:33:00:00:00:01");
    assert_eq!(
        NdpMessage::parse(&answer.to_frame()),
        Ok(NdpMessage::Advertisement(answer))
    );
}

#[test]
fn a_forwarded_message_is_refused() {
    assert_eq!(
        refusal(&changed(ANSWER, 21, 254)),
        "hop limit is 0xfe, expected 255"
    );
}

#[test]
fn a_wrong_checksum_is_refused() {
    let mut frame = hex(ANSWER);
    frame[85] ^= 1;
    assert_eq!(refusal(&frame), "wrong checksum");
}

#[test]
fn what_rfc_4861_says_to_discard_is_refused() {
    assert_eq!(refusal(&changed(ANSWER, 55, 1)), "code is 0x1, expected 0");
    assert_eq!(
        refusal(&changed(ANSWER, 54, 133)),
        "type is 0x85, expected 135 or 136"
    );
    assert_eq!(
        refusal(&changed(ANSWER, 79, 0)),
        "option length is 0x0, expected 1 or more"
    );
    assert_eq!(
        refusal(&changed(ANSWER, 79, 2)),
        "neighbour discovery option: 8 octets, at least 16 needed"
    );
    assert!(refusal(&changed(ANSWER, 62, 0xff)).ends_with("expected a unicast address"));
    assert!(refusal(&changed(ANSWER, 38, 0xff)).starts_with("solicited flag is 0x1"));
    assert!(refusal(&changed(DUPLICATE_DETECTION, 78, 1)).starts_with("source option"));
    assert!(refusal(&changed(DUPLICATE_DETECTION, 53, 3)).starts_with("destination"));
}

#[test]
fn a_question_from_a_group_is_refused_since_the_answer_would_go_to_all_of_it() {
    let question = Solicitation::multicast(MAC_2, address("ff02::1"), address("2001:2::1"));
    assert!(NdpMessage::parse(&question.to_frame()).is_err());
}

#[test]
fn padding_after_the_message_is_tolerated() {
    let mut frame = hex(BRIEF_ANSWER);
    frame.extend([0xaa; 4]);
    assert_eq!(
        NdpMessage::parse(&frame),
        NdpMessage::parse(&hex(BRIEF_ANSWER))
    );
}

proptest! {
    #[test]
    fn arbitrary_changes_never_panic(which in 0usize..5, changes in prop::collection::vec((14usize..90, any::<u8>()), 0..4), cut in 0usize..90) {
        let mut frame = hex(CAPTURED[which]);
        for (at, octet) in changes {
            if at < frame.len() && Ipv6View::new(&frame[14..]).is_ok() {
                frame[at] = octet;
            }
        }
        let _ = NdpMessage::parse(&frame).map(|message| message.to_string());
        let _ = NdpMessage::parse(&frame[..cut.min(frame.len())]);
    }

    #[test]
    fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..120)) {
        prop_assert!(NdpMessage::parse(&octets).is_err());
    }

    #[test]
    fn arbitrary_options_with_a_right_checksum_never_panic(options in prop::collection::vec(any::<u8>(), 8..=8)) {
        let mut frame = hex(ANSWER);
        frame[78..86].copy_from_slice(&options);
        let _ = NdpMessage::parse(&changed_frame(frame));
    }

    #[test]
    fn what_is_built_is_read_back(source in 0u128..(0xff << 120), asked in 0u128..(0xff << 120), mac: [u8; 6]) {
        let question = Solicitation::multicast(MacAddress(mac), (source | 1).into(), asked.into());
        prop_assert_eq!(NdpMessage::parse(&question.to_frame()), Ok(NdpMessage::Solicitation(question)));
    }
}

fn changed_frame(frame: Vec<u8>) -> Vec<u8> {
    let digits: String = frame.iter().map(|octet| format!("{octet:02x}")).collect();
    changed(&digits, 78, frame[78])
}

#[test]
fn the_solicited_node_group_holds_the_last_24_bits_of_the_target() {
    let target = "2001:2::1:8000:1234:5678".parse().unwrap();
    assert_eq!(solicited_node_mac(target).to_string(), "33:33:ff:34:56:78");
}
