//! The comparison of two runs: as a table and sentences for a terminal, as a page, as Markdown and as JSON.

mod json;
mod page;
mod requirements;
mod table;
mod words;

pub use json::json;
pub use page::{ComparisonWords, markdown, page};
pub use table::table;
pub use words::{describe, reason};

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_analysis::comparison::{
        Compared, ComparedSide, ComparedUnit, ComparedValue, Comparison, MeasurementGap, RunOrder,
        UnfitPoint, compare,
    };
    use sixbench_method::measures::Outcome;
    use sixbench_method::plan::{DnsRole, DnsTest, Measure, Point, Tcp, Test};
    use sixbench_method::repeat::Repetition;
    use sixbench_method::search::{Bracket, Limit};
    use sixbench_method::terms::{FrameRate, LossRatio};
    use sixbench_method::trial::tcp::Close;

    fn outcomes(test: &Test, rates: &[u64], limit: Limit) -> Vec<Outcome> {
        let of = |(rate, repetition): (&u64, u32)| Outcome {
            point: Point {
                test: test.name.clone(),
                frame_size: test.frame_sizes[0],
            },
            repetition,
            trials: 1,
            invalid: 0,
            load: None,
            brackets: vec![Bracket {
                goal: LossRatio::ZERO,
                lower: Some(FrameRate(*rate)),
                upper: None,
                limit,
                exceed_ratio: 0.0,
                conditional_throughput: None,
            }],
            values: vec![],
            signs: Default::default(),
        };
        rates.iter().zip(1..).map(of).collect()
    }

    fn told(measure: Measure, a: &[u64], b: &[u64], limit: Limit) -> String {
        told_in(RunOrder::InTurns, measure, a, b, limit)
    }

    fn told_in(order: RunOrder, measure: Measure, a: &[u64], b: &[u64], limit: Limit) -> String {
        let repetitions = Repetition::Fixed(a.len() as u32);
        let test = Test {
            measure,
            repetitions,
            ..Test::new("t", "d")
        };
        let (a, b) = (outcomes(&test, a, Limit::Dut), outcomes(&test, b, limit));
        let side = |which, outcomes| Compared {
            which,
            tests: vec![&test],
            runs: vec![outcomes],
        };
        let compared = compare(
            &side(ComparedSide::A, &a),
            &side(ComparedSide::B, &b),
            0.0,
            order,
        )
        .expect("a test in common");
        describe(&compared, &["old".to_owned(), "new".to_owned()]) + &reason(&compared, HELP)
    }

    const HELP: &str = " (sixbench doctor shows the cause)";
    const LOW: [u64; 4] = [100_000, 101_000, 99_000, 100_000];
    const HIGH: [u64; 4] = [110_000, 112_000, 111_000, 109_000];

    #[test]
    fn frames_queries_and_connections_have_their_own_words() {
        let tcp = Tcp {
            object_octets: 64,
            time_limit_ns: 1,
            close: Close::Reset,
            server_ports: (80, 80),
        };
        let of = |measure| told(measure, &HIGH, &LOW, Limit::Dut);
        insta::assert_snapshot!(
            [
                of(Measure::Throughput),
                of(Measure::Dns(DnsTest::required(DnsRole::Dns64))),
                of(Measure::TcpEstablishmentRate(tcp)),
                of(Measure::EstablishmentRate),
            ]
            .join("\n")
        );
    }

    #[test]
    fn what_is_inconclusive_says_why() {
        let few = told(Measure::Throughput, &LOW[..3], &HIGH[..3], Limit::Dut);
        let cut_off = told(Measure::Throughput, &HIGH, &LOW, Limit::Maximum);
        let up = |from: u64| (0..7).map(|i| from + 1000 * i).collect::<Vec<u64>>();
        let drifting = told_in(
            RunOrder::AFirst,
            Measure::Throughput,
            &up(100_000),
            &up(107_000),
            Limit::Dut,
        );
        let level = [
            103_000, 103_200, 102_900, 103_100, 103_300, 102_800, 103_000, 103_200, 102_900,
            103_100, 103_000,
        ];
        let wave = [
            102_800, 102_300, 101_800, 99_800, 98_300, 98_200, 98_100, 100_300, 101_300, 101_500,
            101_600,
        ];
        let dependent = told(Measure::Throughput, &level, &wave, Limit::Dut);
        let of = |ranks: [u64; 16]| ranks.map(|rank| 100_000 + 100 * rank);
        let (low, high) = (
            of([28, 2, 7, 18, 16, 10, 12, 22, 23, 9, 13, 4, 3, 21, 8, 1]),
            of([14, 5, 15, 32, 20, 19, 6, 17, 30, 29, 26, 27, 11, 25, 24, 31]),
        );
        let perhaps = told(Measure::Throughput, &low, &high, Limit::Dut);
        insta::assert_snapshot!([few, cut_off, drifting, dependent, perhaps].join("\n"));
    }

    #[test]
    fn a_median_that_may_be_lower_is_told_as_at_most() {
        use sixbench_method::measures::{Quantity, Value};
        use sixbench_method::terms::Direction;
        let pdv = sixbench_method::plan::PdvStream {
            load: sixbench_method::plan::Load::OfThroughput(1.0),
            duration_ns: 1,
        };
        let test = Test {
            measure: Measure::Pdv(pdv),
            repetitions: Repetition::Fixed(4),
            ..Test::new("t", "d")
        };
        let of = |delays: [f64; 4], is_at_most| -> Vec<Outcome> {
            let (quantity, direction, load) = (Quantity::Pdv, Direction::Forward, FrameRate(1));
            let values = delays.map(|value| {
                vec![Value {
                    quantity,
                    direction,
                    load,
                    value,
                    is_at_least: false,
                    is_at_most,
                }]
            });
            let made = outcomes(&test, &LOW, Limit::Dut).into_iter().zip(values);
            made.map(|(outcome, values)| Outcome {
                brackets: vec![],
                values,
                ..outcome
            })
            .collect()
        };
        let (a, b) = (
            of([1e6, 1.1e6, 1.2e6, 1.1e6], false),
            of([2e6, 2.1e6, 2.2e6, 2.1e6], true),
        );
        let side = |which, outcomes| Compared {
            which,
            tests: vec![&test],
            runs: vec![outcomes],
        };
        let compared = compare(
            &side(ComparedSide::A, &a),
            &side(ComparedSide::B, &b),
            0.0,
            RunOrder::InTurns,
        )
        .expect("a test in common");
        let names = ["old".to_owned(), "new".to_owned()];
        insta::assert_snapshot!(describe(&compared, &names));
        let page = page(
            &compared,
            &ComparisonWords {
                names: &names,
                explanation: "",
                warnings: &[],
                margin: 0.0,
            },
            "",
        )
        .expect("a page");
        assert!(page.contains("at most 2.100"), "{page}");
        let row = &json(&compared, &names, &[])["comparison"][0]["rows"][0];
        assert_eq!(
            (&row["is_a_at_most"], &row["is_b_at_most"], &row["reason"]),
            (&false.into(), &true.into(), &"cut-off".into())
        );
    }

    #[test]
    fn the_most_serious_reason_is_told_first_and_the_others_besides() {
        let point = "t/84".to_owned();
        let missing = MeasurementGap::Quantity {
            side: ComparedSide::B,
            point: point.clone(),
            subject: ComparedValue::Rate(LossRatio::ZERO),
        };
        let unfit = UnfitPoint {
            side: ComparedSide::A,
            point,
            unfit: 3,
            made: 7,
        };
        let compared = Comparison {
            unit: ComparedUnit::Repetitions,
            points: vec![],
            missing: vec![missing],
            unfit: vec![unfit],
            reference: None,
            anomalies: vec![],
            requirements: vec![],
        };
        insta::assert_snapshot!(
            describe(&compared, &["old".to_owned(), "new".to_owned()]) + &reason(&compared, HELP)
        );
    }
}
