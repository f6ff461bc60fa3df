//! The backends on a real veth pair in its own namespace. They need root.

mod pair;

use pair::Pair;
use sixbench_io::packet::{self, RING_FRAMES};
use sixbench_io::{Backend, Halves, Interface, Port, PortError, PortOptions, PortSpec, Sent};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Opens an end of the pair.
fn open_on(pair: &Pair, end: &str, backend: &str) -> Halves {
    pair.inside(|| open(end, backend)).expect("a port")
}

fn open(end: &str, backend: &str) -> Result<Halves, PortError> {
    let (_, backend) = Backend::words()
        .find(|(word, _)| *word == backend)
        .expect("a backend");
    PortSpec::parse(end)
        .open(backend, PortOptions::new(LENGTH as u32))
        .map(Port::into_single_queue)
}

const FRAMES: u32 = 20_000;
const LENGTH: usize = 60;

/// Writes an Ethernet frame of an experimental type that carries its number.
fn write(number: u32, buffer: &mut [u8]) -> usize {
    buffer[..LENGTH].fill(0);
    buffer[..12].fill(0x02);
    buffer[12..14].copy_from_slice(&[0x88, 0xb5]);
    buffer[14..18].copy_from_slice(&number.to_be_bytes());
    LENGTH
}

fn number_of(frame: &[u8]) -> Option<u32> {
    (frame.get(12..14)? == [0x88, 0xb5])
        .then(|| u32::from_be_bytes(frame[14..18].try_into().expect("four octets")))
}

/// Sends slowly enough for any machine; returns the numbers that arrived, in order.
fn carry(from: &mut Halves, to: &mut Halves) -> Vec<u32> {
    let mut seen = Vec::new();
    let mut next = 0;
    let end = Instant::now() + Duration::from_secs(60);
    while seen.len() < FRAMES as usize && Instant::now() < end {
        let wanted = (FRAMES - next).min(16) as usize;
        let mut fill = |_: usize, buffer: &mut [u8]| {
            let length = write(next, buffer);
            next += 1;
            length
        };
        let sent = from.transmit.transmit(wanted, &mut fill).expect("send");
        assert_eq!(sent.refused, 0);
        to.receive
            .receive(&mut |frame| seen.extend(number_of(frame)))
            .expect("receive");
    }
    seen
}

/// Returns the words for all backends that open interfaces.
fn backends() -> impl Iterator<Item = &'static str> {
    Backend::words()
        .map(|(word, _)| word)
        .filter(|word| *word != "auto")
}

#[test]
fn every_frame_arrives_once_and_in_order_between_any_two_backends() {
    for (sender, receiver) in
        backends().flat_map(|sender| backends().map(move |receiver| (sender, receiver)))
    {
        let pair = Pair::new(&format!("io-{sender}-{receiver}"));
        let mut from = open_on(&pair, "e0", sender);
        let mut to = open_on(&pair, "e1", receiver);
        assert!(
            carry(&mut from, &mut to).into_iter().eq(0..FRAMES),
            "{sender} to {receiver}"
        );
        assert_eq!(
            to.receive.overruns().expect("statistics"),
            0,
            "{sender} to {receiver}"
        );
    }
}

#[test]
fn what_the_port_sends_it_does_not_receive() {
    let pair = Pair::new("io-own");
    let (mut port, mut peer) = (
        open_on(&pair, "e0", "packet"),
        open_on(&pair, "e1", "packet"),
    );
    port.transmit
        .transmit(1, &mut |_, buffer| write(1, buffer))
        .expect("send");
    port.receive.answer(&[2; 60]).expect("answer");
    // Its own frames would be in its ring before the one that the other end sends afterwards.
    peer.transmit
        .transmit(1, &mut |_, buffer| write(3, buffer))
        .expect("send");
    let mut seen = Vec::new();
    let end = Instant::now() + Duration::from_secs(60);
    while seen.is_empty() && Instant::now() < end {
        port.receive
            .receive(&mut |frame| seen.push(number_of(frame)))
            .expect("receive");
    }
    assert_eq!(seen, [Some(3)]);
}

