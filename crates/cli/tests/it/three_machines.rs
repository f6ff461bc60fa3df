//! Client, DNS64 server and authority on three machines, controlled by one plan: the other two are namespaces with an sshd each. Needs root,
//! openssh-server and Unbound; without them these tests fail, they do not skip.

use crate::common::plans::settings;
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, directories, facts, kill, records, signal, start_in,
    start_to_be_killed, sweep_after, text, until_the_first_trial, wait_until,
};
use crate::room::{FAR, Room};
use serde_json::Value;
use sixbench_testbed::Shell;
use sixbench_testbed::namespace::Namespace;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Rates so low that a busy machine can handle them.
const SETTINGS: &str = settings!("500ms" + "100ms", "2" to "20", "50%");

const SERVER: &str = r#"
[[test]]
name = "unbound"
dut = "unbound-dns64"
measure = "dns64"
with-aaaa = [0, 40]
repetitions = 1
"#;

const ROUTER: &str = r#"
[[test]]
name = "router"
dut = "linux-ipv6"
measure = "dns-queries"
repetitions = 3
"#;

/// The role of the directories for files that are copied to the authority's machine.
const AUTHORITY: &str = "authority";

/// The most runs until the tester, which may have no time on a busy machine, got every answer in a trial of each test.
const TRIES: u32 = 10;

/// The three machines, and the directory of a test. To ssh, the server's machine is `dut`, and that of the authority `second`.
struct Rig {
    room: Room,
    scratch: Scratch,
    before: String,
}

impl Rig {
    fn build(run: &str) -> Self {
        let room = Room::build_row(run);
        let before = room.state();
        let scratch = Scratch::new(&format!("three-{run}"));
        // Each of the machines has its own /root.
        let (program, installed) = (env!("CARGO_BIN_EXE_sixbench"), scratch.path("sixbench"));
        fs::hard_link(program, &installed)
            .or_else(|_| fs::copy(program, installed).map(drop))
            .expect("a program");
        Self {
            room,
            scratch,
            before,
        }
    }

    /// Writes a plan with these tests, and with these lines in `[testbed.authority]`.
    fn plan(&self, authority: &str, tests: &str) -> String {
        let config = self.room.config_within().display().to_string();
        let [left, right] = FAR;
        let testbed = format!(
            "name = \"three\"\n[testbed]\nleft = \"left\"\nright = \"right\"\nhost = \"ssh:dut\"\ndut-left = \"{left}\"\n\
             dut-right = \"{right}\"\nssh-config = \"{config}\"\n[testbed.authority]\nhost = \"ssh:second\"\n\
             interface = \"{left}\"\nself-test = \"{right}\"\n{authority}"
        );
        self.scratch
            .write("plan.toml", &(testbed + SETTINGS + tests))
    }

    fn run(&self, plan: &str, results: &str) -> Output {
        start_in(
            self.room.near.name(),
            &["run", plan, "-o", results, "--trust-recipes"],
        )
        .wait_with_output()
        .expect("ended")
    }

    /// Returns the line that names the program under test as if it were installed on the authority's machine.
    fn installed(&self) -> String {
        format!("program = \"{}\"\n", self.scratch.path("sixbench"))
    }

    fn third(&self) -> &Namespace {
        self.room
            .second
            .as_ref()
            .expect("a machine of the authority")
    }

    fn assert_all_is_as_before(&self) {
        self.room.assert_is_as(&self.before);
        assert_eq!(directories::left_behind(AUTHORITY), Vec::<PathBuf>::new());
    }

