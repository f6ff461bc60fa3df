//! Devices checked against the RFCs, clause by clause. These tests need root, TAYGA and BIND; without them they fail, they do not skip.

use crate::common::{
    ONE_AT_A_TIME, ROOT, Scratch, assert_valid, kill, names_in, namespaces_of, output, records,
    signal, start, text, until_the_first_trial, wait_until, with_environment,
};
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

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
            outcome(&results, name)["result"],
            "right",
            "{name}: {results}"
        );
    }
    let known = outcome(&results, WRONG);
    assert_eq!(known["is_known"], true, "{results}");
    let wrong = &known;
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
    assert_valid("conformance", &[file]);
    assert!(
        namespaces_of(process).is_empty(),
        "something was left behind"
    );
}

/// What the kernel of the lab does to a datagram that was reassembled is not the device's doing, and identifiers of ICMP are in the recipe's pool.
#[test]
fn a_device_of_the_lab_passes_whole_datagrams_that_came_in_fragments_and_echo_requests() {
    let _guard = ONE_AT_A_TIME.lock();
    let vectors =
        "nat64-fragments-outbound-in-order,nat64-fragments-inbound-out-of-order,nat64-icmp-query";
    let done = output(&["conformance", "jool-nat64", "--vector", vectors]);
    let said = text(&done.stdout) + &text(&done.stderr);
    assert!(said.contains("3 of 3 requirements met"), "{said}");
    assert_eq!(done.status.code(), Some(0), "{said}");
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
        let result = &outcome(&results, name)["result"];
        assert_eq!(result, "right", "{name}: {results}");
    }
    let wrong = outcome(&results, WRONG_OF_BIND);
    let sent = [
        "zone: host  300  A  192.31.196.1",
        "zone: host  AAAA  !SERVFAIL",
        "dig host AAAA",
    ];
    assert_eq!(wrong["sent"], serde_json::json!(sent));
    let difference = &wrong["frames"][0]["differences"][0];
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
            outcome(&results, name)["result"],
            "right",
            "{name}: {results}"
        );
    }
    // The recipe sets no rule for packets from the inside to the pool.
    let hairpin = outcome(&results, "udp-hairpin");
    assert_eq!(hairpin["result"], "no-answer", "{results}");
    assert_eq!(hairpin["steps"][0]["names"][0], "$a=pool", "{results}");
    assert!(
        namespaces_of(process).is_empty(),
        "something was left behind"
    );
}

/// Two tests of TAYGA: a short one, and one that takes half a minute.
const SHORT_AND_LONG: &str = r#"
name = "killed"

[[test]]
name = "short"
dut = "tayga-siit"
measure = "conformance"
vectors = ["46-udp", "46-udp-sum-ffff"]

[[test]]
name = "long"
dut = "tayga-siit"
measure = "conformance"
only = ["rfc7915"]
"#;

/// Returns whether a namespace of a run has seen as many packets as some vectors have.
fn has_seen_vectors(process: u32) -> bool {
    const SOME: u64 = 200;
    namespaces_of(process).iter().any(|namespace| {
        let shown = Command::new("ip")
            .args(["-n", namespace, "-s", "-j", "link"])
            .output();
        let links: Value = shown
            .ok()
            .and_then(|shown| serde_json::from_slice(&shown.stdout).ok())
            .unwrap_or_default();
        let received = |link: &Value| link["stats64"]["rx"]["packets"].as_u64();
        let links = links.as_array().into_iter().flatten();
        links.filter_map(received).any(|packets| packets > SOME)
    })
}