#[test]
fn a_full_ring_is_counted_as_overrun() {
    let pair = Pair::new("io-full");
    let mut from = open_on(&pair, "e0", "packet");
    let mut to = open_on(&pair, "e1", "packet");
    let total = 20_000;
    for number in 0..total {
        from.transmit
            .transmit(1, &mut |_, buffer| write(number, buffer))
            .expect("send");
    }
    // Nothing is taken out until all have arrived, so frames without room are counted.
    let (mut seen, mut overruns) = (0, 0);
    let end = Instant::now() + Duration::from_secs(60);
    while overruns + (RING_FRAMES as u64) < u64::from(total) && Instant::now() < end {
        overruns += to.receive.overruns().expect("statistics");
    }
    while to
        .receive
        .receive(&mut |frame| seen += u64::from(number_of(frame).is_some()))
        .expect("receive")
        > 0
    {}
    assert!(overruns > 0);
    assert_eq!(
        seen + overruns,
        u64::from(total),
        "every frame was either received or counted"
    );
}

#[test]
fn which_frames_a_call_hands_out_is_settled_before_the_first_of_them() {
    for (sender, receiver) in
        backends().flat_map(|sender| backends().map(move |receiver| (sender, receiver)))
    {
        let pair = Pair::new(&format!("io-settled-{sender}-{receiver}"));
        let mut from = open_on(&pair, "e0", sender);
        let mut to = open_on(&pair, "e1", receiver);
        let (mut next, end) = (0, Instant::now() + Duration::from_secs(60));
        let mut seen = 0;
        for _ in 0..50 {
            send(&mut from, &mut next);
            loop {
                // The frames that are sent while the first one is handed out, at a time at which the receiver may have read the clock.
                let (sent, mut more, mut last) = (next, None, 0);
                to.receive
                    .receive(&mut |frame| {
                        more.get_or_insert_with(|| send(&mut from, &mut next));
                        last = last.max(number_of(frame).unwrap_or(0));
                        seen += number_of(frame).map_or(0, |_| 1);
                    })
                    .expect("receive");
                assert!(
                    last < sent,
                    "{sender} to {receiver}: frame {last} arrived after the call had begun to hand out frames"
                );
                if seen == next || more.is_some() {
                    break;
                }
                assert!(
                    Instant::now() < end,
                    "{sender} to {receiver}: {seen} of {next} frames"
                );
            }
        }
        while seen < next {
            to.receive
                .receive(&mut |frame| seen += number_of(frame).map_or(0, |_| 1))
                .expect("receive");
            assert!(
                Instant::now() < end,
                "{sender} to {receiver}: {seen} of {next} frames"
            );
        }
    }
}

/// Sends three frames, and passes them on to the kernel.
fn send(from: &mut Halves, next: &mut u32) {
    let mut fill = |_: usize, buffer: &mut [u8]| {
        *next += 1;
        write(*next - 1, buffer)
    };
    assert_eq!(
        from.transmit.transmit(3, &mut fill).expect("send"),
        Sent {
            taken: 3,
            refused: 0
        }
    );
    while !from.transmit.flush().expect("send").is_empty {}
}

/// Opens an end of the pair as if it were a NIC, whose full queue is the tester's own.
fn open_as_nic(pair: &Pair, end: &str) -> Halves {
    let opened = pair.inside(|| {
        let end = Interface::open(end)?;
        assert!(end.is_veth);
        let nic = Interface {
            is_veth: false,
            ..end
        };
        packet::open(&nic).map(Port::into_single_queue)
    });
    opened.expect("port")
}

/// Sends until this is true, at most for as long as any machine needs to notice that a link is down.
fn send_until(port: &mut Halves, mut is_enough: impl FnMut(Sent) -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_enough(
        port.transmit
            .transmit(16, &mut |_, buffer| write(7, buffer))
            .expect("send"),
    ) {
        assert!(Instant::now() < end, "it goes on for ever");
    }
}

