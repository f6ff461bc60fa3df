//! Takes a plan through its devices, repetitions, points and trials.

use super::owner;
use super::reporting::{self, Findings};
use super::session::{Session, Site, Wanted};
use super::store::Store;
use crate::exit::{Exit, Failed};
use crate::profile;
use crate::view::View;
use sixbench_method::budget;
use sixbench_method::event::Event;
use sixbench_method::forecast::Forecast;
use sixbench_method::measure::{Outcome, Procedure};
use sixbench_method::plan::{Measure, Plan, Point, Test};
use sixbench_method::record::{FORMAT, Facts, TrialRecord};
use sixbench_method::replay;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::stats;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::TrialSpec;
use sixbench_testbed::{Library, Recipe, Zone, facts};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Queries per second beyond which no self-test goes: where sockets of one machine end.
const MOST_CERTIFIED: FrameRate = FrameRate(500_000);
/// A trial of the self-test is no longer than this: it is the tester's, and steady.
const LONGEST_SELF_TEST_NS: u64 = 10_000_000_000;

/// Everything a run needs.
pub(crate) struct Order<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) library: &'a Library,
    pub(crate) site: Site<'a>,
    /// Whether the record of every DNS query is kept.
    pub(crate) queries: bool,
    /// Trials of an earlier part of the same run.
    pub(crate) records: Vec<TrialRecord>,
    /// What the earlier part knew of its devices, and the commands it ran.
    pub(crate) earlier: Option<(Facts, String)>,
}

/// How a run ended, its results being on disk.
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    /// Where the report is; `None` where it could not be written.
    pub(crate) report: Option<PathBuf>,
    pub(crate) summary: String,
    /// Trials on disk, those of earlier parts of the run among them.
    pub(crate) trials: usize,
    /// What cut the run short, if anything did.
    pub(crate) error: Option<anyhow::Error>,
}

/// A run under way.
struct Manager<'a> {
    order: Order<'a>,
    store: &'a mut Store,
    view: &'a mut dyn View,
    facts: Facts,
    /// How long the rest takes.
    forecast: Forecast,
    start: Instant,
}

/// Performs the order. An error after the first trial still leaves a report of what was measured.
pub(crate) fn perform(order: Order<'_>, store: &mut Store, view: &mut dyn View, color: bool) -> Ended {
    let earlier = order.earlier.as_ref().map(|(facts, _)| facts.clone()).unwrap_or_default();
    let facts = Facts { sixbench: env!("CARGO_PKG_VERSION").to_owned(), host: facts::host(), ..earlier };
    let mut forecast = Forecast::new(order.plan);
    replay::outcomes(order.plan, &order.records).iter().for_each(|outcome| forecast.finish(outcome));
    let mut manager = Manager { order, store, view, facts, forecast, start: Instant::now() };
    manager.begin();
    let outcome = manager.all_devices();
    manager.end(outcome, color)
}

