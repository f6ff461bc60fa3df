//! A GitHub for tests: the REST API that the action uses, for the real gh of Debian, and a runner that executes workflow files. Both are Python
//! (`server.py`, `runner.py`), as is what they need: YAML and archives.

use crate::common::{Scratch, locks, text};
use crate::results::{dut, plan, records, test, write};
use serde_json::{Value, json};
use sixbench_method::record::Facts;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The root of this repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/github");
/// The interpreter of Debian, to which its packages belong.
pub(crate) const PYTHON: &str = "/usr/bin/python3";
/// The repository whose workflows run.
pub(crate) const REPOSITORY: &str = "apalrd/tayga";
/// The commit of every run.
pub(crate) const COMMIT: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

/// Installs nothing: `make test` did that, and `check.py` looks whether Debian has the packages.
const APT_GET: &str = "#!/bin/sh\ncase $1 in update | install) ;; *) exit 100 ;; esac\n";
/// Prints an installer of rustup that leaves what rustup's does: the programs in the home directory, and no toolchain.
const CURL: &str = "#!/bin/sh\ncase \"$*\" in\n*sh.rustup.rs*) echo 'mkdir -p \"$HOME/.cargo\"; ln -s '\"$CARGO_PROGRAMS\"' \"$HOME/.cargo/bin\"' ;;\n\
                    *) exec /usr/bin/curl \"$@\" ;;\nesac\n";

/// What started a workflow.
pub(crate) enum Event {
    /// A commit on the main branch.
    Push,
    /// Somebody, by hand, on the main branch, with the input `accept`.
    ByHand { accept: bool },
    /// Pull request 7, from a branch of this repository.
    PullRequest { head: &'static str },
}

/// GitHub, with the repository of a translator and that of sixbench.
pub(crate) struct GitHub {
    pub(crate) scratch: Scratch,
    server: Child,
    runs: u64,
}

impl Drop for GitHub {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A run of a workflow that has ended.
pub(crate) struct Run(Value);

impl Run {
    pub(crate) fn succeeded(&self) -> bool {
        self.0["succeeded"] == true
    }

    pub(crate) fn log(&self) -> &str {
        self.0["log"].as_str().unwrap_or_default()
    }

    pub(crate) fn summary(&self) -> &str {
        self.0["summary"].as_str().unwrap_or_default()
    }

    /// Returns an output of the step `sixbench`.
    pub(crate) fn output(&self, name: &str) -> &str {
        self.0["outputs"]["sixbench"][name]
            .as_str()
            .unwrap_or_default()
    }

    /// Returns the folder with an artefact that was uploaded.
    pub(crate) fn upload(&self, name: &str) -> Option<&str> {
        self.0["uploads"][name].as_str()
    }
}

impl GitHub {
    pub(crate) fn new(name: &str) -> Self {
        let scratch = Scratch::new(&format!("github-{name}"));
        for (name, script) in [("apt-get", APT_GET), ("curl", CURL)] {
            let path = scratch.write(&format!("programs/{name}"), script);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        rustup(&scratch);
        source(&scratch);
        tayga(&scratch);
        let state = json!({
            "repository": REPOSITORY, "token": "valid", "fault": null, "read_only": false, "workflows": ["tayga.yml", "jool.yml"],
            "runs": [], "labels": {}, "pulls": {}, "comments": [],
        });
        scratch.write("server/state.json", &state.to_string());
        let mut server = Command::new(PYTHON);
        server
            .args(["-B", &format!("{HERE}/server.py"), &scratch.path("server")])
            .stdout(Stdio::piped());
        let mut server = server.spawn().expect("python3");
        let mut ready = String::new();
        BufReader::new(server.stdout.take().expect("its output"))
            .read_line(&mut ready)
            .expect("ready");
        assert_eq!(ready, "ready\n");
        scratch.write(
            "gh/config.yml",
            &format!("http_unix_socket: {}\n", scratch.path("server/socket")),
        );
        Self {
            scratch,
            server,
            runs: 0,
        }
    }

    /// Returns what GitHub knows.
    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(
            &fs::read_to_string(self.scratch.path("server/state.json")).expect("the state"),
        )
        .expect("JSON")
    }

    /// Changes what GitHub knows.
    pub(crate) fn set(&self, name: &str, value: Value) {
        let mut state = self.state();
        state[name] = value;
        self.scratch.write("server/state.json", &state.to_string());
    }

