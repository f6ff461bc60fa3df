//! Converts a recipe and a test of a DNS server to the queries of the DNS tester, and to the setup that the server needs.

use super::job::DnsJob;
use crate::error::PlanError;
use sixbench_engine::dns::authority::AddressZone;
use sixbench_engine::dns::names::{Domain, NamePopulation};
use sixbench_engine::dns::{
    AuthorityEnd, DnsEnds, DnsSettings, ExpectedAnswers, QueryConnectionSettings, zone_file,
};
use sixbench_method::plan::{DnsRole, DnsTest, Measure, QueryFile, QueryTransport, Test};
use sixbench_method::trial::TrialSettings;
use sixbench_testbed::recipe::{Recipe, Technology};
use sixbench_testbed::{Library, ServedZone, Zone};
use sixbench_wire::Prefix6052;
use std::net::SocketAddr;

/// The port on which the tester's authority, or a real one in its place, listens. Recipes configure the server with it.
const AUTHORITY_PORT: u16 = 53;

pub(super) fn job(
    recipe: &Recipe,
    test: &Test,
    dns: &DnsTest,
    settings: TrialSettings,
) -> Result<DnsJob, String> {
    check(recipe, test, dns, settings)?;
    let left = recipe.foreground.left;
    let is_ours = dns.role.asks_tester() && dns.authority.is_none();
    let listen = authority_address(recipe);
    let ends = DnsEnds {
        client_namespace: None,
        client: Some(left.source),
        server: SocketAddr::new(left.destination, port(recipe, dns.transport)),
        authority: is_ours.then_some(AuthorityEnd {
            namespace: None,
            listen,
            looped: None,
        }),
        external: None,
    };
    Ok(DnsJob {
        ends,
        settings: dns_settings(recipe, dns, settings)?,
    })
}

/// Returns the port on which the server of a recipe listens for a transport.
fn port(recipe: &Recipe, transport: QueryTransport) -> u16 {
    let usual = transport.default_port();
    match (&recipe.dns, transport) {
        // Through a device, the tester's own authority is asked.
        (None, _) => usual,
        (Some(server), QueryTransport::Udp | QueryTransport::Tcp) => server.port,
        (Some(server), QueryTransport::Tls) => server.tls_port.unwrap_or(usual),
    }
}

/// Returns whether a test asks over TLS a server that does not serve it.
fn lacks_tls(recipe: &Recipe, dns: &DnsTest) -> bool {
    let tls_port = recipe.dns.as_ref().and_then(|server| server.tls_port);
    dns.transport == QueryTransport::Tls && tls_port.is_none()
}

/// Returns the address at which the server of a recipe queries the authority.
pub(crate) fn authority_address(recipe: &Recipe) -> SocketAddr {
    SocketAddr::new(recipe.foreground.right.destination, AUTHORITY_PORT)
}

fn dns_settings(
    recipe: &Recipe,
    dns: &DnsTest,
    settings: TrialSettings,
) -> Result<DnsSettings, String> {
    let prefix = recipe
        .dns
        .as_ref()
        .and_then(|dns| dns.prefix)
        .map(|prefix| prefix.to_string().parse::<Prefix6052>());
    let prefix = prefix
        .transpose()
        .map_err(|e| format!("recipe {}: [dns]: {e}", recipe.name))?;
    Ok(DnsSettings {
        expectation: expectation(dns, prefix),
        domain: Domain::new(&dns.domain).map_err(|error| error.to_string())?,
        names: dns.names,
        cached: dns.cached,
        cached_names: dns.cached_names,
        timeout_ns: dns.timeout_ns,
        // Late answers must be seen, too.
        window_ns: dns.timeout_ns + settings.residual_ns,
        stall_ns: settings.stall_ns,
        ports: dns.ports,
        burst: dns.burst,
        records: None,
        queries: dns.queries.clone(),
        tcp: QueryConnectionSettings::new(dns),
    })
}

/// Returns a test of a DNS64 server, by which it is checked whether its testbed can be built.
pub(crate) fn server_test(name: &str, dut: &str) -> Test {
    Test {
        measure: Measure::Dns(DnsTest::required(DnsRole::Dns64)),
        ..Test::new(name, dut)
    }
}

fn expectation(dns: &DnsTest, prefix: Option<Prefix6052>) -> ExpectedAnswers {
    ExpectedAnswers {
        // Behind a forwarding device, it is the authority that answers.
        role: if dns.role.has_cache() {
            DnsRole::Dns64
        } else {
            DnsRole::Authority
        },
        prefix,
        population: NamePopulation {
            with_aaaa: dns.with_aaaa,
        },
        most_ttl: dns.ttl_s,
    }
}

