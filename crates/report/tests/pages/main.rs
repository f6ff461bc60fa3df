//! Tests the pages in a real browser, in every look that readers may have. `SIXBENCH_PICTURES=DIR` saves pictures of all
//! pages in `DIR`.
#![allow(missing_docs, reason = "tests")]

#[path = "../browser/mod.rs"]
mod browser;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../report/sample/mod.rs"]
mod sample;

use browser::Chromium;
use sample::Sample;
use sample::requirements::many;
use sixbench_report::Document;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// A browser consists of many processes, so run only one.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Writes the page of a run and opens it in each look: axe-core must find nothing serious, nothing may extend beyond the page, and paper must hide
/// nothing.
fn inspect(name: &str, sample: &Sample) {
    let _guard = ONE_AT_A_TIME.lock();
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&directory).expect("a directory");
    let page = directory.join(format!("{name}.html"));
    let input = sample.input();
    let document = Document::new(&input).expect("a report");
    fs::write(
        &page,
        document
            .file("report.html")
            .expect("a report")
            .expect("a page"),
    )
    .expect("a file");
    let mut browser = Chromium::open(
        directory.join(format!("profile-{name}")),
        &format!("file://{}", page.display()),
    );
    browser.wait_for_title(&sample.plan.name);
    let barriers = browser.barriers(name);
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
fn a_page_of_devices_side_by_side_by_requirement_can_be_read_by_everybody() {
    let of = |sample: Sample, dut: &str, title: &str, nth| {
        sample.asked_of(dut, &format!("{dut}-right"), title, many(nth))
    };
    let sample = Sample::with_requirements(many(7));
    let sample = of(sample, "jool-siit", "Jool, SIIT", 5);
    let sample = of(sample, "vpp-map-t", "VPP, MAP-T border relay", 11);
    let sample = of(sample, "pdns-dns64", "PowerDNS Recursor, DNS64", 13);
    inspect("requirements", &sample);
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
