//! Writes a results directory with many trials, to measure the cost of a report on it: `cargo run -p sixbench-runner --example many_trials -- DIR
//! TRIALS POINTS [MEASURE]`, then `sixbench report DIR`. The procedures are real and run on simulated devices. Delays, the positions of losses and
//! processor loads are added to each trial as for a device in namespaces.

use sixbench_method::measures::Procedure;
use sixbench_method::plan::{Plan, Point, Selection};
use sixbench_method::record::{
    CoreRole, CoreWatch, CpuSample, FORMAT, Facts, RunPart, TrialRecord, Watch,
};
use sixbench_method::replay;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{LOSS_BIN_NS, Measurer, TrialResult};
use sixbench_runner::store::Store;
use sixbench_stats::SplitMix64;
use sixbench_testbed::Library;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

const SIZES: [u16; 10] = [84, 128, 256, 384, 512, 768, 1024, 1280, 1400, 1518];
/// The start of the first trial, in seconds since 1970.
const BEGIN_S: i64 = 1_795_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, trials, points, measure @ ..] = &arguments[..] else {
        return Err("expected DIR TRIALS POINTS [MEASURE]".into());
    };
    let measure = measure.first().map_or("throughput", String::as_str);
    write(
        Path::new(directory),
        trials.parse()?,
        points.parse()?,
        measure,
    )
}

/// Returns the text of a plan with this number of points, in tests of ten frame sizes each, and room for this number of trials.
fn plan_of(trials: usize, points: usize, measure: &str) -> String {
    let head = "name = \"many\"\n[trial]\nduration = \"1s\"\n[search]\nmethod = \"binary\"\nwidth = \"0.5%\"\nmaximum = \"1M\"\nstart = \"cold\"\n";
    let (rate, least) = if measure == "throughput" {
        ("", 8)
    } else {
        ("rate = \"100k\"\n", 1)
    };
    let repetitions = trials.div_ceil(points * least);
    let tests = (1..=points.div_ceil(SIZES.len())).map(|number| {
        let sizes = &SIZES[..SIZES.len().min(points - (number - 1) * SIZES.len())];
        let name = format!(
            "name = \"device-{number}\"\ntitle = \"Device {number}\"\ndut = \"linux-ipv6\"\nrepetitions = {repetitions}\n"
        );
        format!("[[test]]\n{name}measure = \"{measure}\"\nframe-sizes = {sizes:?}\n{rate}")
    });
    std::iter::once(head.to_owned()).chain(tests).collect()
}

fn write(
    directory: &Path,
    trials: usize,
    points: usize,
    measure: &str,
) -> Result<(), Box<dyn Error>> {
    let library = Library::load::<&Path>(&[])?;
    let source = plan_of(trials, points, measure);
    let loaded = sixbench_plan::load(&source, &library);
    let plan = loaded
        .map_err(|mistakes| sixbench_plan::render("the plan", &source, &mistakes, false))?
        .plan;
    let store = Store::create(directory, &plan, &source, &Selection::default())?;
    let recipes = library.get("linux-ipv6").into_iter();
    store.keep_recipes(recipes)?;
    let facts = Facts {
        sixbench: env!("CARGO_PKG_VERSION").to_owned(),
        runs: vec![part()],
        ..Facts::default()
    };
    fs::write(
        directory.join("facts.json"),
        serde_json::to_string_pretty(&facts)?,
    )?;
    let mut lines = BufWriter::new(
        OpenOptions::new()
            .append(true)
            .open(directory.join("trials.jsonl"))?,
    );
    let mut made = 0;
    let of_plan: Vec<Point> = plan.tests.iter().flat_map(|test| test.points()).collect();
    for (index, point) in of_plan.iter().enumerate() {
        let up_to = trials * (index + 1) / of_plan.len();
        made += of_point(&plan, point, index, made, up_to, &mut lines)?;
    }
    lines.flush()?;
    Ok(())
}

