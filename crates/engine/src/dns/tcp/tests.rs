//! Connections to a server of the test, which answers in any order, closes, or sends what is no message.

mod tls;

use super::*;
use crate::dns::query::message;
use sixbench_io::clock::Clock;
use std::collections::BTreeSet;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream as Plain};
use std::time::Instant;

/// Far longer than anything takes on this machine.
const LIMIT: Duration = Duration::from_secs(60);
const PATIENCE_NS: u64 = 60_000_000_000;

fn query() -> Vec<u8> {
    message(b"\x01a\x04test\x00", 28)
}

fn connections(server: &TcpListener, connections: u16, outstanding: u16) -> QueryConnections {
    let settings = QueryConnectionSettings {
        connections,
        outstanding,
        tls: None,
    };
    let address = server.local_addr().expect("an address");
    QueryConnections::new(None, address, &settings, PATIENCE_NS, 1).expect("connections")
}

fn established(
    server: &TcpListener,
    count: u16,
    outstanding: u16,
) -> (QueryConnections, Vec<Plain>) {
    let mut client = connections(server, count, outstanding);
    client.establish(&Clock::new()).expect("established");
    let accepted = (0..count).map(|_| accept(server)).collect();
    (client, accepted)
}

fn accept(server: &TcpListener) -> Plain {
    let (stream, _) = server.accept().expect("a connection");
    stream.set_read_timeout(Some(LIMIT)).expect("a time limit");
    stream
}

fn send(client: &mut QueryConnections, first: u64, count: usize) {
    client.send(first, count, |_, out| out.extend_from_slice(&query()));
}

/// Reads this many queries, and returns the responses to them.
fn responses(stream: &mut impl Read, count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|_| {
            let mut length = [0; 2];
            stream.read_exact(&mut length).expect("a length");
            let mut octets = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut octets).expect("a query");
            assert_eq!(octets[2..], query()[2..]);
            octets[2] |= 0x80;
            [&length[..], &octets].concat()
        })
        .collect()
}

/// Receives until `is_enough` of the numbers of the queries that were answered, each as often as it was.
fn receive(
    client: &mut QueryConnections,
    is_enough: impl Fn(&[Option<u32>], &QueryConnections) -> bool,
) -> Vec<Option<u32>> {
    let (clock, end, mut all) = (Clock::new(), Instant::now() + LIMIT, Vec::new());
    while !is_enough(&all, client) {
        assert!(Instant::now() < end, "{all:?} {:?}", client.counts());
        client.wait(Duration::from_millis(1));
        client.receive(&clock, |reply| {
            all.push(reply.sequence);
            true
        });
    }
    all
}

#[test]
fn answers_in_any_order_are_matched_and_as_many_queries_wait_as_may() {
    let server = TcpListener::bind("[::1]:0").expect("a server");
    let (mut client, mut accepted) = established(&server, 2, 4);
    send(&mut client, 0, 20);
    assert_eq!(client.counts().held_back, 12);
    let mut answered = BTreeSet::new();
    // Each connection carries four of ten at once: four, four and two.
    for count in [4, 4, 2] {
        for stream in &mut accepted {
            let mut all = responses(stream, count);
            all.reverse();
            stream.write_all(&all.concat()).expect("written");
        }
        let got = receive(&mut client, |all, _| all.len() == 2 * count);
        answered.extend(got);
    }
    let expected: BTreeSet<_> = (0..20).map(Some).collect();
    assert_eq!(answered, expected);
    let counts = client.counts();
    assert_eq!(
        (counts.opened, counts.closed, counts.interrupted),
        (2, 0, 0)
    );
}

