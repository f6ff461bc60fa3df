//! Results directories of somebody who wants root to write or read something else: links, FIFOs and devices in place of files, and another directory in
//! place of the one that was named. These tests need root; without it they fail, they do not skip.

use crate::common::plans::{KERNEL, KERNEL_TWO_SIZES};
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, records, sixbench, start, text, wait_until,
};
use crate::results::{dut, plan, test, write};
use sixbench_method::record::{Facts, RunPart};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The user who owns the directories, and is not root.
const OWNER: u32 = 12_345;

/// What root alone may read.
const SECRET: &str = "secret = \"of root\"\n";

fn shell(line: &str) {
    assert!(
        Command::new("sh")
            .args(["-ec", line])
            .status()
            .expect("sh")
            .success(),
        "{line}"
    );
}

/// Runs it as root without sudo, and fails if it has not ended after two minutes.
fn ended(arguments: &[&str]) -> Output {
    let mut command = sixbench(arguments);
    command
        .env_remove("SUDO_UID")
        .env_remove("SUDO_GID")
        .stdin(std::process::Stdio::null());
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("sixbench");
    let end = Instant::now() + Duration::from_secs(120);
    while child.try_wait().expect("a state").is_none() {
        if Instant::now() > end {
            child.kill().expect("killed");
            panic!("{arguments:?} has not ended");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("ended")
}

/// Asserts that a command fails for this reason, and tells nothing of the secret.
fn refused(arguments: &[&str], reason: &str) {
    let output = ended(arguments);
    let said = text(&output.stderr) + &text(&output.stdout);
    assert!(
        !output.status.success() && said.contains(reason) && !said.contains("of root"),
        "{arguments:?}: {said}"
    );
}

/// A results directory of the owner, which a run of a simulated device left.
struct Hostile {
    scratch: Scratch,
    results: String,
    secret: String,
    /// A directory that root alone may write to.
    victim: String,
}

impl Hostile {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let (secret, victim) = (scratch.write("secret", SECRET), scratch.path("victim"));
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("own");
        fs::create_dir(&victim).expect("a folder");
        fs::create_dir(scratch.path("of-owner")).expect("a folder");
        let results = scratch.path("of-owner/results");
        Self {
            scratch,
            results,
            secret,
            victim,
        }
    }

    /// As a run left it.
    fn with_results(name: &str) -> Self {
        let hostile = Self::new(name);
        let plan = plan(&[test("t")]);
        let facts = Facts {
            runs: vec![RunPart::default()],
            ..Facts::default()
        };
        write(
            &hostile.scratch,
            "of-owner/results",
            &plan,
            &crate::results::records(&plan, |_| dut(100_000)),
            &facts,
        );
        hostile
            .scratch
            .write("of-owner/results/commands.sh", "true\n");
        hostile.give();
        hostile
    }

    /// Gives everything of the owner to him.
    fn give(&self) {
        shell(&format!(
            "chown -R --no-dereference {OWNER}:{OWNER} {}",
            self.scratch.path("of-owner")
        ));
    }

    /// Puts a link in place of a file or folder of the results.
    fn link(&self, name: &str, target: &str) {
        let path = format!("{}/{name}", self.results);
        shell(&format!(
            "rm -rf {path}; ln -s {target} {path}; chown --no-dereference {OWNER} {path}"
        ));
    }

    fn assert_unharmed(&self) {
        let files: Vec<_> = fs::read_dir(&self.victim)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(files.is_empty(), "{files:?}");
        assert_eq!(fs::read_to_string(&self.secret).expect("the file"), SECRET);
    }
}

#[test]
fn a_directory_that_takes_the_place_of_the_one_that_a_run_goes_on_in_gets_nothing() {
    let (_guard, hostile) = (ONE_AT_A_TIME.lock(), Hostile::new("swapped"));
    let plan = hostile.scratch.write("plan.toml", KERNEL_TWO_SIZES);
    assert_ran(&ended(&["run", &plan, "-o", &hostile.results]));
    fs::write(format!("{}/trials.jsonl", hostile.results), "").expect("a file");
    hostile.give();
    let mut child = start(&["run", "--resume", &hostile.results]);
    wait_until(&mut child, "trial", || {
        !records(&hostile.results).is_empty()
    });
    let moved = hostile.scratch.path("of-owner/moved");
    fs::remove_file(format!("{}/report.html", hostile.results)).expect("removed");
    fs::rename(&hostile.results, &moved).expect("moved");
    symlink(&hostile.victim, &hostile.results).expect("a link");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains(&format!("was moved to {moved}")),
        "{}",
        text(&output.stderr)
    );
    hostile.assert_unharmed();
    assert!(!records(&moved).is_empty(), "{}", text(&output.stderr));
}

