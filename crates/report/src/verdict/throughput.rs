//! Throughputs in sentences, and in order.

use crate::digest::{Digest, GoalDigest, PointDigest, sizes};
use crate::words::{loss_goal, share, short, title};
use sixbench_method::terms::FrameSize;

/// A point that has a result.
#[derive(Clone, Copy)]
struct Ranked<'d, 'a> {
    point: &'d PointDigest<'a>,
    goal: &'d GoalDigest,
    median: f64,
}

/// In full at the smallest frame size that has results, in brief at the others.
pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    let sizes = sizes(digest.compared_points()).into_iter();
    let mut ranks = sizes.map(|size| (size, ranking(digest, size))).filter(|(_, ranks)| !ranks.is_empty());
    let Some((size, ranking)) = ranks.next() else {
        return Vec::new();
    };
    let mut sentences = in_full(size, &ranking);
    sentences.extend(ranks.map(|(size, ranking)| in_brief(size, &ranking)));
    sentences
}

/// The points of one size, highest median first.
fn ranking<'d, 'a>(digest: &'d Digest<'a>, size: FrameSize) -> Vec<Ranked<'d, 'a>> {
    let points = digest.compared_points().filter(|p| p.point.frame_size == size);
    let mut ranking: Vec<_> = points
        .filter_map(|point| Some(Ranked { point, goal: point.goals.first()?, median: point.headline()?.median }))
        .collect();
    ranking.sort_by(|a, b| b.median.total_cmp(&a.median));
    ranking
}

fn in_full(size: FrameSize, ranking: &[Ranked]) -> Vec<String> {
    let leader = ranking[0];
    let first = format!(
        "{} passed {} frames/s per direction {} at a frame size of {size}\u{a0}bytes{}.",
        title(leader.point.test),
        leader.amount(),
        loss_goal(leader.goal.goal),
        leader.why_open(),
    );
    let others = ranking.windows(2).map(|pair| pair[1].beside(leader, pair[0]));
    std::iter::once(first).chain(others).collect()
}

fn in_brief(size: FrameSize, ranking: &[Ranked]) -> String {
    let name = |i: usize, r: &Ranked| {
        let tie = i.checked_sub(1).map(|above| r.tie(ranking[above])).unwrap_or_default();
        let tester = if r.goal.limits.tester > 0 { " (limited by the tester)" } else { "" };
        format!("{} {}{tester}{tie}", title(r.point.test), r.amount())
    };
    let names: Vec<String> = ranking.iter().enumerate().map(|(i, r)| name(i, r)).collect();
    format!("At {size}\u{a0}bytes: {}.", names.join("; "))
}

impl Ranked<'_, '_> {
    /// `412 k`, `at least 412 k`, `no load`.
    fn amount(&self) -> String {
        let median = self.median;
        match self.goal.limits.open_above() {
            true if median > 0.0 => format!("at least {}", short(median)),
            _ => short(median),
        }
    }

    fn why_open(&self) -> &'static str {
        match self.goal.limits {
            l if l.tester > 0 => ", limited by the tester: the DUT may be better",
            l if l.maximum > 0 => ", the highest load of the plan: the DUT may be better",
            _ => "",
        }
    }

    /// This point against the leader, and against the one just above it.
    fn beside(&self, leader: Ranked, above: Ranked) -> String {
        let name = title(self.point.test);
        if self.median == 0.0 {
            return format!("{name} passed not even the lowest load of the plan.");
        }
        let bound = match (self.goal.limits.open_above(), leader.goal.limits.open_above()) {
            (true, true) => {
                return format!(
                    "{name} passed {}{}: which of the two is faster is not shown.",
                    self.amount(),
                    self.why_open_briefly()
                );
            }
            (true, false) => "at least ",
            (false, true) => "at most ",
            (false, false) => "",
        };
        let share = share(self.median / leader.median);
        format!("{name} reached {bound}{share} of that: {}{}{}.", short(self.median), self.why_open_briefly(), self.tie(above))
    }

    fn why_open_briefly(&self) -> &'static str {
        match self.goal.limits {
            l if l.tester > 0 => ", limited by the tester",
            l if l.maximum > 0 => ", the highest load of the plan",
            _ => "",
        }
    }

    /// Where the ranges of two neighbours overlap, their order is not shown.
    fn tie(&self, above: Ranked) -> String {
        let apart = self.goal.span.1 < above.goal.span.0;
        match apart || self.goal.limits.open_above() {
            true => String::new(),
            false => format!(" (no difference shown to {})", title(above.point.test)),
        }
    }
}

/// Points that ought to have a result and have none because of the tester.
pub(super) fn unmeasured(digest: &Digest) -> Vec<String> {
    let blocked =
        digest.throughput_points().filter(|p| p.goals.first().is_some_and(|g| g.summary.is_none() && g.unmeasured > 0));
    let sentence = |p: &PointDigest| {
        let (name, size) = (title(p.test), p.point.frame_size);
        format!("{name} at {size}\u{a0}bytes has no result: the tester fell short at every load that was tried.")
    };
    blocked.map(sentence).collect()
}
