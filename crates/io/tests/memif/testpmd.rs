//! Our client with DPDK's server.

use super::device::Testpmd;
use super::{Directory, PATIENCE, open_when_there};
use sixbench_io::{Halves, Port, Sent};
use std::time::Instant;

const LENGTH: usize = 60;

/// Sends frames on one end and receives them on the other; each must arrive once, unchanged and in order.
fn cross(from: &mut Halves, to: &mut Halves, frames: u32) {
    let (end, mut sent, mut seen) = (Instant::now() + PATIENCE, 0u32, 0u32);
    while seen < frames {
        assert!(
            Instant::now() < end,
            "only {seen} of {sent} frames came through"
        );
        // So few are in flight that no ring is ever full, as none may be lost.
        let room = 256 - (sent - seen);
        let wanted = (frames - sent).min(room).min(32) as usize;
        let mut fill = |_: usize, buffer: &mut [u8]| {
            buffer[..LENGTH].fill(0x5a);
            buffer[..4].copy_from_slice(&sent.to_be_bytes());
            sent += 1;
            LENGTH
        };
        let outcome = from.transmit.transmit(wanted, &mut fill).expect("send");
        assert_eq!(
            outcome,
            Sent {
                taken: wanted,
                refused: 0
            }
        );
        let mut take = |frame: &[u8]| {
            assert_eq!(
                (frame.len(), &frame[..4]),
                (LENGTH, &seen.to_be_bytes()[..])
            );
            assert!(frame[4..].iter().all(|octet| *octet == 0x5a));
            seen += 1;
        };
        to.receive.receive(&mut take).expect("receive");
    }
}

/// Opens both ports, and waits until frames pass: the device starts to forward a moment after it has connected.
fn opened(sockets: [&str; 2]) -> [Halves; 2] {
    let ports = [0, 1].map(|nth| {
        let port = open_when_there(&format!("memif:{},id={nth}", sockets[nth]), LENGTH as u32);
        assert!(port.how.contains("memif, client of DPDK"), "{}", port.how);
        port
    });
    let [mut left, mut right] = ports.map(Port::into_single_queue);
    let (end, mut seen) = (Instant::now() + PATIENCE, 0);
    while seen == 0 {
        assert!(Instant::now() < end, "nothing comes through");
        left.receive.answer(&[1; LENGTH]).expect("send");
        right.receive.receive(&mut |_| seen += 1).expect("receive");
        std::thread::yield_now();
    }
    // Other frames sent until then are still in flight, and are followed by a mark.
    left.receive.answer(&[2; LENGTH]).expect("send");
    let mut is_last = false;
    while !is_last {
        assert!(Instant::now() < end, "the mark was lost");
        right
            .receive
            .receive(&mut |frame| is_last |= frame == [2; LENGTH])
            .expect("receive");
    }
    [left, right]
}

#[test]
fn every_frame_comes_through_dpdk_in_both_directions_until_it_ends() {
    let directory = Directory::new("testpmd");
    let sockets = ["left.sock", "right.sock"].map(|name| directory.socket(name));
    let sockets = [sockets[0].as_str(), sockets[1].as_str()];
    let device = Testpmd::start(&directory.0, sockets, "socket-abstract=no");
    let [mut left, mut right] = opened(sockets);
    // This is more than the range of a 16-bit index.
    cross(&mut left, &mut right, 100_000);
    cross(&mut right, &mut left, 100_000);
    // Not in the opposite order: DPDK 22.11 may touch the memory of a client that leaves while it forwards, and crashes.
    drop(device);
    let told = super::until_error(|| left.receive.receive(&mut |_| ()));
    assert!(told.contains("the peer has gone away"), "{told}");
    let told = super::failed(super::open(&format!("memif:{}", sockets[0]), LENGTH as u32));
    assert!(told.contains("nobody listens on the socket"), "{told}");
}

#[test]
fn sockets_of_the_abstract_namespace_and_a_refusal_of_dpdk() {
    let directory = Directory::new("testpmd-abstract");
    let names = ["left", "right"].map(|name| format!("sb-{}-{name}", std::process::id()));
    let _device = Testpmd::start(&directory.0, [&names[0], &names[1]], "socket-abstract=yes");
    let names = names.map(|name| format!("@{name}"));
    let [mut left, mut right] = opened([&names[0], &names[1]]);
    cross(&mut left, &mut right, 1_000);
    let told = super::failed(super::open(
        &format!("memif:{},id=9", names[0]),
        LENGTH as u32,
    ));
    assert!(
        told.contains("the peer refused instead of sending ACK: \"ID not found\""),
        "{told}"
    );
}
