//! Vectors of several steps: how they are read, the names in them, and the judgement of each step.

use crate::exchange::{DeviceTimers, ExchangeRun, FreshNumbers};
use crate::frame::{LayerKind, PayloadPattern, Side, dissect};
use crate::judge::{CameFrame, VectorJudgement, VectorResult};
use crate::notation::{DeviceTimer, FrameSpec, Vector, read};
use crate::octets::{Resolver, build};
use crate::setting::{DeviceSetting, Role, RoleAddresses};
use crate::{ControlFrames, DeviceResults, judged_vector};
use std::time::Duration;

const PATTERN: PayloadPattern = PayloadPattern { vector: 7 };

/// A vector with a step on which it builds, and two of its own.
const FILE: &str = r#"rfc = 4787
title = "NAT"
read = "RFC 4787"
technologies = ["nat44"]

[[vector]]
name = "timer"
clause = "4.3"
level = "MUST"
sentence = "A mapping is kept."
[[vector.given]]
send = "in: ipv4(src=inside, dst=outside) / udp(sport=$x:odd, dport=7001) / payload(32)"
expect = "out: ipv4(src=$a:external, dst=outside) / udp(sport=$p:odd, dport=7001) / payload(32)"
[[vector.step]]
wait = "50% of udp"
send = "out: ipv4(src=outside, dst=$a) / udp(sport=7001, dport=$p) / payload(32)"
expect = "in: ipv4(src=outside, dst=inside) / udp(sport=7001, dport=$x) / payload(32)"
[[vector.step]]
send = "out: ipv4(src=outside2, dst=$a) / udp(sport=7001, dport=$p) / payload(32)"
expect = "in: ipv4(src=outside2, dst=inside) / udp(sport=7001, dport=$x) / payload(32)"
allowed = [{ name = "filtered", clause = "5", expect = "nothing" }]
"#;

/// Returns the error for the file with one text replaced.
fn told(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    let text = FILE.replacen(from, to, 1);
    read("f.toml", &text).unwrap_err().to_string()
}

#[test]
fn mistakes_in_steps_are_told_at_their_lines() {
    let cases = [
        (
            "sport=$x:odd",
            "sport=$x:uneven",
            "f.toml:12: udp.sport: `$x:uneven` is no value of this field; expected a name such as $port",
        ),
        (
            "sport=$x:odd",
            "sport=$x:external",
            "f.toml:12: udp.sport: `$x:external` is no value",
        ),
        (
            "sport=$x:odd",
            "sport=$X",
            "f.toml:12: udp.sport: `$X` is no value",
        ),
        (
            "src=$a:external",
            "src=$a:odd",
            "f.toml:13: ipv4.src: `$a:odd` is no value",
        ),
        (
            "dst=$a)",
            "dst=$b)",
            "f.toml:14: no step before has a value of the device with the name $b",
        ),
        (
            "50% of udp",
            "50% of upd",
            "f.toml:15: `wait`: `50% of upd` is no time; expected seconds or minutes such as 5s and 2m",
        ),
        (
            "wait = \"50% of udp\"\nsend = \"out: ipv4(src=outside, dst=$a) / udp(sport=7001, dport=$p) / payload(32)\"\n",
            "",
            "f.toml:14: a step has `send`, or `wait`, or both",
        ),
        (
            "wait =",
            "pause =",
            "f.toml:15: unknown key `pause`; expected one of wait, send, expect, allowed, ordered",
        ),
        (
            "\"in: ipv4(src=inside",
            "\"4: ipv4(src=inside",
            "f.toml:11: the frames of all steps begin with `in:` and `out:`, or all with `4:` and `6:`",
        ),
        (
            "sentence =",
            "send = \"in: ipv4\"\nsentence =",
            "f.toml:10: `send` belongs into a step of this vector",
        ),
        (
            "expect = \"out:",
            "expct = \"out:",
            "f.toml:13: unknown key `expct`",
        ),
    ];
    for (from, to, expected) in cases {
        let error = told(from, to);
        assert!(error.contains(expected), "{to}\n{error}\n{expected}");
    }
}

