//! Queries per second over the share of cached names, and over the share of names with AAAA records: the graph of RFC 8219 section 9.2.

use crate::digest::{Digest, PointDigest, QueryConditions, ServerGroup, percentages};
use crate::plot::figure::{Figure, SEARCHES};
use crate::plot::panel::Panel;
use crate::plot::style::{self, Axis, AxisEnds, Barred, LegendEntry};
use crate::wording::numbers::{cut, seconds};
use kuva::prelude::Plot;
use sixbench_method::lists::by_key;
use sixbench_method::plan::{DnsRole, DnsTest};

/// The dimension along the axis; the lines vary in the other one.
#[derive(Clone, Copy, PartialEq)]
enum Axes {
    Cached,
    WithAaaa,
}

/// A line: its name, its look, and its medians.
struct MedianLine {
    name: String,
    look: usize,
    points: Vec<Barred>,
}

pub(super) fn figure(digest: &Digest) -> Figure {
    let groups = digest.server_groups();
    let drawn: Vec<(&ServerGroup, Axes)> = groups
        .iter()
        .filter_map(|group| Some((group, axes(group)?)))
        .collect();
    let fixed = |wanted: Axes| {
        let alike = drawn.iter().filter(move |(_, axes)| *axes == wanted);
        percentages(alike.flat_map(|(group, axes)| others(group, *axes)))
    };
    let (existing, cached) = (fixed(Axes::Cached), fixed(Axes::WithAaaa));
    let legend = |axes: Axes, all: &[u8]| -> Vec<LegendEntry> {
        all.iter()
            .enumerate()
            .map(|(i, percent)| style::key(i, fixed_words(axes, *percent)))
            .collect()
    };
    let panels = drawn.iter().map(|(group, axes)| {
        let looks = if *axes == Axes::Cached {
            &existing
        } else {
            &cached
        };
        let all = others(group, *axes).into_iter().map(|percent| {
            let look = looks
                .iter()
                .position(|known| *known == percent)
                .unwrap_or(0);
            MedianLine {
                name: fixed_words(*axes, percent),
                look,
                points: points(digest, group, *axes, percent, 0.0),
            }
        });
        panel(&cut(&group.title, 44), *axes, all.collect())
    });
    let panels: Vec<Panel> = panels.flatten().collect();
    let bounds = style::bound_keys(&panels);
    Figure {
        id: "dns".into(),
        title: "Queries per second by cached names and names with AAAA records".into(),
        caption: "Medians with bars from the 1st to the 99th percentile, a panel for each server; every line is at one percentage of the \
                  other dimension (RFC 8219 section 9.2)."
            .to_owned(),
        keys: legend(Axes::Cached, &existing).into_iter().chain(legend(Axes::WithAaaa, &cached)).chain(bounds).collect(),
        panels,
        data: SEARCHES,
        ..Figure::default()
    }
}

/// Compares servers, with a panel for each percentage at which at least two of them have a line.
pub(super) fn servers(digest: &Digest) -> Figure {
    let groups: Vec<ServerGroup> = digest.server_groups();
    let alike = alike(&groups);
    let panels = alike.iter().flat_map(|((conditions, axes), groups)| {
        let fixed = percentages(groups.iter().flat_map(|(_, group)| others(group, *axes)));
        fixed
            .into_iter()
            .filter_map(|percent| compared(digest, groups, *axes, percent, *conditions))
            .collect::<Vec<_>>()
    });
    let panels: Vec<Panel> = panels.collect();
    let mut drawn: Vec<(usize, &ServerGroup)> = alike
        .iter()
        .flat_map(|(_, groups)| groups.iter().copied())
        .collect();
    drawn.sort_by_key(|(look, _)| *look);
    let bounds = style::bound_keys(&panels);
    Figure {
        id: "dns-servers".into(),
        title: "Servers compared".into(),
        caption: "Medians with bars from the 1st to the 99th percentile, at the percentage that each panel names.".to_owned(),
        keys: drawn.into_iter().map(|(look, group)| style::key(look, group.title.clone())).chain(bounds).collect(),
        panels,
        data: SEARCHES,
        ..Figure::default()
    }
}

/// Servers whose lines may share panels, each with its look.
type Alike<'f, 'a> = ((QueryConditions, Axes), Vec<(usize, &'f ServerGroup<'a>)>);

fn alike<'f, 'a>(groups: &'f [ServerGroup<'a>]) -> Vec<Alike<'f, 'a>> {
    let looks = groups.iter().enumerate();
    let drawn = looks
        .filter_map(|(look, group)| Some(((group.conditions()?, axes(group)?), (look, group))));
    by_key(drawn)
        .into_iter()
        .filter(|(_, alike)| alike.len() > 1)
        .collect()
}

