//! Plans whose device is another machine, over a real sshd in a namespace. Rates are low, so that nothing depends on the speed of the machine. Needs
//! root and openssh-server; without them these tests fail, they do not skip.

use crate::common::plans::{self, REMOTE_TESTS, settings};
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, kill, output, records, signal, start_in,
    start_to_be_killed, sweep_after, text, until_the_first_trial, wait_until,
};
use crate::room::{FAR, Room};
use serde_json::Value;
use sixbench_testbed::Library;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

fn plan(room: &Room, scratch: &Scratch, host: &str, tests: &str) -> String {
    let config = room.config_within().display().to_string();
    let [left, right] = FAR;
    let testbed = format!(
        "name = \"away\"\nrecipes = [\"recipes\"]\n[testbed]\nleft = \"left\"\nright = \"right\"\nhost = \"ssh:{host}\"\n\
         dut-left = \"{left}\"\ndut-right = \"{right}\"\nssh-config = \"{config}\"\n"
    );
    keep_recipe(scratch);
    scratch.write("plan.toml", &(testbed + tests))
}

/// Writes a recipe that does not set the size of the connection tracking table, which is global and cannot be set from a namespace.
fn keep_recipe(scratch: &Scratch) {
    let library = Library::load::<&Path>(&[]).expect("recipes");
    let mut recipe = library.get("nft-nat44").expect("a recipe").clone();
    recipe.state.as_mut().expect("stateful").host.clear();
    scratch.write(
        "recipes/nft-nat44.toml",
        &toml::to_string(&recipe).expect("a recipe"),
    );
}

fn start(room: &Room, arguments: &[&str]) -> Child {
    start_in(room.near.name(), arguments)
}

fn run(room: &Room, plan: &str, results: &str) -> Output {
    start(room, &["run", plan, "-o", results, "--trust-recipes"])
        .wait_with_output()
        .expect("ended")
}

/// Returns whether any trial of the test lost nothing in either direction.
fn has_passed(records: &[Value], test: &str) -> bool {
    let is_whole = |direction: &Value| {
        direction["offered"].as_u64() > Some(0) && direction["offered"] == direction["received"]
    };
    records
        .iter()
        .filter(|record| record["point"]["test"] == test)
        .any(|record| {
            let directions = record["result"]["directions"]
                .as_array()
                .expect("directions");
            directions.len() == 2 && directions.iter().all(is_whole)
        })
}

/// Returns whether every query of any trial was answered correctly.
fn has_right_answers(records: &[Value]) -> bool {
    let answers = records
        .iter()
        .map(|record| &record["result"]["dns"]["answers"]);
    answers
        .into_iter()
        .any(|answers| answers["sent"].as_u64() > Some(0) && answers["right"] == answers["sent"])
}

#[test]
fn a_plan_runs_on_another_machine_and_leaves_it_as_it_was() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh"),
        Room::build("run"),
    );
    let before = room.state();
    let results = scratch.path("results");
    let output = run(&room, &plan(&room, &scratch, "dut", REMOTE_TESTS), &results);
    assert_ran(&output);
    let error = text(&output.stderr);
    let records = records(&results);
    for test in ["router", "siit", "nat"] {
        assert!(has_passed(&records, test), "{test}: {error}\n{records:?}");
    }
    let counted = records
        .iter()
        .filter_map(|record| record["result"]["connections"]["counted"].as_u64());
    assert!(
        counted.into_iter().any(|count| count == 100),
        "the gateway's own count"
    );
    let commands =
        fs::read_to_string(Path::new(&results).join("commands.sh")).expect("a transcript");
    assert!(
        commands.contains("from_within dut 'ip address add 198.18.0.1/30 dev enp5s0f0'"),
        "{commands}"
    );
    let facts = fs::read_to_string(Path::new(&results).join("facts.json")).expect("facts");
    assert!(
        facts.contains("the DUT is the machine dut, set up over ssh"),
        "{facts}"
    );
    room.assert_is_as(&before);
}

/// The most runs until the tester has sent queries, since a busy machine may leave it no time.
const TRIES: u32 = 10;

/// Trials of a DNS64 server at rates so low that a busy machine can handle them.
const DNS64_TEST: &str = concat!(
    settings!("500ms" + "100ms", "4" to "20", "50%"),
    "[[test]]\nname = \"unbound\"\ndut = \"unbound-dns64\"\nmeasure = \"dns64\"\nrepetitions = 1\n"
);

