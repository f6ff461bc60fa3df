//! The result of a run in sentences. They say no more than the numbers do: "at least" where the plan ended the search, "limited
//! by the tester" where it fell short, "no difference shown" where ranges overlap.

use crate::digest::{Digest, GoalDigest, PointDigest};
use crate::words::{loss_goal, share, short, title};
use sixbench_method::terms::FrameSize;
use std::collections::BTreeSet;

/// A point that has a result.
#[derive(Clone, Copy)]
struct Ranked<'d, 'a> {
    point: &'d PointDigest<'a>,
    goal: &'d GoalDigest,
    median: f64,
}

/// The verdict, one sentence each, the most important first.
pub(crate) fn sentences(digest: &Digest) -> Vec<String> {
    let sizes: BTreeSet<FrameSize> = digest.points.iter().map(|p| p.point.frame_size).collect();
    let mut ranks = sizes.into_iter().map(|size| (size, ranking(digest, size))).filter(|(_, ranks)| !ranks.is_empty());
    let Some((size, ranking)) = ranks.next() else {
        return vec![nothing(digest)];
    };
    let mut sentences = in_full(size, &ranking);
    sentences.extend(ranks.map(|(size, ranking)| in_brief(size, &ranking)));
    sentences.extend(unmeasured(digest));
    sentences.extend(caution(digest));
    sentences.extend(progress(digest));
    sentences
}

fn nothing(digest: &Digest) -> String {
    let trials = crate::words::count(digest.input.records.len() as u64, "trial");
    match digest.input.interrupted {
        true => format!("The run was interrupted before its first result; {trials} recorded."),
        false => format!("There is no result; {trials} recorded."),
    }
}

/// The points of one size, highest median first.
fn ranking<'d, 'a>(digest: &'d Digest<'a>, size: FrameSize) -> Vec<Ranked<'d, 'a>> {
    let points = digest.points.iter().filter(|p| p.point.frame_size == size);
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
fn unmeasured(digest: &Digest) -> Vec<String> {
    let blocked = digest.points.iter().filter(|p| p.goals.first().is_some_and(|g| g.summary.is_none() && g.unmeasured > 0));
    let sentence = |p: &PointDigest| {
        let (name, size) = (title(p.test), p.point.frame_size);
        format!("{name} at {size}\u{a0}bytes has no result: the tester fell short at every load that was tried.")
    };
    blocked.map(sentence).collect()
}

/// One repetition shows no spread, and without it a small difference means nothing.
fn caution(digest: &Digest) -> Option<String> {
    let single = digest.points.iter().filter_map(PointDigest::headline).any(|s| s.n == 1);
    single.then(|| "Where n = 1 nothing is known of the spread: small differences mean nothing.".to_owned())
}

fn progress(digest: &Digest) -> Option<String> {
    let (done, planned) = (digest.input.outcomes.len() as u32, digest.planned());
    let cause = if digest.input.interrupted { "The run was interrupted" } else { "The run is incomplete" };
    (done < planned).then(|| format!("{cause}: {done} of {planned} measurements were completed."))
}
