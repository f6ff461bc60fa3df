//! The requirements of RFCs on a device, vector by vector: builds the device's testbed, sends the vectors, and undoes everything.

mod directory;
mod dns;
mod nat;
mod setting;
mod sides;
mod subscribers;

use crate::ends::ports::{self, ETHERNET_HEADER_OCTETS};
use crate::error::{RunError, TrialError};
use crate::profile::dns::server_test;
use crate::profile::neighbours;
use crate::request::{SessionRequest, Site};
use crate::run::built::BuiltTestbed;
pub use directory::ConformanceDirectory;
use sides::DeviceSides;
use sixbench_conformance::exchange::DeviceTimers;
use sixbench_conformance::frame::Side;
use sixbench_conformance::notation::{DeviceTimer, RequirementFile};
use sixbench_conformance::{DeviceSetting, Role, Vector};
use sixbench_engine::MeasureError;
use sixbench_engine::conformance::{VectorPort, VectorRecord, VectorTester};
use sixbench_engine::frames::profile::Neighbours;
use sixbench_io::PortOptions;
use sixbench_io::thread::give_up_privileges;
use sixbench_method::plan::{Stateful, Test};
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::Technology;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

/// The MTU of the links that are built, in octets.
const MTU: u16 = 1500;
/// Connections of the test in whose place a stateful device is asked.
const CONNECTIONS: u64 = 100;
const NS_PER_S: u64 = 1_000_000_000;
/// Octets of Ethernet's header and FCS.
const ETHERNET_OCTETS: u16 = 18;

/// The outcome of a device.
pub struct DeviceConformance {
    /// The version of the device, as its recipe prints it.
    pub version: String,
    /// The outcomes of the vectors, in their order.
    pub records: Vec<VectorRecord>,
}

/// Returns the files of vectors that apply to a device, by the technology of its recipe.
///
/// # Errors
/// None does.
pub fn applicable<'f>(
    recipe: &Recipe,
    files: &'f [RequirementFile],
) -> Result<Vec<&'f RequirementFile>, RunError> {
    let word = serde_json::to_value(recipe.technology).ok();
    let technology = word
        .as_ref()
        .and_then(|word| word.as_str())
        .unwrap_or_default();
    let found: Vec<&RequirementFile> = files
        .iter()
        .filter(|file| file.technologies.iter().any(|known| known == technology))
        .collect();
    if found.is_empty() {
        return Err(RunError::NoVectors {
            recipe: recipe.name.clone(),
        });
    }
    if recipe.technology == Technology::Dns64 {
        dns::setting(recipe)?;
    } else {
        DeviceSides::of_recipe(recipe)?;
    }
    Ok(found)
}

/// Returns a test of the device, so that what its testbed needs is checked as for any other.
pub fn test_of(recipe: &Recipe) -> Test {
    const NAME: &str = "conformance";
    if recipe.technology == Technology::Dns64 {
        return server_test(NAME, &recipe.name);
    }
    let mut test = Test::of(NAME, &recipe.name);
    // No frame of this test is sent: a stateful device needs connections only to be accepted.
    test.stateful = recipe
        .state
        .as_ref()
        .map(|_| Stateful::new(CONNECTIONS, FrameRate(CONNECTIONS), NS_PER_S));
    test
}

/// The timers of a stateful device while vectors are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorTimers {
    /// The short ones of the recipe: vectors wait for seconds.
    Short,
    /// Its own: vectors may wait for the minutes and hours of the RFCs.
    Own,
}

/// Brings a device up, with short timers if it is stateful, sends it the vectors, and undoes everything.
///
/// # Errors
/// The testbed cannot be built, the device ends or passes no control frame, or a stop was requested.
pub fn perform(
    site: &Site<'_>,
    recipe: &Recipe,
    vectors: &[&Vector],
) -> Result<DeviceConformance, RunError> {
    perform_with_timers(site, recipe, vectors, VectorTimers::Short)
}

