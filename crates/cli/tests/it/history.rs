//! `sixbench history` as users run it: a folder of results directories of simulated devices becomes a page, ordered by time or by a label.

use crate::browser::Chromium;
use crate::common::{Scratch, output, text};
use crate::results::{dut, plan, records, test, write};
use serde_json::Value;
use sixbench_method::fixtures::{judged_vector, requirement_record, requirement_test};
use sixbench_method::plan::{Plan, Test};
use sixbench_method::record::{DutFacts, Facts, RunPart, TrialRecord};
use sixbench_method::terms::FrameSize;
use sixbench_method::trial::RequirementLevel::{Must, Should};
use sixbench_method::trial::VectorResult::{self, NoAnswer, Right, Unknown, Wrong};
use std::fs;
use std::process::Command;

/// Writes a run of this day, with a device of this capacity and this kernel; its commit is derived from the day.
fn run(scratch: &Scratch, plan: &Plan, day: u32, capacity: u64, kernel: &str) -> String {
    let started = format!("2026-03-{day:02}T09:00:00Z");
    let mut records = records(plan, |_| dut(capacity));
    for record in &mut records {
        record.started.clone_from(&started);
    }
    let facts = Facts {
        sixbench: "0.1.0".to_owned(),
        host: [("kernel".to_owned(), kernel.to_owned())].into(),
        labels: [
            ("commit".to_owned(), format!("c0ffee{day:02}")),
            ("pull".to_owned(), (40 - day).to_string()),
        ]
        .into(),
        runs: vec![RunPart {
            started,
            ..RunPart::default()
        }],
        ..Facts::default()
    };
    let path = write(scratch, &format!("run{day:02}"), plan, &records, &facts);
    scratch.write(&format!("run{day:02}/report.html"), "<p>a report</p>");
    path
}

fn two_sizes() -> Plan {
    plan(&[Test {
        frame_sizes: vec![FrameSize(84), FrameSize(1518)],
        ..test("router")
    }])
}

/// Returns a few per mille that differ every day, without a trend.
fn noise(day: u32) -> u64 {
    u64::from(day * 37 % 11) * 100
}

fn data(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("data")).expect("JSON")
}

#[test]
fn a_folder_becomes_a_page_with_the_run_at_which_the_device_changed_and_what_else_did() {
    let (scratch, plan) = (Scratch::new("history"), two_sizes());
    for day in 1..=20 {
        let (capacity, kernel) = if day < 12 {
            (100_000, "6.1.0")
        } else {
            (90_000, "6.1.2")
        };
        run(&scratch, &plan, day, capacity + noise(day), kernel);
    }
    scratch.write("notes/readme.txt", "nothing");
    scratch.write("broken/resolved.toml", "nonsense");
    let history = output(&["history", &scratch.path("")]);
    let (said, left_out) = (text(&history.stdout), text(&history.stderr));
    assert_eq!(history.status.code(), Some(0), "{left_out}");
    assert!(
        said.starts_with(
            "2 changes in 2 series over 20 runs\n  router: Throughput, 84 bytes fell by "
        ),
        "{said}"
    );
    assert!(
        said.contains(" at 2026-03-12 09:00 (worse); also new there, so it is perhaps not the device's: kernel: 6.1.0 → 6.1.2"),
        "{said}"
    );
    assert!(
        left_out.contains("left out: notes: no results directory")
            && left_out.contains("left out: broken: "),
        "{left_out}"
    );
    let data = data(&scratch.path("history.json"));
    assert_eq!(
        (
            data["runs"].as_array().map(Vec::len),
            &data["series"][0]["changes"][0]["run"]
        ),
        (Some(20), &Value::from(11))
    );
    assert_eq!(
        output(&["history", &scratch.path("")]).status.code(),
        Some(0),
        "pages of ours are written again"
    );
    let page = fs::read_to_string(scratch.path("history.html")).expect("a page");
    assert!(
        page.contains("href=\"run07/report.html\"")
            && !page.contains("http://")
            && !page.contains("https://"),
        "{page}"
    );
}

/// Writes a run of this day, in which a device of this version was asked for requirements, with these results.
fn asked(scratch: &Scratch, day: u32, version: &str, results: [VectorResult; 3]) -> String {
    let started = format!("2026-03-{day:02}T09:00:00Z");
    let plan = plan(&[requirement_test("right", "tayga-siit")]);
    let vectors = [("46-short", Must), ("64-too-big", Must), ("64-tos", Should)]
        .into_iter()
        .zip(results)
        .map(|((name, level), result)| judged_vector(name, level, result));
    let record = TrialRecord {
        started: started.clone(),
        ..requirement_record(&plan.tests[0], vectors.collect())
    };
    let device = DutFacts {
        version: version.to_owned(),
        ..DutFacts::default()
    };
    let facts = Facts {
        duts: [("tayga-siit".to_owned(), device)].into(),
        runs: vec![RunPart {
            started,
            ..RunPart::default()
        }],
        ..Facts::default()
    };
    let path = write(scratch, &format!("run{day:02}"), &plan, &[record], &facts);
    scratch.write(&format!("run{day:02}/report.html"), "<p>a report</p>");
    path
}

