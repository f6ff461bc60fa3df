//! Tests that are steps of a series: what changes from step to step, and how it affects the result.

use crate::digest::{Digest, PointDigest, PointSample};
use crate::wording::bound::Bound;
use crate::wording::numbers::searched;
use sixbench_analysis::mix::degradation_percent;
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::measures::Family;
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{Measure, SeriesBy, Test};
use sixbench_method::terms::{Direction, FrameRate, FrameSize};

pub(crate) fn unit_of(by: SeriesBy) -> &'static str {
    match by {
        SeriesBy::Background => "% native",
        SeriesBy::Flows => "flows",
        SeriesBy::Cores => "cores",
        SeriesBy::Subscribers => "subscribers",
        SeriesBy::Connections => "connections",
        SeriesBy::TableSize => "entries",
        SeriesBy::Filters => "filters",
        SeriesBy::Broadcast => "% broadcast",
        SeriesBy::Burst => "frames of a burst",
        SeriesBy::Cached => "% cached",
        SeriesBy::WithAaaa => "% with AAAA",
    }
}

/// The tests of one series, by their position on its axis, ascending.
pub(crate) struct TestSeries<'a> {
    pub(crate) name: &'a str,
    pub(crate) by: SeriesBy,
    /// The device whose cores vary, in a row of devices of which only this one has varying cores.
    pub(crate) device: Option<&'a str>,
    pub(crate) steps: Vec<(f64, &'a Test)>,
}

/// Returns the series of a plan that vary `by`, in the order of the plan.
pub(crate) fn series<'a>(digest: &Digest<'a>, by: SeriesBy) -> Vec<TestSeries<'a>> {
    // Response times over clients have a separate chapter, and tests that repeat a rate are not another series of rates.
    let is_of_its_own = |test: &&Test| match test.measure.family() {
        Family::Requests | Family::Vectors => false,
        Family::Frames | Family::PhaseOne | Family::Tcp | Family::Queries => {
            test.measure.result_kind().has_spread()
        }
    };
    let tests = digest.input.plan.tests.iter().filter(is_of_its_own);
    let of_series =
        tests.filter_map(|test| Some((test.series.as_ref().filter(|s| s.by == by)?, test)));
    let sorted = |(name, mut steps): (&'a str, Vec<(f64, &'a Test)>)| {
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let device = steps
            .iter()
            .find_map(|(_, test)| test.series.as_ref()?.device.as_deref());
        TestSeries {
            name,
            by,
            device,
            steps,
        }
    };
    by_key(of_series.map(|(series, test)| (series.name.as_str(), (series.at, test))))
        .into_iter()
        .map(sorted)
        .collect()
}

impl<'a> TestSeries<'a> {
    /// Returns the steps at one size, each with its point.
    pub(crate) fn at<'d>(
        &self,
        digest: &'d Digest<'a>,
        size: FrameSize,
    ) -> Vec<(f64, &'d PointDigest<'a>)> {
        self.steps
            .iter()
            .filter_map(|&(at, test)| Some((at, digest.point(test, size)?)))
            .collect()
    }

    /// Returns the measure that all steps share.
    pub(crate) fn measure(&self) -> Option<&'a Measure> {
        self.steps.first().map(|(_, test)| &test.measure)
    }

    /// Returns whether all steps search for the throughput of frames.
    pub(crate) fn is_of_throughput(&self) -> bool {
        self.measure().is_some_and(Measure::is_throughput)
    }

    /// Returns the steps at one size that have a searched rate, each with its point.
    pub(crate) fn with_rate<'d>(
        &self,
        digest: &'d Digest<'a>,
        size: FrameSize,
    ) -> Vec<(f64, &'d PointDigest<'a>)> {
        self.at(digest, size)
            .into_iter()
            .filter(|(_, p)| p.headline().is_some())
            .collect()
    }

    /// Returns the smallest size at which at least two steps have a searched rate, with these steps.
    pub(crate) fn smallest_with_rates<'d>(
        &self,
        digest: &'d Digest<'a>,
    ) -> Option<(FrameSize, Vec<(f64, &'d PointDigest<'a>)>)> {
        self.sizes()
            .into_iter()
            .map(|size| (size, self.with_rate(digest, size)))
            .find(|(_, points)| points.len() > 1)
    }

    pub(crate) fn sizes(&self) -> Vec<FrameSize> {
        let sizes: std::collections::BTreeSet<_> = self
            .steps
            .iter()
            .flat_map(|(_, test)| test.frame_sizes.clone())
            .collect();
        sizes.into_iter().collect()
    }
}

