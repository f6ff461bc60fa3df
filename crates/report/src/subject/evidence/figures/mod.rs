//! The figures of the evidence behind the results.

mod delay;
mod directions;
mod headroom;
mod loss;
mod processor;
mod repetitions;
mod search;
mod timeout;

use crate::digest::{Digest, PointDigest};
use crate::plot::Figure;
use crate::plot::panel::Panel;
use crate::plot::style;
use crate::wording::numbers::frames;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::FrameSize;

/// Returns the figures in the order of the report.
pub(super) fn figures(digest: &Digest) -> Vec<Figure> {
    vec![
        repetitions::figure(digest),
        search::figure(digest),
        delay::figure(digest),
        timeout::figure(digest),
        loss::figure(digest),
        headroom::figure(digest),
        processor::figure(digest),
    ]
}

/// A trial that is drawn, and its point.
type DrawnTrial<'t, 'd> = (&'t PointDigest<'d>, &'t TrialRecord);

/// Returns the panels of a frame size, which overlay all tests; `panel` makes one of its title and its trials.
fn panels_of_size(
    size: Option<FrameSize>,
    trials: &[DrawnTrial<'_, '_>],
    panel: impl Fn(&str, &[DrawnTrial<'_, '_>]) -> Panel,
) -> Vec<Panel> {
    let trials: Vec<_> = trials
        .iter()
        .copied()
        .filter(|(point, _)| point.size() == size)
        .collect();
    style::shared_out(&trials, style::LOOKS)
        .map(|(part, trials)| panel(&format!("{}{part}", frames(size)), trials))
        .collect()
}
