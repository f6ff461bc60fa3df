//! What a trial of DNS queries counted (RFC 8219 section 9). Counts, sums and times only, never a ratio.

use super::Fault;
use crate::units::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The counts of one trial of queries, beside those that every trial has: there a query is what a frame is elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DnsResult {
    /// The server that was asked, address and port.
    pub server: String,
    /// A query without the right answer after this time has failed, nanoseconds (RFC 8219 section 9.2: 1 s, and never more).
    pub timeout_ns: u64,
    /// The numbers of queries, by outcome.
    pub answers: Answers,
    /// Times from a query to its first answer, of all that were answered, right or wrong.
    pub rtt: RttSums,
    /// Queries for names that have an AAAA record of their own, of all that were sent.
    pub existing: u64,
    /// The answers the DUT gave from its cache.
    pub cache: Cache,
    /// The messages that reached the authoritative server; `None` where it is not the tester's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthorityCounts>,
    /// The rate that the self-test of section 9.2.1 allows, queries per second; `None` where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certified: Option<u64>,
    /// First answers to the queries of a file by their response code, right or wrong; none of other queries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rcodes: BTreeMap<String, u64>,
    /// Different names of a file whose A records the server did not give before the trial, so that no synthesised address is right for them.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub not_looked_up: u64,
    /// The connections; `None` over UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpCounts>,
}

/// The TCP connections of a trial of queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TcpCounts {
    /// Connections that the client keeps open.
    pub connections: u64,
    /// Connections that were established, the first ones included; over TLS, with a session.
    pub opened: u64,
    /// Attempts that failed: refused, reset, not answered in time, or without a TLS session.
    pub refused: u64,
    /// Established connections that the server closed or reset. Each was opened again.
    pub closed: u64,
    /// Queries that waited for their answers on those: they are not sent again, and so unanswered.
    pub interrupted: u64,
    /// Queries that were due while their connection carried as many as it may, was not established, or took no more octets. They waited in the tester, which
    /// counts in their times.
    pub held_back: u64,
    /// Connections on which the lengths before the messages were wrong: below the 12 octets of a header, or cut short by the end of the connection.
    pub misframed: u64,
    /// The TLS sessions on them; `None` without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsCounts>,
}

/// The TLS sessions on the connections of a trial of queries (RFC 7858).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TlsCounts {
    /// True if the server's certificate had to be that of a given authority.
    pub is_verified: bool,
    /// Established sessions by protocol version and cipher suite.
    pub suites: BTreeMap<String, u64>,
    /// Those of them that resumed an earlier session of the same thread.
    pub resumed: u64,
    /// Handshakes that failed: attempts that count as `refused`.
    pub handshakes_failed: u64,
    /// Established connections that ended with an alert or with octets that are not TLS; they count as `closed`.
    pub broken: u64,
    /// The first error of a handshake or of an established session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
}

impl TlsCounts {
    /// Returns the established sessions by version and cipher suite in words, such as `TLS 1.3 TLS_AES_256_GCM_SHA384: 10`.
    pub fn suite_list(&self) -> String {
        let suites = self.suites.iter();
        let suites: Vec<String> = suites
            .map(|(suite, sessions)| format!("{suite}: {sessions}"))
            .collect();
        suites.join(", ")
    }

    fn add(&mut self, other: &Self) {
        self.is_verified |= other.is_verified;
        for (suite, sessions) in &other.suites {
            *self.suites.entry(suite.clone()).or_default() += sessions;
        }
        self.resumed += other.resumed;
        self.handshakes_failed += other.handshakes_failed;
        self.broken += other.broken;
        if self.first_error.is_none() {
            self.first_error.clone_from(&other.first_error);
        }
    }
}

impl TcpCounts {
    /// Adds the counts of another thread.
    pub fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.opened += other.opened;
        self.refused += other.refused;
        self.closed += other.closed;
        self.interrupted += other.interrupted;
        self.held_back += other.held_back;
        self.misframed += other.misframed;
        if let Some(tls) = &other.tls {
            self.tls.get_or_insert_default().add(tls);
        }
    }
}

