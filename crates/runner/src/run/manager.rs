//! Takes a plan through its devices, repetitions, points and trials.

use super::conformance;
use super::dns::MOST_CERTIFIED;
use super::quiet::wait_until_quiet;
use super::receive_queues;
use super::session::Session;
use super::time_limit::TimeLimit;
use crate::code;
use crate::error::{PlanError, RunError};
use crate::profile;
use crate::request::{RunRequest, SessionRequest};
use crate::results::differences::changes_of_machine;
use crate::results::owner;
use crate::results::reporting;
use crate::results::store::{self, Store};
use crate::run::origin;
use crate::run_clock::RunClock;
use crate::stop;
use sixbench_io::thread::allowed_cores;
use sixbench_method::budget::{self, LONGEST_SELF_TEST_NS};
use sixbench_method::event::Event;
use sixbench_method::forecast::Forecast;
use sixbench_method::lists::by_key;
use sixbench_method::measures::{Judgement, Outcome};
use sixbench_method::patience::Patience;
use sixbench_method::plan::{DeviceIdentity, Plan, Point, RequirementTest, Test};
use sixbench_method::record::Warning;
use sixbench_method::record::{Disturber, DutFacts, Ending, FORMAT, Facts, TrialRecord};
use sixbench_method::replay::{self, ResumedMeasurement};
use sixbench_method::terms::FrameSize;
use sixbench_method::trial::TrialSpec;
use sixbench_report::lean;
use sixbench_testbed::{Library, Recipe};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The result of a run whose measurements are on disk.
pub struct EndedRun {
    /// The path of the report, or `None` if it could not be written.
    pub report: Option<PathBuf>,
    /// The trials on disk, including those of earlier parts of the run, but without parts that no report reads for every trial, such as delay
    /// distributions.
    pub records: Vec<TrialRecord>,
    /// The facts on disk.
    pub facts: Facts,
    /// Every command that the testbed ran.
    pub commands: String,
    /// The error that ended the run early, if there was one.
    pub error: Option<RunError>,
}

impl EndedRun {
    /// Returns the time given to the run, in seconds, if it was up before everything was measured.
    pub fn time_up_s(&self) -> Option<u64> {
        match self.facts.runs.last()?.ending {
            Some(Ending::TimeUp { within_s }) => Some(within_s),
            _ => None,
        }
    }
}

struct Manager<'a> {
    request: RunRequest<'a>,
    store: &'a mut Store,
    listener: &'a mut dyn FnMut(&Event),
    facts: Facts,
    forecast: Forecast,
    /// The remaining patience with each point that was, or may have been, disturbed.
    patience: BTreeMap<Point, Patience>,
    clock: RunClock,
    limit: Option<TimeLimit>,
}

/// Performs a run. `listener` receives each event. After an error past the first trial, there is still a report on what was measured.
///
/// # Errors
/// The plan brings code that is not trusted, or the facts cannot be written at the start. Any other error is part of the returned value.
pub fn perform(
    mut request: RunRequest<'_>,
    store: &mut Store,
    listener: &mut dyn FnMut(&Event),
) -> Result<EndedRun, RunError> {
    let code = code::of_plan(request.plan, request.site.links, request.library)?;
    code::check(&code, request.trusted)?;
    request.records.iter_mut().for_each(lean::drop_unread);
    let clock = RunClock::start();
    let mut facts = origin::begin(&request, code, clock.now());
    let step = request
        .records
        .last()
        .and_then(|record| clock.step_since(&record.started));
    facts.warnings.extend(step);
    let mut forecast = Forecast::new(request.plan, &facts.selection);
    for outcome in &replay::outcomes(request.plan, &request.records) {
        forecast.finish(outcome);
    }
    facts
        .runs
        .iter_mut()
        .last()
        .into_iter()
        .for_each(|part| part.estimate_s = Some(seconds(forecast.remaining_ns())));
    store.write_facts(&facts)?;
    let limit = request.within.map(TimeLimit::new);
    let mut manager = Manager {
        limit,
        request,
        store,
        listener,
        facts,
        forecast,
        patience: BTreeMap::new(),
        clock,
    };
    manager.begin();
    let outcome = manager.all_devices();
    Ok(manager.end(outcome))
}

