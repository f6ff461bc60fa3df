//! Clients that violate the protocol in their offers to our server, and in the rings.

use super::peer::*;
use super::{Directory, failed, in_time, open, until_error};
use sixbench_io::{Halves, PortError};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const RING_OCTETS: usize = DESCRIPTORS + 16 * 16;
const BUFFERS: usize = 4096;
const BUFFER: usize = 2048;
const REGION: usize = BUFFERS + 32 * BUFFER;

/// The offer of a client, which is valid by default.
#[derive(Clone)]
struct Offer {
    version: u16,
    id: u32,
    mode: u8,
    file: usize,
    is_sealed: bool,
    size: u64,
    region_index: u16,
    region_fds: usize,
    ring_fds: usize,
    is_event: bool,
    /// Flags, index, region, offset and size of each ring.
    rings: Vec<(u16, u16, u16, u32, u8)>,
    cookie: u32,
    /// A message that is sent before CONNECT.
    stray: Option<Vec<u8>>,
}

impl Default for Offer {
    fn default() -> Self {
        Self {
            version: 0x0200,
            id: 0,
            mode: 0,
            file: REGION,
            is_sealed: true,
            size: REGION as u64,
            region_index: 0,
            region_fds: 1,
            ring_fds: 1,
            is_event: true,
            rings: vec![(1, 0, 0, 0, 4), (0, 0, 0, RING_OCTETS as u32, 4)],
            cookie: COOKIE,
            stray: None,
        }
    }
}

/// A client that has connected, or was told why it could not.
struct FakeClient {
    _socket: RawSocket,
    memory: RawMemory,
    event: OwnedFd,
}

/// Makes this offer; if the server refuses, its reason is the error.
fn offer(path: &str, offer: Offer) -> Result<FakeClient, String> {
    let socket = RawSocket::connect(path);
    let hello = socket.expect(HELLO).0;
    assert_eq!(
        hello[34..45],
        [0, 2, 0, 2, 15, 0, 0, 0, 0, 0, 14],
        "version 2.0, 16 regions, a ring each way, of 2^14 at most"
    );
    let file = memory_file(offer.file, offer.is_sealed);
    let memory = RawMemory::map(&file, offer.file);
    let event = event();
    let other = File::open("/dev/zero").expect("a device");
    let accepted = |octets: Vec<u8>, fds: &[RawFd], answer: u16| {
        socket.send(&octets, fds);
        let octets = socket.receive().0;
        if octets.is_empty() {
            return Err("closed".to_owned());
        }
        if octets[..2] == DISCONNECT.to_ne_bytes() {
            return Err(reason(&octets));
        }
        assert_eq!(octets[..2], answer.to_ne_bytes());
        Ok(())
    };
    let (version, id) = (offer.version.to_ne_bytes(), offer.id.to_ne_bytes());
    accepted(
        message(
            INIT,
            &[&version, &id, &[offer.mode], &[b's'; 24], &name("liar")],
        ),
        &[],
        ACK,
    )?;
    let region = [
        &offer.region_index.to_ne_bytes()[..],
        &offer.size.to_ne_bytes(),
    ];
    accepted(
        message(ADD_REGION, &region),
        &vec![file.as_raw_fd(); offer.region_fds],
        ACK,
    )?;
    let fd = if offer.is_event {
        event.as_raw_fd()
    } else {
        other.as_raw_fd()
    };
    for (flags, index, region, offset, log2_size) in offer.rings {
        if offset as usize + 128 <= offer.file {
            memory.put(offset as usize, offer.cookie.to_ne_bytes());
        }
        let words = [flags, index, region].map(u16::to_ne_bytes).concat();
        accepted(
            message(ADD_RING, &[&words, &offset.to_ne_bytes(), &[log2_size]]),
            &vec![fd; offer.ring_fds],
            ACK,
        )?;
    }
    if let Some(stray) = offer.stray {
        accepted(stray, &[], ACK)?;
    }
    accepted(message(CONNECT, &[&name("memif0/0")]), &[], CONNECTED)?;
    Ok(FakeClient {
        _socket: socket,
        memory,
        event,
    })
}

/// Returns our error, and the reason that the client was given.
fn refused(name: &str, lie: Offer) -> String {
    let directory = Directory::new(&format!("client-{name}"));
    let path = directory.socket("x.sock");
    let client = {
        let path = path.clone();
        std::thread::spawn(move || offer(&path, lie).err().expect("refused"))
    };
    let ours = failed(open(&format!("memif-server:{path}"), 60));
    let theirs = client.join().expect("no panic");
    let text = ours.split_once(": ").expect("the port's name").1;
    assert!(
        text.starts_with(&theirs) && theirs.len() > 20,
        "the client is told the same: {theirs}"
    );
    ours
}