fn check(
    recipe: &Recipe,
    test: &Test,
    dns: &DnsTest,
    settings: TrialSettings,
) -> Result<(), String> {
    let fits = match dns.role {
        DnsRole::Dns64 => recipe.technology == Technology::Dns64,
        DnsRole::Authority => recipe.technology == Technology::DnsAuthority,
        DnsRole::Through => {
            !recipe.technology.is_dns() && recipe.subscribers.is_none() && !recipe.is_tunnel()
        }
    };
    if !fits {
        let (measure, technology) = (test.measure.name(), recipe.technology.title());
        return Err(format!(
            "test {}: measure = \"{measure}\" does not fit recipe {}: {technology}",
            test.name, recipe.name
        ));
    }
    if lacks_tls(recipe, dns) {
        return Err(format!(
            "test {}: `transport = \"tls\"` does not fit recipe {}, which serves no TLS: its [dns] has no `tls-port`",
            test.name, recipe.name
        ));
    }
    if dns.queries.as_ref().is_some_and(QueryFile::is_unread) {
        return Err(format!(
            "test {}: its file of queries was not read",
            test.name
        ));
    }
    let lasts_ns = settings.duration_ns + dns.timeout_ns;
    if dns.cached > 0 && u64::from(dns.ttl_s) * 1_000_000_000 <= 2 * lasts_ns {
        return Err(format!(
            "test {}: `ttl` must be longer than two trials, or nothing stays cached",
            test.name
        ));
    }
    Ok(())
}

/// Returns the recipe of the real authority behind the server of a test, or `None` if the test has none.
///
/// # Errors
/// There is no such recipe, or it is not an authoritative server's.
pub(crate) fn authority<'l>(
    library: &'l Library,
    test: &Test,
) -> Result<Option<&'l Recipe>, PlanError> {
    let Some(name) = test.measure.dns().and_then(|dns| dns.authority.as_ref()) else {
        return Ok(None);
    };
    let unknown = || PlanError(format!("test {}: no recipe is named {name}", test.name));
    let recipe = library.get(name).ok_or_else(unknown)?;
    match recipe.technology {
        Technology::DnsAuthority => Ok(Some(recipe)),
        other => Err(PlanError(format!(
            "test {}: authority = \"{name}\": that is not an authoritative server, but {}",
            test.name,
            other.title()
        ))),
    }
}

/// Returns the zone of the server of a test: its domain and, for an authority, its zone file, which a rehearsal omits. `None` if the test has no
/// server.
///
/// # Errors
/// The zone file cannot be generated.
pub(crate) fn zone(test: &Test, is_rehearsal: bool) -> Result<Option<Zone>, PlanError> {
    let Some(dns) = test.measure.dns() else {
        return Ok(None);
    };
    let is_in_a_file = dns.role == DnsRole::Authority || dns.authority.is_some();
    let text = if is_in_a_file && !is_rehearsal {
        Some(zone_text(dns).map_err(PlanError)?.into())
    } else {
        None
    };
    Ok(Some(Zone {
        domain: dns.domain.clone(),
        text,
        authority_port: AUTHORITY_PORT,
    }))
}

fn zone_text(dns: &DnsTest) -> Result<String, String> {
    let population = NamePopulation {
        with_aaaa: dns.with_aaaa,
    };
    let zone = AddressZone {
        domain: Domain::new(&dns.domain).map_err(|error| error.to_string())?,
        population,
        ttl_s: dns.ttl_s,
    };
    let mut text = Vec::new();
    zone_file::write_zone(&mut text, &zone, dns.names)
        .map_err(|e| format!("cannot write the zone: {e}"))?;
    String::from_utf8(text).map_err(|e| format!("cannot write the zone: {e}"))
}

/// Returns the setup of the server of a test: its zone, and the recipe of the real authority if there is one. `None` if the test has no server.
///
/// # Errors
/// The zone file cannot be generated, or there is no authority of this name.
pub(crate) fn server<'l>(
    library: &'l Library,
    test: &Test,
) -> Result<Option<(Zone, Option<&'l Recipe>)>, PlanError> {
    let Some(zone) = zone(test, false)? else {
        return Ok(None);
    };
    Ok(Some((zone, authority(library, test)?)))
}

/// Returns what the tester's authority serves on a machine of its own to the server of a test; `None` if the test has no server.
pub(crate) fn served_zone(recipe: &Recipe, test: &Test) -> Option<ServedZone> {
    let dns = test.measure.dns()?;
    Some(ServedZone {
        domain: dns.domain.clone(),
        with_aaaa: dns.with_aaaa,
        ttl_s: dns.ttl_s,
        listen: authority_address(recipe),
        is_isolated: false,
    })
}

/// Returns whether a test queries the tester's own authority by way of its device, so that no rate counts that the self-test has not certified.
pub(crate) fn is_certified(test: &Test) -> bool {
    test.measure.dns().is_some_and(|dns| dns.role.asks_tester())
}
