//! Devices without a network: the null device, a ring, and shared memory with our own memif.

use super::child::alone;
use super::{LENGTH, open, open_for, open_queues, opened};
use sixbench_io::{BATCH, Halves, Port, Sent};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A time limit that no machine needs here.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Writes the frame `number`, whose length and octets follow from its number.
fn write(number: u64, longest: usize, buffer: &mut [u8]) -> usize {
    let length = 60 + (number * 7919 % (longest as u64 - 59)) as usize;
    buffer[..length].fill(number as u8);
    buffer[..8].copy_from_slice(&number.to_be_bytes());
    length
}

fn expect(number: u64, longest: usize, frame: &[u8]) {
    let mut right = vec![0; longest];
    let length = write(number, longest, &mut right);
    assert!(
        *frame == right[..length],
        "frame {number}: {} octets instead of {length}",
        frame.len()
    );
}

/// Sends frames on one end and receives them on the other, with at most 256 in flight: each must arrive once, unchanged and in order.
pub(crate) fn carry(
    (from, to): (
        &mut dyn sixbench_io::Transmit,
        &mut dyn sixbench_io::Receive,
    ),
    frames: u64,
    longest: usize,
) {
    let (end, mut sent, mut seen) = (Instant::now() + PATIENCE, 0u64, 0u64);
    while seen < frames {
        assert!(
            Instant::now() < end,
            "only {seen} of {sent} frames came through"
        );
        let wanted = (frames - sent).min(256 - (sent - seen)).min(BATCH as u64) as usize;
        let mut next = sent;
        let mut fill = |_: usize, buffer: &mut [u8]| {
            next += 1;
            write(next - 1, longest, buffer)
        };
        let Sent { taken, refused } = from.transmit(wanted, &mut fill).expect("send");
        assert_eq!(refused, 0);
        sent += taken as u64;
        let mut take = |frame: &[u8]| {
            expect(seen, longest, frame);
            seen += 1;
        };
        to.receive(&mut take).expect("receive");
    }
    assert_eq!(to.overruns().expect("a count"), 0);
}

/// Fills frames and checks that each buffer still has the octets last written there.
fn send_marked(halves: &mut Halves, held: &mut [Option<u8>], rounds: usize) {
    for round in 0..rounds {
        let mut fill = |slot: usize, buffer: &mut [u8]| {
            let expected = held[slot].unwrap_or_else(|| {
                buffer[..LENGTH].fill(7);
                7
            });
            assert_eq!(
                (buffer[0], &buffer[1..LENGTH]),
                (expected, &[7; LENGTH - 1][..]),
                "buffer {slot} in round {round}"
            );
            buffer[0] = round as u8;
            held[slot] = Some(round as u8);
            LENGTH
        };
        let Sent { taken, .. } = halves.transmit.transmit(BATCH, &mut fill).expect("send");
        assert_eq!(taken, BATCH);
        halves.receive.answer(&[9; 86]).expect("answer");
        halves.receive.receive(&mut |_| ()).expect("receive");
    }
}

#[test]
fn a_device_that_is_nothing_takes_every_frame_and_sends_empty_ones() {
    alone(
        "links::a_device_that_is_nothing_takes_every_frame_and_sends_empty_ones",
        || {
            let port = opened("dpdk:net_null0,size=64");
            assert!(
                port.how.contains("DPDK 22.") && port.how.contains("net_null"),
                "{}",
                port.how
            );
            let mut halves = port.into_single_queue();
            let sent = halves
                .transmit
                .transmit(BATCH, &mut |_, buffer| write(0, LENGTH, buffer))
                .expect("send");
            assert_eq!(
                sent,
                Sent {
                    taken: BATCH,
                    refused: 0
                }
            );
            let mut lengths = Vec::new();
            assert!(
                halves
                    .receive
                    .receive(&mut |frame| lengths.push(frame.len()))
                    .expect("receive")
                    > 0
            );
            assert!(lengths.iter().all(|length| *length == 64), "{lengths:?}");
            assert!(halves.transmit.flush().expect("flush").is_empty);
            halves.transmit.check_link().expect("a link");
        },
    );
}

#[test]
fn a_ring_gives_back_every_frame_once_and_in_order() {
    alone(
        "links::a_ring_gives_back_every_frame_once_and_in_order",
        || {
            let Halves {
                mut transmit,
                mut receive,
            } = opened("dpdk:net_ring0").into_single_queue();
            carry((&mut *transmit, &mut *receive), 100_000, LENGTH);
            drop((transmit, receive));
            let Halves {
                mut transmit,
                mut receive,
            } = open_for("dpdk:net_ring0", 1514)
                .expect("a port")
                .into_single_queue();
            carry((&mut *transmit, &mut *receive), 20_000, 1514);
        },
    );
}

