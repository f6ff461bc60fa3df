//! The entries of the DUT's connection tracking table over a trial, which show whether phase 1 was complete and whether phase 2 left it unchanged.

use crate::digest::{Digest, PointDigest};
use crate::plot::figure::Figure;
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, LegendEntry};
use crate::wording::numbers::{load, short, three_digits, whole};
use sixbench_method::record::{TrialRecord, Watch};

pub(super) fn figure(digest: &Digest) -> Figure {
    let shown = |p: &PointDigest| {
        let record: &TrialRecord = p.trial_over_time(p.first_goal())?;
        Some(panel(p, record, record.watch.as_deref()?))
    };
    Figure {
        id: "connections".into(),
        title: "Connections over time".into(),
        caption:
            "Entries of the device's connection tracking table, for its whole namespace, in the passing trial at the highest \
                  load of each test; for the capacity of a table, in the trial with the most connections. They rise in phase 1 \
                  and stay level afterwards: a line that falls before the end shows connections lost to a timeout or a full \
                  table, except for a tear-down, which deletes them."
                .to_owned(),
        keys: vec![
            LegendEntry::new("▬", style::color(0), "entries"),
            LegendEntry::new("╌╌", style::MUTED, "N, the connections of phase 1"),
        ],
        panels: digest.points.iter().filter_map(shown).collect(),
        ..Figure::default()
    }
}

fn panel(point: &PointDigest, record: &TrialRecord, watch: &Watch) -> Panel {
    let opened = record
        .result
        .spec
        .opens()
        .map_or(0, |phase_one| phase_one.connections);
    let interval = watch.interval_ns as f64 / 1e9;
    let line: Vec<(f64, f64)> = watch
        .connections
        .iter()
        .zip(0u32..)
        .map(|(&entries, i)| (f64::from(i) * interval, entries as f64))
        .collect();
    let end = (line.len() - 1) as f64 * interval;
    let highest = watch.connections.iter().copied().fold(opened, u64::max) as f64;
    let last = line[line.len() - 1];
    let label = format!(
        "{} entries at {} s",
        whole(last.1 as u64),
        three_digits(last.0)
    );
    let plots = vec![
        style::line(line, style::color(0), 1.5),
        style::dots(vec![last], style::color(0), style::marker(0), vec![label]),
    ];
    let layout = style::panel(
        &plots,
        &style::point_title(point),
        "time within the trial (s)",
        "entries",
    );
    let x = Axis {
        end: end * 1.02,
        ..Axis::up_to(end / 1.05, 6.0)
    };
    let layout = style::from_zero(layout, x, Axis::up_to(highest, 5.0))
        .with_reference_line(style::level(opened as f64));
    let phase_one = record.result.spec.phase_one.map_or(String::new(), |o| {
        format!(", opened at {}/s", short(o.rate.0 as f64))
    });
    let note = format!(
        "N = {}{phase_one}; {}",
        short(opened as f64),
        load(&record.result.spec)
    );
    style::draw(plots, style::with_note(layout, &note))
}
