//! A run of DNS servers (RFC 8219 section 9): the real procedure with servers simulated by arithmetic.

use super::{SECOND, Sample, plan, test, watch};
use sixbench_method::plan::*;
use sixbench_method::record::{DutFacts, Ending};
use sixbench_method::repeat::Repetition;
use sixbench_method::terms::*;
use sixbench_method::trial::dns::*;
use sixbench_method::trial::*;
use sixbench_method::units::counted;

/// The rate that the self-test allows, queries per second.
const CERTIFIED: u64 = 60_000;

impl Sample {
    /// Returns a grid of two DNS64 servers, one whose cache forgets, and two authoritative servers.
    pub(crate) fn of_dns_servers() -> Self {
        let mut tests: Vec<Test> = [("unbound", "Unbound"), ("bind", "BIND")]
            .iter()
            .flat_map(|(dut, title)| grid(dut, title))
            .collect();
        let forgetful = DnsTest {
            cached: 100,
            ..DnsTest::required(DnsRole::Dns64)
        };
        tests.push(of("forgets", "PowerDNS, small cache", "pdns", forgetful));
        let zone = DnsTest::required(DnsRole::Authority);
        tests.extend([
            of("nsd", "NSD", "nsd", zone.clone()),
            of("knot", "Knot DNS", "knot", zone),
        ]);
        let mut plan = Plan {
            name: "dns64".to_owned(),
            tests,
            ..plan()
        };
        plan.search.maximum = FrameRate(200_000);
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        let titles = [
            ("unbound", "Unbound"),
            ("bind", "BIND 9"),
            ("pdns", "PowerDNS Recursor"),
            ("nsd", "NSD"),
            ("knot", "Knot DNS"),
        ];
        sample.facts.duts = titles.map(|(name, title)| facts(name, title)).into();
        for test in sample.plan.tests.clone() {
            for point in test.points() {
                (1..=3).for_each(|repetition| sample.ask(&test, &point, repetition));
            }
        }
        sample
    }

    /// Returns Unbound on one and on two cores, with ten trials at the median rate of each, the last of which do not pass because it has become
    /// slightly slower. The plan only has the tests whose names `is_of_plan` accepts.
    pub(crate) fn of_repeated_queries(is_of_plan: fn(&str) -> bool) -> Self {
        let required = || DnsTest::required(DnsRole::Dns64);
        let step = |name: &str, title: &str, cores: u32, dns| {
            let series = Series {
                name: name.to_owned(),
                by: SeriesBy::Cores,
                at: f64::from(cores),
                device: None,
            };
            let test = of(
                &format!("{name}.cores{cores}"),
                &format!("{title}, {}", counted(cores, "core")),
                "unbound",
                dns,
            );
            Test {
                cores: Some(cores),
                series: Some(series),
                ..test
            }
        };
        let repeated = || DnsTest {
            at_found_rate: true,
            ..required()
        };
        let searched = [1, 2].map(|cores| step("unbound", "Unbound", cores, required()));
        let again =
            [1, 2].map(|cores| step("again", "Unbound, at the median rate", cores, repeated()));
        let again = again.map(|test| Test {
            repetitions: Repetition::Fixed(10),
            ..test
        });
        let tests = searched
            .into_iter()
            .chain(again)
            .filter(|test| is_of_plan(&test.name))
            .collect();
        let plan = Plan {
            name: "repeated".to_owned(),
            tests,
            ..plan()
        };
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        sample.facts.duts = [facts("unbound", "Unbound")].into();
        for test in sample.plan.tests.clone() {
            let point = test.points().next().expect("queries");
            (1..=test.repetitions.most()).for_each(|repetition| {
                // The capacity decreases with the repetitions: that of the eighth is below the median of the first three.
                let capacity = 5_000
                    * u64::from(test.cores.unwrap_or(1))
                    * (100 - u64::from(repetition.saturating_sub(7)))
                    / 100;
                let server = Server {
                    capacity,
                    ..Server::of(&test, repetition)
                };
                sample.drive(&point, repetition, |spec| {
                    (
                        server.trial(*spec),
                        watch((spec.rate.0 / 20).min(930) as u16),
                    )
                });
            });
        }
        sample
    }

