//! Records and outcomes grouped by point, the source for every view of a run.

mod clients;
mod connections;
mod goal;
mod headline;
mod idle;
mod point;
mod queries;
mod rated;
mod repeated;
mod sample;
mod steps;

pub(crate) use clients::{ClientSeries, ClientStep, client_series};
pub(crate) use connections::{ConnectionLoss, LostIn, phase_1_rate};
pub(crate) use goal::{GoalDigest, InvalidReason, Limits, PrintedSummary};
pub(crate) use headline::{Headline, result_is};
pub(crate) use idle::DeviceIdle;
pub(crate) use point::PointDigest;
pub(crate) use queries::{QueryConditions, QueryTrial, ServerGroup, percentages};
pub(crate) use rated::RatedSummary;
pub(crate) use repeated::RepeatedRate;
pub(crate) use sample::PointSample;
pub(crate) use steps::CapacityStep;

use crate::span::Span;
use crate::{Input, ReportError};
use sixbench_analysis::trust::{Trust, trust};
use sixbench_method::anomaly::{Anomaly, anomalies};
use sixbench_method::lists::each_once;
use sixbench_method::plan::{Measure, Point, Stateful, Test};
use sixbench_method::record::{
    FORMAT, LinkKind, PathFacts, RepetitionHosts, TrialRecord, by_point,
};
use sixbench_method::replay::by_outcome_point;
use sixbench_method::search::AcceptedLoss;
use sixbench_method::status::{PlannedPoint, planned_points};
use sixbench_method::terms::{FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{Fault, Verdict};
use std::collections::{BTreeSet, HashMap};

/// A run, by point, in the order of the plan.
pub(crate) struct Digest<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) points: Vec<PointDigest<'a>>,
    /// The points of tests that were left out before the run began.
    left_out: Vec<PointDigest<'a>>,
    /// The status of each of these points.
    pub(crate) planned: Vec<PlannedPoint<'a>>,
    /// The trust in the figures; `None` if nothing was measured.
    pub(crate) trust: Option<Trust>,
    /// The frames that were neither received as they were sent nor simply lost, by test and kind.
    pub(crate) anomalies: Vec<Anomaly>,
    pub(crate) hosts: RepetitionHosts<'a>,
    /// The time from the first trial to the last; `None` if nothing was measured.
    pub(crate) span: Option<Span>,
    /// The first loss goals of the tests for which it is not zero, by their names. The map is mostly empty, which makes the look-up for each trial
    /// cheap.
    goals: HashMap<&'a str, LossRatio>,
}

