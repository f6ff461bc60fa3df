//! Sentences on throughputs, ranked.

use crate::digest::{Digest, common_goal, sizes};
use crate::subject::ranking::{RankedValue, RankingWords, listed, ranking, with_others};
use crate::wording::numbers::{loss_goal, subject};
use sixbench_method::terms::FrameSize;

const KIND: RankingWords = RankingWords {
    verb: "passed",
    ceiling: "the highest load of the plan",
    nothing: "did not pass even the lowest load of the plan",
};

/// The most devices that the first sentence names one by one.
const MOST_NAMED: usize = 3;

/// The reason why devices in shared memory are not compared with others.
const APART: &str = "Shared memory bypasses the kernel, in which devices on veth pairs spend most of their time. Do not compare the two.";

/// Returns sentences in full for the smallest frame size with results, and in brief for the others; devices in shared memory are separate from all
/// others.
pub(crate) fn sentences(digest: &Digest) -> Vec<String> {
    let others = of_group(digest, false);
    let in_memory = of_group(digest, true);
    let apart = (!others.is_empty() && !in_memory.is_empty()).then(|| APART.to_owned());
    others.into_iter().chain(in_memory).chain(apart).collect()
}

/// Returns the first sentence of the report: the devices at the smallest frame size, or of many the first two and the last. `None` without a throughput.
pub(crate) fn headline(digest: &Digest) -> Option<String> {
    let (size, ranking) = [false, true]
        .into_iter()
        .find_map(|in_memory| of_sizes(digest, in_memory).into_iter().next())?;
    let (leader, others) = ranking.split_first()?;
    let first = if leader.median == 0.0 {
        format!("{} {}", leader.name, KIND.nothing)
    } else {
        let (amount, goal) = (leader.amount(), goal_words(digest));
        format!(
            "{} passed {amount} frames/s per direction {goal}{}",
            leader.name, leader.beside
        )
    };
    let first = format!("{first} at {size}\u{a0}bytes");
    let sentence: Vec<String> = std::iter::once(first).chain(named(others)).collect();
    Some(format!("{}.", sentence.join("; ")))
}

/// Returns the devices after the fastest one: each, or of many the next and the last.
fn named(others: &[RankedValue]) -> Vec<String> {
    let told = |other: &RankedValue| format!("{} {}{}", other.name, other.amount(), other.beside);
    match others {
        [next, between @ .., last] if others.len() >= MOST_NAMED => vec![
            told(next),
            // The lowest figure may be a lower bound, and the device need not be the slowest.
            format!("{} more, down to {}", between.len(), told(last)),
        ],
        _ => others.iter().map(told).collect(),
    }
}

/// Returns the sentences on all devices in shared memory, or on all others.
fn of_group(digest: &Digest, in_memory: bool) -> Vec<String> {
    let mut ranks = of_sizes(digest, in_memory).into_iter();
    let Some((size, ranking)) = ranks.next() else {
        return Vec::new();
    };
    let mut sentences = in_full(digest, size, &ranking);
    sentences.extend(ranks.map(|(size, ranking)| in_brief(size, &ranking)));
    sentences
}

/// Returns the accepted loss; if the tests accept different losses, their names include it.
fn goal_words(digest: &Digest) -> String {
    common_goal(digest.compared_points())
        .map_or_else(|| "at the loss goal of its test".to_owned(), loss_goal)
}

/// Returns the results at each frame size that has some, the smallest first.
fn of_sizes(digest: &Digest, in_memory: bool) -> Vec<(FrameSize, Vec<RankedValue>)> {
    let points = || {
        digest
            .compared_points()
            .filter(|point| digest.is_in_memory(point.test) == in_memory)
    };
    let of_size = |size: FrameSize| {
        let of_size = points().filter(|point| point.point.frame_size == size);
        ranking(of_size.filter_map(|point| RankedValue::new(subject(point.test), point)))
    };
    sizes(points())
        .into_iter()
        .map(|size| (size, of_size(size)))
        .filter(|(_, ranks)| !ranks.is_empty())
        .collect()
}

fn in_full(digest: &Digest, size: FrameSize, ranking: &[RankedValue]) -> Vec<String> {
    let leader = &ranking[0];
    let first = format!(
        "{} passed {} frames/s per direction {}{} at a frame size of {size}\u{a0}bytes{}.",
        leader.name,
        leader.amount(),
        goal_words(digest),
        leader.beside,
        leader.why_open(KIND),
    );
    with_others(first, ranking, KIND)
}

fn in_brief(size: FrameSize, ranking: &[RankedValue]) -> String {
    format!("At {size}\u{a0}bytes: {}.", listed(ranking))
}
