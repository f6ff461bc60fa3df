//! Answers as octets, as the library parses them, and over real sockets.

use super::*;
use crate::dns::names::{Domain, NamePopulation};
use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message_builder::MessageBuilder;
use domain::base::name::ParsedName;
use domain::base::{Message, Name, Record};
use domain::rdata::AllRecordData;
use proptest::prelude::*;
use sixbench_method::isolation::{Admitted, Isolation};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpStream, UdpSocket as Client};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

type Data<'a> = AllRecordData<&'a [u8], ParsedName<&'a [u8]>>;

fn zone(with_aaaa: u8) -> Arc<AddressZone> {
    let domain = Domain::new("dns64perf.test").expect("a domain");
    Arc::new(AddressZone {
        domain,
        population: NamePopulation { with_aaaa },
        ttl_s: 3600,
    })
}

fn answerer(with_aaaa: u8) -> Answerer {
    Answerer::new(zone(with_aaaa), &[IpAddr::from([192, 0, 2, 53])])
}

fn answer(answerer: &Answerer, query: &[u8]) -> (Vec<u8>, QueryKind) {
    let mut out = [0xaa; MOST_OCTETS];
    let answer = answerer.answer(query, &mut out);
    (out[..answer.octets].to_vec(), answer.kind)
}

/// Returns a query built by the library.
fn query(name: &str, rtype: Rtype, class: Class) -> Vec<u8> {
    let name: Name<Vec<u8>> = name.parse().expect("a name");
    let mut message = MessageBuilder::new_vec();
    message.header_mut().set_id(0x1234);
    message.header_mut().set_rd(true);
    let mut question = message.question();
    question.push((name, rtype, class)).expect("room");
    question.finish()
}

/// Returns the query with an OPT record.
fn with_edns(query: &[u8], version: u8, dnssec_ok: bool, options: &[u8]) -> Vec<u8> {
    let mut query = query.to_vec();
    query[11] += 1;
    let flags = if dnssec_ok { 0x80 } else { 0 };
    query.extend_from_slice(&[
        0,
        0,
        41,
        16,
        0,
        0,
        version,
        flags,
        0,
        0,
        options.len() as u8,
    ]);
    query.extend_from_slice(options);
    query
}

/// The library's reading of an answer: response code, AA, records of the answer and authority sections, and whether there is EDNS.
#[derive(Debug, PartialEq)]
struct Read {
    rcode: Rcode,
    is_authoritative: bool,
    answers: Vec<String>,
    authority: Vec<String>,
}

fn read(octets: &[u8]) -> Read {
    let message = Message::from_octets(octets).expect("a header");
    let header = message.header();
    assert!(header.qr() && !header.ra() && !header.tc() && !header.z());
    let (_, answers, authority, additional) = message.sections().expect("sections");
    let words = |record: Record<ParsedName<&[u8]>, Data<'_>>| record.to_string().replace('\t', " ");
    let all = |section: domain::base::message::RecordSection<'_, &[u8]>| {
        section
            .map(|r| words(r.expect("a record").to_any_record().expect("its data")))
            .collect()
    };
    assert!(
        additional
            .into_iter()
            .all(|record| record.is_ok_and(|record| record.rtype() == Rtype::OPT))
    );
    let (answers, authority) = (all(answers), all(authority));
    Read {
        rcode: header.rcode(),
        is_authoritative: header.aa(),
        answers,
        authority,
    }
}

fn ask(with_aaaa: u8, name: &str, rtype: Rtype) -> Read {
    read(&answer(&answerer(with_aaaa), &query(name, rtype, Class::IN)).0)
}

const NAME: &str = "010-000-255-001.dns64perf.test";
const SOA: &str = "dns64perf.test. 3600 IN SOA ns.dns64perf.test. hostmaster.dns64perf.test. 1 86400 7200 3600000 3600";

