//! The limits of a device, each as a number of subscribers.

use super::estimate::Estimate;
use super::frames::{RatesBySize, TimeSource};
use super::traffic::{Imix, SubscriberTraffic};
use super::{Dimensioning, TestedDevice};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Test;
use sixbench_method::search::Bracket;
use sixbench_method::status::{PlannedPoint, PointStatus};
use sixbench_method::terms::FrameSize;

/// A limit on the number of subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubscriberLimit {
    /// Frames to the subscribers.
    Downstream,
    /// Frames from the subscribers.
    Upstream,
    /// Connections opened.
    NewConnections,
    /// Connections held at once.
    HeldConnections,
}

/// A limit that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct CarryingLimit {
    /// The limit.
    pub limit: SubscriberLimit,
    /// The measured value: frames/s of the mix in one direction, connections/s, or connections.
    pub measured: Estimate,
    /// The amount that one subscriber uses in the busy hour.
    pub of_a_subscriber: f64,
    /// The number of subscribers for which it suffices, less the reserve.
    pub subscribers: Estimate,
    /// The names of the tests that measured it.
    pub tests: Vec<String>,
    /// For frames: each size of the mix, and the source of its time per frame.
    pub sizes: Vec<(FrameSize, TimeSource)>,
}

/// A limit that was not measured.
#[derive(Clone, Debug)]
pub struct MissingLimit<'a> {
    /// The limit.
    pub limit: SubscriberLimit,
    /// The points that have no result for it; empty if the plan does not test it.
    pub points: Vec<PlannedPoint<'a>>,
}

/// A mix of frame sizes of which so little was measured that no number of subscribers follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct MixGap {
    /// The limit on frames whose mix it is.
    pub limit: SubscriberLimit,
    /// The share of the mix's octets that is in frames of measured sizes, 0..=1.
    pub measured_share: f64,
    /// The sizes of the mix at which no throughput has a result.
    pub missing: Vec<FrameSize>,
}

/// The least share of a mix's octets that must be in frames of measured sizes: below it, most of the number would be extrapolated.
const LEAST_MEASURED_SHARE: f64 = 0.5;

/// The inputs of a dimensioning.
pub(super) struct MeasuredRun<'a, 'r> {
    pub(super) traffic: &'r SubscriberTraffic,
    pub(super) points: &'r [PlannedPoint<'a>],
    pub(super) outcomes: &'r [Outcome],
}