#[test]
fn a_link_that_goes_down_at_the_other_end_refuses_frames_and_is_named() {
    let pair = Pair::new("io-down");
    let mut port = open_as_nic(&pair, "e0");
    send_until(&mut port, |sent| sent.taken == 16 && sent.refused == 0);
    port.transmit.check_link().expect("a link");
    pair.ip("link set e1 down");
    // Every call returns, whatever the kernel does with the frames.
    send_until(&mut port, |sent| sent.refused > 0);
    assert!(
        port.transmit.flush().expect("flush").is_empty,
        "nothing is kept for a link that is down"
    );
    let error = port.transmit.check_link().unwrap_err();
    assert!(
        matches!(&error, PortError::LinkDown { interface } if interface == "e0"),
        "{error}"
    );
    pair.ip("link set e1 up");
    send_until(&mut port, |sent| sent.taken == 16 && sent.refused == 0);
    port.transmit.check_link().expect("a link again");
}

#[test]
fn xdp_names_a_link_that_is_down() {
    let pair = Pair::new("io-xdown");
    let mut port = open_on(&pair, "e0", "xdp");
    port.transmit.check_link().expect("a link");
    pair.ip("link set e1 down");
    for _ in 0..1_000 {
        port.transmit
            .transmit(16, &mut |_, buffer| write(7, buffer))
            .expect("send");
        port.transmit.flush().expect("flush");
    }
    assert!(matches!(
        port.transmit.check_link(),
        Err(PortError::LinkDown { .. })
    ));
}

/// Returns the octets of the first frame of the experimental type, tagged or not, that arrives.
fn first_frame(port: &mut Halves) -> Vec<u8> {
    let end = Instant::now() + Duration::from_secs(60);
    let mut seen = None;
    while seen.is_none() {
        assert!(Instant::now() < end, "no frame came");
        let is_ours = |frame: &[u8]| {
            frame
                .windows(2)
                .take(17)
                .any(|octets| octets == [0x88, 0xb5])
        };
        port.receive
            .receive(&mut |frame| {
                seen = seen
                    .take()
                    .or_else(|| is_ours(frame).then(|| frame.to_vec()));
            })
            .expect("receive");
    }
    seen.expect("a frame")
}

#[test]
fn every_backend_shows_a_vlan_tag_as_it_came() {
    let pair = Pair::new("io-vlan");
    let mut sender = open_on(&pair, "e0", "packet");
    let mut tagged = vec![2; 12];
    tagged.extend([0x81, 0, 0x20, 5, 0x88, 0xb5]);
    tagged.resize(64, 7);
    for backend in backends() {
        let mut receiver = open_on(&pair, "e1", backend);
        sender.receive.answer(&tagged).expect("send");
        assert_eq!(first_frame(&mut receiver), tagged, "{backend}");
    }
}

#[test]
fn an_interface_that_another_xdp_socket_has_is_busy_and_no_matter_of_rights() {
    let pair = Pair::new("io-busy");
    let _first = open_on(&pair, "e0", "xdp");
    let second = pair.inside(|| open("e0", "xdp").map(drop));
    let error = second.expect_err("one socket a queue");
    assert!(matches!(error, PortError::Busy { .. }), "{error}");
    let told = error.to_string();
    assert!(
        told.contains("`ip link show dev e0`") && !told.contains("root"),
        "{told}"
    );
}

/// The flags for attaching a program to the generic XDP hook, or to the driver's.
const GENERIC_HOOK: u32 = 1 << 1;
const DRIVER_HOOK: u32 = 1 << 2;

/// Makes the bpf system call for a command that creates a descriptor.
fn bpf(command: libc::c_long, attributes: &[u64]) -> OwnedFd {
    // SAFETY: the attributes, and the data they point to, outlive the call; the size is theirs.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            attributes.as_ptr(),
            size_of_val(attributes),
        )
    };
    assert!(
        fd >= 0,
        "{} (these tests need root)",
        std::io::Error::last_os_error()
    );
    // SAFETY: the kernel has just created this descriptor for us.
    unsafe { OwnedFd::from_raw_fd(fd as i32) }
}