fn honest() -> Offer {
    Offer::default()
}

#[test]
fn another_version_interface_or_mode_is_refused() {
    let told = refused(
        "version",
        Offer {
            version: 0x0100,
            ..honest()
        },
    );
    assert!(
        told.contains("the peer speaks memif 1.0, and sixbench 2.0"),
        "{told}"
    );
    let told = refused("id", Offer { id: 3, ..honest() });
    assert!(
        told.contains("the peer wants the interface 3, and here is the interface 0: change"),
        "{told}"
    );
    let told = refused(
        "mode",
        Offer {
            mode: 1,
            ..honest()
        },
    );
    assert!(
        told.contains("the peer wants the mode 1, and here is Ethernet"),
        "{told}"
    );
}

#[test]
fn a_region_that_is_not_what_it_is_said_to_be_is_refused() {
    let size = |size| Offer { size, ..honest() };
    let told = refused("larger", size(REGION as u64 + 1));
    assert!(
        told.contains(&format!(
            "a region of {} octets, and its file has {REGION}",
            REGION + 1
        )),
        "{told}"
    );
    assert!(refused("none", size(0)).contains("a region of 0 octets"));
    assert!(refused("huge", size(1 << 40)).contains("its regions have more than 1024 MiB"));
    assert!(refused("max", size(u64::MAX)).contains("its regions have more than 1024 MiB"));
    let told = refused(
        "unsealed",
        Offer {
            is_sealed: false,
            ..honest()
        },
    );
    assert!(
        told.contains("not sealed against shrinking (F_SEAL_SHRINK)"),
        "{told}"
    );
    let told = refused(
        "index",
        Offer {
            region_index: 1,
            ..honest()
        },
    );
    assert!(
        told.contains("it adds the region 1 where 0 is due"),
        "{told}"
    );
}

#[test]
fn descriptors_that_lack_or_are_too_many_are_refused() {
    for (count, what) in [
        (0, "0 descriptors came with"),
        (2, "2 descriptors came with"),
        (9, "or with too many descriptors"),
    ] {
        let told = refused(
            &format!("region-fds-{count}"),
            Offer {
                region_fds: count,
                ..honest()
            },
        );
        assert!(told.contains(what), "{told}");
        let told = refused(
            &format!("ring-fds-{count}"),
            Offer {
                ring_fds: count,
                ..honest()
            },
        );
        assert!(told.contains(what), "{told}");
    }
    let told = refused(
        "no-event",
        Offer {
            is_event: false,
            ..honest()
        },
    );
    assert!(
        told.contains("the descriptor of its ring is no eventfd"),
        "{told}"
    );
}

#[test]
fn rings_that_cannot_be_are_refused() {
    let second = |ring| Offer {
        rings: vec![(1, 0, 0, 0, 4), ring],
        ..honest()
    };
    for log2_size in [0, 15, 32, 255] {
        let told = refused(
            &format!("log2-{log2_size}"),
            second((0, 0, 0, RING_OCTETS as u32, log2_size)),
        );
        assert!(
            told.contains(&format!("it wants a ring of 2^{log2_size} frames")),
            "{told}"
        );
    }
    let told = refused("unaligned", second((0, 0, 0, RING_OCTETS as u32 + 8, 4)));
    assert!(
        told.contains("it has a ring at 392, which is not aligned"),
        "{told}"
    );
    for offset in [REGION as u32 - 368, u32::MAX - 15] {
        let told = refused(&format!("offset-{offset}"), second((0, 0, 0, offset, 4)));
        assert!(
            told.contains(&format!(
                "it names 384 octets at {offset} of region 0, which has {REGION}"
            )),
            "{told}"
        );
    }
    assert!(
        refused("ring-region", second((0, 0, 1, 0, 4)))
            .contains("it names the region 1, which there is not")
    );
    assert!(refused("ring-index", second((0, 1, 0, 0, 4))).contains("one queue is served"));
    assert!(
        refused("ring-twice", second((1, 0, 0, 0, 4)))
            .contains("it adds a second ring in one direction")
    );
    let told = refused(
        "cookie",
        Offer {
            cookie: 0x1234,
            ..honest()
        },
    );
    assert!(
        told.contains("where its ring should begin there is 0x1234 instead of 0x3e31f20"),
        "{told}"
    );
    let told = refused(
        "one-ring",
        Offer {
            rings: vec![(1, 0, 0, 0, 4)],
            ..honest()
        },
    );
    assert!(
        told.contains("it wants to begin without a ring in each direction"),
        "{told}"
    );
}

