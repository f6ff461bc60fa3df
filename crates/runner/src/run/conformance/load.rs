//! The load beside the vectors of a device: frames as in a trial of its recipe, on ports of their own.

use crate::ends::ports::{self, ETHERNET_HEADER_OCTETS};
use crate::error::RunError;
use crate::profile::{self, Job};
use crate::request::Site;
use crate::run::built::BuiltTestbed;
use sixbench_conformance::Vector;
use sixbench_engine::conformance::{LOAD_PORTS, VectorLoad, VectorRecord, VectorTester};
use sixbench_engine::{FrameTester, Layout, MeasureError};
use sixbench_io::{Backend, PortOptions};
use sixbench_method::plan::{Ports, Profile, Test, TrafficSettings, ValueOrder, ValueRange};
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_method::trial::{RequirementLoad, TrialSettings};
use sixbench_plan::{VectorLoadRefusal, standard_trial};
use sixbench_testbed::Recipe;

/// The frame size of the load: the smallest in which an IPv6 frame of every path has room for its tag.
const LOAD_FRAME_SIZE: FrameSize = FrameSize::MINIMUM;
/// The seed of the load's ports.
const SEED: u64 = 1;

/// The outcome of a device under load.
pub struct LoadedConformance {
    /// The outcomes of the vectors, in their order.
    pub records: Vec<VectorRecord>,
    /// The counts of the load.
    pub load: RequirementLoad,
}

pub(super) struct DeviceLoad {
    traffic: VectorLoad,
    rate: FrameRate,
}

/// Opens the ports of the load on the links of a device.
///
/// # Errors
/// A port cannot be opened, or the recipe has no traffic.
pub(super) fn open(
    site: &Site<'_>,
    testbed: &BuiltTestbed,
    recipe: &Recipe,
    rate: FrameRate,
) -> Result<DeviceLoad, RunError> {
    let settings = TrialSettings {
        // The two seconds of RFC 2544 section 23.
        residual_ns: 2_000_000_000,
        ..standard_trial(Profile::Smoke)
    };
    let job = profile::job(recipe, &test(recipe), LOAD_FRAME_SIZE, SEED, settings)?;
    let Job::Frames(profile, settings) = job else {
        return Err(VectorLoadRefusal::Server(recipe.name.clone()).into());
    };
    let longest = u32::from(LOAD_FRAME_SIZE.0 + recipe.overhead()) + ETHERNET_HEADER_OCTETS;
    let both: [_; 2] = testbed
        .links
        .ends()
        .try_into()
        .map_err(|_| RunError::NeedsInterfaces)?;
    let options = PortOptions::new(longest);
    let [left, right] =
        both.map(|(namespace, port)| ports::open((namespace, &port), Backend::shared(), options));
    let layout = Layout {
        cores: testbed.cores.tester.clone(),
    };
    let profile = site.isolation.admit(*profile)?;
    let ports = (left?, right?);
    let tester = FrameTester::new(ports, profile, settings, layout, site.stop.clone());
    Ok(DeviceLoad {
        traffic: VectorLoad::new(tester, rate),
        rate,
    })
}

impl DeviceLoad {
    /// Sends the vectors once more while the load is on. `quiet` is what was found without it.
    ///
    /// # Errors
    /// Those of [`VectorTester::run_under_load`].
    pub(super) fn ask(
        mut self,
        tester: &mut VectorTester,
        vectors: &[&Vector],
        quiet: &[VectorRecord],
    ) -> Result<LoadedConformance, MeasureError> {
        let run = tester.run_under_load(vectors, quiet, &mut self.traffic)?;
        Ok(LoadedConformance {
            load: RequirementLoad::of_trials(self.rate, LOAD_FRAME_SIZE, &run.trials),
            records: run.records,
        })
    }
}

/// Returns the test whose frames are the load.
fn test(recipe: &Recipe) -> Test {
    let ports = ValueRange {
        first: *LOAD_PORTS.start(),
        last: *LOAD_PORTS.end(),
        order: ValueOrder::Pseudorandom,
    };
    Test {
        traffic: TrafficSettings::with_ports(Ports {
            source: ports,
            destination: ports,
        }),
        ..Test::new("load", &recipe.name)
    }
}
