//! The result of a vector, from what came and from the control frames.

use super::{PATTERN, setting, vector};
use crate::judge::{CameFrame, ControlFrames, VectorJudgement, VectorResult, judge};
use crate::notation::{FrameSpec, Vector};
use crate::octets::{Resolver, build};
use crate::{DeviceResults, VectorOutcome};

/// Returns the judgement of a vector for which these frames came.
fn judged(vector: &Vector, came: &[&str], control: ControlFrames) -> VectorJudgement {
    let setting = setting();
    let resolver = Resolver {
        setting: &setting,
        sent: &vector.send[0],
    };
    let frames: Vec<CameFrame> = came
        .iter()
        .map(|text| {
            let frame = FrameSpec::parse(text).unwrap();
            CameFrame {
                side: frame.side,
                datagram: build(&frame, PATTERN, &resolver).unwrap(),
            }
        })
        .collect();
    judge(vector, &frames, control, PATTERN, &setting)
}

const TRANSLATED: &str = "6: ipv6(src=host4, dst=host6, tc=0xb8, hlim=61) / udp / payload(32)";
const WITHOUT_CLASS: &str = "6: ipv6(src=host4, dst=host6, hlim=61) / udp / payload(32)";
const REFUSED: &str = "4: ipv4(src=dut4, dst=host4) / icmp(type=3, code=13) / ipv4(src=host4, dst=host6) / udp / payload(32)";

#[test]
fn a_required_frame_is_right_wrong_missing_or_unknown() {
    let vector = vector("udp-traffic-class");
    let result = |came: &[&str], control| judged(&vector, came, control).result;
    assert_eq!(
        result(&[TRANSLATED], ControlFrames::Came),
        VectorResult::Right
    );
    assert_eq!(
        result(&[TRANSLATED], ControlFrames::Lost),
        VectorResult::Right
    );
    assert_eq!(
        result(&[WITHOUT_CLASS], ControlFrames::Came),
        VectorResult::Wrong
    );
    assert_eq!(
        result(&[WITHOUT_CLASS], ControlFrames::Lost),
        VectorResult::Wrong
    );
    assert_eq!(result(&[], ControlFrames::Came), VectorResult::NoAnswer);
    assert_eq!(result(&[], ControlFrames::Lost), VectorResult::Unknown);
    assert_eq!(
        result(&[TRANSLATED, TRANSLATED], ControlFrames::Came),
        VectorResult::Wrong,
        "a duplicate is one frame too many"
    );
    assert_eq!(result(&[REFUSED], ControlFrames::Came), VectorResult::Wrong);
}

#[test]
fn silence_is_right_only_if_it_is_required_and_the_control_frames_came() {
    let vector = vector("source-quench");
    let result = |came: &[&str], control| judged(&vector, came, control).result;
    assert_eq!(result(&[], ControlFrames::Came), VectorResult::Right);
    assert_eq!(result(&[], ControlFrames::Lost), VectorResult::Unknown);
    assert_eq!(
        result(&[WITHOUT_CLASS], ControlFrames::Came),
        VectorResult::Wrong
    );
    assert_eq!(
        result(&[WITHOUT_CLASS], ControlFrames::Lost),
        VectorResult::Wrong
    );
}

#[test]
fn an_allowed_alternative_is_named() {
    let vector = vector("zero-checksum");
    let right = judged(&vector, &[WITHOUT_CLASS], ControlFrames::Came);
    assert_eq!(
        (right.result, right.alternative),
        (VectorResult::Right, None)
    );
    let dropped = judged(&vector, &[], ControlFrames::Came);
    assert_eq!(
        (dropped.result, dropped.alternative.as_deref()),
        (VectorResult::Allowed, Some("dropped"))
    );
    assert_eq!(
        judged(&vector, &[], ControlFrames::Lost).result,
        VectorResult::Unknown
    );
}

#[test]
fn a_wrong_frame_is_shown_in_the_notation_with_the_fields_that_differ() {
    let judgement = judged(
        &vector("udp-traffic-class"),
        &[WITHOUT_CLASS],
        ControlFrames::Came,
    );
    let [frame] = &judgement.frames[..] else {
        panic!("{judgement:?}")
    };
    assert_eq!(
        frame.differences[0].to_string(),
        "ipv6.tc: expected 0xb8, came 0x0"
    );
    let came = frame.came.as_deref().unwrap();
    let start = "6: ipv6(src=host4, dst=host6, tc=0x0, hlim=61, next=udp, len=40) / udp(sport=4096, dport=4097, len=40, sum=0x";
    assert!(
        came.starts_with(start) && came.ends_with(") / payload(32)"),
        "{came}"
    );
    FrameSpec::parse(came).unwrap();
}

#[test]
fn a_device_without_the_addresses_is_not_asked() {
    let mut setting = setting();
    setting.roles.remove(0);
    let judgement = judge(
        &vector("udp-traffic-class"),
        &[CameFrame {
            side: crate::frame::Side::Ipv6,
            datagram: vec![0x60; 40],
        }],
        ControlFrames::Came,
        PATTERN,
        &setting,
    );
    assert_eq!(judgement.result, VectorResult::NotApplicable);
    assert_eq!(
        judgement.reason.as_deref(),
        Some("the recipe gives host4 no IPv6 address")
    );
}

#[test]
fn a_known_defect_is_named_where_it_shows_and_where_it_no_longer_does() {
    let vector = vector("udp-traffic-class");
    let findings = |came: &str, known: &[&str]| {
        let judgement = judged(&vector, &[came], ControlFrames::Came);
        let outcome = VectorOutcome::new(7915, &vector, judgement, 1);
        let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
        DeviceResults::new("d", "D", "1", vec![outcome])
            .with_known_defects(&known)
            .findings()
    };
    let shown = findings(WITHOUT_CLASS, &["udp-traffic-class"]);
    let heading = "wrong: udp-traffic-class (RFC 7915 section 4.1, MUST; a known defect)";
    assert!(shown.contains(heading), "{shown}");
    let gone = findings(TRANSLATED, &["udp-traffic-class"]);
    assert!(
        gone.contains("the recipe names it as a known defect"),
        "{gone}"
    );
    assert_eq!(findings(TRANSLATED, &["another"]), "");
    assert!(!findings(WITHOUT_CLASS, &[]).contains("known"));
}
