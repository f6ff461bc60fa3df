//! TCP trials through devices that forge segments, open connections of their own or answer without end: the trial's own connections keep exact counts,
//! and what others can make the tester hold is bounded. Needs root; without it these tests fail, they do not skip. It is an
//! executable of its own because it limits the descriptors of its process.
#![allow(missing_docs, reason = "tests")]

#[path = "it/common/mod.rs"]
mod common;

use common::ONE_AT_A_TIME;
use common::segments::{ACK, DEVICE, RST, SYN, Segment, forwarded};
use common::veth::{AttachedDevice, Row, ip};
use sixbench_engine::Layout;
use sixbench_engine::tcp::{TcpEnds, TcpSettings, TcpTester};
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::Direction;
use sixbench_method::trial::tcp::{ServerCounts, TcpResult};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// Connections of each trial, of which there are as many per second.
const CONNECTIONS: u64 = 100;

/// What a device sends of its own for each connection of the trial.
const FLOOD: u64 = 30;

/// Connections that the server keeps open for others at most.
const MOST_STRANGERS: u64 = 1024;

/// Descriptors that this process may have: more than the trials need with the strangers that are kept, and fewer than strangers there are.
const DESCRIPTORS: u64 = 1600;

/// Lets this process have so few descriptors that they can run out.
fn limit_descriptors() {
    let (process, limit) = (
        format!("{}", std::process::id()),
        format!("--nofile={DESCRIPTORS}:{DESCRIPTORS}"),
    );
    let status = Command::new("prlimit")
        .args(["--pid", &process, &limit])
        .status()
        .expect("prlimit: apt-get install util-linux");
    assert!(status.success());
}

/// A client, a device at work and a server.
struct Site {
    row: Row,
    _device: AttachedDevice,
    _guard: Option<MutexGuard<'static, ()>>,
}

impl Site {
    /// Everything that an end sends goes to the device.
    fn new(name: &str, device: LoopbackDevice) -> Self {
        let guard = ONE_AT_A_TIME.lock().ok();
        limit_descriptors();
        let row = Row::new(name);
        for (namespace, net) in [(&row.left, "198.18.0"), (&row.right, "198.19.0")] {
            ip(&format!("-n {namespace} address add {net}.2/24 dev wire"));
            ip(&format!(
                "-n {namespace} neighbour add {net}.1 lladdr {DEVICE} nud permanent dev wire"
            ));
            ip(&format!("-n {namespace} route add default via {net}.1"));
        }
        Self {
            _device: row.attach(device),
            row,
            _guard: guard,
        }
    }

    fn tester(&self) -> TcpTester {
        let address = |text: &str| text.parse::<IpAddr>().expect("address");
        tester(TcpEnds {
            opens: Direction::Forward,
            client_namespace: Some(self.row.left.clone()),
            server_namespace: Some(self.row.right.clone()),
            client_addresses: vec![address("198.18.0.2")],
            source_ports: 20_000..=20_999,
            server: address("198.19.0.2"),
            server_ports: 80..=80,
            listen: Some(address("198.19.0.2")),
            pool: vec!["198.18.0.2/32".parse().expect("a net")],
        })
    }

    fn rate_trial(&self) -> TcpResult {
        self.tester()
            .measure_rate(CONNECTIONS, Duration::from_secs(1))
            .expect("a trial")
    }
}

/// Long time limits, so that no result depends on other work on this machine.
fn tester(ends: TcpEnds) -> TcpTester {
    let settings = TcpSettings {
        time_limit: Duration::from_secs(10),
        stall: Duration::from_secs(5),
        ..TcpSettings::default()
    };
    TcpTester::new(
        Isolation::Unknown.admit(ends).expect("test addresses"),
        settings,
        Layout::default(),
        Arc::default(),
    )
}