#[test]
fn the_a_record_of_a_name_is_its_address_to_the_octet() {
    let query = query(NAME, Rtype::A, Class::IN);
    let (octets, kind) = answer(&answerer(0), &query);
    assert_eq!(kind, QueryKind::A(0x0a00_ff01));
    let mut expected = b"\x12\x34\x85\x00\x00\x01\x00\x01\x00\x00\x00\x00".to_vec();
    expected.extend_from_slice(b"\x0f010-000-255-001\x09dns64perf\x04test\x00\x00\x01\x00\x01");
    expected.extend_from_slice(b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x0e\x10\x00\x04\x0a\x00\xff\x01");
    assert_eq!(octets, expected);
}

#[test]
fn a_name_has_an_aaaa_record_or_the_soa_says_how_long_it_has_none() {
    let with = ask(100, NAME, Rtype::AAAA);
    assert_eq!(
        with.answers,
        [format!("{NAME}. 3600 IN AAAA 2001:2:0:aaaa::a00:ff01")]
    );
    assert_eq!(
        (with.rcode, with.is_authoritative, with.authority),
        (Rcode::NOERROR, true, vec![])
    );
    let without = ask(0, NAME, Rtype::AAAA);
    assert_eq!(
        without,
        Read {
            rcode: Rcode::NOERROR,
            is_authoritative: true,
            answers: vec![],
            authority: vec![SOA.to_owned()]
        }
    );
}

#[test]
fn what_else_is_asked_of_the_zone_is_answered_as_dns_servers_do() {
    let record = |text: &str| (Rcode::NOERROR, vec![text.to_owned()], vec![]);
    let nothing = |rcode| (rcode, vec![], vec![SOA.to_owned()]);
    let refused = (Rcode::REFUSED, vec![], vec![]);
    let cases = [
        (NAME, Rtype::MX, nothing(Rcode::NOERROR)),
        (
            NAME,
            Rtype::ANY,
            record("010-000-255-001.dns64perf.test. 3600 IN A 10.0.255.1"),
        ),
        ("dns64perf.test", Rtype::SOA, record(SOA)),
        (
            "dns64perf.test",
            Rtype::NS,
            record("dns64perf.test. 3600 IN NS ns.dns64perf.test."),
        ),
        ("dns64perf.test", Rtype::A, nothing(Rcode::NOERROR)),
        (
            "NS.dns64perf.test",
            Rtype::A,
            record("NS.dns64perf.test. 3600 IN A 192.0.2.53"),
        ),
        ("ns.dns64perf.test", Rtype::AAAA, nothing(Rcode::NOERROR)),
        (
            "256-000-000-000.dns64perf.test",
            Rtype::A,
            nothing(Rcode::NXDOMAIN),
        ),
        ("www.dns64perf.test", Rtype::AAAA, nothing(Rcode::NXDOMAIN)),
        (
            "a.010-000-255-001.dns64perf.test",
            Rtype::A,
            nothing(Rcode::NXDOMAIN),
        ),
        (
            "010-000-255-001.dns64perf.example",
            Rtype::A,
            refused.clone(),
        ),
        ("010-000-255-001.xdns64perf.test", Rtype::A, refused.clone()),
        ("test", Rtype::NS, refused.clone()),
        (".", Rtype::NS, refused.clone()),
        ("dns64perf.test", Rtype::AXFR, refused),
    ];
    for (name, rtype, (rcode, answers, authority)) in cases {
        let is_authoritative = rcode != Rcode::REFUSED;
        assert_eq!(
            ask(0, name, rtype),
            Read {
                rcode,
                is_authoritative,
                answers,
                authority
            },
            "{name} {rtype}"
        );
    }
    let chaos = answer(&answerer(0), &query(NAME, Rtype::A, Class::CH));
    assert_eq!(
        (read(&chaos.0).rcode, chaos.1),
        (Rcode::REFUSED, QueryKind::Other)
    );
}

#[test]
fn letters_keep_their_case_and_do_not_matter() {
    let query = query("010-000-255-001.dNs64pErF.tEST", Rtype::A, Class::IN);
    let (octets, kind) = answer(&answerer(0), &query);
    assert_eq!(kind, QueryKind::A(0x0a00_ff01));
    assert_eq!(octets[12..query.len()], query[12..]);
}

#[test]
fn edns_is_answered_with_edns() {
    let plain = query(NAME, Rtype::A, Class::IN);
    let other = query("www.dns64perf.test", Rtype::A, Class::IN);
    let cookie = b"\x00\x0a\x00\x08abcdefgh";
    for (query, flags) in [
        (with_edns(&plain, 0, false, b""), 0),
        (with_edns(&plain, 0, true, b""), 0x80),
        (with_edns(&plain, 0, true, cookie), 0x80),
        (with_edns(&other, 0, true, cookie), 0x80),
    ] {
        let (octets, _) = answer(&answerer(0), &query);
        assert_eq!(
            octets[octets.len() - 11..],
            [0, 0, 41, 4, 0xd0, 0, 0, flags, 0, 0, 0]
        );
        assert_eq!(octets[11], 1);
    }
    let (octets, _) = answer(&answerer(0), &with_edns(&plain, 1, false, b""));
    let message = Message::from_octets(octets).expect("a header");
    assert_eq!(message.opt_rcode(), domain::base::iana::OptRcode::BADVERS);
    assert_eq!(message.opt().map(|opt| opt.version()), Some(0));
}

#[test]
fn malformed_queries_have_formerr_and_answers_have_silence() {
    let good = query(NAME, Rtype::A, Class::IN);
    let edited = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut query = good.clone();
        edit(&mut query);
        let (octets, kind) = answer(&answerer(0), &query);
        (octets.get(3).map(|octet| octet & 15), kind)
    };
    let formerr = (Some(1), QueryKind::Malformed);
    assert_eq!(edited(&|q| q[5] = 0), formerr, "no question");
    assert_eq!(edited(&|q| q[5] = 2), formerr, "two questions");
    assert_eq!(
        edited(&|q| q[7] = 1),
        formerr,
        "an answer that is not there"
    );
    assert_eq!(
        edited(&|q| q[11] = 1),
        formerr,
        "an additional record that is not there"
    );
    assert_eq!(edited(&|q| q.push(0)), formerr, "octets too many");
    assert_eq!(
        edited(&|q| q.truncate(q.len() - 1)),
        formerr,
        "octets too few"
    );
    assert_eq!(
        edited(&|q| q.splice(12..12 + 32, [0xc0, 12]).for_each(drop)),
        formerr,
        "a name that is a loop"
    );
    assert_eq!(
        edited(&|q| *q = with_edns(&with_edns(q, 0, false, b""), 0, false, b"")),
        formerr,
        "two OPT records"
    );
    assert_eq!(
        edited(&|q| *q = with_edns(q, 0, false, b"\x00\x0a\x00\x08abc")),
        formerr,
        "half an option"
    );
    assert_eq!(
        edited(&|q| q[2] |= 0x28),
        (Some(4), QueryKind::Other),
        "an update"
    );
    assert_eq!(
        edited(&|q| q[2] |= 0x80),
        (None, QueryKind::Malformed),
        "a response"
    );
    assert_eq!(
        edited(&|q| q.truncate(11)),
        (None, QueryKind::Malformed),
        "no header"
    );
}