    fn ask(&mut self, test: &Test, point: &Point, repetition: u32) {
        self.drive(point, repetition, |spec| {
            let result = Server::of(test, repetition).trial(*spec);
            let watch = watch((spec.rate.0 / 20).min(930) as u16);
            (result, watch)
        });
    }
}

fn facts(name: &str, title: &str) -> (String, DutFacts) {
    let trial = |rate, late, slowest_ns| CertificateTrial {
        rate,
        sent: rate,
        in_time: rate - late,
        is_paced: true,
        slowest_ns,
    };
    let certificate = Certificate {
        rate: CERTIFIED,
        timeout_ns: SECOND,
        duration_ns: SECOND,
        path: "veth pair".to_owned(),
        trials: vec![
            trial(220_000, 912, 431_000_000),
            trial(22_000, 0, 1_100_000),
            trial(132_000, 0, 12_345_000),
        ],
    };
    let (technology, version) = ("dns64".to_owned(), "1.17.1".to_owned());
    let facts = DutFacts {
        title: title.to_owned(),
        version,
        technology,
        certificates: vec![certificate],
        ..DutFacts::default()
    };
    (name.to_owned(), facts)
}

fn of(name: &str, title: &str, dut: &str, dns: DnsTest) -> Test {
    let (frame_sizes, directions) = (vec![FrameSize::MINIMUM], Directions::Forward);
    Test {
        measure: Measure::Dns(dns),
        frame_sizes,
        directions,
        ..test(name, title, dut)
    }
}

/// Returns the tests that result from the two lists in a plan file.
fn grid(dut: &str, title: &str) -> Vec<Test> {
    let step = |with_aaaa: u8, cached: u8| {
        let dns = DnsTest {
            cached,
            with_aaaa,
            ..DnsTest::required(DnsRole::Dns64)
        };
        let series = Series {
            name: format!("{dut}.aaaa{with_aaaa}"),
            by: SeriesBy::Cached,
            at: f64::from(cached),
            device: None,
        };
        let name = format!("{}.cached{cached}", series.name);
        let title = format!("{title}, {with_aaaa} % with AAAA, {cached} % cached");
        Test {
            series: Some(series),
            ..of(&name, &title, dut, dns)
        }
    };
    [0, 40, 100]
        .into_iter()
        .flat_map(|with_aaaa| [0, 40, 80, 100].map(|cached| step(with_aaaa, cached)))
        .collect()
}

/// A server with its cost per query and the effect of its cache.
struct Server {
    dns: DnsTest,
    capacity: u64,
    forgets: bool,
    repetition: u32,
}

impl Server {
    fn of(test: &Test, repetition: u32) -> Self {
        let dns = test.measure.dns().expect("a test of DNS").clone();
        let (resolves, cached) = match test.dut.as_str() {
            "unbound" => (9_400.0, 52_000.0),
            "bind" => (7_900.0, 31_000.0),
            "pdns" => (8_600.0, 40_000.0),
            "nsd" => (130_000.0, 1.0),
            _ => (48_000.0, 1.0),
        };
        let share = f64::from(dns.cached) / 100.0 * f64::from(u8::from(dns.role == DnsRole::Dns64));
        // An AAAA record saves the second query.
        let resolves = resolves * (1.0 + 0.6 * f64::from(dns.with_aaaa) / 100.0);
        let noise = 1.0 + f64::from(repetition * 7 % 5) / 200.0;
        let capacity = (noise / (share / cached + (1.0 - share) / resolves)) as u64;
        Self {
            dns,
            capacity,
            forgets: test.dut == "pdns",
            repetition,
        }
    }

    fn trial(&self, spec: TrialSpec) -> TrialResult {
        let rate = spec.rate.0;
        let empty = |faults| {
            let dns = Some(Box::new(DnsResult {
                timeout_ns: SECOND,
                certified: Some(CERTIFIED),
                ..DnsResult::default()
            }));
            TrialResult {
                outcome: TrialOutcome::Queries(dns),
                ..TrialResult::new(spec, vec![], faults)
            }
        };
        if rate > CERTIFIED {
            return empty(vec![Fault::AboveCertified {
                rate,
                certified: CERTIFIED,
            }]);
        }
        let sent = spec.frames();
        let right = sent.min(self.capacity * spec.duration_ns / SECOND);
        let dns = self.counted(sent, right);
        let faults = if self.forgets {
            vec![Fault::HitsDiffer {
                intended: dns.cache.intended,
                observed: dns.cache.observed.unwrap_or(0),
                of: right,
            }]
        } else {
            vec![]
        };
        let direction = self.direction(&dns.answers, &spec);
        TrialResult {
            outcome: TrialOutcome::Queries(Some(Box::new(dns))),
            ..TrialResult::new(spec, vec![direction], faults)
        }
    }

