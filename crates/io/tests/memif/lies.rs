//! Servers that violate the protocol in their messages to our client, and in the rings.

use super::peer::*;
use super::{Directory, failed, in_time, open, until, until_error};
use sixbench_io::{Halves, PortError};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::mpsc;

/// Flags, region, octets and offset.
type Entry = (u16, u16, u32, u32);

/// A server that has connected, and the data from the client.
struct FakeServer {
    socket: RawSocket,
    memory: RawMemory,
    /// The offset and the number of frames of the ring to the server and of the ring to the client.
    rings: [(usize, u16); 2],
    /// The descriptor that wakes the reader of each.
    bells: Vec<OwnedFd>,
}

/// Does what every server does, except that `lie` replaces one message: (number of the message, octets).
fn serve(client: RawSocket, log2_ring: u8, lie: Option<(usize, Vec<u8>)>) -> Option<FakeServer> {
    let mut sent = 0;
    let mut say = |right: Vec<u8>| {
        let (number, lie) = lie.clone().unwrap_or((usize::MAX, Vec::new()));
        client.send(if sent == number { &lie } else { &right }, &[]);
        sent += 1;
        sent <= number
    };
    let goes_on = say(hello(0x0200, 0x0200, log2_ring));
    goes_on.then_some(())?;
    client.expect(INIT);
    say(message(ACK, &[])).then_some(())?;
    let (region, fd) = client.expect(ADD_REGION);
    let size = u64::from_ne_bytes(region[4..12].try_into().expect("eight octets"));
    let memory = RawMemory::map(&fd.expect("the region"), size as usize);
    say(message(ACK, &[])).then_some(())?;
    let (mut rings, mut bells) = ([(0, 0); 2], Vec::new());
    for (nth, place) in rings.iter_mut().enumerate() {
        let (ring, fd) = client.expect(ADD_RING);
        bells.push(fd.expect("a descriptor to wake its reader"));
        assert_eq!(
            ring[2..8],
            [u8::from(nth == 0), 0, 0, 0, 0, 0],
            "direction, index 0, region 0"
        );
        let offset = u32::from_ne_bytes(ring[8..12].try_into().expect("four octets")) as usize;
        *place = (offset, 1 << ring[12]);
        assert_eq!(memory.get(offset), COOKIE.to_ne_bytes());
        say(message(ACK, &[])).then_some(())?;
    }
    client.expect(CONNECT);
    // As VPP and DPDK do.
    for (offset, _) in rings {
        memory.put(offset + HEAD, [0; 2]);
        memory.put(offset + TAIL, [0; 2]);
    }
    say(message(CONNECTED, &[&name("memif1/0")])).then_some(())?;
    Some(FakeServer {
        socket: client,
        memory,
        rings,
        bells,
    })
}

/// Connects our client to a fake server.
fn connected(name: &str, longest: u32) -> (Halves, FakeServer) {
    let directory = Directory::new(name);
    let path = directory.socket("x.sock");
    let listener = RawListener::new(&path);
    let server = std::thread::spawn(move || serve(listener.accept(), 14, None).expect("no lie"));
    let port = super::open_port(&format!("memif:{path}"), longest).expect("a link");
    assert!(
        port.how
            .starts_with("memif, client of fake, memif1/0 (rings of 2048"),
        "{}",
        port.how
    );
    (port.into_single_queue(), server.join().expect("no panic"))
}

/// Returns our error if the server's message of this number is `lie`.
fn refused(name: &str, number: usize, lie: Vec<u8>) -> String {
    let directory = Directory::new(name);
    let path = directory.socket("x.sock");
    let listener = RawListener::new(&path);
    let server = std::thread::spawn(move || {
        let client = listener.accept();
        let copy = (number, lie);
        serve(client, 14, Some(copy)).is_none()
    });
    let told = failed(open(&format!("memif:{path}"), 60));
    assert!(server.join().expect("no panic"), "the lie was told");
    told
}

#[test]
fn a_message_that_is_none_or_not_due_ends_the_link_at_every_step() {
    // HELLO, the four acknowledgements, CONNECTED.
    let due = ["HELLO", "ACK", "ACK", "ACK", "ACK", "CONNECTED"];
    let lies = [
        (
            "short",
            vec![1; 127],
            "a message of 127 octets, where each has 128",
        ),
        ("long", vec![1; 129], "a message of more than 128 octets"),
        (
            "unknown",
            message(9, &[]),
            "a message of the unknown type 9",
        ),
        ("none", message(0, &[]), "a message of the unknown type 0"),
    ];
    for (number, awaited) in due.into_iter().enumerate() {
        for (name, lie, what) in &lies {
            let told = refused(&format!("lie-{name}-{number}"), number, lie.clone());
            assert!(
                told.contains("the peer breaks the rules of memif: ") && told.contains(what),
                "{number}: {told}"
            );
        }
        let told = refused(
            &format!("lie-other-{number}"),
            number,
            message(ADD_REGION, &[]),
        );
        assert!(
            told.contains(&format!("ADD_REGION where {awaited} is due")),
            "{told}"
        );
    }
}