/// Returns the captures that the records of a run name, in their order; and the names of the vectors of each.
fn captures_and_vectors(records: &[Value]) -> (Vec<String>, Vec<Vec<String>>) {
    let of = |record: &Value| {
        let vectors = record["result"]["requirements"]["vectors"].clone();
        vectors.as_array().expect("vectors").clone()
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let captures = records.iter().flat_map(of);
    let mut captures: Vec<String> = captures
        .filter_map(|vector| text(&vector["capture"]))
        .collect();
    captures.sort();
    let names = |record| {
        let vectors = of(record).into_iter();
        vectors.filter_map(|vector| text(&vector["name"])).collect()
    };
    (captures, records.iter().map(names).collect())
}

/// Kills a run while the device of its second test is asked. Returns its results directory and its process ID.
fn killed_in_the_second_test(scratch: &Scratch, plan: &str) -> (String, u32) {
    let (plan, results) = (scratch.write("plan.toml", plan), scratch.path("results"));
    let mut child = start(&["run", &plan, "-o", &results]);
    until_the_first_trial(&mut child, &results);
    let process = child.id();
    wait_until(&mut child, "frame of the second test", || {
        has_seen_vectors(process)
    });
    kill(&mut child);
    assert_eq!(records(&results).len(), 1, "the second test was under way");
    (results, process)
}

#[test]
fn a_run_that_is_killed_between_two_vectors_is_resumed_and_nothing_is_lost_or_doubled() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-killed");
    let (results, process) = killed_in_the_second_test(&scratch, SHORT_AND_LONG);
    let before = records(&results);
    // What a run leaves that is killed after the captures and before the record: TAYGA is right here.
    let stale = format!("{results}/vectors/long-r1-t1-46-udp.pcap");
    fs::write(&stale, "of the killed run").expect("a file");
    let resumed = output(&["run", "--resume", &results]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let after = records(&results);
    assert_eq!(after[..1], before, "what was written stays");
    assert_eq!(after.len(), 2, "and the rest was asked once");
    let (named, vectors) = captures_and_vectors(&after);
    let kept = names_in(format!("{results}/vectors"));
    let kept: Vec<String> = kept.iter().map(|name| format!("vectors/{name}")).collect();
    assert_eq!(kept, named, "a capture for each violation, and no other");
    let mut distinct = vectors[1].clone();
    distinct.sort();
    distinct.dedup();
    assert!(distinct.len() > 100 && distinct.len() == vectors[1].len());
    let mut root = ROOT.map(str::to_owned).to_vec();
    root.push("vectors".to_owned());
    assert_eq!(names_in(&results), root);
    let report = fs::read_to_string(format!("{results}/report.html")).expect("a report");
    assert!(report.contains("requirements met"));
    assert!(
        namespaces_of(process).is_empty(),
        "what the killed run left was swept up"
    );
}

/// Two tests of TAYGA, the second one beside a load, whose frames are more than those of its vectors.
const QUIET_AND_LOADED: &str = r#"
name = "loaded"

[[test]]
name = "quiet"
dut = "tayga-siit"
measure = "conformance"
vectors = ["46-udp"]

[[test]]
name = "loaded"
dut = "tayga-siit"
measure = "conformance"
vectors = ["46-udp", "64-udp", "46-udp-sum-ffff"]
under-load = "1k"
"#;

#[test]
fn a_run_that_is_killed_beside_a_load_is_resumed_and_has_both_results_of_each_vector() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-loaded");
    let (results, process) = killed_in_the_second_test(&scratch, QUIET_AND_LOADED);
    let resumed = output(&["run", "--resume", &results]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let after = records(&results);
    // A tester that was too slow on this machine makes the trial again.
    let loaded = &after.last().expect("a trial")["result"]["requirements"];
    assert!(after.len() > 1 && after[0]["result"]["requirements"]["load"].is_null());
    assert_eq!(loaded["load"]["rate"], 1000, "{loaded}");
    assert_eq!(
        loaded["load"]["directions"].as_array().map(Vec::len),
        Some(2)
    );
    let vectors = loaded["vectors"].as_array().expect("vectors");
    assert_eq!(vectors.len(), 3);
    for vector in vectors {
        let wanted = if vector["name"] == WRONG {
            "wrong"
        } else {
            "right"
        };
        assert_eq!(vector["result"], wanted, "{vector}");
        // A machine that is too busy may lose control frames, and is never a finding.
        let other = vector["under_load"]["result"].as_str();
        assert!(matches!(other, None | Some("unknown")), "{vector}");
    }
    let report = fs::read_to_string(format!("{results}/report.html")).expect("a report");
    assert!(report.contains("Load beside the vectors"));
    assert!(
        namespaces_of(process).is_empty(),
        "what the killed run left was swept up"
    );
}

#[test]
fn what_cannot_be_sent_is_a_mistake_of_the_command_line() {
    let cases = [
        (&["linux-ipv4"][..], "there are no vectors for linux-ipv4"),
        (
            &["tayga-siit", "--vector", "46-udq"],
            "--vector `46-udq`: there is no such vector for this device; did you mean `46-udp`?",
        ),
        (
            &["tayga-siit", "--only", "rfc791"],
            "--only `rfc791`: there are vectors of rfc6052",
        ),
        (
            &["tayga-siit", "--only", "7915"],
            "for this device; did you mean `rfc7915`?",
        ),
        (
            &["tayga-siit", "--only", "rfc6052", "--vector", "46-udp"],
            "--vector 46-udp: it is a vector of rfc7915, which --only leaves out",
        ),
        (&["tayga-siitt"], "did you mean `tayga-siit`?"),
        (
            &["bind9-dns64", "--only", "rfc7915"],
            "--only `rfc7915`: there are vectors of rfc6147, rfc7050, rfc8880",
        ),
    ];
    for (arguments, expected) in cases {
        let done = output(&[&["conformance"], arguments].concat());
        let told = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{told}");
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn tayga_lives_with_malformed_frames_and_nothing_is_left_behind() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-malformed");
    let kept = scratch.path("kept");
    let child = start(&[
        "conformance",
        "tayga-siit",
        "--robustness",
        "300",
        "--seed",
        "3",
        "--json",
        "--output",
        &kept,
    ]);
    let process = child.id();
    let done = child.wait_with_output().expect("the program");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let results: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let outcome = &results["robustness"];
    assert_eq!(
        (&outcome["seed"], &outcome["sent"], &outcome["batches"]),
        (&3.into(), &300.into(), &10.into())
    );
    assert!(outcome["crash"].is_null(), "{results}");
    assert_eq!(outcome["memory"]["owner"], "processes");
    assert!(outcome["memory"]["before"].as_u64() > Some(100_000));
    assert!(
        outcome["came"].as_u64() > Some(0),
        "it forwards some of them"
    );
    let file = fs::read_to_string(format!("{kept}/robustness.json")).expect("the results");
    let file: Value = serde_json::from_str(&file).expect("JSON");
    assert_eq!(file, results);
    let replay = output(&[
        "conformance",
        "tayga-siit",
        "--replay",
        &format!("{kept}/robustness.json"),
    ]);
    let told = text(&replay.stderr);
    assert_eq!(replay.status.code(), Some(2), "{told}");
    assert!(told.contains("it has no crash"), "{told}");
    assert!(
        namespaces_of(process).is_empty(),
        "something was left behind"
    );
}

#[test]
fn malformed_frames_are_refused_on_interfaces_and_beside_a_load_with_the_reason() {
    let alone =
        "malformed frames are sent alone, because a crash must be known to come from one of them";
    let elsewhere = "for devices in namespaces and in the kernel lab alone, which a crash costs nothing and from which no frame gets out; this one is \
                     cabled to ports of this machine";
    for (option, why) in [
        ("--under-load=20k", alone),
        ("--interfaces=eth1,eth2", elsewhere),
    ] {
        let done = output(&["conformance", "tayga-siit", "--robustness", "100", option]);
        let told = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{told}");
        assert!(told.contains(why), "{told}");
    }
    let own = output(&["conformance", "bind9-dns64", "--robustness", "100"]);
    assert!(text(&own.stderr).contains("its vectors are queries"));
}

/// TAYGA behind rules that drop everything once an IPv6 datagram without a next header has come, and with a process that then ends: a device whose crash
/// is known. Only what forwards no more ends, so that it does not matter how soon the process looks.
const FRAIL: &str = r#"name = "frail"
base = "tayga-siit"
daemon = { run = "sh {dir}/frail" }

[[file]]
path = "frail.nft"
content = """
table inet frail {
    set dead {
        type mark
        flags dynamic
    }
    chain prerouting {
        type filter hook prerouting priority raw
        ip6 nexthdr 59 add @dead { meta mark }
        meta mark @dead drop
    }
}
"""
[[file]]
path = "frail"
content = """
nft -f {dir}/frail.nft
tayga -c {dir}/tayga.conf -n &
while sleep 0.05; do
    ! nft list set inet frail dead | grep -q elements || exit 42
done
"""
"#;

#[test]
fn a_device_that_crashes_is_restarted_until_the_one_frame_is_found_and_sent_again() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-frail");
    fs::create_dir(scratch.path("recipes")).expect("a directory");
    scratch.write("recipes/frail.toml", FRAIL);
    let (kept, recipes) = (scratch.path("kept"), scratch.path("recipes"));
    let words = ["conformance", "frail", "--recipes", &recipes];
    let sending = ["--robustness", "2000", "--json", "--output", &kept];
    let done = output(&[&words[..], &sending].concat());
    assert_eq!(done.status.code(), Some(5), "{}", text(&done.stderr));
    let results: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let crash = &results["robustness"]["crash"];
    assert_eq!(crash["sign"]["kind"], "ended", "{results}");
    assert_eq!(crash["is_repeatable"], true, "{results}");
    assert_eq!(crash["is_minimal"], true, "{results}");
    assert_eq!(crash["frames"].as_array().map(Vec::len), Some(1));
    assert!(fs::exists(format!("{kept}/robustness.pcap")).expect("a look"));
    let file = format!("{kept}/robustness.json");
    let again = output(&[&words[..], &["--replay", &file]].concat());
    let told = text(&again.stdout);
    assert_eq!(again.status.code(), Some(5), "{told}");
    assert!(told.contains("1 malformed frame, and it crashed"), "{told}");
    assert!(told.contains("exit status: 42"), "{told}");
}

#[test]
fn a_known_defect_that_no_vector_shows_is_a_mistake_in_the_recipe() {
    let scratch = Scratch::new("conformance-defect");
    let recipe = "name = \"mine\"\nbase = \"tayga-siit\"\ndefect-vectors = [\"46-udq\"]\n";
    scratch.write("recipes/mine.toml", recipe);
    let done = output(&["conformance", "mine", "--recipes", &scratch.path("recipes")]);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{told}");
    let expected = "the recipe mine: `defect-vectors` names `46-udq`, and there is no such vector for this device; did you mean `46-udp`?";
    assert!(told.contains(expected), "{told}");
}

/// Runs these arguments of `sixbench conformance tayga-siit` with results in a directory on a new file system with these options.
fn into_mounted(place: &str, options: &str, then: &str, arguments: &str) -> Output {
    fs::create_dir(place).expect("a directory");
    let program = env!("CARGO_BIN_EXE_sixbench");
    let script = format!(
        "mount -t tmpfs -o {options} tmpfs {place} && {then} {program} conformance tayga-siit {arguments}; code=$?; \
         find {place} -name 'conformance*' >&2; exit $code"
    );
    let mut command = with_environment(Command::new("unshare"));
    command.args(["-m", "sh", "-c", &script]);
    command.output().expect("unshare")
}

#[test]
fn results_for_which_a_disk_has_no_room_are_shown_and_leave_no_half_file() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-full");
    let place = scratch.path("place");
    let fill = format!("head -c 8192 /dev/zero > {place}/fill &&");
    let arguments = format!("--vector {WRONG} -o {place}/out");
    let done = into_mounted(&place, "size=8k", &fill, &arguments);
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(text(&done.stdout).contains("violated: 1 MUST"), "{told}");
    let file = format!("{place}/out/conformance.json");
    assert!(
        told.contains(&format!("{file}: No space left on device"))
            && told.contains("free some space on that disk")
            && !told.contains("resumed"),
        "{told}"
    );
    assert!(!told.lines().any(|line| line == file), "{told}");
}

