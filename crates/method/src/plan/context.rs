//! Extracts from the plan the view of a test that its measure gets.

use super::{Plan, Test};
use crate::measures::{PeerTest, TestContext};

impl Test {
    /// Returns the parts of this test and of the plan that its measure may see.
    pub(crate) fn context<'a>(&'a self, plan: &'a Plan) -> TestContext<'a> {
        TestContext {
            name: &self.name,
            search: self.search_settings(plan),
            trial: self.trial_settings(plan),
            link_rate: plan.link_rate,
            frame_sizes: &self.frame_sizes,
            ipv4_only: self.ipv4_only,
            traffic: &self.traffic,
            stateful: self.stateful,
            repetitions: self.repetitions,
            series: self.series.as_ref(),
            peers: plan.tests.iter().map(|other| self.peer(other)).collect(),
        }
    }

    fn peer<'a>(&self, other: &'a Self) -> PeerTest<'a> {
        let traffic = |test: &Self| (test.directions, test.foreground, test.traffic);
        PeerTest {
            name: &other.name,
            frame_sizes: &other.frame_sizes,
            is_throughput: other.measure.is_throughput(),
            dns: other.measure.dns(),
            has_same_device: other.dut == self.dut,
            has_same_traffic: traffic(other) == traffic(self),
            series: other.series.as_ref(),
            clients: other.clients(),
        }
    }
}
