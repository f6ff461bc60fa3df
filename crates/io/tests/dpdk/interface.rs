//! AF_PACKET of DPDK on a veth pair in a namespace of our own. Needs root.

use super::child::alone;
use super::links::carry;
use super::{LENGTH, open_queues, opened};
use sixbench_io::{Port, PortError, thread};
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

    fn open_queues(&self, name: &str, queues: u32) -> Result<Port, PortError> {
        let name = name.to_owned();
        thread::in_namespace(&self.0, move || open_queues(&name, queues)).expect("namespace")
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

#[test]
fn more_queues_than_the_device_has_are_refused_with_their_number() {
    alone("interface::more_queues_than_the_device_has_are_refused_with_their_number", || {
        let pair = Pair::new("dpdk-queues");
        let device = "dpdk:net_af_packet0,iface=e0";
        let told = pair.open_queues(device, 2).err().expect("no port").to_string();
        assert_eq!(told, format!("{device}: DPDK cannot use 2 queues of this device: it has 1; set `queues` to no more"));
        // The device was given back, and can be opened with as many queues as it is told to have.
        assert_eq!(pair.open_queues(&format!("{device},qpairs=2"), 2).expect("a port").queues.len(), 2);
    });
}
