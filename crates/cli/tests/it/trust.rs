//! A plan is data, a recipe is code: code that comes with a plan or a results directory only runs if the user allows it. These tests need root (and
//! `script` of bsdutils); without it they fail, they do not skip.

use crate::common::plans::KERNEL;
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, facts, locks, namespaces_of, output, router, start, text,
};
use sixbench_testbed::Library;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A plan that brings a recipe; a command of the recipe leaves the file `ran` in the directory of the test.
struct Brought {
    scratch: Scratch,
    plan: String,
    recipe: String,
}

impl Brought {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let setup = format!("[[setup]]\nrun = \"touch {}\"\n", scratch.path("ran"));
        let recipe = scratch.write(
            "recipes/brought.toml",
            &router("brought", "brought along", &setup),
        );
        let plan = scratch.write(
            "plan.toml",
            &format!(
                "recipes = [\"recipes\"]\n{}",
                KERNEL.replace("linux-ipv4", "brought")
            ),
        );
        Self {
            scratch,
            plan,
            recipe,
        }
    }

    fn has_run(&self) -> bool {
        Path::new(&self.scratch.path("ran")).exists()
    }

    /// Returns the digest of the recipe from a program that shares no code with ours.
    fn digest(&self) -> String {
        let sum = Command::new("sha256sum")
            .arg(&self.recipe)
            .output()
            .expect("sha256sum");
        text(&sum.stdout)
            .split_whitespace()
            .next()
            .expect("a sum")
            .to_owned()
    }

    /// Asserts that a command was refused before it changed anything, with the file and how to proceed.
    fn assert_refused(&self, output: &Output, named: &[&str]) {
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        for word in named.iter().chain(&["root would run", "--trust-recipes"]) {
            assert!(error.contains(word), "{word}: {error}");
        }
        assert!(!self.has_run(), "{error}");
    }
}

#[test]
fn a_recipe_of_a_plan_is_run_only_if_the_user_says_so_and_the_report_has_its_digest() {
    let _guard = ONE_AT_A_TIME.lock();
    let brought = Brought::new("brought");
    let (scratch, digest) = (&brought.scratch, brought.digest());
    let results = scratch.path("results");
    let child = start(&["run", &brought.plan, "-o", &results]);
    let pid = child.id();
    brought.assert_refused(
        &child.wait_with_output().expect("ended"),
        &[&brought.recipe, &digest],
    );
    assert!(!Path::new(&results).exists() && namespaces_of(pid).is_empty());
    brought.assert_refused(
        &output(&["testbed", "up", &brought.plan]),
        &[&brought.recipe, &digest],
    );
    brought.assert_refused(
        &output(&["testbed", "up", &brought.plan, "--background"]),
        &[&brought.recipe, &digest],
    );
    brought.assert_refused(
        &output(&[
            "compare",
            "kernel",
            "kernel",
            "--plan",
            &brought.plan,
            "-o",
            &results,
        ]),
        &[&brought.recipe],
    );
    assert!(
        output(&["check", &brought.plan]).status.success()
            && output(&["plan", "--shell", &brought.plan]).status.success()
    );
    assert!(!brought.has_run());

    let run = output(&["run", &brought.plan, "--trust-recipes", "-o", &results]);
    assert_ran(&run);
    assert!(
        brought.has_run() && text(&run.stderr).contains(&digest),
        "{}",
        text(&run.stderr)
    );
    let file = serde_json::json!({ "of": "brought", "path": brought.recipe, "sha256": digest, "origin": "plan" });
    assert_eq!(facts(&results)["code"], serde_json::json!([file]));
    let page = fs::read_to_string(Path::new(&results).join("report.html")).expect("a page");
    assert!(
        page.contains(&digest) && page.contains("Files whose commands were run"),
        "{page}"
    );

    // The remaining directory may come from anyone, so its recipes count as those of a plan.
    fs::remove_file(scratch.path("ran")).expect("removed");
    let kept = Path::new(&results)
        .join("recipes/brought.toml")
        .display()
        .to_string();
    brought.assert_refused(&output(&["run", "--resume", &results]), &[&kept]);
    brought.assert_refused(&output(&["quickstart", "--resume", &results]), &[&kept]);
    let again = scratch.path("again");
    let resolved = Path::new(&results)
        .join("resolved.toml")
        .display()
        .to_string();
    brought.assert_refused(&output(&["run", &resolved, "-o", &again]), &[&kept]);
    assert_ran(&output(&["report", &results]));
    assert!(!brought.has_run());
}