/// A device that forwards segments, and adds what `more` makes of each: segments to the right (`true`) or to the left, before it. Where `more` says
/// `false`, the segment itself is dropped.
fn forging(
    mut more: impl FnMut(&Segment, bool, &mut Vec<(bool, Segment)>) -> bool + Send + 'static,
) -> LoopbackDevice {
    Box::new(move |frame, from_left, out| {
        let Some(segment) = Segment::parse(frame) else {
            return;
        };
        let mut forged = Vec::new();
        let is_forwarded = more(&segment, from_left, &mut forged);
        out.extend(
            forged
                .into_iter()
                .map(|(to_right, segment)| (to_right, segment.frame(to_right))),
        );
        out.extend(is_forwarded.then(|| (from_left, forwarded(frame, from_left))));
    })
}

/// Tells the first SYN of each of the client's ports from those that its kernel sends again.
fn first_syns() -> impl FnMut(&Segment, bool) -> bool + Send {
    let mut ports = HashSet::new();
    move |segment, from_left| from_left && segment.has(SYN) && ports.insert(segment.from.1)
}

fn is_stranger(address: Ipv4Addr) -> bool {
    address.octets()[..3] == [198, 18, 1]
}

/// SYNs of strangers: as many for each that the client sends, each from another address and port.
fn strangers_of(syn: &Segment, out: &mut Vec<(bool, Segment)>) {
    for number in 0..FLOOD {
        let from = (
            Ipv4Addr::new(198, 18, 1, 1 + (number % 250) as u8),
            syn.from.1,
        );
        out.push((
            true,
            Segment {
                from,
                ..syn.clone()
            },
        ));
    }
}

/// Every accepted connection has one fate.
fn assert_every_fate_is_counted(server: &ServerCounts) {
    let fates = [
        server.malformed,
        server.finished,
        server.reset,
        server.abandoned,
        server.foreign,
    ];
    assert_eq!(server.accepted, fates.iter().sum::<u64>(), "{server:?}");
}

/// The connections that the client closed. The server waits 100 ms for the last ends, which a busy machine may bring later: then they are abandoned.
fn closed(server: &ServerCounts) -> u64 {
    server.finished + server.abandoned
}

/// The counts of a trial of which every connection was right, and the server's.
fn assert_all_complete(result: TcpResult) -> ServerCounts {
    let c = result.connections;
    let counts = [
        c.intended,
        c.attempted,
        c.established,
        c.completed,
        c.unclosed,
    ];
    assert_eq!(
        counts,
        [CONNECTIONS, CONNECTIONS, CONNECTIONS, CONNECTIONS, 0],
        "{result:?}"
    );
    let server = result.server.expect("the server's counts");
    assert_every_fate_is_counted(&server);
    assert_eq!(
        (server.source_addresses, server.outside_pool),
        (1, 0),
        "{server:?}"
    );
    server
}

#[test]
fn a_flood_of_syns_takes_no_connection_away_and_opens_none() {
    let answers = Arc::new(AtomicU64::new(0));
    let (answered, mut is_first_syn) = (answers.clone(), first_syns());
    let site = Site::new(
        "syns",
        forging(move |segment, from_left, out| {
            if is_first_syn(segment, from_left) {
                strangers_of(segment, out);
            }
            answered.fetch_add(u64::from(is_stranger(segment.to.0)), Ordering::Relaxed);
            !is_stranger(segment.to.0)
        }),
    );
    // Fewer half-open connections than the flood has, and more than the trial's own.
    crate::common::veth::set(&site.row.right, "net/core/somaxconn", 256);
    let server = assert_all_complete(site.rate_trial());
    assert_eq!(
        (server.accepted, closed(&server), server.foreign),
        (CONNECTIONS, CONNECTIONS, 0),
        "{server:?}"
    );
    // The kernel answers a SYN once, and repeats the answer five times at most (tcp_synack_retries).
    let (answered, syns) = (answers.load(Ordering::Relaxed), CONNECTIONS * FLOOD);
    assert!(
        answered >= CONNECTIONS && answered <= 6 * syns,
        "{answered} answers to {syns} SYNs"
    );
}

