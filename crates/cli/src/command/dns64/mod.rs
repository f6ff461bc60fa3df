//! `sixbench dns64`: queries a server that the user has set up, at an exact rate from this machine, and checks every answer.

mod search;

use super::{isolation, locked, query_file};
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use sixbench_engine::Layout;
use sixbench_engine::dns::names::NamePopulation;
use sixbench_engine::dns::{
    AuthorityEnd, DnsEnds, DnsSettings, DnsTester, ExpectedAnswers, QueryConnectionSettings,
    ServerIdentity, TlsProfile,
};
use sixbench_io::thread::allowed_cores;
use sixbench_method::plan::{
    DnsRole, DnsTest, Profile, QueryFile, QueryTransport, TCP_CONNECTIONS, TCP_OUTSTANDING,
};
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::{TrialKind, TrialSettings, TrialSpec, Verdict};
use sixbench_method::units::counted;
use sixbench_plan::standard_trial;
use sixbench_report::event_words::certified;
use sixbench_report::trial_words;
use sixbench_runner::{OwnFile, WatchedTester, is_local, links_of_server, owner, stop};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// The longest trial of the self-test, nanoseconds.
const LONGEST_SELF_TEST_NS: u64 = 1_000_000_000;
/// The time after the timeout during which late answers are still counted, nanoseconds.
const LATE_NS: u64 = 1_000_000_000;

/// Performs the trial, or the search.
pub(crate) fn dns64(arguments: args::Dns64) -> Result<Exit, Failed> {
    check(&arguments)?;
    let queries = arguments
        .queries
        .as_deref()
        .map(query_file::read)
        .transpose()?;
    let connections = connections(&arguments)?;
    let ends = isolation(arguments.isolation.force).admit(ends(&arguments))?;
    tell!("{}", statement(arguments.server));
    let stop = stop::install()?;
    let layout = Layout {
        cores: cores(&arguments)?,
    };
    let shared = WatchedTester::cores_shared_with(arguments.server, &layout.cores)?;
    let links = links_of_server(&layout.cores, shared.as_ref());
    let _locks = locked(
        &links,
        &format!("dns64 {}", arguments.server),
        None,
        &arguments.waiting,
    )?;
    layout
        .warnings()
        .iter()
        .for_each(|warning| tell!("warning: {warning}"));
    let settings = settings(&arguments, queries, connections);
    let mut tester = DnsTester::new(ends, settings, layout, stop.clone());
    tester.probe(Duration::ZERO)?;
    let self_test_ns = arguments.duration_ns.min(LONGEST_SELF_TEST_NS);
    if let Some(certificate) = tester.certify(arguments.rate, self_test_ns)? {
        tell!("{}", certified(&certificate));
    }
    let mut tester = WatchedTester::new(tester, shared);
    if arguments.search {
        search::search(&arguments, &mut tester, &stop)
    } else {
        one(&arguments, &mut tester)
    }
}

/// Returns a sentence that says what this command does and does not do: unlike a plan it uses no namespaces, so it cannot know which path its queries
/// take.
fn statement(server: IpAddr) -> String {
    let way = if is_local(server) {
        "an address of this machine, so the queries cross no link and server and tester share its cores"
    } else {
        "over this machine's own routes"
    };
    format!(
        "querying {server} from this machine's own sockets, {way}; sixbench run with a plan keeps the two ends in separate \
         namespaces"
    )
}

fn check(arguments: &args::Dns64) -> Result<(), Failed> {
    // What is written to a terminal or a device replaces nothing.
    if let Some(file) = arguments.csv.as_deref().filter(|file| file.is_file()) {
        OwnFile::Queries.check(file)?;
    }
    let families = arguments
        .from
        .map(|from| from.is_ipv4() == arguments.server.is_ipv4());
    if families == Some(false) {
        return Err(Failed::usage(format!(
            "--from and the server {} have addresses of different IP versions",
            arguments.server
        )));
    }
    let is_udp = arguments.transport == QueryTransport::Udp;
    let has_tcp_options = (arguments.tcp_connections, arguments.tcp_outstanding)
        != (TCP_CONNECTIONS, TCP_OUTSTANDING);
    if is_udp && has_tcp_options {
        return Err(Failed::usage(
            "--tcp-connections and --tcp-outstanding need --transport tcp or tls",
        ));
    }
    if arguments.tls_ca.is_some() && arguments.transport != QueryTransport::Tls {
        return Err(Failed::usage("--tls-ca needs --transport tls"));
    }
    if arguments.duration_ns == 0 || arguments.rate.frames_in(arguments.duration_ns) == 0 {
        return Err(Failed::usage(
            "no query would be sent: raise --rate or --for",
        ));
    }
    Ok(())
}