    /// Returns the requests so far, and forgets them.
    pub(crate) fn requests(&self) -> String {
        let path = self.scratch.path("server/requests");
        let requests = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        requests
    }

    /// Records an earlier run on a branch, with results as its artefact.
    pub(crate) fn earlier(&self, more: &Value, results: Option<&str>) {
        let mut run = json!({
            "id": 100, "workflow": "tayga.yml", "branch": "main", "event": "push", "conclusion": "success",
            "head_repository": REPOSITORY, "expired": false,
        });
        for (key, value) in more.as_object().expect("an object") {
            run[key] = value.clone();
        }
        let number = run["id"].as_u64().expect("a number") * 10;
        let artefact = |path| json!([{ "id": number, "name": "sixbench-results", "expired": run["expired"], "path": path }]);
        run["artefacts"] = results.map_or(json!([]), artefact);
        let mut state = self.state();
        state["runs"].as_array_mut().expect("runs").push(run);
        self.scratch.write("server/state.json", &state.to_string());
    }

    /// Returns a folder with four simulated runs of a device that forwards about this many frames/s.
    pub(crate) fn simulated(&self, capacity: u64) -> String {
        let folder = format!("simulated-{capacity}");
        if !Path::new(&self.scratch.path(&folder)).exists() {
            fs::create_dir(self.scratch.path(&folder)).expect("a folder");
            let plan = plan(&[test("t")]);
            for (number, more) in [(1, 0), (2, 300), (3, 150), (4, 450)] {
                let records = records(&plan, |_| dut(capacity + more));
                write(
                    &self.scratch,
                    &format!("{folder}/run-{number}"),
                    &plan,
                    &records,
                    &Facts::default(),
                );
            }
        }
        self.scratch.path(&folder)
    }

    /// Returns an example of a workflow, with a part of it replaced.
    pub(crate) fn workflow(&self, name: &str, part: &str, by: &str) -> String {
        let text = fs::read_to_string(format!("{ROOT}/.github/workflows-examples/{name}"))
            .expect("a workflow");
        assert!(text.contains(part), "{text}");
        self.scratch
            .write(&format!("workflows/{name}"), &text.replace(part, by))
    }

    /// Runs an example of a workflow on a device that forwards this many frames/s.
    pub(crate) fn run(&mut self, name: &str, event: &Event, capacity: u64) -> Run {
        let workflow = self.workflow(name, "name:", "name:");
        self.run_file(&workflow, event, capacity)
    }

    /// Runs a workflow file. A run on the main branch becomes one of the earlier runs, with what it has uploaded.
    pub(crate) fn run_file(&mut self, workflow: &str, event: &Event, capacity: u64) -> Run {
        self.runs += 1;
        let folder = self.scratch.path(&format!("job-{}", self.runs));
        fs::create_dir_all(format!("{folder}/workspace")).expect("a workspace");
        let name = Path::new(workflow)
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let inputs = match event {
            Event::ByHand { accept } => json!({ "accept": accept }),
            Event::Push | Event::PullRequest { .. } => json!({}),
        };
        let own = self
            .scratch
            .path(if name == "aa.yml" { "source" } else { "tayga" });
        let job = json!({
            "workflow": workflow, "workspace": format!("{folder}/workspace"), "cache": self.scratch.path("cache"), "inputs": inputs,
            "repositories": { REPOSITORY: own, "sixbench/sixbench": self.scratch.path("source") },
            "github": self.context(name, event), "environment": self.environment(capacity),
        });
        let job = self
            .scratch
            .write(&format!("job-{}/job.json", self.runs), &job.to_string());
        let mut runner = Command::new(PYTHON);
        let done = runner
            .args(["-B", &format!("{HERE}/runner.py"), &job])
            .output()
            .expect("python3");
        assert!(done.status.success(), "{}", text(&done.stderr));
        let run = Run(serde_json::from_slice(&done.stdout).expect("JSON"));
        if !matches!(event, Event::PullRequest { .. }) {
            let conclusion = if run.succeeded() {
                "success"
            } else {
                "failure"
            };
            let more = json!({ "id": 100 + self.runs, "workflow": name, "conclusion": conclusion });
            self.earlier(&more, run.upload("sixbench-results"));
        }
        run
    }