#[test]
fn a_directory_that_the_command_line_names_is_trusted_and_so_is_a_copy_of_what_came_with_sixbench()
{
    let _guard = ONE_AT_A_TIME.lock();
    let brought = Brought::new("named");
    let (scratch, results) = (&brought.scratch, brought.scratch.path("results"));
    let plan = scratch.write("named.toml", &KERNEL.replace("linux-ipv4", "brought"));
    assert_ran(&output(&[
        "run",
        &plan,
        "--recipes",
        &scratch.path("recipes"),
        "-o",
        &results,
    ]));
    assert!(brought.has_run());
    assert_eq!(facts(&results)["code"][0]["origin"], "command-line");

    let (plan, results) = (scratch.write("kernel.toml", KERNEL), scratch.path("kernel"));
    assert_ran(&output(&["run", &plan, "-o", &results]));
    assert_eq!(facts(&results)["code"][0]["origin"], "built-in");
    let resolved = Path::new(&results)
        .join("resolved.toml")
        .display()
        .to_string();
    assert_ran(&output(&["run", &resolved, "-o", &scratch.path("again")]));
    assert_ran(&output(&["run", "--resume", &results]));
}

#[test]
fn a_device_that_a_plan_brings_along_is_told_where_it_is_one_of_a_row() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("trust-row");
    let library = Library::load::<&Path>(&[]).expect("recipes");
    let mut router = library.get("linux-ipv4-first").expect("a recipe").clone();
    router.title = "mine".to_owned();
    let recipe = scratch.write(
        "recipes/first.toml",
        &toml::to_string(&router).expect("a recipe"),
    );
    let row = KERNEL.replace("linux-ipv4", "linux-ipv4-row");
    let plan = scratch.write("plan.toml", &format!("recipes = [\"recipes\"]\n{row}"));
    let refused = output(&["run", &plan, "-o", &scratch.path("results")]);
    let error = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(
        error.contains(&recipe) && error.contains("--trust-recipes"),
        "{error}"
    );
}

#[test]
fn a_person_at_the_terminal_is_asked() {
    let _guard = ONE_AT_A_TIME.lock();
    let brought = Brought::new("asked");
    // A simulated terminal in which a user types `word`.
    let typed = |word: &str, results: &str| {
        let line = format!(
            "{} run {} -o {results}",
            env!("CARGO_BIN_EXE_sixbench"),
            brought.plan
        );
        let script = format!("printf '{word}\\n' | script -qec '{line}' /dev/null");
        Command::new("sh")
            .args(["-c", &script])
            .output()
            .expect("sh")
    };
    let refused = typed("no", &brought.scratch.path("no"));
    let told = text(&refused.stdout);
    assert!(
        told.contains("run them? [y/N]") && told.contains(&brought.digest()),
        "{told}"
    );
    assert_eq!(
        (refused.status.code(), brought.has_run()),
        (Some(2), false),
        "{told}"
    );
    let agreed = typed("yes", &brought.scratch.path("yes"));
    assert_ran(&agreed);
    assert!(brought.has_run(), "{}", text(&agreed.stdout));
}

#[test]
fn a_configuration_of_ssh_that_a_plan_names_is_code_too() {
    let _guard = ONE_AT_A_TIME.lock();
    let brought = Brought::new("ssh-config");
    let scratch = &brought.scratch;
    let config = scratch.write(
        "config",
        &format!("Host dut\n  ProxyCommand touch {}\n", scratch.path("ran")),
    );
    let plan = plan_with_config(&brought, &config);
    brought.assert_refused(
        &output(&["run", &plan, "-o", &scratch.path("results")]),
        &[&config],
    );
    assert!(output(&["plan", "--shell", &plan]).status.success() && !brought.has_run());
}

