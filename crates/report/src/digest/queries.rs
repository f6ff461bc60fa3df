//! Tests of DNS servers (RFC 8219 section 9): groups of related tests, and the trials behind a result.

use super::{Digest, PointDigest};
use sixbench_method::lists::by_key;
use sixbench_method::plan::{
    DnsRole, DnsTest, Plan, QueryFile, QueryTransport, Series, SeriesBy, Test,
};
use sixbench_method::record::TrialRecord;
use sixbench_method::search::AcceptedLoss;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::dns::{Certificate, DnsResult};
use sixbench_method::trial::{DirectionResult, Verdict};
use std::collections::BTreeSet;

/// The tests of one server that are one test in the plan file, with lists of the shares of cached names and of names with AAAA records.
pub(crate) struct ServerGroup<'a> {
    /// The common part of the titles of its tests.
    pub(crate) title: String,
    pub(crate) tests: Vec<(&'a Test, &'a DnsTest)>,
    /// The first loss goal of its tests.
    goal: AcceptedLoss,
}

impl<'a> ServerGroup<'a> {
    /// Returns the conditions under which all its servers are queried; only servers with the same conditions are compared.
    pub(crate) fn conditions(&self) -> Option<QueryConditions> {
        let (_, dns) = self.tests.first()?;
        Some(QueryConditions {
            role: dns.role,
            transport: dns.transport,
            queries: dns.queries.as_ref().map(QueryFile::hash),
            timeout_ns: dns.timeout_ns,
            goal: self.goal,
        })
    }

    /// Returns the point with these percentages of cached names and of names with AAAA records.
    pub(crate) fn at<'d>(
        &self,
        digest: &'d Digest<'a>,
        cached: u8,
        with_aaaa: u8,
    ) -> Option<&'d PointDigest<'a>> {
        let (test, _) = self
            .tests
            .iter()
            .find(|(_, dns)| (dns.cached, dns.with_aaaa) == (cached, with_aaaa))?;
        digest.points.iter().find(|p| p.test.name == test.name)
    }

    pub(crate) fn cached(&self) -> Vec<u8> {
        percentages(self.tests.iter().map(|(_, dns)| dns.cached))
    }

    pub(crate) fn with_aaaa(&self) -> Vec<u8> {
        percentages(self.tests.iter().map(|(_, dns)| dns.with_aaaa))
    }
}

/// Returns the percentages, each once, ascending.
pub(crate) fn percentages(all: impl Iterator<Item = u8>) -> Vec<u8> {
    all.collect::<BTreeSet<u8>>().into_iter().collect()
}

/// The conditions that must be the same for results to be compared, in addition to the percentages of cached names and of names with AAAA records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueryConditions {
    pub(crate) role: DnsRole,
    pub(crate) transport: QueryTransport,
    /// The digest of the file of the queries, if they are of one.
    pub(crate) queries: Option<u64>,
    pub(crate) timeout_ns: u64,
    /// The share of queries that may remain without a correct answer in time.
    pub(crate) goal: AcceptedLoss,
}

#[derive(Clone, Copy)]
pub(crate) struct QueryTrial<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) dns: &'a DnsResult,
    pub(crate) direction: &'a DirectionResult,
}

impl<'a> QueryTrial<'a> {
    fn from_record(record: &'a TrialRecord) -> Option<Self> {
        Some(Self {
            record,
            dns: record.result.dns()?,
            direction: record.result.directions.first()?,
        })
    }

    /// Returns the intended load, queries per second.
    pub(crate) fn rate(&self) -> u64 {
        self.record.result.spec.rate.0
    }

    /// Returns the offered load, queries per second.
    pub(crate) fn achieved(&self) -> Option<f64> {
        self.direction.achieved_rate()
    }
}

impl<'a> PointDigest<'a> {
    fn asked(
        &self,
        goal: LossRatio,
        verdict: Verdict,
    ) -> impl Iterator<Item = QueryTrial<'a>> + '_ {
        self.records
            .iter()
            .filter(move |r| r.result.verdict(goal) == verdict)
            .filter_map(|r| QueryTrial::from_record(r))
    }

