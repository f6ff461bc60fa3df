//! The demo report of `docs/demo`: the page that people see before they build anything is the one that this version makes of the records beside it.

use crate::common::{Scratch, sixbench, text};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a results directory from which `sixbench report` makes the page.
const FILES: [&str; 5] = [
    "plan.toml",
    "resolved.toml",
    "facts.json",
    "commands.sh",
    "trials.jsonl",
];

/// The time that stands on the page as that of its writing: the end of the run.
const WRITTEN: &str = "1795889609";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/demo")
}

/// Returns the page that `sixbench report` makes of the demo's records.
fn page(scratch: &Scratch) -> String {
    for name in FILES {
        fs::copy(folder().join(name), scratch.0.join(name)).expect("a file");
    }
    let reported = sixbench(&["report", &scratch.0.display().to_string()])
        .env("SOURCE_DATE_EPOCH", WRITTEN)
        .output()
        .expect("sixbench");
    assert!(reported.status.success(), "{}", text(&reported.stderr));
    fs::read_to_string(scratch.0.join("report.html")).expect("a page")
}

#[test]
fn the_demo_report_is_the_page_of_its_records() {
    let page = page(&Scratch::new("demo"));
    let checked_in = folder().join("report.html");
    // As for the snapshots of insta.
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&checked_in, &page).expect("a page");
    }
    let differs = fs::read_to_string(&checked_in).expect("a page") != page;
    assert!(
        !differs,
        "{} is not the page that this version makes: INSTA_UPDATE=always cargo nextest run -E 'test(demo)'",
        checked_in.display()
    );
}
