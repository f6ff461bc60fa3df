//! Comparisons of outcomes made by hand.

use super::*;
use crate::measure::Value;
use crate::plan::{Measure, Point};
use crate::search::Bracket;
use crate::terms::FrameSize;
use crate::terms::{FrameRate, LossRatio};

fn outcome(repetition: u32, rate: u64, latency_ns: f64) -> Outcome {
    let bracket = |rate| Bracket { goal: LossRatio::ZERO, lower: Some(FrameRate(rate)), upper: None, limit: Limit::Dut };
    let value = Value {
        quantity: Quantity::TypicalLatency,
        direction: Direction::Forward,
        load: FrameRate(1000 + u64::from(repetition)),
        value: latency_ns,
        is_at_least: false,
    };
    Outcome {
        point: Point { test: "t".to_owned(), frame_size: FrameSize(84) },
        repetition,
        trials: 1,
        invalid: 0,
        brackets: if latency_ns > 0.0 { vec![] } else { vec![bracket(rate)] },
        values: if latency_ns > 0.0 { vec![value] } else { vec![] },
    }
}

fn rates(rates: &[u64]) -> Vec<Outcome> {
    rates.iter().zip(1..).map(|(&rate, repetition)| outcome(repetition, rate, 0.0)).collect()
}

#[test]
fn a_higher_throughput_is_better_and_a_higher_latency_worse() {
    let rows = compare(&rates(&[100, 101, 99, 100]), &rates(&[110, 112, 111, 109]), 0.0);
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].verdict, rows[0].subject.to_string().as_str()), (Comparison::Better, "Throughput"));
    let latencies = |values: [f64; 4]| values.iter().zip(1..).map(|(v, i)| outcome(i, 0, *v)).collect::<Vec<_>>();
    let rows = compare(&latencies([5.0, 5.1, 4.9, 5.0]), &latencies([6.0, 6.1, 6.2, 6.0]), 0.0);
    assert_eq!((rows[0].verdict, rows[0].a.n), (Comparison::Worse, 4), "loads may differ from repetition to repetition");
}

#[test]
fn a_rate_of_connections_is_called_that() {
    let goal = LossRatio::ZERO;
    assert_eq!(Subject::Rate(goal).of(&Measure::Throughput).to_string(), "Throughput");
    assert_eq!(Subject::Rate(goal).of(&Measure::EstablishmentRate).to_string(), "Connection establishment rate");
}

#[test]
fn what_lies_within_the_tolerance_or_overlaps_is_no_difference_shown() {
    let rows = compare(&rates(&[100, 101, 99, 100]), &rates(&[103, 104, 103, 104]), 0.10);
    assert_eq!(rows[0].verdict, Comparison::NoDifferenceShown);
    let rows = compare(&rates(&[100, 120, 99, 100]), &rates(&[101, 104, 103, 119]), 0.0);
    assert_eq!(rows[0].verdict, Comparison::NoDifferenceShown);
}

#[test]
fn a_device_that_passes_nothing_any_more_is_worse() {
    let rows = compare(&rates(&[500, 501, 502, 500]), &rates(&[0, 0, 0, 0]), 0.0);
    assert_eq!((rows[0].shift, rows[0].verdict), (None, Comparison::Worse));
}

#[test]
fn nothing_is_shown_beyond_the_limit_of_the_tester() {
    let mut open = rates(&[800, 801, 802, 800]);
    open.iter_mut().for_each(|outcome| outcome.brackets[0].limit = Limit::Tester);
    let other = rates(&[820, 821, 822, 823]);
    assert_eq!(compare(&open, &other, 0.0)[0].verdict, Comparison::NoDifferenceShown);
    assert_eq!(compare(&open, &rates(&[700, 701, 702, 703]), 0.0)[0].verdict, Comparison::Worse, "below the bound is below");
    open.iter_mut().for_each(|outcome| outcome.brackets[0].lower = None);
    assert!(compare(&open, &other, 0.0).is_empty(), "an unfit tester says nothing of the device");
}

#[test]
fn three_repetitions_show_nothing_however_far_apart() {
    let rows = compare(&rates(&[100, 101, 99]), &rates(&[900, 901, 902]), 0.0);
    assert_eq!((rows[0].shift, rows[0].verdict), (None, Comparison::NoDifferenceShown));
}