/// One right answer in so many may have come from elsewhere than the plan intends, where some are to come from the cache: entries can be pushed out of
/// it.
const HITS_TOLERANCE: u64 = 100;

impl DnsResult {
    /// Returns a sentence for each kind of error that the network reported. A socket keeps one error at a time, so the numbers are lower bounds. An
    /// unreachable port is reported by the server's machine, or by a firewall that rejects queries in its place.
    pub fn network_errors(&self) -> Vec<String> {
        let Answers {
            sent,
            port_unreachable,
            host_unreachable,
            ..
        } = self.answers;
        let place = place(&self.server);
        let kinds = [
            (
                port_unreachable,
                format!(
                    "ICMP port unreachable: nothing listens at {place}, or a firewall rejects queries"
                ),
            ),
            (
                host_unreachable,
                format!("host or network unreachable: there is no way to {place}"),
            ),
            (
                self.answers.other_unreachable(),
                "another error of the network".to_owned(),
            ),
        ];
        let told = kinds.into_iter().filter(|(errors, _)| *errors > 0);
        told.map(|(errors, what)| {
            format!("at least {errors} of {} met {what}", counted(sent, "query"))
        })
        .collect()
    }

    /// Returns a fault if answers came from the cache that should not have, or did not come from it although they should: this was not the trial that
    /// was asked for. Both numbers are added, so that one does not make up for the other. New names must not be in any cache (RFC 8219 section 9.2: a
    /// MUST), so where nothing is to come from the cache, a single one invalidates the trial.
    pub fn hits_differ(&self) -> Option<Fault> {
        let Cache {
            intended,
            observed,
            missed,
            repeated,
            ..
        } = self.cache;
        let (observed, of) = (observed?, self.answers.sound());
        let is_new_name_cached = intended == 0 && repeated > 0;
        let differ = (missed + repeated) * HITS_TOLERANCE > of;
        (is_new_name_cached || differ).then_some(Fault::HitsDiffer {
            intended,
            observed,
            of,
        })
    }
}

/// Returns the address and port of a server in words.
fn place(server: &str) -> String {
    let parsed = server
        .parse()
        .map(|server: SocketAddr| format!("{} port {}", server.ip(), server.port()));
    parsed.unwrap_or_else(|_| server.to_owned())
}

/// Queries by their result, which the first answer to each decides. Every sent one has exactly one: `right`, `late`, `wrong_address`,
/// `wrong_ttl`, `wrong_form`, `empty`, `truncated`, a response code, `malformed`, or `unanswered`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answers {
    /// Sent.
    pub sent: u64,
    /// Exactly the answer that was due, within the timeout.
    pub right: u64,
    /// The right answer, after the timeout.
    pub late: u64,
    /// An AAAA record with another address, or more than one.
    pub wrong_address: u64,
    /// The right address with a time to live longer than the authority's.
    pub wrong_ttl: u64,
    /// The right records in a message that is not a proper response: flags, another section or name.
    pub wrong_form: u64,
    /// No error and no AAAA record, where there is one to give.
    pub empty: u64,
    /// Truncated (TC).
    pub truncated: u64,
    /// SERVFAIL.
    pub servfail: u64,
    /// NXDOMAIN.
    pub nxdomain: u64,
    /// REFUSED.
    pub refused: u64,
    /// Another response code.
    pub other_rcode: u64,
    /// Not to be parsed, although it has the identifier of the query.
    pub malformed: u64,
    /// Not answered at all.
    pub unanswered: u64,

    /// Beside them: further answers to queries already answered.
    pub duplicate: u64,
    /// Beside them: with the identifier of a query that waits for its answer, or has one, but to another question.
    pub mismatched: u64,
    /// Beside them: with the identifier of no such query, or no responses at all.
    pub unasked: u64,
    /// Beside them: errors of the network (ICMP, ICMPv6: port or address unreachable).
    pub unreachable: u64,
    /// Those of `unreachable` that report an unreachable port.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub port_unreachable: u64,
    /// Those of `unreachable` that report an unreachable address or network.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub host_unreachable: u64,
}

