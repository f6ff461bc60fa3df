//! Vectors for DNS servers: the server of a recipe between the tester's client and its authority, to which the server forwards everything.

use super::DeviceConformance;
use crate::ends::settle;
use crate::error::{RunError, TrialError};
use crate::request::{SessionRequest, Site};
use crate::run::built::BuiltTestbed;
use sixbench_conformance::Vector;
use sixbench_conformance::dns::DnsSetting;
use sixbench_engine::conformance::VectorProgress;
use sixbench_engine::conformance::dns::{DnsVectorEnds, DnsVectorTester};
use sixbench_engine::dns::DnsError;
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::FrameSize;
use sixbench_testbed::recipe::DnsSection;
use sixbench_testbed::{Recipe, Zone};
use std::net::{IpAddr, SocketAddr};

/// The domain whose queries the server forwards: all names, because vectors ask for names in IP6.ARPA and for ipv4only.arpa, too.
const FORWARDED: &str = ".";
/// The domain of the vectors' zones. RFC 6761 reserves `test.`.
const DOMAIN: &str = "sixbench.test";

/// Returns the setting of a DNS64 server.
///
/// # Errors
/// The recipe is of another device.
pub(super) fn setting(recipe: &Recipe) -> Result<DnsSetting, RunError> {
    let prefix = server(recipe)?.prefix;
    let prefix = prefix.ok_or_else(|| no_vectors(recipe))?.to_string();
    let IpAddr::V4(authority) = recipe.foreground.right.destination else {
        return Err(no_vectors(recipe));
    };
    Ok(DnsSetting {
        prefix: prefix.parse().map_err(|_| no_vectors(recipe))?,
        domain: DOMAIN.to_owned(),
        authority,
    })
}

fn server(recipe: &Recipe) -> Result<&DnsSection, RunError> {
    recipe.dns.as_ref().ok_or_else(|| no_vectors(recipe))
}

fn no_vectors(recipe: &Recipe) -> RunError {
    RunError::NoVectors {
        recipe: recipe.name.clone(),
    }
}

/// Brings a server up, asks it the queries of the vectors, and undoes everything.
///
/// # Errors
/// Those of [`super::perform`].
pub(super) fn perform(
    site: &Site<'_>,
    recipe: &Recipe,
    vectors: &[&Vector],
    progress: VectorProgress,
) -> Result<DeviceConformance, RunError> {
    let setting = setting(recipe)?;
    let zone = Zone {
        domain: FORWARDED.to_owned(),
        ..Zone::default()
    };
    let server = SocketAddr::new(recipe.foreground.left.destination, server(recipe)?.port);
    let authority = SocketAddr::new(recipe.foreground.right.destination, zone.authority_port);
    let mut request = SessionRequest::alone(recipe, FrameSize(super::MTU + super::ETHERNET_OCTETS));
    request.dns = Some((zone, None));
    let mut testbed = BuiltTestbed::build(site, &request, false)?;
    let hosts = settle(site, &request, &testbed.links, (&[], &[authority.ip()]))?;
    let (near, far) = hosts.namespaces();
    let ends = DnsVectorEnds {
        client_namespace: Some(near),
        server: site.isolation.admit(server)?,
        authority_namespace: Some(far),
        authority: site.isolation.admit(authority)?,
    };
    let tester = DnsVectorTester::new(ends, setting, site.stop.clone());
    let asked = tester
        .run(vectors, progress)
        .map_err(|error| cause(&mut testbed, error))?;
    testbed.check_alive()?;
    Ok(DeviceConformance {
        facts: super::device_facts(&testbed, recipe),
        records: asked.records,
        under_load: None,
        is_interrupted: asked.is_interrupted,
    })
}

/// Refuses a server that cannot be asked, and addresses that a host on the Internet could have.
///
/// # Errors
/// The reason.
pub(super) fn check(recipe: &Recipe, isolation: Isolation) -> Result<(), RunError> {
    let setting = setting(recipe)?;
    isolation.admit(vec![
        recipe.foreground.left.destination,
        IpAddr::V4(setting.authority),
    ])?;
    Ok(())
}

/// Returns the error of a run: if the server has ended, that error names the cause.
fn cause(testbed: &mut BuiltTestbed, error: DnsError) -> RunError {
    match TrialError::from(error) {
        TrialError::Interrupted => RunError::Interrupted,
        error => testbed
            .check_alive()
            .map_or_else(RunError::from, |()| error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_testbed::Library;
    use sixbench_testbed::recipe::Technology;

    #[test]
    fn every_dns64_server_of_the_house_has_a_prefix_and_an_authority_over_ipv4() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let servers = library
            .iter()
            .filter(|recipe| recipe.technology == Technology::Dns64);
        let settings: Vec<DnsSetting> = servers
            .map(|recipe| setting(recipe).expect("a setting"))
            .collect();
        assert!(settings.len() >= 4, "{}", settings.len());
        for setting in settings {
            assert_eq!(setting.prefix.to_string(), "64:ff9b::/96");
            assert_eq!(setting.authority.to_string(), "198.18.0.2");
        }
    }

    #[test]
    fn an_authority_synthesises_nothing_and_has_no_vectors() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let nsd = library.get("nsd-authority").expect("a recipe");
        let error = setting(nsd).expect_err("refused").to_string();
        assert!(
            error.starts_with("there are no vectors for nsd-authority"),
            "{error}"
        );
    }
}
