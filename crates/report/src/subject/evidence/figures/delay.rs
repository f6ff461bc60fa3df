//! The distribution of delays with a logarithmic tail, which shows what a 99.9th percentile hides.

use super::directions::{self, noun};
use super::panels_of_size;
use crate::digest::{Digest, PointDigest, kinds};
use crate::plot::figure::Figure;
use crate::plot::panel::Panel;
use crate::plot::style::{self, AxisEnds};
use crate::wording::numbers::{load, title};
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{Bucket, DirectionResult};

/// The smallest share that is drawn: one frame in a million.
const FLOOR: f64 = 1e-6;

pub(super) fn figure(digest: &Digest) -> Figure {
    let trials: Vec<_> = digest
        .points
        .iter()
        .filter_map(|p| Some((p, p.delay_trial(p.first_goal())?)))
        .collect();
    let delays = || {
        trials
            .iter()
            .flat_map(|(_, r)| measured(r))
            .flat_map(|d| &d.delays)
            .map(|b| b.up_to_ns as f64 / 1e6)
    };
    let ends = style::decades(
        delays().fold(f64::MAX, f64::min),
        delays().fold(0.0, f64::max),
    );
    let sizes = kinds(trials.iter().map(|(point, _)| *point)).into_iter();
    Figure {
        id: "delay".into(),
        title: "Distribution of delays".into(),
        caption: caption(digest),
        keys: directions::keys(digest, &trials),
        panels: sizes
            .flat_map(|size| {
                panels_of_size(size, &trials, |title, trials| {
                    panel(digest, title, trials, ends)
                })
            })
            .collect(),
        ..Figure::default()
    }
}

fn caption(digest: &Digest) -> String {
    let (frames, trials) = match digest.has_queries_and_others() {
        (true, false) => (
            "correctly answered queries",
            "the passing trial at the highest rate, including late answers",
        ),
        (true, true) => (
            "received frames, or of the correctly answered queries,",
            "for delay measurements, the trial of the repetition nearest the median; for throughput and queries, the passing trial at the highest load",
        ),
        (false, _) => (
            "received frames",
            "for delay measurements, the trial of the repetition nearest the median; for throughput, the passing trial at the highest load",
        ),
    };
    format!(
        "The share of the {frames} whose delay is larger than the value on the horizontal axis; both axes are logarithmic. The \
         99.9th percentile is where a line crosses 10⁻³. One trial for each point: {trials}.{}",
        replies(digest)
    )
}

/// Returns a sentence on values that are not one-way delays, if there are any.
fn replies(digest: &Digest) -> &'static str {
    match digest.points_of(|m| m.family().has_replies()).next() {
        Some(_) => {
            " For response-time, the reverse direction shows the response time: there and back."
        }
        None => "",
    }
}

/// Returns a panel, whose axes are those of all panels.
fn panel(
    digest: &Digest,
    title: &str,
    trials: &[(&PointDigest, &TrialRecord)],
    ends: AxisEnds,
) -> Panel {
    let plots: Vec<Plot> = trials
        .iter()
        .flat_map(|(point, record)| series(digest.place(point.test), point, record))
        .collect();
    let noun = trials.first().map_or("frames", |(_, record)| noun(record));
    let layout = style::panel(
        &plots,
        title,
        "delay (ms)",
        &format!("share of {noun} with more"),
    );
    style::draw(
        plots,
        style::log_y(style::log_x(layout, ends), AxisEnds::new(FLOOR, 1.0))
            .with_y_tick_format(style::powers()),
    )
}

fn measured(record: &TrialRecord) -> impl Iterator<Item = &DirectionResult> {
    record
        .result
        .directions
        .iter()
        .filter(|direction| !direction.delays.is_empty())
}

/// Returns the lines of a trial. The dot at the point where a line falls to the floor shows its load as a tooltip.
fn series(i: usize, point: &PointDigest, record: &TrialRecord) -> Vec<Plot> {
    let tail_plots = |direction: &DirectionResult| {
        let tail = tail(&direction.delays);
        let label = format!(
            "{}, {} at {}",
            title(point.test),
            point.test.measure.name(),
            load(&record.result.spec)
        );
        let dots = tail
            .last()
            .map(|&last| style::dots(vec![last], style::color(i), style::marker(i), vec![label]));
        std::iter::once(directions::line(i, direction.direction, tail))
            .chain(dots)
            .collect::<Vec<_>>()
    };
    measured(record).flat_map(tail_plots).collect()
}

/// Returns the complementary distribution as a staircase: delay in milliseconds, and the share of frames with a longer delay. Beyond the longest delay
/// the share is zero, drawn as a fall to the floor.
fn tail(buckets: &[Bucket]) -> Vec<(f64, f64)> {
    let all: u64 = buckets.iter().map(|bucket| bucket.frames).sum();
    let mut larger = all;
    let mut corners = Vec::with_capacity(2 * buckets.len());
    for bucket in buckets {
        let (delay, before) = (bucket.up_to_ns.max(1) as f64 / 1e6, share(larger, all));
        larger -= bucket.frames;
        corners.extend([(delay, before), (delay, share(larger, all))]);
        // Anything below the floor would be outside the panel.
        if share(larger, all) <= FLOOR {
            break;
        }
    }
    corners
}

fn share(frames: u64, of: u64) -> f64 {
    (frames as f64 / of.max(1) as f64).max(FLOOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_never_rises_and_ends_at_the_floor() {
        let buckets = [(10_000, 900), (20_000, 90), (50_000, 9), (900_000, 1)].map(Bucket::from);
        let tail = tail(&buckets);
        assert!(
            tail.windows(2)
                .all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1),
            "{tail:?}"
        );
        assert_eq!(tail[0], (0.01, 1.0));
        assert_eq!(tail[tail.len() - 1], (0.9, FLOOR));
    }

    #[test]
    fn the_99_9th_percentile_is_where_the_tail_falls_to_a_thousandth() {
        let tail = tail(&[(10_000, 999), (70_000, 1)].map(Bucket::from));
        assert!(tail.contains(&(0.01, 0.001)), "{tail:?}");
    }
}
