//! AF_PACKET of DPDK on a veth pair in a namespace of our own. Needs root.

use super::child::alone;
use super::links::{PATIENCE, carry};
use super::{LENGTH, open_queues, opened};
use sixbench_io::{Port, PortError, Transmit, thread};
use std::process::Command;
use std::time::Instant;

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

/// Sends frames until one is refused; fails if that takes for ever.
fn send_until_refused(port: &mut dyn Transmit) {
    let end = Instant::now() + PATIENCE;
    while port.transmit(8, &mut |_, buffer| buffer[..LENGTH].len()).expect("send").refused == 0 {
        assert!(Instant::now() < end, "a dead link holds the sender back");
    }
}

#[test]
fn frames_cross_an_interface_that_dpdk_makes_and_its_link_may_go_down_and_up() {
    alone("interface::frames_cross_an_interface_that_dpdk_makes_and_its_link_may_go_down_and_up", || {
        let pair = Pair::new("dpdk-tap");
        // The kernel stays silent on the interface that DPDK makes.
        let silence = || std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        thread::in_namespace(&pair.0, silence).expect("a namespace").expect("a sysctl");
        let mut port = pair.open("dpdk:net_tap0,iface=tap0").into_single_queue();
        port.receive.receive(&mut |_| ()).expect("a link");
        let mut kernel = pair.open("tap0").into_single_queue();
        carry((&mut *port.transmit, &mut *kernel.receive), 1_000, LENGTH);
        carry((&mut *kernel.transmit, &mut *port.receive), 1_000, LENGTH);
        ip(&format!("-n {} link set tap0 down", pair.0));
        assert!(port.transmit.check_link().expect_err("a dead link").to_string().contains("the link is down"));
        ip(&format!("-n {} link set tap0 up", pair.0));
        port.transmit.check_link().expect("a link");
    });
}

#[test]
fn an_interface_that_is_down_refuses_frames_and_the_port_goes_on_once_it_is_up() {
    alone("interface::an_interface_that_is_down_refuses_frames_and_the_port_goes_on_once_it_is_up", || {
        let pair = Pair::new("dpdk-down");
        let (left, right) = (pair.open("dpdk:net_af_packet0,iface=e0"), pair.open("e1"));
        let [mut left, mut right] = [left, right].map(Port::into_single_queue);
        left.receive.receive(&mut |_| ()).expect("a link");
        for _ in 0..3 {
            ip(&format!("-n {} link set e0 down", pair.0));
            send_until_refused(&mut *left.transmit);
            assert!(left.transmit.check_link().expect_err("a dead link").to_string().contains("the link is down"));
            left.receive.answer(&[1; LENGTH]).expect("lost");
            ip(&format!("-n {} link set e0 up", pair.0));
            let mut seen = false;
            let end = Instant::now() + PATIENCE;
            while !seen {
                assert!(Instant::now() < end, "it does not go on");
                left.receive.answer(&[2; LENGTH]).expect("sent");
                right.receive.receive(&mut |frame| seen |= frame == [2; LENGTH]).expect("receive");
            }
            // What waited in the ring of the interface is let out.
            while right.receive.receive(&mut |_| ()).expect("receive") > 0 {}
        }
        carry((&mut *right.transmit, &mut *left.receive), 1_000, LENGTH);
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