#[test]
fn a_descriptor_that_nobody_asked_for_is_refused() {
    let directory = Directory::new("descriptor");
    let path = directory.socket("x.sock");
    for (count, what) in [
        (1, "a descriptor came with HELLO, which has none"),
        (9, "or with too many descriptors"),
    ] {
        let listener = RawListener::new(&path);
        let server = std::thread::spawn(move || {
            let client = listener.accept();
            client.send(&hello(0x0200, 0x0200, 14), &vec![0; count]);
            client.receive();
        });
        let told = failed(open(&format!("memif:{path}"), 60));
        assert!(told.contains(what), "{told}");
        server.join().expect("no panic");
        std::fs::remove_file(&path).expect("its socket");
    }
}

#[test]
fn a_limit_for_rings_is_kept_and_an_absurd_one_refused() {
    let directory = Directory::new("limit");
    let path = directory.socket("x.sock");
    for (limit, frames) in [(4, 16), (11, 2048), (255, 2048)] {
        let listener = RawListener::new(&path);
        let server =
            std::thread::spawn(move || serve(listener.accept(), limit, None).expect("no lie"));
        let _halves = open(&format!("memif:{path}"), 60).expect("a link");
        assert_eq!(
            server.join().expect("no panic").rings.map(|(_, size)| size),
            [frames; 2]
        );
        std::fs::remove_file(&path).expect("its socket");
    }
    let told = refused("limit-0", 0, hello(0x0200, 0x0200, 0));
    assert!(
        told.contains("it allows no ring of more than one frame"),
        "{told}"
    );
}

impl FakeServer {
    fn entry(&self, ring: usize, slot: usize) -> usize {
        self.rings[ring].0 + DESCRIPTORS + 16 * slot
    }

    fn read(&self, ring: usize, slot: usize) -> Entry {
        let at = self.entry(ring, slot);
        let (memory, word, long) = (&self.memory, u16::from_ne_bytes, u32::from_ne_bytes);
        (
            word(memory.get(at)),
            word(memory.get(at + 2)),
            long(memory.get(at + 4)),
            long(memory.get(at + 8)),
        )
    }

    fn write(&self, ring: usize, slot: usize, (flags, region, octets, offset): Entry) {
        let at = self.entry(ring, slot);
        self.memory.put(at, flags.to_ne_bytes());
        self.memory.put(at + 2, region.to_ne_bytes());
        self.memory.put(at + 4, octets.to_ne_bytes());
        self.memory.put(at + 8, offset.to_ne_bytes());
    }

    fn set_tail(&self, ring: usize, tail: u16) {
        self.memory
            .put(self.rings[ring].0 + TAIL, tail.to_ne_bytes());
    }

    fn head(&self, ring: usize) -> u16 {
        u16::from_ne_bytes(self.memory.get(self.rings[ring].0 + HEAD))
    }
}

const TO_SERVER: usize = 0;
const TO_CLIENT: usize = 1;

#[test]
fn the_client_fills_its_ring_after_the_server_has_set_it_to_zero_and_lies_nowhere_itself() {
    let (mut ours, server) = connected("truth", 60);
    assert_eq!((server.head(TO_CLIENT), server.head(TO_SERVER)), (2048, 0));
    let flags: [u8; 2] = server.memory.get(server.rings[TO_CLIENT].0 + 4);
    assert_eq!(
        u16::from_ne_bytes(flags),
        1,
        "the client polls, and need not be woken"
    );
    let mut places = Vec::new();
    for slot in 0..2048 {
        let (flags, region, octets, offset) = server.read(TO_CLIENT, slot);
        assert_eq!((flags, region), (0, 0));
        assert!(octets >= 2048, "DPDK writes as much, whatever stands here");
        places.push((offset as usize, octets as usize));
    }
    ours.transmit
        .transmit(3, &mut |_, buffer| {
            buffer[..60].fill(8);
            60
        })
        .expect("send");
    assert_eq!(server.head(TO_SERVER), 3);
    for slot in 0..3 {
        let (flags, region, octets, offset) = server.read(TO_SERVER, slot);
        assert_eq!((flags, region, octets), (0, 0, 60));
        assert_eq!(server.memory.get(offset as usize), [8; 60]);
        places.push((offset as usize, 60));
    }
    places.extend(
        server
            .rings
            .map(|(offset, size)| (offset, DESCRIPTORS + 16 * usize::from(size))),
    );
    places.sort_unstable();
    assert!(
        places
            .windows(2)
            .all(|pair| pair[0].0 + pair[0].1 <= pair[1].0),
        "nothing overlaps"
    );
    // A frame of the server arrives, and its buffer is returned as it was.
    let (_, _, room, offset) = server.read(TO_CLIENT, 0);
    server.memory.put(offset as usize, *b"frame");
    server.write(TO_CLIENT, 0, (0, 0, 5, offset));
    server.set_tail(TO_CLIENT, 1);
    let mut frames = Vec::new();
    assert_eq!(
        ours.receive
            .receive(&mut |frame| frames.push(frame.to_vec()))
            .expect("receive"),
        1
    );
    assert_eq!(frames, [b"frame"]);
    assert_eq!(
        (server.read(TO_CLIENT, 0), server.head(TO_CLIENT)),
        ((0, 0, room, offset), 2049)
    );
}