/// The same, with these timers.
///
/// # Errors
/// As of [`perform`]; a command of the recipe that sets timers fails.
pub fn perform_with_timers(
    site: &Site<'_>,
    recipe: &Recipe,
    vectors: &[&Vector],
    timers: VectorTimers,
) -> Result<DeviceConformance, RunError> {
    if recipe.technology == Technology::Dns64 {
        return dns::perform(site, recipe, vectors);
    }
    let sides = DeviceSides::of_recipe(recipe)?;
    let setting = sides.setting(MTU)?;
    admit(site, &setting)?;
    // The links are made for the outer headers as well: the longest datagram on any of them has the MTU.
    let largest = MTU + ETHERNET_OCTETS - recipe.overhead();
    let request = SessionRequest::alone(recipe, FrameSize(largest));
    let mut testbed = BuiltTestbed::build(site, &request, true)?;
    if let Some(dut) = &testbed.dut {
        dut.accept_source_routes()?;
    }
    let ports = vector_ports(site, &testbed, &sides, &setting)?;
    let times = set_timers(&testbed, timers)?;
    let mut tester = VectorTester::new(ports, setting, site.stop.clone())
        .with_timers(times)
        .with_long_waits(timers == VectorTimers::Own);
    let records = without_privileges(&mut tester, vectors)?;
    let version = testbed
        .dut
        .as_ref()
        .map(|dut| dut.facts().version.clone())
        .unwrap_or_default();
    match records {
        Ok(records) => testbed
            .check_alive()
            .map(|()| DeviceConformance { version, records })
            .map_err(RunError::from),
        Err(MeasureError::Interrupted) => Err(RunError::Interrupted),
        // The device may have ended: that error names the cause.
        Err(error) => Err(testbed
            .check_alive()
            .map_or_else(RunError::from, |()| TrialError::from(error).into())),
    }
}

/// Sets the timers of a stateful device, and returns their times. Of its own ones, no time is known: vectors with a share of a timer do not apply.
fn set_timers(testbed: &BuiltTestbed, timers: VectorTimers) -> Result<DeviceTimers, RunError> {
    let table = testbed.dut.as_ref().and_then(|dut| dut.connections());
    let Some(table) = table else {
        return Ok(DeviceTimers::default());
    };
    if timers == VectorTimers::Own {
        table.set_own_timers()?;
        return Ok(DeviceTimers::default());
    }
    let set = table.set_short_timers()?.unwrap_or_default();
    let times = [
        (DeviceTimer::Udp, set.udp),
        (DeviceTimer::TcpTransitory, set.tcp_transitory),
        (DeviceTimer::TcpEstablished, set.tcp_established),
        (DeviceTimer::Icmp, set.icmp),
    ];
    let known = times
        .into_iter()
        .filter_map(|(timer, seconds)| Some((timer, Duration::from_secs(seconds?))));
    Ok(known.collect())
}

/// Refuses roles whose addresses a host on the Internet could have.
fn admit(site: &Site<'_>, setting: &DeviceSetting) -> Result<(), RunError> {
    let of_role = setting
        .roles
        .iter()
        .flat_map(|role| [role.ipv4.map(IpAddr::V4), role.ipv6.map(IpAddr::V6)]);
    let addresses: Vec<IpAddr> = of_role.flatten().collect();
    site.isolation.admit(addresses)?;
    Ok(())
}