#[test]
fn the_longest_domain_has_answers_that_fit() {
    let domain = Domain::new(&"a.".repeat(119)).expect("239 octets and a label are 255");
    let text = domain.to_string();
    let zone = Arc::new(AddressZone {
        domain,
        population: NamePopulation::default(),
        ttl_s: 1,
    });
    let answerer = Answerer::new(zone, &[]);
    for name in [
        format!("010-000-000-001.{text}"),
        format!("1234567890abcde.{text}"),
        text,
    ] {
        let (octets, _) = answer(
            &answerer,
            &with_edns(&query(&name, Rtype::AAAA, Class::IN), 0, true, b""),
        );
        assert_eq!(read(&octets).authority.len(), 1);
    }
}

/// Checks that an answer is within bounds and not to a response, and that the library can parse it.
fn check(query: &[u8]) {
    let (octets, kind) = answer(&answerer(50), query);
    let is_query = query.len() >= 12 && query[2] & 0x80 == 0;
    assert_eq!(!octets.is_empty(), is_query);
    if !is_query {
        return assert_eq!(kind, QueryKind::Malformed);
    }
    assert_eq!(octets[..2], query[..2]);
    let answer = read(&octets);
    let (is_formerr, is_malformed) = (answer.rcode == Rcode::FORMERR, kind == QueryKind::Malformed);
    assert_eq!(is_formerr, is_malformed);
    assert!(is_malformed || octets.len() == 12 || octets[12..].starts_with(question_of(query)));
}

