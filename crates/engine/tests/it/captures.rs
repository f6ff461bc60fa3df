//! The tester's frames, decoded by an independent program: scapy parses captures of each kind of traffic, and every field must have the value
//! that follows from the rule, on either side of the device. This needs Debian's python3-scapy; without it these tests fail.

use crate::common::*;
use crate::reference::map::{BR, BR_HOPS, Domain, MapEBr, MapTBr};
use crate::reference::six_in_four::{Relay, SIX_RD, SIX_TO_FOUR, six_rd_site, six_to_four_site};
use crate::reference::softwires::{AFTR, AFTR_HOPS, Aftr, LwAftr, PUBLIC, b4};
use crate::reference::{Reference, map, profiles};
use serde::Deserialize;
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::{self, LoopbackDevice};
use sixbench_io::pcap::tee;
use sixbench_method::plan::{Payload, Stateful};
use sixbench_method::terms::{FrameRate, FrameSize, Share};
use sixbench_method::trial::TrialSpec;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Frames of each direction.
const EACH: usize = 20;
const SIZES: [u16; 2] = [84, 257];

/// A frame as parsed by scapy.
#[derive(Clone, Debug, Deserialize)]
struct Frame {
    /// The source hardware address.
    from: String,
    octets: usize,
    /// The headers, from the outermost to the innermost.
    headers: Vec<Header>,
    /// True if a frame built from its fields, with computed lengths and checksums, has the same octets.
    is_rebuilt: bool,
    /// 17, or the type of an echo.
    kind: u8,
    /// Ports, or identifier and sequence number.
    words: (u16, u16),
    /// Octets of the UDP datagram, or the ICMPv6 message.
    length: usize,
    /// Its payload, in hexadecimal digits.
    payload: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Header {
    version: u8,
    source: IpAddr,
    destination: IpAddr,
    hops: u8,
    protocol: u8,
    octets: usize,
}

impl Header {
    fn own_octets(&self) -> usize {
        if self.version == 4 { 20 } else { 40 }
    }
}

impl Frame {
    fn inner(&self) -> &Header {
        self.headers.last().expect("a header")
    }

    /// Returns the outer header.
    fn outer(&self) -> &Header {
        assert_eq!(self.headers.len(), 2, "{self:?}");
        &self.headers[0]
    }

    /// Returns the only header.
    fn plain(&self) -> &Header {
        assert_eq!(self.headers.len(), 1, "{self:?}");
        &self.headers[0]
    }
}

/// A directory used only by this test, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("sixbench-captures-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn decoded(capture: &Path) -> Vec<Frame> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/reference/decode.py");
    let output = Command::new("/usr/bin/python3")
        .arg(script)
        .arg(capture)
        .output()
        .expect("/usr/bin/python3 of Debian's python3");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "is Debian's python3-scapy installed? (scripts/install-dependencies) {error}"
    );
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line of the decoder"))
        .collect()
}

/// One datagram on both links.
struct Datagram {
    is_forward: bool,
    left: Frame,
    right: Frame,
}

/// Returns twenty datagrams of each direction, as captured on both links.
fn captured(name: &str, profile: TrafficProfile, device: LoopbackDevice) -> Vec<Datagram> {
    let scratch = Scratch::new(name);
    let [left, right] = ["left.pcap", "right.pcap"].map(|file| scratch.0.join(file));
    let ends = loopback::pair_with(device);
    let kept = |end, path: &Path| tee(end, path, 1000).expect("a capture");
    let ports = (kept(ends.0, &left), kept(ends.1, &right));
    let spec = match &profile.gateway {
        Some(gateway) => gateway.settings.establishing(EACH as u64, FrameRate(1000)),
        None => TrialSpec::constant(FrameRate(1000), EACH as u64 * 1_000_000),
    };
    let result = trial_between(ports, profile, spec);
    let received: Vec<_> = result
        .directions
        .iter()
        .map(|d| (d.received, d.mistranslated))
        .collect();
    assert_eq!(received, [(EACH as u64, 0); 2], "{name}: {result:?}");
    paired(&decoded(&left), &decoded(&right))
}