fn cores(arguments: &args::Dns64) -> Result<Vec<u32>, Failed> {
    let allowed = allowed_cores()?;
    let wanted = arguments.threads.get();
    if wanted > allowed.len() {
        return Err(Failed::usage(format!(
            "--threads {wanted}: this process may use {}",
            counted(allowed.len() as u64, "core")
        )));
    }
    Ok(allowed[..wanted].to_vec())
}

fn ends(arguments: &args::Dns64) -> DnsEnds {
    let authority = arguments.authority.map(|listen| AuthorityEnd {
        namespace: None,
        listen,
        looped: Some((listen, "this machine's loopback".to_owned())),
    });
    DnsEnds {
        client_namespace: None,
        client: arguments.from,
        server: SocketAddr::new(arguments.server, port(arguments)),
        authority,
        external: None,
    }
}

fn port(arguments: &args::Dns64) -> u16 {
    let usual = arguments.transport.default_port();
    arguments.port.unwrap_or(usual)
}

/// Returns the connections that the arguments ask for; `None` over UDP.
fn connections(arguments: &args::Dns64) -> Result<Option<QueryConnectionSettings>, Failed> {
    let connections = QueryConnectionSettings::new(&asked(arguments));
    let Some(file) = &arguments.tls_ca else {
        return Ok(connections);
    };
    let identity = identity(file, arguments.tls_name.as_deref())?;
    let tls = Some(TlsProfile::Strict(identity));
    Ok(connections.map(|connections| QueryConnectionSettings { tls, ..connections }))
}

/// Reads the identity that the server must prove.
fn identity(file: &Path, name: Option<&str>) -> Result<ServerIdentity, Failed> {
    let shown = file.display();
    let text = fs::read(file).map_err(|error| {
        Failed::usage(format!("cannot read the certificates of {shown}: {error}"))
    })?;
    ServerIdentity::new(&text, name)
        .map_err(|error| Failed::usage(format!("--tls-ca {shown}: {error}")))
}

fn role(arguments: &args::Dns64) -> DnsRole {
    if arguments.authoritative {
        DnsRole::Authority
    } else {
        DnsRole::Dns64
    }
}

/// Returns the DNS test that the arguments ask for, with a plan's defaults for everything they leave out.
fn asked(arguments: &args::Dns64) -> DnsTest {
    let standard = DnsTest::required(role(arguments));
    // A zone file holds few names, and an authoritative server has no cache.
    let names = if arguments.authoritative {
        "10.0.0.0/16".parse().expect("a network")
    } else {
        standard.names
    };
    DnsTest {
        domain: arguments.domain.to_string(),
        names: arguments.names.unwrap_or(names),
        timeout_ns: arguments.timeout_ns,
        cached: arguments.cached,
        with_aaaa: arguments.with_aaaa.unwrap_or(standard.with_aaaa),
        ttl_s: arguments.ttl_s,
        ports: arguments.source_ports,
        burst: arguments.burst,
        transport: arguments.transport,
        tcp_connections: arguments.tcp_connections,
        tcp_outstanding: arguments.tcp_outstanding,
        ..standard
    }
}

fn settings(
    arguments: &args::Dns64,
    queries: Option<QueryFile>,
    tcp: Option<QueryConnectionSettings>,
) -> DnsSettings {
    let prefix = (!arguments.authoritative).then_some(arguments.prefix);
    let asked = asked(arguments);
    let population = NamePopulation {
        with_aaaa: asked.with_aaaa,
    };
    DnsSettings {
        expectation: ExpectedAnswers {
            role: role(arguments),
            prefix,
            population,
            most_ttl: arguments.ttl_s,
        },
        domain: arguments.domain.clone(),
        names: asked.names,
        cached: arguments.cached,
        cached_names: asked.cached_names,
        timeout_ns: arguments.timeout_ns,
        window_ns: arguments.timeout_ns + LATE_NS,
        stall_ns: trial_settings(arguments).stall_ns,
        ports: arguments.source_ports,
        burst: arguments.burst,
        records: arguments.csv.clone(),
        queries,
        tcp,
    }
}

fn one(arguments: &args::Dns64, tester: &mut WatchedTester) -> Result<Exit, Failed> {
    let spec = TrialSpec {
        kind: TrialKind::Queries,
        ..TrialSpec::constant(arguments.rate, arguments.duration_ns)
    };
    let (result, _) = tester.measure(&spec)?;
    arguments.csv.as_deref().map_or(Ok(()), owner::give_at)?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&result).map_err(anyhow::Error::from)?)?;
    } else {
        output::print(trial_words::queries(&result))?;
    }
    let is_invalid = result.verdict(LossRatio::ZERO) == Verdict::Invalid;
    Ok(if is_invalid {
        Exit::TesterUnfit
    } else {
        Exit::Done
    })
}

fn trial_settings(arguments: &args::Dns64) -> TrialSettings {
    TrialSettings {
        duration_ns: arguments.duration_ns,
        ..standard_trial(Profile::Custom)
    }
}
