//! The times within a trial at which frames were lost: a steady loss is overload, a single spike is an accident.

use super::directions::{self, noun};
use super::panels_of_size;
use crate::digest::{Digest, PointDigest, kinds};
use crate::plot::figure::Figure;
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds};
use crate::wording::numbers::{grouped, load, percent, title};
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{DirectionResult, LOSS_BIN_NS};

/// Intervals without loss are drawn this many times below the smallest loss, because a logarithmic axis has no zero.
const BELOW: f64 = 10.0;

pub(super) fn figure(digest: &Digest) -> Figure {
    let trials = digest
        .points
        .iter()
        .filter_map(|p| Some((p, p.losing_trial(p.first_goal()).filter(|r| is_long(r))?)));
    let trials: Vec<_> = trials.collect();
    let losses = || {
        trials
            .iter()
            .flat_map(|(_, r)| r.result.directions.iter().flat_map(|d| shares(r, d)))
            .filter(|s| *s > 0.0)
    };
    let loss = style::decades(
        losses().fold(100.0, f64::min) / BELOW,
        losses().fold(0.0, f64::max),
    );
    let bins = trials
        .iter()
        .flat_map(|(_, r)| &r.result.directions)
        .map(|d| d.lost_by_bin.len())
        .max()
        .unwrap_or(0);
    let axes = LossAxes {
        time: Axis::ending(bin_start(bins), 6.0),
        loss,
    };
    let sizes = kinds(trials.iter().map(|(point, _)| *point)).into_iter();
    Figure {
        id: "loss".into(),
        title: "Loss within the trial".into(),
        caption: caption(digest, &trials),
        keys: directions::keys(digest, &trials),
        panels: sizes
            .flat_map(|size| {
                panels_of_size(size, &trials, |title, trials| {
                    panel(digest, title, trials, axes)
                })
            })
            .collect(),
        ..Figure::default()
    }
}

fn caption(digest: &Digest, trials: &[(&PointDigest, &TrialRecord)]) -> String {
    let opens = trials
        .iter()
        .any(|(_, r)| r.result.spec.kind.connections().is_some());
    let phases = " When connections are opened, one direction is phase 1 and the other is the validation, each counted from its own first frame.";
    format!(
        "{} in each 100 ms, in per cent of those that the load would send in that time, by the time at which they were due to be sent; a line at the \
         lower edge has no loss. It is the losing trial at the lowest load of each point; for recovery and reset, the trial itself. An even level \
         is overload; a single spike is one event on the machine.{}",
        match digest.has_queries_and_others() {
            (true, false) => "Queries not answered correctly in time",
            (true, true) => "Frames not received, or queries not answered correctly in time,",
            (false, _) => "Frames not received",
        },
        if opens { phases } else { "" }
    )
}

/// Returns whether a trial is long enough. Connections may be opened so fast that nothing can be seen over time.
fn is_long(record: &TrialRecord) -> bool {
    let bins = record
        .result
        .directions
        .iter()
        .map(|d| d.lost_by_bin.len())
        .max()
        .unwrap_or(0);
    record.result.spec.kind.connections().is_none() || bins > 2
}

/// Both axes of every panel.
#[derive(Clone, Copy)]
struct LossAxes {
    /// Time, from zero.
    time: Axis,
    /// Loss, per cent.
    loss: AxisEnds,
}

/// Returns a panel, whose axes are those of all panels.
fn panel(
    digest: &Digest,
    title: &str,
    trials: &[(&PointDigest, &TrialRecord)],
    axes: LossAxes,
) -> Panel {
    let plots: Vec<Plot> = trials
        .iter()
        .flat_map(|(p, r)| series(digest.place(p.test), p, r, axes.loss.low))
        .collect();
    let noun = trials.first().map_or("frames", |(_, record)| noun(record));
    let layout = style::panel(
        &plots,
        title,
        "time within the trial (s)",
        &format!("{noun} lost per 100 ms (%)"),
    );
    style::draw(
        plots,
        style::log_y(style::x_from_zero(layout, axes.time), axes.loss)
            .with_y_tick_format(style::plain_numbers()),
    )
}

fn bin_start(bin: usize) -> f64 {
    bin as f64 * LOSS_BIN_NS as f64 / 1e9
}

/// Returns the loss of each bin, in per cent of what the load sends in that time.
fn shares<'r>(
    record: &TrialRecord,
    direction: &'r DirectionResult,
) -> impl Iterator<Item = f64> + use<'r> {
    let due = record.result.spec.rate.0 as f64 * LOSS_BIN_NS as f64 / 1e9;
    direction
        .lost_by_bin
        .iter()
        .map(move |&lost| 100.0 * lost as f64 / due.max(1.0))
}

/// Returns the lines of a trial: staircases with a corner at both ends of each bin. A dot at the end shows the load and the loss as a tooltip.
fn series(i: usize, point: &PointDigest, record: &TrialRecord, floor: f64) -> Vec<Plot> {
    let result = &record.result;
    let lost = format!(
        "{} {} not received, {}",
        grouped(result.not_received() as f64),
        noun(record),
        percent(result.loss_ratio().0)
    );
    let label = format!("{} at {}: {lost}", title(point.test), load(&result.spec));
    let direction_plots = |direction: &DirectionResult| {
        let bins = shares(record, direction)
            .map(|share| share.max(floor))
            .enumerate();
        let corners: Vec<_> = bins
            .flat_map(|(i, share)| [(bin_start(i), share), (bin_start(i + 1), share)])
            .collect();
        let dots = corners.last().map(|&last| {
            style::dots(
                vec![last],
                style::color(i),
                style::marker(i),
                vec![label.clone()],
            )
        });
        std::iter::once(directions::line(i, direction.direction, corners))
            .chain(dots)
            .collect::<Vec<_>>()
    };
    result.directions.iter().flat_map(direction_plots).collect()
}
