//! When, within a trial, frames were lost: a steady trickle is overload, one spike is an accident.

use super::directions::{self, noun};
use super::figure::Figure;
use super::panel::Panel;
use super::style::{self, Axis};
use crate::digest::{Digest, PointDigest};
use crate::numbers::{grouped, load, percent};
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{DirectionResult, LOSS_BIN_NS};

pub(crate) fn figure(digest: &Digest) -> Figure {
    let trials = digest.points.iter().filter_map(|p| Some((p, p.losing_trial(p.first_goal()).filter(|r| is_long(r))?)));
    let trials: Vec<_> = trials.collect();
    let opens = trials.iter().any(|(_, r)| r.result.spec.kind.connections().is_some());
    let phases = " When connections are opened, one direction is phase 1 and the other is the validation, each counted from its own first frame.";
    Figure {
        id: "loss",
        title: "Loss within the trial",
        caption: format!(
            "{} per 100 ms, by the time at which they were due to be sent, in the losing trial at the lowest load of each \
             point; for recovery and reset, in the trial itself. An even level is overload; a single spike is one event on the \
             machine.{}",
            match digest.has_queries_and_others() {
                (true, false) => "Queries not answered correctly in time",
                (true, true) => "Frames not received, or queries not answered correctly in time,",
                (false, _) => "Frames not received",
            },
            if opens { phases } else { "" }
        ),
        keys: directions::keys(trials.iter().map(|(_, r)| *r)),
        panels: trials.into_iter().map(|(p, r)| panel(p, r)).collect(),
        ..Figure::default()
    }
}

/// Connections may be opened so fast that there is nothing to see in time.
fn is_long(record: &TrialRecord) -> bool {
    let bins = record.result.directions.iter().map(|d| d.lost_by_bin.len()).max().unwrap_or(0);
    record.result.spec.kind.connections().is_none() || bins > 2
}

fn panel(point: &PointDigest, record: &TrialRecord) -> Panel {
    let result = &record.result;
    let plots: Vec<Plot> = result.directions.iter().map(series).collect();
    let bins = result.directions.iter().map(|d| d.lost_by_bin.len()).max().unwrap_or(0);
    let highest = result.directions.iter().flat_map(|d| &d.lost_by_bin).max().copied().unwrap_or(0);
    let title = style::point_title(point);
    let layout = style::panel(&plots, &title, "time within the trial (s)", &format!("{} per 100 ms", noun(record)));
    let note = format!(
        "at {}: {} {}, {}",
        load(&result.spec),
        grouped(result.not_received() as f64),
        noun(record),
        percent(result.loss_ratio().0)
    );
    let (x, y) = (Axis::ending(bin_start(bins), 6.0), Axis::up_to(highest as f64, 4.0));
    style::draw(plots, style::with_note(style::from_zero(layout, x, y), &note))
}

fn bin_start(bin: usize) -> f64 {
    bin as f64 * LOSS_BIN_NS as f64 / 1e9
}

/// A staircase with a corner at both ends of each bin.
fn series(direction: &DirectionResult) -> Plot {
    let bins = direction.lost_by_bin.iter().enumerate();
    let corners = bins.flat_map(|(i, &lost)| [(bin_start(i), lost as f64), (bin_start(i + 1), lost as f64)]);
    directions::line(direction.direction, corners.collect())
}
