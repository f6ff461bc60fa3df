//! The estimate that is printed before a run, held against the time that the trials of the plans take that come with sixbench, on simulated
//! devices whose clock is a number. Needs nothing.

use sixbench_method::budget::estimate;
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_plan::{Loaded, apply_profile, plans};
use sixbench_runner::perform_with;
use sixbench_testbed::Library;
use std::collections::BTreeSet;

/// What a machine takes to set up a device, and around a trial beside the waits of the plan, nanoseconds.
const SET_UP_NS: u64 = 1_500_000_000;
const AROUND_NS: u64 = 30_000_000;

fn took_s(plan: &Plan, share: f64, noise: f64, seed: u64) -> f64 {
    let capacity = FrameRate((plan.search.maximum.0 as f64 * share) as u64);
    let around_ns = plan.trial.residual_ns + plan.trial.rest_ns + AROUND_NS;
    let mut dut = SimulatedDut::new(Behaviour::Noisy { deviation: noise }, capacity, seed).with_overhead(around_ns);
    let Ok(_) = perform_with(plan, &mut dut, &mut |_| {});
    let devices: BTreeSet<&str> = plan.tests.iter().map(|test| &*test.dut).collect();
    (dut.elapsed_ns() + devices.len() as u64 * SET_UP_NS) as f64 / 1e9
}

#[test]
fn explore() {
    let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
    for profile in [None, Some(Profile::Smoke), Some(Profile::Draft), Some(Profile::Rfc)] {
        for ready in plans::ready() {
            let Ok(Loaded { mut plan, .. }) = sixbench_plan::load(ready.text, &library) else { continue };
            if let Some(profile) = profile {
                apply_profile(&mut plan, profile);
            }
            if plan.tests.iter().any(|t| t.measure.dns().is_some() || t.stateful.is_some()) {
                println!("{} skipped", ready.name);
                continue;
            }
            let estimated = estimate(&plan).seconds as f64;
            let begin = std::time::Instant::now();
            let mut all = vec![];
            for noise in [0.0, 0.01, 0.05] {
                for share in [0.06, 0.1, 0.3, 0.7, 0.9] {
                    all.push(took_s(&plan, share, noise, 7) / estimated)
                }
            }
            all.sort_by(f64::total_cmp);
            println!(
                "{profile:?} {:<32} {:>8.0} s  {:.2} {:.2} {:.2}   {:?}",
                ready.name,
                estimated,
                all[0],
                all[7],
                all[14],
                begin.elapsed()
            );
        }
    }
}
