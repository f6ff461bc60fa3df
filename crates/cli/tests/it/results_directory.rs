//! The results directory on the command line: what is refused, what remains, who owns it, and that its resolved plan is a valid plan.

use crate::common::plans::{KERNEL, settings};
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, namespaces_of, output, router, sixbench, start, text,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

fn refused(arguments: &[&str], reason: &str) {
    let output = output(arguments);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(error.contains(reason), "{arguments:?}: {error}");
    assert!(
        error
            .lines()
            .filter(|line| line.starts_with("error: "))
            .count()
            >= 1,
        "{arguments:?}: {error}"
    );
}

#[test]
fn what_is_no_results_directory_is_a_usage_error() {
    let scratch = Scratch::new("usage");
    let (plan, file) = (
        scratch.write("plan.toml", KERNEL),
        scratch.write("file", "x"),
    );
    scratch.write("results/trials.jsonl", "{}\n");
    refused(
        &["run", &plan, "-o", &scratch.path("results")],
        "already holds results; choose another directory",
    );
    scratch.write("results/trials.jsonl", "");
    refused(
        &["run", &plan, "-o", &file],
        "cannot create the results directory",
    );
    refused(
        &["run", &plan, "-o", &format!("{file}/below")],
        "cannot create the results directory",
    );
    for missing in [
        scratch.path("missing"),
        scratch.path("results"),
        file.clone(),
    ] {
        refused(
            &["run", "--resume", &missing],
            "is not the directory of an interrupted run",
        );
        refused(
            &["quickstart", "--resume", &missing],
            "is not the directory of an interrupted run",
        );
        refused(&["report", &missing], "is not a results directory");
    }
    assert!(
        !Path::new(&scratch.path("missing")).exists(),
        "nothing is made where nothing was"
    );
    refused(&["run", &scratch.path("results")], "Is a directory");
    refused(
        &["compare", &scratch.path("missing"), "linux-ipv4"],
        "missing holds no results",
    );
    refused(
        &["compare", "linux-ipv4", &scratch.path("missing")],
        "missing holds no results",
    );
    refused(
        &["compare", &scratch.path("results"), "nothing"],
        "results holds no results",
    );
    refused(
        &["check", &plan, "--recipes", &scratch.path("missing")],
        "cannot read the recipes in",
    );
    refused(
        &["trial", "linux-ipv4", "--rate", "1k", "--pcap", &file],
        "cannot create this directory",
    );
}

#[test]
fn what_is_not_there_is_told_with_what_to_do_next() {
    let scratch = Scratch::new("next");
    let (plan, missing) = (scratch.write("plan.toml", KERNEL), scratch.path("missing"));
    refused(&["run", &missing], "; ready plans: sixbench list plans");
    refused(
        &["run", "tayga-siit"],
        "tayga-siit is a device, not a plan: measure it once with `sixbench trial tayga-siit --rate 10k`",
    );
    refused(
        &["explain", "nosuchword"],
        "no explanation of `nosuchword`; `sixbench explain` lists all",
    );
    refused(
        &["run", "quickstrat"],
        "; did you mean `quickstart`? (sixbench list plans)",
    );
    for words in [["report", missing.as_str()], ["live", missing.as_str()]] {
        refused(
            &words,
            "; runs are in results/ unless -o named another place",
        );
    }
    refused(
        &["run", "--resume", &missing],
        "; runs are in results/ unless -o named another place",
    );
    refused(
        &["check", &plan, "--recipes", &missing],
        "; name one with recipes in TOML (--recipes DIR, or `recipes` in the plan)",
    );
    refused(
        &["man", "/proc/no-such-directory"],
        "; choose another directory",
    );
}

