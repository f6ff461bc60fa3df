//! The workflows to copy and the GitHub Action, executed by a runner with the real gh of Debian 12 against a server that answers as GitHub's documentation says.
//! Whatever happens, a gate compares or fails. Needs rustup, gh and shellcheck (`scripts/install-dependencies tests`); what would be measured is simulated.

use crate::common::text;
use crate::github::{COMMIT, Event, GitHub, PYTHON, REPOSITORY, ROOT};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

const OWN: Event = Event::PullRequest { head: REPOSITORY };
const FORK: Event = Event::PullRequest {
    head: "somebody/tayga",
};

/// The comments of a repository.
fn comments(github: &GitHub) -> Vec<String> {
    let state = github.state();
    let comments = state["comments"].as_array().expect("comments").iter();
    comments
        .map(|comment| comment["body"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn workflows_and_actions_exist_are_pinned_and_their_scripts_are_sound() {
    let check = format!("{ROOT}/crates/cli/tests/it/github/check.py");
    let done = Command::new(PYTHON)
        .args(["-B", &check, ROOT])
        .output()
        .expect("python3");
    assert!(
        done.status.success(),
        "{}{}",
        text(&done.stdout),
        text(&done.stderr)
    );
}

#[test]
fn a_release_is_of_the_version_that_its_tag_names() {
    let step = "import sys, yaml\nsteps = yaml.safe_load(open(sys.argv[1]))['jobs']['release']['steps']\n\
                print(next(step['run'] for step in steps if step.get('name') == 'Compare the tag with the version'))";
    let step = Command::new(PYTHON)
        .args(["-c", step, &format!("{ROOT}/.github/workflows/release.yml")])
        .output()
        .expect("python3");
    let step = text(&step.stdout);
    for (tag, succeeds) in [
        (concat!("v", env!("CARGO_PKG_VERSION")), true),
        ("v9.9.9", false),
        ("v", false),
    ] {
        let mut bash = Command::new("bash");
        bash.args(["-eo", "pipefail", "-c", &step])
            .current_dir(ROOT)
            .env("GITHUB_REF_NAME", tag);
        assert_eq!(
            bash.output().expect("bash").status.success(),
            succeeds,
            "{tag}"
        );
    }
}

/// The life of a gate: a first run, the same, a regression, one that is accepted by a label and merged, and what follows.
#[test]
fn a_gate_compares_with_the_last_success_and_an_accepted_regression_is_the_new_base() {
    let mut github = GitHub::new("life");
    let first = github.run("tayga.yml", &Event::Push, 100_000);
    assert!(
        first.succeeded() && first.output("verdict") == "first-run",
        "{}",
        first.log()
    );
    assert_eq!(first.output("base-found"), "false");
    // What was built is kept, and the second job builds nothing.
    assert!(
        first.log().contains("Compiling sixbench"),
        "{}",
        first.log()
    );

    let same = github.run("tayga.yml", &OWN, 100_000);
    assert!(
        same.succeeded() && same.output("verdict") == "passed",
        "{}",
        same.log()
    );
    assert!(!same.log().contains("Compiling sixbench"), "{}", same.log());
    assert_eq!(
        (same.output("base-found"), same.output("base-run")),
        ("true", "101")
    );
    assert!(
        comments(&github).len() == 1
            && comments(&github)[0].starts_with("<!-- sixbench -->\n### ✅"),
        "{:?}",
        comments(&github)
    );

    let worse = github.run("tayga.yml", &OWN, 80_000);
    assert!(
        !worse.succeeded() && worse.output("verdict") == "worse",
        "{}",
        worse.log()
    );
    assert!(
        worse
            .log()
            .contains("::error title=sixbench::❌ B is worse than A"),
        "{}",
        worse.log()
    );
    assert!(
        worse
            .summary()
            .contains("give the pull request the label `sixbench-accept`"),
        "{}",
        worse.summary()
    );
    assert!(
        comments(&github).len() == 1
            && comments(&github)[0].starts_with("<!-- sixbench -->\n### ❌"),
        "{:?}",
        comments(&github)
    );

    github.set("labels", json!({ "7": ["bug", "sixbench-accept"] }));
    let labelled = github.run("tayga.yml", &OWN, 80_000);
    assert!(
        labelled.succeeded() && labelled.output("accepted") == "true",
        "{}",
        labelled.log()
    );
    assert!(
        labelled
            .summary()
            .contains("Accepted by the label sixbench-accept"),
        "{}",
        labelled.summary()
    );

    // Merged by mistake without the label, it is red, and stays so.
    github.set("pulls", json!({ COMMIT: [{ "number": 7, "merged_at": null, "labels": [{ "name": "sixbench-accept" }] }] }));
    assert!(!github.run("tayga.yml", &Event::Push, 80_000).succeeded());
    assert!(!github.run("tayga.yml", &Event::Push, 80_000).succeeded());
    github.set(
        "pulls",
        json!({ COMMIT: [{ "number": 7, "merged_at": "2026-01-01T00:00:00Z", "labels": [{ "name": "sixbench-accept" }] }] }),
    );
    let merged = github.run("tayga.yml", &Event::Push, 80_000);
    assert!(
        merged.succeeded() && merged.output("accepted") == "true",
        "{}",
        merged.log()
    );
    github.set("pulls", json!({}));
    let following = github.run("tayga.yml", &Event::Push, 80_000);
    assert!(
        following.succeeded() && following.output("verdict") == "passed",
        "{}",
        following.log()
    );
    assert_eq!(following.output("accepted"), "false");
}

/// The defect that this replaces: each of these was "no earlier run", and green.
#[test]
fn an_error_of_github_is_an_error_of_the_gate_and_nothing_is_measured() {
    let mut github = GitHub::new("errors");
    let base = github.simulated(100_000);
    github.earlier(&json!({}), Some(&base));
    for (name, value, told) in [
        ("token", json!("another"), "Bad credentials (HTTP 401)"),
        (
            "fault",
            json!("rate-limit"),
            "API rate limit exceeded for installation ID 4711. (HTTP 403)",
        ),
        ("fault", json!("broken"), "Server Error (HTTP 502)"),
    ] {
        let before = github.state()[name].clone();
        github.set(name, value);
        let run = github.run("tayga.yml", &OWN, 80_000);
        github.set(name, before);
        assert!(
            !run.succeeded()
                && run
                    .log()
                    .contains("::error title=sixbench::cannot list the runs of tayga.yml: "),
            "{}",
            run.log()
        );
        assert!(
            run.log().contains(told) && run.output("verdict").is_empty(),
            "{}",
            run.log()
        );
    }
    // No network: nobody is at the socket.
    github
        .scratch
        .write("gh/config.yml", "http_unix_socket: /nonexistent\n");
    let run = github.run("tayga.yml", &OWN, 80_000);
    assert!(
        !run.succeeded()
            && run
                .log()
                .contains("::error title=sixbench::cannot list the runs"),
        "{}",
        run.log()
    );
    assert!(
        run.log().contains("/nonexistent") && run.output("verdict").is_empty(),
        "{}",
        run.log()
    );
}

#[test]
fn runs_of_forks_failures_and_expired_artefacts_are_no_base() {
    let mut github = GitHub::new("base");
    let [slow, fast] = [50_000, 100_000].map(|capacity| github.simulated(capacity));
    // The newest are those of a fork whose branch is called main, of a fork that is gone, a failure, one without results, and one whose results have expired.
    github.earlier(&json!({ "id": 20 }), Some(&fast));
    github.earlier(
        &json!({ "id": 30, "event": "pull_request", "head_repository": "somebody/tayga" }),
        Some(&slow),
    );
    github.earlier(&json!({ "id": 31, "head_repository": null }), Some(&slow));
    github.earlier(&json!({ "id": 32, "conclusion": "failure" }), Some(&slow));
    github.earlier(&json!({ "id": 33 }), None);
    github.earlier(&json!({ "id": 34, "expired": true }), Some(&slow));
    github.earlier(&json!({ "id": 35, "branch": "other" }), Some(&slow));
    let run = github.run("tayga.yml", &OWN, 80_000);
    assert_eq!(
        (
            run.succeeded(),
            run.output("verdict"),
            run.output("base-run")
        ),
        (false, "worse", "20"),
        "{}",
        run.log()
    );

    // All of them expired: nothing to compare with is no first run.
    github.set("runs", json!([]));
    github.earlier(&json!({ "expired": true }), Some(&fast));
    let run = github.run("tayga.yml", &OWN, 100_000);
    assert!(
        !run.succeeded() && run.output("base-found") == "false",
        "{}",
        run.log()
    );
    assert!(
        run.log().contains("none of the last 1 successful runs of tayga.yml on main has an artefact sixbench-results"),
        "{}",
        run.log()
    );
    let run = github.run("tayga.yml", &Event::ByHand { accept: true }, 100_000);
    assert!(
        run.succeeded() && run.output("accepted") == "true" && run.output("verdict") == "first-run",
        "{}",
        run.log()
    );
    let run = github.run("tayga.yml", &OWN, 80_000);
    assert_eq!(
        (run.succeeded(), run.output("verdict")),
        (false, "worse"),
        "{}",
        run.log()
    );

    // An artefact that holds something else.
    fs::create_dir(github.scratch.path("other")).expect("a folder");
    let other = github.scratch.write("other/file", "no results");
    github.set("runs", json!([]));
    github.earlier(&json!({}), Some(other.trim_end_matches("/file")));
    let run = github.run("tayga.yml", &OWN, 100_000);
    assert!(
        !run.succeeded() && run.log().contains("holds no results of sixbench"),
        "{}",
        run.log()
    );
}

#[test]
fn a_base_that_is_required_must_be_there_for_the_first_run_too() {
    let mut github = GitHub::new("required");
    let workflow = github.workflow(
        "tayga.yml",
        "runs: 4",
        "runs: 4\n          require-base: true",
    );
    let run = github.run_file(&workflow, &Event::Push, 100_000);
    assert!(
        !run.succeeded()
            && run
                .log()
                .contains("there is no successful run of tayga.yml on main yet"),
        "{}",
        run.log()
    );
    let run = github.run_file(&workflow, &Event::ByHand { accept: true }, 100_000);
    assert!(run.succeeded(), "{}", run.log());
    let run = github.run_file(&workflow, &Event::Push, 100_000);
    assert_eq!(
        (run.succeeded(), run.output("verdict")),
        (true, "passed"),
        "{}",
        run.log()
    );
}

#[test]
fn a_pull_request_from_a_fork_is_judged_and_gets_no_comment() {
    let mut github = GitHub::new("fork");
    let base = github.simulated(100_000);
    github.earlier(&json!({}), Some(&base));
    github.set("read_only", json!(true));
    for (capacity, succeeds, mark) in [(100_000, true, "### ✅"), (80_000, false, "### ❌")] {
        let run = github.run("tayga.yml", &FORK, capacity);
        assert_eq!(run.succeeded(), succeeds, "{}", run.log());
        assert!(run.summary().starts_with(mark), "{}", run.summary());
        let requests = github.requests();
        assert!(
            !requests.contains("comments")
                && requests.contains("GET results.blob.core.windows.net/1000.zip"),
            "{requests}"
        );
        assert!(
            run.log()
                .contains("a pull request from somebody/tayga gets no comment"),
            "{}",
            run.log()
        );
    }
    // Where only the permission is missing, as in pull requests of Dependabot, that is a warning.
    let run = github.run("tayga.yml", &OWN, 100_000);
    assert!(
        run.succeeded()
            && run
                .log()
                .contains("::warning title=sixbench::cannot write a comment: "),
        "{}",
        run.log()
    );
    assert!(
        run.log()
            .contains("Resource not accessible by integration (HTTP 403)"),
        "{}",
        run.log()
    );
}

#[test]
fn the_comment_of_an_earlier_run_is_edited_and_nobody_elses() {
    let mut github = GitHub::new("comments");
    let base = github.simulated(100_000);
    github.earlier(&json!({}), Some(&base));
    // More than a page of others, and a person who writes the marker.
    let mut others: Vec<Value> = (1..=120)
        .map(
            |id| json!({ "id": id, "user": { "login": "a", "type": "User" }, "body": "a comment" }),
        )
        .collect();
    others[3]["body"] = json!("<!-- sixbench -->\n### ✅ all is well");
    others[4]["user"]["type"] = json!("Bot");
    github.set("comments", json!(others));
    assert!(github.run("tayga.yml", &OWN, 100_000).succeeded());
    assert!(!github.run("tayga.yml", &OWN, 80_000).succeeded());
    let found = comments(&github);
    assert_eq!(
        (found.len(), found[3].as_str(), found[4].as_str()),
        (121, "<!-- sixbench -->\n### ✅ all is well", "a comment")
    );
    assert!(
        found[120].starts_with("<!-- sixbench -->\n### ❌"),
        "{}",
        found[120]
    );
    let listed = github.requests();
    assert!(
        listed.contains("issues/7/comments?per_page=100&page=2")
            && listed.contains("PATCH api.github.com"),
        "{listed}"
    );
}

#[test]
fn a_released_program_is_downloaded_and_used_only_if_its_hash_is_right() {
    let mut github = GitHub::new("release");
    let base = github.simulated(100_000);
    github.earlier(&json!({}), Some(&base));
    let machine = text(
        &Command::new("uname")
            .arg("-m")
            .output()
            .expect("uname")
            .stdout,
    );
    // In place of the program: one that is named in the log.
    let program = "#!/bin/sh\necho the released program: $1\ncase $1 in\nrun) mkdir -p sixbench-results; cp -r \"$SIMULATED\"/* sixbench-results ;;\n\
                   *) exec \"$SIXBENCH_PROGRAM\" \"$@\" ;;\nesac\n";
    let file = github.scratch.write(
        &format!("releases/v9/sixbench-{}-linux", machine.trim()),
        program,
    );
    let sum = text(
        &Command::new("sha256sum")
            .arg(file)
            .output()
            .expect("sha256sum")
            .stdout,
    );
    let sum = sum.split(' ').next().expect("a sum").to_owned();
    let releases = format!("file://{}", github.scratch.path("releases"));
    for (sum, told) in [
        (sum, "the released program: compare"),
        ("0".repeat(64), "is not the file with the SHA-256 0000"),
        (
            String::new(),
            "::error title=sixbench::release needs sha256",
        ),
    ] {
        let more = format!(
            "runs: 1\n          release: v9\n          sha256: \"{sum}\"\n          releases: {releases}"
        );
        let workflow = github.workflow("tayga.yml", "runs: 4", &more);
        let run = github.run_file(&workflow, &OWN, 100_000);
        assert_eq!(run.succeeded(), told.contains("compare"), "{}", run.log());
        assert!(
            run.log().contains(told) && !run.log().contains("Compiling"),
            "{}",
            run.log()
        );
    }
}

#[test]
fn the_other_workflows_run_to_their_end() {
    let mut github = GitHub::new("others");
    let first = github.run("jool.yml", &Event::Push, 100_000);
    assert!(
        first.succeeded() && first.output("verdict") == "first-run",
        "{}",
        first.log()
    );
    let worse = github.run("jool.yml", &OWN, 80_000);
    assert!(
        !worse.succeeded() && worse.output("verdict") == "worse",
        "{}",
        worse.log()
    );

    let turns = github.run("tayga-turns.yml", &OWN, 100_001);
    assert!(
        turns.succeeded() && turns.summary().starts_with("### ✅"),
        "{}",
        turns.log()
    );
    let turns = github.run("tayga-turns.yml", &FORK, 80_000);
    assert!(
        !turns.succeeded() && turns.summary().starts_with("### ❌"),
        "{}",
        turns.log()
    );

    // That of sixbench's own repository.
    let alarms = github.run("aa.yml", &Event::Push, 100_001);
    assert!(
        alarms.succeeded() && alarms.summary().starts_with("### ✅ False alarms: 0.0 %"),
        "{}",
        alarms.log()
    );
    assert!(alarms.upload("false-alarms").is_some());
}