/// Returns what strangers say on the connections that they open: nothing, the beginning of a request, a request of nobody's trial, and no request at all.
fn said_by(stranger: Ipv4Addr) -> Vec<u8> {
    match stranger.octets()[3] % 4 {
        0 => Vec::new(),
        1 => b"GET /".to_vec(),
        2 => b"GET /0123456789abcdef HTTP/1.1\r\n\r\n".to_vec(),
        _ => vec![b'x'; 1200],
    }
}

/// A device that opens connections of strangers, as many as there are SYNs of the client's times [`FLOOD`], and ends none of them.
fn opening() -> LoopbackDevice {
    let mut is_first_syn = first_syns();
    forging(move |segment, from_left, out| {
        if is_first_syn(segment, from_left) {
            strangers_of(segment, out);
        }
        if segment.has(SYN | ACK) && is_stranger(segment.to.0) {
            out.push((true, segment.answer(ACK, &said_by(segment.to.0))));
        }
        !is_stranger(segment.to.0)
    })
}

/// Returns the number of strangers of each kind, by the last octet of their addresses.
fn strangers_of_kind(kind: u64) -> u64 {
    (1..=FLOOD).filter(|octet| octet % 4 == kind).count() as u64 * CONNECTIONS
}

fn assert_strangers_are_bounded(server: &ServerCounts) {
    assert_eq!(server.accepted, CONNECTIONS * (1 + FLOOD), "{server:?}");
    assert_eq!(server.malformed, strangers_of_kind(3), "{server:?}");
    assert!(server.foreign >= strangers_of_kind(2), "{server:?}");
    assert!(
        server.most_open <= CONNECTIONS + MOST_STRANGERS,
        "{server:?}"
    );
}

#[test]
fn connections_that_others_open_are_bounded_and_take_none_of_a_rate_away() {
    let site = Site::new("others", opening());
    let result = site.rate_trial();
    let server = assert_all_complete(result);
    assert_eq!(
        (server.requests, server.responses),
        (CONNECTIONS, CONNECTIONS),
        "{server:?}"
    );
    assert_strangers_are_bounded(&server);
}

#[test]
fn connections_that_others_open_take_none_of_those_away_that_are_kept_open() {
    let site = Site::new("kept", opening());
    let result = site
        .tester()
        .measure_capacity(CONNECTIONS, CONNECTIONS)
        .expect("a trial");
    let check = result.check.expect("a check");
    assert_eq!(
        (check.requested, check.alive),
        (CONNECTIONS, CONNECTIONS),
        "{result:?}"
    );
    let server = assert_all_complete(result);
    // Each is asked twice, and once more for its end.
    assert_eq!(
        (server.requests, server.responses),
        (3 * CONNECTIONS, 3 * CONNECTIONS),
        "{server:?}"
    );
    assert_strangers_are_bounded(&server);
}

/// Descriptors that are left when another part of the process takes most of them: enough for the trial, and fewer than strangers want.
const LEFT_OVER: usize = 250;

/// Descriptors that others may have given back since: those with which the kernel's counters are read.
const GIVEN_BACK: usize = 10;

/// A device that does the same after it has taken descriptors, at the first segment.
fn hoarding() -> LoopbackDevice {
    let (mut opening, mut hoard) = (opening(), Vec::new());
    Box::new(move |frame, from_left, out| {
        if hoard.is_empty() {
            hoard.extend(std::iter::from_fn(|| File::open("/dev/null").ok()));
            hoard.truncate(hoard.len().saturating_sub(LEFT_OVER));
        }
        opening(frame, from_left, out);
    })
}

#[test]
fn where_descriptors_run_out_strangers_are_turned_away_and_the_trial_goes_on() {
    let site = Site::new("hoard", hoarding());
    let result = site.rate_trial();
    // An attempt for which the client got no descriptor was not made. Where they ran out, connections are ended however young they are, and one of the
    // trial's own may be among them: then it was reset, and is counted as that.
    let (c, server) = (
        result.connections,
        result.server.as_ref().expect("the server's counts"),
    );
    assert!(
        c.completed > 0 && c.completed + c.reset == c.attempted,
        "{result:?}"
    );
    assert_eq!(
        (server.requests, server.responses),
        (c.completed, c.completed),
        "{result:?}"
    );
    assert!(
        server.most_open <= (LEFT_OVER + GIVEN_BACK) as u64 && server.foreign > 0,
        "{result:?}"
    );
    assert_every_fate_is_counted(server);
}