/// Returns the question of a query that has one, read octet by octet.
fn question_of(query: &[u8]) -> &[u8] {
    let mut end = 12;
    while query[end] != 0 {
        end += 1 + usize::from(query[end]);
    }
    &query[12..end + 5]
}

fn valid_query() -> impl Strategy<Value = Vec<u8>> {
    let rtype = prop_oneof![
        Just(Rtype::A),
        Just(Rtype::AAAA),
        any::<u16>().prop_map(Rtype::from_int)
    ];
    let class = prop_oneof![9 => Just(Class::IN), 1 => any::<u16>().prop_map(Class::from_int)];
    let name = prop_oneof![
        4 => any::<u32>().prop_map(|address| zone(0).domain.name(address.into())),
        1 => "[a-zA-Z0-9]{1,20}(\\.[a-z]{1,20}){0,3}\\.dns64perf\\.test",
        1 => "[a-z]{1,20}(\\.[a-z]{1,20}){0,3}",
    ];
    (name, rtype, class, any::<Option<(bool, bool)>>()).prop_map(|(name, rtype, class, edns)| {
        let plain = query(&name, rtype, class);
        edns.map_or(plain.clone(), |(is_new, dnssec_ok)| {
            with_edns(&plain, is_new.into(), dnssec_ok, b"\x00\x03\x00\x00")
        })
    })
}

proptest! {
    #[test]
    fn any_octets_are_survived(octets in proptest::collection::vec(any::<u8>(), 0..600)) {
        check(&octets);
    }

    #[test]
    fn any_octets_behind_a_good_header_are_survived(octets in proptest::collection::vec(any::<u8>(), 0..100)) {
        let mut query = b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
        query.extend(octets);
        check(&query);
    }

    #[test]
    fn valid_queries_and_what_is_left_of_them_are_answered(query in valid_query(), end in any::<prop::sample::Index>()) {
        check(&query);
        check(&query[..end.index(query.len())]);
    }

    #[test]
    fn mutated_queries_are_survived(
        mut query in valid_query(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), prop_oneof![Just(0xc0u8), Just(0), any::<u8>()]), 1..6),
    ) {
        for (at, octet) in edits {
            let at = at.index(query.len());
            query[at] = octet;
        }
        check(&query);
    }

    #[test]
    fn the_fast_way_says_what_the_library_does(query in valid_query(), with_aaaa in 0u8..=100) {
        let (octets, kind) = answer(&answerer(with_aaaa), &query);
        let mut out = [0; MOST_OCTETS];
        let records = zone::ZoneRecords::new(zone(with_aaaa), &[IpAddr::from([192, 0, 2, 53])]);
        let general = message::answer(&records, &query, &mut out);
        prop_assert_eq!(&octets[..], &out[..general.octets]);
        prop_assert_eq!(kind, general.kind);
    }
}

fn client(server: SocketAddr) -> Client {
    let client = Client::bind((server.ip(), 0)).expect("a port");
    client.connect(server).expect("a server");
    client
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout");
    client
}

fn received(client: &Client) -> Read {
    let mut room = [0; MOST_OCTETS];
    let octets = client.recv(&mut room).expect("an answer");
    read(&room[..octets])
}

/// Serves until this many messages have been taken, or five seconds are over.
fn take(authorities: &mut [Authority], wanted: usize, asked: &AskedNames) -> Vec<usize> {
    let end = Instant::now() + Duration::from_secs(5);
    let mut taken = vec![0; authorities.len()];
    while taken.iter().sum::<usize>() < wanted && Instant::now() < end {
        taken
            .iter_mut()
            .zip(&mut *authorities)
            .for_each(|(taken, authority)| *taken += authority.turn(Some(asked)));
    }
    taken
}