#[test]
fn a_connection_that_the_server_closes_is_opened_again_and_what_waited_is_sent_there() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a server");
    let (mut client, mut accepted) = established(&server, 1, 3);
    send(&mut client, 0, 5);
    let mut stream = accepted.remove(0);
    let all = responses(&mut stream, 3);
    stream.write_all(&all[0]).expect("written");
    // The answer makes room for the fourth query, so that three are interrupted.
    assert_eq!(receive(&mut client, |all, _| all.len() == 1), [Some(0)]);
    responses(&mut stream, 1);
    drop(stream);
    receive(&mut client, |_, client| client.counts().opened == 2);
    let mut stream = accept(&server);
    let all = responses(&mut stream, 1);
    stream.write_all(&all.concat()).expect("written");
    assert_eq!(receive(&mut client, |all, _| !all.is_empty()), [Some(4)]);
    let counts = client.counts();
    assert_eq!(
        (counts.closed, counts.interrupted, counts.misframed),
        (1, 3, 0)
    );
}

#[test]
fn queries_whose_time_is_over_make_room_for_others() {
    let server = TcpListener::bind("[::1]:0").expect("a server");
    let (mut client, mut accepted) = established(&server, 1, 2);
    send(&mut client, 0, 4);
    responses(&mut accepted[0], 2);
    for sequence in 0..3 {
        client.expire(sequence);
    }
    client.receive(&Clock::new(), |_| true);
    // The third was over before it was sent.
    let all = responses(&mut accepted[0], 1);
    accepted[0].write_all(&all.concat()).expect("written");
    assert_eq!(receive(&mut client, |all, _| !all.is_empty()), [Some(3)]);
}

#[test]
fn wrong_lengths_and_ends_within_a_message_close_the_connection_and_are_counted() {
    let server = TcpListener::bind("[::1]:0").expect("a server");
    for wrong in [&[0u8, 11, 1, 2, 3][..], &[0, 0], &[0, 40, 1, 2], &[9]] {
        let (mut client, mut accepted) = established(&server, 1, 8);
        send(&mut client, 0, 2);
        let all = responses(&mut accepted[0], 2);
        accepted[0]
            .write_all(&[&all[1], wrong].concat())
            .expect("written");
        drop(accepted);
        let got = receive(&mut client, |_, client| client.counts().closed == 1);
        assert_eq!(got, [Some(1)], "{wrong:?}");
        let counts = client.counts();
        assert_eq!((counts.misframed, counts.interrupted), (1, 1), "{wrong:?}");
    }
}

#[test]
fn what_is_no_response_and_an_unused_identifier_belong_to_no_query() {
    let server = TcpListener::bind("[::1]:0").expect("a server");
    let (mut client, mut accepted) = established(&server, 1, 8);
    send(&mut client, 0, 1);
    let all = responses(&mut accepted[0], 1).concat();
    let mut query = all.clone();
    query[4] &= 0x7f;
    let mut unused = all.clone();
    unused[2] ^= 0xff;
    accepted[0]
        .write_all(&[query, unused, all].concat())
        .expect("written");
    let got = receive(&mut client, |all, _| all.len() == 3);
    assert_eq!(got, [None, Some(u32::MAX), Some(0)]);
}

#[test]
fn a_server_that_does_not_listen_is_tried_again_after_a_pause() {
    let server = TcpListener::bind("[::1]:0").expect("a server");
    let mut client = connections(&server, 1, 1);
    let address = server.local_addr().expect("an address");
    drop(server);
    client.establish(&Clock::new()).expect("it is the server's");
    assert_eq!((client.counts().opened, client.counts().refused), (0, 1));
    send(&mut client, 0, 1);
    let server = TcpListener::bind(address).expect("the same address");
    receive(&mut client, |_, client| client.counts().opened == 1);
    let mut stream = accept(&server);
    assert_eq!(responses(&mut stream, 1).len(), 1);
}

#[test]
fn threads_share_the_connections_so_that_there_are_no_more_than_asked_for() {
    let settings = QueryConnectionSettings {
        connections: 10,
        outstanding: 1,
        tls: None,
    };
    let of = |threads: u64| -> Vec<u16> {
        (0..threads)
            .map(|index| settings.of_thread(ThreadShare { index, of: threads }))
            .collect()
    };
    assert_eq!(of(1), [10]);
    assert_eq!(of(4), [3, 3, 2, 2]);
    assert_eq!(of(12), [1; 12], "each thread needs one");
}
