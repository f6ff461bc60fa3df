//! The savings from repeating only until the median is known, with dithered starts: shown on simulated DUTs in one table.

use sixbench_method::fixtures::{plan, repeat};
use sixbench_method::plan::Plan;
use sixbench_method::repeat::Repetition;
use sixbench_method::search::SearchMethod;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_stats::SplitMix64;
use sixbench_stats::median;
use std::fmt::Write;

/// The runs of a row: the medians agree to a tenth of a per cent only over many of them.
const RUNS: u64 = 600;

/// A way of repeating a measurement.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    repetition: Repetition,
    /// True if later repetitions know the results of earlier ones.
    is_warm: bool,
}

const COLD: Way = Way {
    name: "20 cold",
    repetition: Repetition::Fixed(20),
    is_warm: false,
};
const WARM: Way = Way {
    name: "20 dithered",
    repetition: Repetition::Fixed(20),
    is_warm: true,
};
const ADAPTIVE: Way = Way {
    name: "adaptive",
    repetition: Repetition::ADAPTIVE,
    is_warm: true,
};

const DUTS: [(&str, Behaviour); 3] = [
    ("steady 0.1 %", Behaviour::Noisy { deviation: 0.001 }),
    ("noisy 2 %", Behaviour::Noisy { deviation: 0.02 }),
    (
        "bimodal 8 %",
        Behaviour::Bimodal {
            often: 0.08,
            at: 0.7,
        },
    ),
];

/// The result of one measurement with all its repetitions.
#[derive(Clone, Copy)]
struct Run {
    repetitions: f64,
    trials: f64,
    hours: f64,
    median_over_truth: f64,
    /// 1 if that is within 1 %, otherwise 0.
    is_within: f64,
}

/// Returns a plan for loads up to 5 M frames/s, where a cold binary search for a capacity near 1 M frames/s takes 14 trials.
fn settings() -> Plan {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    plan.search.maximum = FrameRate(5_000_000);
    plan
}

/// Returns one measurement of the device with this seed. Capacities scatter around 1 M frames/s, so that no grid favours a search.
fn measurement(plan: &Plan, way: Way, behaviour: Behaviour, seed: u64) -> Run {
    let capacity = FrameRate(900_000 + SplitMix64::new(seed).next_u64() % 200_000);
    let mut dut = SimulatedDut::new(behaviour, capacity, seed ^ 0x5eed);
    let (mut earlier, mut found) = (Vec::new(), Vec::new());
    while !way.repetition.is_enough(&found) {
        let outcome = repeat(plan, if way.is_warm { &earlier } else { &[] }, &mut dut);
        found.push(outcome.throughput().map_or(0.0, |rate| rate.0 as f64));
        earlier.push(outcome);
    }
    let median_over_truth = median(&found).unwrap() / dut.truth().0 as f64;
    Run {
        repetitions: found.len() as f64,
        trials: earlier
            .iter()
            .map(|outcome| f64::from(outcome.trials))
            .sum(),
        hours: dut.elapsed_ns() as f64 / 3.6e12,
        median_over_truth,
        is_within: f64::from(u8::from((median_over_truth - 1.0).abs() <= 0.01)),
    }
}

/// Returns the means over all runs, except that the medians are summarised by their median.
fn typical(plan: &Plan, way: Way, behaviour: Behaviour) -> Run {
    let runs: Vec<Run> = (0..RUNS)
        .map(|seed| measurement(plan, way, behaviour, seed))
        .collect();
    let mean = |of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
    let medians: Vec<f64> = runs.iter().map(|run| run.median_over_truth).collect();
    Run {
        repetitions: mean(|run| run.repetitions),
        trials: mean(|run| run.trials),
        hours: mean(|run| run.hours),
        median_over_truth: median(&medians).unwrap(),
        is_within: mean(|run| run.is_within),
    }
}

fn row(dut: &str, way: &str, run: Run, cold: Run) -> String {
    let Run {
        repetitions,
        trials,
        hours,
        median_over_truth,
        is_within,
    } = run;
    let (saved, percent) = (cold.trials / trials, 100.0 * is_within);
    format!(
        "{dut:<13} {way:<11} {repetitions:>4.1} {trials:>6.1} {saved:>6.2} {hours:>6.2} {median_over_truth:>7.4} {percent:>12.1}"
    )
}

#[test]
fn repeating_until_the_median_is_known_costs_less_than_half_and_finds_the_same() {
    let plan = settings();
    let mut table =
        String::from("DUT           way         reps trials  saves  hours  median % within 1 %\n");
    for (name, behaviour) in DUTS {
        let [cold, warm, adaptive] =
            [COLD, WARM, ADAPTIVE].map(|way| typical(&plan, way, behaviour));
        for (way, run) in [(COLD, cold), (WARM, warm), (ADAPTIVE, adaptive)] {
            writeln!(table, "{}", row(name, way.name, run, cold)).unwrap();
        }
        assert!(
            cold.trials >= 2.3 * adaptive.trials,
            "trials saved\n{table}"
        );
        assert!(
            (adaptive.median_over_truth / cold.median_over_truth - 1.0).abs() <= 0.003,
            "medians\n{table}"
        );
        // The rule promises this coverage for the median, although it checks again after every repetition.
        assert!(adaptive.is_within >= 0.95, "known within 1 %\n{table}");
    }
    insta::assert_snapshot!(table);
}
