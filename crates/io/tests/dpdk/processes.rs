//! Several processes that use DPDK at the same time.

use super::child::start;
use super::links::carry;
use super::{LENGTH, opened};
use std::io::{BufRead, BufReader};
use std::path::Path;

const OPEN: &str = "the port is open";

/// Opens a port, reports that, and keeps it open until the input ends.
fn hold() {
    let mut port = opened("dpdk:net_ring0").into_single_queue();
    carry((&mut *port.transmit, &mut *port.receive), 1_000, LENGTH);
    println!("{OPEN}");
    std::io::stdin().lines().for_each(drop);
}

#[test]
fn two_processes_use_dpdk_at_once_and_one_that_is_killed_leaves_nothing_behind() {
    let test =
        "processes::two_processes_use_dpdk_at_once_and_one_that_is_killed_leaves_nothing_behind";
    let mut processes = Vec::new();
    for _ in 0..2 {
        let Some(mut process) = start(test, hold) else {
            return;
        };
        let lines = BufReader::new(process.stdout.take().expect("an output")).lines();
        processes.push((process, lines));
    }
    for (_, lines) in &mut processes {
        assert!(
            lines.any(|line| line.is_ok_and(|line| line.ends_with(OPEN))),
            "a process has ended"
        );
    }
    for (process, _) in &mut processes {
        process.kill().expect("a signal");
        process.wait().expect("an end");
        // The directories in which DPDK keeps its files, for root and for other users.
        for directory in ["/var/run/dpdk", "/tmp/dpdk"] {
            let left = Path::new(directory).join(format!("sb-{}", process.id()));
            assert!(!left.exists(), "{}", left.display());
        }
    }
}
