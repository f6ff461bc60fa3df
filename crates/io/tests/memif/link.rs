//! Our client with our server.

use super::{Directory, PATIENCE, open, open_port, open_when_there, until_error};
use sixbench_io::{BATCH, Halves, Port, Sent};
use std::time::Instant;

/// The octets without FCS of the longest frame, a jumbo frame.
const LONGEST: u32 = 9014;
/// Frames that a ring holds.
const RING: usize = 2048;

/// Returns the client's and the server's end of a link.
fn ports(directory: &Directory, options: &str, longest: u32) -> (Port, Port) {
    let path = directory.socket("x.sock");
    let (client, server) = (
        format!("memif:{path}{options}"),
        format!("memif-server:{path}{options}"),
    );
    let server = std::thread::spawn(move || open_port(&server, longest).expect("a client"));
    (
        open_when_there(&client, longest),
        server.join().expect("no panic"),
    )
}

fn link(directory: &Directory, longest: u32) -> [Halves; 2] {
    let (client, server) = ports(directory, "", longest);
    [client.into_single_queue(), server.into_single_queue()]
}

/// Writes the frame `number`, whose length and octets follow from its number.
fn write(number: u64, longest: u32, buffer: &mut [u8]) -> usize {
    let length = 14 + (number * 7919 % u64::from(longest - 13)) as usize;
    buffer[..length].fill(number as u8);
    buffer[..8].copy_from_slice(&number.to_be_bytes());
    length
}

fn expect(number: u64, longest: u32, frame: &[u8]) {
    let mut right = vec![0; longest as usize];
    let length = write(number, longest, &mut right);
    assert!(
        *frame == right[..length],
        "frame {number}: {} octets instead of {length}",
        frame.len()
    );
}

/// Sends and receives at the same time, in two threads; every frame must arrive once, unchanged and in order.
fn carry(from: &mut Halves, to: &mut Halves, frames: u64, longest: u32) {
    let end = Instant::now() + PATIENCE;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut next, mut sent) = (0, 0);
            while sent < frames {
                // This is never more than the ring has room for, so that none is refused.
                let taken =
                    from.transmit
                        .transmit((frames - sent).min(16) as usize, &mut |_, buffer| {
                            let length = write(next, longest, buffer);
                            next += 1;
                            length
                        });
                let Sent { taken, refused } = taken.expect("send");
                // Refused frames are sent again: the first of them is next.
                sent += (taken - refused) as u64;
                next = sent;
                assert!(Instant::now() < end, "only {sent} frames left");
            }
        });
        let mut seen = 0;
        while seen < frames {
            let mut take = |frame: &[u8]| {
                expect(seen, longest, frame);
                seen += 1;
            };
            to.receive.receive(&mut take).expect("receive");
            assert!(Instant::now() < end, "only {seen} frames came");
        }
    });
    assert_eq!(
        to.receive
            .receive(&mut |_| panic!("another frame"))
            .expect("receive"),
        0
    );
    assert_eq!(to.receive.overruns().expect("a count"), 0);
}

#[test]
fn frames_of_all_sizes_arrive_once_and_in_order_in_both_directions_while_the_indices_wrap() {
    let directory = Directory::new("sizes");
    let [mut client, mut server] = link(&directory, LONGEST);
    // This is more than twice the range of a 16-bit index.
    carry(&mut client, &mut server, 140_000, 1514);
    carry(&mut server, &mut client, 140_000, 1514);
    carry(&mut client, &mut server, 5_000, LONGEST);
    carry(&mut server, &mut client, 5_000, LONGEST);
}

#[test]
fn both_directions_work_at_the_same_time() {
    let directory = Directory::new("both");
    let [client, server] = link(&directory, 60);
    // Each half has its own thread.
    let (
        Halves {
            transmit: left_out,
            receive: left_in,
        },
        Halves {
            transmit: right_out,
            receive: right_in,
        },
    ) = (client, server);
    std::thread::scope(|scope| {
        for (mut transmit, mut receive) in [(left_out, right_in), (right_out, left_in)] {
            let (begun, end) = (Instant::now(), 50_000);
            scope.spawn(move || {
                let mut sent = 0;
                while sent < end {
                    let mut next = sent;
                    let Sent { taken, refused } = transmit
                        .transmit((end - sent).min(BATCH as u64) as usize, &mut |_, buffer| {
                            next += 1;
                            write(next - 1, 60, buffer)
                        })
                        .expect("send");
                    sent += (taken - refused) as u64;
                    assert!(begun.elapsed() < PATIENCE);
                }
            });
            scope.spawn(move || {
                let mut seen = 0;
                while seen < end {
                    let mut take = |frame: &[u8]| {
                        expect(seen, 60, frame);
                        seen += 1;
                    };
                    receive.receive(&mut take).expect("receive");
                    assert!(begun.elapsed() < PATIENCE);
                }
            });
        }
    });
}

#[test]
fn which_frames_a_call_hands_out_is_settled_before_the_first_of_them() {
    let directory = Directory::new("settled");
    let mut ends = link(&directory, 60);
    for direction in ["to the server", "to the client"] {
        let [from, to] = &mut ends;
        let mut next = 0;
        let mut send = || {
            let mut fill = |_: usize, buffer: &mut [u8]| {
                next += 1;
                write(next - 1, 60, buffer)
            };
            assert_eq!(
                from.transmit.transmit(3, &mut fill).expect("send"),
                Sent {
                    taken: 3,
                    refused: 0
                }
            );
        };
        send();
        let mut more = None;
        let count = to
            .receive
            .receive(&mut |_| *more.get_or_insert_with(&mut send))
            .expect("receive");
        assert_eq!(
            count, 3,
            "{direction}: three more came while the first one was handed out"
        );
        assert_eq!(
            to.receive.receive(&mut |_| ()).expect("receive"),
            3,
            "{direction}"
        );
        ends.reverse();
    }
}

