//! Takes a plan through its devices, repetitions, points and trials.

use super::reporting::{self, Findings};
use super::session::{Session, Site};
use super::store::Store;
use crate::exit::{Exit, Failed};
use crate::profile;
use crate::view::View;
use sixbench_method::budget;
use sixbench_method::event::Event;
use sixbench_method::plan::{Plan, Point, Test};
use sixbench_method::record::{FORMAT, Facts, Outcome, TrialRecord};
use sixbench_method::search::{Limit, Search, replay};
use sixbench_method::stats;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::TrialSpec;
use sixbench_testbed::{Library, Recipe, facts};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Everything a run needs.
pub(crate) struct Order<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) library: &'a Library,
    pub(crate) site: Site<'a>,
    /// Trials of an earlier part of the same run.
    pub(crate) records: Vec<TrialRecord>,
}

/// How a run ended, its results being on disk.
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) report: PathBuf,
    pub(crate) summary: String,
    /// What cut the run short, if anything did.
    pub(crate) error: Option<anyhow::Error>,
}

/// A run under way.
struct Manager<'a> {
    order: Order<'a>,
    store: &'a mut Store,
    view: &'a mut dyn View,
    facts: Facts,
}

/// Performs the order. An error after the first trial still leaves a report of what was measured.
pub(crate) fn perform(order: Order<'_>, store: &mut Store, view: &mut dyn View, color: bool) -> Result<Ended, Failed> {
    let facts = Facts { sixbench: env!("CARGO_PKG_VERSION").to_owned(), host: facts::host(), ..Facts::default() };
    let mut manager = Manager { order, store, view, facts };
    manager.begin();
    let outcome = manager.all_devices();
    let (exit, error) = match outcome {
        Ok(()) => (Exit::Done, None),
        Err(failed) => (failed.exit, Some(failed.error)),
    };
    manager.end(exit, error, color)
}