#[test]
fn queries_over_udp_are_answered_counted_and_watched() {
    for listen in ["127.0.0.1:0", "[::1]:0"] {
        let mut authority =
            Authority::bind(listen.parse().expect("an address"), zone(0)).expect("a server");
        let (client, asked) = (
            client(authority.local()),
            AskedNames::new(&[(0x0a00_0000, 1 << 16)]),
        );
        let queries = [
            (NAME, Rtype::AAAA),
            (NAME, Rtype::A),
            ("dns64perf.test", Rtype::SOA),
        ];
        for (name, rtype) in &queries {
            drop(client.send(&query(name, *rtype, Class::IN)));
        }
        client.send(b"hello").expect("sent");
        assert_eq!(take(std::slice::from_mut(&mut authority), 4, &asked), [4]);
        let answered = || received(&client).answers.len();
        assert_eq!([answered(), answered(), answered()], [0, 1, 1]);
        let expected = AuthorityCounts {
            aaaa: 1,
            a: 1,
            other: 1,
            malformed: 1,
            ..AuthorityCounts::default()
        };
        assert_eq!(authority.counts(), expected);
        assert_eq!((asked.names(), asked.saw(0x0a00_ff01)), (1, true));
        authority.reset_counts();
        assert_eq!(authority.counts(), AuthorityCounts::default());
    }
}

#[test]
fn two_share_a_port_and_its_clients() {
    let first = Authority::bind("[::1]:0".parse().expect("an address"), zone(0)).expect("a server");
    let second = Authority::bind(first.local(), zone(0)).expect("another at the same address");
    let server = first.local();
    let clients: Vec<Client> = (0..64).map(|_| client(server)).collect();
    for client in &clients {
        drop(client.send(&query(NAME, Rtype::A, Class::IN)));
    }
    let taken = take(&mut [first, second], 64, &AskedNames::new(&[]));
    assert_eq!(taken.iter().sum::<usize>(), 64);
    assert!(taken.iter().all(|taken| *taken > 0), "{taken:?}");
}

#[test]
fn those_of_a_tester_share_a_port_with_each_other_and_nobody_else() {
    let other = Authority::bind("[::1]:0".parse().expect("an address"), zone(0)).expect("a server");
    let address = other.local();
    let error = Authority::bind_together(address, &zone(0), 2)
        .err()
        .expect("an error")
        .to_string();
    assert!(error.contains("address already in use"), "{error}");
    drop(other);
    assert_eq!(
        Authority::bind_together(address, &zone(0), 2)
            .expect("servers")
            .len(),
        2
    );
}

#[test]
fn a_port_that_is_taken_is_told_with_what_to_do() {
    let taken = Client::bind("[::1]:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    let error = Authority::bind(address, zone(0))
        .err()
        .expect("an error")
        .to_string();
    assert!(
        error
            .starts_with(&format!("cannot listen on {address}: address already in use; is another name server running there?")),
        "{error}"
    );
}

/// Admits an address without the check of RFC 6815: the tests choose this machine's ports themselves.
fn at(address: &str) -> Admitted<Vec<SocketAddr>> {
    Isolation::Declared
        .admit(vec![address.parse().expect("an address")])
        .expect("declared")
}

/// Runs a service while `ask` runs; returns its counts.
fn served(ask: impl FnOnce(SocketAddr)) -> AuthorityCounts {
    let service = Service::bind(&at("[::1]:0"), &zone(0), 2).expect("a server");
    let (server, stop) = (service.local()[0], AtomicBool::new(false));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| service.run(&stop));
        let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask(server)));
        stop.store(true, Ordering::Relaxed);
        let counts = running.join().expect("no panic").expect("counts");
        asked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        counts
    })
}

