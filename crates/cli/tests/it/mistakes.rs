//! Mistakes of users, and what the system does to a run: each is told with its line or its cause, and with what to do next. These tests need root;
//! without it they fail, they do not skip.

use crate::common::plans::{self, KERNEL};
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, namespaces_of, output, records, start, text,
    until_the_first_trial, with_environment,
};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

fn refused(output: &Output, code: i32, words: &[&str]) {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    for word in words {
        assert!(error.contains(word), "{word}: {error}");
    }
}

#[test]
fn a_user_without_rights_is_told_so_and_what_to_do() {
    let scratch = Scratch::new("no-rights");
    for directory in ["closed", "lab/linux-1"] {
        fs::create_dir_all(scratch.path(directory)).expect("a directory");
    }
    fs::set_permissions(scratch.path("closed"), fs::Permissions::from_mode(0o700)).expect("own");
    // The program itself may be where only root can run it.
    let program = scratch.path("sixbench");
    fs::copy(env!("CARGO_BIN_EXE_sixbench"), &program).expect("the program");
    let as_nobody = |arguments: &[&str]| {
        let mut command = with_environment(Command::new(&program));
        command
            .args(arguments)
            .uid(65_534)
            .gid(65_534)
            .output()
            .expect("sixbench")
    };
    let dir = scratch.path("lab");
    let rights = [
        "Permission denied",
        "this user may not write there: use sudo",
        "--dir DIR",
    ];
    refused(&as_nobody(&["lab", "clean", "--dir", &dir]), 3, &rights);
    let error = as_nobody(&["report", &scratch.path("closed")]);
    refused(
        &error,
        2,
        &[
            "closed",
            "this user may not read it: call sixbench as its owner",
        ],
    );
    assert!(
        !text(&error.stderr).contains("runs are in results/"),
        "{}",
        text(&error.stderr)
    );
}

/// The lines of a plan with one test, without its device.
const TEST: &str = "name = \"x\"\n[[test]]\nname = \"a\"\n";

/// Each line of a test or a table that is a mistake, with the line of the plan and what is said.
const MISTAKES: [(&str, &str, &[&str]); 12] = [
    (
        "",
        "measure = \"dns64\"\nframe-sizes = [84]\n",
        &[
            "plan.toml:5:11",
            "linux-ipv4 is no DNS64 server: its technology is ",
            "has a mistake; nothing was touched",
        ],
    ),
    (
        "",
        "connections = 100\n",
        &["plan.toml:5:15", "keeps no connections"],
    ),
    (
        "",
        "measure = \"table-capacity\"\n",
        &["plan.toml:4:7", "keeps no connections"],
    ),
    (
        "",
        "measure = \"dns64\"\n",
        &["plan.toml:5:11", "does not fit recipe linux-ipv4"],
    ),
    (
        "recipes = [\"nosuch\"]\n",
        "",
        &[
            "plan.toml:1:11",
            "there is no directory",
            "relative to the plan file",
        ],
    ),
    (
        "",
        "[search]\nmaximum = \"999G\"\n",
        &["plan.toml:6:11", "between 1 and 1000M"],
    ),
    (
        "",
        "[search]\nloss-goals = 0.1\n",
        &["plan.toml:6:14", "0.1%", "10%", "with its `%`"],
    ),
    (
        "",
        "[search]\nwidth = 1\n",
        &["plan.toml:6:9", "1% or as 100%"],
    ),
    (
        "",
        "background = 0.5\n",
        &["plan.toml:5:14", "0.5% or as 50%"],
    ),
    (
        "",
        "[testbed]\ntester-cores = [0, 0]\n",
        &["plan.toml:6:16", "core 0 is named twice"],
    ),
    (
        "",
        "[testbed]\ndut-cores = [4000]\n",
        &["plan.toml:6:13", "core 4000 is not among the cores"],
    ),
    (
        "",
        "[testbed]\nhost = \"ssh:dut\"\nssh-config = \"nosuch\"\nleft = \"e0\"\nright = \"e1\"\ndut-left = \"a\"\ndut-right = \"b\"\n",
        &["plan.toml:7:14", "cannot read nosuch: No such file"],
    ),
];

/// Trials that no machine has the memory for: the lines of a test, and what is said of them.
const TOO_LARGE: [(&str, &[&str]); 2] = [
    (
        "dut = \"linux-ipv6\"\nmeasure = \"response-time\"\nrate-per-client = \"1k\"\noutstanding = 4000000000\n",
        &[
            "plan.toml:7:15",
            "outstanding = 4000000000",
            "lower `outstanding`",
        ],
    ),
    (
        "dut = \"linux-ipv4\"\n[search]\nmaximum = \"100M\"\n[trial]\nduration = \"1440min\"\n",
        &[
            "plan.toml:6:11",
            "MiB of the tester's memory",
            "lower `maximum` of [search]",
        ],
    ),
];

