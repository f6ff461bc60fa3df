//! Frame loss rate over the input rate: the graph of RFC 2544 section 26.3, whose axes must run from 0 to 100 %.

use super::table::base;
use crate::digest::{Digest, PointDigest, sizes};
use crate::plot::figure::{Figure, VALUES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred};
use crate::wording::numbers::{grouped, percentage, title};
use kuva::prelude::Plot;
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_stats::Summary;

const WHOLE: Axis = Axis {
    end: 100.0,
    step: 20.0,
};

pub(super) fn figure(digest: &Digest) -> Figure {
    let tests = digest
        .input
        .plan
        .tests
        .iter()
        .enumerate()
        .filter(|(_, t)| scanned(digest).any(|p| p.test.name == t.name));
    Figure {
        id: "loss-rate".into(),
        title: "Loss over the input rate".into(),
        caption: format!(
            "The input rate is in per cent of {}; the second graph of each size shows the same data, scaled to the measured \
             range. Medians of the worse direction, with bars from the smallest to the largest repetition.",
            base(digest)
        ),
        keys: tests.map(|(i, test)| style::key(i, title(test))).collect(),
        panels: sizes(scanned(digest))
            .into_iter()
            .flat_map(|size| [whole(digest, size), zoomed(digest, size)])
            .collect(),
        data: VALUES,
        ..Figure::default()
    }
}

fn scanned<'d, 'a>(digest: &'d Digest<'a>) -> impl Iterator<Item = &'d PointDigest<'a>> {
    digest.points.iter().filter(|p| !p.losses().is_empty())
}

fn whole(digest: &Digest, size: FrameSize) -> Panel {
    let full = digest.full_rate(size).0 as f64;
    let plots = all_series(digest, size, 100.0 / full);
    let x = match digest.input.plan.link_rate {
        Some(_) => "input rate (% of the theoretical rate)",
        None => "input rate (% of the plan's highest)",
    };
    let layout = style::panel(&plots, &format!("{size}\u{a0}bytes"), x, "frame loss (%)");
    style::draw(plots, style::from_zero(layout, WHOLE, WHOLE))
}

fn zoomed(digest: &Digest, size: FrameSize) -> Panel {
    let plots = all_series(digest, size, 1.0);
    let losses = || {
        scanned(digest)
            .filter(|p| p.point.frame_size == size)
            .flat_map(|p| p.losses())
    };
    let rate = losses().map(|(rate, _)| rate.0 as f64).fold(1.0, f64::max);
    let loss = losses().map(|(_, s)| s.max).fold(0.0, f64::max);
    let layout = style::panel(
        &plots,
        &format!("{size}\u{a0}bytes, as measured"),
        "input rate (frames/s per direction)",
        "frame loss (%)",
    );
    let y = Axis::up_to(if loss > 0.0 { loss } else { 1.0 }, 5.0);
    let y = if y.end > 100.0 { WHOLE } else { y };
    style::draw(
        plots,
        style::from_zero(layout, Axis::up_to(rate, 5.0), y)
            .with_y_tick_format(style::plain_numbers()),
    )
}

fn all_series(digest: &Digest, size: FrameSize, scale: f64) -> Vec<Plot> {
    scanned(digest)
        .filter(|p| p.point.frame_size == size)
        .flat_map(|p| series(digest.place(p.test), p, scale))
        .collect()
}

fn series(i: usize, point: &PointDigest, scale: f64) -> [Plot; 2] {
    let dot = |(FrameRate(rate), s): (FrameRate, Summary)| {
        let loss = [s.median, s.min, s.max].map(percentage);
        let label = format!(
            "{}: {} frames/s, {} % [{}–{}], n = {}",
            title(point.test),
            grouped(rate as f64),
            loss[0],
            loss[1],
            loss[2],
            s.n
        );
        Barred::new(
            rate as f64 * scale,
            s.median,
            AxisEnds::new(s.min, s.max),
            label,
        )
    };
    style::joined(i, point.losses().into_iter().map(dot).collect())
}
