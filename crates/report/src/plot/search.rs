//! The search trace: how each result was come by, trial by trial.

use super::figure::Figure;
use super::panel::Panel;
use super::style::{self, Axis};
use crate::digest::{Digest, PointDigest};
use crate::numbers::{rate_unit, short};
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;

pub(crate) fn figure(digest: &Digest) -> Figure {
    let tried = digest.searched_points().filter(|p| !p.records.is_empty());
    Figure {
        id: "search",
        title: "The search, trial by trial",
        caption: "The intended load of every trial of every repetition; a thin line joins the trials of one repetition, the \
                  dashed line is the median of the results. A result can be trusted if one load separates passed and lost \
                  trials cleanly."
            .to_owned(),
        keys: style::verdict_keys(digest),
        panels: tried.map(|p| panel(digest, p)).collect(),
        ..Figure::default()
    }
}

fn panel(digest: &Digest, point: &PointDigest) -> Panel {
    let mut plots = paths(point);
    plots.extend(style::trials(digest, point.records.iter().map(|&r| (place(r), r)), style::trial_label));
    let rates = || point.records.iter().map(|r| r.result.spec.rate.0 as f64);
    let (lowest, highest) = (rates().fold(f64::MAX, f64::min), rates().fold(1.0, f64::max));
    let longest = point.records.iter().map(|r| r.trial).max().unwrap_or(1);
    let layout = style::panel(&plots, &style::point_title(point), "trial of the search", &axis(point));
    // Logarithmic, since a search begins far from where it ends.
    let layout = style::log_y(style::x_from_zero(layout, Axis::counting(longest.into(), 10.0)), style::around(lowest, highest));
    let layout = match point.headline() {
        Some(s) => style::with_note(layout, &format!("median {}, n = {}", short(s.median), s.n))
            .with_reference_line(style::level(s.median)),
        None => layout,
    };
    style::draw(plots, layout)
}

fn axis(point: &PointDigest) -> String {
    format!("intended load ({})", rate_unit(&point.test.measure))
}

fn place(record: &TrialRecord) -> (f64, f64) {
    (record.trial.into(), record.result.spec.rate.0 as f64)
}

/// One thin line for each repetition.
fn paths(point: &PointDigest) -> Vec<Plot> {
    let repetitions: std::collections::BTreeSet<u32> = point.records.iter().map(|r| r.repetition).collect();
    let path = |repetition| {
        let trials = point.records.iter().filter(|r| r.repetition == repetition);
        style::line(trials.map(|r| place(r)).collect(), style::THREAD, 1.0)
    };
    repetitions.into_iter().map(path).collect()
}
