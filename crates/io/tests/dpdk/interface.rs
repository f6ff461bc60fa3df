//! DPDK's AF_PACKET on a veth pair in its own namespace. It needs root.

use super::child::alone;
use super::links::{PATIENCE, carry};
use super::{LENGTH, open_queues, opened};
use crate::pair::Pair;
use sixbench_io::{Port, Transmit};
use std::time::Instant;

#[test]
fn frames_cross_a_veth_pair_between_dpdk_and_the_kernels_own_sockets() {
    alone(
        "interface::frames_cross_a_veth_pair_between_dpdk_and_the_kernels_own_sockets",
        || {
            let pair = Pair::new("dpdk");
            let (left, right) = (
                pair.inside(|| opened("dpdk:net_af_packet0,iface=e0")),
                pair.inside(|| opened("e1")),
            );
            assert_ne!(left.mac, [0; 6]);
            let [mut left, mut right] = [left, right].map(Port::into_single_queue);
            left.receive.receive(&mut |_| ()).expect("a link");
            carry((&mut *left.transmit, &mut *right.receive), 5_000, LENGTH);
            carry((&mut *right.transmit, &mut *left.receive), 5_000, LENGTH);
        },
    );
}

/// Sends frames until one is refused; fails if that takes too long.
fn send_until_refused(port: &mut dyn Transmit) {
    let end = Instant::now() + PATIENCE;
    while port
        .transmit(8, &mut |_, buffer| buffer[..LENGTH].len())
        .expect("send")
        .refused
        == 0
    {
        assert!(Instant::now() < end, "a dead link holds the sender back");
    }
}

#[test]
fn frames_cross_an_interface_that_dpdk_makes_and_its_link_may_go_down_and_up() {
    alone(
        "interface::frames_cross_an_interface_that_dpdk_makes_and_its_link_may_go_down_and_up",
        || {
            let pair = Pair::new("dpdk-tap");
            // The kernel sends nothing on the interface that DPDK creates.
            let silence = || std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
            pair.inside(silence).expect("a sysctl");
            let mut port = pair
                .inside(|| opened("dpdk:net_tap0,iface=tap0"))
                .into_single_queue();
            port.receive.receive(&mut |_| ()).expect("a link");
            let mut kernel = pair.inside(|| opened("tap0")).into_single_queue();
            carry((&mut *port.transmit, &mut *kernel.receive), 1_000, LENGTH);
            carry((&mut *kernel.transmit, &mut *port.receive), 1_000, LENGTH);
            pair.ip("link set tap0 down");
            assert!(
                port.transmit
                    .check_link()
                    .expect_err("a dead link")
                    .to_string()
                    .contains("the link is down")
            );
            pair.ip("link set tap0 up");
            port.transmit.check_link().expect("a link");
        },
    );
}

#[test]
fn an_interface_that_is_down_refuses_frames_and_the_port_goes_on_once_it_is_up() {
    alone(
        "interface::an_interface_that_is_down_refuses_frames_and_the_port_goes_on_once_it_is_up",
        || {
            let pair = Pair::new("dpdk-down");
            let (left, right) = (
                pair.inside(|| opened("dpdk:net_af_packet0,iface=e0")),
                pair.inside(|| opened("e1")),
            );
            let [mut left, mut right] = [left, right].map(Port::into_single_queue);
            left.receive.receive(&mut |_| ()).expect("a link");
            for _ in 0..3 {
                pair.ip("link set e0 down");
                send_until_refused(&mut *left.transmit);
                assert!(
                    left.transmit
                        .check_link()
                        .expect_err("a dead link")
                        .to_string()
                        .contains("the link is down")
                );
                left.receive.answer(&[1; LENGTH]).expect("lost");
                pair.ip("link set e0 up");
                let mut seen = false;
                let end = Instant::now() + PATIENCE;
                while !seen {
                    assert!(Instant::now() < end, "it does not go on");
                    left.receive.answer(&[2; LENGTH]).expect("sent");
                    right
                        .receive
                        .receive(&mut |frame| seen |= frame == [2; LENGTH])
                        .expect("receive");
                }
                // Frames that waited in the ring of the interface are removed.
                while right.receive.receive(&mut |_| ()).expect("receive") > 0 {}
            }
            carry((&mut *right.transmit, &mut *left.receive), 1_000, LENGTH);
        },
    );
}

#[test]
fn more_queues_than_the_device_has_are_refused_with_their_number() {
    alone(
        "interface::more_queues_than_the_device_has_are_refused_with_their_number",
        || {
            let pair = Pair::new("dpdk-queues");
            let device = "dpdk:net_af_packet0,iface=e0";
            let told = pair
                .inside(|| open_queues(device, 2))
                .err()
                .expect("no port")
                .to_string();
            assert_eq!(
                told,
                format!(
                    "{device}: DPDK cannot use 2 queues of this device: it has 1; set `queues` to no more"
                )
            );
            // The device was released, and can be opened with as many queues as configured.
            assert_eq!(
                pair.inside(|| open_queues(&format!("{device},qpairs=2"), 2))
                    .expect("a port")
                    .queues
                    .len(),
                2
            );
        },
    );
}
