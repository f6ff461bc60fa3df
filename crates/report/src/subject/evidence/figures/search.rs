//! The search trace: how each result was found, trial by trial.

use crate::digest::{Digest, PointDigest};
use crate::plot::figure::Figure;
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis};
use crate::wording::numbers::{rate_unit, short_bound};
use kuva::prelude::Plot;
use sixbench_method::record::{TrialRecord, by_repetition};
use std::collections::BTreeMap;

pub(super) fn figure(digest: &Digest) -> Figure {
    let tried: Vec<&PointDigest> = digest
        .searched_points()
        .filter(|p| !p.records.is_empty())
        .collect();
    let room = (MOST_IN_FIGURE / tried.len().max(1)).min(MOST_MARKS);
    Figure {
        id: "search".into(),
        title: "The search, trial by trial".into(),
        caption: format!(
            "The intended load of every trial of {}; a thin line joins the trials of one repetition, the \
             dashed line is the median of the results. A result can be trusted if one load separates passed and lost \
             trials cleanly.",
            if tried.iter().any(|point| point.records.len() > room) {
                format!(
                    "every repetition, or of a point with more than {room} trials of repetitions evenly spread over the run"
                )
            } else {
                "every repetition".to_owned()
            }
        ),
        keys: style::verdict_keys(digest),
        panels: tried.iter().map(|p| panel(digest, p, room)).collect(),
        ..Figure::default()
    }
}

fn panel(digest: &Digest, point: &PointDigest, room: usize) -> Panel {
    let searches = drawn(point, room);
    let trials = || {
        point
            .records
            .iter()
            .copied()
            .filter(|r| searches.contains_key(&r.repetition))
    };
    let mut plots: Vec<Plot> = searches.values().map(|search| path(search)).collect();
    plots.extend(style::trials(
        digest,
        trials().map(|r| (place(r), r)),
        style::trial_label,
    ));
    let rates = || trials().map(|r| r.result.spec.rate.0 as f64);
    let (lowest, highest) = (
        rates().fold(f64::MAX, f64::min),
        rates().fold(1.0, f64::max),
    );
    let longest = trials().map(|r| r.trial).max().unwrap_or(1);
    let layout = style::panel(
        &plots,
        &style::point_title(point),
        "trial of the search",
        &axis(point),
    );
    // Logarithmic, since a search starts far from where it ends.
    let layout = style::log_y(
        style::x_from_zero(layout, Axis::counting(longest.into(), 10.0)),
        style::around(lowest, highest),
    );
    let layout = match point.headline() {
        Some(s) => style::with_note(
            layout,
            &format!(
                "median {}{}, n = {}",
                point.sign(),
                short_bound(s.median, point.limits().bound()),
                s.n
            ),
        )
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

/// The most trials of a point that are drawn individually: the 20 repetitions of RFC 8219 have a few hundred.
const MOST_MARKS: usize = 1_000;

/// The same limit for all points together: with more, the page would be slow to open.
const MOST_IN_FIGURE: usize = 30_000;

/// Returns the trials of the repetitions that are drawn: all of them, or as many as fit into `room` trials, evenly spread over the run.
fn drawn<'a>(point: &PointDigest<'a>, room: usize) -> BTreeMap<u32, Vec<&'a TrialRecord>> {
    let all = by_repetition(&point.records);
    let room = (room * all.len())
        .checked_div(point.records.len())
        .unwrap_or(0)
        .max(1);
    let step = all.len().div_ceil(room).max(1);
    all.into_iter().step_by(step).collect()
}

/// Returns a thin line through the trials of a repetition.
fn path(trials: &[&TrialRecord]) -> Plot {
    style::line(
        trials.iter().map(|r| place(r)).collect(),
        style::THREAD,
        1.0,
    )
}
