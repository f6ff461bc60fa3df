//! The live page in a browser, from the start of a run, through its being killed, to its end. These tests need root and Chromium; without them they
//! fail, they do not skip.

use crate::browser::{AxeRules, Chromium, Look};
use crate::common::{ONE_AT_A_TIME, Scratch, kill, signal, start, text};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Child;

/// A plan on kernel forwarding with twelve repetitions, each a trial of at least 400 ms.
const PLAN: &str = r#"
name = "watched"
[trial]
duration = "400ms"
residual = "50ms"
rest = "0s"
# The browser has the same cores; nobody waits for it to leave them.
patience = "0s"
[search]
method = "binary"
minimum = "1k"
maximum = "8k"
width = "10%"
[[test]]
name = "kernel"
dut = "linux-ipv4"
frame-sizes = [84, 128]
repetitions = 6
"#;

/// Reads standard error until it contains the page's address, and continues reading so that the run never blocks on it.
fn page_of(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"))
        .lines()
        .map_while(Result::ok);
    let url = lines
        .find_map(|line| line.strip_prefix("live page: ").map(str::to_owned))
        .expect("a page");
    std::thread::spawn(move || lines.count());
    url
}

#[test]
fn an_open_page_lives_through_the_death_of_the_run_to_its_end() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("live-page");
    let plan = scratch.write("plan.toml", PLAN);
    let results = scratch.path("results");
    let free = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port")
        .to_string();
    // Started before the run, so that it sees the beginning no matter how long it takes to start.
    let mut browser = Chromium::open(scratch.path("profile"), "about:blank");
    let mut run = start(&["run", &plan, "-o", &results, "--live", &free]);
    let url = page_of(&mut run);
    browser.go_to(&url);
    browser.wait_for_title("Running: watched");
    kill(&mut run);
    browser.wait_for_title("Connection lost");
    let mut shown = start(&["live", &results, &free]);
    assert_eq!(
        page_of(&mut shown),
        url,
        "the page is found again at its address"
    );
    browser.wait_for_title("The run was interrupted: watched");
    signal(&shown, "INT");
    assert_eq!(shown.wait().expect("ended").code(), Some(0));
    let mut resumed = start(&["run", "--resume", &results, "--live", &free]);
    assert_eq!(page_of(&mut resumed), url);
    browser.wait_for_title("Running: watched");
    browser.wait_for_title("The run has ended: watched");
    for look in Look::ALL {
        browser.look(look);
        let findings = browser.serious_findings(AxeRules::All);
        assert!(
            findings.is_empty(),
            "{}:\n{}",
            look.name,
            findings.join("\n")
        );
    }
    assert!(matches!(resumed.wait().expect("ended").code(), Some(0 | 4)));
}

#[test]
fn a_port_in_use_costs_the_page_and_not_the_run() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("live-port");
    let plan = scratch.write("plan.toml", crate::common::plans::KERNEL);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = crate::common::output(&[
        "run",
        &plan,
        "-o",
        &scratch.path("results"),
        "--live",
        &address,
    ]);
    crate::common::assert_ran(&output);
    let told = text(&output.stderr);
    assert!(
        told.contains(&format!(
            "there is no live page: another program uses {address}"
        )),
        "{told}"
    );
    assert!(
        told.contains("choose another ADDRESS:PORT") && told.contains("the run goes on without it"),
        "{told}"
    );
}
