//! A test as its measure sees it. A plan contains measures, so a measure knows only the parts of the plan that are copied here.

use crate::plan::{DnsTest, Series, Stateful, TrafficSettings};
use crate::repeat::Repetition;
use crate::search::SearchSettings;
use crate::terms::{FrameRate, FrameSize, IpVersion};
use crate::trial::TrialSettings;

/// A test with the relevant settings of the plan, without its measure.
#[derive(Clone, Debug)]
pub struct TestContext<'a> {
    pub(crate) name: &'a str,
    pub(crate) search: SearchSettings,
    pub(crate) trial: TrialSettings,
    /// The rate of the medium in bit/s, if it is known.
    pub(crate) link_rate: Option<u64>,
    pub(crate) frame_sizes: &'a [FrameSize],
    pub(crate) ipv4_only: bool,
    pub(crate) traffic: &'a TrafficSettings,
    pub(crate) stateful: Option<Stateful>,
    pub(crate) repetitions: Repetition,
    pub(crate) series: Option<&'a Series>,
    /// All tests of the plan, in its order.
    pub(crate) peers: Vec<PeerTest<'a>>,
}

/// A test of the same plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerTest<'a> {
    pub(crate) name: &'a str,
    pub(crate) frame_sizes: &'a [FrameSize],
    pub(crate) is_throughput: bool,
    /// Its queries, if it tests a DNS server.
    pub(crate) dns: Option<&'a DnsTest>,
    pub(crate) has_same_device: bool,
    /// True if its directions, mix, ports and addresses are those of the test itself.
    pub(crate) has_same_traffic: bool,
    pub(crate) series: Option<&'a Series>,
    pub(crate) clients: u32,
}

impl TestContext<'_> {
    /// Returns the highest rate of the medium for the largest frames on either link, if the plan names the medium; for a mix of sizes, that of its mean
    /// octets.
    pub(crate) fn theoretical(&self, frame_size: FrameSize) -> Option<FrameRate> {
        let version = if self.ipv4_only {
            IpVersion::Ipv4
        } else {
            IpVersion::Ipv6
        };
        let link_rate = self.link_rate?;
        let of_mix = self
            .traffic
            .size_mix
            .filter(|mix| mix.nominal() == frame_size);
        Some(match of_mix {
            Some(mix) => mix.theoretical_maximum(link_rate, version),
            None => FrameRate::theoretical_maximum(link_rate, frame_size.with_fcs(version)),
        })
    }

    /// Returns the same for the smallest frame size of the test.
    pub(crate) fn highest_theoretical(&self) -> Option<FrameRate> {
        self.frame_sizes
            .iter()
            .filter_map(|&size| self.theoretical(size))
            .max()
    }
}