/// Returns the permanent state of the interfaces that the tester's machine lends.
fn lent(room: &Room) -> String {
    let look = |words: &[&str]| room.near.shell().look(words).expect("an answer");
    let of_link = |link: &str| {
        let described = look(&["ip", "-o", "link", "show", "dev", link]);
        let head = described
            .split(" qdisc ")
            .next()
            .unwrap_or_default()
            .split_once(": ")
            .expect("a number")
            .1;
        let head = head.replace(",LOWER_UP", "").replace("NO-CARRIER,", "");
        let addresses = look(&[
            "ip", "-brief", "address", "show", "dev", link, "scope", "global",
        ]);
        let routes = ["-4", "-6"].map(|family| look(&["ip", family, "route", "show", "dev", link]));
        let set = routes
            .iter()
            .flat_map(|routes| routes.lines())
            .filter(|line| !line.contains("fe80::"));
        format!(
            "{head}\n{addresses}\n{}",
            set.collect::<Vec<_>>().join("\n")
        )
    };
    ["left", "right"].map(of_link).join("\n")
}

#[test]
fn a_dns64_server_on_another_machine_is_measured_over_interfaces_that_are_lent() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-dns64"),
        Room::build("dns64"),
    );
    room.near
        .shell()
        .set("/proc/sys/net/ipv6/conf/right/disable_ipv6", "0")
        .expect("a switch");
    for command in [
        "ip address add 10.7.0.1/24 dev left",
        "ip address add 2001:db8:7::1/64 dev right nodad",
        "ip route add 10.8.0.0/16 via 10.7.0.9 dev left metric 7",
        "ip -6 route add 2001:db8:8::/48 via 2001:db8:7::9",
        "ip link set right mtu 1400",
    ] {
        room.near.shell().line(command).expect(command);
    }
    let (before, lent_before) = (room.state(), lent(&room));
    let plan = plan(&room, &scratch, "dut", DNS64_TEST);
    let results = scratch.path("results");
    let refused = run(&room, &plan, &results);
    assert!(
        text(&refused.stderr).contains("say `lend-addresses = true` in [testbed]"),
        "{}",
        text(&refused.stderr)
    );
    let lending = fs::read_to_string(&plan)
        .expect("a plan")
        .replace("[trial]", "lend-addresses = true\n[trial]");
    fs::write(&plan, lending).expect("a plan");
    let measure = |attempt| {
        let results = scratch.path(&format!("results-{attempt}"));
        assert_ran(&run(&room, &plan, &results));
        assert_eq!(lent(&room), lent_before);
        room.assert_is_as(&before);
        records(&results)
    };
    // A tester without enough time on a busy machine sends no queries.
    let records = (1..TRIES)
        .map(measure)
        .find(|records| has_right_answers(records))
        .unwrap_or_else(|| measure(TRIES));
    assert!(has_right_answers(&records), "{records:?}");
    let lasting = plans::that_lasts(&fs::read_to_string(&plan).expect("a plan"));
    fs::write(&plan, lasting).expect("a plan");
    let results = scratch.path("killed");
    let mut child = start_to_be_killed(
        room.near.name(),
        &["run", &plan, "-o", &results, "--trust-recipes"],
    );
    until_the_first_trial(&mut child, &results);
    kill(&mut child);
    sweep_after(&child);
    room.assert_near_has(&["left", "right"]);
    assert_eq!(lent(&room), lent_before, "after kill -9");
    room.assert_is_as(&before);
}

#[test]
fn a_machine_that_cannot_be_reached_is_told_before_anything_is_touched() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-refused"),
        Room::build("refused"),
    );
    let before = room.state();
    for (host, what) in [
        (
            "closed",
            "Connection refused; is it up, does sshd run there, and is the port right?",
        ),
        ("refusing", "refusing refused our key"),
        ("unknown", "its host key is not known here"),
    ] {
        let output = run(
            &room,
            &plan(&room, &scratch, host, REMOTE_TESTS),
            &scratch.path("results"),
        );
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{host}: {error}");
        assert!(error.contains(what), "{host}: {error}");
    }
    assert!(!Path::new(&scratch.path("results")).exists());
    room.assert_is_as(&before);
}

#[test]
fn cores_that_the_machine_has_not_got_are_told_with_their_test() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-cores"),
        Room::build("cores"),
    );
    let test = "[[test]]\nname = \"many\"\ndut = \"linux-ipv4\"\ncores = 9\n";
    let output = run(
        &room,
        &plan(&room, &scratch, "dut", test),
        &scratch.path("results"),
    );
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("test many")
            && error.contains("requires 9 cores for the DUT, but dut has only 4 online"),
        "{error}"
    );
}

