//! A plan that several runs measure in parts, one of which is killed and resumed, and the merging of their results. These tests need root, GNU parallel
//! and openssh-server; without them they fail, they do not skip.

use crate::common::plans::settings;
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, exported, facts, kill, output, records, start, text,
    until_the_first_trial, with_environment,
};
use crate::room::Room;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// Two devices, one at two sizes, with three repetitions that start cold: nine parts.
const PLAN: &str = concat!(
    "name = \"campaign\"\n",
    settings!("50ms" + "20ms", "1k" to "2k", "50%"),
    r#"start = "cold"
[[test]]
name = "v4"
dut = "linux-ipv4"
frame-sizes = [84, 128]
repetitions = 3
[[test]]
name = "v6"
dut = "linux-ipv6"
frame-sizes = [84]
repetitions = 3
"#
);

fn keys(results: &str) -> BTreeSet<String> {
    let key = |record: &Value| {
        let point = &record["point"];
        format!(
            "{}/{}/{}",
            point["test"].as_str().unwrap_or_default(),
            point["frame-size"],
            record["repetition"]
        )
    };
    records(results).iter().map(key).collect()
}

fn run(arguments: &[&str]) {
    assert_ran(&output(&[&["run"], arguments].concat()));
}

/// Fails unless the command fails with this usage error, and does not leave a directory of this name.
fn refused(arguments: &[&str], words: &str, directory: &str) {
    let said = output(arguments);
    let error = text(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{error}");
    assert!(error.contains(words), "{error}");
    assert!(!fs::exists(directory).expect("a look"), "{directory}");
}

#[test]
fn shards_one_of_which_was_killed_and_resumed_are_united_to_what_one_run_measures() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("campaign");
    let plan = scratch.write("plan.toml", PLAN);
    let [whole, first, second, united] =
        ["whole", "first", "second", "united"].map(|name| scratch.path(name));
    run(&[&plan, "-o", &whole]);
    run(&[&plan, "--shard", "1/2", "-o", &first]);
    let mut child = start(&["run", &plan, "--shard", "2/2", "-o", &second]);
    until_the_first_trial(&mut child, &second);
    kill(&mut child);
    run(&["--resume", &second]);
    assert!(
        keys(&first).is_disjoint(&keys(&second)) && keys(&first).len() + keys(&second).len() == 9
    );

    let said = output(&["merge", &first, &second, "-o", &united]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    assert_eq!(keys(&united), keys(&whole));
    let [of_whole, of_united] = [&whole, &united].map(|results| {
        let json: Value =
            serde_json::from_slice(&fs::read(format!("{results}/results.json")).expect("results"))
                .expect("JSON");
        json["points"]
            .as_array()
            .expect("points")
            .iter()
            .map(|point| point["repetitions_made"].clone())
            .collect::<Vec<_>>()
    });
    assert_eq!(of_united, of_whole);
    let facts = facts(&united);
    let hosts = facts["measured_on"].as_object().expect("hosts");
    assert_eq!(
        hosts
            .values()
            .next()
            .and_then(Value::as_array)
            .map(Vec::len),
        Some(9),
        "{hosts:?}"
    );
    assert_eq!(
        facts["runs"].as_array().map(Vec::len),
        Some(3),
        "the second shard was run in two parts"
    );
    assert_eq!(
        facts.get("selection"),
        None,
        "together they are the whole plan"
    );

    let again = scratch.path("again");
    refused(
        &["merge", &first, &second, &first, "-o", &again],
        "leave one of them out",
        &again,
    );
    refused(
        &["merge", &whole, &second, "-o", &again],
        "leave one of them out",
        &again,
    );
    let other = scratch.write(
        "other.toml",
        &PLAN.replace("width = \"50%\"", "width = \"40%\""),
    );
    let different = scratch.path("different");
    run(&[&other, "--shard", "2/2", "-o", &different]);
    refused(
        &["merge", &first, &different, "-o", &again],
        "[trial] or [search] differ",
        &again,
    );
    let lock = fs::File::options()
        .append(true)
        .open(format!("{second}/trials.jsonl"))
        .expect("trials");
    lock.lock().expect("as a run has it");
    refused(
        &["merge", &first, &second, "-o", &again],
        "still writes to",
        &again,
    );
}

#[test]
fn a_run_measures_what_a_file_names_and_reports_the_rest_as_left_to_others() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("measurements");
    let plan = scratch.write("plan.toml", PLAN);
    let parts: Value =
        serde_json::from_slice(&output(&["plan", &plan, "--json"]).stdout).expect("JSON");
    let parts = parts["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 9);
    assert!(
        parts
            .iter()
            .all(|part| part["trials"].as_u64() > Some(0) && part["devices"][0].is_string()),
        "{parts:?}"
    );
    let named = parts[3]["measurements"][0]
        .as_str()
        .expect("a key")
        .to_owned();
    let file = scratch.write("part.txt", &format!("# one of nine\n{named}\n"));
    let results = scratch.path("results");
    run(&[&plan, "--measurements", &file, "-o", &results]);
    assert_eq!(keys(&results), [named].into());
    let points = exported(&results, "csv", "points.csv");
    assert_eq!(points.matches(",left-to-others,").count(), 2, "{points}");
    let wrong = scratch.write("wrong.txt", "v4/84/1\nv4/85\n");
    let none = scratch.path("none");
    refused(
        &["run", &plan, "--measurements", &wrong, "-o", &none],
        "wrong.txt: line 2: `v4/85`",
        &none,
    );
    refused(
        &["run", &plan, "--shard", "1/10", "-o", &none],
        "at most 9 shards, not 10",
        &none,
    );
    refused(
        &["run", &plan, "--shard", "3/2", "-o", &none],
        "such as 2/4",
        &none,
    );
}

/// Distributes three parts with GNU parallel, all at once on this machine.
fn deal_out(scratch: &Scratch, plan: &str, results: &str) -> Output {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../plans/slurm/campaign.sbatch"
    );
    let folder = Path::new(env!("CARGO_BIN_EXE_sixbench"))
        .parent()
        .expect("a folder")
        .display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = with_environment(Command::new("parallel"));
    command.args([
        "--jobs",
        "3",
        "--will-cite",
        "PART={}",
        script,
        plan,
        "3",
        results,
        ":::",
        "1",
        "2",
        "3",
    ]);
    // GNU parallel stores files in the home directory.
    command
        .env("PATH", path)
        .env("HOME", &scratch.0)
        .current_dir(&scratch.0)
        .output()
        .expect("parallel (GNU parallel)")
}

