//! Testbeds that are kept for inspection. These tests need root; without it they fail, they do not skip.

use crate::common::{
    ONE_AT_A_TIME, Scratch, directories, namespaces_of, output, plans, signal, sixbench, start,
    text, wait_until, with_environment,
};
use std::fs;
use std::process::{Child, Command, Output};

/// Asserts that a command ended with this exit code, and returns its output on both streams.
fn told(output: &Output, code: i32) -> String {
    let told = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{told}");
    told
}

/// Starts a testbed in the foreground.
fn up(plan: &str) -> Child {
    let mut child = start(&["testbed", "up", plan]);
    wait_until(&mut child, "testbed", || told_of(plan).status.success());
    child
}

/// Starts a testbed in the background, and returns the process that holds it.
fn in_background(plan: &str) -> u32 {
    let words = told(
        &output(&["testbed", "up", plan, "--background", "--test", "kernel"]),
        0,
    );
    words
        .split("held by process ")
        .nth(1)
        .and_then(|rest| rest.lines().next()?.parse().ok())
        .expect("a process")
}

/// Returns true if a process has neither ended nor been killed. (Here it may be a zombie, which has no command line.)
fn is_running(process: u32) -> bool {
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|words| !words.is_empty())
}

fn told_of(plan: &str) -> Output {
    output(&["testbed", "exec", plan, "--", "true"])
}

fn has_directory(process: u32) -> bool {
    !directories::of_process(process, |role| role == "holder").is_empty()
}

#[test]
fn a_testbed_is_there_until_ctrl_c_and_commands_run_in_each_part_of_it() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("testbed-up");
    let plan = scratch.write("plan.toml", plans::KERNEL);
    let child = up(&plan);
    let process = child.id();
    assert_eq!(namespaces_of(process).len(), 2);

    let tester = told(
        &output(&["testbed", "exec", &plan, "--", "ip", "-o", "link"]),
        0,
    );
    assert!(
        tester.contains("left@") && tester.contains("right@"),
        "{tester}"
    );
    let device = told(
        &output(&[
            "testbed",
            "exec",
            &plan,
            "--device",
            "linux-ipv4",
            "--",
            "ip",
            "-o",
            "address",
        ]),
        0,
    );
    assert!(device.contains("198.18.0.1/30"), "{device}");
    let status = told(
        &output(&[
            "testbed",
            "exec",
            &plan,
            "--",
            "sh",
            "-c",
            "echo \"it's\"; exit 7",
        ]),
        7,
    );
    assert_eq!(status, "it's\n");
    let unknown = told(
        &output(&["testbed", "exec", &plan, "--device", "other", "--", "true"]),
        2,
    );
    assert!(
        unknown.contains("no `other`; it has: tester, linux-ipv4"),
        "{unknown}"
    );

    let twice = told(&output(&["testbed", "up", &plan]), 2);
    assert!(
        twice.contains("is up")
            && twice
                .trim_end()
                .ends_with(&format!("sixbench testbed down {plan}")),
        "{twice}"
    );

    signal(&child, "INT");
    let ended = child.wait_with_output().expect("its end");
    let words = told(&ended, 0);
    for word in [
        &format!("sb-{process}-tester"),
        &format!("sb-{process}-dut"),
        "testbed exec",
        "testbed down",
        "198.18.0.2",
    ] {
        assert!(words.contains(word), "{word}: {words}");
    }
    assert!(namespaces_of(process).is_empty() && !has_directory(process));
}

#[test]
fn a_testbed_in_the_background_outlives_its_command_and_ends_by_the_name_of_its_plan() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("testbed-background");
    let plan = scratch.write("plan.toml", plans::KERNEL);
    let process = in_background(&plan);
    assert_eq!(namespaces_of(process).len(), 2);
    // Another path to the same file means the same plan.
    let near = sixbench(&["testbed", "exec", "plan.toml", "--", "true"])
        .current_dir(&scratch.0)
        .output()
        .expect("sixbench");
    told(&near, 0);
    let down = told(&output(&["testbed", "down", &plan]), 0);
    assert!(
        down.contains("test kernel of") && down.contains("is down"),
        "{down}"
    );
    assert!(namespaces_of(process).is_empty() && !has_directory(process));
}

#[test]
fn what_a_killed_testbed_leaves_is_not_found_and_swept() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("testbed-killed");
    let plan = scratch.write("plan.toml", plans::KERNEL);
    let mut child = up(&plan);
    let process = child.id();
    child.kill().expect("killed");
    child.wait().expect("its end");
    assert!(has_directory(process) && !namespaces_of(process).is_empty());
    let missing = told(&told_of(&plan), 2);
    let cause = format!("is not up: process {process}, which held it, was killed; ");
    let hint = format!("sixbench testbed down {plan}");
    assert!(
        missing.contains(&cause) && missing.trim_end().ends_with(&hint),
        "{missing}"
    );
    told(&output(&["sweep"]), 0);
    assert!(namespaces_of(process).is_empty() && !has_directory(process));
}