#[test]
fn a_requirement_is_named_with_its_clause_at_the_run_and_the_version_at_which_it_broke() {
    let scratch = Scratch::new("history-requirements");
    asked(&scratch, 1, "0.9.2", [Right, Wrong, Right]);
    asked(&scratch, 2, "0.9.2", [Unknown, Wrong, Right]);
    asked(&scratch, 3, "0.9.5", [NoAnswer, Right, Right]);
    let history = output(&["history", &scratch.path("")]);
    let said = text(&history.stdout);
    assert_eq!(history.status.code(), Some(0), "{}", text(&history.stderr));
    let sentence = judged_vector("", Must, Right).sentence;
    let expected = format!(
        "1 requirement became wrong and 1 requirement became right over 3 runs\n  \
         2026-03-03 09:00, right (0.9.2 → 0.9.5)\n    \
         46-short became wrong (RFC 7915 section 4.1, MUST), right before and no answer now. {sentence}\n    \
         64-too-big became right (RFC 7915 section 4.1, MUST), wrong before and right now. {sentence}\n"
    );
    assert!(said.starts_with(&expected), "{said}");
    let data = data(&scratch.path("history.json"));
    let changes = &data["requirements"][0]["changes"];
    assert_eq!(
        (
            &changes[0]["vector"],
            &changes[0]["run_before"],
            &changes[0]["run"]
        ),
        (&"46-short".into(), &0.into(), &2.into()),
        "the run in between lost its control frames"
    );
    assert_eq!(changes[0]["version"], "0.9.5");
    let page = fs::read_to_string(scratch.path("history.html")).expect("a page");
    for shown in [
        "46-short",
        "became wrong",
        "RFC 7915 section 4.1",
        "run03&#x2f;report.html",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let mut browser = Chromium::open(scratch.path("profile"), "about:blank");
    browser.go_to(&format!("file://{}", scratch.path("history.html")));
    browser.wait_for_title("sixbench-test-history-requirements");
    let barriers = browser.barriers("history-requirements");
    assert!(barriers.is_empty(), "{}", barriers.join("\n"));
}

#[test]
fn runs_that_found_the_same_say_so() {
    let scratch = Scratch::new("history-same");
    for day in [1, 2] {
        asked(&scratch, day, "0.9.2", [Right, Wrong, Right]);
    }
    let said = text(&output(&["history", &scratch.path("")]).stdout);
    assert!(
        said.starts_with("None of 3 requirements became wrong or right over 2 runs\n"),
        "{said}"
    );
}

#[test]
fn runs_are_ordered_by_a_label_and_called_after_it() {
    let (scratch, plan) = (Scratch::new("history-label"), two_sizes());
    for day in [3, 1, 2] {
        run(&scratch, &plan, day, 100_000, "6.1.0");
    }
    let names = |key: &str| {
        let page = scratch.path(&format!("pages/{key}.html"));
        let history = output(&["history", &scratch.path(""), "--label", key, "-o", &page]);
        assert_eq!(history.status.code(), Some(0), "{}", text(&history.stderr));
        assert!(
            text(&history.stdout)
                .starts_with("3 runs so far; a change in 2 series can be shown from ")
        );
        let data = data(&scratch.path(&format!("pages/{key}.json")));
        let runs = data["runs"].as_array().expect("runs").clone();
        assert_eq!(
            runs[0]["report"]
                .as_str()
                .map(|report| report.starts_with("../run0")),
            Some(true)
        );
        runs.iter()
            .map(|run| run["name"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    // Commits have no natural order; numbers do.
    assert_eq!(names("commit"), ["c0ffee01", "c0ffee02", "c0ffee03"]);
    assert_eq!(names("pull"), ["37", "38", "39"]);
    let none = output(&["history", &scratch.path(""), "--label", "branch"]);
    for (file, told) in [
        ("mine.html", "sixbench has not written it"),
        ("mine.json", "page and data at once"),
    ] {
        let mine = scratch.write("mine.json", "{\"mine\": 1}");
        let refused = output(&["history", &scratch.path(""), "-o", &scratch.path(file)]);
        assert!(
            refused.status.code() == Some(2) && text(&refused.stderr).contains(told),
            "{}",
            text(&refused.stderr)
        );
        assert_eq!(fs::read_to_string(mine).expect("a file"), "{\"mine\": 1}");
    }
    assert_eq!(none.status.code(), Some(2));
    assert!(
        text(&none.stderr).contains("run01: no label branch"),
        "{}",
        text(&none.stderr)
    );
}

/// Returns a page as it is in the browser after its script has run.
fn rendered(scratch: &Scratch, address: &str) -> String {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    command
        .arg(format!("--user-data-dir={}", scratch.path("profile")))
        .arg(address);
    text(&command.output().expect("chromium").stdout)
}

/// Returns the ratio of two runs on a page and the ends of its interval, from text such as `−3.0 [−3.1, −2.7] %`.
fn shown_shift(page: &str) -> Option<[f64; 3]> {
    let (before, rest) = page.split_once(" [")?;
    let (interval, _) = rest.split_once("] %")?;
    let number = |text: &str| text.trim().replace('−', "-").parse::<f64>().ok();
    let (low, high) = interval.split_once(',')?;
    Some([
        number(before.rsplit('>').next()?)?,
        number(low)?,
        number(high)?,
    ])
}

#[test]
fn two_runs_that_are_chosen_have_an_interval_that_agrees_with_the_wider_one_of_compare() {
    let (scratch, plan) = (Scratch::new("history-beside"), two_sizes());
    let [a, b] = [(1, 100_000), (2, 97_000)].map(|(day, capacity)| {
        run(&scratch, &plan, day, capacity, "6.1.0");
        scratch.path(&format!("run{day:02}"))
    });
    assert_eq!(
        output(&["history", &scratch.path("")]).status.code(),
        Some(0)
    );
    let compared = text(&output(&["compare", &a, &b, "--json"]).stdout);
    let compared: Value = serde_json::from_str(&compared).expect("JSON");
    let shift = &compared["comparison"][0]["rows"][0]["shift"];
    let [ratio, low, high] =
        ["ratio", "low", "high"].map(|name| (shift[name].as_f64().expect("a ratio") - 1.0) * 100.0);
    let page = rendered(
        &scratch,
        &format!("file://{}#a=0&b=1", scratch.path("history.html")),
    );
    let row = page
        .split("<tbody id=\"beside-rows\">")
        .nth(1)
        .expect("rows");
    let [shown, from, to] = shown_shift(row).expect("a ratio with an interval");
    // Values are shown with one decimal.
    assert!((shown - ratio).abs() < 0.06, "{shown} {ratio}");
    assert!(
        low - 0.06 <= from && from < shown && shown < to && to <= high + 0.06,
        "[{from}, {to}] in [{low}, {high}]"
    );
    assert!(
        page.contains("B is worse, by these repetitions alone"),
        "{page}"
    );
    let turned = rendered(
        &scratch,
        &format!("file://{}#a=1&b=0", scratch.path("history.html")),
    );
    assert!(
        turned.contains("B is better, by these repetitions alone"),
        "{turned}"
    );
}

#[test]
fn a_page_of_a_history_and_of_a_comparison_can_be_read_by_everybody() {
    let (scratch, plan) = (Scratch::new("history-looks"), two_sizes());
    for day in 1..=14 {
        let (capacity, kernel) = if day < 8 {
            (100_000, "6.1.0")
        } else {
            (90_000, "6.1.2")
        };
        run(&scratch, &plan, day, capacity + noise(day), kernel);
    }
    let compared = scratch.path("comparison.html");
    assert_eq!(
        output(&["history", &scratch.path("")]).status.code(),
        Some(0)
    );
    let comparison = output(&[
        "compare",
        &scratch.path("run01"),
        &scratch.path("run14"),
        "--page",
        &compared,
    ]);
    assert!(
        fs::exists(&compared).unwrap_or_default(),
        "{}",
        text(&comparison.stderr)
    );
    let mut browser = Chromium::open(scratch.path("profile"), "about:blank");
    let pages = [
        (
            "history",
            "sixbench-test-history-looks",
            format!("{}#a=0&b=13", scratch.path("history.html")),
        ),
        ("comparison", "B is worse than A", compared),
    ];
    for (name, title, page) in pages {
        browser.go_to(&format!("file://{page}"));
        browser.wait_for_title(title);
        let barriers = browser.barriers(name);
        assert!(barriers.is_empty(), "{name}:\n{}", barriers.join("\n"));
    }
}

#[test]
fn a_run_that_is_still_being_written_is_left_out_and_told() {
    let (scratch, plan) = (Scratch::new("history-written"), two_sizes());
    for day in [1, 2, 3] {
        run(&scratch, &plan, day, 100_000, "6.1.0");
    }
    let trials = fs::File::open(scratch.path("run03/trials.jsonl")).expect("trials");
    trials.lock().expect("the lock that a run holds");
    let history = output(&["history", &scratch.path("")]);
    assert!(
        text(&history.stdout).contains("2 runs so far"),
        "{}",
        text(&history.stdout)
    );
    assert_eq!(
        text(&history.stderr),
        "left out: run03: still being written\n"
    );
}

#[test]
fn a_folder_without_results_is_a_mistake() {
    let scratch = Scratch::new("history-none");
    scratch.write("notes/readme.txt", "nothing");
    for folder in [scratch.path(""), scratch.path("missing")] {
        let history = output(&["history", &folder]);
        assert_eq!(history.status.code(), Some(2), "{}", text(&history.stderr));
    }
}
