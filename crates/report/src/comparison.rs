//! A comparison in words.

mod json;

pub use json::json;

use crate::amount;
use sixbench_method::comparison::{Comparison, ComparisonFinding, ComparisonRow, PointComparison};
use sixbench_method::gate::Gate;
use sixbench_method::measures::Noun;
use sixbench_method::plan::{Measure, Test};
use sixbench_method::units::counted;
use std::fmt::Display;

/// Returns the comparison row by row, then what could not be compared.
pub fn describe(compared: &Comparison<'_>, names: &[String; 2]) -> String {
    let rows = compared.rows().count();
    let mut text: String = compared.points.iter().map(|point| of_point(point, names, rows)).collect();
    compared.missing.iter().for_each(|missing| text += &format!("missing: {missing}\n"));
    compared.unfit.iter().for_each(|unfit| text += &format!("tester not fit: {unfit}\n"));
    text
}

/// Returns the name of a side: its test's title, and its directory if there are two.
fn title(test: &Test, name: &str) -> String {
    if name.is_empty() { test.title.clone() } else { format!("{} ({name})", test.title) }
}

fn of_point(point: &PointComparison<'_>, [a, b]: &[String; 2], rows: usize) -> String {
    let what = traffic(&point.a.measure, &point.frame_size);
    let head = format!("{what}: A = {}, B = {}\n", title(point.a, a), title(point.b, b));
    point.rows.iter().fold(head, |text, row| text + &of_row(row, rows))
}

/// Returns a description of the traffic: the frame size, or queries or TCP connections, whose frames the kernel makes.
fn traffic(measure: &Measure, size: &impl Display) -> String {
    match (measure.info().noun, measure.needs_hosts()) {
        (Noun::Queries, _) => "DNS queries".to_owned(),
        (_, true) => "TCP connections".to_owned(),
        (_, false) => format!("{size} bytes"),
    }
}

fn of_row(row: &ComparisonRow, rows: usize) -> String {
    let shown =
        |value, is_at_least| format!("{}{}", if is_at_least { "at least " } else { "" }, amount::show(&row.subject, value));
    format!(
        "  {}: A {} (n = {}), B {} (n = {}): {}{}\n",
        row.subject,
        shown(row.a.median, row.is_a_at_least),
        row.a.n,
        shown(row.b.median, row.is_b_at_least),
        row.b.n,
        interval(row),
        finding(row, rows)
    )
}

/// Returns the confidence interval of a row by itself. An end is open where repetitions that were cut off may lie anywhere above.
fn interval(row: &ComparisonRow) -> String {
    let Some(shift) = row.shift else { return String::new() };
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    let end = |ratio: f64| if ratio > 0.0 && ratio.is_finite() { percent(ratio) } else { "open".to_owned() };
    let (low, high) = (end(shift.low), end(shift.high));
    format!("{} [{low}, {high}] at 95 %: ", percent(shift.ratio))
}

fn finding(row: &ComparisonRow, rows: usize) -> String {
    let zeroes = if row.shift.is_none() { " by differences, because there are zeroes" } else { "" };
    let p = if row.p_value < 0.001 { "p < 0.001".to_owned() } else { format!("p = {:.3}", row.p_value) };
    let among = if rows == 1 { zeroes.to_owned() } else { format!("{zeroes} ({p} among {rows} rows)") };
    match row.finding {
        ComparisonFinding::Better => format!("B is better{among}"),
        ComparisonFinding::Worse => format!("B is worse{among}"),
        ComparisonFinding::NoDifferenceShown => format!("no difference shown{among}"),
        ComparisonFinding::TooFewRepetitions { needed } => {
            let of = if rows == 1 { String::new() } else { format!(" in one of {rows} rows") };
            format!("inconclusive: too few repetitions (at least {needed} of each are needed to show a difference{of})")
        }
        ComparisonFinding::CutOff => {
            "inconclusive: the tester, the plan's maximum or other work on the machine cut off repetitions that might \
                                      show a difference"
                .to_owned()
        }
        ComparisonFinding::Dependent => dependent(row),
        ComparisonFinding::Drifting => format!(
            "inconclusive: the repetitions drift, and the drift alone can make B differ from A by {:+.1} %; measure A and B in \
             turns",
            row.drift.unwrap_or_default() * 100.0
        ),
    }
}

/// Returns the sentence about dependent repetitions. Independent repetitions, too, have some autocorrelation by chance, so the
/// sentence says "may" unless the autocorrelation is shown.
fn dependent(row: &ComparisonRow) -> String {
    let (follow, show) = match row.is_autocorrelation_shown {
        true => ("repetitions depend on the ones before them", "they show"),
        false => ("repetitions may depend on the ones before them", "they may show"),
    };
    let autocorrelation = row.autocorrelation.map(|found| format!(" (autocorrelation {found:.1})")).unwrap_or_default();
    format!(
        "inconclusive: {follow}{autocorrelation}, so {show} less than their number suggests; make more of them, with longer pauses"
    )
}

