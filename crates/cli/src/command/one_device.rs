//! A device that is brought up for a single test, which no plan file has: what `trial` and `find` have in common.

use super::{find_recipe, isolation, library, locked};
use crate::args::{DeviceOptions, LoadOptions};
use crate::exit::Failed;
use crate::output::tell;
use sixbench_method::plan::{Measure, Plan, Profile, Stateful, Test, TrafficSettings};
use sixbench_method::search::SearchSettings;
use sixbench_method::trial::{TrialSettings, TrialSpec};
use sixbench_plan::LoadedPlan;
use sixbench_runner::{NotEnoughMemory, Session, SessionRequest, Site, profile, stop};
use sixbench_testbed::{Library, Recipe, Shell, sweep};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// T of phase 1, as in siitperf's scripts.
const PHASE_1_TIMEOUT_NS: u64 = 500_000_000;

/// A command on one device.
pub(super) struct OneDevice<'a> {
    /// The name of the command, as locks show it.
    pub(super) command: &'static str,
    /// The option that sets the highest rate of its trials.
    pub(super) rate_option: &'static str,
    pub(super) dut: &'a str,
    pub(super) load: &'a LoadOptions,
    pub(super) options: &'a DeviceOptions,
    /// The directory in which the first frames of both ports are saved.
    pub(super) pcap: Option<&'a Path>,
}

impl OneDevice<'_> {
    /// Returns the plan of the command's only test.
    pub(super) fn planned(
        &self,
        measure: Measure,
        trial: TrialSettings,
        search: SearchSettings,
    ) -> Result<LoadedPlan, Failed> {
        let load = self.load;
        let test = Test {
            frame_sizes: vec![load.frame_size()],
            directions: load.directions,
            foreground: load.background,
            measure,
            traffic: TrafficSettings {
                subscribers: load.subscribers.map(NonZeroU32::get),
                payload: load.payload,
                size_mix: load.mix,
                ..TrafficSettings::RFC_4814
            },
            stateful: load
                .connections
                .map(|n| Stateful::new(n, load.phase_1_rate, PHASE_1_TIMEOUT_NS)),
            ..Test::new(self.command, self.dut)
        };
        Ok(LoadedPlan {
            plan: Plan::new(self.command, Profile::Custom, trial, search, vec![test]),
            links: self.options.links()?,
            left_out: Vec::new(),
        })
    }

    /// Brings the device up and calls `run` with it, to make this trial, or those of the test's search. `ready` is called once everything is known to be
    /// possible, before anything is set up.
    pub(super) fn with_session<T>(
        &self,
        loaded: &LoadedPlan,
        trial: Option<&TrialSpec>,
        ready: impl FnOnce() -> Result<(), Failed>,
        run: impl FnOnce(&mut Session, &AtomicBool) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let library = library(&self.options.further.recipes)?;
        let recipe = find_recipe(&library, self.dut)?;
        self.check_state(recipe)?;
        self.check_memory(loaded, &library, trial)?;
        let isolation = isolation(self.options.isolation.force);
        let _locks = locked(
            &loaded.links,
            &format!("{} {}", self.command, self.dut),
            None,
            &self.options.waiting,
        )?;
        sixbench_runner::check(loaded, &library, isolation)?;
        ready()?;
        let stop = stop::install()?;
        let shell = Shell::new()
            .stopped_by(stop.clone())
            .told_to(|text| tell!("{text}"))
            .waiting_for_other_runs(self.options.waiting.wait);
        sweep(&shell)?;
        let site = Site {
            shell,
            links: &loaded.links,
            stop: stop.clone(),
            isolation,
            pcap: self.pcap,
        };
        let mut session = self.opened(&site, recipe, &loaded.plan)?;
        run(&mut session, &stop)
    }

    fn opened(&self, site: &Site<'_>, recipe: &Recipe, plan: &Plan) -> Result<Session, Failed> {
        let test = &plan.tests[0];
        let job = profile::job(recipe, test, self.load.frame_size(), plan.seed, plan.trial)?;
        let request = SessionRequest::alone(recipe, test.largest_frame());
        let session = Session::open(site, &request, job)?;
        session
            .warnings()
            .iter()
            .for_each(|warning| tell!("warning: {warning}"));
        session
            .shared_core()
            .into_iter()
            .for_each(|sentence| tell!("warning: {sentence}"));
        session.check_state(test, plan)?;
        Ok(session)
    }

    /// Returns an error for a stateful device without connections, and for connections with any other device.
    fn check_state(&self, recipe: &Recipe) -> Result<(), Failed> {
        match (&recipe.state, self.load.connections) {
            (Some(_), None) => Err(Failed::usage(format!(
                "the device {} is stateful: say how many connections phase 1 opens, such as --connections 10k",
                recipe.name
            ))),
            (None, Some(_)) => Err(Failed::usage(format!(
                "--connections is for stateful devices: the recipe {} has no [state]",
                recipe.name
            ))),
            _ => Ok(()),
        }
    }

    fn check_memory(
        &self,
        loaded: &LoadedPlan,
        library: &Library,
        trial: Option<&TrialSpec>,
    ) -> Result<(), Failed> {
        let (plan, test) = (&loaded.plan, &loaded.plan.tests[0]);
        let checked = match trial {
            Some(trial) => sixbench_runner::check_trial(plan, test, library, trial),
            None => sixbench_runner::check_trials_of(plan, test, library),
        };
        checked.map_err(|short| self.smaller(&short))
    }

    /// Returns the error for a trial that needs too much memory, with the options that make it smaller.
    fn smaller(&self, short: &NotEnoughMemory) -> Failed {
        let connections = if short.spec.opens().is_some() {
            "--connections, "
        } else {
            ""
        };
        Failed::usage(format!(
            "{short}; lower {connections}{} or --for",
            self.rate_option
        ))
    }
}