#[test]
fn a_message_that_is_none_or_not_due_is_refused() {
    let stray = |octets: Vec<u8>| Offer {
        stray: Some(octets),
        ..honest()
    };
    assert!(refused("stray-short", stray(vec![4; 127])).contains("a message of 127 octets"));
    assert!(
        refused("stray-long", stray(vec![4; 129])).contains("a message of more than 128 octets")
    );
    assert!(refused("stray-unknown", stray(message(77, &[]))).contains("the unknown type 77"));
    let told = refused("stray-init", stray(message(INIT, &[])));
    assert!(
        told.contains("INIT where ADD_REGION, ADD_RING or CONNECT is due"),
        "{told}"
    );
}

#[test]
fn a_client_that_gives_up_is_quoted() {
    let directory = Directory::new("client-quits");
    let path = directory.socket("x.sock");
    let client = {
        let path = path.clone();
        std::thread::spawn(move || {
            let socket = RawSocket::connect(&path);
            socket.expect(HELLO);
            socket.send(&disconnect("Incompatible memif version"), &[]);
        })
    };
    let told = failed(open(&format!("memif-server:{path}"), 60));
    assert!(
        told.contains("the peer refused instead of sending INIT: \"Incompatible memif version\""),
        "{told}"
    );
    client.join().expect("no panic");
}

/// Connects a fake client to our server.
fn connected(name: &str) -> (Halves, FakeClient) {
    let directory = Directory::new(&format!("client-{name}"));
    let path = directory.socket("x.sock");
    let client = {
        let path = path.clone();
        std::thread::spawn(move || {
            offer(&path, honest()).unwrap_or_else(|reason| panic!("{reason}"))
        })
    };
    let ours = open(&format!("memif-server:{path}"), 1514).expect("a link");
    (ours, client.join().expect("no panic"))
}

impl FakeClient {
    /// Writes the entry `slot` of a ring: flags, region, octets, offset.
    fn write(
        &self,
        ring: usize,
        slot: usize,
        (flags, region, octets, offset): (u16, u16, u32, u32),
    ) {
        let at = ring + DESCRIPTORS + 16 * slot;
        self.memory.put(at, flags.to_ne_bytes());
        self.memory.put(at + 2, region.to_ne_bytes());
        self.memory.put(at + 4, octets.to_ne_bytes());
        self.memory.put(at + 8, offset.to_ne_bytes());
    }

    fn set_head(&self, ring: usize, head: u16) {
        self.memory.put(ring + HEAD, head.to_ne_bytes());
    }

    fn tail(&self, ring: usize) -> u16 {
        u16::from_ne_bytes(self.memory.get(ring + TAIL))
    }
}

const TO_SERVER: usize = 0;
const TO_CLIENT: usize = RING_OCTETS;

#[test]
fn an_honest_client_gets_its_frames_in_its_own_buffers_however_small() {
    let (mut ours, client) = connected("truth");
    assert_eq!(
        client.memory.get(TO_SERVER + 4),
        1u16.to_ne_bytes(),
        "we poll, and need not be woken"
    );
    client.memory.put(BUFFERS, *b"frame");
    client.write(TO_SERVER, 0, (0, 0, 5, BUFFERS as u32));
    client.set_head(TO_SERVER, 1);
    let mut frames = Vec::new();
    assert_eq!(
        ours.receive
            .receive(&mut |frame| frames.push(frame.to_vec()))
            .expect("receive"),
        1
    );
    assert_eq!(
        (frames, client.tail(TO_SERVER)),
        (vec![b"frame".to_vec()], 1)
    );
    // Three of four buffers of four octets hold one frame of ten. A second one has no room and is refused as a whole, and so is a short one after
    // it, to keep the order.
    (0..4).for_each(|slot| {
        client.write(TO_CLIENT, slot, (0, 0, 4, (BUFFERS + slot * BUFFER) as u32));
    });
    client.set_head(TO_CLIENT, 4);
    let fill = &mut |slot: usize, buffer: &mut [u8]| {
        buffer[..10].copy_from_slice(b"0123456789");
        if slot < 2 { 10 } else { 4 }
    };
    let sent = ours.transmit.transmit(3, fill).expect("send");
    assert_eq!(
        (sent.taken, sent.refused, client.tail(TO_CLIENT)),
        (3, 2, 3)
    );
    let part = |slot: usize| client.memory.get(BUFFERS + slot * BUFFER);
    assert_eq!([part(0), part(1)], [*b"0123", *b"4567"]);
    assert_eq!(part(2)[..2], *b"89");
    let entry = |slot: usize| client.memory.get::<8>(TO_CLIENT + DESCRIPTORS + 16 * slot);
    assert_eq!(
        [entry(0), entry(1), entry(2)],
        [
            [1, 0, 0, 0, 4, 0, 0, 0],
            [1, 0, 0, 0, 4, 0, 0, 0],
            [0, 0, 0, 0, 2, 0, 0, 0]
        ]
    );
}