/// One quantity over the steps of a series, at one size, in one direction.
pub(crate) struct Curve {
    pub(crate) subject: CurveSubject,
    pub(crate) size: FrameSize,
    pub(crate) steps: Vec<CurveStep>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CurveSubject {
    pub(crate) quantity: String,
    /// The rate of a frame loss rate, which is measured at many rates.
    pub(crate) rate: Option<FrameRate>,
    /// The quantity whose unit the values have; `None` for a searched rate.
    pub(crate) unit: Option<Quantity>,
    /// `None` for throughput, which is that of all loaded directions.
    pub(crate) direction: Option<Direction>,
    /// True if higher values are better.
    pub(crate) is_higher_better: bool,
}

pub(crate) struct CurveStep {
    pub(crate) at: f64,
    pub(crate) value: f64,
    /// The load at which the value was measured; `None` for a throughput, which is itself a load.
    pub(crate) load: Option<FrameRate>,
    /// True if the true value may be higher, since something other than the DUT ended a search or a trial.
    pub(crate) is_open: bool,
}

impl Curve {
    /// Returns the degradation from the first step, per cent; above 0 is worse (RFC 8219 section 10.2.1). `None` if the value of the first step is 0.
    pub(crate) fn degradation(&self, step: &CurveStep) -> Option<f64> {
        degradation_percent(
            self.steps.first()?.value,
            step.value,
            self.subject.is_higher_better,
        )
    }