#[test]
fn command_lines_that_could_measure_nothing_are_refused_with_what_would() {
    let trial = ["trial", "linux-ipv4", "--rate"];
    let with = |more: &[&'static str]| trial.iter().chain(more).copied().collect::<Vec<_>>();
    refused(
        &with(&["10", "--for", "0s"]),
        "no frame would be sent: raise --rate or --for",
    );
    refused(
        &with(&["1", "--for", "1ms"]),
        "no frame would be sent: raise --rate or --for",
    );
    refused(
        &with(&["10", "--background", "200%"]),
        "'--background <BACKGROUND>': a share is at most 100%",
    );
    refused(
        &["compare", "linux-ipv4", "linux-ipv6", "--repetitions", "0"],
        "0 is not in 1..=1000",
    );
    refused(&["dns64", "localhost"], "names are not resolved");
    refused(
        &["authority", "--listen", "192.0.2.1"],
        "an address and a port such as [::1]:5300",
    );
    refused(&["list"], "<duts|measures|plans|traffic>");
    refused(
        &["lab", "build", "--jool", "/no/such/source"],
        "nothing was installed",
    );
    refused(
        &["lab", "build", "--vpp", "/no/such/source"],
        "nothing was installed",
    );
}

#[test]
fn what_the_machines_of_the_lab_may_do_is_told_before_it_is_built() {
    let scratch = Scratch::new("caution");
    // Nothing can be built or installed in a directory below a file.
    let below_a_file = scratch.write("file", "x") + "/below";
    let output = output(&["lab", "build", "--dir", &below_a_file]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.starts_with("note: the lab's machines have root access to this machine's files"),
        "{said}"
    );
    assert!(said.contains("\nerror: "), "{said}");
}

#[test]
fn a_trial_that_takes_more_memory_than_there_is_is_refused_before_anything_is_set_up() {
    let sixbench = |arguments: &[&str]| {
        let _guard = ONE_AT_A_TIME.lock();
        let child = start(arguments);
        let process = child.id();
        let output = child.wait_with_output().expect("sixbench");
        assert_eq!(
            namespaces_of(process),
            Vec::<String>::new(),
            "{arguments:?}"
        );
        (output.status.code(), text(&output.stderr))
    };
    // 400 GiB: the memory for a day at a rate that a sender may reach.
    let (code, said) = sixbench(&["trial", "linux-ipv4", "--rate", "20M", "--for", "1440m"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.starts_with("error: a trial at 20.000M/s for 86400s takes "),
        "{said}"
    );
    assert!(
        said.ends_with(" are available; lower --rate or --for\n"),
        "{said}"
    );
    // No sender reaches this rate: the tester gives up, or the trial is refused on a machine with little memory.
    let (code, said) = sixbench(&["trial", "linux-ipv4", "--rate", "1000M", "--for", "1440m"]);
    assert!(
        code == Some(4) || code == Some(2) && said.contains("lower --rate or --for"),
        "{code:?}: {said}"
    );
}

#[test]
fn a_ready_plan_needs_no_file_and_it_is_said_that_it_is_none() {
    let scratch = Scratch::new("ready");
    let run = |arguments: &[&str]| {
        sixbench(arguments)
            .current_dir(&scratch.0)
            .output()
            .expect("sixbench")
    };
    for name in [
        "quickstart",
        "plans/quickstart.toml",
        "plans/siitperf-paper-table9-10",
    ] {
        let checked = run(&["check", name]);
        assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
        assert!(
            text(&checked.stderr).contains(&format!("note: there is no file {name}; using plans/"))
        );
        assert!(text(&run(&["plan", name]).stdout).contains(" measurements, "));
    }
    let typo = run(&["run", "quickstrat.toml"]);
    assert_eq!(typo.status.code(), Some(2));
    assert!(
        text(&typo.stderr).contains("did you mean `quickstart`? (sixbench list plans)"),
        "{}",
        text(&typo.stderr)
    );
    // A file of that name takes precedence.
    scratch.write("quickstart", KERNEL);
    let own = run(&["check", "quickstart"]);
    assert_eq!(
        (text(&own.stdout), text(&own.stderr)),
        (
            "quickstart: good (1 test, 1 point)\n".to_owned(),
            String::new()
        )
    );
}

#[test]
fn a_resolved_plan_can_be_checked_shown_and_run() {
    let scratch = Scratch::new("resolved");
    let plan = scratch.write("plan.toml", KERNEL);
    assert_ran(&output(&["run", &plan, "-o", &scratch.path("first")]));
    let resolved = scratch.path("first/resolved.toml");
    assert!(
        text(&output(&["check", &resolved]).stdout)
            .ends_with("resolved.toml: good (1 test, 1 point)\n")
    );
    assert_eq!(
        output(&["plan", &resolved]).stdout,
        output(&["plan", &plan]).stdout
    );
    assert_ran(&output(&["run", &resolved, "-o", &scratch.path("second")]));
    let plan_of = |path: &str| {
        let text = fs::read_to_string(path).expect("a resolved plan");
        text.lines()
            .filter(|line| !line.starts_with("plan-digest"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        plan_of(&resolved),
        plan_of(&scratch.path("second/resolved.toml"))
    );
}

#[test]
fn a_run_is_not_resumed_where_its_plan_file_is_gone_or_another() {
    let scratch = Scratch::new("resume");
    let plan = scratch.write("plan.toml", KERNEL);
    let results = scratch.path("results");
    assert_ran(&output(&["run", &plan, "-o", &results]));
    let trials = fs::read(scratch.path("results/trials.jsonl")).expect("trials");
    // An incomplete last line is cut off when the run is resumed.
    let torn = &trials[..trials.len() - 9];
    fs::write(scratch.path("results/trials.jsonl"), torn).expect("a torn line");
    let other = KERNEL.to_owned() + "[testbed]\nleft = \"e0\"\nright = \"e1\"\n";
    for changed in ["", &other] {
        scratch.write("results/plan.toml", changed);
        refused(
            &["run", "--resume", &results],
            "plan.toml has changed since the run began",
        );
    }
    fs::remove_file(scratch.path("results/plan.toml")).expect("removed");
    refused(
        &["run", "--resume", &results],
        "plan.toml, which says where the run took place",
    );
    assert_eq!(
        fs::read(scratch.path("results/trials.jsonl")).expect("trials"),
        torn,
        "nothing was touched"
    );
    scratch.write("results/plan.toml", KERNEL);
    assert_ran(&output(&["run", "--resume", &results]));
}

#[test]
fn a_run_on_interfaces_that_are_gone_is_not_resumed() {
    let scratch = Scratch::new("gone");
    let plan = scratch.write("plan.toml", KERNEL);
    let results = scratch.path("results");
    assert_ran(&output(&["run", &plan, "-o", &results]));
    let links = "[testbed]\nleft = \"sb-gone0\"\nright = \"sb-gone1\"\n";
    scratch.write("results/plan.toml", &format!("{KERNEL}{links}"));
    // As written by an earlier version: without a digest.
    let resolved = fs::read_to_string(scratch.path("results/resolved.toml")).expect("a plan");
    let earlier: String = resolved
        .lines()
        .filter(|line| !line.starts_with("plan-digest"))
        .map(|line| format!("{line}\n"))
        .collect();
    scratch.write("results/resolved.toml", &earlier);
    let output = output(&["run", "--resume", &results]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("interface sb-gone0 does not exist"),
        "{}",
        text(&output.stderr)
    );
}

/// Returns the directory and all files in it that do not belong to this user.
fn not_of(user: u32, directory: &Path) -> Vec<String> {
    let mut others = Vec::new();
    if fs::symlink_metadata(directory).expect("metadata").uid() != user {
        others.push(directory.display().to_string());
    }
    if directory.is_dir() {
        fs::read_dir(directory)
            .expect("entries")
            .for_each(|e| others.extend(not_of(user, &e.expect("an entry").path())));
    }
    others
}

#[test]
fn with_sudo_everything_a_run_leaves_belongs_to_the_user() {
    let scratch = Scratch::new("sudo");
    let plan = scratch.write("plan.toml", KERNEL);
    let results = scratch.path("new/results");
    let run = |arguments: &[&str]| {
        let mut command = sixbench(arguments);
        command
            .env("SUDO_UID", "65534")
            .env("SUDO_GID", "65534")
            .output()
            .expect("sixbench")
    };
    assert_ran(&run(&["run", &plan, "-o", &results]));
    assert_eq!(
        not_of(65_534, Path::new(&scratch.path("new"))),
        Vec::<String>::new()
    );
    assert_eq!(
        fs::metadata(&scratch.0).expect("metadata").uid(),
        0,
        "what was there stays whose it was"
    );
    fs::remove_file(scratch.path("new/results/report.html")).expect("removed");
    run(&["report", &results]);
    assert_eq!(not_of(65_534, Path::new(&results)), Vec::<String>::new());
    let pcap = scratch.path("pcap");
    assert_ran(&run(&[
        "trial",
        "linux-ipv4",
        "--rate",
        "1k",
        "--for",
        "20ms",
        "--pcap",
        &pcap,
    ]));
    assert_eq!(not_of(65_534, Path::new(&pcap)), Vec::<String>::new());
}

#[test]
fn a_device_that_cannot_be_set_up_leaves_an_error_and_no_summary_of_nothing() {
    let scratch = Scratch::new("setup");
    let setup = "[[setup]]\nrun = \"false\"\n";
    scratch.write(
        "recipes/broken.toml",
        &router("broken", "a device that cannot be set up", setup),
    );
    let plan = scratch.write(
        "plan.toml",
        &format!(
            "recipes = [\"recipes\"]\n{}",
            KERNEL.replace("linux-ipv4", "broken")
        ),
    );
    let run = output(&[
        "run",
        &plan,
        "--trust-recipes",
        "-o",
        &scratch.path("results"),
    ]);
    let error = text(&run.stderr);
    let told = "exit 3: testbed could not be built, or a part of it failed\n".to_owned();
    assert_eq!(
        (run.status.code(), text(&run.stdout)),
        (Some(3), told),
        "{error}"
    );
    assert!(
        error.contains("error: ")
            && error.contains("nothing was measured; the plan and the commands"),
        "{error}"
    );
    assert!(
        error.contains("sixbench run --resume") && !error.contains("interrupted"),
        "{error}"
    );
    let again = text(&output(&["report", &scratch.path("results")]).stdout);
    assert!(
        again.contains("The set-up of broken failed") && !again.contains("interrupted"),
        "{again}"
    );
    fs::write(
        Path::new(&scratch.path("results")).join("facts.json"),
        "{\"sixbench\":\"0\",\"host\":{}}",
    )
    .expect("written");
    refused(
        &["report", &scratch.path("results")],
        "holds no trial yet, so there is nothing to report",
    );
}

#[test]
fn a_device_is_set_up_anew_for_each_step_of_a_series_that_asks_for_it() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("fresh"));
    let set_up = |name: &str, line: &str| {
        let plan = format!(
            "name = \"fresh\"\n[trial]\npatience = \"0s\"\nduration = \"50ms\"\nresidual = \"20ms\"\nrest = \"0s\"\n[[test]]\nname = \"relay\"\n\
             dut = \"linux-ipv6\"\nmeasure = \"response-time\"\nrate-per-client = 200\nframe-sizes = [118]\nrepetitions = 2\nflows = [1, 2, 3]\n{line}"
        );
        let results = scratch.path(name);
        assert_ran(&output(&[
            "run",
            &scratch.write(&format!("{name}.toml"), &plan),
            "-o",
            &results,
        ]));
        let commands =
            fs::read_to_string(Path::new(&results).join("commands.sh")).expect("a transcript");
        commands.matches("the device: ").count()
    };
    assert_eq!(set_up("one", ""), 1);
    assert_eq!(set_up("anew", "fresh-device = true\n"), 3);
}

/// Searches that end in loss, with several repetitions, and delays with their distributions.
const LOSSY: &str = concat!(
    "name = \"again\"\n",
    settings!("50ms" + "20ms", "1k" to "8M", "50%"),
    r#"[[test]]
name = "kernel"
dut = "linux-ipv4"
frame-sizes = [84]
repetitions = 2
[[test]]
name = "delays"
dut = "linux-ipv4"
measure = "pdv"
rate = "1k"
duration = "100ms"
frame-sizes = [84]
repetitions = 2
"#
);

/// Returns the files in a directory and its subdirectories, each with its text.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path());
    let of = |path: std::path::PathBuf| {
        if path.is_dir() {
            files(&path)
        } else {
            BTreeMap::from([(
                path.display().to_string(),
                without_numbers(&text(&fs::read(&path).expect("a file"))),
            )])
        }
    };
    entries.flat_map(of).collect()
}

/// Removes the numbers that a process assigns to the parts of its figures, which continue with every figure it draws.
fn without_numbers(text: &str) -> String {
    let rest = |part: &str| {
        part.trim_start_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    };
    text.split("kuva-clip-")
        .map(rest)
        .collect::<Vec<_>>()
        .join("kuva-clip-")
}

/// The report at the end of a run is made from complete trials; one written later is made from trials with fewer details.
#[test]
fn a_report_that_is_written_again_is_the_one_that_the_run_wrote() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("again"));
    let everything = r#"exports = ["latex", "markdown", "svg", "junit", "benchmarks", "csv"]"#;
    let plan = scratch.write("plan.toml", &format!("{everything}\n{LOSSY}"));
    // Every page shows the minute in which it was made, so the two differ if a minute ends between them.
    let differing = |of: u32| {
        let results = scratch.path(&format!("results{of}"));
        assert_ran(&output(&["run", &plan, "-o", &results]));
        let before = files(Path::new(&results));
        assert!(output(&["report", &results]).status.success());
        let after = files(Path::new(&results));
        assert!(
            before.len() > 20 && before.keys().eq(after.keys()),
            "{:?}\n{:?}",
            before.keys(),
            after.keys()
        );
        before
            .keys()
            .filter(|name| before[*name] != after[*name])
            .cloned()
            .collect::<Vec<_>>()
    };
    let is_the_same = |of: u32| differing(of).is_empty();
    assert!((1..3).any(is_the_same) || differing(3) == [""; 0]);
}