#[test]
fn the_testbed_of_a_killed_holder_is_taken_down_by_the_name_of_its_plan() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("testbed-down-killed");
    let plan = scratch.write("plan.toml", plans::KERNEL);
    let process = in_background(&plan);
    told(
        &Command::new("kill")
            .args(["-9", &process.to_string()])
            .output()
            .expect("kill"),
        0,
    );
    while is_running(process) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let down = told(&output(&["testbed", "down", &plan]), 0);
    let words = [
        format!("is down: process {process}, which held it, was killed\n"),
        format!("removed sb-{process}-tester\n"),
        format!("removed sb-{process}-dut\n"),
    ];
    assert!(words.iter().all(|words| down.contains(words)), "{down}");
    assert!(namespaces_of(process).is_empty() && !has_directory(process));
    let again = told(&output(&["testbed", "down", &plan]), 2);
    assert!(again.contains("is not up; "), "{again}");
}

#[test]
fn a_killed_testbed_whose_process_nobody_waits_for_is_swept_and_so_is_a_directory_without_its_namespace()
 {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("testbed-zombie");
    let plan = scratch.write("plan.toml", plans::KERNEL);
    // As in a container: the first process waits for none of those that lose their parents. Its own /run and /tmp have nothing of others.
    let script = "mount -t tmpfs none /run; mkdir -p /run/netns; exec sleep infinity";
    let words = [
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "sh",
        "-c",
        script,
    ];
    let mut outer = Command::new("unshare")
        .args(words)
        .spawn()
        .expect("unshare (needs root)");
    let first = || {
        fs::read_to_string(format!("/proc/{0}/task/{0}/children", outer.id()))
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    while fs::read(format!("/proc/{}/comm", first())).map_or(true, |name| name != b"sleep\n") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let target = first();
    let inside = |words: &[&str]| {
        let mut command = with_environment(Command::new("nsenter"));
        command
            .args(["--mount", "--pid", "--target", &target])
            .args(words)
            .env("TMPDIR", scratch.path("."));
        command.output().expect("nsenter")
    };
    let binary = env!("CARGO_BIN_EXE_sixbench");
    let up = told(
        &inside(&[binary, "testbed", "up", &plan, "--background"]),
        0,
    );
    let process = up
        .split("held by process ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .expect("a process")
        .to_owned();
    let left = || {
        let names = fs::read_dir(&scratch.0)
            .expect("a directory")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let own = names
            .filter(|name| name.starts_with(&format!("sb-{process}.")))
            .count();
        (
            own,
            text(&inside(&["ls", "/run/netns"]).stdout).lines().count(),
        )
    };
    assert_eq!(left(), (2, 2));
    inside(&["sh", "-c", &format!("kill -9 {process}; sleep 1")]);
    let state = text(&inside(&["cat", &format!("/proc/{process}/stat")]).stdout);
    assert!(state.contains(") Z"), "{state}");
    // Somebody has removed the namespace of the device, but not its directory.
    told(
        &inside(&["ip", "netns", "del", &format!("sb-{process}-dut")]),
        0,
    );
    let swept = told(&inside(&[binary, "sweep"]), 0);
    assert_eq!(left(), (0, 0), "{swept}");
    outer.kill().and_then(|()| outer.wait()).expect("ended");
}

#[test]
fn a_test_of_tcp_has_hosts_at_its_ends() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("testbed-tcp");
    let test = "dut = \"linux-ipv4\"\nmeasure = \"tcp-establishment-rate\"";
    let plan = scratch.write("plan.toml", &plans::of_test(test));
    let child = up(&plan);
    let right = told(
        &output(&[
            "testbed", "exec", &plan, "--device", "right", "--", "ip", "-o", "address",
        ]),
        0,
    );
    assert!(
        right.contains("right") && !right.contains(": left"),
        "{right}"
    );
    // No process is listening there, so the right end refuses the connection.
    let connection = format!("exec 3<>/dev/tcp/{}/9", address_in(&right));
    let through = output(&[
        "testbed",
        "exec",
        &plan,
        "--",
        "timeout",
        "10",
        "bash",
        "-c",
        &connection,
    ]);
    signal(&child, "TERM");
    told(&child.wait_with_output().expect("its end"), 0);
    assert!(
        told(&through, 1).contains("refused"),
        "{}",
        text(&through.stderr)
    );
}

/// Returns the address of the right end that can be reached from the other side of the device.
fn address_in(listed: &str) -> &str {
    let addresses = listed
        .lines()
        .filter(|line| line.contains("right") && line.contains(" inet "));
    let mut found = addresses.filter_map(|line| line.split(" inet ").nth(1)?.split('/').next());
    found.next_back().expect("an address")
}

#[test]
fn what_cannot_be_brought_up_is_refused_with_what_there_is() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("testbed-refused");
    let plan = scratch.write("plan.toml", plans::KERNEL);
    let unknown = told(&output(&["testbed", "up", &plan, "--test", "kernal"]), 2);
    assert!(
        unknown.contains("no test is named `kernal`; the plan has: kernel"),
        "{unknown}"
    );
    let down = told(&output(&["testbed", "down", &plan]), 2);
    assert!(
        down.contains("is not up; ")
            && down
                .trim_end()
                .ends_with(&format!("sixbench testbed up {plan}")),
        "{down}"
    );
    // Another user may have no access to the directory of the binary.
    let binary = scratch.path("sixbench");
    fs::copy(env!("CARGO_BIN_EXE_sixbench"), &binary).expect("a copy");
    let mut other_user = Command::new("setpriv");
    other_user.args([
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        &binary,
        "testbed",
        "up",
        "quickstart",
    ]);
    let no_root = told(&other_user.current_dir("/").output().expect("setpriv"), 3);
    assert!(no_root.contains("need root"), "{no_root}");
}