#[test]
fn a_trial_that_no_memory_holds_is_refused_at_the_line_of_the_setting_to_lower() {
    let scratch = Scratch::new("too-large");
    for (lines, words) in TOO_LARGE {
        let plan = scratch.write("plan.toml", &format!("{TEST}{lines}"));
        let results = scratch.path("results");
        refused(&output(&["run", &plan, "-o", &results]), 2, words);
        assert!(!std::path::Path::new(&results).exists());
    }
}

#[test]
fn each_mistake_in_a_plan_has_its_line() {
    let scratch = Scratch::new("mistakes");
    for (before, after, words) in MISTAKES {
        let plan = scratch.write(
            "plan.toml",
            &format!("{before}{TEST}dut = \"linux-ipv4\"\n{after}"),
        );
        refused(&output(&["check", &plan]), 2, words);
    }
}

#[test]
fn a_plan_in_another_encoding_or_language_is_told_as_such() {
    let scratch = Scratch::new("encodings");
    let (path, told) = (scratch.path("plan.toml"), |words: &[&str]| {
        refused(&output(&["check", &scratch.path("plan.toml")]), 2, words);
    });
    let units: Vec<u8> = [0xfeff_u16]
        .into_iter()
        .chain(TEST.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(&path, units).expect("a file");
    told(&["in UTF-16", "iconv -f UTF-16 -t UTF-8"]);
    fs::write(&path, [TEST.as_bytes(), b"title = \"caf\xe9\"\n"].concat()).expect("a file");
    told(&["plan.toml:4:13", "0xe9", "iconv -f LATIN1"]);
    fs::write(&path, "{\"name\": \"x\"}\n").expect("a file");
    told(&[
        "plan.toml:1:1",
        "this is JSON, but a plan is TOML",
        "in the syntax of TOML",
    ]);
    fs::write(&path, "# a plan\nname: x\ntests:\n  - name: a\n").expect("a file");
    told(&["plan.toml:2:1", "this is YAML", "has a mistake;"]);
    refused(
        &output(&["run", "/tmp"]),
        2,
        &["Is a directory", "a plan is a TOML file"],
    );
    refused(
        &output(&["trial", "linux-ipv4", "--rate", "-5"]),
        2,
        &["between 1 and 1000M frames per second, not `-5`"],
    );
}

#[test]
fn files_that_sixbench_has_not_written_are_not_replaced() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("own-files");
    let plan = scratch.write("plan.toml", KERNEL);
    let results = scratch.path("results");
    assert_ran(&output(&["run", &plan, "-o", &results]));
    scratch.write("mine/plan.toml", "MINE");
    let mine = scratch.path("mine");
    for command in [
        &["merge", &results, "-o", &mine][..],
        &["run", &plan, "-o", &mine],
        &["quickstart", "-o", &mine],
    ] {
        refused(
            &output(command),
            2,
            &[
                "is neither empty nor a results directory: it contains plan.toml",
                "choose another with -o",
            ],
        );
    }
    assert_eq!(fs::read_dir(&mine).expect("a directory").count(), 1);
    assert_eq!(
        fs::read_to_string(Path::new(&mine).join("plan.toml")).expect("a file"),
        "MINE"
    );
    // An empty directory, such as a mounted one, is used as it is.
    let merged = scratch.path("merged");
    fs::create_dir(&merged).expect("a directory");
    let said = output(&["merge", &results, "-o", &merged]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    assert_eq!(records(&merged), records(&results));
    refused(
        &output(&["merge", &results, "-o", &merged]),
        2,
        &["already holds results; choose another directory with -o"],
    );
}

#[test]
fn every_file_that_the_user_names_is_left_as_it_is_if_sixbench_has_not_written_it() {
    let scratch = Scratch::new("own-places");
    let kept = [
        "pcap/left.pcap",
        "man/sixbench-run.1",
        "page.html",
        "comment.md",
        "answers.csv",
    ];
    let [_, _, page, comment, csv] = kept.map(|name| scratch.write(name, "MINE"));
    let (pcap, man) = (scratch.path("pcap"), scratch.path("man"));
    for command in [
        &[
            "trial",
            "linux-ipv4",
            "--rate",
            "1k",
            "--for",
            "20ms",
            "--pcap",
            &pcap,
        ][..],
        &["man", &man],
        &["compare", "linux-ipv4", "linux-ipv6", "--page", &page],
        &["compare", "linux-ipv4", "linux-ipv6", "--page", &comment],
        &["dns64", "::1", "--csv", &csv],
    ] {
        refused(
            &output(command),
            2,
            &["is there, and sixbench has not written it; it is left as it is; name another file"],
        );
    }
    for name in kept {
        assert_eq!(
            fs::read_to_string(scratch.path(name)).expect("a file"),
            "MINE",
            "{name}"
        );
    }
    assert_eq!(
        [&pcap, &man].map(|folder| fs::read_dir(folder).expect("a directory").count()),
        [1, 1]
    );
    // Pages of ours are written again, as after an update.
    fs::remove_file(scratch.path(kept[1])).expect("removed");
    for _ in 0..2 {
        let written = output(&["man", &man]);
        assert!(written.status.success(), "{}", text(&written.stderr));
    }
    assert!(
        fs::read_to_string(scratch.path(kept[1]))
            .expect("a page")
            .contains(".SH SYNOPSIS")
    );
}

#[test]
fn results_that_are_removed_or_moved_while_the_run_goes_on_end_it() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("displaced");
    let plan = scratch.write("plan.toml", &plans::that_lasts(KERNEL));
    let ended = |change: &dyn Fn(&Path)| {
        let results = scratch.path("results");
        let mut child = start(&["run", &plan, "-o", &results]);
        until_the_first_trial(&mut child, &results);
        change(Path::new(&results));
        let output = child.wait_with_output().expect("its end");
        let left = text(&output.stdout) + &text(&output.stderr);
        assert!(
            !left.contains("are kept in") && !left.contains("numbers "),
            "{left}"
        );
        let _ = fs::remove_dir_all(&results);
        output
    };
    let lost =
        ["results/trials.jsonl was removed while the run wrote to it, so its trials are lost"];
    refused(
        &ended(&|results| fs::remove_file(results.join("trials.jsonl")).expect("removed")),
        1,
        &lost,
    );
    refused(
        &ended(&|results| while fs::remove_dir_all(results).is_err() {}),
        1,
        &lost,
    );
    let moved = scratch.path("moved");
    let output = ended(&|results| {
        fs::rename(results, &moved).expect("moved");
        fs::create_dir(results).expect("another in its place");
    });
    refused(
        &output,
        1,
        &[
            &format!("was moved to {moved} while"),
            "continue with: ",
            &format!("sixbench run --resume {moved}"),
        ],
    );
    assert!(!records(&moved).is_empty());
}