impl Manager<'_> {
    fn begin(&mut self) {
        let budget = budget::estimate(self.order.plan);
        self.view.show(&Event::RunStarted {
            plan: self.order.plan.name.clone(),
            results: self.store.directory().display().to_string(),
            measurements: budget.measurements,
            estimate_s: budget.seconds,
        });
    }

    fn end(mut self, exit: Exit, error: Option<anyhow::Error>, color: bool) -> Result<Ended, Failed> {
        let report = self.write(error.is_some())?;
        let results = self.store.directory().display().to_string();
        self.view.show(&Event::RunEnded { results, interrupted: error.is_some() });
        let commands = self.order.site.shell.transcript().text();
        let summary = reporting::terminal(&self.findings(&commands, error.is_some()), color);
        let missed = self.missed();
        let exit = match exit {
            Exit::Done if self.tester_was_unfit() => Exit::TesterUnfit,
            Exit::Done if !missed.is_empty() => Exit::Missed,
            exit => exit,
        };
        Ok(Ended { exit, report, summary: summary + &missed.concat(), error })
    }

    /// Device by device, in the order of the plan.
    fn all_devices(&mut self) -> Result<(), Failed> {
        let plan = self.order.plan;
        let mut seen: Vec<&str> = Vec::new();
        for test in &plan.tests {
            if !seen.contains(&test.dut.as_str()) {
                seen.push(&test.dut);
                self.device(&test.dut)?;
                self.write(true)?;
            }
        }
        Ok(())
    }

    /// All measurements of one device; repetitions go round its points, so that a drift of the machine spreads over all of them.
    fn device(&mut self, name: &str) -> Result<(), Failed> {
        let plan = self.order.plan;
        let tests: Vec<&Test> = plan.tests.iter().filter(|test| test.dut == name).collect();
        let library = self.order.library;
        let recipe = library.get(name).ok_or_else(|| Failed::usage(format!("no recipe is named {name}")))?;
        let most = tests.iter().map(|test| test.repetitions).max().unwrap_or(0);
        let mut session = None;
        for repetition in 1..=most {
            for test in tests.iter().filter(|test| repetition <= test.repetitions) {
                for point in test.points() {
                    self.measurement(&mut session, recipe, test, &point, repetition)?;
                }
            }
        }
        Ok(())
    }

    /// One repetition of one point; what an earlier part of the run measured is not measured again.
    fn measurement(
        &mut self,
        session: &mut Option<Session>,
        recipe: &Recipe,
        test: &Test,
        point: &Point,
        repetition: u32,
    ) -> Result<(), Failed> {
        let plan = self.order.plan;
        let (mut search, mut trials) = replay::resume(plan, point, repetition, &self.order.records)
            .map_err(|mismatch| Failed::new(Exit::Usage, mismatch))?;
        self.view.show(&Event::MeasurementStarted { point: point.clone(), repetition, of: test.repetitions });
        if search.next_trial().is_some() {
            let profile = profile::of(recipe, test, point.frame_size, plan.seed).map_err(Failed::usage)?;
            let session = self.ready(session, recipe, profile)?;
            while let Some(spec) = search.next_trial() {
                trials += 1;
                self.trial(session, search.as_mut(), point, (repetition, trials), &spec)?;
            }
        }
        if let Some(outcome) = self.outcome(point, repetition) {
            self.view.show(&Event::MeasurementEnded { outcome });
        }
        Ok(())
    }

    /// The device, brought up when it is first needed.
    fn ready<'s>(
        &mut self,
        session: &'s mut Option<Session>,
        recipe: &Recipe,
        profile: sixbench_engine::profile::Profile,
    ) -> Result<&'s mut Session, Failed> {
        if session.is_none() {
            self.check_stop()?;
            let tests = self.order.plan.tests.iter().filter(|test| test.dut == recipe.name);
            let largest = tests.flat_map(|test| test.frame_sizes.iter().copied()).max().unwrap_or(profile.frame_size);
            let opened = Session::open(&self.order.site, recipe, profile.clone(), largest)?;
            self.note(&opened, recipe)?;
            *session = Some(opened);
        }
        let session = session.as_mut().expect("just opened");
        session.set_profile(profile);
        Ok(session)
    }

    /// Puts the facts of a device on disk before its first trial.
    fn note(&mut self, session: &Session, recipe: &Recipe) -> Result<(), Failed> {
        let dut = session.dut_facts(recipe);
        self.view.show(&Event::DutReady { dut: recipe.name.clone(), version: dut.version.clone() });
        self.facts.duts.insert(recipe.name.clone(), dut);
        self.facts.layout = session.layout().to_vec();
        for text in session.warnings() {
            if !self.facts.warnings.contains(text) {
                self.facts.warnings.push(text.clone());
                self.view.show(&Event::Warning { text: text.clone() });
            }
        }
        self.store.write_facts(&self.facts)?;
        Ok(self.store.write("commands.sh", &script(&self.order.site.shell.transcript().text()))?)
    }

    fn trial(
        &mut self,
        session: &mut Session,
        search: &mut dyn Search,
        point: &Point,
        (repetition, trial): (u32, u32),
        spec: &TrialSpec,
    ) -> Result<(), Failed> {
        self.check_stop()?;
        self.view.show(&Event::TrialStarted { point: point.clone(), spec: *spec });
        let started = jiff::Timestamp::now().to_string();
        let (result, watch) = session.measure(spec)?;
        let record =
            TrialRecord { format: FORMAT, point: point.clone(), repetition, trial, started, result, watch: Some(watch) };
        self.store.append(&record)?;
        search.learn(&record.result);
        self.order.records.push(record.clone());
        let goal = self.order.plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
        let verdict = record.result.verdict(goal);
        self.view.show(&Event::TrialEnded { record: Box::new(record), verdict });
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
        let all = replay::outcomes(self.order.plan, &self.order.records);
        all.into_iter().find(|o| o.point == *point && o.repetition == repetition)
    }

    fn findings<'f>(&'f self, commands: &'f str, interrupted: bool) -> Findings<'f> {
        Findings { plan: self.order.plan, records: &self.order.records, facts: &self.facts, commands, interrupted }
    }

    fn write(&mut self, interrupted: bool) -> Result<PathBuf, Failed> {
        let commands = script(&self.order.site.shell.transcript().text());
        self.store.write("commands.sh", &commands)?;
        self.store.write_facts(&self.facts)?;
        Ok(reporting::write(self.store, &self.findings(&commands, interrupted))?)
    }

    /// The expectations of the plan that the medians miss, a line each. A point without a result is no miss.
    fn missed(&self) -> Vec<String> {
        let outcomes = replay::outcomes(self.order.plan, &self.order.records);
        let expected = self.order.plan.tests.iter().filter_map(|test| Some((test, test.expect?)));
        let points = expected.flat_map(|(test, expect)| test.points().map(move |point| (point, expect)));
        points
            .filter_map(|(point, expect)| {
                let of_point = outcomes.iter().filter(|outcome| outcome.point == point);
                let found: Vec<f64> = of_point.filter_map(|o| Some(o.brackets.first()?.lower?.0 as f64)).collect();
                let median = stats::median(&found).filter(|median| *median < expect.0 as f64)?;
                Some(format!("missed: {point}: a median of {median} frames/s, expected at least {}\n", expect.0))
            })
            .collect()
    }

    /// Whether some point has no result because the tester never managed a valid trial there.
    fn tester_was_unfit(&self) -> bool {
        let outcomes = replay::outcomes(self.order.plan, &self.order.records);
        let brackets = outcomes.iter().filter_map(|outcome| outcome.brackets.first());
        brackets.into_iter().any(|bracket| bracket.lower.is_none() && bracket.limit == Limit::Tester)
    }
}

fn script(transcript: &str) -> String {
    format!("#!/bin/sh\n# Every command the testbed ran, in order.\nset -eu\n{transcript}")
}