    /// Resets the authority's machine as a reboot would: all processes but the sshd listener end, and no settings remain. `run` is the run that had a
    /// program there.
    fn reboot_third(&self, run: u32) {
        let listener = |pid: &&String| {
            fs::read_to_string(format!("/proc/{pid}/cmdline"))
                .unwrap_or_default()
                .contains("/usr/sbin/sshd")
        };
        let ended: Vec<String> = Room::pids_of(self.third())
            .into_iter()
            .filter(|pid| !listener(&pid))
            .collect();
        // Some may have ended by themselves when others did.
        let line = format!("kill -s KILL {} 2>/dev/null || true", ended.join(" "));
        Shell::new().run(&["sh", "-c", &line]).expect("a shell");
        for interface in FAR {
            let shell = self.third().shell();
            shell
                .line(&format!("ip address flush dev {interface}"))
                .expect("flushed");
            shell
                .line(&format!("ip link set {interface} down"))
                .expect("down");
            shell
                .set(
                    &format!("/proc/sys/net/ipv6/conf/{interface}/accept_dad"),
                    "1",
                )
                .expect("a sysctl");
        }
        let left = directories::of_process(run, |role| role == AUTHORITY);
        for directory in left {
            fs::remove_dir_all(directory).expect("its /tmp is emptied");
        }
    }
}

/// Returns whether every query of any trial of this test was answered correctly.
fn has_right_answers(records: &[Value], test: &str) -> bool {
    let of_test = records
        .iter()
        .filter(|record| record["point"]["test"] == test);
    let answers = of_test.map(|record| &record["result"]["dns"]["answers"]);
    answers
        .into_iter()
        .any(|answers| answers["sent"].as_u64() > Some(0) && answers["right"] == answers["sent"])
}

#[test]
fn a_plan_measures_with_client_server_and_authority_on_three_machines() {
    let (_guard, rig) = (ONE_AT_A_TIME.lock(), Rig::build("run"));
    let plan = rig.plan(&rig.installed(), &format!("{SERVER}{ROUTER}"));
    let run = |attempt| {
        let results = rig.scratch.path(&format!("results-{attempt}"));
        let output = rig.run(&plan, &results);
        assert_ran(&output);
        rig.assert_all_is_as_before();
        (results, text(&output.stderr))
    };
    let is_whole = |(results, _): &(String, String)| {
        let records = records(results);
        ["unbound.aaaa0", "unbound.aaaa40", "router"]
            .iter()
            .all(|test| has_right_answers(&records, test))
    };
    let (results, said) = (1..TRIES)
        .map(run)
        .find(is_whole)
        .unwrap_or_else(|| run(TRIES));
    let duts = &facts(&results)["duts"];
    assert!(is_whole(&(results, String::new())), "{said}\n{duts}");
    for dut in ["unbound-dns64", "linux-ipv6"] {
        assert_eq!(
            duts[dut]["certificates"][0]["path"],
            "a link of its own to the machine second"
        );
        assert!(
            duts[dut]["certificates"][0]["rate"].as_u64() > Some(0),
            "{duts}"
        );
        assert_eq!(duts[dut]["authority"]["machine"], "second");
        assert!(
            duts[dut]["layout"]
                .to_string()
                .contains("on the machine second, started over ssh"),
            "{duts}"
        );
    }
}

