//! Settings of a `[[test]]` of a DNS server in addition to those of its measure (RFC 8219 section 9): lists, and what depends on the recipes.

use crate::reader::diagnostic::Diagnostic;
use crate::reader::words::known_dut;
use crate::reader::{Section, tests_of};
use sixbench_method::measures::Keys;
use sixbench_method::plan::{DnsRole, DnsTest, Measure, Plan, QueryFile};
use sixbench_method::units;
use sixbench_testbed::Library;
use sixbench_testbed::recipe::Technology;
use toml::de::DeTable;

/// The most names in a zone file: a larger one takes minutes to load.
const MOST_IN_FILE: u64 = 1 << 22;

pub(crate) struct DnsSection {
    /// Shares of queries for names that were resolved before, per cent.
    pub(crate) cached: Vec<u8>,
    /// Shares of names that have an AAAA record themselves, per cent.
    pub(crate) with_aaaa: Vec<u8>,
}

impl DnsSection {
    /// Gives a test of a DNS server the first share of each list; other tests are left as they are.
    pub(crate) fn set_first(&self, measure: &mut Measure) {
        change_queries(measure, |dns| {
            dns.cached = self.cached.first().copied().unwrap_or(dns.cached);
            dns.with_aaaa = self.with_aaaa.first().copied().unwrap_or(dns.with_aaaa);
        });
    }

    /// Returns the key with the longer list, and the length of that list.
    pub(crate) fn longest(&self) -> (&'static str, usize) {
        let (cached, with_aaaa) = (self.cached.len(), self.with_aaaa.len());
        if with_aaaa > cached {
            ("with-aaaa", with_aaaa)
        } else {
            ("cached", cached)
        }
    }
}

/// Returns the files of queries that the tests of a plan name and that were not read yet, with the names of the tests.
pub fn unread_query_files(plan: &mut Plan) -> impl Iterator<Item = (&str, &mut QueryFile)> {
    plan.tests.iter_mut().filter_map(|test| {
        let queries = test.measure.dns_mut()?.queries.as_mut()?;
        queries.is_unread().then_some((test.name.as_str(), queries))
    })
}

/// Changes the queries of a test of a DNS server; other tests are left as they are.
pub(crate) fn change_queries(measure: &mut Measure, change: impl FnOnce(&mut DnsTest)) {
    if let Some(dns) = measure.dns_mut() {
        change(dns);
    }
}

/// Checks the settings of a test of a DNS server that depend on the recipes; those of any other test are not looked at.
pub(crate) fn check_dns(section: &Section<'_>, measure: &Measure, duts: &[&str]) {
    let Some(dns) = measure.dns() else { return };
    if dns.queries.is_some() {
        for key in ["cached", "cached-names"]
            .into_iter()
            .filter(|key| section.is_given(key))
        {
            let title = format!("`{key}` does not apply to the queries of a file");
            let help = "leave it out: a name of the file is cached if it was asked for before";
            section.mistake_with_help(key, title, help);
        }
    }
    // An unknown authority, which is reported as a mistake, has no zone file.
    let authority = dns
        .authority
        .clone()
        .and_then(|text| known_dut(section, "authority", text, duts));
    let is_in_a_file = dns.role == DnsRole::Authority || authority.is_some();
    if is_in_a_file && dns.names.count() > MOST_IN_FILE {
        let title = format!("{} names are too many for a zone file", dns.names.count());
        let key = if section.is_given("names") {
            "names"
        } else {
            "authority"
        };
        section.mistake_with_help(
            key,
            title,
            "choose fewer, such as `names = \"10.0.0.0/14\"`: 262144",
        );
    }
}

pub(crate) fn read_steps(section: &Section<'_>, measure: &Measure) -> DnsSection {
    let Some(dns) = measure.dns() else {
        return DnsSection {
            cached: Vec::new(),
            with_aaaa: Vec::new(),
        };
    };
    check_inapplicable_keys(section);
    let cached = match dns.role {
        DnsRole::Dns64 => section
            .list("cached", units::whole_percent)
            .unwrap_or_default(),
        DnsRole::Authority | DnsRole::Through => Vec::new(),
    };
    DnsSection {
        cached,
        with_aaaa: section
            .list("with-aaaa", units::whole_percent)
            .unwrap_or_default(),
    }
}

/// Returns the mistakes of a plan with that of each DNS test whose device is no DNS server. It stands in place of the keys that do not apply to DNS
/// tests: they may be right, and the measure or the device wrong.
pub(crate) fn with_devices_that_do_not_fit(
    source: &str,
    library: &Library,
    mistakes: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let (table, _) = DeTable::parse_recoverable(source);
    let unfit: Vec<&DeTable<'_>> = tests_of(table.get_ref())
        .filter(|test| unfit_device(test, library).is_some())
        .collect();
    let inapplicable = || {
        unfit.iter().flat_map(|test| {
            INAPPLICABLE_KEYS
                .split(' ')
                .filter_map(|key| Some(test.get(key)?.span()))
        })
    };
    let others = mistakes
        .into_iter()
        .filter(|mistake| !inapplicable().any(|span| span == mistake.span));
    let of_devices: Vec<Diagnostic> = unfit
        .iter()
        .filter_map(|test| unfit_device(test, library))
        .collect();
    others.chain(of_devices).collect()
}

