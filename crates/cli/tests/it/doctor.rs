//! `doctor` where a run cannot work: with places that cannot be written to, and in a user namespace. Needs root; without it these tests fail, they do
//! not skip.

use crate::common::{ONE_AT_A_TIME, Scratch, text, with_environment};
use std::process::{Command, Output};

/// Runs `doctor` in a mount namespace of its own, after these commands.
fn doctor_after(commands: &str) -> Output {
    let line = format!("{commands}; exec \"$0\" doctor");
    let mut command = with_environment(Command::new("unshare"));
    command.args([
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-ec",
        &line,
        env!("CARGO_BIN_EXE_sixbench"),
    ]);
    command.output().expect("unshare (needs root)")
}

/// Returns the line of the finding about a testbed, and the one that cures it.
fn found(output: &Output) -> (String, String) {
    let (words, errors) = (text(&output.stdout), text(&output.stderr));
    let mut lines = words
        .lines()
        .skip_while(|line| !line.contains("testbed can be built"));
    let finding = lines.next().unwrap_or_else(|| panic!("{words}{errors}"));
    (
        finding.to_owned(),
        lines.next().unwrap_or_default().to_owned(),
    )
}

#[test]
fn where_a_run_works_a_small_testbed_was_built_and_removed() {
    let _guard = ONE_AT_A_TIME.lock();
    let output = doctor_after("true");
    let (finding, _) = found(&output);
    assert!(
        finding.starts_with("ok       a testbed can be built"),
        "{finding}"
    );
    let left = std::fs::read_dir("/run/netns")
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    assert!(
        left.map(|entry| entry.file_name())
            .all(|name| !name.to_string_lossy().contains("-probe-"))
    );
}

#[test]
fn what_cannot_be_written_to_is_named_with_its_cure() {
    let _guard = ONE_AT_A_TIME.lock();
    let read_only =
        |path: &str| format!("mount --bind {path} {path} && mount -o remount,bind,ro {path}");
    for (commands, named, cure) in [
        (
            read_only("/proc/sys"),
            "/proc/sys is mounted read-only (sysctls of the device)",
            "--privileged",
        ),
        (
            read_only("/tmp"),
            "/tmp is mounted read-only (files of the device)",
            "--tmpfs /tmp:exec",
        ),
        (
            "mount -t tmpfs -o ro none /run".to_owned(),
            "/run is mounted read-only",
            "--tmpfs /run",
        ),
    ] {
        let output = doctor_after(&commands);
        let (finding, fix) = found(&output);
        assert!(
            finding.starts_with("BLOCKER  no testbed can be built: ") && finding.contains(named),
            "{commands}: {finding}"
        );
        assert!(
            fix.trim_start().starts_with("fix: ") && fix.contains(cure),
            "{commands}: {fix}"
        );
        assert_eq!(output.status.code(), Some(3), "{commands}");
    }
}

#[test]
fn a_narrow_terminal_breaks_findings_between_words_and_a_program_reads_objects() {
    let _guard = ONE_AT_A_TIME.lock();
    let examine = |options: &[&str], columns: &str| {
        let mut command = with_environment(Command::new(env!("CARGO_BIN_EXE_sixbench")));
        command.arg("doctor").args(options).env("COLUMNS", columns);
        text(&command.output().expect("sixbench").stdout)
    };
    let narrow = examine(&[], "60");
    let is_one_word = |line: &str| !line.trim_start().contains(' ');
    for line in narrow.lines() {
        assert!(
            line.chars().count() <= 60 || is_one_word(line),
            "{line}\n{narrow}"
        );
    }
    let objects: Vec<serde_json::Value> = examine(&["--json"], "60")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert!(!objects.is_empty());
    for finding in &objects {
        let is_ok = finding["severity"] == "ok";
        assert!(finding["what"].is_string(), "{finding}");
        assert!(is_ok || finding["fix"].is_string(), "{finding}");
    }
}