#[test]
fn what_cannot_work_on_the_machine_of_the_authority_is_told_before_anything_is_touched() {
    let (_guard, rig) = (ONE_AT_A_TIME.lock(), Rig::build("refused"));
    let other = rig.scratch.write(
        "other",
        "#!/bin/sh\necho 'sixbench 0.0.1 (1a2b3c4 2020-01-01)'\n",
    );
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("a program");
    let of_program = |program: &str| format!("program = \"{program}\"\n");
    let refused = |plan: &str, told: &[&str]| {
        let output = rig.run(plan, &rig.scratch.path("results"));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{error}");
        for part in told {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(!Path::new(&rig.scratch.path("results")).exists());
        rig.assert_all_is_as_before();
    };
    let plan = rig.plan(&of_program(&other), SERVER);
    let here = text(&crate::common::output(&["--version"]).stdout);
    let here = here.lines().next().expect("a version");
    refused(
        &plan,
        &[
            "is sixbench 0.0.1 (1a2b3c4 2020-01-01), but this is",
            here,
            "scp ",
            &format!("second:{other}"),
        ],
    );
    let plan = rig.plan(&of_program("/no/sixbench"), SERVER);
    refused(
        &plan,
        &[
            "cannot run /no/sixbench on second",
            "leave `program` out of [testbed.authority]",
        ],
    );
    let whole = rig.plan(&rig.installed(), SERVER);
    let with = |from: &str, to: &str| {
        rig.scratch.write(
            "other.toml",
            &fs::read_to_string(&whole)
                .expect("a plan")
                .replace(from, to),
        )
    };
    let twice = rig.run(
        &with("ssh:second", "ssh:10.99.0.2"),
        &rig.scratch.path("results"),
    );
    let error = text(&twice.stderr);
    assert_eq!(twice.status.code(), Some(2), "{error}");
    assert!(
        error.contains("10.99.0.2 is a machine that the plan names twice"),
        "{error}"
    );
    let absent = with(
        &format!("self-test = \"{}\"", FAR[1]),
        "self-test = \"none0\"",
    );
    refused(
        &absent,
        &["interface none0 of second does not exist; name another in [testbed.authority]"],
    );
    let mut taken = Command::new("ip");
    taken.args([
        "netns",
        "exec",
        rig.third().name(),
        env!("CARGO_BIN_EXE_sixbench"),
    ]);
    taken
        .args(["authority", "--listen", "0.0.0.0:53", "--force"])
        .stderr(Stdio::null());
    let mut taken = taken.spawn().expect("a server");
    wait_until(&mut taken, "socket", || {
        let listening = rig
            .third()
            .shell()
            .look(&["ss", "-Hlnut"])
            .expect("sockets");
        listening.contains("0.0.0.0:53")
    });
    let output = rig.run(&whole, &rig.scratch.path("results"));
    taken.kill().expect("killed");
    taken.wait().expect("ended");
    let error = text(&output.stderr);
    assert!(
        error.contains("port 53 of second is taken: users:((\"sixbench\""),
        "{error}"
    );
    rig.assert_all_is_as_before();
}

#[test]
fn a_tester_that_is_killed_leaves_all_machines_as_they_were_without_the_copy_of_its_program() {
    let (_guard, rig) = (ONE_AT_A_TIME.lock(), Rig::build("kill"));
    let (results, plan) = (rig.scratch.path("results"), rig.plan("", SERVER));
    let mut child = start_to_be_killed(
        rig.room.near.name(),
        &["run", &plan, "-o", &results, "--trust-recipes"],
    );
    until_the_first_trial(&mut child, &results);
    let copy = directories::of_process(child.id(), |role| role == AUTHORITY)
        .pop()
        .expect("a copy");
    assert!(copy.join("sixbench").exists());
    assert_eq!(
        fs::metadata(&copy)
            .expect("a directory")
            .permissions()
            .mode()
            & 0o777,
        0o700
    );
    kill(&mut child);
    sweep_after(&child);
    rig.room.assert_near_has(&["left", "right"]);
    rig.assert_all_is_as_before();
}

#[test]
fn a_machine_that_reboots_in_the_middle_ends_the_run_which_can_be_resumed() {
    let (_guard, rig) = (ONE_AT_A_TIME.lock(), Rig::build("boot"));
    let tests = ROUTER.replace("repetitions = 3", "repetitions = 1000");
    let (results, plan) = (
        rig.scratch.path("results"),
        rig.plan(&rig.installed(), &tests),
    );
    let mut child = start_in(
        rig.room.near.name(),
        &["run", &plan, "-o", &results, "--trust-recipes"],
    );
    until_the_first_trial(&mut child, &results);
    rig.reboot_third(child.id());
    let output = child.wait_with_output().expect("ended");
    let (error, before) = (text(&output.stderr), records(&results).len());
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("the connection to second is lost"),
        "{error}"
    );
    rig.assert_all_is_as_before();
    let mut resumed = start_in(
        rig.room.near.name(),
        &["run", "--resume", &results, "--trust-recipes"],
    );
    wait_until(&mut resumed, "record", || records(&results).len() > before);
    signal(&resumed, "INT");
    let output = resumed.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    rig.assert_all_is_as_before();
}
