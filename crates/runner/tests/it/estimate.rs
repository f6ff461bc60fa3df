//! Compares the estimate printed before a run with the time that the trials of the plans that come with sixbench take on simulated devices with
//! simulated clocks. Has no requirements.

use sixbench_method::budget::estimate;
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_plan::{LoadedPlan, apply_profile, plans};
use sixbench_runner::perform_with;
use sixbench_testbed::Library;
use std::collections::BTreeSet;

/// The time in nanoseconds that a machine takes to set up a device, and for a trial in addition to the plan's waits.
const SET_UP_NS: u64 = 1_500_000_000;
const AROUND_NS: u64 = 30_000_000;

fn took_s(plan: &Plan, share: f64, noise: f64, seed: u64) -> f64 {
    let capacity = FrameRate((plan.search.maximum.0 as f64 * share) as u64);
    let around_ns = plan.trial.residual_ns + plan.trial.rest_ns + AROUND_NS;
    let mut dut = SimulatedDut::new(Behaviour::Noisy { deviation: noise }, capacity, seed)
        .with_overhead(around_ns);
    let Ok(_) = perform_with(plan, &mut dut, &mut |_| {});
    let devices: BTreeSet<&str> = plan.tests.iter().map(|test| &*test.dut).collect();
    (dut.elapsed_ns() + devices.len() as u64 * SET_UP_NS) as f64 / 1e9
}

/// Longer runs take too long to simulate, and merely repeat shorter ones.
const LONGEST_S: u64 = 50_000;

/// A run is shorter if a device is slow, because a search that begins at the maximum is over sooner, and longer if its results scatter, because more
/// repetitions and trials are needed. This cannot be known in advance.
#[test]
fn a_run_takes_between_six_tenths_of_its_estimate_and_one_and_a_half_times_that() {
    let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
    let mut compared = 0;
    for profile in [None, Some(Profile::Smoke), Some(Profile::Draft)] {
        for ready in plans::ready() {
            // Other plans need their own recipes.
            let Ok(LoadedPlan { mut plan, .. }) = sixbench_plan::load(ready.text, &library) else {
                continue;
            };
            if let Some(profile) = profile {
                drop(apply_profile(&mut plan, ready.text, profile));
            }
            let estimated = estimate(&plan).seconds;
            // The simulated devices only handle frames.
            let is_of_frames = plan
                .tests
                .iter()
                .all(|test| test.measure.dns().is_none() && test.stateful.is_none());
            if !is_of_frames || estimated > LONGEST_S {
                continue;
            }
            for (share, noise) in [0.06, 0.3, 0.9]
                .into_iter()
                .flat_map(|share| [0.0, 0.01, 0.05].map(|noise| (share, noise)))
            {
                let ratio = took_s(&plan, share, noise, 7) / estimated as f64;
                assert!(
                    (0.6..1.5).contains(&ratio),
                    "{} {profile:?}, {share}, {noise}: {ratio} of {estimated} s",
                    ready.name
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 100, "{compared}");
}