#[test]
fn a_directory_that_cannot_be_written_is_refused_before_a_frame_is_sent() {
    let scratch = Scratch::new("conformance-read-only");
    let place = scratch.path("place");
    let done = into_mounted(&place, "ro", "", &format!("-o {place}"));
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(
        told.contains("Read-only file system") && told.contains("name another place"),
        "{told}"
    );
    assert!(text(&done.stdout).is_empty(), "nothing was asked");
}

#[test]
fn what_is_interrupted_leaves_neither_a_testbed_nor_an_empty_directory() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-interrupted");
    let kept = scratch.path("kept");
    let mut child = start(&["conformance", "tayga-siit", "-o", &kept]);
    let process = child.id();
    wait_until(&mut child, "testbed", || !namespaces_of(process).is_empty());
    signal(&child, "INT");
    let done = child.wait_with_output().expect("the program");
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(namespaces_of(process).is_empty());
    assert!(!fs::exists(&kept).expect("a look"));
}

#[test]
fn what_was_found_before_an_interruption_is_shown_and_kept() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("conformance-cut");
    let kept = scratch.path("kept");
    let mut child = start(&["conformance", "tayga-siit", "-o", &kept, "--json"]);
    let process = child.id();
    wait_until(&mut child, "vector", || has_seen_vectors(process));
    signal(&child, "INT");
    let done = child.wait_with_output().expect("the program");
    let told = text(&done.stderr);
    assert_eq!(done.status.code(), Some(130), "{told}");
    assert!(
        told.contains("interrupted before ") && told.contains(" vectors; these, "),
        "{told}"
    );
    let results: Value = serde_json::from_slice(&done.stdout).expect("results");
    assert_valid("conformance", std::slice::from_ref(&results));
    let vectors = results["vectors"].as_array().expect("vectors");
    let of = |attempts: u64| {
        let mut of = vectors.iter();
        of.any(|vector| vector["attempts"] == attempts)
    };
    assert!(of(1) && of(0), "some were sent, and others not: {results}");
    assert!(namespaces_of(process).is_empty());
    assert!(fs::exists(format!("{kept}/conformance.json")).expect("a look"));
}