/// Returns the mistake of a test in a table by which a DNS server is measured, of a device that is none.
fn unfit_device(test: &DeTable<'_>, library: &Library) -> Option<Diagnostic> {
    let measure = test.get("measure")?;
    let (name, wanted) = match measure.get_ref().as_str()? {
        "dns64" => ("DNS64", Technology::Dns64),
        "dns-authority" => ("authoritative DNS", Technology::DnsAuthority),
        _ => return None,
    };
    let recipe = library
        .get(test.get("dut")?.get_ref().as_str()?)
        .filter(|recipe| recipe.technology != wanted)?;
    let title = format!(
        "{} is no {name} server: its technology is {}",
        recipe.name,
        recipe.technology.title()
    );
    Some(Diagnostic::new(measure.span(), title).help("name another `dut` or another `measure`"))
}

/// The keys that do not apply to a DNS test: those of forwarded traffic and of connections.
const INAPPLICABLE_KEYS: &str = "background broadcast connections directions enumerate filters flow-step flows forward-ports frame-sizes \
    frame-timeout left-addresses left-networks phase-1-delay phase-1-rate phase-1-timeout payload ports responder-order reverse-ports \
    right-addresses right-networks state-table subscribers table-size validation-rate";

/// Reports keys that would be ignored, and empty lists of shares. A list of frame sizes would repeat the same measurement.
fn check_inapplicable_keys(section: &Section<'_>) {
    for key in INAPPLICABLE_KEYS
        .split(' ')
        .filter(|key| section.is_given(key))
    {
        let help =
            "leave it out: DNS queries have a fixed form, and names are used instead of flows";
        section.mistake_with_help(key, format!("`{key}` does not apply to DNS tests"), help);
    }
    for key in ["cached", "with-aaaa"]
        .into_iter()
        .filter(|key| section.is_empty_list(key))
    {
        section.mistake(key, "at least one share is needed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture_tests, parse};
    use sixbench_method::plan::{QueryTransport, SeriesBy, Test};

    const DUTS: [&str; 2] = ["unbound-dns64", "nsd-authority"];

    /// Returns a plan with one test for each set of lines.
    fn plan(tests: &[&str]) -> String {
        fixture_tests::plan(
            |lines| DUTS[usize::from(lines.contains("dns-authority"))],
            tests,
        )
    }

    fn tests(tests: &[&str]) -> Vec<Test> {
        parse(&plan(tests), &DUTS).expect("a plan").plan.tests
    }

    fn mistakes(tests: &[&str]) -> String {
        fixture_tests::mistakes(&plan(tests), &DUTS)
    }

    fn dns(test: &Test) -> &DnsTest {
        test.measure.dns().expect("a test of a DNS server")
    }

    #[test]
    fn a_test_that_says_nothing_is_what_the_rfc_requires() {
        let tests = tests(&["measure = \"dns64\"", "measure = \"dns-authority\""]);
        let DnsTest {
            timeout_ns,
            cached,
            with_aaaa,
            ..
        } = dns(&tests[0]);
        assert_eq!((*timeout_ns, *cached, *with_aaaa), (1_000_000_000, 0, 0));
        assert_eq!(dns(&tests[0]), &DnsTest::required(DnsRole::Dns64));
        assert_eq!(
            dns(&tests[1]),
            &DnsTest {
                names: "10.0.0.0/16".parse().expect("names"),
                ..DnsTest::required(DnsRole::Authority)
            }
        );
        assert_eq!(
            tests[0].frame_sizes.len(),
            1,
            "queries have the size they have"
        );
        assert!(tests[0].series.is_none());
    }

    #[test]
    fn every_key_is_taken() {
        let lines = "measure = \"dns64\"\ndomain = \"example.test\"\nnames = \"10.0.0.0/14\"\ntimeout = \"250ms\"\ncached = \"20%\"\n\
                     with-aaaa = \"40%\"\ncached-names = \"10k\"\nttl = \"2h\"\nsource-ports = 64\nburst = 10\nauthority = \"nsd-authority\"\nrate = \"throughput\"\n\
                     transport = \"tcp\"\ntcp-connections = 10\ntcp-outstanding = 20";
        let expected = DnsTest {
            role: DnsRole::Dns64,
            domain: "example.test".to_owned(),
            names: "10.0.0.0/14".parse().expect("names"),
            timeout_ns: 250_000_000,
            cached: 20,
            with_aaaa: 40,
            cached_names: 10_000,
            ttl_s: 7200,
            ports: 64,
            burst: 10.try_into().expect("not zero"),
            authority: Some("nsd-authority".to_owned()),
            authority_on: None,
            at_found_rate: true,
            transport: QueryTransport::Tcp,
            tcp_connections: 10,
            tcp_outstanding: 20,
            queries: None,
        };
        assert_eq!(dns(&tests(&[lines])[0]), &expected);
    }

    #[test]
    fn the_keys_of_connections_go_with_tls_too() {
        let lines = "measure = \"dns-authority\"\ntransport = \"tls\"\ntcp-connections = 7";
        let tests = tests(&[lines]);
        let dns = dns(&tests[0]);
        assert_eq!(
            (dns.transport, dns.tcp_connections),
            (QueryTransport::Tls, 7)
        );
    }

    #[test]
    fn a_file_of_queries_is_named_and_left_to_be_read() {
        let lines = "measure = \"dns-authority\"\nqueries = \"log.txt\"";
        let queries = dns(&tests(&[lines])[0]).queries.clone().expect("a file");
        assert!(queries.is_unread() && queries.file() == "log.txt");
    }

    #[test]
    fn what_does_not_go_with_a_transport_or_a_file_is_told_each_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "measure = \"dns64\"\ntransport = \"dot\"",
            "measure = \"dns64\"\ntcp-connections = 4",
            "measure = \"dns64\"\ntransport = \"tcp\"\ntcp-connections = 0\ntcp-outstanding = 40000",
            "measure = \"dns64\"\nqueries = \"log.txt\"\ncached = \"20%\"\ncached-names = 5",
            "measure = \"dns64\"\nqueries = \"\"",
        ]));
    }

    #[test]
    fn a_grid_has_a_curve_for_each_share_of_aaaa_records_and_everything_cached_once() {
        let tests = tests(&[
            "measure = \"dns64\"\ncached = [\"0%\", \"50%\", \"100%\"]\nwith-aaaa = [\"0%\", \"40%\"]",
        ]);
        let told: Vec<_> = tests
            .iter()
            .map(|test| (test.name.as_str(), dns(test).with_aaaa, dns(test).cached))
            .collect();
        assert_eq!(
            told,
            [
                ("t0.aaaa0.cached0", 0, 0),
                ("t0.aaaa0.cached50", 0, 50),
                ("t0.aaaa0.cached100", 0, 100),
                ("t0.aaaa40.cached0", 40, 0),
                ("t0.aaaa40.cached50", 40, 50),
            ]
        );
        let series = tests
            .iter()
            .map(|test| test.series.clone().expect("a series"));
        assert!(series.clone().all(|series| series.by == SeriesBy::Cached));
        assert_eq!(
            series
                .map(|series| series.name)
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            2
        );
    }

    #[test]
    fn one_list_is_one_series() {
        let both = tests(&[
            "measure = \"dns64\"\ncached = [0, 20]",
            "measure = \"dns-authority\"\nwith-aaaa = [\"0%\", \"100%\"]",
        ]);
        let told: Vec<_> = both.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(
            told,
            ["t0.cached0", "t0.cached20", "t1.aaaa0", "t1.aaaa100"]
        );
    }

    #[test]
    fn mistakes_of_dns_tests_are_told_each_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "measure = \"dns64\"\ntimeout = \"1001ms\"",
            "measure = \"dns64\"\nauthority = \"nsd-authorit\"",
            "measure = \"dns64\"\nauthority = \"nsd-authority\"\nnames = \"10.0.0.0/8\"",
            "measure = \"dns-authority\"\nnames = \"10.0.0.0/8\"",
            "measure = \"dns64\"\nnames = \"10.0.0.1/8\"\ndomain = \"a..b\"\nttl = \"soon\"",
            "measure = \"dns64\"\ncached = \"101%\"\nwith-aaaa = [20, \"some\"]\ncached-names = 0\nsource-ports = 5000\nburst = 0",
            "measure = \"dns-authority\"\ncached = \"20%\"\ncached-names = 5\nauthority = \"nsd-authority\"",
            "measure = \"dns64\"\ncached = []\nwith-aaaa = []",
            "cached = \"20%\"\ntimeout = \"1s\"",
        ]));
    }

    #[test]
    fn a_number_of_names_is_no_rate() {
        let told = mistakes(&["measure = \"dns64\"\ncached-names = \"10kfps\""]);
        assert!(
            told.contains("expected a number of names such as 100k, not `10kfps`"),
            "{told}"
        );
    }

    #[test]
    fn a_second_list_and_what_says_nothing_of_a_server_are_told_each_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "measure = \"dns64\"\ncached = [0, 20]\nwith-aaaa = [0, 20]\ncores = [1, 2]",
            "measure = \"dns64\"\nwith-aaaa = [0, 20]\ncores = [1, 2]",
            "measure = \"dns64\"\nframe-sizes = [84, 128]",
            "measure = \"dns64\"\nbackground = [\"0%\", \"10%\"]",
            "measure = \"dns64\"\nbackground = \"10%\"",
            "measure = \"dns64\"\nflows = 100",
            "measure = \"dns64\"\nports = \"fixed\"",
            "measure = \"dns64\"\ndirections = \"forward\"",
            "measure = \"dns64\"\nleft-networks = 16",
            "measure = \"dns64\"\nconnections = \"1k\"",
        ]));
    }
}