    /// Returns the settings of its queries; `None` if it tests no DNS server.
    pub(crate) fn queries(&self) -> Option<&'a DnsTest> {
        self.test.measure.dns()
    }

    /// Returns the percentages of a test of a DNS64 server, which RFC 8219 calls a combination: cached names and names with AAAA records.
    pub(crate) fn combination(&self) -> Option<String> {
        let dns = self.queries()?;
        let DnsTest {
            cached, with_aaaa, ..
        } = dns;
        (dns.role == DnsRole::Dns64)
            .then(|| format!("{cached}\u{a0}%\u{a0}+\u{a0}{with_aaaa}\u{a0}%"))
    }

    /// Returns the time after which what arrives no longer counts, nanoseconds: of queries that of their answers, of anything else that of frames, 0 if
    /// there is none.
    pub(crate) fn timeout_ns(&self, plan: &Plan) -> u64 {
        self.queries().map_or_else(
            || self.test.trial_settings(plan).frame_timeout_ns,
            |dns| dns.timeout_ns,
        )
    }

    /// Returns the passing trial with the highest rate.
    pub(crate) fn all_answered(&self, goal: LossRatio) -> Option<QueryTrial<'a>> {
        self.asked(goal, Verdict::Passed)
            .max_by_key(QueryTrial::rate)
    }

    /// Returns the losing trial with the lowest rate above that.
    pub(crate) fn not_all_answered(&self, goal: LossRatio) -> Option<QueryTrial<'a>> {
        let passed = self.all_answered(goal).map_or(0, |asked| asked.rate());
        self.asked(goal, Verdict::Lost)
            .filter(|asked| asked.rate() > passed)
            .min_by_key(QueryTrial::rate)
    }
}

impl<'a> Digest<'a> {
    /// Returns the points whose rate of queries was searched for.
    pub(crate) fn dns_points(&self) -> impl Iterator<Item = (&PointDigest<'a>, &'a DnsTest)> {
        self.points
            .iter()
            .filter(|p| !p.repeats_a_rate())
            .filter_map(|p| Some((p, p.queries()?)))
    }

    /// Returns the tests that search for the rate of DNS servers, grouped by the test in the plan file, in the order of the plan.
    pub(crate) fn server_groups(&self) -> Vec<ServerGroup<'a>> {
        let tests = self
            .input
            .plan
            .tests
            .iter()
            .filter(|test| test.measure.result_kind().has_spread());
        let tests = tests.filter_map(|test| Some((test, test.measure.dns()?)));
        let groups = by_key(tests.map(|(test, dns)| (name_of(test, dns), (test, dns))));
        let goal = |tests: &[(&Test, &DnsTest)]| {
            tests
                .first()
                .map(|(test, _)| test.first_goal(self.input.plan))
        };
        let group = |tests: Vec<(&'a Test, &'a DnsTest)>| ServerGroup {
            title: common_title(&tests),
            goal: self
                .input
                .plan
                .search
                .accepted(goal(&tests).unwrap_or(LossRatio::ZERO)),
            tests,
        };
        groups.into_iter().map(|(_, tests)| group(tests)).collect()
    }

    /// Returns the title of a DNS server's test without its percentages, which have separate columns.
    pub(crate) fn server(&self, test: &Test) -> String {
        let groups = self.server_groups();
        let own = groups
            .iter()
            .find(|group| group.tests.iter().any(|(other, _)| other.name == test.name));
        own.map_or_else(|| test.title.clone(), |group| group.title.clone())
    }

    /// Returns the highest rate for a test that the tester's self-test allows, queries per second, according to the test's trials, or else the facts.
    pub(crate) fn certified(&self, point: &PointDigest, dns: &DnsTest) -> Option<u64> {
        let told = point
            .records
            .iter()
            .filter_map(|r| r.result.dns()?.certified)
            .max();
        told.or_else(|| {
            let fitting = self
                .certificates(&point.test.dut)
                .iter()
                .filter(|certificate| certificate.timeout_ns == dns.timeout_ns);
            fitting.map(|certificate| certificate.rate).max()
        })
    }

    pub(crate) fn certificates(&self, dut: &str) -> &'a [Certificate] {
        self.input
            .facts
            .duts
            .get(dut)
            .map(|facts| facts.certificates.as_slice())
            .unwrap_or_default()
    }
}

/// Returns the name of the test in the plan file: with two lists, the name of each series includes the percentage from one of them.
fn name_of<'a>(test: &'a Test, dns: &DnsTest) -> &'a str {
    let is_of_grid = |series: &&Series| matches!(series.by, SeriesBy::Cached | SeriesBy::WithAaaa);
    let Some(series) = test.series.as_ref().filter(is_of_grid) else {
        return &test.name;
    };
    series
        .name
        .strip_suffix(&format!(".aaaa{}", dns.with_aaaa))
        .unwrap_or(&series.name)
}

/// Returns the common beginning of all titles, cut at a comma.
fn common_title(tests: &[(&Test, &DnsTest)]) -> String {
    let Some(((first, _), others)) = tests.split_first() else {
        return String::new();
    };
    let parts: Vec<&str> = first.title.split(", ").collect();
    let is_common = |count: &usize| {
        let start = parts[..*count].join(", ");
        let follows = |title: &str| {
            title
                .strip_prefix(&start)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
        };
        others.iter().all(|(test, _)| follows(&test.title))
    };
    let common = (1..=parts.len()).rev().find(is_common);
    common.map_or_else(|| first.title.clone(), |count| parts[..count].join(", "))
}
