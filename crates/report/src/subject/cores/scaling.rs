//! Series over the DUT's cores, for the tables, the figure and the machine-readable files.

use crate::digest::{Digest, PointDigest};
use crate::subject::series::{TestSeries, series};
use crate::wording::bound::Bound;
use sixbench_analysis::scaling::{CoreRepetitions, Fit, Law, NoFit, ScalingStep, fit, steps};
use sixbench_method::bottleneck::{Chain, Idleness, idleness, weakest};
use sixbench_method::plan::{Measure, SeriesBy};
use sixbench_method::terms::FrameSize;
use std::num::NonZeroU32;

pub(crate) struct Scaling<'d, 'a> {
    pub(crate) name: &'a str,
    /// The device whose cores these are, in a row of devices of which only this one has varying cores.
    pub(crate) device: Option<&'a str>,
    pub(crate) measure: &'a Measure,
    /// The frame size; `None` for DNS queries.
    pub(crate) size: Option<FrameSize>,
    pub(crate) steps: Vec<ScaledStep<'d, 'a>>,
    /// The steps whose searches the DUT ended.
    closed: Vec<CoreRepetitions>,
}

pub(crate) struct ScaledStep<'d, 'a> {
    pub(crate) point: &'d PointDigest<'a>,
    pub(crate) step: ScalingStep,
    /// The device whose cores these are, in a row of devices of which only this one has varying cores.
    pub(crate) device: Option<&'a str>,
    /// True if the true rate may be higher, since something other than the DUT ended a search.
    pub(crate) is_open: bool,
}

/// Returns every series over cores at every size that has a rate and was measured on one host.
pub(crate) fn scalings<'d, 'a>(digest: &'d Digest<'a>) -> Vec<Scaling<'d, 'a>> {
    let all = series(digest, SeriesBy::Cores);
    let at_sizes = all.iter().flat_map(|steps| {
        steps
            .sizes()
            .into_iter()
            .filter_map(|size| scaling(digest, steps, size))
    });
    at_sizes.collect()
}

fn scaling<'d, 'a>(
    digest: &'d Digest<'a>,
    of: &TestSeries<'a>,
    size: FrameSize,
) -> Option<Scaling<'d, 'a>> {
    let points: Vec<(NonZeroU32, &PointDigest)> = of
        .with_rate(digest, size)
        .into_iter()
        .filter_map(|(at, point)| Some((NonZeroU32::new(at as u32)?, point)))
        .collect();
    let (_, first) = points.first()?;
    // A speed-up across hosts would be that of the hosts.
    digest
        .hosts
        .are_on_one(points.iter().map(|(_, point)| &point.point))
        .then_some(())?;
    let all: Vec<CoreRepetitions> = points.iter().map(repetitions_on).collect();
    let closed = points
        .iter()
        .filter(|(_, point)| !point.limits().is_median_open)
        .map(repetitions_on)
        .collect();
    let scaled = steps(&all).into_iter().filter_map(|step| {
        let (_, point) = points.iter().find(|(cores, _)| *cores == step.cores)?;
        Some(ScaledStep {
            point,
            step,
            device: of.device,
            is_open: point.limits().is_median_open,
        })
    });
    Some(Scaling {
        name: of.name,
        device: of.device,
        measure: of.measure()?,
        size: first.size(),
        steps: scaled.collect(),
        closed,
    })
}

/// Returns the rates of a step's repetitions for its first loss goal.
fn repetitions_on((cores, point): &(NonZeroU32, &PointDigest<'_>)) -> CoreRepetitions {
    CoreRepetitions {
        cores: *cores,
        values: point
            .goals
            .first()
            .map(|goal| goal.values.clone())
            .unwrap_or_default(),
    }
}

impl Scaling<'_, '_> {
    /// Returns the fit of each law through the steps whose searches the DUT ended.
    pub(crate) fn fits(&self) -> [Result<Fit, NoFit>; 2] {
        [Law::Amdahl, Law::Universal].map(|law| fit(law, &self.closed))
    }

    /// Returns the cores of the steps excluded from the fits, since something other than the DUT ended their searches.
    pub(crate) fn left_out(&self) -> Vec<NonZeroU32> {
        self.steps
            .iter()
            .filter(|step| step.is_open)
            .map(|step| step.step.cores)
            .collect()
    }

    /// Returns the rate per core with the fewest cores, which is the slope of the ideal line.
    pub(crate) fn per_core(&self) -> f64 {
        self.steps.first().map_or(0.0, |first| {
            first.step.summary.median / f64::from(first.step.cores.get())
        })
    }

    /// Returns the bound of the ratio of the step at this index to the one before.
    pub(crate) fn bound_of_proportion(&self, place: usize) -> Bound {
        Bound::of_ratio(
            self.steps[place].is_open,
            place
                .checked_sub(1)
                .is_some_and(|before| self.steps[before].is_open),
        )
    }

    /// Returns the bound of a step's speed-up and efficiency, which are both ratios to the first step if that has one core.
    pub(crate) fn bound_to_first(&self, place: usize) -> Bound {
        if place == 0 {
            return Bound::Exact;
        }
        Bound::of_ratio(self.steps[place].is_open, self.steps[0].is_open)
    }
}

impl ScaledStep<'_, '_> {
    pub(crate) fn idleness(&self, digest: &Digest) -> Vec<Idleness> {
        idleness(
            &digest.trials_at_rate(self.point),
            digest.dut_title(self.point.test),
        )
    }

    /// Returns which of several devices limits the chain; `None` if fewer than two devices were watched.
    pub(crate) fn chain(&self) -> Option<Chain> {
        weakest(&self.point.found_trials(self.point.first_goal()))
    }
}