#[test]
fn gnu_parallel_deals_out_parts_that_take_turns_and_those_that_are_dealt_out_twice_stay_as_they_are()
 {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("parallel");
    let plan = scratch.write(
        "plan.toml",
        &PLAN.replace("repetitions = 3", "repetitions = 1"),
    );
    let results = scratch.path("results");
    let first = deal_out(&scratch, &plan, &results);
    assert!(first.status.success(), "{}", text(&first.stderr));
    // They need the same cores: of three that start together two have waited, unless one started after another had ended.
    let told = text(&first.stderr);
    assert!(told.contains("waiting: core"), "{told}");
    let shards = ["shard-1", "shard-2", "shard-3"].map(|name| format!("{results}/{name}"));
    let made = shards.each_ref().map(|shard| records(shard).len());
    let again = deal_out(&scratch, &plan, &results);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(
        shards.each_ref().map(|shard| records(shard).len()),
        made,
        "{}",
        text(&again.stderr)
    );

    let united = scratch.path("united");
    let said = output(&["merge", &shards[0], &shards[1], &shards[2], "-o", &united]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    assert_eq!(
        keys(&united),
        ["v4/84/1", "v4/128/1", "v6/84/1"].map(str::to_owned).into()
    );
}

/// Puts the program and the script of a part where the machines of a room see them, since each has its own /root; returns the path of the script.
fn install(scratch: &Scratch) -> String {
    let program = scratch.path("bin/program");
    fs::create_dir(scratch.0.join("bin")).expect("a directory");
    fs::hard_link(env!("CARGO_BIN_EXE_sixbench"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_sixbench"), &program).map(drop))
        .expect("a program");
    // Each machine has a separate directory for what runs leave behind, since they share /tmp here.
    let wrapper = format!("#!/bin/sh\nTMPDIR=/run NO_COLOR=1 exec {program} \"$@\"\n");
    let script = scratch.path("bin/campaign.sbatch");
    fs::copy(
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../plans/slurm/campaign.sbatch"
        ),
        &script,
    )
    .expect("the script");
    let wrapper = scratch.write("bin/sixbench", &wrapper);
    for path in [&wrapper, &script] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
    }
    script
}

#[test]
fn gnu_parallel_deals_out_parts_to_two_machines_over_ssh() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("parallel-ssh"),
        Room::build_row("parallel"),
    );
    let before = room.state();
    let (script, results, log) = (
        install(&scratch),
        scratch.path("results"),
        scratch.path("parts.log"),
    );
    let plan = scratch.write(
        "plan.toml",
        &PLAN.replace("repetitions = 3", "repetitions = 1"),
    );
    let path = format!(
        "PATH={}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        scratch.path("bin")
    );
    let ssh = format!("ssh -F {}", room.config_within().display());
    let mut command = Command::new("ip");
    command.args([
        "netns",
        "exec",
        room.near.name(),
        "parallel",
        "--will-cite",
        "--jobs",
        "1",
        "--ssh",
        &ssh,
    ]);
    command.args([
        "--sshlogin",
        "dut,second",
        "--workdir",
        &scratch.path(""),
        "--retries",
        "3",
        "--joblog",
        &log,
    ]);
    command.args([
        "PART={}", &path, &script, &plan, "3", &results, ":::", "1", "2", "3",
    ]);
    let dealt = command
        .env("HOME", &scratch.0)
        .current_dir(&scratch.0)
        .output()
        .expect("parallel (GNU parallel)");
    assert!(dealt.status.success(), "{}", text(&dealt.stderr));
    let log = fs::read_to_string(log).expect("a log");
    let hosts: BTreeSet<&str> = log
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').nth(1))
        .collect();
    assert_eq!(hosts, ["dut", "second"].into(), "{log}");
    let (united, shards) = (
        scratch.path("united"),
        [1, 2, 3].map(|part| format!("{results}/shard-{part}")),
    );
    let said = output(&["merge", &shards[0], &shards[1], &shards[2], "-o", &united]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    assert_eq!(
        keys(&united),
        ["v4/84/1", "v4/128/1", "v6/84/1"].map(str::to_owned).into()
    );
    room.assert_is_as(&before);
}
