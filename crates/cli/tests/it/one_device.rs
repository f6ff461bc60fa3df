//! A device without a plan: `find`, and trials that are repeated until Ctrl-C; and a run that is given too little time. These tests need root; without it
//! they fail, they do not skip.

use crate::common::{ONE_AT_A_TIME, Scratch, output, plans, signal, sixbench, text, wait_until};
use serde_json::Value;
use std::fs;
use std::process::Stdio;

#[test]
fn the_throughput_of_a_device_is_found_without_a_plan() {
    let _guard = ONE_AT_A_TIME.lock();
    let fast = ["--maximum", "1500", "--for", "100ms"];
    let found = output(&[&["find", "linux-ipv4"][..], &fast].concat());
    let line = text(&found.stdout);
    // On a busy machine no trial may have been valid.
    let is_fit = found.status.code() == Some(0);
    assert!(is_fit || found.status.code() == Some(4), "{found:?}");
    if is_fit {
        assert_eq!(
            line,
            "linux-ipv4: at least 1500 frames/s per direction without loss, at 84 bytes; --maximum is the highest that was tried\n"
        );
    } else {
        assert!(line.starts_with("linux-ipv4: "), "{line}");
    }
    let trials = text(&found.stderr);
    assert!(trials.contains("1.5k/s"), "a line for each trial: {trials}");

    let json = output(&[&["find", "linux-ipv4", "--json"][..], &fast].concat());
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert!(json[0]["limit"].is_string() && !json[1].as_array().expect("trials").is_empty());
}

#[test]
fn a_search_that_cannot_be_made_is_refused_before_anything_is_set_up() {
    let refused = |arguments: &[&str]| {
        let told = output(&[&["find"][..], arguments].concat());
        assert_eq!(told.status.code(), Some(2), "{told:?}");
        text(&told.stderr)
    };
    assert!(refused(&["nft-nat44"]).contains("such as --connections 10k"));
    assert!(refused(&["linux-ipv4", "--connections", "10"]).contains("has no [state]"));
    let large = ["--maximum", "1G", "--for", "20h"];
    assert!(
        refused(&[&["linux-ipv4"][..], &large].concat())
            .ends_with(" are available; lower --maximum or --for\n")
    );
}

#[test]
fn a_trial_is_repeated_until_it_is_interrupted_and_the_sum_is_told() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("repeat");
    let told = scratch.path("told");
    let lines = || fs::read_to_string(&told).unwrap_or_default();
    let mut child = sixbench(&["trial", "linux-ipv4", "--rate", "1k", "--for", "50ms"])
        .arg("--repeat")
        .stdout(fs::File::create(&told).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("sixbench");
    wait_until(&mut child, "third trial", || lines().lines().count() >= 3);
    signal(&child, "INT");
    let ended = child.wait().expect("an end").code();
    assert!(ended == Some(0) || ended == Some(4), "{ended:?}");
    let lines = lines();
    let (sum, trials) = (
        lines.lines().last().expect("a sum"),
        lines.lines().count() - 1,
    );
    assert!(sum.starts_with(&format!("{trials} trials: ")), "{lines}");
    assert!(sum.ends_with(" in the valid ones"), "{sum}");
}

#[test]
fn a_run_that_is_given_too_little_time_ends_with_what_it_has_and_can_be_continued() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("within");
    let second = "[[test]]\nname = \"second\"\ndut = \"linux-ipv6\"\nframe-sizes = [84]\n";
    let plan = scratch.write("plan.toml", &(plans::KERNEL.to_owned() + second));
    let results = scratch.path("results");
    // Some six seconds are needed. The first repetition of the first device is made in any case.
    let run = output(&["run", &plan, "-o", &results, "--within", "1s"]);
    let told = text(&run.stdout) + &text(&run.stderr);
    assert!(
        told.contains("the time of 1 s was up before everything was measured\n")
            && told.contains("kept in")
            && told.contains("continue with: "),
        "{told}"
    );
    let facts = fs::read_to_string(format!("{results}/facts.json")).expect("facts");
    let facts: Value = serde_json::from_str(&facts).expect("JSON");
    assert_eq!(
        facts["runs"][0]["ending"],
        serde_json::json!({ "kind": "time-up", "within_s": 1 })
    );
    let page = fs::read_to_string(format!("{results}/report.html")).expect("a report");
    assert!(page.contains("the run was to end within 1\u{a0}s"));

    let resumed = output(&["run", "--resume", &results]);
    assert!(
        matches!(resumed.status.code(), Some(0 | 4)),
        "{}",
        text(&resumed.stderr)
    );
    let facts = fs::read_to_string(format!("{results}/facts.json")).expect("facts");
    let facts: Value = serde_json::from_str(&facts).expect("JSON");
    assert_eq!(facts["runs"][1]["ending"]["kind"], "complete");
}

#[test]
fn no_time_at_all_is_a_mistake() {
    let none = output(&["run", "quickstart", "--within", "999ms"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("`none` is as long as it takes"));
}