#[test]
fn names_and_the_sides_of_a_stateful_device_are_for_steps_alone() {
    let head = FILE.split("[[vector]]").next().unwrap();
    let single = |send: &str| {
        let text = format!(
            "{head}[[vector]]\nname = \"v\"\nclause = \"1\"\nlevel = \"MUST\"\nsentence = \"s\"\nsend = \"{send}\"\nexpect = \"nothing\"\n"
        );
        read("f.toml", &text).unwrap_err().to_string()
    };
    for send in [
        "in: ipv4(src=inside) / udp",
        "4: ipv4(src=host4) / udp(sport=$x)",
    ] {
        let error = single(send);
        assert!(error.contains("f.toml:6: names such as $port"), "{error}");
    }
    let given_alone = FILE.split("[[vector.step]]").next().unwrap();
    let error = read("f.toml", given_alone).unwrap_err().to_string();
    assert!(error.contains("f.toml:6: `step` is missing"), "{error}");
}

fn setting() -> DeviceSetting {
    let role = |role, address: &str| RoleAddresses {
        role,
        ipv4: address.parse().ok(),
        ipv6: None,
    };
    DeviceSetting {
        roles: vec![
            role(Role::Inside, "10.0.0.2"),
            role(Role::Outside, "198.18.0.2"),
            role(Role::Outside2, "198.18.0.6"),
            role(Role::Pool, "198.19.0.1"),
        ],
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: None,
    }
}

fn timers() -> DeviceTimers {
    [(DeviceTimer::Udp, Duration::from_secs(10))]
        .into_iter()
        .collect()
}

fn vector() -> Vector {
    read("f.toml", FILE).unwrap().vectors.remove(0)
}

/// Returns a frame that a device sent; `$x` in its text is the port that the tester chose.
fn came(text: &str, x: u16) -> CameFrame {
    let frame = FrameSpec::parse(&text.replace("$x", &x.to_string())).unwrap();
    let setting = setting();
    let resolver = Resolver {
        setting: &setting,
        sent: &frame,
    };
    CameFrame {
        side: frame.side,
        datagram: build(&frame, PATTERN, &resolver).unwrap(),
    }
}

const MAPPED: &str = "out: ipv4(src=pool, dst=outside) / udp(sport=4001, dport=7001) / payload(32)";
const REPLY: &str = "in: ipv4(src=outside, dst=inside) / udp(sport=7001, dport=$x) / payload(32)";

/// Returns the judgement of the vector for which these frames came, one text for each step, and what was sent in the second step.
fn judged(texts: &[&str], control: ControlFrames) -> (VectorJudgement, Vec<u8>) {
    let (vector, device, timers) = (vector(), setting(), timers());
    let mut fresh = FreshNumbers::default();
    let mut run = ExchangeRun::new(&vector, &device, &timers, PATTERN, &mut fresh);
    let (mut port, mut second, mut at) = (0, Vec::new(), 0);
    while let Some(step) = run.next_step().unwrap() {
        let (side, datagram) = &step.datagrams[0];
        if at == 0 {
            assert_eq!((*side, step.wait), (Side::Inside, Duration::ZERO));
            port = number(datagram, "sport");
        } else if at == 1 {
            assert_eq!(step.wait, Duration::from_secs(5));
            second.clone_from(datagram);
        }
        let frames: Vec<CameFrame> = texts[at]
            .split('|')
            .filter(|text| !text.is_empty())
            .map(|text| came(text, port))
            .collect();
        run.learn(&frames, control).unwrap();
        at += 1;
    }
    (run.judgement(), second)
}

fn number(datagram: &[u8], field: &str) -> u16 {
    let layers = dissect(datagram);
    let udp = layers.iter().find(|layer| layer.kind == LayerKind::Udp);
    udp.and_then(|udp| udp.value(field)).unwrap() as u16
}

#[test]
fn what_the_device_chose_is_sent_in_later_steps() {
    let other = "in: ipv4(src=outside2, dst=inside) / udp(sport=7001, dport=$x) / payload(32)";
    let (right, second) = judged(&[MAPPED, REPLY, other], ControlFrames::Came);
    assert_eq!(right.result, VectorResult::Right, "{right:#?}");
    assert_eq!(number(&second, "dport"), 4001);
    assert_eq!(second[16..20], [198, 19, 0, 1]);
    assert_eq!(right.steps.len(), 3);
    assert!(
        right.steps[0].names.contains(&"$p=4001".to_owned()),
        "{right:#?}"
    );
}