#[test]
fn ctrl_c_undoes_the_machine_and_keeps_the_results() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-stop"),
        Room::build("stop"),
    );
    let before = room.state();
    let results = scratch.path("results");
    let plan = plan(&room, &scratch, "dut", &plans::that_lasts(REMOTE_TESTS));
    let mut child = start(&room, &["run", &plan, "-o", &results, "--trust-recipes"]);
    until_the_first_trial(&mut child, &results);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    // No waiting here: when the run has ended, everything must have been undone.
    assert_eq!(room.state(), before);
    assert!(Path::new(&results).join("report.html").exists());
}

#[test]
fn a_tester_that_is_killed_leaves_the_machine_as_it_was() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-kill"),
        Room::build("kill"),
    );
    let before = room.state();
    let results = scratch.path("results");
    let siit =
        plans::that_lasts(REMOTE_TESTS).replace("dut = \"linux-ipv4\"", "dut = \"tayga-siit\"");
    let plan = plan(&room, &scratch, "dut", &siit);
    let mut child = start_to_be_killed(
        room.near.name(),
        &["run", &plan, "-o", &results, "--trust-recipes"],
    );
    until_the_first_trial(&mut child, &results);
    assert!(room.processes().contains(&"tayga".to_owned()));
    kill(&mut child);
    sweep_after(&child);
    room.assert_near_has(&["left", "right"]);
    room.assert_is_as(&before);
}

#[test]
fn a_connection_that_breaks_ends_the_run_and_keeps_the_results() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-break"),
        Room::build("break"),
    );
    let before = room.state();
    let results = scratch.path("results");
    let plan = plan(&room, &scratch, "dut", &plans::that_lasts(REMOTE_TESTS));
    let mut child = start(&room, &["run", &plan, "-o", &results, "--trust-recipes"]);
    until_the_first_trial(&mut child, &results);
    assert!(Room::end_sessions(&room.far) > 0);
    let output = child.wait_with_output().expect("ended");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("the connection to dut is lost"), "{error}");
    assert!(error.contains("kept in"), "{error}");
    room.assert_is_as(&before);
}

#[test]
fn a_connection_that_hangs_ends_the_run_which_is_resumed_when_the_machine_answers() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-hang"),
        Room::build("hang"),
    );
    let before = room.state();
    let results = scratch.path("results");
    // Some trials must be left when the connection is cut, no matter how long that takes.
    let router = REMOTE_TESTS
        .split("[[test]]\nname = \"siit\"")
        .next()
        .expect("a test")
        .replace("repetitions = 1", "repetitions = 4");
    let mut child = start(
        &room,
        &[
            "run",
            &plan(&room, &scratch, "dut", &router),
            "-o",
            &results,
            "--trust-recipes",
        ],
    );
    until_the_first_trial(&mut child, &results);
    // No connection is closed and no message is sent: whatever the machines send over the ssh link is lost.
    for rule in [
        "add table inet cut",
        "add chain inet cut in { type filter hook input priority 0 ; }",
        "add rule inet cut in iifname mgmt drop",
    ] {
        room.near.shell().run(&["nft", rule]).expect("a rule");
    }
    let (begun, made) = (Instant::now(), records(&results).len());
    let output = child.wait_with_output().expect("ended");
    let took = begun.elapsed();
    room.near
        .shell()
        .line("nft delete table inet cut")
        .expect("it answers again");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("the connection to dut is lost") && error.contains("sixbench run --resume"),
        "{error}"
    );
    // A machine counts as silent after 10 s, and ssh gives up a connection after 20 s; a busy machine may take longer.
    assert!(took < Duration::from_secs(90), "{took:?}");
    room.assert_is_as(&before);
    let resumed = start(&room, &["run", "--resume", &results, "--trust-recipes"])
        .wait_with_output()
        .expect("ended");
    assert_ran(&resumed);
    assert!(
        records(&results).len() > made && has_passed(&records(&results), "router"),
        "{}",
        text(&resumed.stderr)
    );
    room.assert_is_as(&before);
}

#[test]
fn a_recipe_that_nobody_has_tried_says_so_and_needs_its_machine() {
    let listed = text(&output(&["list", "duts", "openbsd-pf-nat64"]).stdout);
    assert!(
        listed.starts_with("runs on a machine of its own, over ssh"),
        "{listed}"
    );
    assert!(listed.contains("(untested recipe); OpenBSD"), "{listed}");
    let scratch = Scratch::new("ssh-system");
    let test = plans::of_test("dut = \"openbsd-pf-nat64\"\nconnections = \"1k\"");
    let output = output(&[
        "run",
        &scratch.write("plan.toml", &test),
        "-o",
        &scratch.path("results"),
        "--trust-recipes",
    ]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("openbsd-pf-nat64 needs a machine of its own that runs OpenBSD"),
        "{error}"
    );
}

