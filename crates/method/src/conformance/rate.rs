//! Throughput and frame loss rate: RFC 2544 sections 26.1 and 26.3, which RFC 8219 sections 7.1 and 7.4 use unmodified.

use super::numbers::{list, percent, seconds};
use super::clause::Clause;
use crate::measures::clauses::several_times;
use crate::measures::{Load, LossScan, TestContext};
use crate::terms::{FrameRate, FrameSize, LossRatio};

const THROUGHPUT: &str = "RFC 2544 section 26.1";
const LOSS: &str = "RFC 2544 section 26.3";

/// Throughput.
pub(crate) fn throughput(test: &TestContext<'_>) -> Vec<Clause> {
    vec![
        zero_loss(test),
        search(test),
        theoretical_line(test),
        Clause::must(THROUGHPUT, "the rate is given in frames per second", "frames/s, per direction", true),
        Clause::must(
            THROUGHPUT,
            "a single figure comes with rate, frame size, theoretical limit and protocol",
            if test.link_rate.is_some() { "all four" } else { "rate, frame size and protocol, no limit" },
            test.link_rate.is_some(),
        )
        .or_in_part(true),
        several_times(test.repetitions, "RFC 8219 section 12"),
    ]
}

/// Any goal of zero loss finds the throughput; the others say what they are.
fn zero_loss(test: &TestContext<'_>) -> Clause {
    let is_met = test.search.goals.is_empty() || test.search.goals.contains(&LossRatio::ZERO);
    Clause::must(THROUGHPUT, "the fastest rate at which as many frames are received as sent", goals(test), is_met)
}

/// The first goal decides at which load delays, recovery and resets are measured.
pub(super) fn is_first_goal_zero(test: &TestContext<'_>) -> bool {
    test.search.goals.first().is_none_or(|&goal| goal == LossRatio::ZERO)
}

fn goals(test: &TestContext<'_>) -> String {
    let goals = if test.search.goals.is_empty() { &[LossRatio::ZERO][..] } else { &test.search.goals };
    format!("{} {} of loss", if goals.len() == 1 { "goal:" } else { "goals:" }, list(goals))
}

fn search(test: &TestContext<'_>) -> Clause {
    let method = test.search.method.info().title;
    let width = percent(test.search.width);
    let actual = format!("{method}, to {width}, with trials of {}", seconds(test.trial.duration_ns));
    Clause::must(THROUGHPUT, "after a loss the rate is reduced and the test is run again", actual, true)
}

fn theoretical_line(test: &TestContext<'_>) -> Clause {
    let actual = match test.link_rate {
        Some(rate) => format!("both lines, for {} Mbit/s", rate as f64 / 1e6),
        None => "no theoretical line; the plan does not know the rate of the medium".to_owned(),
    };
    let requirement = "a graph of the rate over the frame size, with the theoretical rate of the medium";
    Clause::should(THROUGHPUT, requirement, actual, test.link_rate.is_some())
}

/// Frame loss rate.
pub(crate) fn frame_loss_rate(test: &TestContext<'_>, scan: &LossScan) -> Vec<Clause> {
    vec![
        Clause::must(
            LOSS,
            "loss = (input - output) * 100 / input",
            "by sequence numbers, of the frames that left the tester",
            true,
        ),
        from_the_maximum(test, scan),
        granularity(test, scan),
        until_lossless(scan),
        axes(test),
        several_times(test.repetitions, "RFC 8219 section 12"),
    ]
}

fn from_the_maximum(test: &TestContext<'_>, scan: &LossScan) -> Clause {
    let requirement = "the first trial at 100 % of the medium's rate for the frame size";
    let Some(first) = scan.rates.first() else {
        let actual = match test.link_rate {
            Some(_) => "from 100 % of it, size by size".to_owned(),
            None => format!("from {}; the plan does not know the rate of the medium", test.search.maximum),
        };
        return Clause::should(LOSS, requirement, actual, test.link_rate.is_some());
    };
    let short = |size: &FrameSize| test.theoretical(*size).is_some_and(|most| !has_maximum(scan, most));
    let short: Vec<FrameSize> = test.frame_sizes.iter().copied().filter(short).collect();
    let actual = match test.link_rate {
        None => format!("from {first}; the plan does not know the rate of the medium"),
        Some(_) if short.is_empty() => format!("from {first}"),
        Some(_) => format!("from {first}; not the maximum at {}", list(&short)),
    };
    Clause::should(LOSS, requirement, actual, test.link_rate.is_some() && short.is_empty())
}

