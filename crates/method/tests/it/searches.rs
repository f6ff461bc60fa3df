//! The behaviour of every search on every kind of DUT, reviewed as one table.

use proptest::prelude::*;
use sixbench_method::fixtures::plan;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Point};
use sixbench_method::search::{
    BinarySearch, Certainty, Goal, Limit, MultipleLossRatioSearch, Search, SearchMethod,
    SearchSettings, Start, new_search, run, start_for,
};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::{FrameRate, SECOND_NS};
use sixbench_stats::SplitMix64;
use sixbench_stats::Summary;
use std::fmt::Write;

const RUNS: u64 = 200;
/// The result of one search.
struct Run {
    trials: f64,
    seconds: f64,
    found_over_truth: f64,
}

/// A search under review: builds the search of the next run, given the results of the earlier runs of its series.
struct Contender {
    name: &'static str,
    build: fn(&[Outcome]) -> Box<dyn Search>,
    /// The number of repetitions that share their results; if there is more than one, the first is cold and not counted.
    series: u64,
}

fn binary() -> Plan {
    plan(SearchMethod::Binary, &[0.0])
}

fn point() -> Point {
    binary().tests[0].points().next().unwrap()
}

/// Returns the start of the next repetition's search.
fn dithered(earlier: &[Outcome]) -> Start {
    let (plan, point) = (binary(), point());
    let found: Vec<_> = earlier.iter().map(Outcome::throughput).collect();
    start_for(
        &plan.search,
        plan.seed,
        &point.test,
        point.frame_size,
        &found,
    )
}

fn tst009() -> Box<dyn Search> {
    let plan = plan(SearchMethod::Mlrsearch, &[0.0]);
    let settings = SearchSettings {
        certainty: Some(Certainty::tst009(60 * SECOND_NS)),
        ..plan.search
    };
    new_search(&settings, &plan.trial, Start::Cold)
}

const CONTENDERS: [Contender; 5] = [
    Contender {
        name: "binary cold",
        build: |_| new_search(&binary().search, &binary().trial, Start::Cold),
        series: 1,
    },
    Contender {
        name: "binary dithered",
        build: |earlier| new_search(&binary().search, &binary().trial, dithered(earlier)),
        series: 20,
    },
    Contender {
        name: "MLRsearch rfc2544",
        build: |_| {
            let plan = plan(SearchMethod::Mlrsearch, &[0.0]);
            new_search(&plan.search, &plan.trial, Start::Cold)
        },
        series: 1,
    },
    Contender {
        name: "MLRsearch 3 goals",
        build: |_| {
            let plan = plan(SearchMethod::Mlrsearch, &[0.0, 0.0001, 0.001]);
            new_search(&plan.search, &plan.trial, Start::Cold)
        },
        series: 1,
    },
    Contender {
        name: "MLRsearch tst009",
        build: |_| tst009(),
        series: 1,
    },
];

const BEHAVIOURS: [(&str, Behaviour); 5] = [
    ("hard limit", Behaviour::HardLimit),
    ("noisy 2 %", Behaviour::Noisy { deviation: 0.02 }),
    (
        "bimodal 8 %",
        Behaviour::Bimodal {
            often: 0.08,
            at: 0.7,
        },
    ),
    (
        "loss inversion",
        Behaviour::LossInversion {
            from: 0.6,
            to: 0.7,
            loss: 0.001,
        },
    ),
    ("slow tester", Behaviour::SlowTester { ceiling: 0.8 }),
];

/// Returns all counted runs of one search on one behaviour; capacities scatter around 1 Mfps so that no grid favours a search.
fn runs(contender: &Contender, behaviour: Behaviour) -> Vec<Run> {
    let series = |first: u64| {
        let capacity = 900_000 + SplitMix64::new(first).next_u64() % 200_000;
        let mut earlier = Vec::new();
        let all: Vec<Run> = (first..first + contender.series)
            .map(|seed| {
                let mut dut = SimulatedDut::new(behaviour, FrameRate(capacity), seed);
                one(&mut dut, (contender.build)(&earlier), &mut earlier)
            })
            .collect();
        let cold = usize::from(contender.series > 1);
        all.into_iter().skip(cold)
    };
    (0..RUNS)
        .step_by(contender.series as usize)
        .flat_map(series)
        .collect()
}