impl Manager<'_> {
    fn begin(&mut self) {
        let budget = budget::estimate(self.order.plan);
        self.show(&Event::RunStarted {
            plan: self.order.plan.name.clone(),
            results: self.store.directory().display().to_string(),
            measurements: budget.measurements,
            estimate_s: seconds(self.forecast.remaining_ns()),
        });
    }

    /// Shows an event, and after each trial how far the run is.
    fn show(&mut self, event: &Event) {
        let now_ns = self.start.elapsed().as_nanos() as u64;
        self.forecast.note(now_ns, event);
        self.view.show(event);
        if matches!(event, Event::TrialEnded { .. }) {
            let remaining_s = seconds(self.forecast.remaining_ns());
            self.view.show(&Event::Progress { elapsed_s: now_ns / 1_000_000_000, remaining_s });
        }
    }

    fn end(mut self, outcome: Result<(), Failed>, color: bool) -> Ended {
        let (report, outcome) = match (self.write(outcome.is_err()), outcome) {
            (Ok(report), outcome) => (Some(report), outcome),
            (Err(failed), Ok(())) => (None, Err(failed)),
            // What ended the run is the better story than that its report could not be written either.
            (Err(_), Err(failed)) => (None, Err(failed)),
        };
        let (exit, error) = match outcome {
            Ok(()) => (Exit::Done, None),
            Err(failed) => (failed.exit, Some(failed.error)),
        };
        let results = self.store.directory().display().to_string();
        self.show(&Event::RunEnded { results, interrupted: error.is_some() });
        let commands = self.commands();
        let summary = reporting::terminal(&self.findings(&commands, error.is_some()), color);
        let missed = self.missed();
        let exit = match exit {
            Exit::Done if self.tester_was_unfit() => Exit::TesterUnfit,
            Exit::Done if !missed.is_empty() => Exit::Missed,
            exit => exit,
        };
        Ended { exit, report, summary: summary + &missed.concat(), trials: self.order.records.len(), error }
    }

    /// Group by group, in the order of the plan.
    fn all_devices(&mut self) -> Result<(), Failed> {
        for tests in groups(self.order.plan) {
            self.group(&tests)?;
            self.write(true)?;
        }
        Ok(())
    }

    /// All measurements of one group; repetitions go round its points, so that a drift of the machine spreads over all of them, and every
    /// second one backwards, so that none always comes first.
    fn group(&mut self, tests: &[&Test]) -> Result<(), Failed> {
        let most = tests.iter().map(|test| test.repetitions.most()).max().unwrap_or(0);
        let mut round: Vec<(&Test, Point)> =
            tests.iter().flat_map(|test| test.points().map(move |point| (*test, point))).collect();
        let mut sessions = Sessions::new();
        for repetition in 1..=most {
            for (test, point) in &round {
                if self.is_wanted(test, point, repetition) {
                    self.measurement(&mut sessions, test, point, repetition)?;
                }
            }
            round.reverse();
        }
        Ok(())
    }

    /// Whether the repetitions before this one leave the point not known well enough.
    fn is_wanted(&self, test: &Test, point: &Point, repetition: u32) -> bool {
        let mut made = replay::outcomes_of(self.order.plan, point, &self.order.records);
        made.retain(|outcome| outcome.repetition < repetition);
        replay::wants_more(test, &made)
    }

    /// One repetition of one point; what an earlier part of the run measured is not measured again.
    fn measurement(&mut self, sessions: &mut Sessions, test: &Test, point: &Point, repetition: u32) -> Result<(), Failed> {
        let plan = self.order.plan;
        let (mut procedure, mut trials) = replay::resume(plan, point, repetition, &self.order.records)
            .map_err(|mismatch| Failed::new(Exit::Usage, *mismatch))?;
        self.show(&Event::MeasurementStarted { point: point.clone(), repetition, of: test.repetitions.most() });
        if procedure.next_trial().is_some() {
            let session = self.ready(sessions, test, point)?;
            while let Some(spec) = procedure.next_trial() {
                trials += 1;
                self.trial(session, procedure.as_mut(), point, (repetition, trials), &spec)?;
            }
        }
        if let Some(outcome) = self.outcome(point, repetition) {
            let measure = test.measure.name().to_owned();
            self.show(&Event::MeasurementEnded { measure, outcome });
        }
        Ok(())
    }

    /// The device of a test with the traffic of a point, brought up when it is first needed.
    fn ready<'s>(&mut self, sessions: &'s mut Sessions, test: &Test, point: &Point) -> Result<&'s mut Session, Failed> {
        let plan = self.order.plan;
        let library = self.order.library;
        let recipe = library.get(&test.dut).ok_or_else(|| Failed::usage(format!("no recipe is named {}", test.dut)))?;
        let job = profile::job(recipe, test, point.frame_size, plan.seed, test.trial_settings(plan)).map_err(Failed::usage)?;
        let key = device_of(test);
        if !sessions.contains_key(&key) {
            self.check_stop()?;
            let same = plan.tests.iter().filter(|other| device_of(other) == key);
            let largest = same.flat_map(|test| test.frame_sizes.iter().copied()).max().unwrap_or(point.frame_size);
            let name = if plan.interleave { sessions.len().to_string() } else { String::new() };
            let dns = self.server(test)?;
            let subscribers = profile::subscribers::most(recipe, &plan.tests);
            let (cores, table_size) = (test.cores, table_size(test));
            let wanted = Wanted { recipe, name, cores, table_size, dns, subscribers, largest };
            let opened = Session::open(&self.order.site, &wanted, job.clone())?;
            self.note(&opened, recipe)?;
            // All that the device will have to hold, before hours of what it can.
            let mut of_device = plan.tests.iter().filter(|other| device_of(other) == key);
            of_device.try_for_each(|other| opened.check_state(other, plan))?;
            sessions.insert(key.clone(), opened);
        }
        let session = sessions.get_mut(&key).expect("just opened");
        session.set_job(job);
        self.certify(session, test)?;
        Ok(session)
    }

    /// What a DNS server is set up for.
    fn server(&self, test: &Test) -> Result<Option<(Zone, Option<&Recipe>)>, Failed> {
        let Some(dns) = test.measure.dns() else { return Ok(None) };
        let authority = profile::dns::authority(self.order.library, test).map_err(Failed::usage)?;
        let zone = profile::dns::zone(dns, false).map_err(Failed::usage)?;
        Ok(Some((zone, authority)))
    }

    /// The tester's self-test for a DNS server, before anything is measured: its trials are facts of the run.
    fn certify(&mut self, session: &mut Session, test: &Test) -> Result<(), Failed> {
        let plan = self.order.plan;
        let most = plan.search.maximum.min(MOST_CERTIFIED);
        let duration_ns = plan.trial.duration_ns.min(LONGEST_SELF_TEST_NS);
        let Some(certificate) = session.certify(most, duration_ns)? else { return Ok(()) };
        let dut = test.dut.clone();
        self.show(&Event::SelfTested { dut, certificate: certificate.clone() });
        self.facts.duts.entry(test.dut.clone()).or_default().certificates.push(certificate);
        Ok(self.store.write_facts(&self.facts)?)
    }

    /// Puts the facts of a device on disk before its first trial.
    fn note(&mut self, session: &Session, recipe: &Recipe) -> Result<(), Failed> {
        let mut dut = session.dut_facts(recipe);
        // Self-tests of before hold for the trials of before.
        dut.certificates = self.facts.duts.get(&recipe.name).map(|before| before.certificates.clone()).unwrap_or_default();
        self.show(&Event::DutReady { dut: recipe.name.clone(), version: dut.version.clone() });
        self.facts.duts.insert(recipe.name.clone(), dut);
        self.facts.layout = session.layout().to_vec();
        for text in session.warnings() {
            if !self.facts.warnings.contains(text) {
                self.facts.warnings.push(text.clone());
                self.show(&Event::Warning { text: text.clone() });
            }
        }
        self.store.write_facts(&self.facts)?;
        Ok(self.store.write("commands.sh", &self.commands())?)
    }

    fn trial(
        &mut self,
        session: &mut Session,
        procedure: &mut dyn Procedure,
        point: &Point,
        (repetition, trial): (u32, u32),
        spec: &TrialSpec,
    ) -> Result<(), Failed> {
        self.check_stop()?;
        self.show(&Event::TrialStarted { point: point.clone(), spec: *spec });
        let started = jiff::Timestamp::now().to_string();
        let queries = self.order.queries.then(|| self.store.queries(point, repetition, trial)).transpose()?;
        queries.iter().for_each(|path| session.keep_queries(path.clone()));
        let (result, watch) = session.measure(spec)?;
        queries.iter().filter(|path| path.exists()).try_for_each(|path| owner::give(path))?;
        let record =
            TrialRecord { format: FORMAT, point: point.clone(), repetition, trial, started, result, watch: Some(watch) };
        self.store.append(&record)?;
        let verdict = procedure.verdict(&record.result);
        procedure.learn(&record.result);
        self.order.records.push(record.clone());
        self.show(&Event::TrialEnded { record: Box::new(record), verdict });
        self.rest()
    }

    /// RFC 2544 section 23: let the device come to rest. Ends early when somebody asks to stop.
    fn rest(&self) -> Result<(), Failed> {
        let end = Instant::now() + Duration::from_nanos(self.order.plan.trial.rest_ns);
        while Instant::now() < end {
            self.check_stop()?;
            std::thread::sleep(Duration::from_millis(20).min(end - Instant::now().min(end)));
        }
        Ok(())
    }

    fn check_stop(&self) -> Result<(), Failed> {
        if self.order.site.stop.load(Ordering::Relaxed) {
            return Err(Failed::new(Exit::Interrupted, anyhow::anyhow!("interrupted")));
        }
        Ok(())
    }

    fn outcome(&self, point: &Point, repetition: u32) -> Option<Outcome> {
        let all = replay::outcomes_of(self.order.plan, point, &self.order.records);
        all.into_iter().find(|outcome| outcome.repetition == repetition)
    }

    fn findings<'f>(&'f self, commands: &'f str, interrupted: bool) -> Findings<'f> {
        Findings { plan: self.order.plan, records: &self.order.records, facts: &self.facts, commands, interrupted }
    }

    fn write(&mut self, interrupted: bool) -> Result<PathBuf, Failed> {
        let commands = self.commands();
        self.store.write("commands.sh", &commands)?;
        self.store.write_facts(&self.facts)?;
        Ok(reporting::write(self.store.directory(), &self.findings(&commands, interrupted))?)
    }

    /// Every command so far, those of an earlier part of the run first.
    fn commands(&self) -> String {
        let now = self.order.site.shell.transcript().text();
        match &self.order.earlier {
            Some((_, before)) if !before.is_empty() => format!("{before}# the run went on\n{now}"),
            _ => format!("#!/bin/sh\n# Every command the testbed ran, in order.\nset -eu\n{now}"),
        }
    }

    /// The expectations of the plan that the medians miss, a line each. A point without a result is no miss.
    fn missed(&self) -> Vec<String> {
        let outcomes = replay::outcomes(self.order.plan, &self.order.records);
        let expected = self.order.plan.tests.iter().filter_map(|test| Some((test, test.expect?)));
        let points =
            expected.flat_map(|(test, expect)| test.points().map(move |point| (point, expect, unit_of(&test.measure))));
        points
            .filter_map(|(point, expect, unit)| {
                let of_point = outcomes.iter().filter(|outcome| outcome.point == point);
                let found: Vec<f64> = of_point.filter_map(|o| expectable(o.brackets.first()?)).collect();
                let median = stats::median(&found).filter(|median| *median < expect.0 as f64)?;
                Some(format!("missed: {point}: a median of {median} {unit}, expected at least {}\n", expect.0))
            })
            .collect()
    }

    /// Whether some measurement has no result because the tester never managed a valid trial.
    fn tester_was_unfit(&self) -> bool {
        let plan = self.order.plan;
        replay::outcomes(plan, &self.order.records).iter().any(|outcome| {
            let bracket = outcome.brackets.first();
            let searched_in_vain = bracket.is_some_and(|b| b.lower.is_none() && b.limit == Limit::Tester);
            let has_a_load = bracket.is_none_or(|b| b.lower.is_some());
            let is_of_values = plan.test(&outcome.point.test).is_some_and(|test| !test.measure.is_searched_rate());
            searched_in_vain || (is_of_values && has_a_load && outcome.invalid > 0 && outcome.values.is_empty())
        })
    }
}

