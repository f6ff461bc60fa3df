//! The number of subscribers that devices can serve, in sentences, as a table and as JSON; and a preview of what a plan can show about it.

mod coverage;
mod json;
mod words;

pub use coverage::{coverage, coverage_json};
pub use json::json;

use crate::numbers::{count, enumerated, percent, share, three_digits};
use crate::status;
use crate::table::Table;
use crate::wrapping::wrapped;
use sixbench_method::dimension::{CarryingLimit, Dimensioning, MissingLimit, SubscriberLimit, SubscriberTraffic, TimeSource};
use sixbench_method::plan::Plan;
use sixbench_method::terms::{FrameSize, LossRatio};
use words::{addresses, measure_of, noun, people, range, rate};

/// The smallest share of the processors, 0..=1, that is worth a sentence.
const LEAST_SHARE: f64 = 0.005;

/// The least width to which lines are broken, columns.
const NARROWEST: usize = 40;

/// Returns the answer for each device, then the limits and every assumption, for a terminal of `width` columns.
pub fn describe(traffic: &SubscriberTraffic, plan: &Plan, devices: &[Dimensioning<'_>], width: usize) -> String {
    let width = width.max(NARROWEST);
    if devices.is_empty() {
        return wrapped(coverage::NOTHING, width);
    }
    let of = |device: &Dimensioning<'_>| {
        let sentences: String = sentences(traffic, plan, device).iter().map(|sentence| wrapped(sentence, width)).collect();
        let table = table(device).for_terminal(width);
        if table.is_empty() { sentences + "\n" } else { format!("{sentences}\n{table}\n") }
    };
    devices.iter().map(of).collect::<String>() + &assumptions(traffic, width)
}

/// Returns the sentences about a device, starting with the number of subscribers.
fn sentences(traffic: &SubscriberTraffic, plan: &Plan, device: &Dimensioning<'_>) -> Vec<String> {
    let mut sentences = vec![headline(traffic, device)];
    sentences.extend(together(device));
    sentences.extend(device.missing.iter().map(|limit| missing(limit, device.limits.is_empty())));
    sentences.extend(sizes(device));
    sentences.extend(loss(plan, device));
    sentences.extend(addresses(traffic, device));
    sentences
}

/// Returns the first sentence: `nft-nat44 carries about 1,230 subscribers (1,180 to 1,260) of the profile residential with 30 % reserve, ..., limited
/// first by new connections.`
fn headline(traffic: &SubscriberTraffic, device: &Dimensioning<'_>) -> String {
    let name = name(device);
    let (Some(carried), Some(first)) = (device.carried(), device.limits.first()) else {
        return format!("How many subscribers {name} carries is not known: nothing that limits them has a result.");
    };
    let planned = planned(traffic);
    if carried.value < 1.0 {
        return format!("{name} carries no subscriber {planned}: {} end it.", noun(first.limit));
    }
    let about = if carried.is_at_least { "at least" } else { "about" };
    let so_far = if device.missing.is_empty() { "" } else { "As far as it was measured, " };
    format!(
        "{so_far}{name} carries {about} {} subscribers ({}) {planned}, limited first by {}.",
        people(carried.value),
        range(&carried),
        noun(first.limit)
    )
}

fn name(device: &Dimensioning<'_>) -> String {
    let cores = device.device.cores.map_or(String::new(), |cores| format!(" with {}", count(cores.into(), "core")));
    format!("{}{cores}", device.device.dut)
}

/// Returns the assumptions in brief: `of the profile residential with 30 % reserve, after 3 years of growth by 9.4 % a year`.
fn planned(traffic: &SubscriberTraffic) -> String {
    let (growth, years) = (traffic.growth.value, traffic.years.value);
    let grown = match growth == 0.0 || years == 0.0 {
        true => String::new(),
        false => format!(", after {} years of growth by {} a year", three_digits(years), percent(growth)),
    };
    format!("of the profile {} with {} reserve{grown}", traffic.name, share(traffic.reserve.value))
}