#[test]
fn a_service_wakes_up_for_a_query() {
    let counts = served(|server| {
        let client = client(server);
        for _ in 0..3 {
            // The pause is what is tested: a service without queries falls asleep.
            std::thread::sleep(Duration::from_millis(20));
            client
                .send(&query(NAME, Rtype::A, Class::IN))
                .expect("sent");
            assert_eq!(received(&client).answers.len(), 1);
        }
    });
    assert_eq!(
        counts,
        AuthorityCounts {
            a: 3,
            ..AuthorityCounts::default()
        }
    );
}

#[test]
fn queries_over_tcp_are_answered_one_after_the_other_on_a_connection() {
    let counts = served(|server| {
        let mut stream = TcpStream::connect(server).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .expect("a timeout");
        let query = query(NAME, Rtype::A, Class::IN);
        let framed = [&[0, query.len() as u8], &query[..]].concat();
        // Two at once, and a third in consecutive pieces.
        stream.write_all(&framed.repeat(2)).expect("written");
        for piece in framed.chunks(7) {
            stream.write_all(piece).expect("written");
            std::thread::sleep(Duration::from_millis(2));
        }
        for _ in 0..3 {
            let mut length = [0; 2];
            stream.read_exact(&mut length).expect("a length");
            let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut answer).expect("an answer");
            assert_eq!(read(&answer).answers.len(), 1);
        }
    });
    assert_eq!(
        counts,
        AuthorityCounts {
            a: 3,
            over_tcp: 3,
            ..AuthorityCounts::default()
        }
    );
}

#[test]
fn a_connection_too_many_is_closed_and_the_others_go_on() {
    served(|server| {
        let connect = || TcpStream::connect(server).expect("a connection");
        let mut streams: Vec<TcpStream> = (0..tcp::MOST_CONNECTIONS).map(|_| connect()).collect();
        let mut one_more = connect();
        one_more
            .set_read_timeout(Some(Duration::from_secs(3)))
            .expect("a timeout");
        assert_eq!(one_more.read(&mut [0]).expect("the end"), 0);
        let query = query(NAME, Rtype::A, Class::IN);
        let last = streams.last_mut().expect("a connection");
        last.write_all(&[&[0, query.len() as u8], &query[..]].concat())
            .expect("written");
        last.read_exact(&mut [0; 2 + 12]).expect("an answer");
    });
}

/// Messages of the maximum length that consist only of ones: none is a query, and the connection continues.
#[test]
fn a_megabyte_of_noise_over_tcp_is_counted_and_the_next_query_answered() {
    let counts = served(|server| {
        let mut stream = TcpStream::connect(server).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .expect("a timeout");
        let mut reader = stream.try_clone().expect("a second handle");
        // All answers to the noise are read, because a client that never reads is made to wait.
        let query = query(NAME, Rtype::A, Class::IN);
        let end = query.clone();
        let answers = std::thread::spawn(move || {
            let mut length = [0; 2];
            loop {
                reader.read_exact(&mut length).expect("a length");
                let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
                reader.read_exact(&mut answer).expect("an answer");
                if answer[..2] == end[..2] {
                    return read(&answer).answers.len();
                }
            }
        });
        stream
            .write_all(&vec![0xff; 16 * (2 + 0xffff)])
            .expect("written");
        stream
            .write_all(&[&[0, query.len() as u8], &query[..]].concat())
            .expect("written");
        assert_eq!(answers.join().expect("an answer"), 1);
    });
    assert_eq!(
        counts,
        AuthorityCounts {
            a: 1,
            malformed: 16,
            over_tcp: 1,
            ..AuthorityCounts::default()
        }
    );
}

#[test]
fn both_families_have_the_same_port() {
    let service = Service::bind(&at("[::]:0"), &zone(0), 1).expect("a server");
    let ipv4 = SocketAddr::from(([0; 4], service.local()[0].port()));
    Service::bind(&at(&ipv4.to_string()), &zone(0), 1).expect("another for IPv4");
}

#[test]
fn a_second_service_at_an_address_is_refused() {
    served(|server| {
        let error = Service::bind(&at(&server.to_string()), &zone(0), 1)
            .err()
            .expect("an error")
            .to_string();
        assert!(
            error.contains("is another name server running there?"),
            "{error}"
        );
    });
}