#[test]
fn resets_outside_of_the_window_end_no_connection() {
    let site = Site::new(
        "blind",
        forging(|segment, from_left, out| {
            let blind = |sequence| Segment {
                sequence,
                acknowledged: 0,
                flags: RST,
                payload: vec![],
                ..segment.clone()
            };
            // Before the SYN is answered, there is no window that a reset could be outside of.
            if !segment.has(SYN) {
                out.extend((0..FLOOD as u32).map(|number| {
                    (
                        from_left,
                        blind(segment.sequence.wrapping_add(1 << 30 | number << 16)),
                    )
                }));
            }
            true
        }),
    );
    let server = assert_all_complete(site.rate_trial());
    assert_eq!(
        (closed(&server), server.reset, server.foreign),
        (CONNECTIONS, 0, 0),
        "{server:?}"
    );
}

#[test]
fn connections_that_the_device_resets_are_counted_one_by_one() {
    let site = Site::new(
        "resets",
        forging(|segment, from_left, out| {
            let is_chosen = from_left && segment.from.1 % 4 == 0 && !segment.payload.is_empty();
            if is_chosen {
                out.push((false, segment.answer(RST | ACK, &[])));
                out.push((
                    true,
                    Segment {
                        flags: RST,
                        payload: vec![],
                        ..segment.clone()
                    },
                ));
            }
            !is_chosen
        }),
    );
    let result = site.rate_trial();
    let c = result.connections;
    assert_eq!(
        (c.established, c.reset, c.completed),
        (CONNECTIONS, CONNECTIONS / 4, CONNECTIONS * 3 / 4),
        "{result:?}"
    );
    let server = result.server.expect("the server's counts");
    assert_every_fate_is_counted(&server);
    assert_eq!(
        (server.reset, closed(&server), server.foreign),
        (CONNECTIONS / 4, CONNECTIONS * 3 / 4, 0),
        "{server:?}"
    );
}

/// A server that answers the first request of each connection by `head` and then by `piece` again and again, until the connection is ended; `ended`
/// counts these.
fn endless_server(address: SocketAddr, head: &'static [u8], ended: Arc<AtomicU64>) {
    let listener = TcpListener::bind(address).expect("a listener");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(head);
            while stream.write_all(&[b'a'; 8192]).is_ok() {}
            ended.fetch_add(1, Ordering::Relaxed);
        }
    });
}

#[test]
fn a_response_or_a_head_of_it_without_end_is_wrong_and_the_connection_is_ended() {
    let heads: [&[u8]; 2] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: ",
    ];
    let _guard = ONE_AT_A_TIME.lock();
    for (site, head) in (1..).zip(heads) {
        let address = |host| IpAddr::V4(Ipv4Addr::new(127, 62, site, host));
        let ended = Arc::new(AtomicU64::new(0));
        endless_server(SocketAddr::new(address(9), 8080), head, ended.clone());
        let ends = TcpEnds {
            opens: Direction::Forward,
            client_namespace: None,
            server_namespace: None,
            client_addresses: vec![address(1)],
            source_ports: 20_000..=20_999,
            server: address(9),
            server_ports: 8080..=8080,
            listen: None,
            pool: vec![],
        };
        let result = tester(ends)
            .measure_rate(CONNECTIONS, Duration::from_secs(1))
            .expect("a trial");
        assert_eq!(
            (result.connections.established, result.connections.wrong),
            (CONNECTIONS, CONNECTIONS),
            "{result:?}"
        );
        // The server writes to no connection any more: it would not take the next one otherwise.
        assert!(ended.load(Ordering::Relaxed) >= CONNECTIONS - 1);
    }
}
