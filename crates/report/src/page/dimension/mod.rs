//! The number of subscribers that devices can serve, in sentences, as a table and as JSON; and a preview of what a plan can show about it.

mod caveats;
mod coverage;
mod json;
mod words;

pub use coverage::{coverage, coverage_json};
pub use json::json;

use crate::findings::status;
use crate::layout::table::{Column, Table};
use crate::layout::wrapped;
use crate::wording::numbers::{count, enumerated, percent, share, three_digits};
use sixbench_analysis::dimension::{
    CarryingLimit, Dimensioning, MissingLimit, MixGap, SubscriberEstimates, SubscriberLimit,
    SubscriberTraffic, TimeSource,
};
use sixbench_method::plan::Plan;
use sixbench_method::terms::{FrameSize, LossRatio};
use words::{addresses, measure_of, noun, people, people_counted, range, rate};

/// The smallest share of the processors, 0..=1, that is worth a sentence.
const LEAST_SHARE: f64 = 0.005;

/// The least width to which lines are broken, columns.
const NARROWEST: usize = 40;

/// Returns what speaks against planning with the numbers, the answer for each gateway, its limits, and every assumption, for a terminal of `width`
/// columns.
pub fn describe(
    traffic: &SubscriberTraffic,
    plan: &Plan,
    estimates: &SubscriberEstimates<'_>,
    width: usize,
) -> String {
    let width = width.max(NARROWEST);
    let left_out = caveats::left_out(&estimates.left_out);
    let left_out = left_out.map_or_else(String::new, |sentence| wrapped(&sentence, width));
    if estimates.gateways.is_empty() {
        return left_out + &wrapped(coverage::NOTHING, width);
    }
    let chapter = |device: &Dimensioning<'_>| {
        let sentences: String = sentences(traffic, plan, device)
            .iter()
            .map(|sentence| wrapped(sentence, width))
            .collect();
        let table = table(device).for_terminal(width);
        if table.is_empty() {
            sentences + "\n"
        } else {
            format!("{sentences}\n{table}\n")
        }
    };
    let first = caveats::first_line(&estimates.caveats)
        .map_or_else(String::new, |line| wrapped(&line, width) + "\n");
    let devices: String = estimates.gateways.iter().map(chapter).collect();
    let others = if left_out.is_empty() {
        left_out
    } else {
        left_out + "\n"
    };
    first + &devices + &others + &assumptions(traffic, width)
}

/// Returns the sentences about a device, starting with the number of subscribers.
fn sentences(traffic: &SubscriberTraffic, plan: &Plan, device: &Dimensioning<'_>) -> Vec<String> {
    let mut sentences = vec![headline(traffic, device)];
    sentences.extend(together(device));
    sentences.extend(gaps(&device.gaps));
    sentences.extend(
        device
            .missing
            .iter()
            .map(|limit| missing(limit, device.limits.is_empty())),
    );
    sentences.extend(sizes(device));
    sentences.extend(loss(plan, device));
    sentences.extend(addresses(traffic, device));
    sentences
}

/// Returns the first sentences: `nft-nat44: about 1,230 subscribers (1,180 to 1,260). Limit: new connections. Profile "residential", 30 % reserve.`
fn headline(traffic: &SubscriberTraffic, device: &Dimensioning<'_>) -> String {
    let name = name(device);
    let (Some(carried), Some(first)) = (device.carried(), device.limits.first()) else {
        let why = if device.gaps.is_empty() {
            "the frames that it carries have no result"
        } else {
            "too little of the mix was measured"
        };
        return format!("{name}: number of subscribers not known: {why}.");
    };
    let planned = planned(traffic);
    if carried.value < 1.0 {
        return format!(
            "{name}: no subscriber. Limit: {}. {planned}",
            noun(first.limit)
        );
    }
    let about = if carried.is_at_least {
        "at least"
    } else {
        "about"
    };
    let so_far = if device.missing.is_empty() {
        ""
    } else {
        " as far as it was measured"
    };
    format!(
        "{name}: {about} {} ({}){so_far}. Limit: {}. {planned}",
        people_counted(carried.value),
        range(&carried),
        noun(first.limit)
    )
}

/// Returns of each mix that was measured too little how much of it was, and the sizes that are missing; equal gaps of both directions once.
fn gaps(gaps: &[MixGap]) -> Vec<String> {
    let sentence = |gap: &MixGap| {
        format!(
            "Only {} of the octets of the mix are in frames of measured sizes; fewer than half give no number. Not measured: {} octets (frame-sizes).",
            share(gap.measured_share),
            enumerated(&gap.missing)
        )
    };
    let mut sentences: Vec<String> = gaps.iter().map(sentence).collect();
    sentences.dedup();
    sentences
}

fn name(device: &Dimensioning<'_>) -> String {
    let cores = device.device.cores.map_or(String::new(), |cores| {
        format!(" with {}", count(cores.into(), "core"))
    });
    format!("{}{cores}", device.device.dut)
}

