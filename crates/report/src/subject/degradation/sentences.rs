//! Sentences on the results of series: one for each, at its smallest frame size with results.

use crate::digest::{Digest, PointDigest, common_goal};
use crate::scaling::scalings;
use crate::series::{TestSeries, curves, series};
use crate::tables::scaling::bottleneck;
use crate::wording::bound::Bound;
use crate::wording::numbers::{commonly_searched, grouped, in_a_sentence, supported, three_digits};
use sixbench_method::plan::SeriesBy;
use sixbench_method::terms::FrameSize;

pub(crate) fn sentences(digest: &Digest) -> Vec<String> {
    let of = |by: SeriesBy, say: fn(&Digest, &TestSeries) -> Option<String>| {
        let all = series(digest, by);
        all.iter()
            .filter_map(|steps| say(digest, steps))
            .collect::<Vec<_>>()
    };
    let flows = of(SeriesBy::Flows, degradation);
    let connections = of(SeriesBy::Connections, degradation)
        .into_iter()
        .chain(of(SeriesBy::TableSize, degradation));
    let others = of(SeriesBy::Background, mixed)
        .into_iter()
        .chain(of(SeriesBy::Cores, scaling));
    flows
        .into_iter()
        .chain(connections)
        .chain(others)
        .chain(bottlenecks(digest))
        .collect()
}

/// Returns a sentence on degradation: `flows: throughput at 84 bytes degrades by 19 % from 1 to 64 network flows.`
fn degradation(digest: &Digest, steps: &TestSeries) -> Option<String> {
    let curves = curves(digest, steps);
    let (curve, last, change) = curves
        .iter()
        .find_map(|c| Some((c, c.steps.last()?, c.degradation(c.steps.last()?)?)))?;
    let verb = if change < 0.0 { "improves" } else { "degrades" };
    let (name, size) = (in_a_sentence(&curve.subject.quantity), curve.size);
    let [from, to] = [curve.steps.first()?.at, last.at].map(grouped);
    let (of, bound) = (noun(steps.by), curve.bound(last));
    let Some(bound) = (if change < 0.0 {
        bound.inverted()
    } else {
        bound
    })
    .words() else {
        return Some(format!(
            "{}: how {name} at {size}\u{a0}bytes changes from {from} to {to} {of} cannot be stated: both rates are lower bounds.",
            steps.name
        ));
    };
    let change = three_digits(change.abs());
    Some(format!(
        "{}: {name} at {size}\u{a0}bytes {verb} by {bound}{change}\u{a0}% from {from} to {to} {of}.",
        steps.name
    ))
}

fn noun(by: SeriesBy) -> &'static str {
    match by {
        SeriesBy::Connections => "connections",
        SeriesBy::TableSize => "entries of the connection tracking table",
        _ => "network flows",
    }
}

/// Returns a sentence on mixed traffic: `mix: throughput by the share of translated frames, at 84 bytes: 356 k at 100 %, 711 k at 50 %, 458 k at 0 %.`
fn mixed(digest: &Digest, steps: &TestSeries) -> Option<String> {
    if !steps.is_of_throughput() {
        return None;
    }
    let (size, points) = smallest(digest, steps)?;
    let step = |(background, p): &(f64, &PointDigest)| {
        let rate = p.headline().map_or(String::new(), |s| {
            supported(s.median, s.max - s.min, p.limits().bound())
        });
        format!(
            "{}{rate} at {}\u{a0}%",
            p.sign(),
            three_digits(100.0 - background)
        )
    };
    let list: Vec<String> = points.iter().map(step).collect();
    Some(format!(
        "{}: throughput by the share of translated frames, at {size}\u{a0}bytes: {}.",
        steps.name,
        list.join(", ")
    ))
}

/// Returns a sentence on scaling: `cores: with 4 of the DUT's cores 2.8 times the throughput of 1, at 84 bytes.` `None` if the true values of both
/// rates may be higher.
fn scaling(digest: &Digest, steps: &TestSeries) -> Option<String> {
    let (size, points) = smallest(digest, steps)?;
    let ((few, first), (many, last)) = (points.first()?, points.last()?);
    let gain = last.headline()?.median / first.headline().filter(|s| s.median > 0.0)?.median;
    let bound =
        Bound::of_ratio(last.limits().is_median_open, first.limits().is_median_open).words()?;
    let [few, many, gain] = [*few, *many, gain].map(three_digits);
    Some(format!(
        "{}: with {many} of {} cores {bound}{gain} times the {} of {few}{}.",
        steps.name,
        steps
            .device
            .map_or_else(|| "the device's".to_owned(), |device| format!("{device}'s")),
        in_a_sentence(&commonly_searched(
            steps.measure()?,
            common_goal([*first, *last])
        )),
        last.size()
            .map(|_| format!(", at {size}\u{a0}bytes"))
            .unwrap_or_default()
    ))
}

/// Returns the bottleneck of each chain with the fewest and with the most cores, which may be different devices.
fn bottlenecks(digest: &Digest) -> Vec<String> {
    let all = scalings(digest);
    let extremes = all.iter().flat_map(|scaling| match &scaling.steps[..] {
        [few, .., many] => vec![(scaling.name, few), (scaling.name, many)],
        few => few.iter().map(|step| (scaling.name, step)).collect(),
    });
    extremes
        .filter_map(|(name, step)| Some(format!("{name}, {}", bottleneck(step)?)))
        .collect()
}

/// Returns the smallest size at which at least two steps have a rate, with these steps.
fn smallest<'d, 'a>(
    digest: &'d Digest<'a>,
    steps: &TestSeries<'a>,
) -> Option<(FrameSize, Vec<(f64, &'d PointDigest<'a>)>)> {
    let sizes = steps.sizes().into_iter();
    sizes
        .map(|size| (size, steps.with_rate(digest, size)))
        .find(|(_, points)| points.len() > 1)
}
