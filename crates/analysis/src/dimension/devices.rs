//! The devices of a plan, each with the tests that measure its capacity.

use sixbench_method::measures::{Measure, ResultKind};
use sixbench_method::plan::{CoreLimits, Plan, Test};
use sixbench_method::terms::{Directions, FrameSize, Share};
use std::collections::BTreeSet;

/// A device with a given number of cores, and the tests of a plan that measure its capacity.
#[derive(Clone, Debug)]
pub struct TestedDevice<'a> {
    /// The name of its recipe.
    pub dut: &'a str,
    /// The cores it may use, if the tests limit them.
    pub cores: Option<u32>,
    /// The cores of each device, if there are several in a row.
    limits: CoreLimits,
    /// Throughput tests with foreground traffic only, in both directions at once.
    pub throughput: Vec<&'a Test>,
    /// Tests of the connection establishment rate.
    pub establishment: Vec<&'a Test>,
    /// Tests of the capacity of the connection tracking table.
    pub capacity: Vec<&'a Test>,
}

impl<'a> TestedDevice<'a> {
    /// Returns the devices whose capacity any test of `plan` measures, in the order of the plan.
    pub fn all(plan: &'a Plan) -> Vec<Self> {
        let mut devices: Vec<Self> = Vec::new();
        for test in plan.tests.iter().filter(|test| is_telling(test)) {
            let (dut, cores) = (test.dut.as_str(), test.cores);
            let is_known = |device: &Self| device.dut == dut && device.limits == test.core_limits();
            let known = devices.iter().position(is_known);
            let index = known.unwrap_or_else(|| {
                devices.push(Self {
                    dut,
                    cores,
                    limits: test.core_limits(),
                    throughput: Vec::new(),
                    establishment: Vec::new(),
                    capacity: Vec::new(),
                });
                devices.len() - 1
            });
            devices[index].add(test);
        }
        devices
    }

    fn add(&mut self, test: &'a Test) {
        if test.measure.is_throughput() {
            self.throughput.push(test);
        } else if test.measure.table_capacity().is_some() {
            self.capacity.push(test);
        } else {
            self.establishment.push(test);
        }
    }

    /// Returns the tests that measure its capacity.
    pub fn tests(&self) -> impl Iterator<Item = &'a Test> + '_ {
        self.throughput
            .iter()
            .chain(&self.establishment)
            .chain(&self.capacity)
            .copied()
    }

    /// Returns whether any of its tests uses connections. Otherwise the device counts as stateless.
    pub fn is_stateful(&self) -> bool {
        let has_connections = |test: &&Test| test.stateful.is_some();
        !self.establishment.is_empty()
            || !self.capacity.is_empty()
            || self.throughput.iter().any(has_connections)
    }

    /// Returns the frame sizes at which its throughput is measured.
    pub fn sizes(&self) -> BTreeSet<FrameSize> {
        self.throughput
            .iter()
            .flat_map(|test| test.frame_sizes.iter().copied())
            .collect()
    }
}

/// Returns whether a test measures a limit: throughput of foreground traffic in both directions, or connections.
fn is_telling(test: &Test) -> bool {
    // A mix of sizes says nothing about a single size, and the traffic profile has shares of its own.
    let is_plain = test.foreground == Share::ALL
        && test.directions == Directions::Both
        && test.traffic.size_mix.is_none();
    let is_of_frames = test.measure.is_throughput() && is_plain;
    is_of_frames || is_establishment(&test.measure) || test.measure.table_capacity().is_some()
}

/// Returns whether the measure is the establishment rate of RFC 9693.
fn is_establishment(measure: &Measure) -> bool {
    measure.result_kind() == ResultKind::Rate && measure.family().ends_with_phase_one()
}