fn part() -> RunPart {
    let command = "sixbench run many.toml".to_owned();
    RunPart {
        started: time(0),
        command,
        host: "simulated".to_owned(),
        ..RunPart::default()
    }
}

/// Returns the time of a trial of the run (RFC 3339). A trial starts every 1.5 seconds.
fn time(trial: usize) -> String {
    let begin = jiff::Timestamp::from_second(BEGIN_S).expect("a time");
    (begin + jiff::SignedDuration::from_millis(1500 * trial as i64)).to_string()
}

/// Writes complete repetitions of a point until the run has `up_to` trials, and returns their number of trials. Each repetition is independent of
/// earlier ones.
fn of_point(
    plan: &Plan,
    point: &Point,
    index: usize,
    before: usize,
    up_to: usize,
    lines: &mut impl Write,
) -> Result<usize, Box<dyn Error>> {
    let capacity = FrameRate(300_000 + 1_000 * (index % 97) as u64);
    let device = SimulatedDut::new(Behaviour::Noisy { deviation: 0.01 }, capacity, index as u64);
    let mut device = device.with_delay(60_000 + 500 * index as u64, 8_000);
    let mut random = SplitMix64::new(index as u64);
    let mut made = 0;
    for repetition in 1.. {
        if before + made >= up_to {
            break;
        }
        let mut procedure: Box<dyn Procedure> =
            replay::resume(plan, point, repetition, &[])?.procedure;
        let mut trial = 0;
        while let Some(spec) = procedure.next_trial() {
            let Ok(mut result) = device.measure(&spec);
            procedure.learn(&result);
            trial += 1;
            let watch = Some(seen(&mut result, capacity, &mut random).into());
            let (point, started) = (point.clone(), time(before + made));
            let record = TrialRecord {
                format: FORMAT,
                point,
                repetition,
                trial,
                load: None,
                started,
                result,
                watch,
            };
            writeln!(lines, "{}", serde_json::to_string(&record)?)?;
            made += 1;
        }
    }
    Ok(made)
}

/// Adds to the result what a device in namespaces would show in addition to the counts. Returns the state of the machine's processors.
fn seen(result: &mut TrialResult, capacity: FrameRate, random: &mut SplitMix64) -> Watch {
    let bins = (result.spec.duration_ns / LOSS_BIN_NS).max(1);
    for direction in &mut result.directions {
        let lost = direction.not_received();
        if lost > 0 {
            direction.lost_by_bin = (0..bins)
                .map(|bin| lost / bins + u64::from(bin < lost % bins))
                .collect();
            direction.last_missing_ns = Some(result.spec.duration_ns - 1000);
        }
        direction.reordered = (random.uniform() * 40.0) as u64;
        direction.sending.worst_lateness_ns = (random.uniform() * 300_000.0) as u64;
        direction.receiving.worst_gap_ns = (random.uniform() * 300_000.0) as u64;
    }
    let busy = (1000.0 * (result.spec.rate.0 as f64 / capacity.0 as f64).min(1.0)) as u16;
    let mut core = |core, role, busy: u16| {
        let mut sample = || {
            let softirq = busy.saturating_sub((random.uniform() * 20.0) as u16);
            CpuSample {
                softirq,
                idle: 1000 - softirq,
                ..CpuSample::default()
            }
        };
        CoreWatch {
            core,
            role,
            samples: (0..bins).map(|_| sample()).collect(),
        }
    };
    let cores = vec![
        core(0, CoreRole::Tester, 1000),
        core(1, CoreRole::Tester, 1000),
        core(2, CoreRole::Dut, busy),
        core(3, CoreRole::Dut, busy / 2),
    ];
    let kernel_memory = (0..=bins)
        .map(|_| 88_000_000 + (random.uniform() * 100_000.0) as u64)
        .collect();
    Watch {
        interval_ns: LOSS_BIN_NS,
        cores,
        kernel_memory,
        process_ms: Some(0),
        round_trips_ns: vec![71, 68],
        ..Watch::default()
    }
}