impl Answers {
    /// Returns the number of queries to which anything came: dns64perf++'s "received".
    pub fn received(&self) -> u64 {
        self.sent.saturating_sub(self.unanswered)
    }

    /// Returns the number of queries to which exactly the answer came that was due, in time or late.
    pub fn sound(&self) -> u64 {
        self.right + self.late
    }

    /// Returns the number of queries whose failure time alone can explain: no answer, a late one, or one of a server that waited for its authority
    /// in vain.
    pub fn too_late(&self) -> u64 {
        self.late + self.unanswered + self.servfail
    }

    /// Returns the number of those of `unreachable` that report anything else, or of a record that does not tell the kinds apart.
    pub fn other_unreachable(&self) -> u64 {
        self.unreachable
            .saturating_sub(self.port_unreachable)
            .saturating_sub(self.host_unreachable)
    }

    /// Returns the number of queries with any outcome other than `unanswered`: those that are no longer waited for.
    pub fn settled(&self) -> u64 {
        let answered = [
            self.right,
            self.late,
            self.wrong_address,
            self.wrong_ttl,
            self.wrong_form,
            self.empty,
            self.truncated,
        ];
        let failed = [
            self.servfail,
            self.nxdomain,
            self.refused,
            self.other_rcode,
            self.malformed,
        ];
        answered.iter().chain(&failed).sum()
    }

    /// Returns the number of queries with each outcome, with its name in reports and in their order; those answered in time first.
    pub fn outcomes(&self) -> [(&'static str, u64); 13] {
        [
            ("answered in time", self.right),
            ("late", self.late),
            ("wrong address", self.wrong_address),
            ("wrong TTL", self.wrong_ttl),
            ("wrong form", self.wrong_form),
            ("empty", self.empty),
            ("truncated", self.truncated),
            ("SERVFAIL", self.servfail),
            ("NXDOMAIN", self.nxdomain),
            ("REFUSED", self.refused),
            ("other response code", self.other_rcode),
            ("malformed", self.malformed),
            ("unanswered", self.unanswered),
        ]
    }

    /// Returns the same of all outcomes other than "answered in time".
    pub fn failures(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.outcomes().into_iter().skip(1)
    }
}

/// Sums from which average and standard deviation follow: the classic figures of dns64perf++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RttSums {
    /// Answers measured.
    pub count: u64,
    /// Sum, nanoseconds.
    pub sum_ns: u64,
    /// Sum of the squares, square microseconds.
    pub squares_us2: f64,
    /// Sum of the most by which each may be above the true one, nanoseconds; `None` in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_ns: Option<u64>,
}

impl RttSums {
    /// One more; `bound_ns` is the most by which it may be above the true one, if that is known.
    pub fn take(&mut self, rtt_ns: u64, bound_ns: Option<u64>) {
        let us = rtt_ns as f64 / 1e3;
        self.count += 1;
        self.sum_ns += rtt_ns;
        self.squares_us2 += us * us;
        self.bounds_ns = sum(self.bounds_ns, bound_ns);
    }

    /// Adds the sums of another share of the same trial.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.squares_us2 += other.squares_us2;
        self.bounds_ns = sum(self.bounds_ns, other.bounds_ns);
    }

    /// Returns the average, nanoseconds; `None` of no answers.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Returns the most by which the average may be above the true one, nanoseconds; `None` if that is not known.
    pub fn mean_bound_ns(&self) -> Option<f64> {
        Some(self.bounds_ns? as f64 / self.count.max(1) as f64)
    }

    /// Returns the standard deviation of the population (divided by the number of answers, as in dns64perf++), nanoseconds; `None` of no answers.
    pub fn deviation_ns(&self) -> Option<f64> {
        let mean_us = self.mean_ns()? / 1e3;
        let variance = self.squares_us2 / self.count as f64 - mean_us * mean_us;
        Some(variance.max(0.0).sqrt() * 1e3)
    }
}

