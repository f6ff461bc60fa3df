//! The page in a real browser, in every look that people have it in. Pictures of all pages are left in `target/tmp/pages`.
#![allow(missing_docs, reason = "tests")]

#[path = "../browser/mod.rs"]
mod browser;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../report/sample/mod.rs"]
mod sample;

use browser::{Chromium, Look};
use sample::Sample;
use sixbench_report::Document;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// A browser is many processes.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The innermost elements that stick out of the page, if the page is wider than the screen. Those that scroll within themselves do not make it so.
const TOO_WIDE: &str = "document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
    .filter(e => { for (let outer = e.parentElement; outer; outer = outer.parentElement)
        if (outer !== document.body && getComputedStyle(outer).overflowX !== 'visible') return false; return true; })
    .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5
        && ![...e.children].some(inner => inner.getBoundingClientRect().right > innerWidth + 0.5))
    .slice(0, 3).map(e => 'wider than the page: ' + e.outerHTML.slice(0, 120))";

/// The beginnings of tables that a wide screen shows in part alone.
const CUT: &str = "[...document.querySelectorAll('.scroll')].filter(table => table.scrollWidth > table.clientWidth)
    .map(table => 'cut: ' + table.ariaLabel + ' ' + table.scrollWidth + ' of ' + table.clientWidth)";

/// The beginning of everything folded that paper does not show.
const HIDDEN: &str = "[...document.querySelectorAll('details > :not(summary)')]
    .filter(inside => inside.getClientRects().length === 0).map(inside => 'not on paper: ' + inside.outerHTML.slice(0, 80))";

/// Writes the page of a run and opens it in each look: axe-core finds nothing serious, nothing sticks out, paper hides nothing.
fn inspect(name: &str, sample: &Sample) {
    let _guard = ONE_AT_A_TIME.lock();
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&directory).expect("a directory");
    let page = directory.join(format!("{name}.html"));
    let input = sample.input();
    let document = Document::new(&input).expect("a report");
    fs::write(&page, document.file("report.html").expect("a report").expect("a page")).expect("a file");
    let mut browser = Chromium::open(directory.join(format!("profile-{name}")), &format!("file://{}", page.display()));
    browser.wait_for_title(&sample.plan.name);
    let mut barriers = Vec::new();
    for look in Look::ALL {
        browser.look(look);
        browser.picture(&directory.join(format!("{name}-{}.png", look.name)));
        let told = |found: Vec<String>| found.into_iter().map(move |barrier| format!("{}: {barrier}", look.name));
        barriers.extend(told(browser.list(TOO_WIDE)));
        if look.is_paper {
            barriers.extend(told(browser.list(HIDDEN)));
        }
    }
    // Last, as it unfolds everything.
    for look in Look::ALL {
        browser.look(look);
        let told = |found: Vec<String>| found.into_iter().map(move |barrier| format!("{}, unfolded: {barrier}", look.name));
        // axe-core reads style sheets: without colours they are those of the wide page, and on paper nothing is operated.
        if !look.is_paper && !look.is_colourless {
            barriers.extend(told(browser.serious_findings()));
        }
        barriers.extend(told(browser.list(TOO_WIDE)));
        if look.width > 1000 {
            barriers.extend(told(browser.list(CUT)));
        }
    }
    assert!(barriers.is_empty(), "{name}:\n{}", barriers.join("\n"));
}

#[test]
fn a_page_of_throughput_can_be_read_by_everybody() {
    inspect("throughput", &Sample::complete());
}

#[test]
fn a_page_of_every_measure_can_be_read_by_everybody() {
    inspect("measures", &Sample::of_every_measure());
}

#[test]
fn a_page_of_dns_servers_can_be_read_by_everybody() {
    inspect("dns", &Sample::of_dns_servers());
}

#[test]
fn a_page_of_stateful_gateways_can_be_read_by_everybody() {
    inspect("stateful", &Sample::of_stateful_gateways());
}

#[test]
fn a_page_of_scaling_can_be_read_by_everybody() {
    inspect("scaling", &Sample::of_chains());
}

#[test]
fn a_page_of_clients_can_be_read_by_everybody() {
    inspect("clients", &Sample::of_clients());
}

#[test]
fn a_page_with_every_status_can_be_read_by_everybody() {
    inspect("points", &Sample::of_every_status());
}

#[test]
fn a_page_without_a_result_can_be_read_by_everybody() {
    inspect("empty", &Sample::empty());
}
