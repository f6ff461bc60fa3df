//! Loss over the frame timeout: one trial shows the loss that any timeout would have resulted in.

use super::panels_of_size;
use crate::digest::{Digest, PointDigest, kinds};
use crate::plot::figure::Figure;
use crate::plot::panel::Panel;
use crate::plot::style::{self, AxisEnds};
use crate::wording::numbers::{load, seconds, short_ms, title};
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::FrameSize;
use sixbench_method::trial::{DirectionResult, TrialResult};
use std::collections::BTreeSet;

/// The smallest loss that is drawn, per cent: one frame in a million.
const FLOOR: f64 = 1e-4;
/// The number of points of a line: more would exceed the resolution of a panel.
const PLACES: i32 = 160;

pub(super) fn figure(digest: &Digest) -> Figure {
    let shown: BTreeSet<&str> = trials(digest).map(|(p, _)| p.test.name.as_str()).collect();
    let tests = digest
        .input
        .plan
        .tests
        .iter()
        .enumerate()
        .filter(|(_, test)| shown.contains(test.name.as_str()));
    Figure {
        id: "timeout".into(),
        title: "Loss against the timeout".into(),
        caption: "The loss that the same trial would have had with another timeout, in the worse direction; both axes are \
                  logarithmic. A line that leaves the panel at the bottom has no loss from there on. A line that ends level \
                  shows frames that no timeout would recover. The trials are those of the distributions above."
            .to_owned(),
        keys: tests.map(|(i, test)| style::key(i, title(test))).collect(),
        panels: kinds(trials(digest).map(|(p, _)| p)).into_iter().flat_map(|kind| panels(digest, kind)).collect(),
        ..Figure::default()
    }
}

fn trials<'d, 'a>(
    digest: &'d Digest<'a>,
) -> impl Iterator<Item = (&'d PointDigest<'a>, &'a TrialRecord)> {
    digest
        .points
        .iter()
        .filter_map(|p| p.delay_trial(p.first_goal()).map(|r| (p, r)))
}

fn panels(digest: &Digest, kind: Option<FrameSize>) -> Vec<Panel> {
    let trials: Vec<_> = trials(digest).collect();
    panels_of_size(kind, &trials, |title, trials| panel(digest, title, trials))
}

fn panel(digest: &Digest, title: &str, trials: &[(&PointDigest, &TrialRecord)]) -> Panel {
    let delays = || {
        trials
            .iter()
            .flat_map(|(_, r)| &r.result.directions)
            .flat_map(|d| &d.delays)
            .map(|b| b.up_to_ns as f64 / 1e6)
    };
    let timeouts = timeouts(digest, trials);
    let longest = timeouts
        .iter()
        .map(|&ns| ns as f64 / 1e6)
        .fold(delays().fold(0.0, f64::max), f64::max);
    let ends = style::decades(delays().fold(f64::MAX, f64::min), longest * 1.5);
    let plots: Vec<Plot> = trials
        .iter()
        .flat_map(|(p, r)| series(digest.place(p.test), p, &r.result, ends))
        .collect();
    let layout = style::panel(&plots, title, &format!("{} (ms)", word(trials)), "loss (%)");
    let layout = style::log_y(style::log_x(layout, ends), AxisEnds::new(FLOOR, 100.0))
        .with_y_tick_format(style::plain_numbers());
    let layout = timeouts.iter().fold(layout, |layout, &ns| {
        layout.with_reference_line(style::upright(ns as f64 / 1e6))
    });
    style::draw(
        plots,
        if timeouts.is_empty() {
            layout
        } else {
            style::with_note(layout, &note(word(trials), &timeouts))
        },
    )
}

/// Returns the timeouts that were set for these trials, nanoseconds.
fn timeouts(digest: &Digest, trials: &[(&PointDigest, &TrialRecord)]) -> BTreeSet<u64> {
    let set = trials.iter().map(|(p, _)| p.timeout_ns(digest.input.plan));
    set.filter(|&ns| ns > 0).collect()
}

/// Returns the word for the timeout in a panel, which is either of frames or of queries.
fn word(trials: &[(&PointDigest, &TrialRecord)]) -> &'static str {
    let is_of_queries = trials
        .iter()
        .any(|(p, _)| p.test.measure.family().is_answered());
    if is_of_queries {
        "timeout"
    } else {
        "frame timeout"
    }
}

fn note(word: &str, timeouts: &BTreeSet<u64>) -> String {
    let timeout = |&ns: &u64| {
        if ns < 1_000_000_000 {
            short_ms(ns as f64)
        } else {
            seconds(ns)
        }
    };
    format!(
        "dashed: the {word}, {}",
        timeouts.iter().map(timeout).collect::<Vec<_>>().join(", ")
    )
}

fn series(i: usize, point: &PointDigest, result: &TrialResult, ends: AxisEnds) -> Vec<Plot> {
    let line = losses(result, ends);
    let Some(&last) = line.last() else {
        return Vec::new();
    };
    let label = format!(
        "{}, {} at {}",
        title(point.test),
        point.test.measure.name(),
        load(&result.spec)
    );
    vec![
        style::line(line, style::color(i), 1.5),
        style::dots(vec![last], style::color(i), style::marker(i), vec![label]),
    ]
}

/// Returns timeouts in milliseconds with losses in per cent, up to the timeout at which nothing is lost any more.
fn losses(result: &TrialResult, timeouts: AxisEnds) -> Vec<(f64, f64)> {
    let AxisEnds { low, high } = timeouts;
    let place = |i| low * (high / low).powf(f64::from(i) / f64::from(PLACES));
    // A direction without recorded delays says nothing about timeouts; one that received nothing lost everything at any timeout.
    let is_known = |d: &&DirectionResult| !d.delays.is_empty() || d.received == 0;
    let loss = |timeout: f64| {
        let ns = (timeout * 1e6).round() as u64;
        result
            .directions
            .iter()
            .filter(is_known)
            .map(|d| d.loss_ratio_at(ns).0 * 100.0)
            .fold(0.0, f64::max)
    };
    let all = (0..=PLACES)
        .map(place)
        .map(|timeout| (timeout, loss(timeout)));
    let mut line = Vec::new();
    for (timeout, loss) in all {
        line.push((timeout, loss.max(FLOOR)));
        if loss <= FLOOR {
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::{Direction, FrameRate};
    use sixbench_method::trial::{Bucket, TrialSpec};

    fn result(offered: u64) -> TrialResult {
        let delays = [(100_000, 900), (5_000_000, 100)]
            .map(Bucket::from)
            .to_vec();
        let mut direction = DirectionResult::counted(Direction::Forward, offered, 1000);
        direction.delays = delays;
        TrialResult::new(
            TrialSpec::constant(FrameRate(1000), 1_000_000_000),
            vec![direction],
            vec![],
        )
    }

    #[test]
    fn a_longer_timeout_never_loses_more() {
        let line = losses(&result(1000), AxisEnds::new(0.01, 100.0));
        assert!(line.windows(2).all(|pair| pair[0].1 >= pair[1].1));
        assert_eq!((line[0].1, line[line.len() - 1].1), (100.0, FLOOR));
        assert!(
            line.iter()
                .any(|&(timeout, loss)| timeout > 0.2 && timeout < 4.0 && loss == 10.0)
        );
    }

    #[test]
    fn what_never_came_is_lost_at_every_timeout() {
        let line = losses(&result(2000), AxisEnds::new(0.01, 100.0));
        assert_eq!(line[line.len() - 1], (100.0, 50.0));
    }
}
