//! The requirements of RFCs on a device, vector by vector: builds the device's testbed, sends the vectors, and undoes everything.

mod directory;
mod dns;
mod edges;
mod load;
mod nat;
mod outcome;
mod results_folder;
pub mod robustness;
mod role_addresses;
mod setting;
mod sides;
mod small_pool;
mod subscribers;
pub(crate) mod trial;

use crate::ends::ports::{self, ETHERNET_HEADER_OCTETS};
use crate::error::RunError;
use crate::profile::dns::server_test;
use crate::profile::neighbours;
use crate::request::{ETHERNET_OCTETS, SessionRequest, Site};
use crate::run::built::BuiltTestbed;
pub use directory::ConformanceDirectory;
use load::DeviceLoad;
pub use load::LoadedConformance;
pub use outcome::{DeviceConformance, RfcVector};
use sides::DeviceSides;
use sixbench_conformance::exchange::DeviceTimers;
use sixbench_conformance::frame::Side;
use sixbench_conformance::notation::{DeviceTimer, RequirementFile};
use sixbench_conformance::{DeviceSetting, Role, Vector};
use sixbench_engine::MeasureError;
use sixbench_engine::conformance::{VectorPort, VectorProgress, VectorRun, VectorTester};
use sixbench_engine::frames::profile::Neighbours;
use sixbench_io::{Backend, PortOptions};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Stateful, Test};
use sixbench_method::record::DutFacts;
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_plan::check_vector_load;
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

/// Returns the files of vectors that apply to a device, by the technology of its recipe.
///
/// # Errors
/// None does, or the recipe lacks what the vectors of its technology need.
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
        .filter(|file| file.is_for_edges == edges::is_edge(recipe))
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
    let mut test = Test::new(NAME, &recipe.name);
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

/// The way in which vectors are sent.
pub struct VectorOptions {
    /// The timers of a stateful device.
    pub timers: VectorTimers,
    /// The rate of the load under which the vectors are sent once more, if they are: frames per second in each direction.
    pub load: Option<FrameRate>,
    /// Told of each attempt.
    pub progress: VectorProgress,
}

impl Default for VectorOptions {
    /// Returns short timers, no load, and progress that is told to nobody.
    fn default() -> Self {
        Self {
            timers: VectorTimers::Short,
            load: None,
            progress: Box::new(|_, _| {}),
        }
    }
}

/// Brings a device up, sends it the vectors, and undoes everything. A device that is cabled to interfaces of this machine is up already. A stop ends it
/// early, with what was found until then.
///
/// # Errors
/// The testbed cannot be built, a command of the recipe that sets timers fails, the device ends or passes no control frame, or a stop was requested before
/// the first vector.
pub fn perform(
    site: &Site<'_>,
    recipe: &Recipe,
    vectors: &[&Vector],
    options: VectorOptions,
) -> Result<DeviceConformance, RunError> {
    if options.load.is_some() {
        check_vector_load(recipe, site.links.io, site.links.ports.as_ref())?;
    }
    if recipe.technology == Technology::Dns64 {
        return dns::perform(site, recipe, vectors, options.progress);
    }
    let sides = DeviceSides::of_recipe(recipe)?;
    let setting = sides.setting(MTU)?;
    admit(site.isolation, &setting)?;
    let mut testbed = built(site, recipe)?;
    let backend = options.load.map_or(site.links.io, |_| Backend::shared());
    let ports = vector_ports(backend, &testbed, &sides, &setting)?;
    let mut tester = VectorTester::new(ports, setting, site.stop.clone())
        .with_timers(set_timers(&testbed, options.timers)?)
        .with_long_waits(options.timers == VectorTimers::Own)
        .within(isolation_of_links(site))
        .telling(options.progress);
    let load = options
        .load
        .map(|rate| load::open(site, &testbed, recipe, rate))
        .transpose()?;
    let mut quiet = small_pool::records(&mut tester, &mut testbed, vectors)?;
    let under_load = ask_under_load(load, &mut tester, vectors, &mut quiet)
        .map_err(|error| small_pool::cause(&mut testbed, error))?;
    if !quiet.is_interrupted {
        testbed.check_alive()?;
    }
    Ok(DeviceConformance {
        facts: device_facts(&testbed, recipe),
        records: quiet.records,
        under_load,
        is_interrupted: quiet.is_interrupted,
    })
}