#[test]
fn which_frames_a_call_hands_out_is_settled_before_the_first_of_them() {
    alone(
        "links::which_frames_a_call_hands_out_is_settled_before_the_first_of_them",
        || {
            let Halves {
                mut transmit,
                mut receive,
            } = opened("dpdk:net_ring0").into_single_queue();
            let mut next = 0u64;
            let mut send = || {
                let mut fill = |_: usize, buffer: &mut [u8]| {
                    next += 1;
                    write(next - 1, LENGTH, buffer)
                };
                assert_eq!(
                    transmit.transmit(3, &mut fill).expect("send"),
                    Sent {
                        taken: 3,
                        refused: 0
                    }
                );
            };
            send();
            let mut more = None;
            let count = receive
                .receive(&mut |_| *more.get_or_insert_with(&mut send))
                .expect("receive");
            assert_eq!(
                count, 3,
                "three more came while the first one was handed out"
            );
            assert_eq!(receive.receive(&mut |_| ()).expect("receive"), 3);
        },
    );
}

#[test]
fn a_full_ring_refuses_frames_and_takes_them_again_once_there_is_room() {
    alone(
        "links::a_full_ring_refuses_frames_and_takes_them_again_once_there_is_room",
        || {
            let Halves {
                mut transmit,
                mut receive,
            } = opened("dpdk:net_ring0").into_single_queue();
            let (mut next, mut sent) = (0u64, Sent::default());
            while sent.refused == 0 {
                let more = transmit.transmit(50, &mut |_, buffer| {
                    next += 1;
                    write(next - 1, LENGTH, buffer)
                });
                let Sent { taken, refused } = more.expect("send");
                assert_eq!(taken, 50, "a full ring does not hold the sender back");
                sent = Sent {
                    taken: sent.taken + taken,
                    refused,
                };
                assert!(next < 100_000, "it is never full");
            }
            let mut seen = 0;
            let mut take = |frame: &[u8]| {
                expect(seen, LENGTH, frame);
                seen += 1;
            };
            while receive.receive(&mut take).expect("receive") > 0 {}
            assert_eq!(seen as usize, sent.taken - sent.refused);
            carry((&mut *transmit, &mut *receive), 1_000, LENGTH);
        },
    );
}

#[test]
fn a_buffer_keeps_what_was_written_there_last_and_answers_do_not_spoil_it() {
    alone(
        "links::a_buffer_keeps_what_was_written_there_last_and_answers_do_not_spoil_it",
        || {
            for (device, buffers) in [
                ("dpdk:net_ring0", BATCH + 1),
                ("dpdk:net_null0,no-rx=1", BATCH),
            ] {
                let mut halves = opened(device).into_single_queue();
                let mut held = vec![None; halves.transmit.slots()];
                send_marked(&mut halves, &mut held, 1_000);
                assert!(held.iter().flatten().count() >= buffers, "{device}");
            }
        },
    );
}

#[test]
fn a_frame_that_comes_in_several_buffers_is_put_together() {
    alone(
        "links::a_frame_that_comes_in_several_buffers_is_put_together",
        || {
            let socket =
                std::env::temp_dir().join(format!("sb-{}-dpdk-long.sock", std::process::id()));
            let name = format!(
                "dpdk:net_memif0,role=server,socket={},socket-abstract=no",
                socket.display()
            );
            // Its buffers have room for 2 KiB, and the other end sends more.
            let mut short = opened(&name).into_single_queue();
            let mut long = open_for(&format!("memif:{}", socket.display()), 9014)
                .expect("a port")
                .into_single_queue();
            short.receive.receive(&mut |_| ()).expect("a link");
            carry((&mut *long.transmit, &mut *short.receive), 5_000, 9014);
        },
    );
}

#[test]
fn both_ends_of_a_memif_link_to_our_own_client_and_server() {
    alone(
        "links::both_ends_of_a_memif_link_to_our_own_client_and_server",
        || {
            let directory =
                std::env::temp_dir().join(format!("sb-{}-dpdk-memif", std::process::id()));
            std::fs::create_dir_all(&directory).expect("a directory");
            let socket = |name: &str| {
                directory
                    .join(name)
                    .to_str()
                    .expect("a plain path")
                    .to_owned()
            };
            let name = |role, socket| {
                format!("dpdk:net_memif0,role={role},socket={socket},socket-abstract=no,rsize=10")
            };
            let [ours, theirs] = ["server.sock", "client.sock"].map(socket);
            // Their server, which listens as soon as it exists.
            let their_end = opened(&name("server", &theirs));
            both_ways(their_end, opened(&format!("memif:{theirs}")));
            // Our server, which waits for their client. That fails if there is no listener yet, and can then be opened again.
            let server = format!("memif-server:{ours}");
            let our_end = std::thread::spawn(move || opened(&server));
            let end = Instant::now() + PATIENCE;
            let their_end = loop {
                match open(&name("client", &ours)) {
                    Err(error) if Instant::now() < end => {
                        assert!(
                            error.to_string().contains("Failed to connect socket"),
                            "{error}"
                        );
                    }
                    port => break port.expect("a port"),
                }
            };
            both_ways(their_end, our_end.join().expect("no panic"));
            std::fs::remove_dir_all(&directory).expect("nothing is left in use");
        },
    );
}