/// Sends the vectors from a thread without privileges, because what a device sends is untrusted input.
fn without_privileges(
    tester: &mut VectorTester,
    vectors: &[&Vector],
) -> Result<Result<Vec<VectorRecord>, MeasureError>, RunError> {
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            give_up_privileges()?;
            Ok(tester.run(vectors))
        });
        worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn vector_ports(
    site: &Site<'_>,
    testbed: &BuiltTestbed,
    sides: &DeviceSides<'_>,
    setting: &DeviceSetting,
) -> Result<[VectorPort; 2], RunError> {
    let both: [_; 2] = testbed
        .links
        .ends()
        .try_into()
        .map_err(|_| RunError::NeedsInterfaces)?;
    let options = PortOptions {
        queues: NonZeroU32::new(1),
        ..PortOptions::of(u32::from(MTU) + ETHERNET_HEADER_OCTETS)
    };
    let ports =
        both.map(|(namespace, port)| ports::open((namespace, &port), site.links.io, options));
    let [left, right] = ports;
    let [left_side, right_side] = sides.sides();
    Ok([
        VectorPort {
            side: left_side,
            port: left?,
            neighbours: neighbours_on(sides, left_side, setting),
        },
        VectorPort {
            side: right_side,
            port: right?,
            neighbours: neighbours_on(sides, right_side, setting),
        },
    ])
}

/// Returns the tester's addresses on a link, among them that of the router without a mapping, which the device may want to reach.
fn neighbours_on(sides: &DeviceSides<'_>, side: Side, setting: &DeviceSetting) -> Vec<Neighbours> {
    let link = sides.link(side);
    let router = if side == Side::Ipv4 {
        Role::Router4
    } else {
        Role::Router6
    };
    // A stateful device has no such role, nor has a side of it a family.
    let router = setting.address(router, side).and_then(|tester| {
        Some(Neighbours {
            tester,
            dut: link.neighbour_of(tester)?,
        })
    });
    neighbours(link).into_iter().chain(router).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_conformance::frame::PayloadPattern;
    use sixbench_conformance::notation::built_in;
    use sixbench_conformance::octets::{Resolver, build};
    use sixbench_testbed::Library;

    #[test]
    fn known_defects_are_shown_by_vectors_that_there_are() {
        let files = built_in().expect("the vectors");
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let mut named = 0;
        for recipe in library.iter() {
            let of_recipe = applicable(recipe, &files).unwrap_or_default();
            // A row has the defects of its devices, which are asked one by one.
            let of_parts = recipe
                .parts
                .iter()
                .flat_map(|part| applicable(part, &files).unwrap_or_default());
            let shown: Vec<&Vector> = of_recipe
                .iter()
                .copied()
                .chain(of_parts)
                .flat_map(|file| &file.vectors)
                .collect();
            for name in &recipe.defect_vectors {
                assert!(
                    shown.iter().any(|vector| vector.name == *name),
                    "{}: {name}",
                    recipe.name
                );
                named += 1;
            }
            let is_shown = !recipe.defect_vectors.is_empty();
            let has_vectors = !of_recipe.is_empty();
            assert!(
                is_shown || !has_vectors || recipe.known_defects.is_empty(),
                "{} has a known defect that no vector shows",
                recipe.name
            );
        }
        assert!(named > 5, "{named}");
    }

    #[test]
    fn the_devices_with_subscribers_have_what_most_of_their_vectors_need() {
        let files = built_in().expect("the vectors");
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let mut devices = Vec::new();
        for recipe in library.iter().filter(|recipe| recipe.subscribers.is_some()) {
            let Ok(applicable) = applicable(recipe, &files) else {
                continue;
            };
            let sides = DeviceSides::of_recipe(recipe).expect("sides");
            let setting = sides.setting(MTU).expect("a setting");
            let of_technology = applicable.iter().filter(|file| file.technologies.len() < 3);
            for vector in of_technology.flat_map(|file| &file.vectors) {
                for frame in &vector.send {
                    let resolver = Resolver {
                        setting: &setting,
                        sent: &vector.send[0],
                    };
                    let built = build(frame, PayloadPattern { vector: 0 }, &resolver);
                    assert!(built.is_ok(), "{}: {}: {built:?}", recipe.name, vector.name);
                }
            }
            devices.push(recipe.name.as_str());
        }
        for known in [
            "linux-sit-6to4",
            "linux-sit-6rd",
            "linux-ip6tnl-lw4o6",
            "vpp-map-e",
            "vpp-map-t",
        ] {
            assert!(devices.contains(&known), "{known} is not among {devices:?}");
        }
    }
}
