//! The binary as users run it. The tests that run a plan need root; without it they fail, they do not skip.

use crate::common::plans::{self, KERNEL_TWO_SIZES};
use crate::common::{
    ONE_AT_A_TIME, ROOT, SIITPERF, Scratch, assert_ran, assert_valid, exported, facts, kill,
    names_in, namespaces_of, output, records, router, signal, sixbench, start, text, wait_until,
};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn mistakes_in_a_plan_are_told_with_their_lines_and_exit_code_2() {
    let scratch = Scratch::new("mistakes");
    let plan = scratch.write(
        "plan.toml",
        &plans::of_test("dut = \"tayga-sit\"\nframe-sizes = [64]"),
    );
    let output = output(&["check", &plan]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.contains("plan.toml:4:7") && error.contains("did you mean `tayga-siit`?"),
        "{error}"
    );
    assert!(
        error.contains("plan.toml:5:16") && error.contains("2 mistakes; nothing was touched"),
        "{error}"
    );
}

#[test]
fn a_plan_whose_traffic_its_device_does_not_understand_is_not_called_good() {
    let scratch = Scratch::new("misfit");
    let test = "dut = \"tayga-siit\"\nleft-addresses = { range = \"4-9\" }";
    let plan = scratch.write("plan.toml", &plans::of_test(test));
    let output = output(&["check", &plan]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("among the addresses that vary on the left"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_device_that_has_not_so_many_cores_is_refused_before_anything_is_touched() {
    let scratch = Scratch::new("cores");
    let plan = scratch.write(
        "plan.toml",
        &plans::of_test("dut = \"linux-ipv4\"\ncores = [1, 1000]"),
    );
    let output = output(&[
        "run",
        &plan,
        "-o",
        &scratch.0.join("out").display().to_string(),
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("test t.cores1000: the plan requires 1000 cores"),
        "{}",
        text(&output.stderr)
    );
    assert!(!scratch.0.join("out").exists());
}

#[test]
fn a_device_set_up_by_hand_is_refused_without_interfaces() {
    let scratch = Scratch::new("manual");
    let recipe = include_str!("../../../../plans/devices/openbsd-ipv4.toml");
    scratch.write("openbsd.toml", recipe);
    let output = output(&[
        "trial",
        "openbsd-ipv4",
        "--rate",
        "1k",
        "--recipes",
        &scratch.0.display().to_string(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("set up by hand: name the interfaces"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_plan_that_does_not_exist_is_named() {
    let output = output(&["run", "/no/such/plan.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot read the plan /no/such/plan.toml"));
}

#[test]
fn an_interface_that_does_not_exist_is_refused_before_anything_is_touched() {
    let output = output(&[
        "trial",
        "linux-ipv4",
        "--rate",
        "1k",
        "--interfaces",
        "sb-nope0,sb-nope1",
    ]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("interface sb-nope0 does not exist"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_recipe_that_sends_to_the_internet_is_refused_unless_forced() {
    let scratch = Scratch::new("rfc6815");
    // Class E: the guard must not admit it. No host has such an address, so even a failing guard would reach no host.
    let recipe = include_str!("../../../../recipes/linux-ipv4.toml").replace("198.19.0", "240.0.0");
    scratch.write("wild.toml", &recipe.replace("linux-ipv4", "wild"));
    let output = output(&[
        "trial",
        "wild",
        "--rate",
        "1k",
        "--recipes",
        &scratch.0.display().to_string(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("240.0.0.") && error.contains("RFC 6815") && error.contains("--force"),
        "{error}"
    );
}

#[test]
fn a_recipe_that_does_not_exist_is_answered_by_the_nearest_and_a_path_by_the_rule_for_names() {
    let told = |name: &str| text(&output(&["trial", name, "--rate", "1k"]).stderr);
    assert!(
        told("tayga").contains("no recipe is named `tayga`; did you mean `tayga-"),
        "{}",
        told("tayga")
    );
    assert!(
        told("xyzxyzxyz").contains("`sixbench list duts` lists all"),
        "{}",
        told("xyzxyzxyz")
    );
    for name in ["../../x", "/abs/x", "..", "", "a\nb"] {
        assert!(
            told(name).contains("expected the name of a recipe"),
            "{}",
            told(name)
        );
        let scratch = Scratch::new("names");
        let plan = plans::of_test(&format!("dut = {name:?}"));
        let error = text(&output(&["check", &scratch.write("plan.toml", &plan)]).stderr);
        assert!(
            error.contains("plan.toml:4:7") && error.contains("expected the name of a recipe"),
            "{error}"
        );
    }
}

#[test]
fn an_import_that_is_refused_writes_nothing() {
    let scratch = Scratch::new("import-refused");
    let (file, folder) = (
        scratch.write("siitperf.conf", SIITPERF),
        scratch.path("imported"),
    );
    scratch.write("imported/plan.toml", "an earlier one");
    let output = output(&["import", &file, "-o", &folder]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("plan.toml already exists"),
        "{}",
        text(&output.stderr)
    );
    assert!(!scratch.0.join("imported/recipes").exists());
}

#[test]
fn an_import_whose_plan_would_be_refused_writes_nothing() {
    let scratch = Scratch::new("import-unfit");
    let (file, folder) = (
        scratch.write("siitperf.conf", SIITPERF),
        scratch.path("imported"),
    );
    let output = output(&["import", &file, "-o", &folder, "--duration", "0s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("a trial lasts at least 10ms"),
        "{}",
        text(&output.stderr)
    );
    assert!(!scratch.0.join("imported").exists());
}

#[test]
fn plan_shows_trials_hours_and_clauses() {
    let scratch = Scratch::new("plan");
    let output = output(&["plan", &scratch.write("plan.toml", KERNEL_TWO_SIZES)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    insta::assert_snapshot!(text(&output.stdout));
}

#[test]
fn plan_shell_prints_the_commands_and_does_nothing() {
    let scratch = Scratch::new("shell");
    let output = output(&[
        "plan",
        "--shell",
        &scratch.write("plan.toml", KERNEL_TWO_SIZES),
    ]);
    let script = text(&output.stdout);
    assert!(
        script.contains("ip netns add sb-") && script.contains("rps_cpus"),
        "{script}"
    );
    assert!(script.contains("198.18.0.1/30 dev left"), "{script}");
}

#[test]
fn plan_shell_has_the_commands_of_every_device_that_a_run_would_set_up() {
    let scratch = Scratch::new("shell-devices");
    let shown = |text: &str| {
        let output = output(&["plan", "--shell", &scratch.write("plan.toml", text)]);
        assert!(
            output.status.success(),
            "{}",
            crate::common::text(&output.stderr)
        );
        crate::common::text(&output.stdout)
    };
    let jumbo = shown(&KERNEL_TWO_SIZES.replace("frame-sizes = [84", "frame-sizes = [9018, 84"));
    assert!(jumbo.contains("mtu 9000"), "{jumbo}");
    let test = |entries: u32| {
        format!(
            "[[test]]\nname = \"of-{entries}\"\ndut = \"nft-nat44\"\nmeasure = \"throughput\"\nconnections = 100\n\
             table-size = {entries}\n"
        )
    };
    let tables = shown(&format!("name = \"tables\"\n{}{}", test(4096), test(8192)));
    assert!(
        tables.contains("4096") && tables.contains("8192"),
        "a device for each size of its table: {tables}"
    );
}

#[test]
fn a_trial_tells_its_counts_as_json() {
    let _guard = ONE_AT_A_TIME.lock();
    let output = output(&[
        "trial",
        "linux-ipv6",
        "--rate",
        "2k",
        "--for",
        "200ms",
        "--json",
    ]);
    let result: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("JSON (this test needs root)");
    assert_eq!(result["directions"][0]["offered"], 400);
    assert_eq!(result["directions"][1]["received"], 400);
}

#[test]
fn a_run_leaves_its_results_and_nothing_else() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("run");
    let (plan, results) = (
        scratch.write("plan.toml", KERNEL_TWO_SIZES),
        scratch.path("results"),
    );
    let child = start(&[
        "run", &plan, "-o", &results, "--json", "--label", "rack=b4", "--label", "note=a b",
    ]);
    let pid = child.id();
    let output = child.wait_with_output().expect("ended");
    assert_ran(&output);
    let events: Vec<serde_json::Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    assert_eq!(events.first().expect("events")["event"], "run-started");
    assert_eq!(events.last().expect("events")["event"], "run-ended");
    let ended = events
        .iter()
        .filter(|e| e["event"] == "trial-ended")
        .count();
    assert_eq!(ended, records(&results).len());
    assert!(
        events[0]["estimate_s"]
            .as_u64()
            .is_some_and(|seconds| seconds > 0),
        "{}",
        events[0]
    );
    for (event, next) in events
        .iter()
        .zip(&events[1..])
        .filter(|(event, _)| event["event"] == "trial-ended")
    {
        assert!(
            next["event"] == "progress" && next["remaining_s"].is_u64(),
            "{event}: {next}"
        );
    }
    assert_eq!(names_in(&results), ROOT);
    let facts = facts(&results);
    let run = &facts["runs"][0];
    assert_eq!(
        run["host"],
        fs::read_to_string("/proc/sys/kernel/hostname")
            .expect("a name")
            .trim()
    );
    assert!(
        run["command"]
            .as_str()
            .expect("a command")
            .ends_with("--label rack=b4 --label 'note=a b'"),
        "{run}"
    );
    assert_eq!(run["ending"]["kind"], "complete");
    assert!(run["started"].as_str() <= run["ended"].as_str(), "{run}");
    assert_eq!(
        facts["labels"],
        serde_json::json!({ "note": "a b", "rack": "b4" })
    );
    let points = exported(&results, "csv", "points.csv");
    assert_eq!(points.lines().count(), 3, "two frame sizes: {points}");
    assert!(
        points
            .lines()
            .next()
            .expect("a header")
            .ends_with(",label_note,label_rack"),
        "{points}"
    );
    assert!(namespaces_of(pid).is_empty());
}

#[test]
fn a_set_up_that_fails_and_a_test_that_is_left_out_are_told_in_every_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("broken");
    let setup = "[[setup]]\nrun = \"ip link set no-such-link up\"\n";
    scratch.write(
        "recipes/broken.toml",
        &router("broken", "cannot be set up", setup),
    );
    let needs = "needs = [{ program = \"sb-no-such-program\", package = \"none\" }]\n";
    scratch.write(
        "recipes/absent.toml",
        &(needs.to_owned() + &router("absent", "not installed", "")),
    );
    let broken = KERNEL_TWO_SIZES.replace("dut = \"linux-ipv4\"", "dut = \"broken\"");
    let absent =
        "[[test]]\nname = \"gone\"\ndut = \"absent\"\noptional = true\nframe-sizes = [84]\n";
    let later = "[[test]]\nname = \"later\"\ndut = \"linux-ipv4\"\nframe-sizes = [84]\n";
    let plan = scratch.write(
        "plan.toml",
        &format!("recipes = [\"recipes\"]\n{broken}{absent}{later}"),
    );
    let results = scratch.path("results");
    let child = start(&["run", &plan, "--trust-recipes", "-o", &results]);
    let pid = child.id();
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let facts = facts(&results);
    let kinds: Vec<(&str, &str)> = facts["not_run"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|skipped| {
            (
                skipped["test"].as_str().expect("a test"),
                skipped["reason"]["kind"].as_str().expect("a kind"),
            )
        })
        .collect();
    assert_eq!(kinds, [("gone", "left-out"), ("kernel", "set-up-failed")]);
    let points = exported(&results, "csv", "points.csv");
    for (test, reason) in [
        ("kernel", "set-up-failed"),
        ("later", "run-failed"),
        ("gone", "left-out"),
    ] {
        let row = points
            .lines()
            .find(|line| line.starts_with(&format!("short,{test},")))
            .expect("a row");
        assert!(row.contains(&format!(",not-run,{reason},")), "{row}");
    }
    let page = fs::read_to_string(Path::new(&results).join("report.html")).expect("a page");
    assert!(
        page.contains("The set-up of broken failed: ") && page.contains("no-such-link"),
        "{page}"
    );
    assert!(
        !page.contains("interrupted before its first result"),
        "{page}"
    );
    assert!(namespaces_of(pid).is_empty());
    // A report written again later contains all of it, too, and what was exported follows it.
    let table = format!("{results}/exports/csv/points.csv");
    fs::write(&table, "outdated").expect("a file");
    assert!(
        sixbench(&["report", &results])
            .output()
            .expect("sixbench")
            .status
            .success()
    );
    assert_eq!(fs::read_to_string(table).expect("points"), points);
}

#[test]
fn a_label_without_a_plain_key_is_a_mistake_of_the_command_line() {
    let output = output(&["run", "plan.toml", "--label", "Rack=b4"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("expected KEY=VALUE with a key of a-z, 0-9 and -"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn an_expectation_that_is_missed_is_told_by_line_and_exit_code_5_and_quietly_nothing_of_the_trials()
{
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("expect");
    let plan = scratch.write(
        "plan.toml",
        &KERNEL_TWO_SIZES.replace(
            "repetitions = 3",
            "repetitions = 1\nexpect = { at-most = \"1k\" }",
        ),
    );
    let output = output(&["run", "-q", &plan, "-o", &scratch.path("results")]);
    let told = text(&output.stderr);
    assert!(!told.contains("passed") && !told.contains("lost"), "{told}");
    // 4 if the tester was never valid on this machine: then nothing was found that could miss an expectation.
    assert!(
        matches!(output.status.code(), Some(5 | 4)),
        "{}",
        text(&output.stderr)
    );
    if output.status.code() == Some(5) {
        assert!(
            text(&output.stdout).contains("missed: kernel/84: Throughput: a median of "),
            "{}",
            text(&output.stdout)
        );
    }
}

#[test]
fn a_killed_run_loses_at_most_the_trial_under_way_and_goes_on() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("kill");
    let exports = format!("exports = [\"junit\", \"csv\"]\n{KERNEL_TWO_SIZES}");
    let (plan, results) = (
        scratch.write("plan.toml", &exports),
        scratch.path("results"),
    );
    let mut child = start(&["run", &plan, "-o", &results]);
    // There are six repetitions, each of which may be a single trial.
    wait_until(&mut child, "second trial", || records(&results).len() >= 2);
    kill(&mut child);
    let before = fs::read_to_string(Path::new(&results).join("trials.jsonl")).expect("trials");
    let pid = child.id();
    let output = output(&["run", "--resume", &results]);
    assert_ran(&output);
    let after = fs::read_to_string(Path::new(&results).join("trials.jsonl")).expect("trials");
    let whole: String = before
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .collect();
    assert!(after.starts_with(&whole), "what was measured stays");
    assert!(
        after.lines().count() > before.lines().count(),
        "and the rest was measured"
    );
    assert_eq!(names_in(format!("{results}/exports")), ["csv", "junit"]);
    assert_eq!(
        names_in(format!("{results}/exports/junit")),
        ["junit.xml"],
        "nothing unfinished is left"
    );
    let facts = facts(&results);
    assert!(facts["runs"][0]["ended"].is_null(), "killed: {facts}");
    assert_eq!(facts["runs"][1]["ending"]["kind"], "complete");
    assert!(
        namespaces_of(pid).is_empty(),
        "what the killed run left was swept up"
    );
    assert!(
        text(&output.stderr).contains("left by a killed run"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn an_interrupted_run_undoes_its_testbed_keeps_its_results_and_says_how_to_go_on() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("interrupt");
    let lasting = KERNEL_TWO_SIZES.replace("repetitions = 3", "repetitions = 1000");
    let (plan, results) = (
        scratch.write("plan.toml", &lasting),
        scratch.path("results"),
    );
    let mut child = start(&["run", &plan, "-o", &results]);
    let pid = child.id();
    wait_until(&mut child, "second trial", || records(&results).len() >= 2);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("sixbench run --resume"),
        "{}",
        text(&output.stderr)
    );
    assert!(records(&results).len() >= 2 && Path::new(&results).join("report.html").exists());
    assert_eq!(facts(&results)["runs"][0]["ending"]["kind"], "interrupted");
    assert!(namespaces_of(pid).is_empty());
}

#[test]
fn results_are_not_overwritten() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("twice");
    let plan = scratch.write("plan.toml", KERNEL_TWO_SIZES);
    let results = scratch.path("results");
    let refused = || {
        let output = output(&["run", &plan, "-o", &results]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains("already holds results"),
            "{}",
            text(&output.stderr)
        );
    };
    scratch.write("results/trials.jsonl", "{}\n");
    refused();
    // A run killed before its first trial can be resumed.
    scratch.write("results/trials.jsonl", "");
    scratch.write("results/resolved.toml", "");
    refused();
    // A run killed before it could be resumed leaves nothing.
    fs::remove_file(scratch.0.join("results/resolved.toml")).expect("removed");
    assert_ran(&output(&["run", &plan, "-o", &results]));
}

#[test]
fn a_report_of_something_else_is_refused() {
    let scratch = Scratch::new("noresults");
    let output = output(&["report", &scratch.0.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("is not a results directory"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn explain_knows_the_terms_and_guesses_slips() {
    assert!(text(&output(&["explain", "throughput"]).stdout).contains("RFC 2544 section 26.1"));
    for words in [
        &["loss ratio"][..],
        &["loss", "ratio"],
        &["Loss", "Ratio", "(RFC", "8219)"],
    ] {
        let explained = output(&[&["explain"], words].concat());
        assert!(
            text(&explained.stdout).starts_with("loss-ratio\n"),
            "{words:?}: {}",
            text(&explained.stderr)
        );
    }
    let error = text(&output(&["explain", "thruput"]).stderr);
    assert!(error.contains("did you mean `throughput`?"), "{error}");
}

#[test]
fn a_device_that_dies_in_a_trial_ends_the_run_by_name_and_what_was_measured_stays() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("mortal");
    let results = scratch.path("results");
    // Kernel forwarding, with a daemon process that ends while it is being measured.
    let daemon = scratch.write(
        "daemon",
        &format!("until [ -s {results}/trials.jsonl ]; do sleep 0.1; done\n"),
    );
    scratch.write(
        "recipes/mortal.toml",
        &router(
            "mortal",
            "a device that dies",
            &format!("[daemon]\nrun = \"sh {daemon}\"\n"),
        ),
    );
    let mortal = KERNEL_TWO_SIZES
        .replace("dut = \"linux-ipv4\"", "dut = \"mortal\"")
        .replace("repetitions = 3", "repetitions = 1000");
    let plan = scratch.write("plan.toml", &format!("recipes = [\"recipes\"]\n{mortal}"));
    let child = start(&["run", &plan, "--trust-recipes", "-o", &results]);
    let pid = child.id();
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("a device that dies ended by itself"),
        "{}",
        text(&output.stderr)
    );
    assert!(!records(&results).is_empty() && Path::new(&results).join("report.html").exists());
    assert!(
        Path::new(&results).join("recipes/mortal.toml").exists(),
        "a resumed run needs the recipe"
    );
    assert!(namespaces_of(pid).is_empty());
}

/// A separate file system, small enough to fill up.
struct SmallDisk(String);

impl SmallDisk {
    fn new(path: String, octets: &str) -> Self {
        fs::create_dir(&path).expect("a directory");
        let options = format!("size={octets}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "none", &path])
            .status()
            .expect("mount");
        assert!(mounted.success(), "this test needs root");
        Self(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_fills_ends_the_run_with_whole_lines_and_an_undone_testbed() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("full");
    let disk = SmallDisk::new(scratch.path("small"), "64k");
    let plan = scratch.write(
        "plan.toml",
        &KERNEL_TWO_SIZES.replace("repetitions = 3", "repetitions = 1000"),
    );
    let results = format!("{}/results", disk.0);
    let child = start(&["run", &plan, "-o", &results]);
    let pid = child.id();
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("free some space on that disk"),
        "{}",
        text(&output.stderr)
    );
    assert!(
        text(&output.stderr).contains("sixbench run --resume"),
        "{}",
        text(&output.stderr)
    );
    assert!(
        text(&output.stderr).contains("the report could not be written; write it with: "),
        "{}",
        text(&output.stderr)
    );
    assert!(
        text(&output.stderr).contains("sixbench report "),
        "{}",
        text(&output.stderr)
    );
    assert!(
        !text(&output.stdout).contains("report.html"),
        "{}",
        text(&output.stdout)
    );
    let trials = fs::read_to_string(Path::new(&results).join("trials.jsonl")).expect("trials");
    let whole = trials
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    assert!(whole.clone().count() >= 1);
    assert!(
        whole
            .clone()
            .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
    );
    assert!(namespaces_of(pid).is_empty());
}

#[test]
fn the_authority_answers_until_interrupted_and_says_what_came() {
    use std::io::{BufRead, BufReader, Read};
    let mut command = sixbench(&["authority", "--listen", "[::1]:0", "--threads", "1"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sixbench");
    let mut stderr = BufReader::new(child.stderr.take().expect("stderr"));
    let mut first = String::new();
    stderr.read_line(&mut first).expect("a line");
    let at = first
        .split(' ')
        .find(|word| word.starts_with("[::1]:"))
        .unwrap_or_else(|| panic!("{first}"))
        .to_owned();
    let client = std::net::UdpSocket::bind("[::1]:0").expect("a port");
    client
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout");
    let query =
        b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x0f010-000-000-001\x09dns64perf\x04test\0\0\x01\0\x01";
    client.send_to(query, &at).expect("sent");
    let mut answer = [0; 512];
    let octets = client.recv(&mut answer).expect("an answer");
    assert_eq!(answer[octets - 4..octets], [10, 0, 0, 1]);
    let second = output(&["authority", "--listen", &at]);
    assert_eq!(second.status.code(), Some(3));
    assert!(
        text(&second.stderr).contains(&format!("cannot listen on {at}: address already in use")),
        "{}",
        text(&second.stderr)
    );
    signal(&child, "INT");
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    assert_eq!(
        rest,
        "queries: 0 AAAA, 1 A, 0 other, of these 0 over TCP; malformed 0, lost 0\n"
    );
    assert_eq!(child.wait().expect("ended").code(), Some(0));
}

#[test]
fn the_zone_file_goes_to_stdout() {
    let output = output(&[
        "authority",
        "--zone-file",
        "10.0.0.0/30",
        "--with-aaaa",
        "100%",
        "--ttl",
        "1m",
    ]);
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(0), "14 lines\n".to_owned())
    );
    let zone = text(&output.stdout);
    assert!(
        zone.starts_with("$ORIGIN dns64perf.test.\n$TTL 60\n"),
        "{zone}"
    );
    assert!(
        zone.ends_with("010-000-000-003 IN AAAA 2001:2:0:aaaa::a00:3\n"),
        "{zone}"
    );
}

#[test]
fn a_plan_says_which_limits_of_subscribers_it_would_tell_and_every_assumption_has_its_source() {
    let told = output(&["dimension", "stateful-nat44"]);
    assert!(told.status.success(), "{}", text(&told.stderr));
    let said = text(&told.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        said.starts_with("For nft-nat44, this plan measures: frames downstream (throughput)"),
        "{said}"
    );
    assert!(
        said.contains("reserve = 30 % assumption: kept free"),
        "{said}"
    );
    let told = output(&["dimension", "stateful-nat44", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    assert_eq!(json["devices"][0]["told"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_traffic_profile_that_is_not_there_or_has_a_figure_without_a_source_is_refused() {
    let told = output(&["dimension", "stateful-nat44", "--traffic", "nowhere"]);
    assert_eq!(told.status.code(), Some(2));
    assert!(
        text(&told.stderr).contains("sixbench list traffic"),
        "{}",
        text(&told.stderr)
    );
    let scratch = Scratch::new("traffic");
    let file = scratch.write(
        "mine.toml",
        "name = \"mine\"\ntitle = \"Mine\"\n[years]\nvalue = 3\n",
    );
    let told = output(&["dimension", "stateful-nat44", "--traffic", &file]);
    assert_eq!(told.status.code(), Some(2));
    assert!(
        text(&told.stderr).contains("this figure needs a `source`"),
        "{}",
        text(&told.stderr)
    );
}

#[test]
fn a_plan_is_made_by_answers_and_no_file_is_overwritten() {
    let scratch = Scratch::new("init");
    let plan = scratch.path("mine/plan.toml");
    let init = |answers: &str| {
        let mut child = sixbench(&["init", &plan])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sixbench");
        // A program that refuses at once does not read them.
        let _ =
            std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), answers.as_bytes());
        child.wait_with_output().expect("an end")
    };
    let told = init("first\nnft-nat44\n\nestablishment-rate, throughput\n\n");
    assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
    assert!(
        text(&told.stdout).contains("plan.toml is good"),
        "{}",
        text(&told.stdout)
    );
    assert_eq!(output(&["check", &plan]).status.code(), Some(0));
    let again = init("second\n\n\n\n\n");
    assert_eq!(again.status.code(), Some(2));
    assert!(
        text(&again.stderr).contains("exists already"),
        "{}",
        text(&again.stderr)
    );
    let written = fs::read_to_string(&plan).expect("the first");
    let (schema, keys) = written.split_once('\n').expect("lines");
    assert!(keys.starts_with("name = \"first\""), "{written}");
    assert_eq!(
        schema,
        "#:schema https://github.com/sixbench/sixbench/raw/main/docs/schema/plan-file.json"
    );
    let file: toml::Table = written.parse().expect("TOML");
    assert_valid("plan-file", &[serde_json::to_value(file).expect("JSON")]);
}

#[test]
fn a_trial_on_one_core_says_that_tester_and_device_share_it() {
    let program = env!("CARGO_BIN_EXE_sixbench");
    let words = [
        "-c",
        "0",
        program,
        "trial",
        "linux-ipv4",
        "--rate",
        "100",
        "--for",
        "200ms",
    ];
    let told = std::process::Command::new("taskset")
        .args(words)
        .output()
        .expect("taskset");
    let stderr = text(&told.stderr);
    assert!(stderr.contains("tester and DUT share a core"), "{stderr}");
}
