//! The messages when a port cannot be opened.

use super::child::{alone, alone_with};
use super::links::carry;
use super::{LENGTH, open, open_for, opened};

fn told(name: &str) -> String {
    open(name).err().expect("no port").to_string()
}

#[test]
fn a_shim_that_is_not_there_or_is_none_is_an_error_that_says_what_builds_it() {
    let this = "errors::a_shim_that_is_not_there_or_is_none_is_an_error_that_says_what_builds_it";
    alone_with(this, &[("SIXBENCH_DPDK", "/nowhere/x.so")], || {
        let told = told("dpdk:net_null0");
        assert!(
            told.starts_with("dpdk:net_null0: there is no /nowhere/x.so: `make build` builds it"),
            "{told}"
        );
    });
}

#[test]
fn a_driver_that_is_unknown_and_a_device_that_is_open_already_are_named() {
    alone(
        "errors::a_driver_that_is_unknown_and_a_device_that_is_open_already_are_named",
        || {
            let unknown = told("dpdk:net_nonsense0");
            assert!(
                unknown.starts_with("dpdk:net_nonsense0: DPDK cannot open the device: "),
                "{unknown}"
            );
            let mut port = opened("dpdk:net_ring0").into_single_queue();
            let again = told("dpdk:net_ring0");
            assert_eq!(
                again,
                "dpdk:net_ring0: the device net_ring0 is open already: left and right must be two devices"
            );
            carry((&mut *port.transmit, &mut *port.receive), 100, LENGTH);
            let address = told("dpdk:e0");
            assert!(
                address.contains("expected a PCI device as in 0000:3b:00.0"),
                "{address}"
            );
        },
    );
}

#[test]
fn frames_that_are_too_long_for_the_device_are_refused() {
    alone(
        "errors::frames_that_are_too_long_for_the_device_are_refused",
        || {
            let told = open_for("dpdk:net_ring0", 70_000)
                .err()
                .expect("no port")
                .to_string();
            assert!(told.contains("it carries frames of at most"), "{told}");
        },
    );
}

#[test]
fn a_link_that_does_not_come_up_is_told_before_a_frame_is_sent() {
    alone(
        "errors::a_link_that_does_not_come_up_is_told_before_a_frame_is_sent",
        || {
            let socket =
                std::env::temp_dir().join(format!("sb-{}-dpdk-alone.sock", std::process::id()));
            let name = format!(
                "dpdk:net_memif0,role=server,socket={},socket-abstract=no",
                socket.display()
            );
            let mut port = opened(&name).into_single_queue();
            let told = port
                .receive
                .answer(&[1; LENGTH])
                .expect_err("a link")
                .to_string();
            assert!(
                told.starts_with(&format!(
                    "{name}: the link did not come up within 10 s: is the device's interface"
                )),
                "{told}"
            );
            assert!(
                port.transmit
                    .check_link()
                    .expect_err("a link")
                    .to_string()
                    .contains("the link is down")
            );
            drop(port);
            assert!(
                !socket.exists(),
                "a device that is closed takes its socket away"
            );
        },
    );
}