#[test]
fn a_frame_in_several_buffers_is_put_together() {
    let (mut ours, server) = connected("chain", 60);
    for (slot, part) in [b"one", b"two"].into_iter().enumerate() {
        let (_, _, _, offset) = server.read(TO_CLIENT, slot);
        server.memory.put(offset as usize, *part);
        server.write(TO_CLIENT, slot, (u16::from(slot == 0), 0, 3, offset));
    }
    server.set_tail(TO_CLIENT, 2);
    let mut frames = Vec::new();
    assert_eq!(
        ours.receive
            .receive(&mut |frame| frames.push(frame.to_vec()))
            .expect("receive"),
        1
    );
    assert_eq!(frames, [b"onetwo"]);
    assert_eq!(server.read(TO_CLIENT, 0).0, 0, "no flag is left behind");
}

/// Returns our error after the server has done this to its rings.
fn told(name: &str, lie: impl FnOnce(&FakeServer)) -> String {
    let (mut ours, server) = connected(name, 60);
    let mut receive = move || {
        ours.receive
            .receive(&mut |_| panic!("a frame that never was"))
    };
    assert_eq!(receive().expect("an honest server"), 0);
    lie(&server);
    failed(receive())
}

#[test]
fn entries_that_lie_are_refused_and_nothing_outside_of_their_buffers_is_read() {
    let lie = |change: fn(Entry) -> Entry| {
        move |server: &FakeServer| {
            server.write(TO_CLIENT, 0, change(server.read(TO_CLIENT, 0)));
            server.set_tail(TO_CLIENT, 1);
        }
    };
    let handed = "the peer breaks the rules of memif: it hands over";
    let longer = told(
        "longer",
        lie(|(flags, region, octets, offset)| (flags, region, octets + 1, offset)),
    );
    assert!(
        longer.contains(&format!("{handed} 2113 octets at")),
        "{longer}"
    );
    let longest = told(
        "longest",
        lie(|(flags, region, _, offset)| (flags, region, u32::MAX, offset)),
    );
    assert!(
        longest.contains(&format!("{handed} 4294967295 octets")),
        "{longest}"
    );
    let elsewhere = told(
        "elsewhere",
        lie(|(flags, region, octets, offset)| (flags, region, octets, offset + 64)),
    );
    assert!(
        elsewhere.contains("where its buffer has 2112 at"),
        "{elsewhere}"
    );
    let outside = told(
        "outside",
        lie(|(flags, region, octets, _)| (flags, region, octets, u32::MAX)),
    );
    assert!(outside.contains("at 4294967295 of region 0"), "{outside}");
    let region = told(
        "region",
        lie(|(flags, _, octets, offset)| (flags, 7, octets, offset)),
    );
    assert!(region.contains("of region 7, where its buffer"), "{region}");
    let endless = told(
        "endless",
        lie(|(_, region, octets, offset)| (1, region, octets, offset)),
    );
    assert!(
        endless.contains("the beginning of a frame without its end"),
        "{endless}"
    );
}

#[test]
fn a_frame_without_end_is_refused() {
    let endless = told("endless-chain", |server| {
        for slot in 0..2048 {
            let (_, region, octets, offset) = server.read(TO_CLIENT, slot);
            server.write(TO_CLIENT, slot, (1, region, octets, offset));
        }
        server.set_tail(TO_CLIENT, 2048);
    });
    assert!(
        endless.contains("a frame of more than 65536 octets"),
        "{endless}"
    );
}