    fn counted(&self, sent: u64, right: u64) -> DnsResult {
        let failed = sent - right;
        let (late, servfail, unanswered) =
            (failed / 3, failed / 4, failed - failed / 3 - failed / 4);
        let share = |queries: u64, percent: u8| queries * u64::from(percent) / 100;
        let cached = if self.dns.role == DnsRole::Authority {
            0
        } else {
            self.dns.cached
        };
        let intended = share(sent, cached);
        let observed = if self.forgets {
            right / 3
        } else {
            share(sent - unanswered, cached)
        };
        let missed = sent - unanswered - observed;
        let existing = share(sent, self.dns.with_aaaa);
        let is_resolver = self.dns.role == DnsRole::Dns64;
        let mean_ns = 1_400_000 + 90_000 * u64::from(self.repetition);
        let answered = sent - unanswered;
        DnsResult {
            server: "2001:db8::53 port 53".to_owned(),
            timeout_ns: SECOND,
            answers: Answers {
                sent,
                right,
                late,
                servfail,
                unanswered,
                duplicate: failed / 50,
                ..Answers::default()
            },
            rtt: RttSums {
                count: answered,
                sum_ns: answered * mean_ns,
                squares_us2: answered as f64 * ((mean_ns as f64 / 1e3).powi(2) + 640_000.0),
                bounds_ns: Some(answered * 20_000),
            },
            existing,
            cache: Cache {
                intended,
                observed: is_resolver.then_some(observed),
                missed: intended.saturating_sub(observed),
                repeated: observed.saturating_sub(intended),
                preloaded: intended.min(100_000),
                preload_queries: intended.min(100_000) + intended / 1000,
                preload_ns: intended.min(100_000) * 120_000,
            },
            authority: is_resolver.then(|| AuthorityCounts {
                aaaa: missed,
                a: missed - share(missed, self.dns.with_aaaa),
                other: 2,
                names: missed,
                ..AuthorityCounts::default()
            }),
            certified: Some(CERTIFIED),
            ..DnsResult::default()
        }
    }

    fn direction(&self, answers: &Answers, spec: &TrialSpec) -> DirectionResult {
        let mut d = DirectionResult::counted(Direction::Forward, answers.sent, answers.right);
        d.late = answers.late;
        d.sending = Sending {
            nominal_ns: spec.duration_ns,
            took_ns: spec.duration_ns,
            worst_lateness_ns: 30_000 + spec.rate.0,
            late_frames: 0,
        };
        d.receiving = Receiving {
            worst_gap_ns: 150_000,
            overruns: 0,
        };
        if d.not_received() > 0 {
            d.lost_by_bin = (0..30).map(|bin| (d.not_received() + bin) / 30).collect();
        }
        let mut left = answers.right;
        let mut at = 300_000.0;
        while left > 0 {
            let frames = (left / 20).max(1);
            d.delays.push(Bucket {
                up_to_ns: at as u64,
                frames,
            });
            left -= frames;
            at *= 1.02;
        }
        let delay = |at: f64| {
            d.delays
                .get((d.delays.len() as f64 * at) as usize)
                .map_or(0, |b| b.up_to_ns)
        };
        d.delay = Some(Delay {
            count: answers.right,
            min_ns: delay(0.0),
            median_ns: delay(0.1),
            p999_ns: delay(0.7),
            max_ns: delay(0.9999),
            moments: None,
            bounds: Some(DelayBounds {
                min_ns: 3_000,
                median_ns: 3_000,
                p999_ns: 9_000,
                max_ns: 12_000,
                mean_ns: 2_000,
            }),
        });
        d
    }
}