#[test]
fn root_of_a_user_namespace_is_not_taken_for_root() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut command = with_environment(Command::new("unshare"));
    let output = command
        .args([
            "--user",
            "--map-root-user",
            env!("CARGO_BIN_EXE_sixbench"),
            "doctor",
        ])
        .output()
        .expect("unshare");
    let (finding, fix) = found(&output);
    assert!(text(&output.stdout).starts_with("warning  running as root of a user namespace only"));
    assert!(
        finding.starts_with("BLOCKER") && finding.contains("this is root of a user namespace only"),
        "{finding}"
    );
    assert!(fix.contains("outside of the user namespace"), "{fix}");
}

/// Returns what a command of this machine prints.
fn printed(words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).output();
    text(&output.expect("a command").stdout)
}

/// Returns the addresses of this machine's interfaces, of both kinds, without those of the loopback interface.
fn addresses() -> Vec<String> {
    let links: serde_json::Value =
        serde_json::from_str(&printed(&["ip", "-j", "address"])).expect("JSON");
    let links = links.as_array().expect("links").iter();
    let of_link = links
        .filter(|link| link["ifname"] != "lo")
        .flat_map(|link| {
            let own = link["addr_info"].as_array().into_iter().flatten();
            let own = own.map(|address| address["local"].clone());
            own.chain([link["address"].clone()]).collect::<Vec<_>>()
        });
    of_link
        .filter_map(|address| address.as_str().map(str::to_owned))
        .collect()
}

#[test]
fn a_bundle_describes_the_machine_and_does_not_say_whose_it_is() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("bundle");
    let file = scratch.path("machine.tar.zst");
    let mut command = with_environment(Command::new("unshare"));
    let line = "hostname rack-b12.corp.example; exec \"$0\" doctor --bundle \"$1\"";
    command
        .args(["--uts", "sh", "-ec", line, env!("CARGO_BIN_EXE_sixbench")])
        .arg(&file)
        .env("SUDO_USER", "alice-of-the-lab");
    let output = command.output().expect("unshare (needs root)");
    let errors = text(&output.stderr);
    assert!(
        errors.contains(&format!(
            "wrote {file}; private values that were replaced: "
        )),
        "{errors}"
    );
    let all = printed(&["tar", "--zstd", "-xOf", &file]);
    for part in [
        "A machine as `sixbench doctor --bundle` found it.",
        "\"severity\":\"ok\"",
        "\nkernel: ",
        "\n/proc/cmdline:",
        "\n/proc/interrupts:",
        "\nethtool --version:",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let mut private = addresses();
    private.extend(["rack-b12", "corp.example", "alice-of-the-lab"].map(str::to_owned));
    let machine_id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    private.extend(Some(machine_id.trim().to_owned()).filter(|id| !id.is_empty()));
    assert!(private.len() > 3, "{private:?}");
    for value in private {
        assert!(
            !all.to_lowercase().contains(&value.to_lowercase()),
            "{value}"
        );
    }
    let names = printed(&["tar", "--zstd", "-tf", &file]);
    let expected = [
        "README.txt",
        "findings.jsonl",
        "facts.txt",
        "machine.txt",
        "more.txt",
    ];
    assert_eq!(
        names.lines().collect::<Vec<_>>(),
        expected.map(|name| format!("sixbench-doctor/{name}"))
    );
}

#[test]
fn a_bundle_replaces_nothing_and_its_place_is_looked_at_first() {
    let scratch = Scratch::new("bundle-place");
    let own = scratch.write("own.tar.zst", "mine");
    for (path, reason) in [
        (own.clone(), "own.tar.zst exists already; move it away"),
        (scratch.path("no/such.tar.zst"), "no/such.tar.zst"),
        (scratch.path("own.tar.zst/below"), "own.tar.zst/below"),
    ] {
        let mut command = with_environment(Command::new(env!("CARGO_BIN_EXE_sixbench")));
        let output = command.args(["doctor", "--bundle", &path]).output();
        let output = output.expect("sixbench");
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}: {errors}");
        assert!(errors.contains(reason), "{path}: {errors}");
        assert!(output.stdout.is_empty(), "nothing was examined");
    }
    assert_eq!(std::fs::read_to_string(own).expect("a file"), "mine");
}