/// What a repetition says to an expectation: nothing passed is zero; what the tester or the plan cut off says nothing below its bound,
/// and counts as that bound.
fn expectable(bracket: &Bracket) -> Option<f64> {
    match (bracket.lower, bracket.limit) {
        (Some(rate), _) => Some(rate.0 as f64),
        (None, Limit::Tester) => None,
        (None, _) => Some(0.0),
    }
}

/// Whole seconds, rounded up.
fn seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000)
}

/// What an expectation of a measure is a number of.
fn unit_of(measure: &Measure) -> &'static str {
    match measure {
        Measure::Dns(_) => "queries/s",
        measure if measure.counts_connections() => "connections/s",
        _ => "frames/s",
    }
}

/// The sessions that are open, by what they serve.
type Sessions = BTreeMap<Device, Session>;

/// A device as a testbed has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Device {
    recipe: String,
    /// Cores it may use.
    cores: Option<u32>,
    /// Of its connection tracking table.
    table_size: Option<u64>,
    /// Whether the tester's ends are hosts.
    has_hosts: bool,
    /// What a DNS server is set up for.
    server: Option<String>,
}

fn device_of(test: &Test) -> Device {
    Device {
        recipe: test.dut.clone(),
        cores: test.cores,
        table_size: table_size(test),
        has_hosts: test.measure.needs_hosts(),
        server: test.measure.dns().map(profile::dns::server_of),
    }
}

fn table_size(test: &Test) -> Option<u64> {
    test.stateful.and_then(|stateful| stateful.table_size)
}

/// Tests whose repetitions go round together: those of one device, or all.
fn groups(plan: &Plan) -> Vec<Vec<&Test>> {
    if plan.interleave {
        return vec![plan.tests.iter().collect()];
    }
    let mut groups: Vec<Vec<&Test>> = Vec::new();
    for test in &plan.tests {
        match groups.iter_mut().find(|group| device_of(group[0]) == device_of(test)) {
            Some(group) => group.push(test),
            None => groups.push(vec![test]),
        }
    }
    groups
}