fn both_ways(one: Port, other: Port) {
    let [mut one, mut other] = [one, other].map(Port::into_single_queue);
    // The device waits for its link before its first use.
    one.receive.receive(&mut |_| ()).expect("a link");
    carry((&mut *one.transmit, &mut *other.receive), 20_000, LENGTH);
    carry((&mut *other.transmit, &mut *one.receive), 20_000, LENGTH);
}

#[test]
fn two_ports_of_one_process_share_the_environment_and_a_closed_one_can_be_opened_again() {
    alone(
        "links::two_ports_of_one_process_share_the_environment_and_a_closed_one_can_be_opened_again",
        || {
            for _ in 0..3 {
                let (left, right) = (opened("dpdk:net_ring0"), opened("dpdk:net_ring1"));
                assert!(
                    left.mac != right.mac
                        && [left.mac, right.mac].iter().all(|mac| mac[0] & 3 == 2),
                    "{:?}",
                    [left.mac, right.mac]
                );
                for port in [left, right] {
                    let Halves {
                        mut transmit,
                        mut receive,
                    } = port.into_single_queue();
                    carry((&mut *transmit, &mut *receive), 1_000, LENGTH);
                }
            }
        },
    );
}

#[test]
fn threads_that_come_and_go_use_a_port_one_after_the_other() {
    alone(
        "links::threads_that_come_and_go_use_a_port_one_after_the_other",
        || {
            let mut halves = opened("dpdk:net_ring0").into_single_queue();
            // More threads than DPDK has places for at one time.
            for _ in 0..300 {
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        carry((&mut *halves.transmit, &mut *halves.receive), 300, LENGTH);
                    });
                });
            }
        },
    );
}

/// Opens two DPDK ports that are the ends of one link, each with this number of queues, and waits for the link.
fn open_link(directory: &Path, queues: u32) -> [Vec<Halves>; 2] {
    std::fs::create_dir_all(directory).expect("a directory");
    let socket = directory
        .join("x.sock")
        .to_str()
        .expect("a plain path")
        .to_owned();
    let ends = [(0, "server"), (1, "client")].map(|(nth, role)| {
        let name =
            format!("dpdk:net_memif{nth},role={role},socket={socket},socket-abstract=no,rsize=10");
        let port = open_queues(&name, queues).expect("a port");
        assert!(
            port.how.contains("net_memif (") && port.how.contains("rings of"),
            "{}",
            port.how
        );
        port.queues
    });
    // The link comes up once both ends exist.
    ends.map(|mut end| {
        for halves in &mut end {
            halves.receive.receive(&mut |_| ()).expect("a link");
        }
        end
    })
}

/// Returns a directory that no other test uses.
fn own_directory(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("sb-{}-dpdk-{name}", std::process::id()))
}

#[test]
fn each_queue_of_a_port_carries_its_own_frames() {
    alone("links::each_queue_of_a_port_carries_its_own_frames", || {
        let directory = own_directory("queues");
        let [mut left, mut right] = open_link(&directory, 3);
        assert_eq!((left.len(), right.len()), (3, 3));
        // Each queue has its own frames, which no other queue receives.
        for (left, right) in left.iter_mut().zip(&mut right) {
            carry((&mut *left.transmit, &mut *right.receive), 5_000, LENGTH);
            carry((&mut *right.transmit, &mut *left.receive), 5_000, LENGTH);
        }
        for halves in left.iter_mut().chain(&mut right) {
            assert_eq!(
                halves
                    .receive
                    .receive(&mut |_| panic!("another frame"))
                    .expect("receive"),
                0
            );
        }
        drop((left, right));
        std::fs::remove_dir_all(&directory).expect("nothing is left in use");
    });
}

/// The driver tears down a link when it notices that the peer is gone, and so does closing it: these two must not collide when they happen at the
/// same time. They did once in eighty runs on two busy cores.
#[test]
fn an_end_of_a_link_may_be_closed_while_its_peer_goes() {
    alone(
        "links::an_end_of_a_link_may_be_closed_while_its_peer_goes",
        || {
            let directory = own_directory("closing");
            for _ in 0..100 {
                drop(open_link(&directory, 1));
            }
            std::fs::remove_dir_all(&directory).expect("nothing is left in use");
        },
    );
}