/// Runs a command at a terminal of its own. Once it asks, `meanwhile` happens, and then somebody says yes. Returns its exit code and all that it said.
fn agreed_at_terminal(command: &str, meanwhile: impl FnOnce()) -> (Option<i32>, String) {
    let line = format!("{} {command}", env!("CARGO_BIN_EXE_sixbench"));
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .envs([locks()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = script.spawn().expect("script");
    let (mut typed, mut shown) = (
        child.stdin.take().expect("its input"),
        child.stdout.take().expect("its output"),
    );
    let (mut told, mut octet) = (Vec::new(), [0]);
    while !told.ends_with(b"run them? [y/N] ") && shown.read(&mut octet).expect("its output") > 0 {
        told.push(octet[0]);
    }
    meanwhile();
    typed.write_all(b"y\n").expect("it asks");
    shown.read_to_end(&mut told).expect("its output");
    drop(typed);
    (child.wait().expect("its end").code(), text(&told))
}

#[test]
fn a_testbed_in_the_background_runs_what_was_agreed_to_and_not_what_the_file_has_become() {
    let _guard = ONE_AT_A_TIME.lock();
    let brought = Brought::new("swapped");
    let swapped = fs::read_to_string(&brought.recipe).expect("a recipe");
    fs::write(
        &brought.recipe,
        router("brought", "brought along", "[[setup]]\nrun = \"true\"\n"),
    )
    .expect("a recipe");
    let agreed = brought.digest();
    let command = format!("testbed up {} --background", brought.plan);
    let (code, told) = agreed_at_terminal(&command, || {
        fs::write(&brought.recipe, &swapped).expect("a recipe");
    });
    assert_eq!((code, brought.has_run()), (Some(2), false), "{told}");
    assert!(
        told.contains(&agreed) && told.contains(&brought.digest()),
        "{told}"
    );
    // What has not changed is run, also where nobody is asked.
    for arguments in [
        &["--background", "--trust-recipes"][..],
        &["--trust-recipes", "--background"],
    ] {
        assert_ran(&output(
            &[&["testbed", "up", &brought.plan], arguments].concat(),
        ));
        assert!(brought.has_run());
        assert_ran(&output(&["testbed", "down", &brought.plan]));
        fs::remove_file(brought.scratch.path("ran")).expect("removed");
    }
}

/// A plan whose device is on another machine, by this configuration of ssh.
fn plan_with_config(brought: &Brought, config: &str) -> String {
    let testbed = format!(
        "[testbed]\nleft = \"sb-e0\"\nright = \"sb-e1\"\nhost = \"ssh:dut\"\ndut-left = \"e0\"\ndut-right = \"e1\"\nssh-config = \"{config}\"\n"
    );
    brought
        .scratch
        .write("away.toml", &(KERNEL.to_owned() + &testbed))
}

#[test]
fn ssh_reads_the_configuration_that_was_agreed_to_and_not_what_the_file_has_become() {
    let _guard = ONE_AT_A_TIME.lock();
    let brought = Brought::new("ssh-swapped");
    let seen = brought.scratch.path("seen");
    let config = brought.scratch.write(
        "config",
        &format!("Host dut\n  ProxyCommand touch {seen}\n"),
    );
    let command = format!(
        "run {} -o {}",
        plan_with_config(&brought, &config),
        brought.scratch.path("results")
    );
    let swapped = format!(
        "Host dut\n  ProxyCommand touch {}\n",
        brought.scratch.path("ran")
    );
    let (code, told) =
        agreed_at_terminal(&command, || fs::write(&config, &swapped).expect("a file"));
    assert_ne!(code, Some(0), "{told}");
    assert!(Path::new(&seen).exists() && !brought.has_run(), "{told}");
}

#[test]
fn a_configuration_of_ssh_that_includes_another_file_is_refused() {
    let brought = Brought::new("ssh-include");
    let other = brought.scratch.write(
        "other",
        &format!(
            "Host dut\n  ProxyCommand touch {}\n",
            brought.scratch.path("ran")
        ),
    );
    let config = brought
        .scratch
        .write("config", &format!("# ours\n  include {other}\nHost dut\n"));
    let plan = plan_with_config(&brought, &config);
    let refused = output(&[
        "run",
        &plan,
        "-o",
        &brought.scratch.path("results"),
        "--trust-recipes",
    ]);
    let error = text(&refused.stderr);
    assert_eq!(
        (refused.status.code(), brought.has_run()),
        (Some(2), false),
        "{error}"
    );
    assert!(
        error.contains(&format!(
            "{config}:2: in the `ssh-config` of [testbed], `Include` names files"
        )),
        "{error}"
    );
}

#[test]
fn the_name_of_a_file_cannot_change_what_the_person_who_is_asked_reads() {
    let brought = Brought::new("forged");
    let named = brought
        .scratch
        .path("recipes/a\u{1b}[30mb\nno commands would be run.toml");
    fs::rename(&brought.recipe, &named).expect("a file");
    let refused = output(&["run", &brought.plan, "-o", &brought.scratch.path("results")]);
    brought.assert_refused(
        &refused,
        &["recipes/a\\u001b[30mb\\u000ano commands would be run.toml (of brought"],
    );
    assert!(!text(&refused.stderr).contains('\u{1b}'), "{refused:?}");
}
