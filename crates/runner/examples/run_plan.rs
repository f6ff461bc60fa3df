//! Runs a plan given as text on a simulated device and prints its results as the terminal shows them: `cargo run -p sixbench-runner --example
//! run_plan`. It needs no root and takes milliseconds. For a real device, use `sixbench_runner::perform` instead of `perform_with`.

use sixbench_method::event::Event;
use sixbench_method::record::Facts;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_runner::perform_with;
use sixbench_runner::reporting::{ReportInputs, terminal};
use sixbench_testbed::Library;
use std::error::Error;
use std::path::Path;

const PLAN: &str = r#"
name = "example"

[search]
maximum = "1M"

[[test]]
name = "throughput"
dut = "linux-ipv6"
measure = "throughput"
frame-sizes = [84, 1518]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run(PLAN)?);
    Ok(())
}

/// Runs a plan on a device that forwards 400,000 frames per second and direction, and returns the tables of its results.
pub(crate) fn run(source: &str) -> Result<String, Box<dyn Error>> {
    let library = Library::load::<&Path>(&[])?;
    let plan = match sixbench_plan::load(source, &library) {
        Ok(loaded) => loaded.plan,
        Err(mistakes) => {
            return Err(sixbench_plan::render("the example", source, &mistakes, false).into());
        }
    };
    let mut device = SimulatedDut::new(Behaviour::HardLimit, FrameRate(400_000), plan.seed);
    let mut listener = |event: &Event| {
        if let Event::MeasurementEnded { outcome, .. } = event {
            eprintln!(
                "{}, repetition {}: {} trials",
                outcome.point, outcome.repetition, outcome.trials
            );
        }
    };
    let records = perform_with(&plan, &mut device, &mut listener)?;
    let facts = Facts::default();
    let inputs = ReportInputs {
        plan: &plan,
        records: &records,
        facts: &facts,
        commands: "",
        interrupted: false,
    };
    Ok(terminal(&inputs, 100, false)?)
}