/// Returns the sum of those that are known.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).reduce(|sum, more| sum + more)
}

/// Caching: what was meant to be answered from the cache and what was, name by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// The number of queries rightly answered, in time or late, that were for names resolved before the trial.
    pub intended: u64,
    /// The number of the same queries that the authority was not asked about. `None` where the authority is not ours to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<u64>,
    /// The number of the intended ones that the authority was asked for all the same: pushed out of the cache, or never kept.
    #[serde(default)]
    pub missed: u64,
    /// Right answers about new names that the authority was not asked for: the DUT knew them from somewhere.
    #[serde(default)]
    pub repeated: u64,
    /// Names resolved before.
    pub preloaded: u64,
    /// Queries sent to resolve them; some names were asked for more than once.
    pub preload_queries: u64,
    /// Time that this took, nanoseconds.
    pub preload_ns: u64,
}

/// The messages that reached the authoritative server during a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuthorityCounts {
    /// Queries for AAAA records of names in the namespace.
    pub aaaa: u64,
    /// Queries for A records of names in the namespace.
    pub a: u64,
    /// Everything else that was a query.
    pub other: u64,
    /// Messages that were not queries.
    pub malformed: u64,
    /// Names of the trial that were asked for, each counted once.
    pub names: u64,
    /// The queries over TCP, of all.
    pub over_tcp: u64,
    /// Lost at the authority's own socket: it was too slow.
    pub overruns: u64,
}

impl AuthorityCounts {
    /// Returns the number of all queries.
    pub fn queries(&self) -> u64 {
        self.aaaa + self.a + self.other
    }
}

impl std::iter::Sum for AuthorityCounts {
    /// Sums the counts of several sockets of one server, and of disjoint sets of names.
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, more| Self {
            aaaa: sum.aaaa + more.aaaa,
            a: sum.a + more.a,
            other: sum.other + more.other,
            malformed: sum.malformed + more.malformed,
            names: sum.names + more.names,
            over_tcp: sum.over_tcp + more.over_tcp,
            overruns: sum.overruns + more.overruns,
        })
    }
}

/// The self-test of RFC 8219 section 9.2.1: the tester's client looped to its authority, without the DUT.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// r: the highest rate a DUT may be tested at, queries per second. 0: none.
    pub rate: u64,
    /// t: the timeout this holds for, nanoseconds. Answers had to come within a quarter of it.
    pub timeout_ns: u64,
    /// Time of sending of each trial, nanoseconds.
    pub duration_ns: u64,
    /// The path between client and authority, in words.
    pub path: String,
    /// The trials, in the order they were made.
    pub trials: Vec<CertificateTrial>,
}

/// One trial of the self-test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CertificateTrial {
    /// Queries per second, looped: 2 (r + d) with d = 0.1 r.
    pub rate: u64,
    /// Queries sent.
    pub sent: u64,
    /// Answered rightly within a quarter of the timeout.
    pub in_time: u64,
    /// True if the sender kept its schedule.
    pub is_paced: bool,
    /// The slowest answer, nanoseconds.
    pub slowest_ns: u64,
}

impl CertificateTrial {
    /// Returns whether the tester is fit for r = rate / 2.2.
    pub fn passed(&self) -> bool {
        self.is_paced && self.sent > 0 && self.in_time == self.sent
    }
}