/// Returns the frames of the left and the right capture with the same payload, which contains the tag.
fn paired(left: &[Frame], right: &[Frame]) -> Vec<Datagram> {
    assert_eq!((left.len(), right.len()), (2 * EACH, 2 * EACH));
    let datagrams: Vec<Datagram> = left
        .iter()
        .map(|left| {
            let right = right
                .iter()
                .find(|right| right.payload == left.payload)
                .expect("the same datagram")
                .clone();
            Datagram {
                is_forward: left.from == "02:00:00:00:00:01",
                left: left.clone(),
                right,
            }
        })
        .collect();
    assert_eq!(
        datagrams
            .iter()
            .filter(|datagram| datagram.is_forward)
            .count(),
        EACH
    );
    datagrams
}

/// Checks properties of every datagram: scapy computes the same lengths and checksums; hop limits decrease by one; sizes are right.
fn check_form(
    Datagram {
        is_forward,
        left,
        right,
    }: &Datagram,
    size: u16,
    written_hops: Option<u8>,
) {
    let (sent, arrived) = if *is_forward {
        (left, right)
    } else {
        (right, left)
    };
    assert!(left.is_rebuilt && right.is_rebuilt, "{left:?} {right:?}");
    assert!(
        sent.headers.iter().all(|header| header.hops == 64),
        "{sent:?}"
    );
    assert_eq!(arrived.inner().hops, 63, "{arrived:?}");
    assert_eq!((left.words, left.kind), (right.words, right.kind));
    for frame in [left, right] {
        let datagram = usize::from(size) - 18 - if frame.inner().version == 4 { 20 } else { 0 };
        assert_eq!(
            (frame.inner().octets, frame.inner().protocol),
            (datagram, 17),
            "{frame:?}"
        );
        assert_eq!(frame.length, datagram - frame.inner().own_octets());
        let around = if frame.headers.len() > 1 {
            frame.outer().own_octets()
        } else {
            0
        };
        assert_eq!(
            (frame.octets, frame.headers[0].octets),
            (14 + around + datagram, around + datagram),
            "{frame:?}"
        );
        let protocol = if frame.inner().version == 4 { 4 } else { 41 };
        assert!(
            around == 0 || frame.outer().protocol == protocol,
            "{frame:?}"
        );
    }
    if !is_forward {
        assert_eq!(left.headers.len() > 1, written_hops.is_some());
        assert!(
            written_hops.is_none_or(|hops| left.outer().hops == hops),
            "{left:?}"
        );
    }
}

/// Captures each size of a profile, checks the form of every datagram, and passes on its ends. Returns the number of subscribers seen.
fn check_each<R: Reference>(
    name: &str,
    profile: &TrafficProfile,
    reference: impl Fn() -> R,
    hops: Option<u8>,
    check: impl Fn(&Ends),
) -> usize {
    let mut sources = BTreeSet::new();
    for size in SIZES {
        let profile = TrafficProfile {
            frame_size: FrameSize(size),
            ..profile.clone()
        };
        for datagram in captured(
            &format!("{name}-{size}"),
            profile,
            crate::reference::device(reference()).0,
        ) {
            check_form(&datagram, size, hops);
            let ends = Ends::of(&datagram);
            check(&ends);
            sources.insert(ends.outer.unwrap_or(ends.left).0);
        }
    }
    sources.len()
}

/// Addresses and ports in the order of a forward datagram, for either direction.
#[derive(Debug)]
struct Ends {
    outer: Option<(IpAddr, IpAddr)>,
    left: (IpAddr, IpAddr),
    right: (IpAddr, IpAddr),
    ports: (u16, u16),
}

impl Ends {
    fn of(
        Datagram {
            is_forward,
            left,
            right,
        }: &Datagram,
    ) -> Self {
        let turned = |(a, b)| if *is_forward { (a, b) } else { (b, a) };
        let ends = |header: &Header| turned((header.source, header.destination));
        let words = if *is_forward {
            left.words
        } else {
            (left.words.1, left.words.0)
        };
        let outer = (left.headers.len() > 1).then(|| ends(left.outer()));
        Self {
            outer,
            left: ends(left.inner()),
            right: ends(right.plain()),
            ports: words,
        }
    }
}

fn six(address: IpAddr) -> Ipv6Addr {
    if let IpAddr::V6(address) = address {
        address
    } else {
        panic!("{address} is IPv4")
    }
}