impl<'a> Digest<'a> {
    pub(crate) fn new(input: &'a Input<'a>) -> Self {
        let planned = planned_points(input.plan, input.records, input.outcomes, input.facts);
        let (points, left_out): (Vec<_>, Vec<_>) = planned
            .iter()
            .partition(|p| input.plan.test(&p.test.name).is_some());
        let (mut records, mut outcomes) =
            (by_point(input.records), by_outcome_point(input.outcomes));
        let mut digest = |planned: &PlannedPoint<'a>| {
            let of_point = records.remove(&planned.point).unwrap_or_default();
            let outcomes = outcomes.remove(&planned.point).unwrap_or_default();
            PointDigest::new(
                input.plan,
                planned.test,
                planned.point.clone(),
                of_point,
                outcomes,
            )
        };
        let mut digests =
            |list: Vec<&PlannedPoint<'a>>| list.into_iter().map(&mut digest).collect();
        let (points, left_out) = (digests(points), digests(left_out));
        let trust = trust(
            input.plan,
            input.facts,
            input.records,
            input.outcomes,
            &planned,
        );
        let anomalies = anomalies(input.plan, input.records);
        let hosts = RepetitionHosts::new(input.facts, input.records);
        let goals = input
            .plan
            .tests
            .iter()
            .map(|test| (test.name.as_str(), test.first_goal(input.plan)));
        let goals = goals.filter(|(_, goal)| *goal != LossRatio::ZERO).collect();
        let span = Span::of(input.records.iter());
        Self {
            input,
            points,
            left_out,
            planned,
            trust,
            anomalies,
            hosts,
            span,
            goals,
        }
    }

    /// Returns the result of `view` for each host alone, with the name of the host; a single one, with an empty name, if there is one host. Results of
    /// two hosts must not be compared, so a repetition made on two hosts is left out.
    pub(crate) fn of_each_host<T>(&self, view: impl Fn(&Digest) -> T) -> Vec<(String, T)> {
        if !self.hosts.are_several() {
            return vec![(String::new(), view(self))];
        }
        let of_host = |host: &str| {
            let is_own = |point: &Point, repetition| self.hosts.is_only_on(host, point, repetition);
            let records = self
                .input
                .records
                .iter()
                .filter(|r| is_own(&r.point, r.repetition))
                .cloned()
                .collect::<Vec<_>>();
            let outcomes = self
                .input
                .outcomes
                .iter()
                .filter(|o| is_own(&o.point, o.repetition))
                .cloned()
                .collect::<Vec<_>>();
            let input = Input {
                records: &records,
                outcomes: &outcomes,
                ..*self.input
            };
            let mut digest = Digest::new(&input);
            // A point that only another host measured must not appear without a result here.
            digest.points.retain(|point| !point.records.is_empty());
            view(&digest)
        };
        self.hosts
            .all()
            .into_iter()
            .map(|host| (host.to_owned(), of_host(host)))
            .collect()
    }

    /// Returns the result of `view` for the devices of each group alone, whose results must not be compared with those of another: no axis, column or
    /// ranking has both. A single one, if there is one group.
    pub(crate) fn of_each_group<T>(&self, view: impl Fn(&Digest) -> T) -> Vec<(LinkKind, T)> {
        let groups: BTreeSet<LinkKind> = self
            .points
            .iter()
            .map(|point| self.group(point.test))
            .collect();
        if groups.len() < 2 {
            return vec![(LinkKind::Interfaces, view(self))];
        }
        let of_group = |group: LinkKind| {
            let mut digest = Digest::new(self.input);
            digest
                .points
                .retain(|point| self.group(point.test) == group);
            view(&digest)
        };
        groups
            .into_iter()
            .map(|group| (group, of_group(group)))
            .collect()
    }

    /// Returns the group of the device of a test.
    pub(crate) fn group(&self, test: &Test) -> LinkKind {
        self.input.facts.link_group(&test.dut)
    }

    /// Returns every planned point; those of tests that were left out before the run come last.
    pub(crate) fn all_points(&self) -> impl Iterator<Item = &PointDigest<'a>> {
        self.points.iter().chain(&self.left_out)
    }

    /// Returns the verdict on a trial by the first loss goal of its test, which is the one in headlines.
    pub(crate) fn verdict(&self, record: &TrialRecord) -> Verdict {
        record.result.verdict(self.goal(record))
    }

    /// Returns the first loss goal of a record's test.
    fn goal(&self, record: &TrialRecord) -> LossRatio {
        self.goals
            .get(record.point.test.as_str())
            .copied()
            .unwrap_or(LossRatio::ZERO)
    }

    /// Returns the number of trials of this verdict.
    pub(crate) fn counted(&self, verdict: Verdict) -> usize {
        self.input
            .records
            .iter()
            .filter(|record| self.verdict(record) == verdict)
            .count()
    }

    /// Returns a sentence on the disturbed trials that were judged by what they lost in tenths of a second in which nobody disturbed them, where RFC 2544
    /// knows only whole trials; `None` if there are none.
    pub(crate) fn judged_by_slices(&self) -> Option<String> {
        let is_one = |record: &&TrialRecord| {
            self.verdict(record) == Verdict::Lost
                && !record.result.faults.is_empty()
                && record.result.is_loss_decided(self.goal(record))
        };
        let judged = self.input.records.iter().filter(is_one).count() as u64;
        (judged > 0).then(|| {
            format!(
                "{}: what was lost in tenths of a second in which nobody disturbed the device, or the tester, was enough to call them lost.",
                match judged {
                    1 => "One disturbed trial was not repeated".to_owned(),
                    judged => format!("{judged} disturbed trials were not repeated"),
                }
            )
        })
    }

    /// Returns the greatest possible error of these points' delays due to clocks, nanoseconds; `None` if one clock timed both sending and arrival.
    pub(crate) fn clock_bound_ns(&self, points: &[&PointDigest]) -> Option<u64> {
        let directions = points
            .iter()
            .flat_map(|point| &point.records)
            .flat_map(|record| &record.result.directions);
        directions
            .filter_map(|direction| direction.clock_bound_ns)
            .max()
    }

    /// Returns the time by which the median of the delays of a trial of these points may be too long, the largest of all trials, nanoseconds; `None` in
    /// results of an earlier version.
    pub(crate) fn delay_bound_ns(&self, points: &[&PointDigest]) -> Option<u64> {
        let directions = points
            .iter()
            .flat_map(|point| &point.records)
            .flat_map(|record| &record.result.directions);
        directions
            .filter_map(|direction| Some(direction.delay.as_ref()?.bounds?.median_ns))
            .max()
    }

    /// Returns whether any trial is invalid because of its connections rather than the tester.
    pub(crate) fn has_faults_of_connections(&self) -> bool {
        self.input
            .records
            .iter()
            .any(|r| r.result.faults.iter().any(Fault::is_of_connections))
    }

    /// Returns whether any trial is invalid because of the names of a DNS server rather than the tester.
    pub(crate) fn has_faults_of_names(&self) -> bool {
        self.input
            .records
            .iter()
            .any(|r| r.result.faults.iter().any(Fault::is_of_names))
    }

    /// Returns whether the run has DNS queries, and whether it has anything else.
    pub(crate) fn has_queries_and_others(&self) -> (bool, bool) {
        let plan = self.input.plan;
        (plan.has_queries(), plan.has_others_than_queries())
    }

    /// Returns the phrase for a losing trial, which depends on whether it lost frames or queries.
    pub(crate) fn lost_word(&self, frames: &'static str) -> &'static str {
        match self.has_queries_and_others() {
            (true, false) => "not all answered",
            (true, true) => "failed (frames lost or queries unanswered)",
            (false, _) => frames,
        }
    }

    /// Returns the number of repetitions made at all points, and the number planned. For a point whose adaptive number sufficed, both are the same.
    pub(crate) fn repetitions(&self) -> (u32, u32) {
        let of_run = self
            .planned
            .iter()
            .filter(|p| self.input.plan.test(&p.test.name).is_some());
        let of_points = of_run.map(|p| (p.repetitions.made, p.repetitions.planned));
        of_points.fold((0, 0), |all: (u32, u32), of| {
            (all.0.saturating_add(of.0), all.1.saturating_add(of.1))
        })
    }

    /// Returns the title of a test's DUT, or the name of its recipe if the facts have none.
    pub(crate) fn dut_title(&self, test: &'a Test) -> &'a str {
        let title = self
            .input
            .facts
            .duts
            .get(&test.dut)
            .map(|d| d.title.as_str());
        title.filter(|t| !t.is_empty()).unwrap_or(&test.dut)
    }

    /// Returns whether the device of a test is connected to the tester by shared memory.
    pub(crate) fn is_in_memory(&self, test: &Test) -> bool {
        self.group(test) == LinkKind::SharedMemory
    }

    /// Returns the facts on the path of a test's datagrams; `None` for plain forwarding or translation.
    pub(crate) fn path(&self, test: &Test) -> Option<&'a PathFacts> {
        self.input.facts.duts.get(&test.dut)?.path.as_ref()
    }

    /// Returns the number of subscribers that the tester simulates, for a device that serves subscribers: that of the plan, else that of the recipe.
    pub(crate) fn subscribers(&self, test: &Test) -> Option<u32> {
        let of_recipe = self.path(test)?.subscribers?;
        Some(test.traffic.subscribers.unwrap_or(of_recipe))
    }

    /// Returns the points of the throughput tests, which headlines are about.
    pub(crate) fn throughput_points(&self) -> impl Iterator<Item = &PointDigest<'a>> {
        self.points.iter().filter(|p| p.is_throughput())
    }

    /// Returns the points of the tests that search for a rate of frames or of connections.
    pub(crate) fn searched_points(&self) -> impl Iterator<Item = &PointDigest<'a>> {
        self.points.iter().filter(|p| p.is_searched())
    }

    pub(crate) fn stateful_points(&self) -> impl Iterator<Item = (&PointDigest<'a>, Stateful)> {
        self.points
            .iter()
            .filter_map(|p| Some((p, p.test.stateful?)))
    }

    pub(crate) fn compared_points(&self) -> impl Iterator<Item = &PointDigest<'a>> {
        self.throughput_points()
            .filter(|p| self.is_compared(p.test))
    }

    /// Returns whether a test is compared with others. Of a series this is only the first step, since the series has a separate chapter.
    pub(crate) fn is_compared(&self, test: &Test) -> bool {
        let Some(series) = &test.series else {
            return true;
        };
        let steps = self
            .input
            .plan
            .tests
            .iter()
            .filter_map(|t| t.series.as_ref())
            .filter(|s| s.name == series.name);
        steps.map(|s| s.at).fold(f64::MAX, f64::min) == series.at
    }

    pub(crate) fn points_of(
        &self,
        measure: fn(&Measure) -> bool,
    ) -> impl Iterator<Item = &PointDigest<'a>> {
        self.points.iter().filter(move |p| measure(&p.test.measure))
    }

    pub(crate) fn point(&self, test: &Test, size: FrameSize) -> Option<&PointDigest<'a>> {
        self.points
            .iter()
            .find(|p| p.test.name == test.name && p.point.frame_size == size)
    }

    /// Returns the index of a test in the plan, which determines the colour of its lines.
    pub(crate) fn place(&self, test: &Test) -> usize {
        self.input
            .plan
            .tests
            .iter()
            .position(|t| t.name == test.name)
            .unwrap_or(0)
    }

    /// Returns the rate that is 100 % of the load at this size: the theoretical rate of the medium, or the highest rate of the plan if the medium is
    /// unknown.
    pub(crate) fn full_rate(&self, size: FrameSize) -> FrameRate {
        let scanned = self
            .input
            .plan
            .tests
            .iter()
            .flat_map(|test| test.measure.loads().listed())
            .copied();
        let highest = scanned.fold(self.input.plan.search.maximum, FrameRate::max);
        self.theoretical(size).unwrap_or(highest)
    }

    /// Returns the theoretical rate of the medium at this size, for the largest frames that any test has on a link; `None` if the medium is unknown.
    pub(crate) fn theoretical(&self, size: FrameSize) -> Option<FrameRate> {
        let tests = self.input.plan.tests.iter();
        tests
            .filter_map(|test| test.theoretical(self.input.plan, size))
            .min()
    }
}