/// Returns the reason for the verdict: first the finding that decides it, then all others. `what_helps` stands behind the points at which
/// the tester was not fit.
pub fn reason(compared: &Comparison<'_>, what_helps: &str) -> String {
    let rows = compared.rows().count();
    let count = |finding: fn(&ComparisonFinding) -> bool| compared.rows().filter(|row| finding(&row.finding)).count();
    let (worse, better) = (count(|f| *f == ComparisonFinding::Worse), count(|f| *f == ComparisonFinding::Better));
    let inconclusive = count(|finding| finding.gate() == Gate::Inconclusive);
    let all = [
        (worse, format!("B is worse than A in {worse} of {}", counted(rows, "row"))),
        (compared.missing.len(), format!("{} missing, listed above", counted(compared.missing.len(), "result"))),
        (compared.unfit.len(), format!("the tester was not fit at {}{what_helps}", counted(compared.unfit.len(), "point"))),
        (inconclusive, format!("{inconclusive} of {} inconclusive", counted(rows, "row"))),
    ];
    let told: Vec<&str> = all.iter().filter(|(count, _)| *count > 0).map(|(_, text)| text.as_str()).collect();
    match (told.split_first(), better) {
        (Some((first, [])), _) => (*first).to_owned(),
        (Some((first, others)), _) => format!("{first}; besides, {}", others.join("; ")),
        (None, 0) => format!("no difference is shown in {}", counted(rows, "row")),
        (None, better) if better == rows => format!("B is better than A in {}", counted(rows, "row")),
        (None, better) => {
            format!("B is better than A in {better} of {}, and no difference is shown in the others", counted(rows, "row"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::comparison::{Compared, Missing, RunOrder, Subject, Unfit, Which, compare};
    use sixbench_method::measures::Outcome;
    use sixbench_method::plan::{DnsRole, DnsTest, Point, Tcp};
    use sixbench_method::repeat::Repetition;
    use sixbench_method::search::{Bracket, Limit};
    use sixbench_method::terms::{FrameRate, LossRatio};
    use sixbench_method::trial::tcp::Close;

    fn outcomes(test: &Test, rates: &[u64], limit: Limit) -> Vec<Outcome> {
        let of = |(rate, repetition): (&u64, u32)| Outcome {
            point: Point { test: test.name.clone(), frame_size: test.frame_sizes[0] },
            repetition,
            trials: 1,
            invalid: 0,
            load: None,
            brackets: vec![Bracket { goal: LossRatio::ZERO, lower: Some(FrameRate(*rate)), upper: None, limit }],
            values: vec![],
        };
        rates.iter().zip(1..).map(of).collect()
    }

    fn told(measure: Measure, a: &[u64], b: &[u64], limit: Limit) -> String {
        told_in(RunOrder::InTurns, measure, a, b, limit)
    }

    fn told_in(order: RunOrder, measure: Measure, a: &[u64], b: &[u64], limit: Limit) -> String {
        let repetitions = Repetition::Fixed(a.len() as u32);
        let test = Test { measure, repetitions, ..Test::of("t", "d") };
        let (a, b) = (outcomes(&test, a, Limit::Dut), outcomes(&test, b, limit));
        let side = |which, outcomes| Compared { which, tests: vec![&test], outcomes };
        let compared = compare(&side(Which::A, &a), &side(Which::B, &b), 0.0, order).expect("a test in common");
        describe(&compared, &["old".to_owned(), "new".to_owned()]) + &reason(&compared, HELP)
    }

    const HELP: &str = " (sixbench doctor shows the cause)";
    const LOW: [u64; 4] = [100_000, 101_000, 99_000, 100_000];
    const HIGH: [u64; 4] = [110_000, 112_000, 111_000, 109_000];

    #[test]
    fn frames_queries_and_connections_have_their_own_words() {
        let tcp = Tcp { object_octets: 64, time_limit_ns: 1, close: Close::Reset, server_ports: (80, 80) };
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
        let drifting = told_in(RunOrder::AFirst, Measure::Throughput, &up(100_000), &up(107_000), Limit::Dut);
        let waves = [104_000, 103_500, 103_000, 101_000, 99_500, 99_400, 99_300, 101_500, 103_000, 103_500, 104_000];
        let around = [101_000, 100_500, 100_000, 98_000, 96_500, 96_400, 96_300, 98_500, 100_000, 100_500, 101_000];
        let dependent = told_in(RunOrder::BFirst, Measure::Throughput, &waves, &around, Limit::Dut);
        let of = |ranks: [u64; 16]| ranks.map(|rank| 100_000 + 100 * rank);
        let (low, high) = (
            of([1, 6, 2, 4, 3, 9, 12, 5, 20, 14, 7, 8, 22, 11, 10, 13]),
            of([15, 9, 18, 23, 12, 16, 26, 21, 6, 13, 24, 17, 3, 10, 19, 25]),
        );
        let perhaps = told_in(RunOrder::BFirst, Measure::Throughput, &low, &high, Limit::Dut);
        insta::assert_snapshot!([few, cut_off, drifting, dependent, perhaps].join("\n"));
    }

    #[test]
    fn the_most_serious_reason_is_told_first_and_the_others_besides() {
        let point = "t/84".to_owned();
        let missing = Missing::Quantity { side: Which::B, point: point.clone(), subject: Subject::Rate(LossRatio::ZERO) };
        let unfit = Unfit { side: Which::A, point, unfit: 3, made: 7 };
        let compared = Comparison { points: vec![], missing: vec![missing], unfit: vec![unfit] };
        insta::assert_snapshot!(describe(&compared, &["old".to_owned(), "new".to_owned()]) + &reason(&compared, HELP));
    }
}
