//! Connections over loopback, at rates that any machine keeps: counts are tested here, not timing.

use sixbench_engine::Layout;
use sixbench_engine::tcp::{TcpEnds, TcpError, TcpSettings, TcpTester};
use sixbench_method::isolation::{Admitted, Isolation};
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::tcp::{Close, TcpResult};
use sixbench_method::trial::{TrialSpec, Verdict};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Returns the verdict on a result as one trial among others.
fn verdict(result: &TcpResult) -> Verdict {
    result
        .clone()
        .into_trial(&TrialSpec::constant(FrameRate(1), 1), Direction::Forward)
        .verdict(LossRatio::ZERO)
}

const SERVER_PORT: u16 = 8080;

/// Returns ends on two loopback addresses that no other test uses, distinguished by `site`.
fn ends(site: u8) -> TcpEnds {
    let address = |host| IpAddr::V4(Ipv4Addr::new(127, 61, site, host));
    TcpEnds {
        opens: Direction::Forward,
        client_namespace: None,
        server_namespace: None,
        client_addresses: vec![address(1), address(2), address(3)],
        source_ports: 20_000..=20_999,
        server: address(9),
        server_ports: SERVER_PORT..=SERVER_PORT + 1,
        listen: Some(address(9)),
        pool: vec![format!("127.61.{site}.0/29").parse().expect("a net")],
    }
}

/// Returns settings with long time limits, so that no result depends on other work on this machine.
fn settings() -> TcpSettings {
    TcpSettings {
        time_limit: Duration::from_secs(10),
        stall: Duration::from_secs(5),
        ..TcpSettings::default()
    }
}

fn admitted(ends: TcpEnds) -> Admitted<TcpEnds> {
    Isolation::Unknown.admit(ends).expect("test addresses")
}

fn tester(ends: TcpEnds, settings: TcpSettings) -> TcpTester {
    TcpTester::new(admitted(ends), settings, Layout::default(), Arc::default())
}

/// Returns a trial of 300 connections at 1000 per second.
fn rate_trial(ends: TcpEnds, settings: TcpSettings) -> TcpResult {
    tester(ends, settings)
        .measure_rate(1000, Duration::from_millis(300))
        .expect("a trial")
}

/// Checks that every attempted connection has exactly one result.
fn assert_every_fate_is_counted(result: &TcpResult) {
    let c = result.connections;
    assert_eq!(
        c.attempted,
        c.completed + c.refused + c.reset + c.unreachable + c.timed_out + c.unverified + c.wrong,
        "{c:?}"
    );
}

#[test]
fn every_connection_completes_however_it_is_closed_and_the_server_saw_the_same() {
    for (site, close) in [
        (1, Close::ServerFirst),
        (2, Close::ClientFirst),
        (3, Close::Reset),
    ] {
        let result = rate_trial(
            ends(site),
            TcpSettings {
                close,
                ..settings()
            },
        );
        let c = result.connections;
        assert_eq!(
            (
                c.intended,
                c.attempted,
                c.established,
                c.completed,
                c.unclosed
            ),
            (300, 300, 300, 300, 0),
            "{result:?}"
        );
        assert_every_fate_is_counted(&result);
        assert_eq!(verdict(&result), Verdict::Passed);
        let server = result.server.expect("the server's counts");
        assert_eq!(
            (
                server.accepted,
                server.requests,
                server.responses,
                server.malformed
            ),
            (300, 300, 300, 0)
        );
        let (ended, other) = if close == Close::Reset {
            (server.reset, server.finished)
        } else {
            (server.finished, server.reset)
        };
        assert_eq!((ended, other, server.abandoned), (300, 0, 0), "{close:?}");
        assert_eq!((server.source_addresses, server.outside_pool), (3, 0));
        let (connect, complete) = (
            result.connect.expect("times"),
            result.complete.expect("times"),
        );
        assert!(
            connect.count == 300 && connect.min_ns > 0 && connect.sum_ns < complete.sum_ns,
            "{connect:?} {complete:?}"
        );
    }
}