/// Returns the first loss goal of these points; `None` if they differ.
pub(crate) fn common_goal<'d, 'a: 'd>(
    points: impl IntoIterator<Item = &'d PointDigest<'a>>,
) -> Option<AcceptedLoss> {
    let goals = each_once(points.into_iter().map(|point| point.accepted()));
    if let [goal] = goals[..] {
        Some(goal)
    } else {
        None
    }
}

/// Returns the loss goals of these points, each once.
pub(crate) fn all_goals<'d, 'a: 'd>(
    points: impl IntoIterator<Item = &'d PointDigest<'a>>,
) -> Vec<AcceptedLoss> {
    each_once(
        points
            .into_iter()
            .flat_map(|point| point.goals.iter().map(|goal| goal.goal)),
    )
}

pub(crate) fn sizes<'d, 'a: 'd>(
    points: impl Iterator<Item = &'d PointDigest<'a>>,
) -> Vec<FrameSize> {
    points
        .map(|p| p.point.frame_size)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Returns the kinds of frames of the points, one for each panel: the sizes in ascending order, then `None` for DNS queries, which have no size.
pub(crate) fn kinds<'d, 'a: 'd>(
    points: impl Iterator<Item = &'d PointDigest<'a>>,
) -> Vec<Option<FrameSize>> {
    let found: BTreeSet<Option<FrameSize>> = points.map(PointDigest::size).collect();
    let (queries, sizes): (Vec<_>, Vec<_>) = found.into_iter().partition(Option::is_none);
    sizes.into_iter().chain(queries).collect()
}

/// Returns an error if a record has a newer format, which could be misread.
pub(crate) fn check_formats(records: &[TrialRecord]) -> Result<(), ReportError> {
    match records.iter().map(|r| r.format).find(|&f| f > FORMAT) {
        Some(found) => Err(ReportError::Format {
            found,
            known: FORMAT,
        }),
        None => Ok(()),
    }
}
