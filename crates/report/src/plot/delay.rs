//! The distribution of delays on a log tail: what a 99.9th percentile hides.

use super::directions::{self, noun};
use super::figure::Figure;
use super::panel::Panel;
use super::style;
use crate::digest::{Digest, PointDigest};
use crate::numbers::load;
use kuva::prelude::Plot;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{Bucket, DirectionResult};

/// The smallest share that is drawn: one frame in a million.
const FLOOR: f64 = 1e-6;

pub(super) fn figure(digest: &Digest) -> Figure {
    let trials: Vec<_> = digest.points.iter().filter_map(|p| Some((p, p.delay_trial(p.first_goal())?))).collect();
    Figure {
        id: "delay",
        title: "Distribution of delays",
        caption: caption(digest),
        keys: directions::keys(trials.iter().map(|(_, r)| *r)),
        panels: trials.into_iter().map(|(p, r)| panel(p, r)).collect(),
        ..Figure::default()
    }
}

fn caption(digest: &Digest) -> String {
    let (frames, trials) = match digest.has_queries_and_others() {
        (true, false) => ("correctly answered queries", "the passing trial at the highest rate, including late answers"),
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

/// Returns a sentence that says which values are not a delay of one way, if there are such.
fn replies(digest: &Digest) -> &'static str {
    match digest.points_of(|m| m.response_time().is_some()).next() {
        Some(_) => " For response-time, the reverse direction shows the response time: there and back.",
        None => "",
    }
}

fn panel(point: &PointDigest, record: &TrialRecord) -> Panel {
    let measured = || record.result.directions.iter().filter(|d| !d.delays.is_empty());
    let plots: Vec<Plot> = measured().map(series).collect();
    let delays = || measured().flat_map(|d| &d.delays).map(|bucket| bucket.up_to_ns as f64 / 1e6);
    let ends = style::decades(delays().fold(f64::MAX, f64::min), delays().fold(0.0, f64::max));
    let layout =
        style::panel(&plots, &style::point_title(point), "delay (ms)", &format!("share of {} with more", noun(record)));
    let layout = style::log_y(style::log_x(layout, ends), (FLOOR, 1.0)).with_y_tick_format(style::powers());
    let note = format!("{} at {}", point.test.measure.name(), load(&record.result.spec));
    style::draw(plots, style::with_note(layout, &note))
}

fn series(direction: &DirectionResult) -> Plot {
    directions::line(direction.direction, tail(&direction.delays))
}

/// The complementary distribution as a staircase: delay in milliseconds, share of frames with a larger one. Past the largest delay
/// there is none, which is drawn as a fall to the floor.
fn tail(buckets: &[Bucket]) -> Vec<(f64, f64)> {
    let all: u64 = buckets.iter().map(|bucket| bucket.frames).sum();
    let mut larger = all;
    let mut corners = Vec::with_capacity(2 * buckets.len());
    for bucket in buckets {
        let (delay, before) = (bucket.up_to_ns.max(1) as f64 / 1e6, share(larger, all));
        larger -= bucket.frames;
        corners.extend([(delay, before), (delay, share(larger, all))]);
        // What is below the floor is the frame of the panel.
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
        assert!(tail.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1), "{tail:?}");
        assert_eq!(tail[0], (0.01, 1.0));
        assert_eq!(tail[tail.len() - 1], (0.9, FLOOR));
    }

    #[test]
    fn the_99_9th_percentile_is_where_the_tail_falls_to_a_thousandth() {
        let tail = tail(&[(10_000, 999), (70_000, 1)].map(Bucket::from));
        assert!(tail.contains(&(0.01, 0.001)), "{tail:?}");
    }
}
