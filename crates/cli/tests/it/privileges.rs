//! The identity of a process while it reads untrusted data: commands that do not measure do not run as root, threads that parse frames or requests have
//! no privileges, and no command writes through other users' links. These tests need root; without it they fail, they do not skip.

use crate::common::{
    ONE_AT_A_TIME, Scratch, signal, sixbench, start, text, wait_until, with_environment,
};
use crate::results::{dut, plan, records, test, write};
use sixbench_method::record::Facts;
use sixbench_testbed::Shell;
use sixbench_testbed::namespace::{Namespace, name};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const NOBODY: u32 = 65_534;

/// Runs the program as sudo would for this user.
fn by(user: u32, arguments: &[&str]) -> Output {
    let mut command = sixbench(arguments);
    command
        .env("SUDO_UID", user.to_string())
        .env("SUDO_GID", user.to_string())
        .output()
        .expect("sixbench")
}

/// Runs the program as root without sudo.
fn by_root(arguments: &[&str]) -> Output {
    sixbench(arguments)
        .env_remove("SUDO_UID")
        .env_remove("SUDO_GID")
        .output()
        .expect("sixbench")
}

/// Writes results of a simulated device to a directory owned by this user.
fn results_of(scratch: &Scratch, user: u32) -> String {
    let plan = plan(&[test("t")]);
    write(
        scratch,
        "results",
        &plan,
        &records(&plan, |_| dut(100_000)),
        &Facts::default(),
    );
    let everything = fs::read_dir(scratch.path("results"))
        .expect("results")
        .map(|entry| entry.expect("an entry").path());
    everything
        .chain([scratch.path("results").into()])
        .for_each(|path| chown(path, Some(user), Some(user)).expect("root"));
    scratch.path("results")
}

fn owner(path: &str) -> u32 {
    fs::metadata(path)
        .unwrap_or_else(|error| panic!("{path}: {error}"))
        .uid()
}

#[test]
fn a_report_is_written_by_the_user_whose_results_they_are_and_through_no_link() {
    for (user, run) in [
        (NOBODY, by as fn(u32, &[&str]) -> Output),
        (12_345, |_, arguments: &[&str]| by_root(arguments)),
    ] {
        let scratch = Scratch::new(&format!("links-{user}"));
        let results = results_of(&scratch, user);
        let target = scratch.write("of-root", "of root");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("own");
        for link in [
            "report.html",
            ".report.html.sixbench-new",
            ".results.csv.sixbench-new",
            "results.json",
            ".live-token",
        ] {
            let _ = fs::remove_file(format!("{results}/{link}"));
            symlink(&target, format!("{results}/{link}")).expect("a link");
        }
        for arguments in [
            &["export", &results, "--to", "latex"][..],
            &["report", &results],
        ] {
            let output = run(user, arguments);
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        assert_eq!(fs::read_to_string(&target).expect("the file"), "of root");
        for file in [
            "report.html",
            "results.csv",
            "results.json",
            "exports",
            "exports/latex",
            "exports/latex/figures",
            "exports/latex/tables",
            "exports/latex/results.tex",
        ] {
            assert_eq!(owner(&format!("{results}/{file}")), user, "{file}");
        }
        assert!(!Path::new(&format!("{results}/report.html")).is_symlink());
        // A folder that is a link to another one is not written to.
        fs::create_dir(scratch.path("elsewhere")).expect("a folder");
        fs::set_permissions(scratch.path("elsewhere"), fs::Permissions::from_mode(0o777))
            .expect("own");
        for folder in [
            "exports/latex/tables",
            "exports/latex/figures",
            "exports/latex",
            "exports",
        ] {
            let folder = format!("{results}/{folder}");
            fs::remove_dir_all(&folder).expect("removed");
            symlink(scratch.path("elsewhere"), &folder).expect("a link");
            let refused = run(user, &["export", &results, "--to", "latex"]);
            assert!(
                !refused.status.success()
                    && text(&refused.stderr).contains("is a link to another folder"),
                "{refused:?}"
            );
            fs::remove_file(&folder).expect("removed");
        }
        assert_eq!(
            fs::read_dir(scratch.path("elsewhere"))
                .expect("the folder")
                .count(),
            0
        );
    }
}

#[test]
fn what_root_alone_can_read_is_read_by_no_command_that_does_not_measure() {
    let scratch = Scratch::new("unread");
    let results = results_of(&scratch, NOBODY);
    let secret = scratch.write("secret.toml", "name = \"secret\"\n");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("own");
    fs::create_dir(format!("{results}/queries")).expect("a folder");
    fs::remove_file(format!("{results}/resolved.toml")).expect("removed");
    symlink(&secret, format!("{results}/resolved.toml")).expect("a link");
    let export = ["export", &results, "--to", "svg"];
    for arguments in [
        &["report", &results][..],
        &export,
        &["compare", &results, &results],
        &["archive", &results],
    ] {
        let output = by(NOBODY, arguments);
        let told = text(&output.stderr) + &text(&output.stdout);
        assert!(
            !output.status.success() && !told.contains("secret\""),
            "{arguments:?}: {told}"
        );
    }
    assert!(
        by(NOBODY, &["list", "measures"]).status.success()
            && by_root(&["explain", "pdv"]).status.success()
    );
}

/// Returns the values of a line in the status of each thread of a process.
fn of_threads(process: u32, line: &str) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let states = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    let value = |state: String| {
        state
            .lines()
            .find_map(|found| found.strip_prefix(line))
            .map(|value| value.trim().to_owned())
    };
    states.filter_map(value).collect()
}