impl Manager<'_> {
    fn begin(&mut self) {
        let budget = budget::estimate(&self.facts.selection.narrowed(self.request.plan));
        self.show(&Event::RunStarted {
            plan: self.request.plan.name.clone(),
            results: self.store.directory().display().to_string(),
            measurements: budget.measurements,
            estimate_s: seconds(self.forecast.remaining_ns()),
        });
    }

    /// Reports an event and, after each trial, the progress of the run.
    fn show(&mut self, event: &Event) {
        let now_ns = self.clock.elapsed().as_nanos() as u64;
        self.forecast.note(now_ns, event);
        (self.listener)(event);
        if matches!(event, Event::TrialEnded { .. }) {
            let remaining_s = seconds(self.forecast.remaining_ns());
            (self.listener)(&Event::Progress {
                elapsed_s: now_ns / 1_000_000_000,
                remaining_s,
            });
        }
    }

    fn end(mut self, outcome: Result<(), RunError>) -> EndedRun {
        let outcome = RunError::of_place(outcome, self.store.check_place());
        let cut_within_s = self.limit.as_ref().and_then(TimeLimit::cut_within_s);
        origin::end(
            &mut self.facts,
            self.clock.now(),
            cut_within_s,
            outcome
                .as_ref()
                .err()
                .map(|error| (error, (self.request.in_words)(error))),
        );
        let (report, error) = match (
            self.write(outcome.is_err() || cut_within_s.is_some()),
            outcome,
        ) {
            (Ok(report), outcome) => (Some(report), outcome.err()),
            (Err(error), Ok(())) => (None, Some(error)),
            // The error that ended the run takes precedence over one in writing its report, because it is the cause.
            (Err(_), Err(error)) => (None, Some(error)),
        };
        let results = self.store.directory().display().to_string();
        self.show(&Event::RunEnded {
            results,
            interrupted: error.is_some() || cut_within_s.is_some(),
        });
        let commands = self.commands();
        EndedRun {
            report,
            records: self.request.records,
            facts: self.facts,
            commands,
            error,
        }
    }

    fn all_devices(&mut self) -> Result<(), RunError> {
        let groups = groups(self.request.plan);
        for (index, tests) in groups.iter().enumerate() {
            if !self.begins_in_time(&groups[index..]) {
                break;
            }
            self.group(tests)?;
            self.write(true)?;
        }
        Ok(())
    }

    /// Gives the device of the first of these groups, which are all that are to come, its share of the run's time. Returns whether there is any left.
    fn begins_in_time(&mut self, to_come: &[Vec<&Test>]) -> bool {
        let Some(limit) = &mut self.limit else {
            return true;
        };
        let forecast = &self.forecast;
        let expected = to_come.iter().map(|tests| {
            forecast.remaining_of_ns(|name| tests.iter().any(|test| test.name == name))
        });
        limit.begin_device(self.clock.elapsed(), &expected.collect::<Vec<_>>())
    }

    /// Performs all measurements of one group. Those at the throughput come after all searches for the throughput, because they use its median.
    fn group(&mut self, tests: &[&Test]) -> Result<(), RunError> {
        let mut sessions = Sessions::new();
        let (at_throughput, others): (Vec<&Test>, Vec<&Test>) = tests
            .iter()
            .partition(|test| test.measure.is_at_throughput());
        self.rounds(&mut sessions, &others)?;
        self.rounds(&mut sessions, &at_throughput)
    }

    /// Measures the points of these tests in rounds of one repetition each, so that a drift of the machine is spread over all of them. Every second
    /// round is reversed, so that no point always comes first.
    fn rounds(&mut self, sessions: &mut Sessions, tests: &[&Test]) -> Result<(), RunError> {
        let most = tests
            .iter()
            .map(|test| test.repetitions.most())
            .max()
            .unwrap_or(0);
        let mut round: Vec<(&Test, Point)> = tests
            .iter()
            .flat_map(|test| test.points().map(move |point| (*test, point)))
            .collect();
        for repetition in 1..=most {
            for (index, (test, point)) in round.iter().enumerate() {
                if self.is_wanted(test, point, repetition) && self.is_in_time(repetition) {
                    let next = self.next_of(&round[index + 1..], &round, repetition);
                    self.measurement(sessions, test, point, repetition, next)?;
                }
            }
            round.reverse();
        }
        Ok(())
    }

    fn is_in_time(&mut self, repetition: u32) -> bool {
        let elapsed = self.clock.elapsed();
        self.limit
            .as_mut()
            .is_none_or(|limit| limit.allows(elapsed, repetition))
    }

    /// Returns the point that is measured next, from the rest of this round or else from the next round, which is reversed.
    fn next_of(
        &self,
        rest: &[(&Test, Point)],
        round: &[(&Test, Point)],
        repetition: u32,
    ) -> Option<Point> {
        let in_round = rest.iter().map(|measured| (measured, repetition));
        let in_next = round
            .iter()
            .rev()
            .map(|measured| (measured, repetition + 1));
        let mut wanted = in_round
            .chain(in_next)
            .filter(|((test, point), repetition)| {
                *repetition <= test.repetitions.most() && self.is_wanted(test, point, *repetition)
            });
        wanted.next().map(|((_, point), _)| point.clone())
    }

    /// Returns true if this run has to perform the repetition and the previous ones do not yet determine the point well enough.
    fn is_wanted(&self, test: &Test, point: &Point, repetition: u32) -> bool {
        if !self.facts.selection.contains(point, repetition) {
            return false;
        }
        let mut made = replay::outcomes_of(self.request.plan, point, &self.request.records);
        made.retain(|outcome| outcome.repetition < repetition);
        replay::wants_more(test, &made)
    }

    /// Performs one repetition of a point, except for the trials that an earlier part of the run has made.
    fn measurement(
        &mut self,
        sessions: &mut Sessions,
        test: &Test,
        point: &Point,
        repetition: u32,
        next: Option<Point>,
    ) -> Result<(), RunError> {
        let plan = self.request.plan;
        let mut resumed = replay::resume(plan, point, repetition, &self.request.records)?;
        self.show(&Event::MeasurementStarted {
            point: point.clone(),
            repetition,
            of: test.repetitions.most(),
            next,
        });
        if let Some(selection) = test.measure.requirements() {
            while let Some(spec) = resumed.procedure.next_trial() {
                self.vectors(test, selection, &mut resumed, point, repetition, &spec)?;
            }
        } else if resumed.procedure.next_trial().is_some() {
            let session = self.ready(sessions, test, point)?;
            while let Some(spec) = resumed.procedure.next_trial() {
                self.trial(session, &mut resumed, point, repetition, &spec)?;
            }
        }
        if let Some(outcome) = self.outcome(point, repetition) {
            let measure = test.measure.name().to_owned();
            self.show(&Event::MeasurementEnded { measure, outcome });
        }
        Ok(())
    }

    /// Returns the session of a test's device with the traffic of a point, bringing the device up when it is first needed.
    fn ready<'s>(
        &mut self,
        sessions: &'s mut Sessions,
        test: &Test,
        point: &Point,
    ) -> Result<&'s mut Session, RunError> {
        let plan = self.request.plan;
        let library = self.request.library;
        let recipe = recipe_of(library, test)?;
        let job = profile::job(
            recipe,
            test,
            point.frame_size,
            plan.seed,
            test.trial_settings(plan),
        )?;
        let key = DeviceIdentity::of_test(test);
        if !sessions.contains_key(&key) {
            self.check_stop()?;
            if sessions.is_empty() {
                self.look_at_load(&test.dut)?;
            }
            if self.request.site.links.ports.is_some() {
                // There is only one pair of ports, so the session that holds them is closed first.
                sessions.clear();
            }
            let name = if plan.interleave {
                sessions.len().to_string()
            } else {
                String::new()
            };
            let request = session_request(plan, library, test, name)?;
            let mut opened = match Session::open(&self.request.site, &request, job.clone()) {
                Ok(opened) => opened,
                Err(error) => return Err(self.set_up_failed(&key, error)),
            };
            self.note(&opened, recipe)?;
            // Everything that the device will have to store, before hours of what it can.
            let mut of_device = plan
                .tests
                .iter()
                .filter(|other| DeviceIdentity::of_test(other) == key);
            of_device.try_for_each(|other| {
                opened
                    .check_state(other, plan)
                    .and_then(|()| opened.check_clocks(other, plan))
            })?;
            sessions.insert(key.clone(), opened);
        }
        let session = sessions.get_mut(&key).expect("just opened");
        session.set_job(job)?;
        self.certify(session, test)?;
        Ok(session)
    }

    /// Warns of other work on this machine while no device is up, because a device's processes would look like such work.
    fn look_at_load(&mut self, next: &str) -> Result<(), RunError> {
        match (self.request.look_at_load)(&allowed_cores()?) {
            Some(load) => self.warn_first(Warning::BusyBeforeSetUp {
                dut: next.to_owned(),
                load,
            }),
            None => Ok(()),
        }
    }

    /// Warns once for each device when other work has used its processors during a trial.
    fn look_for_disturbance(&mut self, record: &TrialRecord) -> Result<(), RunError> {
        let dut = self
            .request
            .plan
            .test(&record.point.test)
            .map_or("", |test| &test.dut);
        let warning = Warning::DisturbedTrials {
            dut: dut.to_owned(),
        };
        let decides = !record.result.was_made_again();
        if decides && record.is_disturbed() && !self.facts.warnings.contains(&warning) {
            self.warn_first(warning)
        } else {
            Ok(())
        }
    }

    /// Warns if the system's clock was set.
    fn look_at_clock(&mut self) -> Result<(), RunError> {
        self.clock
            .step()
            .map_or(Ok(()), |warning| self.warn_first(warning))
    }

    /// Reports a warning and inserts it before all others, because it casts doubt on the results themselves.
    fn warn_first(&mut self, warning: Warning) -> Result<(), RunError> {
        self.show(&Event::Warning {
            text: warning.to_string(),
        });
        self.facts.warnings.insert(0, warning);
        Ok(self.store.write_facts(&self.facts)?)
    }

    /// Records why the tests of a device are not run.
    fn set_up_failed(&mut self, device: &DeviceIdentity, error: RunError) -> RunError {
        if !matches!(error.root(), RunError::Interrupted) {
            let of_device = self
                .request
                .plan
                .tests
                .iter()
                .filter(|test| DeviceIdentity::of_test(test) == *device);
            origin::set_up_failed(&mut self.facts, of_device, &(self.request.in_words)(&error));
        }
        error
    }

    /// Performs the tester's self-test for a DNS server before anything is measured. Its certificate becomes a fact of the run.
    fn certify(&mut self, session: &mut Session, test: &Test) -> Result<(), RunError> {
        let plan = self.request.plan;
        let most = test.search_settings(plan).maximum.min(MOST_CERTIFIED);
        let duration_ns = plan.trial.duration_ns.min(LONGEST_SELF_TEST_NS);
        let Some(certificate) = session.certify(most, duration_ns)? else {
            return Ok(());
        };
        let dut = test.dut.clone();
        self.show(&Event::SelfTested {
            dut,
            certificate: certificate.clone(),
        });
        self.facts
            .duts
            .entry(test.dut.clone())
            .or_default()
            .certificates
            .push(certificate);
        Ok(self.store.write_facts(&self.facts)?)
    }

    /// Writes the facts about a device to disk before its first trial.
    fn note(&mut self, session: &Session, recipe: &Recipe) -> Result<(), RunError> {
        let host = session.host_facts(&self.request.site);
        let mut dut = session.dut_facts(recipe);
        dut.layout = session.layout().to_vec();
        self.note_device(recipe, host, dut)?;
        let tests = self.request.plan.tests.iter();
        let tests = tests.filter(|test| test.dut == recipe.name);
        let of_queues = receive_queues::warnings(session, tests);
        for warning in session.warnings().iter().chain(&of_queues) {
            if !self.facts.warnings.contains(warning) {
                self.facts.warnings.push(warning.clone());
                self.show(&Event::Warning {
                    text: warning.to_string(),
                });
            }
        }
        self.write_origin()
    }

    /// Adds the facts about a device, and those of the host while it was up, to those of the run. Warns if the device is not what it was before.
    fn note_device(
        &mut self,
        recipe: &Recipe,
        host: BTreeMap<String, String>,
        mut dut: DutFacts,
    ) -> Result<(), RunError> {
        self.facts.host.extend(host);
        // Earlier self-tests apply to the earlier trials.
        let before = self.facts.duts.remove(&recipe.name).unwrap_or_default();
        let changes = changes_of_machine(&before, &dut);
        dut.certificates = before.certificates;
        let layout = std::mem::replace(&mut dut.layout, before.layout);
        for sentence in layout {
            if !dut.layout.contains(&sentence) {
                dut.layout.push(sentence);
            }
        }
        self.show(&Event::DutReady {
            dut: recipe.name.clone(),
            version: dut.version.clone(),
        });
        self.facts.duts.insert(recipe.name.clone(), dut);
        if !changes.is_empty() {
            self.warn_first(Warning::DutChanged {
                dut: recipe.name.clone(),
                changes,
            })?;
        }
        self.write_origin()
    }

    /// Writes the facts, and the commands that the testbed has run.
    fn write_origin(&self) -> Result<(), RunError> {
        self.store.write_facts(&self.facts)?;
        Ok(self.store.write("commands.sh", &self.commands())?)
    }

    /// Announces a trial, unless a stop was requested; returns its start as records have it.
    fn begin_trial(&mut self, point: &Point, spec: &TrialSpec) -> Result<String, RunError> {
        self.check_stop()?;
        self.show(&Event::TrialStarted {
            point: point.clone(),
            spec: *spec,
        });
        Ok(self.clock.now().to_string())
    }

    fn trial(
        &mut self,
        session: &mut Session,
        measurement: &mut ResumedMeasurement,
        point: &Point,
        repetition: u32,
        spec: &TrialSpec,
    ) -> Result<(), RunError> {
        let started = self.begin_trial(point, spec)?;
        let trial = measurement.trials + 1;
        let queries = self
            .request
            .queries
            .then(|| self.store.queries(point, repetition, trial))
            .transpose()?;
        if let Some((folder, name)) = &queries {
            session.keep_queries(folder, name);
        }
        let (result, watch) = session.measure(spec)?;
        self.look_at_clock()?;
        // A trial without queries has no such file.
        queries
            .iter()
            .filter_map(|(folder, name)| folder.read(name).ok())
            .try_for_each(owner::give)?;
        let load = measurement.load.clone().map(Box::new);
        let watch = Some(watch.into());
        let mut record = TrialRecord {
            format: FORMAT,
            point: point.clone(),
            repetition,
            trial,
            load,
            started,
            result,
            watch,
        };
        let judgement = measurement.procedure.judgement(&record.result);
        let is_excused = self.excuse(&mut record, judgement);
        self.settle(measurement, record, is_excused)?;
        if is_excused {
            self.wait_until_quiet(session, point)?;
        }
        self.rest()
    }

    /// Performs a trial of vectors of requirements. Their device is brought up only for the trial.
    fn vectors(
        &mut self,
        test: &Test,
        selection: &RequirementTest,
        measurement: &mut ResumedMeasurement,
        point: &Point,
        repetition: u32,
        spec: &TrialSpec,
    ) -> Result<(), RunError> {
        let started = self.begin_trial(point, spec)?;
        let recipe = recipe_of(self.request.library, test)?;
        let mut made = match conformance::trial::trial(&self.request.site, recipe, selection) {
            Ok(made) => made,
            Err(error) => return Err(self.set_up_failed(&DeviceIdentity::of_test(test), error)),
        };
        self.look_at_clock()?;
        let host = origin::of_host(&self.request.site);
        self.note_device(recipe, host, made.facts.clone())?;
        let trial = measurement.trials + 1;
        let name = |vector: &str| store::capture_name(point, repetition, trial, vector);
        made.keep_captures(self.store, name)?;
        let record = TrialRecord {
            format: FORMAT,
            point: point.clone(),
            repetition,
            trial,
            load: None,
            started,
            result: made.result(spec),
            watch: None,
        };
        self.settle(measurement, record, false)?;
        self.rest()
    }

    /// Writes a trial to disk, lets its procedure learn from it unless it is made again, and reports it.
    fn settle(
        &mut self,
        measurement: &mut ResumedMeasurement,
        record: TrialRecord,
        is_excused: bool,
    ) -> Result<(), RunError> {
        // On disk first: a resumed run must find everything that the procedure has learnt.
        self.store.append(&record)?;
        measurement.trials = record.trial;
        // The mark of a trial that is made again makes it invalid, whatever the verdict was before.
        let verdict = measurement.procedure.verdict(&record.result);
        if !is_excused {
            measurement.procedure.learn(&record.result);
        }
        self.look_for_disturbance(&record)?;
        let mut kept = record.clone();
        // The distributions are on disk. Those of a day of trials would fill the memory.
        lean::drop_unread(&mut kept);
        self.request.records.push(kept);
        self.show(&Event::TrialEnded {
            record: Box::new(record),
            verdict,
        });
        Ok(())
    }

    /// Marks a disturbed trial that is repeated as long as there is patience. Returns true if it is repeated.
    fn excuse(&mut self, record: &mut TrialRecord, judgement: Judgement) -> bool {
        let (plan, records) = (self.request.plan, &self.request.records);
        let earlier = records
            .iter()
            .filter(|earlier| earlier.point == record.point);
        let patience = self
            .patience
            .entry(record.point.clone())
            .or_insert_with(|| Patience::new(plan, earlier));
        if let Some(limit) = &self.limit {
            let is_of_device = |name: &str| {
                let device_of_test = |name: &str| plan.test(name).map(DeviceIdentity::of_test);
                device_of_test(name) == device_of_test(&record.point.test)
            };
            let first_ns = self.forecast.first_repetitions_ns(is_of_device);
            patience.keep_at_most(limit.to_spare_ns(self.clock.elapsed(), first_ns));
        }
        patience.excuse(record, judgement)
    }

    /// Waits until the cores of tester and device are free of other work, for as long as there is patience with the point. Reports the occupants
    /// and records them in the facts.
    fn wait_until_quiet(&mut self, session: &Session, point: &Point) -> Result<(), RunError> {
        let Some(patience) = self.patience.get_mut(point) else {
            return Ok(());
        };
        let listener = &mut self.listener;
        let tell = |text| listener(&Event::Waiting { text });
        let found = wait_until_quiet(
            patience,
            &self.request.site.stop,
            || self.clock.now(),
            || session.occupant(),
            tell,
        )?;
        if !found.is_empty() {
            Disturber::add(&mut self.facts.disturbers, found);
            self.store.write_facts(&self.facts)?;
        }
        Ok(())
    }

    /// Waits until the device has come to rest (RFC 2544 section 23). Ends early if a stop is requested.
    fn rest(&self) -> Result<(), RunError> {
        stop::rest(
            &self.request.site.stop,
            Duration::from_nanos(self.request.plan.trial.rest_ns),
        )
    }

    fn check_stop(&self) -> Result<(), RunError> {
        stop::rest(&self.request.site.stop, Duration::ZERO)
    }

    fn outcome(&self, point: &Point, repetition: u32) -> Option<Outcome> {
        let all = replay::outcomes_of(self.request.plan, point, &self.request.records);
        all.into_iter()
            .find(|outcome| outcome.repetition == repetition)
    }

    fn write(&mut self, interrupted: bool) -> Result<PathBuf, RunError> {
        let commands = self.commands();
        self.store.write("commands.sh", &commands)?;
        self.store.write_facts(&self.facts)?;
        reporting::write(
            self.store.folder(),
            self.request.plan,
            &self.facts,
            &commands,
            interrupted,
        )
    }

    fn commands(&self) -> String {
        let now = self.request.site.shell.transcript().text();
        match &self.request.earlier {
            Some((_, before)) if !before.is_empty() => {
                format!("{before}# the run was resumed\n{now}")
            }
            _ => format!("#!/bin/sh\n# Every command the testbed ran, in order.\nset -eu\n{now}"),
        }
    }
}