#[test]
fn frames_that_lie_outside_of_the_memory_are_refused() {
    let lies = [
        (
            "length",
            (0, 0, (REGION - BUFFERS + 1) as u32, BUFFERS as u32),
            "octets at 4096 of region 0",
        ),
        (
            "longest",
            (0, 0, u32::MAX, 0),
            "it names 4294967295 octets at 0 of region 0",
        ),
        (
            "offset",
            (0, 0, 1, REGION as u32),
            "it names 1 octets at 69632 of region 0, which has 69632",
        ),
        (
            "both",
            (0, 0, u32::MAX, u32::MAX),
            "it names 4294967295 octets at 4294967295",
        ),
        (
            "region",
            (0, 1, 60, 0),
            "it names the region 1, which there is not",
        ),
        (
            "last-region",
            (0, u16::MAX, 60, 0),
            "it names the region 65535",
        ),
        (
            "too-long",
            (0, 0, 65_537, 0),
            "a frame of more than 65536 octets",
        ),
        (
            "no-end",
            (1, 0, 60, 0),
            "the beginning of a frame without its end",
        ),
    ];
    for (name, entry, what) in lies {
        let (mut ours, client) = connected(name);
        client.write(TO_SERVER, 0, entry);
        client.set_head(TO_SERVER, 1);
        let told = failed(
            ours.receive
                .receive(&mut |_| panic!("a frame that never was")),
        );
        assert!(
            told.contains("the peer breaks the rules of memif: ") && told.contains(what),
            "{name}: {told}"
        );
    }
}

#[test]
fn buffers_that_lie_outside_of_the_memory_are_not_written() {
    let lies = [
        (
            "out-length",
            (0, 0, (REGION - BUFFERS + 1) as u32, BUFFERS as u32),
            "octets at 4096 of region 0",
        ),
        (
            "out-offset",
            (0, 0, 60, u32::MAX),
            "it names 60 octets at 4294967295 of region 0",
        ),
        (
            "out-region",
            (0, 9, 60, 0),
            "it names the region 9, which there is not",
        ),
        (
            "out-empty",
            (0, 0, 0, 0),
            "it offers an empty buffer of 0 octets",
        ),
    ];
    for (name, entry, what) in lies {
        for is_answer in [false, true] {
            let (mut ours, client) = connected(&format!("{name}-{is_answer}"));
            client.write(TO_CLIENT, 0, entry);
            client.set_head(TO_CLIENT, 1);
            let outcome: Result<(), PortError> = if is_answer {
                ours.receive.answer(&[1; 60])
            } else {
                ours.transmit.transmit(1, &mut |_, _| 60).map(drop)
            };
            let told = failed(outcome);
            assert!(told.contains(what), "{name}: {told}");
        }
    }
}

#[test]
fn indices_that_jump_are_refused() {
    for head in [17, 0x8000, 0xffff] {
        let (mut ours, client) = connected(&format!("head-{head}"));
        client.set_head(TO_SERVER, head);
        let told = failed(
            ours.receive
                .receive(&mut |_| panic!("a frame that never was")),
        );
        assert!(
            told.contains(&format!(
                "its index of a ring of 16 frames jumped from 0 to {head}"
            )),
            "{told}"
        );
        client.set_head(TO_CLIENT, head);
        let told = failed(ours.transmit.transmit(1, &mut |_, _| 60));
        assert!(told.contains(&format!("jumped from 0 to {head}")), "{told}");
    }
}

#[test]
fn a_client_that_jams_the_descriptor_that_wakes_it_holds_up_nothing() {
    let (mut ours, client) = connected("jam");
    jam(&client.event);
    in_time("sending, answering and closing", move || {
        for head in (2..200).step_by(2) {
            (0..16).for_each(|slot| client.write(TO_CLIENT, slot, (0, 0, 60, BUFFERS as u32)));
            client.set_head(TO_CLIENT, head);
            ours.transmit.transmit(1, &mut |_, _| 60).expect("send");
            ours.receive.answer(&[1; 60]).expect("answer");
            assert_eq!(client.tail(TO_CLIENT), head);
        }
    });
}

#[test]
fn a_client_that_is_killed_during_a_trial_ends_it() {
    let (mut ours, client) = connected("killed");
    ours.transmit.check_link().expect("a link");
    drop(client);
    let told = until_error(|| ours.receive.receive(&mut |_| ()));
    assert!(
        told.contains("the peer has gone away: did the device end?"),
        "{told}"
    );
    let told = until_error(|| ours.transmit.transmit(64, &mut |_, _| 60));
    assert!(told.contains("the peer has gone away"), "{told}");
}