fn four(address: IpAddr) -> Ipv4Addr {
    if let IpAddr::V4(address) = address {
        address
    } else {
        panic!("{address} is IPv6")
    }
}

const SERVER: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 2);
const HOST: &str = "2001:2:0:8000::2";

#[test]
fn scapy_finds_the_ce_of_every_datagram_of_map_t() {
    for offset in [0, 6] {
        let domain = Domain::of_the_papers(offset);
        let ces = check_each(
            "map-t",
            &profiles::map_t(domain),
            || MapTBr(vec![domain]),
            None,
            |ends| {
                assert_eq!(
                    ends.left.1,
                    IpAddr::from(map::behind_dmr(SERVER)),
                    "{ends:?}"
                );
                assert_eq!(ends.right.1, IpAddr::from(SERVER), "{ends:?}");
                let ce = domain
                    .ce_of(four(ends.right.0), ends.ports.0)
                    .expect("a port of a CE");
                assert_eq!(
                    (ends.left.0, ends.outer),
                    (IpAddr::from(ce), None),
                    "{ends:?}"
                );
            },
        );
        assert!(ces > EACH, "{ces} CEs");
    }
}

#[test]
fn scapy_finds_the_ce_of_every_datagram_of_map_e() {
    let domain = Domain::of_the_papers(6);
    let ces = check_each(
        "map-e",
        &profiles::map_e(domain),
        || MapEBr(domain),
        Some(BR_HOPS),
        |ends| {
            let ce = domain
                .ce_of(four(ends.left.0), ends.ports.0)
                .expect("a port of a CE");
            assert_eq!(ends.outer, Some((ce.into(), BR.into())), "{ends:?}");
            assert_eq!(
                (ends.left, ends.left.1),
                (ends.right, SERVER.into()),
                "{ends:?}"
            );
        },
    );
    assert!(ces > EACH, "{ces} CEs");
}

#[test]
fn scapy_finds_the_b4_of_every_datagram_of_lightweight_4over6() {
    let table = LwAftr::new(1000);
    let b4s = check_each(
        "lw4o6",
        &profiles::lw4o6(),
        || LwAftr::new(1000),
        Some(AFTR_HOPS),
        |ends| {
            let b4 = table
                .b4_of(four(ends.left.0), ends.ports.0)
                .expect("a binding");
            assert_eq!(ends.outer, Some((b4.into(), AFTR.into())), "{ends:?}");
            assert_eq!(
                (ends.left, ends.left.1),
                (ends.right, SERVER.into()),
                "{ends:?}"
            );
        },
    );
    assert!(b4s > EACH, "{b4s} B4s");
}

#[test]
fn scapy_finds_the_site_of_every_datagram_of_6to4_and_6rd() {
    let site_of_either = [
        (
            "6to4",
            profiles::six_to_four(),
            Relay::six_to_four as fn() -> Relay,
            SIX_TO_FOUR,
            six_to_four_site as fn(_) -> _,
            64,
        ),
        (
            "6rd",
            profiles::six_rd(),
            Relay::six_rd,
            SIX_RD,
            six_rd_site,
            128,
        ),
    ];
    for (name, profile, relay, own, site_of, hops) in site_of_either {
        let sites = check_each(name, &profile, relay, Some(hops), |ends| {
            let site: Ipv4Addr = site_of(six(ends.left.0)).expect("an address of a site");
            assert_eq!(ends.outer, Some((site.into(), own.into())), "{ends:?}");
            assert_eq!(
                (ends.left, ends.left.1),
                (ends.right, HOST.parse().expect("address")),
                "{ends:?}"
            );
        });
        assert!(sites > EACH, "{sites} sites of {name}");
    }
}

