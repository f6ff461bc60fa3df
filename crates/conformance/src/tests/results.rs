//! The result of a vector, from what came and from the control frames.

use super::{PATTERN, setting, vector};
use crate::judge::{CameFrame, ControlFrames, VectorJudgement, VectorResult, judge};
use crate::notation::{FrameSpec, RequirementLevel, Vector, built_in};
use crate::octets::{Resolver, build};
use crate::{DeviceResults, judged_vector, loaded_finding};
use sixbench_method::terms::{Direction, FrameRate, FrameSize};
use sixbench_method::trial::{LoadedDirection, RequirementLoad, RequirementResults};

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
fn what_was_sent_is_kept_of_every_kind_of_vector() {
    let judgement = VectorJudgement::not_applicable(&"none");
    for file in built_in().expect("the vectors") {
        for vector in &file.vectors {
            let judged = judged_vector(file.rfc, vector, judgement.clone(), 1);
            assert!(!judged.sent.is_empty(), "{}", vector.name);
        }
    }
}

#[test]
fn a_known_defect_is_named_where_it_shows_and_where_it_no_longer_does() {
    let vector = vector("udp-traffic-class");
    let findings = |came: &str, known: &[&str]| {
        let judgement = judged(&vector, &[came], ControlFrames::Came);
        let outcome = judged_vector(7915, &vector, judgement, 1);
        let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
        DeviceResults::new("d", "D", "1", vec![outcome].into())
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

const MUST: RequirementLevel = RequirementLevel::Must;

/// Returns the results of a vector for which this came quietly and under load, one after the other.
fn under_load(quiet: &[&str], loaded: &[&str]) -> DeviceResults {
    let vector = vector("udp-traffic-class");
    let [quiet, loaded] = [quiet, loaded].map(|came| judged(&vector, came, ControlFrames::Came));
    let mut outcome = judged_vector(7915, &vector, quiet, 1);
    outcome.under_load = loaded_finding(&outcome, loaded, 5);
    let forward = LoadedDirection {
        direction: Direction::Forward,
        offered: 100_000,
        received: 99_980,
        wrong: 5,
    };
    let load = RequirementLoad {
        rate: FrameRate(20_000),
        frame_size: FrameSize(84),
        trials: 2,
        invalid_trials: 0,
        directions: vec![forward],
    };
    let requirements = RequirementResults {
        load: Some(load),
        vectors: vec![outcome],
    };
    DeviceResults::new("d", "D", "1", requirements)
}

#[test]
fn what_differs_under_load_is_told_with_both_results_beside_the_counts_of_the_load() {
    let results = under_load(&[TRANSLATED], &[]);
    let (table, findings) = (results.table(), results.findings());
    for line in [
        "under load (20.0k frames/s in each direction, 84 octets): 1 vector differs from the quiet run",
        "  forward  100000 sent, 99980 received, 15 lost, 5 wrong",
    ] {
        assert!(table.lines().any(|found| found == line), "{table}");
    }
    let heading =
        "right quietly, no answer under load: udp-traffic-class (RFC 7915 section 4.1, MUST)";
    assert!(findings.contains(heading), "{findings}");
    assert!(findings.contains("  came      nothing\n"), "{findings}");
    let is_missed = |level, result: VectorResult| level == MUST && result.is_violation();
    assert!(results.has_any(is_missed), "a MUST is violated under load");
    assert_eq!(results.requirements.violated_of(MUST), 0, "but not quietly");
}

#[test]
fn a_load_that_was_not_offered_decides_nothing() {
    let mut results = under_load(&[TRANSLATED], &[]);
    let load = results.requirements.load.as_mut();
    load.expect("a load").invalid_trials = 1;
    let table = results.table();
    for line in [
        "under load (20.0k frames/s in each direction, 84 octets): nothing is known",
        "  the tester did not offer this load in 1 of 2 trials",
    ] {
        assert!(table.lines().any(|found| found == line), "{table}");
    }
    assert_eq!(results.findings(), "", "it is right quietly");
    assert!(!results.has_any(|_, result| result.is_violation()));
}

#[test]
fn what_was_wrong_quietly_is_shown_beside_what_is_wrong_under_load() {
    let findings = under_load(&[WITHOUT_CLASS], &[]).findings();
    assert!(
        findings.contains("wrong quietly, no answer under load"),
        "{findings}"
    );
    let (loaded, quietly) = findings.split_once("  quietly\n").expect("both");
    assert!(loaded.contains("came      nothing") && quietly.contains("ipv6.tc"));
}

#[test]
fn a_vector_that_is_the_same_under_load_is_no_finding() {
    let same = under_load(&[TRANSLATED], &[TRANSLATED]);
    assert_eq!(same.findings(), "");
    assert!(
        same.table()
            .contains("no vector differs from the quiet run")
    );
    // What is wrong in both is told as it is without a load.
    let both = under_load(&[WITHOUT_CLASS], &[WITHOUT_CLASS]).findings();
    assert!(both.contains("\nwrong: udp-traffic-class"), "{both}");
}