#[test]
fn a_full_ring_refuses_frames_and_goes_on_where_there_is_room_again() {
    let directory = Directory::new("full");
    let mut ends = link(&directory, 60);
    for direction in ["to the server", "to the client"] {
        let [from, to] = &mut ends;
        let (mut next, mut refused) = (0, 0);
        while next < RING as u64 + 100 {
            let sent = from.transmit.transmit(50, &mut |_, buffer| {
                next += 1;
                write(next - 1, 60, buffer)
            });
            let sent = sent.expect("send");
            assert_eq!(sent.taken, 50, "a full ring does not hold the sender back");
            refused += sent.refused;
        }
        assert_eq!(refused, next as usize - RING, "{direction}");
        let mut seen = 0;
        let mut take = |frame: &[u8]| {
            expect(seen, 60, frame);
            seen += 1;
        };
        assert_eq!(
            to.receive.receive(&mut take).expect("receive"),
            BATCH,
            "no more than a batch at a time"
        );
        while to.receive.receive(&mut take).expect("receive") > 0 {}
        assert_eq!(seen, RING as u64, "{direction}");
        carry(from, to, 100, 60);
        ends.reverse();
    }
}

#[test]
fn an_answer_leaves_by_itself_and_spoils_no_frame_that_waits_to_be_patched() {
    let directory = Directory::new("answer");
    let mut ends = link(&directory, 60);
    for _ in 0..2 {
        let [from, to] = &mut ends;
        let mut held = vec![false; from.transmit.slots()];
        for round in 0..3 * RING {
            from.receive.answer(&[9; 86]).expect("answer");
            // As in the engine, a buffer that was written keeps its content, except for a field. With three frames per round, each slot of the
            // ring has an answer at one time, and a frame at another.
            let mut fill = |slot: usize, buffer: &mut [u8]| {
                if !std::mem::replace(&mut held[slot], true) {
                    buffer[..60].fill(7);
                }
                buffer[0] = round as u8;
                60
            };
            assert_eq!(
                from.transmit.transmit(2, &mut fill).expect("send"),
                Sent {
                    taken: 2,
                    refused: 0
                }
            );
            let mut frames = Vec::new();
            to.receive
                .receive(&mut |frame| frames.push(frame.to_vec()))
                .expect("receive");
            let mut right = vec![7; 60];
            right[0] = round as u8;
            assert_eq!(frames, [vec![9; 86], right.clone(), right]);
        }
        ends.reverse();
    }
}

#[test]
fn an_answer_that_does_not_fit_is_lost_and_nothing_else() {
    let directory = Directory::new("long-answer");
    let [mut client, mut server] = link(&directory, 60);
    client.receive.answer(&[9; 4000]).expect("lost");
    carry(&mut client, &mut server, 100, 60);
}

#[test]
fn an_end_says_who_its_peer_is_and_has_an_address_of_its_own() {
    let directory = Directory::new("names");
    let (client, server) = ports(&directory, ",id=7", 60);
    let path = directory.socket("x.sock");
    assert_eq!(client.name, format!("memif:{path},id=7"));
    assert_eq!(server.name, format!("memif-server:{path},id=7"));
    assert_eq!(
        client.how,
        "memif, client of sixbench, sixbench (rings of 2048 frames in shared memory)"
    );
    assert_eq!(
        server.how,
        "memif, server of sixbench, sixbench (rings of 2048 frames in shared memory)"
    );
    assert_ne!(client.mac, server.mac);
    assert!(
        !std::path::Path::new(&path).exists(),
        "the server serves one client"
    );
}

#[test]
fn a_socket_of_the_abstract_namespace_needs_no_file() {
    let name = format!("@sb-{}-memif", std::process::id());
    let server = format!("memif-server:{name}");
    let server = std::thread::spawn(move || open(&server, 60).expect("a client"));
    let mut client = open_when_there(&format!("memif:{name}"), 60).into_single_queue();
    carry(&mut client, &mut server.join().expect("no panic"), 1000, 60);
}

#[test]
fn a_peer_that_goes_away_is_noticed_by_both_halves_and_does_not_come_back() {
    for client_goes in [true, false] {
        let directory = Directory::new(&format!("gone-{client_goes}"));
        let [client, server] = link(&directory, 60);
        let (mut left, gone) = if client_goes {
            (server, client)
        } else {
            (client, server)
        };
        left.transmit.check_link().expect("a link");
        drop(gone);
        let told = until_error(|| left.receive.receive(&mut |_| ()));
        assert!(
            told.contains(
                "the peer has gone away and says \"sixbench is done\": did the device end?"
            ),
            "{told}"
        );
        let told = until_error(|| {
            left.transmit
                .transmit(BATCH, &mut |_, buffer| write(0, 60, buffer))
        });
        assert!(told.contains("the peer has gone away"), "{told}");
        let told = until_error(|| left.transmit.check_link());
        assert!(told.contains("The link must be opened again"), "{told}");
        // Its socket is also gone.
        let path = directory.socket("x.sock");
        let told = super::failed(open(&format!("memif:{path}"), 60));
        assert!(
            told.contains(&format!("there is no socket {path}: start the device")),
            "{told}"
        );
    }
}