impl Certificate {
    /// Returns the rate that the self-test for r loops: 2 (r + d), d = 0.1 r.
    pub fn looped(rate: u64) -> u64 {
        (rate * 22).div_ceil(10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn average_and_standard_deviation_of_1_2_and_3_ms() {
        let mut rtt = RttSums::default();
        for ns in [1_000_000, 2_000_000, 3_000_000] {
            rtt.take(ns, Some(ns / 100));
        }
        assert_eq!(
            (rtt.mean_ns(), rtt.mean_bound_ns()),
            (Some(2_000_000.0), Some(20_000.0))
        );
        let deviation = rtt.deviation_ns().expect("answers");
        assert!((deviation - 816_496.58).abs() < 0.1, "{deviation}");
    }

    #[test]
    fn errors_of_the_network_are_told_by_what_reported_them() {
        let answers = Answers {
            sent: 100,
            unanswered: 100,
            ..Answers::default()
        };
        let told = |server: &str, answers| {
            DnsResult {
                server: server.to_owned(),
                answers,
                ..DnsResult::default()
            }
            .network_errors()
        };
        assert_eq!(told("192.0.2.1:53", answers), [""; 0]);
        let closed = Answers {
            unreachable: 7,
            port_unreachable: 7,
            ..answers
        };
        let expected = "at least 7 of 100 queries met ICMP port unreachable: nothing listens at 2001:db8::1 port 53, or a firewall rejects queries";
        assert_eq!(told("[2001:db8::1]:53", closed), [expected]);
        let mixed = Answers {
            unreachable: 9,
            port_unreachable: 2,
            host_unreachable: 3,
            ..answers
        };
        let told = told("192.0.2.1:53", mixed);
        assert!(
            told[1].starts_with("at least 3 of")
                && told[1].ends_with("there is no way to 192.0.2.1 port 53"),
            "{told:?}"
        );
        assert_eq!(
            (told.len(), told[2].as_str()),
            (
                3,
                "at least 4 of 100 queries met another error of the network"
            )
        );
    }

    #[test]
    fn a_record_that_does_not_tell_the_kinds_of_errors_apart_is_read() {
        let mut record = serde_json::to_value(Answers {
            sent: 9,
            unreachable: 5,
            port_unreachable: 5,
            ..Answers::default()
        })
        .expect("JSON");
        record
            .as_object_mut()
            .expect("an object")
            .remove("port_unreachable")
            .expect("a count");
        let read: Answers = serde_json::from_value(record).expect("answers");
        assert_eq!(
            (
                read.unreachable,
                read.port_unreachable,
                read.other_unreachable()
            ),
            (5, 0, 5)
        );
    }

    #[test]
    fn a_hit_too_many_does_not_make_up_for_one_too_few() {
        let answers = Answers {
            sent: 1000,
            right: 1000,
            ..Answers::default()
        };
        let of = |intended, missed, repeated| {
            let observed = Some(intended - missed + repeated);
            let cache = Cache {
                intended,
                observed,
                missed,
                repeated,
                ..Cache::default()
            };
            DnsResult {
                answers,
                cache,
                ..DnsResult::default()
            }
            .hits_differ()
            .is_some()
        };
        assert!(!of(500, 5, 5), "one in a hundred");
        assert!(of(500, 6, 5) && of(500, 300, 300));
        assert!(
            !of(0, 0, 0) && of(0, 0, 1),
            "without caching every name is new"
        );
    }

    #[test]
    fn the_self_test_loops_more_than_twice_the_rate() {
        assert_eq!(Certificate::looped(10_000), 22_000);
        assert_eq!(Certificate::looped(1), 3);
    }

    #[test]
    fn a_self_test_with_one_late_answer_has_not_passed() {
        let trial = CertificateTrial {
            rate: 22,
            sent: 22,
            in_time: 22,
            is_paced: true,
            slowest_ns: 1,
        };
        assert!(trial.passed());
        assert!(
            !CertificateTrial {
                in_time: 21,
                ..trial
            }
            .passed()
        );
        assert!(
            !CertificateTrial {
                is_paced: false,
                ..trial
            }
            .passed()
        );
    }
}
