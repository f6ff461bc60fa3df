//! Devices checked against the RFCs, clause by clause. These tests need root, TAYGA and BIND; without them they fail, they do not skip.

use crate::common::{ONE_AT_A_TIME, Scratch, namespaces_of, output, start, text};
use serde_json::Value;
use std::fs;

/// Vectors that TAYGA 0.9.2 of Debian 12 answers rightly: datagrams and echoes of both directions, and a source route, which reaches it only because the
/// kernel in front of it is told not to discard it.
const RIGHT: &str = "46-udp,64-udp,46-echo-request,64-echo-request,46-source-route-expired";
/// A vector that it answers wrongly: it sends a checksum of zero instead of all ones.
const WRONG: &str = "46-udp-sum-ffff";

/// Returns the results of one vector.
fn outcome<'r>(results: &'r Value, name: &str) -> &'r Value {
    let vectors = results["vectors"].as_array().expect("vectors");
    vectors
        .iter()
        .find(|vector| vector["name"] == name)
        .expect("the vector")
}

#[test]
fn tayga_is_right_where_it_is_and_wrong_with_both_frames_and_a_capture() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-tayga");
    let kept = scratch.path("kept");
    let names = format!("{RIGHT},{WRONG}");
    let child = start(&[
        "conformance",
        "tayga-siit",
        "--vector",
        &names,
        "--json",
        "--output",
        &kept,
    ]);
    let process = child.id();
    let done = child.wait_with_output().expect("the program");
    assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
    let results: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    for name in RIGHT.split(',') {
        assert_eq!(
            outcome(&results, name)["judgement"]["result"],
            "right",
            "{name}: {results}"
        );
    }
    let known = outcome(&results, WRONG);
    assert_eq!(known["is_known_defect"], true, "{results}");
    let wrong = &known["judgement"];
    assert_eq!(wrong["result"], "wrong", "{results}");
    let difference = &wrong["frames"][0]["differences"][0];
    assert_eq!(
        (
            &difference["field"],
            &difference["expected"],
            &difference["came"]
        ),
        (&"udp.sum".into(), &"0xffff".into(), &"0x0".into())
    );
    // The capture has the frame that was sent, 60 octets of IPv4, and the one that came, 80 of IPv6, each after 16 octets of pcap.
    let capture = fs::metadata(format!("{kept}/{WRONG}.pcap"))
        .expect("the capture")
        .len();
    assert_eq!(capture, 24 + 16 + (14 + 60) + 16 + (14 + 80));
    let file: Value = serde_json::from_str(
        &fs::read_to_string(format!("{kept}/conformance.json")).expect("the results"),
    )
    .expect("JSON");
    assert_eq!(file, results);
    assert!(
        namespaces_of(process).is_empty(),
        "something was left behind"
    );
}

#[test]
fn a_run_replaces_the_files_of_an_earlier_one_and_refuses_those_of_others_before_it_sends() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-twice");
    let kept = scratch.path("kept");
    let run = |vectors: &str| {
        output(&[
            "conformance",
            "tayga-siit",
            "--vector",
            vectors,
            "-o",
            &kept,
        ])
        .status
        .code()
    };
    let capture = format!("{kept}/{WRONG}.pcap");
    assert_eq!(run(WRONG), Some(5));
    assert!(fs::exists(&capture).expect("a look"));
    assert_eq!(run("46-udp"), Some(0));
    assert!(
        !fs::exists(&capture).expect("a look"),
        "it shows nothing of this run"
    );
    fs::write(&capture, "mine").expect("a file");
    assert_eq!(run(WRONG), Some(2));
    assert_eq!(fs::read_to_string(&capture).expect("the file"), "mine");
}

#[test]
fn a_device_that_forwards_nothing_has_no_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-silent");
    fs::create_dir(scratch.path("recipes")).expect("a directory");
    let silent = "name = \"silent\"\nbase = \"tayga-siit\"\ndaemon = { run = \"sleep 600\" }\nready = { run = \"true\" }\n";
    scratch.write("recipes/silent.toml", silent);
    let done = output(&[
        "conformance",
        "silent",
        "--recipes",
        &scratch.path("recipes"),
        "--only",
        "rfc7915",
    ]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(7), "{told}");
    assert!(
        told.contains("no result: the control frames") && text(&done.stdout).is_empty(),
        "{told}"
    );
}

/// Vectors that BIND 9.18 answers rightly: synthesis over UDP and TCP, what other vectors' answers cannot have put into its cache, and PTR queries.
const RIGHT_OF_BIND: &str =
    "a-becomes-aaaa,whole-over-tcp,aaaa-exists,mapped-alone,ttl-of-soa,ptr-under-prefix,discovery";
