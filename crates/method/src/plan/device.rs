//! The devices under test of a plan: which tests share one that is set up once.

use super::{CoreLimits, Test};

/// The properties that distinguish devices under test from each other. Tests that share all of them use the same device, which the run sets up once, and
/// the estimate counts once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceIdentity {
    recipe: String,
    cores: CoreLimits,
    /// The number of entries in its connection tracking table.
    table_size: Option<u64>,
    rss_hash: Option<String>,
    filters: u32,
    /// True if the tester's ends are hosts.
    has_hosts: bool,
    /// The identity of a DNS server's configuration, or `None` for any other device.
    server: Option<String>,
    /// True if trials have a load. Vectors are sent to a device of their own.
    has_load: bool,
    /// The test for which the device is set up separately, or `None` if it serves several.
    only_for: Option<String>,
}

impl DeviceIdentity {
    /// Returns the identity of the device of a test.
    pub fn of_test(test: &Test) -> Self {
        Self {
            recipe: test.dut.clone(),
            cores: test.core_limits(),
            table_size: test.stateful.and_then(|stateful| stateful.table_size),
            rss_hash: test.dut_rss_hash.clone(),
            filters: test.filters,
            has_hosts: test.measure.family().needs_hosts(),
            server: test.measure.server_configuration(),
            has_load: test.measure.family().has_load(),
            only_for: test.fresh_device.then(|| test.name.clone()),
        }
    }

    /// Returns whether the device is a DNS server.
    pub fn is_server(&self) -> bool {
        self.server.is_some()
    }
}
