//! The DNS tester's counts beside those of the kernel, which counts every datagram on an interface of a namespace of its own. Needs root.
//!
//! `SIXBENCH_QUERIES=1000000 cargo test --release -p sixbench-engine --test it dns_counters -- --nocapture` sends that many queries per second and
//! prints what both have counted.

use crate::common::dns;
use crate::common::veth::ip;
use sixbench_engine::Layout;
use sixbench_engine::dns::{AuthorityEnd, DnsEnds, DnsSettings, DnsTester, ExpectedAnswers};
use sixbench_io::thread::allowed_cores;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::DnsRole;
use std::sync::Arc;
use std::time::Duration;

/// A namespace with nothing but its loopback interface, removed when dropped.
struct Loopback(String);

impl Loopback {
    fn new() -> Self {
        let name = format!("sb-{}-datagrams", std::process::id());
        ip(&format!("netns add {name}"));
        let loopback = Self(name);
        ip(&format!("-n {} link set lo up", loopback.0));
        // The tester hands the kernel many datagrams at once. With the offload they would pass the interface as one, and count as one.
        ip(&format!(
            "netns exec {} ethtool -K lo tx-udp-segmentation off gso off",
            loopback.0
        ));
        loopback
    }

    /// Returns the datagrams that have passed the interface.
    fn datagrams(&self) -> u64 {
        let counters = ip(&format!("-n {} -j -s link show lo", self.0));
        let links: serde_json::Value = serde_json::from_str(&counters).expect("JSON");
        links[0]["stats64"]["rx"]["packets"]
            .as_u64()
            .expect("a counter")
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        ip(&format!("netns del {}", self.0));
    }
}

#[test]
fn the_kernel_counts_a_datagram_for_every_query_and_for_every_answer() {
    let loopback = Loopback::new();
    let server = "[::1]:53".parse().expect("an address");
    let namespace = Some(loopback.0.clone());
    let authority = AuthorityEnd {
        namespace: namespace.clone(),
        listen: server,
        looped: Some((server, "loopback".to_owned())),
    };
    let ends = DnsEnds {
        client_namespace: namespace,
        client: None,
        server,
        authority: Some(authority),
        external: None,
    };
    let expectation = ExpectedAnswers {
        role: DnsRole::Authority,
        prefix: None,
        ..dns::settings().expectation
    };
    let settings = DnsSettings {
        expectation,
        ..dns::settings()
    };
    let cores = allowed_cores().expect("cores");
    let ends = Isolation::Unknown.admit(ends).expect("loopback");
    let mut tester = DnsTester::new(ends, settings, Layout { cores }, Arc::default());
    let rate = std::env::var("SIXBENCH_QUERIES")
        .map_or(1_000, |rate| rate.parse().expect("queries per second"));
    // The question whether the server is there is no query of the trial.
    dns::alone(|| tester.probe(Duration::from_secs(5))).expect("an answer");
    let before = loopback.datagrams();
    let result = dns::measure(&mut tester, &dns::spec(rate, 1_000));
    let passed = loopback.datagrams() - before;
    let answers = dns::counted(&result).answers;
    println!(
        "{} queries sent, {} answered; {passed} datagrams passed the interface",
        answers.sent,
        answers.received()
    );
    assert!(answers.sent > 0);
    assert_eq!(passed, answers.sent + answers.received());
}