/// Attaches a foreign program, which passes every frame, to an XDP hook of this interface, until it is dropped.
fn another_program(interface: &Interface, hook: u32) -> OwnedFd {
    const LOAD: libc::c_long = 5;
    const LINK: libc::c_long = 28;
    const TYPE_XDP: u64 = 6;
    const ATTACH_XDP: u64 = 37;
    // r0 = XDP_PASS; exit
    let instructions: [u64; 2] = [0x0000_0002_0000_00b7, 0x95];
    let program = bpf(
        LOAD,
        &[
            TYPE_XDP | 2 << 32,
            instructions.as_ptr() as u64,
            c"GPL".as_ptr() as u64,
            0,
            0,
            0,
        ],
    );
    bpf(
        LINK,
        &[
            program.as_raw_fd() as u64 | u64::from(interface.index) << 32,
            ATTACH_XDP | u64::from(hook) << 32,
        ],
    )
}

#[test]
fn an_interface_that_another_xdp_program_has_is_busy_whatever_hook_it_has() {
    // The driver's hook cannot be used together with the generic one; an occupied hook is only tried after that.
    for (name, hook, code) in [
        ("io-skb", GENERIC_HOOK, libc::EEXIST),
        ("io-drv", DRIVER_HOOK, libc::EBUSY),
    ] {
        let pair = Pair::new(name);
        let refused = pair.inside(|| {
            let _program = another_program(&Interface::open("e0").expect("an interface"), hook);
            open("e0", "xdp").map(drop)
        });
        let error = refused.expect_err("one program a hook");
        let PortError::Busy { source, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(source.raw_os_error(), Some(code), "{error}");
        assert!(!error.to_string().contains("root"), "{error}");
    }
}

/// Opens an end of a pair with several queues with AF_XDP.
fn open_queues(pair: &Pair, end: &str, settings: PortOptions) -> Result<Port, PortError> {
    let (_, backend) = Backend::words()
        .find(|(word, _)| *word == "xdp")
        .expect("AF_XDP");
    pair.inside(|| PortSpec::parse(end).open(backend, settings))
}

#[test]
fn every_queue_of_an_interface_is_served_and_polled_if_wanted() {
    for busy_poll in [false, true] {
        let pair = Pair::with_queues("io-queues", 2);
        let settings = PortOptions {
            busy_poll,
            ..PortOptions::new(LENGTH as u32)
        };
        let mut from = open_queues(&pair, "e0", settings).expect("all queues");
        let mut to = open_queues(&pair, "e1", settings).expect("all queues");
        assert_eq!((from.queues.len(), to.queues.len()), (2, 2));
        assert_eq!(
            (
                from.how.contains(", 2 queues"),
                from.how.contains("busy poll")
            ),
            (true, busy_poll),
            "{}",
            from.how
        );
        // Frames sent on queue q of a veth arrive on queue q of its peer.
        for (from, to) in from.queues.iter_mut().zip(&mut to.queues) {
            assert!(carry(from, to).into_iter().eq(0..FRAMES));
        }
    }
}

#[test]
fn a_number_of_queues_that_an_interface_has_not_is_refused_with_the_command_that_makes_it_so() {
    let pair = Pair::with_queues("io-count", 2);
    let wanted = |queues| PortOptions {
        queues: std::num::NonZeroU32::new(queues),
        ..PortOptions::new(LENGTH as u32)
    };
    let error = open_queues(&pair, "e0", wanted(3))
        .err()
        .expect("two queues")
        .to_string();
    let cure = "`ethtool -L e0 combined 3` (or, if it takes none: rx 3 tx 3) makes it so";
    assert_eq!(
        error,
        format!("cannot use interface e0: it receives on 2 queues, and 3 are wanted; {cure}")
    );
    assert_eq!(
        open_queues(&pair, "e0", wanted(2))
            .expect("two queues")
            .queues
            .len(),
        2
    );
    // A backend without queues reports that, and `auto` does not fall back to it.
    let ask = |backend: &'static str| {
        let (_, backend) = Backend::words()
            .find(|(word, _)| *word == backend)
            .expect("a backend");
        pair.inside(|| {
            PortSpec::parse("e0")
                .open(backend, wanted(3))
                .err()
                .expect("an error")
                .to_string()
        })
    };
    assert!(ask("auto").ends_with(cure));
    let error = ask("packet");
    assert_eq!(
        error,
        "cannot use interface e0: AF_PACKET serves one queue, not 3; leave out `queues`, or use AF_XDP"
    );
}