/// A vector that it answers wrongly: it does not ask for A records after an error.
const WRONG_OF_BIND: &str = "servfail-for-aaaa";

#[test]
fn bind_is_right_where_it_is_and_wrong_with_the_header_and_a_capture() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-bind");
    let kept = scratch.path("kept");
    let names = format!("{RIGHT_OF_BIND},{WRONG_OF_BIND}");
    let child = start(&[
        "conformance",
        "bind9-dns64",
        "--vector",
        &names,
        "--json",
        "--output",
        &kept,
    ]);
    let process = child.id();
    let done = child.wait_with_output().expect("the program");
    // What it does wrong is stated without a MUST.
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let results: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    for name in RIGHT_OF_BIND.split(',') {
        let result = &outcome(&results, name)["judgement"]["result"];
        assert_eq!(result, "right", "{name}: {results}");
    }
    let wrong = outcome(&results, WRONG_OF_BIND);
    let sent = [
        "zone: host  300  A  192.31.196.1",
        "zone: host  AAAA  !SERVFAIL",
        "dig host AAAA",
    ];
    assert_eq!(wrong["send"], serde_json::json!(sent));
    let difference = &wrong["judgement"]["frames"][0]["differences"][0];
    assert_eq!(
        (
            &difference["field"],
            &difference["expected"],
            &difference["came"]
        ),
        (&"status".into(), &"NOERROR".into(), &"SERVFAIL".into()),
        "{results}"
    );
    assert!(fs::exists(format!("{kept}/{WRONG_OF_BIND}.pcap")).expect("a look"));
    assert!(
        namespaces_of(process).is_empty(),
        "something was left behind"
    );
}

#[test]
fn a_dns64_server_that_answers_nothing_has_no_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-silent-server");
    fs::create_dir(scratch.path("recipes")).expect("a directory");
    let silent = "name = \"silent\"\nbase = \"bind9-dns64\"\ndaemon = { run = \"sleep 600\" }\nready = { run = \"true\" }\n";
    scratch.write("recipes/silent.toml", silent);
    let recipes = scratch.path("recipes");
    let done = output(&["conformance", "silent", "--recipes", &recipes]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(7), "{told}");
    assert!(
        told.contains("does not answer the control queries") && text(&done.stdout).is_empty(),
        "{told}"
    );
}

#[test]
fn a_nat_is_asked_in_steps_and_shown_with_what_it_chose() {
    let _guard = ONE_AT_A_TIME.lock();
    let names = "udp-mapping,udp-reply,tcp-handshake,icmp-query-response,udp-timer,udp-hairpin";
    let child = start(&["conformance", "nft-nat44", "--vector", names, "--json"]);
    let process = child.id();
    let done = child.wait_with_output().expect("the program");
    assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
    let results: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    for name in [
        "udp-mapping",
        "udp-reply",
        "tcp-handshake",
        "icmp-query-response",
        "udp-timer",
    ] {
        assert_eq!(
            outcome(&results, name)["judgement"]["result"],
            "right",
            "{name}: {results}"
        );
    }
    // The recipe sets no rule for packets from the inside to the pool.
    let hairpin = &outcome(&results, "udp-hairpin")["judgement"];
    assert_eq!(hairpin["result"], "no-answer", "{results}");
    assert_eq!(hairpin["steps"][0]["names"][0], "$a=pool", "{results}");
    assert!(
        namespaces_of(process).is_empty(),
        "something was left behind"
    );
}

#[test]
fn what_cannot_be_sent_is_a_mistake_of_the_command_line() {
    let cases = [
        (&["linux-ipv4"][..], "there are no vectors for linux-ipv4"),
        (
            &["tayga-siit", "--vector", "46-udq"],
            "--vector 46-udq: there is no such vector for this device; did you mean `46-udp`?",
        ),
        (
            &["tayga-siit", "--only", "rfc791"],
            "--only rfc791: there are vectors of rfc6052",
        ),
        (&["tayga-siitt"], "did you mean `tayga-siit`?"),
        (
            &["bind9-dns64", "--only", "rfc7915"],
            "--only rfc7915: there are vectors of rfc6147, rfc7050, rfc8880",
        ),
    ];
    for (arguments, expected) in cases {
        let done = output(&[&["conformance"], arguments].concat());
        let told = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{told}");
        assert!(told.contains(expected), "{told}");
    }
}