#[test]
fn scapy_finds_equal_inner_addresses_in_different_softwires_of_ds_lite() {
    let mut profile = profiles::ds_lite();
    profile.gateway.as_mut().expect("stateful").settings =
        Stateful::new(EACH as u64, FrameRate(1000), 20_000_000);
    let datagrams = captured(
        "ds-lite",
        profile,
        crate::reference::device(Aftr::default()).0,
    );
    let mut softwires = BTreeSet::new();
    for Datagram {
        is_forward,
        left,
        right,
    } in &datagrams
    {
        assert!(left.is_rebuilt && right.is_rebuilt, "{left:?} {right:?}");
        let turned = |header: &Header| {
            if *is_forward {
                (header.source, header.destination)
            } else {
                (header.destination, header.source)
            }
        };
        let (outer, inner, public) = (
            turned(left.outer()),
            turned(left.inner()),
            turned(right.plain()),
        );
        assert_eq!(
            (outer.1, inner.0, public.0),
            (
                AFTR.into(),
                Ipv4Addr::new(192, 0, 0, 2).into(),
                PUBLIC.into()
            )
        );
        assert_eq!(inner.1, public.1);
        let (sent, arrived) = if *is_forward {
            (left, right)
        } else {
            (right, left)
        };
        let hops = if *is_forward { 64 } else { AFTR_HOPS };
        assert_eq!(
            (sent.inner().hops, arrived.inner().hops, left.outer().hops),
            (64, 63, hops)
        );
        assert_eq!(
            (
                left.outer().octets,
                left.inner().octets,
                right.plain().octets
            ),
            (86, 46, 46)
        );
        softwires.insert(outer.0);
    }
    let of_ten = (0..10)
        .map(|number| IpAddr::from(b4(number)))
        .collect::<BTreeSet<_>>();
    assert!(
        softwires.len() > 5 && softwires.is_subset(&of_ten),
        "{softwires:?}"
    );
}

#[test]
fn scapy_finds_requests_and_replies_with_right_checksums() {
    for size in SIZES {
        let profile = TrafficProfile {
            frame_size: FrameSize(size),
            payload: Payload::Echo,
            ..ipv6_with_background(Share::ALL)
        };
        let datagrams = captured(
            &format!("echo-{size}"),
            profile,
            each(|_, frame| vec![frame]),
        );
        let mut words = BTreeSet::new();
        for Datagram {
            is_forward,
            left,
            right,
        } in datagrams
        {
            assert!(left.is_rebuilt && right.is_rebuilt, "{left:?}");
            assert_eq!(left.kind, if is_forward { 128 } else { 129 });
            let header = left.plain();
            assert_eq!(
                (header.hops, header.protocol, header.octets),
                (64, 58, usize::from(size) - 18),
                "{header:?}"
            );
            let (from, to) = if is_forward {
                ("2001:2::2", HOST)
            } else {
                (HOST, "2001:2::2")
            };
            assert_eq!(
                (header.source.to_string(), header.destination.to_string()),
                (from.to_owned(), to.to_owned())
            );
            words.insert(left.words);
        }
        assert_eq!(words.len(), 2 * EACH);
    }
}

#[test]
fn a_frame_with_a_wrong_checksum_or_length_is_not_what_scapy_builds() {
    // For 6-in-4: one octet in the checksum of the outer header, and one in that of UDP.
    for at in [24, 80] {
        let scratch = Scratch::new(&format!("wrong-{at}"));
        let path = scratch.0.join("frame.pcap");
        let (left, _right) = loopback::pair();
        let mut frame = encapsulated();
        let whole = frame.clone();
        frame[at] ^= 1;
        let mut port = tee(left, &path, 2).expect("a capture");
        port.queues[0].receive.answer(&whole).expect("a frame");
        port.queues[0].receive.answer(&frame).expect("a frame");
        drop(port);
        assert_eq!(
            decoded(&path)
                .iter()
                .map(|frame| frame.is_rebuilt)
                .collect::<Vec<_>>(),
            [true, false],
            "octet {at}"
        );
    }
}

/// Returns a 6to4 frame built by the reference relay.
fn encapsulated() -> Vec<u8> {
    let payload = [&[0x13, 0x88, 0, 9, 0, 12, 0, 0][..], b"six!"].concat();
    let (source, destination) = (
        HOST.parse().expect("address"),
        "2002:c612:1::1".parse().expect("address"),
    );
    let inner = crate::reference::datagram::Datagram {
        source,
        destination,
        hops: 64,
        protocol: 17,
        flags: 0,
        payload,
    }
    .sealed();
    let outer = Relay::six_to_four().reverse(inner).expect("a site");
    [
        &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..],
        &outer.octets(),
    ]
    .concat()
}