#[test]
fn two_loops_do_the_same_as_one_and_large_objects_come_whole() {
    let core = sixbench_io::thread::allowed_cores().expect("cores")[0];
    let settings = TcpSettings {
        object_octets: 3_000_000,
        ..settings()
    };
    let mut tester = TcpTester::new(
        admitted(ends(4)),
        settings,
        Layout {
            cores: vec![core, core],
        },
        Arc::default(),
    );
    let result = tester
        .measure_rate(10, Duration::from_secs(1))
        .expect("a trial");
    assert_eq!(result.connections.completed, 10, "{result:?}");
}

#[test]
fn connections_are_kept_open_all_at_once_and_live_when_asked_again() {
    for (site, close) in [
        (5, Close::ServerFirst),
        (6, Close::ClientFirst),
        (7, Close::Reset),
    ] {
        let result = tester(
            ends(site),
            TcpSettings {
                close,
                ..settings()
            },
        )
        .measure_capacity(500, 1000)
        .expect("a trial");
        let check = result.check.expect("a check");
        assert_eq!(
            (check.requested, check.alive, result.connections.unclosed),
            (500, 500, 0),
            "{result:?}"
        );
        let server = result.server.as_ref().expect("the server's counts");
        assert_eq!((server.most_open, server.abandoned), (500, 0), "{close:?}");
        assert_eq!(verdict(&result), Verdict::Passed);
    }
}

#[test]
fn trials_follow_each_other_at_once_over_few_ports() {
    let few = TcpEnds {
        source_ports: 20_000..=20_049,
        ..ends(8)
    };
    let settings = TcpSettings {
        time_limit: Duration::from_millis(1250),
        ..settings()
    };
    let mut tester = tester(few, settings);
    for _ in 0..3 {
        // There are 300 pairs, and the time limit allows no more connections than that.
        let result = tester
            .measure_rate(200, Duration::from_secs(1))
            .expect("a trial");
        assert_eq!(
            (result.connections.attempted, result.connections.completed),
            (200, 200),
            "{result:?}"
        );
    }
}

#[test]
fn a_server_that_is_not_there_refuses_every_connection() {
    let result = rate_trial(
        TcpEnds {
            listen: None,
            ..ends(9)
        },
        settings(),
    );
    assert_eq!(
        (
            result.connections.attempted,
            result.connections.refused,
            result.connections.established
        ),
        (300, 300, 0)
    );
    assert_eq!(verdict(&result), Verdict::Lost);
    assert!(result.server.is_none() && result.connect.is_none());
    let refused = "300 of 300 connections refused by a RST from 127.61.9.9: nothing listens there, or the device or a firewall rejects connections";
    assert_eq!(result.resets_in_words(), [refused]);
    assert_eq!(
        result.examples[0],
        "connection 0 from 127.61.9.1:20000 to 127.61.9.9:8080: Failed(Refused) while connecting"
    );
}

/// Starts a server that is not the tester's: it reads each request and answers with `reply`, until the test's process ends.
fn bad_server(address: IpAddr, reply: fn(TcpStream)) {
    for port in [SERVER_PORT, SERVER_PORT + 1] {
        let listener = TcpListener::bind(SocketAddr::new(address, port)).expect("a listener");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let _ = stream.read(&mut [0; 1024]);
                reply(stream);
            }
        });
    }
}

fn with_bad_server(site: u8, reply: fn(TcpStream), time_limit: Duration) -> TcpResult {
    let ends = TcpEnds {
        listen: None,
        ..ends(site)
    };
    bad_server(ends.server, reply);
    let result = rate_trial(
        ends,
        TcpSettings {
            time_limit,
            ..settings()
        },
    );
    assert_every_fate_is_counted(&result);
    assert_eq!(
        (result.connections.attempted, result.connections.established),
        (300, 300),
        "{result:?}"
    );
    assert_eq!(verdict(&result), Verdict::Lost);
    result
}

fn say(mut stream: TcpStream, response: &str) {
    // The client may be gone.
    let _ = stream.write_all(response.as_bytes());
}

#[test]
fn a_server_that_closes_early_or_answers_wrongly_is_counted_as_wrong() {
    let replies: [fn(TcpStream); 4] = [
        |stream| drop(stream),
        |stream| {
            say(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\nonly a few octets",
            );
        },
        |stream| {
            say(
                stream,
                "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
            );
        },
        |stream| {
            say(
                stream,
                &format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n{:64}",
                    "not the object"
                ),
            );
        },
    ];
    for (site, reply) in (10..).zip(replies) {
        let result = with_bad_server(site, reply, Duration::from_secs(10));
        assert_eq!(
            (result.connections.wrong, result.connections.completed),
            (300, 0),
            "{site}: {result:?}"
        );
    }
}