#[test]
fn the_authority_is_nobody_once_it_listens_also_at_a_port_of_root() {
    let _guard = ONE_AT_A_TIME.lock();
    // In a namespace, no other process has the port.
    let host = Namespace::new(&Shell::new(), &name("nobody", "host")).expect("root");
    let mut command = with_environment(Command::new("ip"));
    command.args(["netns", "exec", host.name(), env!("CARGO_BIN_EXE_sixbench")]);
    command
        .args(["authority", "--listen", "[::1]:911", "--threads", "2"])
        .env_remove("SUDO_UID");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sixbench");
    let process = child.id();
    let is_nobody = || {
        let users = of_threads(process, "Uid:");
        users.len() > 1
            && users.iter().all(|users| {
                users
                    .split_whitespace()
                    .all(|user| user == NOBODY.to_string())
            })
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_nobody()
        && child.try_wait().expect("a state").is_none()
        && std::time::Instant::now() < end
    {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (users, privileges) = (of_threads(process, "Uid:"), of_threads(process, "CapEff:"));
    signal(&child, "INT");
    let ended = child.wait_with_output().expect("ended");
    assert!(
        users.len() > 1
            && users
                .iter()
                .all(|users| users.starts_with("65534\t65534\t65534")),
        "{users:?} {ended:?}"
    );
    assert!(
        privileges.iter().all(|set| set == "0000000000000000"),
        "{privileges:?}"
    );
}

#[test]
fn a_zone_file_is_written_by_nobody() {
    // More than the pipe takes: it waits until somebody reads.
    let mut command = sixbench(&["authority", "--zone-file", "10.0.0.0/16"]);
    let mut child = command
        .env_remove("SUDO_UID")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sixbench");
    let mut zone = BufReader::new(child.stdout.take().expect("its output"));
    let mut line = String::new();
    zone.read_line(&mut line).expect("a line");
    let (users, privileges) = (
        of_threads(child.id(), "Uid:"),
        of_threads(child.id(), "CapPrm:"),
    );
    let rest = zone.lines().map_while(Result::ok).count();
    assert!(
        child.wait().expect("its end").success() && rest >= 65_536,
        "{rest}"
    );
    assert!(
        !users.is_empty()
            && users
                .iter()
                .all(|users| users.starts_with("65534\t65534\t65534")),
        "{users:?}"
    );
    assert!(
        privileges.iter().all(|set| set == "0000000000000000"),
        "{privileges:?}"
    );
}

fn has_none_after_a_moment(has_none: &impl Fn() -> bool) -> bool {
    std::thread::sleep(std::time::Duration::from_millis(30));
    has_none()
}

#[test]
fn the_threads_of_a_trial_have_no_privilege_while_the_one_that_undoes_it_keeps_its_own() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut child = start(&["trial", "linux-ipv4", "--rate", "1k", "--for", "60s"]);
    let process = child.id();
    let sets = || of_threads(process, "CapPrm:");
    let has_none = || sets().iter().any(|set| set == "0000000000000000");
    // This must last, and not just come from the thread that checks before the trial what threads may do.
    let lasts = || has_none() && (0..10).all(|_| has_none_after_a_moment(&has_none));
    wait_until(&mut child, "thread without privileges", lasts);
    assert!(
        sets().iter().any(|set| set != "0000000000000000"),
        "its namespaces have to be removed"
    );
    signal(&child, "INT");
    let ended = child.wait_with_output().expect("ended");
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    assert!(crate::common::namespaces_of(process).is_empty());
}