    /// Returns the context `github` of a run.
    fn context(&self, workflow: &str, event: &Event) -> Value {
        let (name, reference, base, event) = match event {
            Event::Push => ("push", "refs/heads/main", "", json!({})),
            Event::ByHand { .. } => ("workflow_dispatch", "refs/heads/main", "", json!({})),
            Event::PullRequest { head } => {
                let base = self.git_base();
                (
                    "pull_request",
                    "refs/pull/7/merge",
                    "main",
                    json!({ "number": 7, "pull_request": {
                    "number": 7, "base": { "sha": base }, "head": { "repo": { "full_name": head } } } }),
                )
            }
        };
        let mut event = event;
        event["repository"] = json!({ "default_branch": "main" });
        json!({
            "repository": REPOSITORY, "event_name": name, "event": event, "ref": reference, "ref_name": "7/merge", "base_ref": base,
            "sha": COMMIT, "token": "valid", "workflow_ref": format!("{REPOSITORY}/.github/workflows/{workflow}@{reference}"),
        })
    }

    /// Returns the first commit of the translator's repository.
    fn git_base(&self) -> String {
        let mut git = Command::new("git");
        let done = git
            .args(["-C", &self.scratch.path("tayga"), "rev-parse", "HEAD^"])
            .output()
            .expect("git");
        text(&done.stdout).trim().to_owned()
    }

    /// Returns the environment of a container of Debian 12, in which only what the steps install is added.
    fn environment(&self, capacity: u64) -> Value {
        let (locks, place) = locks();
        json!({
            "PATH": format!("{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", self.scratch.path("programs")),
            "HOME": self.scratch.path("home"), "LANG": "C", "NO_COLOR": "1", locks: place,
            "RUSTUP_HOME": self.scratch.path("rustup"), "CARGO_PROGRAMS": cargo_programs(),
            "GH_CONFIG_DIR": self.scratch.path("gh"), "RETRY_SECONDS": "0",
            "SIXBENCH_PROGRAM": env!("CARGO_BIN_EXE_sixbench"), "SIMULATED": self.simulated(capacity), "SIMULATED_BASE": self.simulated(100_000),
        })
    }
}

/// Returns the folder with the programs of rustup.
fn cargo_programs() -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    let programs =
        std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo")) + "/bin";
    assert!(
        Path::new(&programs).join("rustup").exists(),
        "this test needs rustup (rustup.rs), which workflows install"
    );
    programs
}

/// Makes a folder of rustup with the toolchains of this machine, none of which is the default, as after `--default-toolchain none`.
fn rustup(scratch: &Scratch) {
    let home = std::env::var("HOME").unwrap_or_default();
    let real = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    scratch.write(
        "rustup/settings.toml",
        "version = \"12\"\nprofile = \"minimal\"\n",
    );
    for folder in ["toolchains", "update-hashes"] {
        symlink(
            format!("{real}/{folder}"),
            scratch.path(&format!("rustup/{folder}")),
        )
        .expect("a link");
    }
    fs::create_dir(scratch.path("home")).expect("a home directory");
}

/// Makes a checkout of sixbench that has everything but its crates: in their place is a program of one file.
fn source(scratch: &Scratch) {
    let file = |name: &str| fs::read_to_string(format!("{ROOT}/{name}")).expect("a file");
    scratch.write("source/rust-toolchain.toml", &file("rust-toolchain.toml"));
    scratch.write(
        "source/Cargo.toml",
        "[package]\nname = \"sixbench\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[[bin]]\nname = \"sixbench\"\npath = \"crates/main.rs\"\n",
    );
    scratch.write(
        "source/Cargo.lock",
        "version = 4\n[[package]]\nname = \"sixbench\"\nversion = \"0.0.0\"\n",
    );
    scratch.write("source/crates/main.rs", include_str!("sixbench.rs"));
    for folder in [".github", "plans", "profiles", "recipes", "scripts"] {
        let copied = Command::new("cp")
            .args(["-r", &format!("{ROOT}/{folder}"), &scratch.path("source/")])
            .status();
        assert!(copied.expect("cp").success());
    }
}

/// Makes the repository of a translator, with two commits.
fn tayga(scratch: &Scratch) {
    scratch.write("tayga/Makefile", "tayga:\n\tcp /bin/true tayga\n");
    let script = "git init -q -b main && git add . && git commit -q -m first && git tag v1 && git commit -q --allow-empty -m second";
    let mut git = Command::new("sh");
    git.args(["-c", script]).current_dir(scratch.path("tayga"));
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "a")
            .env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    assert!(git.status().expect("git").success());
}