/// Returns how frames and new connections divide the processors, if they share them.
fn together(device: &Dimensioning<'_>) -> Option<String> {
    let together = device.together.filter(|together| together.value >= 1.0)?;
    let new = device.limits.iter().find(|limit| limit.limit == SubscriberLimit::NewConnections)?;
    let of_new = together.value / new.subscribers.value;
    (of_new >= LEAST_SHARE).then(|| format!(
        "Frames and new connections take time of the same processors, which {} subscribers fill up to the reserve: {} of it with frames, {} \
         with new connections.",
        people(together.value),
        share(1.0 - of_new),
        share(of_new)
    ))
}

/// Returns why a limit is unknown, and which test would determine it.
fn missing(missing: &MissingLimit<'_>, is_alone: bool) -> String {
    let what = noun(missing.limit);
    let fewer = if is_alone { "" } else { ", so it may carry fewer" };
    match &missing.points[..] {
        [] => format!("Not measured: {what}{fewer}; a test with measure = \"{}\" tells.", measure_of(missing.limit)),
        points => {
            let why: Vec<String> =
                points.iter().map(|p| format!("{}: {}", p.test.label(p.point.frame_size), status::why(p))).collect();
            format!("Without a result: {what}{fewer} ({}).", why.join("; "))
        }
    }
}

/// Returns which frame sizes of the mixes were not measured, and how their times were derived from others.
fn sizes(device: &Dimensioning<'_>) -> Vec<String> {
    let of = |source: TimeSource| {
        let sizes = device.limits.iter().flat_map(|limit| &limit.sizes).filter(|(_, from)| *from == source);
        let mut sizes: Vec<FrameSize> = sizes.map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    let ways = [
        (TimeSource::Between, "the time per frame is taken from the sizes on either side, in proportion"),
        (TimeSource::Below, "a frame of it is taken for as slow as the smallest that was measured, so it may carry more"),
        (TimeSource::Beyond, "the time per frame is taken to grow in proportion to the size, so it may carry more"),
    ];
    let told = ways.map(|(source, way)| (of(source), way));
    let some = told.iter().filter(|(sizes, _)| !sizes.is_empty());
    some.map(|(sizes, way)| format!("No throughput has a result at {} octets: {way}.", enumerated(sizes))).collect()
}

/// Returns a sentence that the rate of frames is not the throughput of RFC 2544, if the tests accept losses.
fn loss(plan: &Plan, device: &Dimensioning<'_>) -> Option<String> {
    let goals = device.device.throughput.iter().map(|test| test.first_goal(plan)).filter(|goal| *goal != LossRatio::ZERO);
    let most = goals.reduce(|most, goal| if goal > most { goal } else { most })?;
    Some(format!("The frames are those at {} loss or less.", percent(most.0)))
}

fn table(device: &Dimensioning<'_>) -> Table {
    let row = |limit: &CarryingLimit| {
        let subscribers = (if limit.subscribers.is_at_least { "≥ " } else { "" }).to_owned() + &people(limit.subscribers.value);
        vec![
            noun(limit.limit).to_owned(),
            rate(limit.limit, limit.measured.value),
            rate(limit.limit, limit.of_a_subscriber),
            subscribers,
            range(&limit.subscribers),
        ]
    };
    let columns = ["limit", "#measured", "#per subscriber", "#subscribers", "#range"];
    Table::new("", columns).with_rows(device.limits.iter().map(row))
}

/// Returns every assumption with its source.
fn assumptions(traffic: &SubscriberTraffic, width: usize) -> String {
    let head = format!("Assumptions of the profile {} ({}):\n", traffic.name, traffic.title);
    let line = |one| {
        let sixbench_method::dimension::PrintedAssumption { key, value, source } = one;
        wrapped(&format!("  {key} = {value}"), width) + &wrapped(&format!("      {source}"), width)
    };
    head + &traffic.assumptions().into_iter().map(line).collect::<String>()
}