    /// Returns the relation of [`Self::degradation`] to the true value.
    pub(crate) fn bound(&self, step: &CurveStep) -> Bound {
        let ratio = Bound::of_ratio(
            step.is_open,
            self.steps.first().is_some_and(|first| first.is_open),
        );
        if self.subject.is_higher_better {
            ratio.inverted()
        } else {
            ratio
        }
    }
}

/// Returns every quantity of a series as a curve, if it was measured at the first step, with which the others are compared.
pub(crate) fn curves(digest: &Digest, steps: &TestSeries) -> Vec<Curve> {
    let at_size = |size| {
        let points = steps.at(digest, size);
        let goals = points
            .iter()
            .map(|(_, point)| point.goals.len())
            .min()
            .unwrap_or(0);
        let throughput = (0..goals)
            .filter_map(|goal| of_goal(&points, goal, size))
            .collect::<Vec<_>>();
        let values = points
            .first()
            .map(|(_, first)| of_values(&points, first, size))
            .unwrap_or_default();
        throughput.into_iter().chain(values).collect::<Vec<_>>()
    };
    let first = steps.steps.first().map(|(at, _)| *at);
    let is_whole =
        |curve: &Curve| curve.steps.len() > 1 && curve.steps.first().map(|s| s.at) == first;
    steps
        .sizes()
        .into_iter()
        .flat_map(at_size)
        .filter(is_whole)
        .collect()
}

fn of_goal(points: &[(f64, &PointDigest)], goal: usize, size: FrameSize) -> Option<Curve> {
    let (_, first) = points.iter().find(|(_, p)| p.is_searched())?;
    let name = searched(&first.test.measure, first.goals.get(goal)?.goal);
    let subject = CurveSubject {
        quantity: name,
        rate: None,
        unit: None,
        direction: None,
        is_higher_better: true,
    };
    let measured = points.iter().filter(|(_, p)| p.is_searched());
    let step = |(at, p): &(f64, &PointDigest)| {
        let found = p.goals.get(goal)?;
        Some(CurveStep {
            at: *at,
            value: found.summary.as_ref()?.median,
            load: None,
            is_open: found.limits.is_median_open,
        })
    };
    Some(Curve {
        subject,
        size,
        steps: measured.filter_map(step).collect(),
    })
}

fn of_values(points: &[(f64, &PointDigest)], first: &PointDigest, size: FrameSize) -> Vec<Curve> {
    let curve = |base: &PointSample| {
        let step = |(at, p): &(f64, &PointDigest)| {
            let sample = p.samples.iter().find(|s| is_same(s, base))?;
            let (value, load) = (sample.summary.median, Some(sample.load));
            Some(CurveStep {
                at: *at,
                value,
                load,
                is_open: sample.is_median_open,
            })
        };
        Curve {
            subject: subject(base),
            size,
            steps: points.iter().filter_map(step).collect(),
        }
    };
    first.samples.iter().map(curve).collect()
}

/// Returns whether two samples are of the same quantity. The loads of measurements at the throughput differ from step to step, but a loss rate depends
/// on its rate.
fn is_same(sample: &PointSample, base: &PointSample) -> bool {
    sample.quantity == base.quantity
        && sample.direction == base.direction
        && own_rate(sample) == own_rate(base)
}

fn own_rate(sample: &PointSample) -> Option<FrameRate> {
    (sample.quantity == Quantity::FrameLossRate).then_some(sample.load)
}

fn subject(sample: &PointSample) -> CurveSubject {
    CurveSubject {
        quantity: sample.quantity.title().to_owned(),
        rate: own_rate(sample),
        unit: Some(sample.quantity),
        direction: Some(sample.direction),
        is_higher_better: sample.quantity.is_higher_better(),
    }
}

/// Returns the quantities of the curves, each once, in their order.
pub(crate) fn quantities(curves: &[Curve]) -> Vec<&str> {
    each_once(curves.iter().map(|curve| curve.subject.quantity.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(is_higher_better: bool, values: [f64; 2]) -> Curve {
        let subject = CurveSubject {
            quantity: String::new(),
            rate: None,
            unit: None,
            direction: None,
            is_higher_better,
        };
        let step = |(at, value): (f64, f64)| CurveStep {
            at,
            value,
            load: None,
            is_open: false,
        };
        Curve {
            subject,
            size: FrameSize(84),
            steps: [1.0, 16.0].into_iter().zip(values).map(step).collect(),
        }
    }

    #[test]
    fn a_fifth_less_throughput_and_a_fifth_more_latency_are_both_a_degradation_of_20_per_cent() {
        let (throughput, latency) = (curve(true, [1000.0, 800.0]), curve(false, [50.0, 60.0]));
        assert_eq!(throughput.degradation(&throughput.steps[1]), Some(20.0));
        assert_eq!(latency.degradation(&latency.steps[1]), Some(20.0));
    }

    #[test]
    fn a_degradation_from_or_to_a_lower_bound_is_one_itself() {
        let bounds = |is_higher_better, is_first_open, is_last_open| {
            let mut curve = curve(is_higher_better, [1000.0, 800.0]);
            (curve.steps[0].is_open, curve.steps[1].is_open) = (is_first_open, is_last_open);
            curve.bound(&curve.steps[1])
        };
        assert_eq!(
            bounds(true, true, false),
            Bound::AtLeast,
            "the first step may be better still"
        );
        assert_eq!(bounds(true, false, true), Bound::AtMost);
        assert_eq!(
            bounds(false, true, false),
            Bound::AtMost,
            "the first step may have lasted longer"
        );
        assert_eq!(bounds(false, false, true), Bound::AtLeast);
        assert_eq!(
            [bounds(true, true, true), bounds(true, false, false)],
            [Bound::Unknown, Bound::Exact]
        );
    }

    #[test]
    fn nothing_degrades_in_per_cent_of_nothing() {
        let lossless = curve(false, [0.0, 3.0]);
        assert_eq!(lossless.degradation(&lossless.steps[1]), None);
    }
}
