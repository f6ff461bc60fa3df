//! One client thread without a server; the test sets the time.

use super::*;
use crate::delay::arrival::Arrival as Arrived;
use crate::dns::names::NamePopulation;
use crate::dns::questions::NameRange;
use crate::dns::result::{QueryTrialData, trial_result};
use crate::dns::sockets::QuerySockets;
use proptest::prelude::*;
use sixbench_io::clock::ClockHand;
use sixbench_method::plan::DnsRole;
use sixbench_method::trial::dns::Cache;
use sixbench_method::trial::{Delay, DelayBounds, Fault, TrialKind, TrialResult, TrialSpec};
use std::net::UdpSocket;

const MS: u64 = 1_000_000;

/// Runs `work` with a client of a hundred queries at a thousand a second, whose server never answers.
fn with_client<T>(
    part: (u64, u64),
    queries: u64,
    window_ns: u64,
    work: impl FnOnce(QueryClient<'_>) -> T,
) -> T {
    with_bursts(NonZeroU32::MIN, part, queries, window_ns, work)
}

/// Does the same with a client that sends bursts.
fn with_bursts<T>(
    burst: NonZeroU32,
    part: (u64, u64),
    queries: u64,
    window_ns: u64,
    work: impl FnOnce(QueryClient<'_>) -> T,
) -> T {
    let server = UdpSocket::bind("[::1]:0").expect("a socket");
    let (clock, domain) = (
        Clock::new(),
        Domain::new("dns64perf.test").expect("a domain"),
    );
    let questions = Questions::new(
        "10.0.0.0/8".parse().expect("names"),
        0,
        0,
        NameRange { first: 0, count: 1 },
    );
    let prefix = Some("64:ff9b::/96".parse().expect("a prefix"));
    let expectation = ExpectedAnswers {
        role: DnsRole::Dns64,
        prefix,
        population: NamePopulation::default(),
        most_ttl: 60,
    };
    let asking = TrialQueries {
        clock: &clock,
        domain: &domain,
        questions: &questions,
        expectation: &expectation,
        asked: None,
        file: None,
        rate: FrameRate(1000),
        schedule: Schedule::constant(FrameRate(1000), queries),
        burst,
        timeout_ns: window_ns,
        window_ns,
        stall_ns: 10 * MS,
    };
    let address = server.local_addr().expect("an address");
    let sockets = QuerySockets::open(None, address, 2, Query::new(&domain), 0).expect("sockets");
    let sockets = ClientTransport::Udp(sockets);
    let share = ThreadShare {
        index: part.0,
        of: part.1,
    };
    let mut client = QueryClient::new(&asking, share, sockets, None);
    client.begin(0);
    work(client)
}

#[test]
fn a_client_half_a_second_behind_gives_up_and_what_it_sent_has_a_fate() {
    with_client((0, 1), 1000, 1000 * MS, |mut client| {
        client.turn(0);
        assert!(!client.is_over(2000 * MS));
        client.turn(502 * MS);
        client.turn(503 * MS);
        // Queries in flight are waited for.
        assert!(!client.is_over(1502 * MS) && client.is_over(1503 * MS));
        let counted = client.finish();
        assert_eq!(
            (counted.tally.answers.sent, counted.tally.answers.unanswered),
            (33, 33)
        );
        let Sending {
            nominal_ns,
            took_ns,
            worst_lateness_ns,
            late_frames,
        } = counted.sending;
        assert_eq!(
            (nominal_ns, took_ns, worst_lateness_ns, late_frames),
            (999 * MS, 502 * MS, 501 * MS, 32)
        );
    });
}

#[test]
fn threads_take_every_query_of_the_trial_once() {
    let asked_for = |index, of| {
        with_client((index, of), 100, 1000 * MS, |client| {
            let pacer = &client.state.sending.pacer;
            let numbers = (0..pacer.frames()).map(|own| pacer.share.number(own));
            numbers
                .map(|number| (number, pacer.due_time(number)))
                .collect::<Vec<_>>()
        })
    };
    let mut all: Vec<_> = (0..3).flat_map(|index| asked_for(index, 3)).collect();
    all.sort_unstable();
    assert!(
        all.into_iter()
            .eq((0..100).map(|number| (number, number * MS)))
    );
}

#[test]
fn queries_of_a_burst_leave_together_and_the_next_waits_for_the_mean_rate() {
    let burst = NonZeroU32::new(25).expect("not zero");
    let sent_by = with_bursts(burst, (0, 1), 100, 1000 * MS, |mut client| {
        let sent_by = (0..100).map(|ms| {
            client.turn(ms * MS);
            client.state.flight.sent()
        });
        let sent_by: Vec<u64> = sent_by.collect();
        let Sending {
            nominal_ns,
            took_ns,
            worst_lateness_ns,
            ..
        } = client.finish().sending;
        assert_eq!(
            (nominal_ns, took_ns, worst_lateness_ns),
            (99 * MS, 99 * MS, 0)
        );
        sent_by
    });
    assert!(
        sent_by
            .into_iter()
            .eq((0..100).map(|ms| (ms / 25 + 1) * 25))
    );
}

#[test]
fn a_window_of_nothing_ends_queries_at_once_and_keeps_none() {
    with_client((0, 1), 100, 0, |mut client| {
        (0..100).for_each(|ms| client.turn(ms * MS));
        assert!(client.state.flight.sent() == 100 && client.is_over(102 * MS));
        let answers = client.finish().tally.answers;
        assert_eq!((answers.sent, answers.unanswered), (100, 100));
    });
}

#[test]
fn a_full_ring_holds_queries_back_until_others_are_over() {
    with_client((0, 1), 100, 100 * MS, |mut client| {
        client.state.flight = Flight::new(64);
        (0..100).for_each(|ms| client.turn(ms * MS));
        assert_eq!(client.state.flight.sent(), 64);
        (100..300).for_each(|ms| client.turn(ms * MS));
        let counted = client.finish();
        assert_eq!(
            (counted.tally.answers.sent, counted.tally.answers.unanswered),
            (100, 100)
        );
        assert_eq!(counted.sending.late_frames, 36, "all after the first 64");
    });
}

#[test]
fn a_trial_without_queries_is_over_at_once() {
    with_client((0, 1), 0, 1000 * MS, |mut client| {
        client.turn(3 * MS);
        assert!(client.is_over(3 * MS));
        assert_eq!(client.finish().tally.answers.sent, 0);
    });
}

/// Returns the right answer to a query.
fn right(number: u64) -> Vec<u8> {
    let query = Query::new(&Domain::new("dns64perf.test").expect("a domain"));
    let mut octets = vec![0; query.len()];
    query.write(&mut octets, 0, 0x0a00_0000 + number as u32);
    octets[2..HEADER].copy_from_slice(&[0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    octets.extend([
        0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16, 0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 10,
        0, 0,
    ]);
    octets.push(number as u8);
    octets
}

/// Returns the result of a trial of three queries, sent 100 ms after its start, that are answered rightly within these intervals. An answer is late after
/// 50 ms.
fn answered_within(arrivals: [(u64, u64); 3]) -> (TrialResult, u64) {
    let counted = with_client((0, 1), 3, 50 * MS, |mut client| {
        client.turn(100 * MS);
        for (number, (since_ns, by_ns)) in arrivals.into_iter().enumerate() {
            let (octets, arrival) = (right(number as u64), Arrived { since_ns, by_ns });
            client.state.take(&Reply {
                sequence: Some(number as u32),
                octets: &octets,
                arrival,
            });
        }
        client.finish()
    });
    let read_late = counted.tally.read_late;
    let spec = TrialSpec {
        kind: TrialKind::Queries,
        ..TrialSpec::constant(FrameRate(1000), 3 * MS)
    };
    let (server, cache) = ("[::1]:53".parse().expect("an address"), Cache::default());
    let (authority, names, certified) = (None, None, None);
    let counted = vec![counted];
    let data = QueryTrialData {
        spec: &spec,
        server,
        queries: 3,
        counted,
        authority,
        names,
        cache,
        timeout_ns: 50 * MS,
        stall_ns: 200 * MS,
        certified,
        not_looked_up: 0,
    };
    (trial_result(data), read_late)
}

#[test]
fn delays_of_queries_have_the_bounds_of_their_arrivals() {
    let (result, read_late) = answered_within([
        (103 * MS, 104 * MS),
        (102 * MS, 105 * MS),
        (149 * MS, 160 * MS),
    ]);
    let Delay {
        count,
        min_ns,
        max_ns,
        bounds,
        ..
    } = result.directions[0].delay.clone().expect("delays");
    assert_eq!((count, min_ns, max_ns), (3, 4 * MS, 60 * MS));
    let DelayBounds {
        min_ns,
        max_ns,
        mean_ns,
        ..
    } = bounds.expect("bounds");
    assert_eq!(
        (min_ns, max_ns, mean_ns),
        (4 * MS, 11 * MS, 5 * MS),
        "no bound is above its delay"
    );
    let dns = result.dns().expect("queries");
    assert_eq!(
        (dns.rtt.mean_ns(), dns.rtt.mean_bound_ns()),
        (Some(23e6), Some(5e6))
    );
    // The third may have arrived within its time, but a tester that reads it then is not capable of the rate.
    assert_eq!((dns.answers.right, dns.answers.late, read_late), (3, 0, 1));
}

#[test]
fn an_answer_that_was_late_wherever_it_arrived_is_late() {
    let (result, read_late) = answered_within([
        (151 * MS, 152 * MS),
        (150 * MS, 152 * MS),
        (101 * MS, 102 * MS),
    ]);
    let answers = result.dns().expect("queries").answers;
    assert_eq!((answers.right, answers.late, read_late), (2, 1, 1));
    assert_eq!(result.directions[0].late, 1);
}

#[test]
fn an_answer_before_its_query_is_a_fault_and_no_delay_of_zero() {
    let (result, _) = answered_within([
        (98 * MS, 99 * MS),
        (101 * MS, 102 * MS),
        (101 * MS, 102 * MS),
    ]);
    let direction = result.directions[0].direction;
    assert!(
        result.faults.contains(&Fault::ArrivedBeforeSent {
            direction,
            frames: 1,
            worst_ns: MS
        }),
        "{:?}",
        result.faults
    );
    let (delay, dns) = (
        result.directions[0].delay.clone().expect("delays"),
        result.dns().expect("queries"),
    );
    assert_eq!(
        (delay.count, delay.min_ns, dns.rtt.count, dns.answers.right),
        (2, 2 * MS, 2, 3)
    );
}

/// Returns for each of 200 answers the true arrival, what the sockets know of it, and the time at which they were last read twice before.
fn answers_through(sockets: u16) -> Vec<(u64, Arrived, u64)> {
    let (clock, hand) = Clock::moved_by_hand();
    let server = UdpSocket::bind("[::1]:0").expect("a socket");
    server
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .expect("an option");
    let query = Query::new(&Domain::new("dns64perf.test").expect("a domain"));
    let address = server.local_addr().expect("an address");
    let mut sockets = QuerySockets::open(None, address, sockets, query, 0).expect("sockets");
    let (mut truths, mut seen, mut reads) = (Vec::new(), Vec::new(), [0; 2]);
    let mut read = |sockets: &mut QuerySockets, truths: &[u64], hand: &ClockHand| {
        let before_ns = clock.now_ns();
        sockets.receive(&clock, |reply| {
            let number = reply.sequence.expect("a response") as usize;
            seen.push((truths[number], reply.arrival, reads[0]));
        });
        hand.move_on(7);
        reads = [reads[1], before_ns];
    };
    for number in 0..200 {
        let mut octets = [0; 512];
        sockets.send(number, 1, |_| number as u32);
        let (length, client) = server.recv_from(&mut octets).expect("a query");
        octets[2] |= 0x80;
        hand.move_on(1_000 + number);
        truths.push(clock.now_ns());
        server.send_to(&octets[..length], client).expect("sent");
        hand.move_on(10);
        if number % 5 != 2 {
            read(&mut sockets, &truths, &hand);
        }
    }
    read(&mut sockets, &truths, &hand);
    seen
}

#[test]
fn answers_arrived_within_their_intervals_at_whichever_socket() {
    for sockets in [1, 3] {
        let seen = answers_through(sockets);
        assert_eq!(seen.len(), 200, "{sockets} sockets");
        for (truth_ns, arrival, reads_ago_ns) in seen {
            assert!(
                (arrival.since_ns..=arrival.by_ns).contains(&truth_ns),
                "{sockets} sockets: {truth_ns} is not in {arrival:?}"
            );
            assert!(
                arrival.since_ns >= reads_ago_ns,
                "{sockets} sockets: {arrival:?} began before {reads_ago_ns}"
            );
        }
    }
}

/// A message that arrives: the answer to one query with the identifier of another, with octets changed, truncated and extended.
#[derive(Clone, Debug)]
struct Arrival {
    to: u32,
    about: u64,
    changes: Vec<(usize, u8)>,
    cut: usize,
    tail: Vec<u8>,
}

fn arrival() -> impl Strategy<Value = Arrival> {
    let to = prop_oneof![8 => 0u32..40, 1 => any::<u32>()];
    let changes = prop::collection::vec((0usize..90, any::<u8>()), 0..3);
    let cut = prop_oneof![3 => Just(usize::MAX), 1 => 0usize..90];
    let tail = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(any::<u8>(), 0..600)];
    let whole = (to, any::<bool>(), 0u64..40, changes, cut, tail);
    whole.prop_map(|(to, is_own, about, changes, cut, tail)| {
        let about = if is_own { u64::from(to) % 256 } else { about };
        Arrival {
            to,
            about,
            changes,
            cut,
            tail,
        }
    })
}

impl Arrival {
    fn octets(&self) -> Vec<u8> {
        let mut octets = right(self.about);
        for (at, octet) in &self.changes {
            let length = octets.len();
            octets[at % length] = *octet;
        }
        octets.truncate(self.cut);
        octets.extend(&self.tail);
        octets
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Fuzzing: no message causes a panic, every query has one class, and every message is counted once.
    #[test]
    fn no_messages_make_a_client_panic_or_lose_count(arrivals in prop::collection::vec(arrival(), 0..120)) {
        let answers = with_client((0, 1), 32, 1000 * MS, |mut client| {
            client.turn(100 * MS);
            for arrival in &arrivals {
                let octets = arrival.octets();
                let sequence = judge::identifier(&octets).map(|_| arrival.to);
                client.state.take(&Reply { sequence, octets: &octets, arrival: Arrived::at(101 * MS) });
            }
            client.finish().tally.answers
        });
        prop_assert_eq!(answers.sent, 32);
        prop_assert_eq!(answers.settled() + answers.unanswered, answers.sent);
        let counted = answers.settled() + answers.duplicate + answers.mismatched + answers.unasked;
        prop_assert_eq!(counted, arrivals.len() as u64);
        let honest = |number: &u32| arrivals.iter().any(|a| a.to == *number && a.about == u64::from(*number) && a.octets().len() >= HEADER);
        prop_assert!(answers.right <= (0..32).filter(honest).count() as u64);
    }
}