/// Sends the vectors once more under a load, if there is one. A stop keeps what was found quietly.
fn ask_under_load(
    load: Option<DeviceLoad>,
    tester: &mut VectorTester,
    vectors: &[&Vector],
    quiet: &mut VectorRun,
) -> Result<Option<LoadedConformance>, MeasureError> {
    let Some(load) = load.filter(|_| !quiet.is_interrupted) else {
        return Ok(None);
    };
    match load.ask(tester, vectors, &quiet.records) {
        Err(MeasureError::Interrupted) => {
            quiet.is_interrupted = true;
            Ok(None)
        }
        asked => asked.map(Some),
    }
}

/// Builds the testbed of a device to which any datagram is sent.
fn built(site: &Site<'_>, recipe: &Recipe) -> Result<BuiltTestbed, RunError> {
    // The links are made for the outer headers as well: the longest datagram on any of them has the MTU.
    let largest = MTU + ETHERNET_OCTETS - recipe.overhead();
    let request = SessionRequest::alone(recipe, FrameSize(largest));
    let testbed = BuiltTestbed::build(site, &request, true)?;
    if let Some(dut) = &testbed.dut {
        dut.accept_source_routes()?;
    }
    Ok(testbed)
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

/// Refuses a device that cannot be asked, or with whose addresses a host on the Internet could be meant.
fn check(recipe: &Recipe, isolation: Isolation) -> Result<(), RunError> {
    if recipe.technology == Technology::Dns64 {
        return dns::check(recipe, isolation);
    }
    admit(isolation, &DeviceSides::of_recipe(recipe)?.setting(MTU)?)
}

fn device_facts(testbed: &BuiltTestbed, recipe: &Recipe) -> DutFacts {
    let facts = testbed.dut.as_ref().map(|dut| dut.facts().clone());
    DutFacts {
        layout: testbed.layout.clone(),
        path: recipe.path_facts(),
        defect_vectors: recipe.defect_vectors.clone(),
        links: testbed.links.kind(),
        ..facts.unwrap_or_default()
    }
}

/// Returns what is known of the links: of those that are built for a run, both ends are in namespaces of its own.
fn isolation_of_links(site: &Site<'_>) -> Isolation {
    if site.links.ports.is_none() {
        Isolation::Declared
    } else {
        site.isolation
    }
}

/// Refuses roles whose addresses a host on the Internet could have.
fn admit(isolation: Isolation, setting: &DeviceSetting) -> Result<(), RunError> {
    let of_role = setting
        .roles
        .iter()
        .flat_map(|role| [role.ipv4.map(IpAddr::V4), role.ipv6.map(IpAddr::V6)]);
    let addresses: Vec<IpAddr> = of_role.flatten().collect();
    isolation.admit(addresses)?;
    Ok(())
}

fn vector_ports(
    backend: Backend,
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
        ..PortOptions::new(u32::from(MTU) + ETHERNET_HEADER_OCTETS)
    };
    let ports = both.map(|(namespace, port)| ports::open((namespace, &port), backend, options));
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
    // A side of a stateful device has no family: only those of an edge has such a role, which nothing is sent to.
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
            let of_recipe = applicable(recipe, files).unwrap_or_default();
            // A row has the defects of its devices, which are asked one by one.
            let of_parts = recipe
                .parts
                .iter()
                .flat_map(|part| applicable(part, files).unwrap_or_default());
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
            let Ok(applicable) = applicable(recipe, files) else {
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
                    let is_about_ranges = vector.name.contains("-range-");
                    assert!(
                        built.is_ok() || is_about_ranges,
                        "{}: {}: {built:?}",
                        recipe.name,
                        vector.name
                    );
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