fn one(dut: &mut SimulatedDut, mut search: Box<dyn Search>, earlier: &mut Vec<Outcome>) -> Run {
    let Ok(trials) = run(search.as_mut(), dut);
    let brackets = search.brackets();
    let found = brackets[0].lower.map_or(0.0, |rate| rate.0 as f64);
    earlier.push(Outcome {
        point: point(),
        repetition: 0,
        trials,
        invalid: 0,
        load: None,
        brackets,
        values: Vec::new(),
        signs: Default::default(),
    });
    Run {
        trials: f64::from(trials),
        seconds: dut.elapsed_ns() as f64 / 1e9,
        found_over_truth: found / dut.truth().0 as f64,
    }
}

fn row(name: &str, behaviour: &str, runs: &[Run]) -> String {
    let mean = |of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let found: Vec<f64> = runs.iter().map(|run| run.found_over_truth).collect();
    let found = Summary::of(&found).unwrap();
    format!(
        "{name:<18} {behaviour:<15} {:>6.1} {:>7.0} {:>7.4} {:>7.4} {:>7.4}",
        mean(|run| run.trials),
        mean(|run| run.seconds),
        found.p1,
        found.median,
        found.p99
    )
}

#[test]
fn every_search_on_every_kind_of_dut() {
    let mut table =
        String::from("search             DUT             trials seconds  P1      median  P99\n");
    for contender in &CONTENDERS {
        for (name, behaviour) in BEHAVIOURS {
            let runs = runs(contender, behaviour);
            writeln!(table, "{}", row(contender.name, name, &runs)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

proptest! {
    #[test]
    fn a_binary_search_on_a_hard_limit_lands_within_the_width(
        minimum in 1..1_000_000u64,
        span in 0..20_000_000u64,
        place in 0.0..1.0f64,
        width in 0.0001..0.2f64,
        duration_ms in 100..60_000u64,
        hint in proptest::option::of(0..30_000_000u64),
    ) {
        let capacity = minimum + (span as f64 * place) as u64;
        let base = binary().search;
        let (minimum, maximum) = (FrameRate(minimum), FrameRate(minimum + span));
        let settings = SearchSettings { minimum, maximum, width, ..base };
        let start = hint.map_or(Start::Cold, |hint| Start::Near(FrameRate(hint)));
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1);
        let mut search = BinarySearch::new(&settings, duration_ms * 1_000_000, start);
        let Ok(trials) = run(&mut search, &mut dut);
        let found = search.brackets()[0];
        let lower = found.lower.unwrap().0;
        // A load passes, too, if its schedule has no more frames than that of the capacity.
        let grain = 1 + 1_000 / duration_ms;
        prop_assert!(minimum.0 <= lower && lower <= capacity + grain, "{:?}", found);
        match found.upper {
            None => prop_assert_eq!((lower, found.limit), (maximum.0, Limit::Maximum)),
            Some(upper) => {
                prop_assert!(capacity < upper.0 && upper <= maximum, "{:?}", found);
                let gap = upper.0 - lower;
                prop_assert!(gap <= 1 || gap as f64 <= width * upper.0 as f64, "{:?}", found);
            }
        }
        prop_assert!(trials < 60, "{}", trials);
    }

    #[test]
    fn an_mlrsearch_on_a_hard_limit_lands_within_the_width(
        minimum in 1..1_000_000u64,
        span in 0..20_000_000u64,
        place in 0.0..1.0f64,
        width in 0.0001..0.2f64,
        hint in proptest::option::of(0..30_000_000u64),
    ) {
        let capacity = minimum + (span as f64 * place) as u64;
        let start = hint.map_or(Start::Cold, |hint| Start::Near(FrameRate(hint)));
        let (goals, maximum) = (vec![Goal::rfc2544(width, 60 * SECOND_NS)], FrameRate(minimum + span));
        let mut search = MultipleLossRatioSearch::new(goals, FrameRate(minimum), maximum, 3, start);
        let Ok(_) = run(&mut search, &mut SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1));
        let found = search.brackets()[0];
        let lower = found.lower.unwrap().0;
        prop_assert!(minimum <= lower && lower <= capacity, "{:?}", found);
        match found.upper {
            None => prop_assert_eq!((lower, found.limit), (maximum.0, Limit::Maximum)),
            Some(upper) => {
                prop_assert!(capacity < upper.0 && upper <= maximum, "{:?}", found);
                let gap = upper.0 - lower;
                prop_assert!(gap <= 1 || gap as f64 <= width * upper.0 as f64, "{:?}", found);
            }
        }
    }
}
