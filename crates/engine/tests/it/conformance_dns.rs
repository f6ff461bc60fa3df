//! Vectors for DNS servers, over loopback, with a server that forwards queries and has one fault at a time.

use sixbench_conformance::dns::DnsSetting;
use sixbench_conformance::notation;
use sixbench_conformance::{Vector, VectorResult};
use sixbench_engine::conformance::dns::{DnsVectorEnds, DnsVectorTester};
use sixbench_engine::conformance::{VectorRecord, VectorRun};
use sixbench_engine::dns::DnsError;
use sixbench_method::isolation::Isolation;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const FILE: &str = r#"rfc = 6147
title = "DNS64"
read = "a text"
technologies = ["dns64"]

[[vector]]
name = "over-udp"
clause = "5.3.3"
level = "MUST"
sentence = "An A record is returned unchanged."
zone = "host 300 A 192.31.196.1"
query = "host A"
expect = """
;; status: NOERROR
;; ANSWER SECTION:
host 300 A 192.31.196.1
"""

[[vector]]
name = "over-tcp"
clause = "5.3.3"
level = "MUST"
sentence = "An A record is returned unchanged."
zone = "host 300 A 192.31.196.1"
query = "host A +tcp"
expect = """
;; status: NOERROR
;; ANSWER SECTION:
host 300 A 192.31.196.1
"""

[[vector]]
name = "not-asked"
clause = "5.3.3"
level = "MUST"
sentence = "The authority is not asked."
zone = "host 300 A 192.31.196.1"
query = "host A"
expect = """
;; status: NOERROR
;; ANSWER SECTION:
host 300 A 192.31.196.1
"""
upstream = "nothing"

[[vector]]
name = "well-known"
clause = "5.2"
level = "MUST"
sentence = "It is about the Well-Known Prefix."
query = "host A"
prefix = "64:ff9b::/96"
expect = ";; status: NXDOMAIN"
"#;

/// A fault of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It drops the first query for each name, except for control queries.
    DropsTheFirst,
    /// It sends answers to other queries before the right one.
    SendsForeignAnswers,
    /// It ends connections without an answer.
    EndsConnections,
    /// It ends connections without an answer, and then answers nothing any more.
    EndsConnectionsAndDies,
    /// It cuts its answers.
    CutsAnswers,
}

/// A server that forwards queries to an authority.
struct Forwarder {
    fault: Fault,
    over_udp: UdpSocket,
    over_tcp: TcpListener,
    authority: SocketAddr,
    seen: BTreeSet<Vec<u8>>,
    is_dead: bool,
}

impl Forwarder {
    fn bind(listen: SocketAddr, authority: SocketAddr, fault: Fault) -> Self {
        let over_udp = UdpSocket::bind(listen).expect("a socket");
        let over_tcp = TcpListener::bind(listen).expect("a socket");
        over_udp
            .set_read_timeout(Some(Duration::from_millis(1)))
            .expect("a time limit");
        over_tcp.set_nonblocking(true).expect("no blocking");
        Self {
            fault,
            over_udp,
            over_tcp,
            authority,
            seen: BTreeSet::new(),
            is_dead: false,
        }
    }

    fn run(mut self, stop: &AtomicBool) {
        let mut room = [0; 4096];
        while !stop.load(Ordering::Relaxed) {
            if let Ok((octets, client)) = self.over_udp.recv_from(&mut room) {
                self.answer_datagram(&room[..octets], client);
            }
            if let Ok((stream, _)) = self.over_tcp.accept() {
                self.answer_stream(stream);
            }
        }
    }

    fn answer_datagram(&mut self, query: &[u8], client: SocketAddr) {
        let is_control = query.windows(8).any(|octets| octets == b"\x07control");
        let is_new = self.seen.insert(query[12..].to_vec());
        if self.is_dead || self.fault == Fault::DropsTheFirst && is_new && !is_control {
            return;
        }
        let Some(answer) = self.forward(query) else {
            return;
        };
        if self.fault == Fault::SendsForeignAnswers {
            let mut other_id = answer.clone();
            other_id[0] ^= 1;
            // REFUSED: whoever takes it for the answer is wrong.
            other_id[3] |= 5;
            let mut other_name = answer.clone();
            other_name[13] = b'z';
            for foreign in [other_id, other_name, vec![0; 5]] {
                self.over_udp.send_to(&foreign, client).expect("sent");
            }
        }
        let end = if self.fault == Fault::CutsAnswers && !is_control {
            answer.len() - 1
        } else {
            answer.len()
        };
        self.over_udp.send_to(&answer[..end], client).expect("sent");
    }

    fn answer_stream(&mut self, mut stream: TcpStream) {
        stream.set_nonblocking(false).expect("blocking");
        let mut length = [0; 2];
        stream.read_exact(&mut length).expect("a length");
        let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut query).expect("a query");
        if matches!(
            self.fault,
            Fault::EndsConnections | Fault::EndsConnectionsAndDies
        ) {
            self.is_dead = self.fault == Fault::EndsConnectionsAndDies;
            return;
        }
        let Some(answer) = self.forward(&query) else {
            return;
        };
        let length = (answer.len() as u16).to_be_bytes();
        // In two parts, as TCP may deliver it.
        stream.write_all(&length).expect("sent");
        stream.write_all(&answer).expect("sent");
    }

    /// Returns the authority's answer; `None` if it has ended, as it does after a stop.
    fn forward(&self, query: &[u8]) -> Option<Vec<u8>> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a socket");
        let most = Duration::from_secs(2);
        socket.set_read_timeout(Some(most)).expect("a time limit");
        socket.send_to(query, self.authority).expect("sent");
        let mut room = [0; 4096];
        let octets = socket.recv(&mut room).ok()?;
        Some(room[..octets].to_vec())
    }
}

