//! Compares the traffic that two tests send and the device they send it to. Both are built from a whole [`Test`], field by field, so a new field of a
//! test does not compile until it is classified here.

use super::{Measure, Test};

impl Test {
    /// Returns the fields grouped into the traffic that the test sends, the device as it is set up for the test, and the measure. The remaining
    /// fields describe where and how often a test is measured, its name and its expectations.
    fn identity(&self) -> (impl PartialEq + use<'_>, impl PartialEq + use<'_>, &Measure) {
        let Self {
            name: _,
            title: _,
            dut,
            measure,
            frame_sizes: _,
            directions,
            foreground,
            traffic,
            stateful,
            repetitions: _,
            frame_timeout_ns,
            maximum: _,
            own_goals: _,
            cores,
            device_cores,
            ipv4_only,
            ipv6_forwarded,
            dut_rss_hash,
            filters,
            optional: _,
            fresh_device: _,
            series: _,
            expect: _,
        } = self;
        // `ipv4_only` and `ipv6_forwarded` belong to the device, because they say what its links carry.
        let links = (ipv4_only, ipv6_forwarded);
        let device = (dut, cores, device_cores, links, dut_rss_hash, filters);
        (
            (directions, foreground, traffic, stateful, frame_timeout_ns),
            device,
            measure,
        )
    }

    /// Returns whether both tests share a throughput at the same frame size: the same device with the same cores, set up in the same way, under the
    /// same traffic.
    pub fn shares_throughput_with(&self, other: &Self) -> bool {
        let ((sent, device, _), (sent_by_other, other_device, _)) =
            (self.identity(), other.identity());
        sent == sent_by_other && device == other_device
    }

    /// Returns whether this test asks of its device what the other asks of its own: the same measure, under the same traffic.
    pub fn asks_the_same_as(&self, other: &Self) -> bool {
        let ((sent, _, measure), (sent_by_other, _, other_measure)) =
            (self.identity(), other.identity());
        sent == sent_by_other && measure.asks_the_same_as(other_measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Flows;
    use crate::plan::Stateful;
    use crate::repeat::Repetition;
    use crate::terms::{Directions, Share};
    use crate::terms::{FrameRate, FrameSize};
    use std::num::NonZeroU32;

    fn changed(change: impl FnOnce(&mut Test)) -> Test {
        let mut test = Test::new("t", "device");
        change(&mut test);
        test
    }

    #[test]
    fn other_traffic_is_neither_shared_nor_compared() {
        let usual = Test::new("t", "device");
        for other in [
            changed(|test| test.directions = Directions::Forward),
            changed(|test| {
                test.foreground = Share {
                    foreground: 9,
                    of: 10,
                }
            }),
            changed(|test| {
                test.traffic.flows = Some(Flows {
                    count: 2,
                    step_ns: 0,
                });
            }),
            changed(|test| test.traffic.left_networks = 2),
            changed(|test| test.traffic.ramp_ns = Some(1_000_000_000)),
            changed(|test| test.traffic.broadcast_every = Some(100)),
            changed(|test| test.traffic.burst = NonZeroU32::new(64)),
            changed(|test| test.traffic.size_mix = Some("imix".parse().expect("a mix"))),
            changed(|test| test.stateful = Some(Stateful::new(100, FrameRate(1_000), 0))),
            changed(|test| test.frame_timeout_ns = Some(1)),
        ] {
            assert!(
                !usual.shares_throughput_with(&other) && !usual.asks_the_same_as(&other),
                "{other:?}"
            );
        }
    }

    #[test]
    fn another_device_is_compared_and_shares_nothing() {
        let usual = Test::new("t", "device");
        for other in [
            changed(|test| test.dut = "another".to_owned()),
            changed(|test| test.cores = Some(2)),
            changed(|test| test.device_cores = [("br".to_owned(), 2)].into()),
            changed(|test| test.ipv4_only = true),
            changed(|test| test.ipv6_forwarded = true),
            changed(|test| test.dut_rss_hash = Some("sd".into())),
            changed(|test| test.filters = 25),
        ] {
            assert!(
                !usual.shares_throughput_with(&other) && usual.asks_the_same_as(&other),
                "{other:?}"
            );
        }
    }

    #[test]
    fn another_measure_shares_the_throughput_and_is_not_compared() {
        let (usual, other) = (
            Test::new("t", "device"),
            changed(|test| test.measure = Measure::EstablishmentRate),
        );
        assert!(usual.shares_throughput_with(&other) && !usual.asks_the_same_as(&other));
    }

    #[test]
    fn how_often_and_under_which_name_changes_nothing() {
        let usual = Test::new("t", "device");
        for other in [
            changed(|test| test.name = "another".to_owned()),
            changed(|test| test.frame_sizes = vec![FrameSize(128)]),
            changed(|test| test.repetitions = Repetition::Fixed(7)),
            changed(|test| test.optional = true),
            changed(|test| test.fresh_device = true),
        ] {
            assert!(
                usual.shares_throughput_with(&other) && usual.asks_the_same_as(&other),
                "{other:?}"
            );
        }
    }
}