/// Returns the assumptions in brief: `Profile "residential", 30 % reserve, 3 years of growth at 9.4 %.`
fn planned(traffic: &SubscriberTraffic) -> String {
    let (growth, years) = (traffic.growth.value, traffic.years.value);
    let grown = if growth == 0.0 || years == 0.0 {
        String::new()
    } else {
        let years = if years == 1.0 {
            "1 year".to_owned()
        } else {
            format!("{} years", three_digits(years))
        };
        format!(", {years} of growth at {}", percent(growth))
    };
    format!(
        "Profile \"{}\", {} reserve{grown}.",
        traffic.name,
        share(traffic.reserve.value)
    )
}

/// Returns how frames and new connections divide the processors, if they share them.
fn together(device: &Dimensioning<'_>) -> Option<String> {
    let together = device.together.filter(|together| together.value >= 1.0)?;
    let new = device
        .limits
        .iter()
        .find(|limit| limit.limit == SubscriberLimit::NewConnections)?;
    let of_new = together.value / new.subscribers.value;
    (of_new >= LEAST_SHARE).then(|| format!(
        "Frames and new connections take time of the same processors, which {} fill up to the reserve: {} of it with frames, {} \
         with new connections.",
        people_counted(together.value),
        share(1.0 - of_new),
        share(of_new)
    ))
}

/// Returns why a limit is unknown, and which test would determine it.
fn missing(missing: &MissingLimit<'_>, is_alone: bool) -> String {
    let what = noun(missing.limit);
    let fewer = if is_alone {
        ""
    } else {
        ", so it may carry fewer"
    };
    match &missing.points[..] {
        [] => format!(
            "Not measured: {what}{fewer}; a test with measure = \"{}\" tells.",
            measure_of(missing.limit)
        ),
        points => {
            let why: Vec<String> = points
                .iter()
                .map(|p| format!("{}: {}", p.test.label(p.point.frame_size), status::why(p)))
                .collect();
            format!("Without a result: {what}{fewer} ({}).", why.join("; "))
        }
    }
}

/// Returns which frame sizes of the mixes were not measured, and how their times were derived from others.
fn sizes(device: &Dimensioning<'_>) -> Vec<String> {
    let sizes_from = |source: TimeSource| {
        let sizes = device
            .limits
            .iter()
            .flat_map(|limit| &limit.sizes)
            .filter(|(_, from)| *from == source);
        let mut sizes: Vec<FrameSize> = sizes.map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    };
    let ways = [
        (
            TimeSource::Between,
            "interpolated from the sizes on either side",
        ),
        (
            TimeSource::Below,
            "estimated pessimistically, so the device may carry more",
        ),
        (
            TimeSource::Beyond,
            "estimated pessimistically, so the device may carry more",
        ),
    ];
    let told = ways.map(|(source, way)| (sizes_from(source), way));
    let some = told.iter().filter(|(sizes, _)| !sizes.is_empty());
    let were = |sizes: &[FrameSize]| {
        if sizes.len() == 1 {
            ("was", "is")
        } else {
            ("were", "are")
        }
    };
    let sentence = |(sizes, way): &(Vec<FrameSize>, &str)| {
        let (was, is) = were(sizes);
        format!(
            "{} octets {was} not measured and {is} {way}.",
            enumerated(sizes)
        )
    };
    some.map(sentence).collect()
}

/// Returns a sentence that the rate of frames is not the throughput of RFC 2544, if the tests accept losses.
fn loss(plan: &Plan, device: &Dimensioning<'_>) -> Option<String> {
    let goals = device
        .device
        .throughput
        .iter()
        .map(|test| test.first_goal(plan))
        .filter(|goal| *goal != LossRatio::ZERO);
    let most = goals.reduce(|most, goal| if goal > most { goal } else { most })?;
    Some(format!(
        "The frames are those at {} loss or less.",
        percent(most.0)
    ))
}

fn table(device: &Dimensioning<'_>) -> Table {
    let columns = [
        Column::text("limit", |limit: &&CarryingLimit| noun(limit.limit)),
        Column::number("measured", |limit: &&CarryingLimit| {
            rate(limit.limit, limit.measured.value)
        }),
        Column::number("per subscriber", |limit: &&CarryingLimit| {
            rate(limit.limit, limit.of_a_subscriber)
        }),
        Column::number("subscribers", |limit: &&CarryingLimit| subscribers(limit)),
        Column::number("range", |limit: &&CarryingLimit| range(&limit.subscribers)),
    ];
    Table::new("", columns, &device.limits)
}

fn subscribers(limit: &CarryingLimit) -> String {
    let sign = if limit.subscribers.is_at_least {
        "≥ "
    } else {
        ""
    };
    sign.to_owned() + &people(limit.subscribers.value)
}

/// Returns every assumption with its source.
fn assumptions(traffic: &SubscriberTraffic, width: usize) -> String {
    let head = format!(
        "Assumptions of the profile {} ({}):\n",
        traffic.name, traffic.title
    );
    let line = |one| {
        let sixbench_analysis::dimension::PrintedAssumption { key, value, source } = one;
        wrapped(&format!("  {key} = {value}"), width) + &wrapped(&format!("      {source}"), width)
    };
    head + &traffic
        .assumptions()
        .into_iter()
        .map(line)
        .collect::<String>()
}