/// Returns the outcome of every vector with a server of this fault. `number` distinguishes the addresses of tests.
fn outcomes(number: u8, fault: Option<Fault>) -> Result<Vec<VectorRecord>, DnsError> {
    Ok(run(number, fault, usize::MAX)?.records)
}

/// Asks a server of this fault, with a stop after so many vectors.
fn run(number: u8, fault: Option<Fault>, stop_after: usize) -> Result<VectorRun, DnsError> {
    let server = SocketAddr::from(([127, 53, 1, number], 5353));
    let authority = SocketAddr::from(([127, 53, 2, number], 5353));
    let file = notation::read("f", FILE).unwrap_or_else(|error| panic!("{error}"));
    let vectors: Vec<&Vector> = file.vectors.iter().collect();
    let ends = DnsVectorEnds {
        client_namespace: None,
        server: Isolation::Unknown.admit(server).expect("loopback"),
        authority_namespace: None,
        authority: Isolation::Unknown.admit(authority).expect("loopback"),
    };
    let setting = DnsSetting {
        prefix: "2001:db8::/96".parse().expect("a prefix"),
        domain: "sixbench.test".to_owned(),
        authority: Ipv4Addr::new(127, 53, 2, number),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let tester = DnsVectorTester::new(ends, setting, stop.clone());
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let forwarder = fault.map(|fault| Forwarder::bind(server, authority, fault));
        if let Some(forwarder) = forwarder {
            scope.spawn(|| forwarder.run(&has_ended));
        }
        let progress = move |done, _| stop.store(done >= stop_after, Ordering::Relaxed);
        let ended = tester.run(&vectors, Box::new(progress));
        has_ended.store(true, Ordering::Relaxed);
        ended
    })
}

/// Returns the result and the number of attempts of each vector.
fn results(number: u8, fault: Fault) -> Vec<(VectorResult, u32)> {
    let records = outcomes(number, Some(fault)).expect("outcomes");
    records
        .iter()
        .map(|record| (record.judgement.result, record.attempts))
        .collect()
}

const NOT_APPLICABLE: (VectorResult, u32) = (VectorResult::NotApplicable, 0);

#[test]
fn answers_over_udp_and_tcp_are_judged_and_what_the_authority_is_asked() {
    let records = outcomes(1, Some(Fault::None)).expect("outcomes");
    let results: Vec<VectorResult> = records
        .iter()
        .map(|record| record.judgement.result)
        .collect();
    assert_eq!(
        results,
        [
            VectorResult::Right,
            VectorResult::Right,
            VectorResult::Wrong,
            VectorResult::NotApplicable
        ]
    );
    let reason = records[2].judgement.reason.as_deref();
    assert_eq!(reason, Some("the server asked the authority for host A"));
    // The query and its answer, at the client and at the authority.
    assert_eq!(records[0].capture.len(), 4);
    let ports = |octets: &[u8]| u16::from_be_bytes([octets[36], octets[37]]);
    assert_eq!(ports(&records[0].capture[0].octets), 5353);
}

#[test]
fn a_query_without_an_answer_is_sent_once_more() {
    let results = results(2, Fault::DropsTheFirst);
    let twice = (VectorResult::Right, 2);
    assert_eq!(
        results,
        [
            twice,
            (VectorResult::Right, 1),
            (VectorResult::Wrong, 2),
            NOT_APPLICABLE
        ]
    );
}

#[test]
fn answers_to_other_queries_are_ignored() {
    let results = results(3, Fault::SendsForeignAnswers);
    assert_eq!(results[0], (VectorResult::Right, 1));
}

#[test]
fn silence_is_no_answer_if_control_queries_are_answered_and_unknown_otherwise() {
    let silent = results(4, Fault::EndsConnections);
    assert_eq!(silent[1], (VectorResult::NoAnswer, 2));
    let dead = results(5, Fault::EndsConnectionsAndDies);
    assert_eq!(dead[0], (VectorResult::Right, 1));
    assert_eq!(dead[1], (VectorResult::Unknown, 2));
}

#[test]
fn an_answer_that_cannot_be_read_is_wrong() {
    let records = outcomes(6, Some(Fault::CutsAnswers)).expect("outcomes");
    let judgement = &records[0].judgement;
    assert_eq!(judgement.result, VectorResult::Wrong);
    let came = judgement.frames[0].came.as_deref().expect("a message");
    assert!(came.starts_with("a message that cannot be read"), "{came}");
}

#[test]
fn a_stop_leaves_what_was_found_until_then() {
    let run = run(8, Some(Fault::None), 1).expect("outcomes");
    assert!(run.is_interrupted);
    let results: Vec<_> = run
        .records
        .iter()
        .map(|record| (record.judgement.result, record.attempts))
        .collect();
    let not_sent = (VectorResult::Unknown, 0);
    assert_eq!(
        results,
        [(VectorResult::Right, 1), not_sent, not_sent, NOT_APPLICABLE]
    );
}

#[test]
fn a_server_that_answers_no_control_query_has_no_result() {
    let error = outcomes(7, None).err().expect("no outcomes");
    assert!(matches!(error, DnsError::NoControlAnswer { .. }), "{error}");
    assert!(
        error.to_string().starts_with("no result: 127.53.1.7:5353"),
        "{error}"
    );
}
