//! AF_PACKET of DPDK on a veth pair in a namespace of our own. Needs root.

use super::child::alone;
use super::links::carry;
use super::{LENGTH, opened};
use sixbench_io::{Port, thread};
use std::process::Command;

/// A namespace with one veth pair, `e0` and `e1`; gone when dropped.
struct Pair(String);

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split_whitespace()).status().expect("ip: apt-get install iproute2");
    assert!(status.success(), "ip {arguments} (these tests need root)");
}

impl Pair {
    fn new(name: &str) -> Self {
        let pair = Self(format!("sb-{}-{name}", std::process::id()));
        let ns = &pair.0;
        ip(&format!("netns add {ns}"));
        ip(&format!("-n {ns} link add e0 type veth peer name e1"));
        for end in ["e0", "e1"] {
            // No addresses of the kernel's own, so that it stays silent on the link.
            ip(&format!("-n {ns} link set {end} addrgenmode none"));
            ip(&format!("-n {ns} link set {end} up"));
        }
        pair
    }

    fn open(&self, name: &str) -> Port {
        let name = name.to_owned();
        thread::in_namespace(&self.0, move || opened(&name)).expect("namespace")
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

#[test]
fn frames_cross_a_veth_pair_between_dpdk_and_the_kernels_own_sockets() {
    alone("interface::frames_cross_a_veth_pair_between_dpdk_and_the_kernels_own_sockets", || {
        let pair = Pair::new("dpdk");
        let (left, right) = (pair.open("dpdk:net_af_packet0,iface=e0"), pair.open("e1"));
        assert_ne!(left.mac, [0; 6]);
        let [mut left, mut right] = [left, right].map(Port::into_single_queue);
        left.receive.receive(&mut |_| ()).expect("a link");
        carry((&mut *left.transmit, &mut *right.receive), 5_000, LENGTH);
        carry((&mut *right.transmit, &mut *left.receive), 5_000, LENGTH);
    });
}