#[test]
fn the_commands_for_another_machine_are_shown_without_reaching_it() {
    let (scratch, room) = (Scratch::new("ssh-shell"), Room::build("shell"));
    let output = output(&[
        "plan",
        "--shell",
        &plan(&room, &scratch, "dut", REMOTE_TESTS),
    ]);
    let script = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        script.contains("dut 'ip link del nat64'")
            && script.contains("dut 'nft delete table ip sixbench'"),
        "{script}"
    );
}

#[test]
fn a_machine_that_another_tester_uses_is_refused_with_its_name_until_that_is_killed() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-lock"),
        Room::build("lock"),
    );
    let before = room.state();
    let plan = plan(&room, &scratch, "dut", &plans::that_lasts(REMOTE_TESTS));
    let (first, second) = (scratch.path("first"), scratch.path("second"));
    let mut holder = start_to_be_killed(
        room.near.name(),
        &["run", &plan, "-o", &first, "--trust-recipes"],
    );
    until_the_first_trial(&mut holder, &first);
    // A tester on another machine does not share locks with the first. The lock must come before the check of the interfaces, which are moved away.
    let mut other = Command::new("ip");
    other.args([
        "netns",
        "exec",
        room.near.name(),
        env!("CARGO_BIN_EXE_sixbench"),
        "run",
        &plan,
        "-o",
        &second,
        "--trust-recipes",
    ]);
    let other = other
        .env("SIXBENCH_LOCKS", scratch.path("locks"))
        .output()
        .expect("sixbench");
    let error = text(&other.stderr);
    assert_eq!(other.status.code(), Some(3), "{error}");
    let words = format!("(process {}, results in {first}) since 20", holder.id());
    assert!(
        error.contains("the machine dut is used by `away` of ") && error.contains(&words),
        "{error}"
    );
    assert!(
        error
            .trim_end()
            .ends_with("; --wait waits until it has ended")
            && !Path::new(&second).exists(),
        "{error}"
    );
    kill(&mut holder);
    sweep_after(&holder);
    room.assert_near_has(&["left", "right"]);
    // The lock is released as soon as the sshd there notices.
    room.assert_is_as(&before);
    let mut again = start(&room, &["run", "--resume", &first, "--trust-recipes"]);
    let made = records(&first).len();
    wait_until(&mut again, "record", || records(&first).len() > made);
    signal(&again, "INT");
    assert_eq!(
        again.wait_with_output().expect("its end").status.code(),
        Some(130)
    );
}

/// Two quick tests, one of them for a device whose program is not installed on any machine.
const OPTIONAL_TESTS: &str = r#"
[trial]
patience = "0s"
duration = "50ms"
residual = "50ms"
rest = "0s"
stall = "2s"
[search]
method = "binary"
minimum = "100"
maximum = "200"
width = "50%"
[[test]]
name = "there"
dut = "linux-ipv4"
frame-sizes = [84]
repetitions = 1
[[test]]
name = "gone"
dut = "absent"
optional = true
frame-sizes = [84]
"#;

#[test]
fn an_optional_test_whose_device_the_other_machine_lacks_is_left_out_with_the_reason() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("ssh-optional"),
        Room::build("opt"),
    );
    let plan = plan(&room, &scratch, "dut", OPTIONAL_TESTS);
    let library = Library::load::<&Path>(&[]).expect("recipes");
    let router = toml::to_string(library.get("linux-ipv4").expect("a recipe")).expect("a recipe");
    let needs =
        "needs = [{ program = \"sb-no-such-program\", package = \"none\" }]\nname = \"absent\"";
    scratch.write(
        "recipes/absent.toml",
        &router
            .replace("needs = []\n", "")
            .replace("name = \"linux-ipv4\"", needs),
    );
    let results = scratch.path("results");
    let output = run(&room, &plan, &results);
    assert_ran(&output);
    let error = text(&output.stderr);
    assert!(
        error.contains(
            "note: test gone is left out: cannot run sb-no-such-program: not installed (on dut: "
        ),
        "{error}"
    );
    let made = records(&results);
    assert!(
        !made.is_empty() && made.iter().all(|record| record["point"]["test"] == "there"),
        "{made:?}"
    );
    let facts = fs::read_to_string(Path::new(&results).join("facts.json")).expect("facts");
    assert!(
        facts.contains("\"left-out\"") && facts.contains("sb-no-such-program"),
        "{facts}"
    );
}