#[test]
fn indices_that_jump_are_refused_where_frames_come_and_where_they_leave() {
    for tail in [2049, 0x8000, 0xffff] {
        let jumped = told(&format!("tail-{tail}"), |server| {
            server.set_tail(TO_CLIENT, tail);
        });
        assert!(
            jumped.contains(&format!(
                "its index of a ring of 2048 frames jumped from 0 to {tail}"
            )),
            "{jumped}"
        );
        let (mut ours, server) = connected(&format!("out-tail-{tail}"), 60);
        server.set_tail(TO_SERVER, tail);
        let jumped = failed(
            ours.transmit
                .transmit(1, &mut |_, _| panic!("there is no room to be filled")),
        );
        assert!(
            jumped.contains(&format!("jumped from 0 to {tail}")),
            "{jumped}"
        );
        let jumped = failed(ours.receive.answer(&[1; 60]));
        assert!(
            jumped.contains(&format!("jumped from 0 to {tail}")),
            "{jumped}"
        );
    }
    let (mut ours, server) = connected("back", 60);
    ours.transmit.transmit(10, &mut |_, _| 60).expect("send");
    server.set_tail(TO_SERVER, 10);
    ours.transmit.transmit(1, &mut |_, _| 60).expect("send");
    server.set_tail(TO_SERVER, 9);
    let jumped = failed(ours.transmit.transmit(1, &mut |_, _| 60));
    assert!(jumped.contains("jumped from 10 to 9"), "{jumped}");
}

#[test]
fn a_server_that_leaves_during_a_trial_ends_it_in_both_halves() {
    let (mut ours, server) = connected("leaves", 60);
    ours.transmit.check_link().expect("a link");
    server.socket.send(&disconnect("Device closed"), &[]);
    let told = failed::<()>(ours.transmit.check_link());
    assert!(
        told.contains("the peer has gone away and says \"Device closed\""),
        "{told}"
    );
    drop(server);
    let told = until_error(|| ours.receive.receive(&mut |_| ()));
    assert!(
        told.contains("the peer has gone away and says \"Device closed\""),
        "{told}"
    );
    let told = until_error(|| ours.transmit.transmit(64, &mut |_, _| 60));
    assert!(told.contains("the peer has gone away"), "{told}");
}

#[test]
fn a_server_that_jams_the_descriptor_that_wakes_it_holds_up_nothing() {
    let (mut ours, server) = connected("jam", 60);
    jam(&server.bells[TO_SERVER]);
    in_time("sending, answering and closing", move || {
        for _ in 0..100 {
            ours.transmit.transmit(8, &mut |_, _| 60).expect("send");
            ours.receive.answer(&[1; 60]).expect("answer");
        }
    });
    assert_eq!(server.head(TO_SERVER), 900);
}

#[test]
fn a_server_that_sleeps_is_woken() {
    let (mut ours, server) = connected("sleeps", 60);
    let mut peer = File::from(server.bells[TO_SERVER].try_clone().expect("a copy"));
    for _ in 0..10 {
        ours.transmit.transmit(8, &mut |_, _| 60).expect("send");
        until("it is woken", || peer.read(&mut [0; 8]).is_ok());
    }
}

#[test]
fn a_message_in_the_middle_of_a_link_ends_it() {
    let (ours, server) = connected("middle", 60);
    server.socket.send(&hello(0x0200, 0x0200, 14), &[]);
    let told = failed::<()>(ours.transmit.check_link());
    assert!(told.contains("a HELLO in the middle of a link"), "{told}");
}

/// A server that constantly writes to everything it can reach while we send and receive: every call returns, with whatever result.
#[test]
fn no_scribbling_does_harm() {
    let (mut ours, server) = connected("scribble", 1514);
    let (stop, stopped) = mpsc::channel::<()>();
    let scribbler = std::thread::spawn(move || {
        let mut state = 0x9e37_79b9_u64;
        while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let [a, b, ..] = state.to_ne_bytes();
            // The two rings with their indices and entries, and the first buffers.
            let at = (state >> 20) as usize % 70_000;
            server.memory.put(at, [a, b]);
        }
        server
    });
    let (mut refused, mut frames) = (0, 0);
    for _ in 0..20_000 {
        let outcomes: [Result<(), PortError>; 3] = [
            ours.transmit
                .transmit(8, &mut |_, buffer| buffer.len().min(60))
                .map(drop),
            ours.receive
                .receive(&mut |frame| frames += usize::from(!frame.is_empty()))
                .map(drop),
            ours.receive.answer(&[1; 60]),
        ];
        refused += outcomes.into_iter().filter(Result::is_err).count();
    }
    stop.send(()).expect("it scribbles");
    scribbler.join().expect("no panic");
    assert!(
        refused > 0,
        "lies were seen, and {frames} frames taken for true"
    );
}