#[test]
fn a_choice_in_a_step_is_named_and_its_silence_needs_the_control_frames() {
    let (allowed, _) = judged(&[MAPPED, REPLY, ""], ControlFrames::Came);
    assert_eq!(
        (allowed.result, allowed.alternative.as_deref()),
        (VectorResult::Allowed, Some("filtered"))
    );
    let (unknown, _) = judged(&[MAPPED, REPLY, ""], ControlFrames::Lost);
    assert_eq!(unknown.result, VectorResult::Unknown);
}

#[test]
fn a_step_that_is_not_right_ends_the_exchange() {
    let wrong = "in: ipv4(src=outside, dst=inside) / udp(sport=7001, dport=9) / payload(32)";
    let (judgement, _) = judged(&[MAPPED, wrong], ControlFrames::Came);
    assert_eq!(
        (judgement.result, judgement.steps.len()),
        (VectorResult::Wrong, 2)
    );
    assert_eq!(judgement.frames[0].differences[0].field, "udp.dport");
    let (silent, _) = judged(&[MAPPED, ""], ControlFrames::Came);
    assert_eq!(silent.result, VectorResult::NoAnswer);
    let twice = format!("{REPLY}|{REPLY}");
    assert_eq!(
        judged(&[MAPPED, &twice], ControlFrames::Came).0.result,
        VectorResult::Wrong
    );
}

#[test]
fn a_device_that_does_otherwise_in_a_given_step_cannot_be_asked() {
    let even = MAPPED.replace("4001", "4002");
    let router = MAPPED.replace("src=pool", "src=inside");
    for (first, expected) in [
        (even, "an odd number ($p)"),
        (router, "an external address of the device ($a)"),
    ] {
        let (judgement, _) = judged(&[&first], ControlFrames::Came);
        assert_eq!(judgement.result, VectorResult::NotApplicable);
        assert_eq!(judgement.frames[0].differences[0].expected, expected);
        let reason = judgement.reason.unwrap();
        assert!(
            reason.contains("otherwise in step 1, on which the requirement builds"),
            "{reason}"
        );
    }
}

#[test]
fn a_timer_that_the_recipe_does_not_set_is_named() {
    let (vector, device, none) = (vector(), setting(), DeviceTimers::default());
    let mut fresh = FreshNumbers::default();
    let mut run = ExchangeRun::new(&vector, &device, &none, PATTERN, &mut fresh);
    let first = run.next_step().unwrap().unwrap();
    let port = number(&first.datagrams[0].1, "sport");
    run.learn(&[came(MAPPED, port)], ControlFrames::Came)
        .unwrap();
    let error = run.next_step().unwrap_err().to_string();
    assert_eq!(
        error,
        "the recipe does not say what the device's timer udp is set to"
    );
}

#[test]
fn every_exchange_has_ports_of_its_own() {
    let (vector, device, timers) = (vector(), setting(), timers());
    let mut fresh = FreshNumbers::default();
    let ports: Vec<u16> = (0..3)
        .map(|_| {
            let mut run = ExchangeRun::new(&vector, &device, &timers, PATTERN, &mut fresh);
            number(&run.next_step().unwrap().unwrap().datagrams[0].1, "sport")
        })
        .collect();
    assert!(ports[0] < ports[1] && ports[1] < ports[2], "{ports:?}");
    assert!(ports.iter().all(|port| port % 2 == 1), "{ports:?}");
}

#[test]
fn the_steps_of_a_wrong_exchange_are_shown_with_the_names() {
    let (judgement, _) = judged(&[MAPPED, ""], ControlFrames::Came);
    let outcome = judged_vector(4787, &vector(), judgement, 1);
    let text = DeviceResults::new("d", "D", "1", vec![outcome].into()).findings();
    for line in [
        "no answer: timer (RFC 4787 section 4.3, MUST)",
        "  step 1\n",
        "$a=pool, $p=4001",
        "  waited    5 s\n",
        "  came      nothing\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