impl<'a> MeasuredRun<'a, '_> {
    pub(super) fn dimension(&self, device: TestedDevice<'a>) -> Dimensioning<'a> {
        let load = self.traffic.load();
        let (frames, gaps) = self.frames(&device);
        let connections = |limit, tests: &[&Test], of_a_subscriber| {
            let estimates = self
                .estimates(tests)
                .into_iter()
                .map(|(_, estimate)| estimate);
            let least = estimates.reduce(|least, next| {
                if next.value < least.value {
                    next
                } else {
                    least
                }
            });
            least.map(|measured| self.limit(limit, measured, of_a_subscriber, tests))
        };
        let new = connections(
            SubscriberLimit::NewConnections,
            &device.establishment,
            load.new_connections,
        );
        let held = connections(
            SubscriberLimit::HeldConnections,
            &device.capacity,
            load.held_connections,
        );
        let mut limits: Vec<CarryingLimit> = frames.into_iter().chain(new).chain(held).collect();
        let together = self.together(&limits);
        let mut missing = self.missing(&device, &limits);
        missing.retain(|missing| !gaps.iter().any(|gap| gap.limit == missing.limit));
        limits.sort_by(|a, b| a.subscribers.value.total_cmp(&b.subscribers.value));
        Dimensioning {
            device,
            limits,
            together,
            missing,
            gaps,
        }
    }

    /// Returns the limits on frames in both directions, and the mixes of which too little was measured; neither if no throughput test has a result.
    fn frames(&self, device: &TestedDevice<'_>) -> (Vec<CarryingLimit>, Vec<MixGap>) {
        let mut rates = RatesBySize::default();
        self.estimates(&device.throughput)
            .into_iter()
            .for_each(|(size, rate)| rates.add(size, rate));
        if rates.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let (load, traffic) = (self.traffic.load(), self.traffic);
        let ways = [
            (
                SubscriberLimit::Downstream,
                &traffic.downstream_imix.value,
                load.downstream_frames,
            ),
            (
                SubscriberLimit::Upstream,
                &traffic.upstream_imix.value,
                load.upstream_frames,
            ),
        ];
        let (mut limits, mut gaps) = (Vec::new(), Vec::new());
        for (limit, imix, of_a_subscriber) in ways {
            match gap(limit, imix, &rates) {
                Some(gap) => gaps.push(gap),
                None => limits.push(CarryingLimit {
                    sizes: imix
                        .shares()
                        .map(|(size, _)| (size, rates.source(size)))
                        .collect(),
                    ..self.limit(
                        limit,
                        rates.of_mix(imix),
                        of_a_subscriber,
                        &device.throughput,
                    )
                }),
            }
        }
        (limits, gaps)
    }

    fn limit(
        &self,
        limit: SubscriberLimit,
        measured: Estimate,
        of_a_subscriber: f64,
        tests: &[&Test],
    ) -> CarryingLimit {
        let usable = 1.0 - self.traffic.reserve.value;
        let subscribers = measured.map(|measured| usable * measured / of_a_subscriber);
        let tests = tests.iter().map(|test| test.name.clone()).collect();
        CarryingLimit {
            limit,
            measured,
            of_a_subscriber,
            subscribers,
            tests,
            sizes: Vec::new(),
        }
    }

    /// Returns the number of subscribers whose frames and new connections together use up the same processors: their shares add up.
    fn together(&self, limits: &[CarryingLimit]) -> Option<Estimate> {
        let is_of_frames = |limit: &&CarryingLimit| {
            matches!(
                limit.limit,
                SubscriberLimit::Downstream | SubscriberLimit::Upstream
            )
        };
        let least = |a: Estimate, b: Estimate| if b.value < a.value { b } else { a };
        let frames = limits
            .iter()
            .filter(is_of_frames)
            .map(|limit| limit.subscribers)
            .reduce(least)?;
        let new = limits
            .iter()
            .find(|limit| limit.limit == SubscriberLimit::NewConnections)?
            .subscribers;
        self.traffic
            .shared_processor
            .value
            .then(|| frames.with(new, |frames, new| 1.0 / (1.0 / frames + 1.0 / new)))
    }

    fn missing(
        &self,
        device: &TestedDevice<'a>,
        limits: &[CarryingLimit],
    ) -> Vec<MissingLimit<'a>> {
        let missing_limit = |limit, tests: &[&Test]| {
            let is_found = limits.iter().any(|found| found.limit == limit);
            let is_of =
                |point: &&PlannedPoint<'_>| tests.iter().any(|test| test.name == point.test.name);
            (!is_found).then(|| MissingLimit {
                limit,
                points: self.points.iter().filter(is_of).cloned().collect(),
            })
        };
        // The same throughput tests limit both directions, so one of the two stands for both.
        let frames = missing_limit(SubscriberLimit::Downstream, &device.throughput);
        let new = missing_limit(SubscriberLimit::NewConnections, &device.establishment);
        let held = missing_limit(SubscriberLimit::HeldConnections, &device.capacity);
        let of_connections = new.into_iter().chain(held).filter(|_| device.is_stateful());
        frames.into_iter().chain(of_connections).collect()
    }

    /// Returns the estimate at each point of `tests` that has a result.
    fn estimates(&self, tests: &[&Test]) -> Vec<(FrameSize, Estimate)> {
        let with_result = self.points.iter().filter(|point| point.status.has_result());
        let of_tests =
            with_result.filter(|point| tests.iter().any(|test| test.name == point.test.name));
        of_tests
            .filter_map(|point| Some((point.point.frame_size, self.estimate(point)?)))
            .collect()
    }

    /// Returns the median at a point. A repetition at which the device failed even at the lowest load counts as zero; one whose search ended with bounds
    /// too far apart ([`Bracket::is_not_found`]) is left out, because any number between them would be a guess.
    fn estimate(&self, point: &PlannedPoint<'_>) -> Option<Estimate> {
        let outcomes = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.point == point.point);
        let is_found =
            |outcome: &&Outcome| !outcome.brackets.first().is_some_and(Bracket::is_not_found);
        let fit = outcomes
            .filter(|outcome| !outcome.is_unfit(&point.test.measure))
            .filter(is_found);
        let found: Vec<f64> = fit
            .map(|outcome| outcome.headline(&point.test.measure).unwrap_or(0.0))
            .collect();
        Estimate::from_repetitions(&found, matches!(point.status, PointStatus::AtLeast(_)))
    }
}

/// Returns the gap in what was measured of a mix; `None` if at least half of its octets are in frames of measured sizes.
fn gap(limit: SubscriberLimit, imix: &Imix, rates: &RatesBySize) -> Option<MixGap> {
    let is_measured = |size| rates.source(size) == TimeSource::Measured;
    let measured_share = imix.octet_share(is_measured);
    let missing = imix
        .shares()
        .map(|(size, _)| size)
        .filter(|size| !is_measured(*size))
        .collect();
    (measured_share < LEAST_MEASURED_SHARE).then_some(MixGap {
        limit,
        measured_share,
        missing,
    })
}
