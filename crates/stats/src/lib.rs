//! Statistics of repeated measurements: of one sample, of two, and of the order in which values were measured. Every number is reported with its
//! sample size. Nothing here knows what was measured.
#![forbid(unsafe_code)]

mod censored;
mod change;
#[cfg(test)]
mod coverage_tests;
mod dependence;
mod drift;
mod holm;
mod inversions;
mod modes;
mod random;
mod ranks;
mod shift;
mod slope;
mod summary;
mod trend;

pub use censored::{Censored, CensoredTest, CensoredValue, OpenStatistics};
pub use change::{ChangePoint, SeriesLevel, change_points, fewest_values};
pub use dependence::{Autocorrelation, autocorrelation, inflation, median_interval_95_in_order};
pub use drift::{Drift, drift};
pub use holm::holm;
pub use modes::{Mode, TwoModes, modes};
pub use random::{MIX_STEP, SplitMix64, mix, unmix};
pub use ranks::{ComparisonTerms, RankTest, least_p, open_ratios, rank_test};
pub use shift::{LEVEL, Shift, is_significant, shift, shift_rank};
pub use slope::slope_within;
pub use summary::{Summary, median, median_interval_95, percentile};
pub use trend::{Slope, trend};

fn sort(sample: &[f64]) -> Vec<f64> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
