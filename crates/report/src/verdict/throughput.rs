//! Throughputs in sentences, and in order.

use super::ranking::{Ranked, RankingWords, listed, ranking, with_others};
use crate::digest::{Digest, sizes};
use crate::numbers::{loss_goal, title};
use sixbench_method::terms::FrameSize;

const KIND: RankingWords = RankingWords {
    verb: "passed",
    ceiling: "the highest load of the plan",
    nothing: "did not pass even the lowest load of the plan",
};

/// Says of devices in shared memory beside others why the two are not compared.
const APART: &str = "A frame to or from a device in shared memory passes no kernel, while most of the time of a device at veth pairs is the kernel's \
                     for the way of each frame: these rates must not be compared with those above.";

/// In full at the smallest frame size that has results, in brief at the others; devices in shared memory apart from all others.
pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    let others = of_group(digest, false);
    let in_memory = of_group(digest, true);
    let apart = (!others.is_empty() && !in_memory.is_empty()).then(|| APART.to_owned());
    others.into_iter().chain(in_memory).chain(apart).collect()
}

/// The sentences of all devices in shared memory, or of all others.
fn of_group(digest: &Digest, in_memory: bool) -> Vec<String> {
    let points = || digest.compared_points().filter(|point| digest.is_in_memory(point.test) == in_memory);
    let sizes = sizes(points()).into_iter();
    let of_size = |size: FrameSize| {
        let of_size = points().filter(|point| point.point.frame_size == size);
        ranking(of_size.filter_map(|point| Some((title(point.test), point.rated()?))))
    };
    let mut ranks = sizes.map(|size| (size, of_size(size))).filter(|(_, ranks)| !ranks.is_empty());
    let Some((size, ranking)) = ranks.next() else { return Vec::new() };
    let mut sentences = in_full(digest, size, &ranking);
    sentences.extend(ranks.map(|(size, ranking)| in_brief(size, &ranking)));
    sentences
}

fn in_full(digest: &Digest, size: FrameSize, ranking: &[Ranked]) -> Vec<String> {
    let leader = &ranking[0];
    let first = format!(
        "{} passed {} frames/s per direction {} at a frame size of {size}\u{a0}bytes{}.",
        leader.name,
        leader.amount(),
        loss_goal(digest.goal()),
        leader.why_open(KIND),
    );
    with_others(first, ranking, KIND)
}

fn in_brief(size: FrameSize, ranking: &[Ranked]) -> String {
    format!("At {size}\u{a0}bytes: {}.", listed(ranking))
}