fn compared(
    digest: &Digest,
    alike: &[(usize, &ServerGroup)],
    axes: Axes,
    percent: u8,
    of: QueryConditions,
) -> Option<Panel> {
    let count = alike.len() as f64;
    let line = |(i, (look, group)): (usize, &(usize, &ServerGroup))| {
        // Offset from each other, so that no bar hides another.
        let aside = (i as f64 - (count - 1.0) / 2.0) * 0.9;
        MedianLine {
            name: group.title.clone(),
            look: *look,
            points: points(digest, group, axes, percent, aside),
        }
    };
    let lines: Vec<MedianLine> = alike
        .iter()
        .enumerate()
        .map(line)
        .filter(|line| line.points.len() > 1)
        .collect();
    let what = if of.role == DnsRole::Dns64 {
        "DNS64"
    } else {
        "Authoritative"
    };
    let title = format!(
        "{what}, {}, timeout {}",
        fixed_words(axes, percent),
        seconds(of.timeout_ns)
    );
    (lines.len() > 1)
        .then(|| panel(&title, axes, lines))
        .flatten()
}

/// Returns the dimension of the axis: the share of cached names if there are several, else that of names with AAAA records.
fn axes(group: &ServerGroup) -> Option<Axes> {
    let has_several = |along: fn(&DnsTest) -> u8, other: fn(&DnsTest) -> u8| {
        let at = |fixed: u8| {
            group
                .tests
                .iter()
                .filter(move |(_, dns)| other(dns) == fixed)
                .map(move |(_, dns)| along(dns))
        };
        group
            .tests
            .iter()
            .any(|(_, dns)| percentages(at(other(dns))).len() > 1)
    };
    if has_several(|dns| dns.cached, |dns| dns.with_aaaa) {
        Some(Axes::Cached)
    } else if has_several(|dns| dns.with_aaaa, |dns| dns.cached) {
        Some(Axes::WithAaaa)
    } else {
        None
    }
}

/// Returns the percentages of the dimension that is not on the axis.
fn others(group: &ServerGroup, axes: Axes) -> Vec<u8> {
    if axes == Axes::Cached {
        group.with_aaaa()
    } else {
        group.cached()
    }
}

fn fixed_words(axes: Axes, percent: u8) -> String {
    match axes {
        Axes::Cached => format!("{percent}\u{a0}% with AAAA"),
        Axes::WithAaaa => format!("{percent}\u{a0}% cached"),
    }
}

/// Returns the medians along the axis at one percentage of the other dimension.
fn points(digest: &Digest, group: &ServerGroup, axes: Axes, fixed: u8, aside: f64) -> Vec<Barred> {
    let along = if axes == Axes::Cached {
        group.cached()
    } else {
        group.with_aaaa()
    };
    let point = |at: u8| {
        let (cached, with_aaaa) = if axes == Axes::Cached {
            (at, fixed)
        } else {
            (fixed, at)
        };
        let point: &PointDigest = group.at(digest, cached, with_aaaa)?;
        let s = point.headline()?;
        let printed = point.limits().printed(s);
        let label = format!(
            "{}, {cached} % cached, {with_aaaa} % with AAAA: {} queries/s [{}–{}], n = {}",
            group.title, printed.median, printed.p1, printed.p99, s.n
        );
        Some(
            Barred::new(
                f64::from(at) + aside,
                s.median,
                AxisEnds::new(s.p1, s.p99),
                label,
            )
            .signed(point.sign()),
        )
    };
    along.into_iter().filter_map(point).collect()
}

fn panel(title: &str, axes: Axes, lines: Vec<MedianLine>) -> Option<Panel> {
    let tops = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|p| p.at.1 + p.bar.1);
    let highest = tops.fold(0.0, f64::max);
    let single = (lines.len() == 1).then(|| lines[0].name.clone());
    let is_drawn = lines.iter().any(|line| !line.points.is_empty());
    let plots: Vec<Plot> = lines
        .iter()
        .filter(|line| !line.points.is_empty())
        .flat_map(|line| style::joined(line.look, line.points.clone()))
        .collect();
    let x = match axes {
        Axes::Cached => "names cached (%)",
        Axes::WithAaaa => "names with AAAA records (%)",
    };
    let layout = style::panel(&plots, title, x, "answered (queries/s)");
    let layout = lines.iter().fold(layout, |layout, line| {
        style::with_signs(layout, &line.points)
    });
    let layout = style::from_zero(
        layout,
        Axis {
            end: 105.0,
            step: 20.0,
        },
        Axis::up_to(highest, 5.0),
    )
    .with_x_axis_min(-5.0);
    let layout = match single {
        Some(name) => style::with_note(layout, &name),
        None => layout,
    };
    is_drawn.then(|| style::draw(plots, layout))
}