/// Returns the request for the device of a test, sufficient for all tests of the plan that use this device. `name` distinguishes the testbeds of
/// one process.
pub(crate) fn session_request<'a>(
    plan: &Plan,
    library: &'a Library,
    test: &Test,
    name: String,
) -> Result<SessionRequest<'a>, RunError> {
    let recipe = recipe_of(library, test)?;
    let same = plan
        .tests
        .iter()
        .filter(|other| DeviceIdentity::of_test(other) == DeviceIdentity::of_test(test));
    let largest = same
        .map(Test::largest_frame)
        .max()
        .unwrap_or(FrameSize::MINIMUM);
    let subscribers = profile::subscribers::most(recipe, &plan.tests);
    let dns = profile::dns::server(library, test)?;
    let (cores, rss_hash) = (test.core_limits(), test.dut_rss_hash.clone());
    Ok(SessionRequest {
        recipe,
        name,
        cores,
        table_size: table_size(test),
        rss_hash,
        filters: test.filters,
        dns,
        subscribers,
        largest,
    })
}

fn recipe_of<'a>(library: &'a Library, test: &Test) -> Result<&'a Recipe, PlanError> {
    library
        .get(&test.dut)
        .ok_or_else(|| PlanError(format!("no recipe is named {}", test.dut)))
}

/// Returns whole seconds, rounded up.
fn seconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000_000)
}

/// The open sessions by device.
type Sessions = BTreeMap<DeviceIdentity, Session>;

fn table_size(test: &Test) -> Option<u64> {
    test.stateful.and_then(|stateful| stateful.table_size)
}

fn groups(plan: &Plan) -> Vec<Vec<&Test>> {
    if plan.interleave {
        return vec![plan.tests.iter().collect()];
    }
    by_key(
        plan.tests
            .iter()
            .map(|test| (DeviceIdentity::of_test(test), test)),
    )
    .into_iter()
    .map(|(_, tests)| tests)
    .collect()
}
