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

/// In full at the smallest frame size that has results, in brief at the others.
pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    let sizes = sizes(digest.compared_points()).into_iter();
    let mut ranks = sizes.map(|size| (size, of_size(digest, size))).filter(|(_, ranks)| !ranks.is_empty());
    let Some((size, ranking)) = ranks.next() else { return Vec::new() };
    let mut sentences = in_full(digest, size, &ranking);
    sentences.extend(ranks.map(|(size, ranking)| in_brief(size, &ranking)));
    sentences
}

/// The points of one size, highest median first.
fn of_size(digest: &Digest, size: FrameSize) -> Vec<Ranked> {
    let points = digest.compared_points().filter(|p| p.point.frame_size == size);
    ranking(points.filter_map(|p| Some((title(p.test), p.rated()?))))
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