/// Returns whether the highest rate of the scan that the medium carries is the medium's maximum, within 1 %.
fn has_maximum(scan: &LossScan, most: FrameRate) -> bool {
    let carried = scan.rates.iter().filter(|&&rate| rate <= most).max();
    carried.is_some_and(|rate| rate.0 as f64 >= 0.99 * most.0 as f64)
}

fn granularity(test: &TestContext<'_>, scan: &LossScan) -> Clause {
    let requirement = "steps of at most 10 % of the maximum rate";
    if scan.rates.is_empty() {
        return Clause::must(LOSS, requirement, "steps of 10 % of it", true);
    }
    let highest = scan.rates.iter().max().copied().unwrap_or(FrameRate(1));
    // Of the frame sizes the largest has the lowest maximum, so its steps are the coarsest.
    let maximum =
        test.frame_sizes.iter().filter_map(|&size| test.theoretical(size)).min().unwrap_or(highest).min(highest);
    let widest = scan.rates.windows(2).map(|pair| pair[0].0.abs_diff(pair[1].0)).max().unwrap_or(0);
    let coarsest = 100.0 * widest as f64 / maximum.0.max(1) as f64;
    let actual = format!("steps of at most {coarsest:.1} % of {maximum}");
    // Rates are whole frames per second: a tenth may be rounded up.
    Clause::must(LOSS, requirement, actual, coarsest <= 10.0 + 1e-2)
}

fn until_lossless(scan: &LossScan) -> Clause {
    let requirement = "at ever lower rates until two successive trials lose nothing";
    if scan.rates.is_empty() {
        return Clause::should(LOSS, requirement, "until then, or down to a tenth of the maximum", scan.until_lossless);
    }
    let descends = scan.rates.windows(2).all(|pair| pair[0] > pair[1]);
    let (highest, last) = (scan.rates.iter().max(), scan.rates.last());
    let reaches_down = highest.zip(last).is_some_and(|(highest, last)| last.0 as f64 <= 0.1001 * highest.0 as f64);
    let how = if scan.until_lossless { "until then, or down to" } else { "every rate is tried, down to" };
    let actual = format!("{how} {}", last.copied().unwrap_or(FrameRate(0)));
    Clause::should(LOSS, requirement, actual, descends && reaches_down)
}

fn axes(test: &TestContext<'_>) -> Clause {
    let requirement = "a graph of the loss in per cent over the rate in per cent of the theoretical one, both from 0 to 100 %";
    let actual = match test.link_rate {
        Some(_) => "both axes from 0 to 100 %",
        None => "rate in per cent of the highest rate tried; the plan does not know the rate of the medium",
    };
    Clause::must(LOSS, requirement, actual, test.link_rate.is_some()).or_in_part(true)
}

/// The load of a measurement that is to be made at the throughput: how it is found, and whether it is that.
pub(super) fn at_throughput(test: &TestContext<'_>, load: Load, section: &'static str, determines: Clause) -> Vec<Clause> {
    let actual = match load {
        Load::OfThroughput(share) if is_first_goal_zero(test) => format!("{} of it", percent(share)),
        Load::OfThroughput(share) => format!("{} of a rate with loss, {}", percent(share), goals(test)),
        Load::Rate(rate) => format!("{rate}, as the plan says"),
    };
    let is_met = load == Load::OfThroughput(1.0) && is_first_goal_zero(test);
    vec![determines, Clause::must(section, "the stream is offered at the throughput rate", actual, is_met)]
}

/// Returns how the throughput is determined before the measurement, and whether it is, for the `should` or `must` of its
/// section.
pub(super) fn determined(load: Load) -> (&'static str, bool) {
    match load {
        Load::OfThroughput(_) => ("searched for at each size, in the first repetition", true),
        Load::Rate(_) => ("not determined", false),
    }
}