#[test]
fn limits_of_the_process_are_errors_and_not_its_end() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("limits");
    let plan = scratch.write("plan.toml", KERNEL);
    let limited = |limit: &str, results: &str| {
        let mut command = with_environment(Command::new("bash"));
        let script = format!("ulimit {limit}; exec \"$0\" run \"$1\" -o \"$2\"");
        command.args([
            "-c",
            &script,
            env!("CARGO_BIN_EXE_sixbench"),
            &plan,
            &scratch.path(results),
        ]);
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("bash");
        let process = child.id();
        let output = child.wait_with_output().expect("its end");
        assert!(
            namespaces_of(process).is_empty(),
            "{}",
            text(&output.stderr)
        );
        output
    };
    refused(
        &limited("-v 400000", "memory"),
        2,
        &["ulimit -v", "but the tester needs 512 MiB"],
    );
    refused(
        &limited("-f 8", "size"),
        1,
        &["File too large", "ulimit -f"],
    );
}

#[test]
fn a_directory_that_was_removed_or_has_no_text_as_its_name_is_told_as_such() {
    use std::os::unix::ffi::OsStrExt as _;
    let scratch = Scratch::new("no-directory");
    let plan = scratch.write("plan.toml", KERNEL);
    let mut command = with_environment(Command::new("sh"));
    let script = format!(
        "mkdir '{0}'; cd '{0}'; rmdir '{0}'; exec \"$0\" run \"$1\" -o results",
        scratch.path("gone")
    );
    command.args(["-c", &script, env!("CARGO_BIN_EXE_sixbench"), &plan]);
    refused(
        &command.output().expect("sh"),
        2,
        &[
            "the working directory was removed",
            "change to another directory",
        ],
    );
    let mut command = crate::common::sixbench(&["run", &plan, "-o"]);
    command.arg(std::ffi::OsStr::from_bytes(b"res\xff"));
    refused(&command.output().expect("sixbench"), 2, &["must be UTF-8"]);
}