#[test]
fn a_translator_is_asked_quietly_and_under_load_whose_frames_are_counted() {
    let _guard = ONE_AT_A_TIME.lock();
    let child = start(&[
        "conformance",
        "tayga-siit",
        "--vector",
        "46-udp,64-udp",
        "--under-load",
        "1000",
        "--json",
    ]);
    let process = child.id();
    let done = child.wait_with_output().expect("the program");
    assert!(namespaces_of(process).is_empty());
    let results: Value =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", text(&done.stderr)));
    assert_valid("conformance", std::slice::from_ref(&results));
    for name in ["46-udp", "64-udp"] {
        let outcome = outcome(&results, name);
        assert_eq!(outcome["result"], "right", "{results}");
        // A machine that is too busy may lose control frames, and is never a finding.
        let loaded = outcome["under_load"]["result"].as_str();
        assert!(matches!(loaded, None | Some("unknown")), "{results}");
    }
    let load = &results["load"];
    assert_eq!(
        (&load["rate"], &load["frame_size"]),
        (&1000.into(), &84.into())
    );
    let directions = load["directions"].as_array().expect("directions");
    assert_eq!(directions.len(), 2, "{load}");
    for direction in directions {
        let count = |name: &str| direction[name].as_u64().unwrap_or_default();
        let sent_by_trials = 5000 * load["trials"].as_u64().unwrap_or_default();
        assert!(
            count("received") > 0 && count("offered") <= sent_by_trials,
            "{load}"
        );
        assert_eq!(count("wrong"), 0, "{load}");
    }
}

#[test]
fn a_device_with_state_and_a_server_are_not_asked_under_load() {
    let refused = [
        ("nft-nat44", "nft-nat44 keeps connections"),
        ("bind9-dns64", "bind9-dns64 is a DNS server"),
    ];
    for (dut, why) in refused {
        let done = output(&["conformance", dut, "--under-load", "1000"]);
        let told = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{told}");
        assert!(told.contains(why), "{told}");
    }
    let xdp = output(&[
        "conformance",
        "tayga-siit",
        "--under-load",
        "1k",
        "--io",
        "xdp",
    ]);
    assert_eq!(xdp.status.code(), Some(2));
    let told = text(&xdp.stderr);
    assert!(
        told.contains("the backend `xdp` allows only one: `packet` allows several"),
        "{told}"
    );
}