#[test]
fn root_goes_by_no_link_of_another_user_to_a_directory_that_is_not_this_users() {
    let hostile = Hostile::with_results("led");
    let link = hostile.scratch.path("of-owner/link");
    symlink(&hostile.victim, &link).expect("a link");
    hostile.give();
    let plan = hostile.scratch.write("plan.toml", KERNEL);
    for directory in [link.clone(), format!("{link}/new/one")] {
        refused(
            &["run", &plan, "-o", &directory],
            "a link of user 12345 leads to a directory of user 0",
        );
        refused(
            &["run", "--resume", &link],
            "a link of user 12345 leads to a directory of user 0",
        );
    }
    hostile.assert_unharmed();
    // The owner's own link to what is his, and one of root, are followed.
    let (own, of_root) = (
        hostile.scratch.path("of-owner/latest"),
        hostile.scratch.path("latest"),
    );
    for link in [&own, &of_root] {
        symlink(&hostile.results, link).expect("a link");
    }
    hostile.give();
    for link in [&own, &of_root] {
        let output = ended(&["report", link]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn a_folder_that_is_a_link_is_neither_written_nor_copied() {
    let (_guard, hostile) = (ONE_AT_A_TIME.lock(), Hostile::new("folders"));
    fs::create_dir(&hostile.results).expect("a folder");
    hostile.link("recipes", &hostile.victim);
    hostile.give();
    let plan = hostile.scratch.write("plan.toml", KERNEL);
    refused(
        &["run", &plan, "-o", &hostile.results],
        "is neither empty nor a results directory: it contains recipes",
    );
    hostile.assert_unharmed();

    let hostile = Hostile::with_results("copied");
    fs::write(format!("{}/id_ed25519", hostile.victim), SECRET).expect("a file");
    let united = hostile.scratch.path("united");
    for folder in ["recipes", "queries"] {
        hostile.link(folder, &hostile.victim);
        refused(
            &["merge", &hostile.results, "-o", &united],
            "is a link to another folder",
        );
        assert!(!Path::new(&united).join(folder).exists());
        shell(&format!("rm -rf {united} {}/{folder}", hostile.results));
    }
}

#[test]
fn what_a_link_leads_to_comes_into_no_report() {
    let hostile = Hostile::with_results("read");
    for file in ["commands.sh", "facts.json", "resolved.toml", "trials.jsonl"] {
        let kept = hostile.scratch.path("kept");
        fs::rename(format!("{}/{file}", hostile.results), &kept).expect("moved");
        for target in [hostile.secret.as_str(), "/dev/zero"] {
            hostile.link(file, target);
            let results = hostile.results.as_str();
            let united = hostile.scratch.path("united");
            for arguments in [
                &["report", results][..],
                &["run", "--resume", results],
                &["merge", results, "-o", &united],
            ] {
                refused(arguments, "it is no regular file");
                shell(&format!("rm -rf {united}"));
            }
        }
        fs::rename(&kept, format!("{}/{file}", hostile.results)).expect("moved back");
    }
    assert!(!Path::new(&hostile.results).join("report.html").exists());
}

#[test]
fn a_fifo_makes_no_command_wait() {
    let hostile = Hostile::with_results("fifo");
    let (results, folder) = (hostile.results.as_str(), hostile.scratch.path("of-owner"));
    let styled = "exports/latex/results.tex";
    let exported = ended(&["export", results, "--to", "latex"]);
    assert!(exported.status.success(), "{}", text(&exported.stderr));
    let [archive, united] = ["archive", "united"].map(|name| hostile.scratch.path(name));
    for file in [
        "trials.jsonl",
        "facts.json",
        "resolved.toml",
        "commands.sh",
        "plan.toml",
        styled,
    ] {
        let (path, kept) = (format!("{results}/{file}"), hostile.scratch.path("kept"));
        shell(&format!(
            "mv {path} {kept}; mkfifo {path}; chown {OWNER} {path}"
        ));
        let is_read = |command: &str| match file {
            file if file == styled => false,
            "plan.toml" => matches!(command, "run" | "merge"),
            _ => true,
        };
        for arguments in [
            &["report", results][..],
            &["export", results, "--to", "markdown"],
            &["archive", results, "-o", &archive],
            &["merge", results, "-o", &united],
            &["run", "--resume", results],
            &["compare", results, results],
            &["dimension", results],
            &["history", &folder],
        ] {
            let is_of_run = arguments[0] == "run" && file == styled;
            let output = (!is_of_run).then(|| ended(arguments));
            let said = output
                .as_ref()
                .map(|output| text(&output.stderr))
                .unwrap_or_default();
            assert_eq!(
                said.contains("it is no regular file"),
                is_read(arguments[0]),
                "{file} {arguments:?}: {said}"
            );
            shell(&format!("rm -rf {archive} {united}"));
        }
        shell(&format!("rm -f {path}; mv {kept} {path}"));
    }
}

#[test]
fn a_line_that_no_run_writes_is_named_and_takes_no_memory() {
    let hostile = Hostile::with_results("sparse");
    let trials = fs::File::options()
        .append(true)
        .open(format!("{}/trials.jsonl", hostile.results))
        .expect("trials");
    let lines = records(&hostile.results).len();
    trials
        .set_len(trials.metadata().expect("a length").len() + (3 << 30))
        .expect("a length");
    for arguments in [
        &["report", &hostile.results][..],
        &["run", "--resume", &hostile.results],
    ] {
        refused(
            arguments,
            &format!("line {} is longer than 64 MiB", lines + 1),
        );
    }
}

#[test]
fn the_name_of_a_directory_is_one_line_in_the_commands_of_all() {
    let hostile = Hostile::with_results("names");
    let (named, united) = (
        hostile.scratch.path("of-owner/a\ntouch ran"),
        hostile.scratch.path("united"),
    );
    fs::rename(&hostile.results, &named).expect("renamed");
    let output = ended(&["merge", &named, "-o", &united]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let commands = fs::read_to_string(Path::new(&united).join("commands.sh")).expect("commands");
    assert!(
        commands.contains("of-owner/a\\u000atouch ran\ntrue\n"),
        "{commands}"
    );
    assert!(
        !commands.lines().any(|line| line.starts_with("touch")),
        "{commands}"
    );
}

#[test]
fn directories_of_several_users_are_not_written_together_and_one_that_others_write_to_not_at_all() {
    let hostile = Hostile::with_results("several");
    let own = hostile.scratch.path("own");
    shell(&format!(
        "cp -r {} {own}; chown -R 0:0 {own}",
        hostile.results
    ));
    refused(
        &["report", &own, &hostile.results],
        "no user may use all of these at once",
    );
    assert!(
        [&own, &hostile.results]
            .iter()
            .all(|directory| !Path::new(directory).join("report.html").exists())
    );
    for (directory, owner) in [(&own, 0), (&hostile.results, OWNER)] {
        assert!(ended(&["report", directory]).status.success());
        assert_eq!(
            fs::metadata(format!("{directory}/report.html"))
                .expect("a report")
                .uid(),
            owner
        );
    }
    let plan = hostile.scratch.write("plan.toml", KERNEL);
    for (mode, group) in [(0o777, OWNER), (0o775, 0)] {
        let open = hostile.scratch.path(&format!("of-owner/open-{mode:o}"));
        fs::create_dir(&open).expect("a folder");
        fs::set_permissions(&open, fs::Permissions::from_mode(mode)).expect("own");
        chown(&open, Some(OWNER), Some(group)).expect("root");
        refused(
            &["run", &plan, "-o", &open],
            "users other than 12345, its owner, can write to this directory",
        );
    }
}