#[test]
fn a_server_that_resets_connections_is_told_by_its_address() {
    let result = with_bad_server(19, reset, Duration::from_secs(10));
    assert_eq!(
        (result.connections.reset, result.connections.completed),
        (300, 0),
        "{result:?}"
    );
    let ended = "300 of 300 established connections ended by a RST from 127.61.19.9: the server or the device sent it";
    assert_eq!(result.resets_in_words(), [ended]);
}

fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream)
        .set_linger(Some(Duration::ZERO))
        .expect("SO_LINGER");
}

#[test]
fn a_server_that_says_nothing_leaves_connections_unverified() {
    let result = with_bad_server(14, std::mem::forget, Duration::from_secs(3));
    assert_eq!(result.connections.unverified, 300, "{result:?}");
}

#[test]
fn a_source_outside_of_the_pool_is_told() {
    let pool = vec!["127.61.15.2/32".parse().expect("a net")];
    let server = rate_trial(TcpEnds { pool, ..ends(15) }, settings())
        .server
        .expect("the server's counts");
    assert_eq!(server.outside_pool, 200);
    assert!(server.outside_example.is_some());
}

#[test]
fn what_the_tester_lacks_is_told_before_it_starts() {
    let mut few = tester(
        TcpEnds {
            source_ports: 20_000..=20_001,
            ..ends(16)
        },
        settings(),
    );
    assert!(matches!(
        few.measure_capacity(13, 100),
        Err(TcpError::Addresses {
            needed: 13,
            has: 12,
            waiting: 0
        })
    ));
    let mut many = tester(
        TcpEnds {
            source_ports: 1024..=65_535,
            ..ends(16)
        },
        settings(),
    );
    let error = many
        .measure_capacity(3_000_000_000, 100)
        .expect_err("more than any process may open");
    assert!(matches!(error, TcpError::Descriptors { .. }), "{error}");
    let elsewhere = vec!["192.0.2.77".parse().expect("address")];
    let error = tester(
        TcpEnds {
            client_addresses: elsewhere,
            ..ends(16)
        },
        settings(),
    )
    .measure_capacity(1, 1)
    .expect_err("nobody's");
    assert!(
        error
            .to_string()
            .starts_with("cannot make connections from 192.0.2.77:0 (this machine)"),
        "{error}"
    );
    let _squatter = TcpListener::bind("127.61.16.1:20007").expect("a listener");
    let error = tester(ends(16), settings())
        .measure_capacity(1, 1)
        .expect_err("a port that somebody has");
    assert!(
        matches!(error, TcpError::NotHere { address, .. } if address.port() == 20_007),
        "{error}"
    );
    let nowhere = TcpEnds {
        client_namespace: Some("sb-none".to_owned()),
        ..ends(16)
    };
    assert!(matches!(
        tester(nowhere, settings()).measure_capacity(1, 1),
        Err(TcpError::Namespace { .. })
    ));
}

#[test]
fn a_trial_stops_when_asked_to() {
    let stop = Arc::new(AtomicBool::new(false));
    let mut tester = TcpTester::new(
        admitted(ends(17)),
        settings(),
        Layout::default(),
        stop.clone(),
    );
    let stopper = std::thread::spawn(move || {
        let end = Instant::now() + Duration::from_secs(60);
        // The trial is running once its first connection exists: 127.61.17.1:20000, in the kernel's notation.
        while !std::fs::read_to_string("/proc/net/tcp")
            .expect("sockets")
            .contains("01113D7F:4E20")
            && Instant::now() < end
        {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let result = tester.measure_rate(1, Duration::from_secs(600));
    let asked = stopper.join().expect("the stopper");
    assert!(matches!(result, Err(TcpError::Interrupted)));
    assert!(
        asked.elapsed() < Duration::from_secs(300),
        "half of the trial is left at least"
    );
}

#[test]
fn a_result_is_the_same_after_it_was_on_record() {
    let result = tester(ends(18), settings())
        .measure_capacity(10, 100)
        .expect("a trial");
    let record = serde_json::to_string(&result).expect("json");
    assert_eq!(
        serde_json::from_str::<TcpResult>(&record).expect("a result"),
        result
    );
}
