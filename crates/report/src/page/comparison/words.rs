//! The parts of a comparison in words.

use super::requirements::{self, requirements};
use crate::findings::warning::{base, noun};
use crate::wording::amount;
use crate::wording::anomalies::frames_and_share;
use crate::wording::bound::Bound;
use sixbench_analysis::comparison::{
    ComparedUnit, Comparison, ComparisonFinding, ComparisonRow, OneSidedAnomaly, PointComparison,
    SESSIONS_DIFFER,
};
use sixbench_analysis::gate::Gate;
use sixbench_method::anomaly::AnomalyShare;
use sixbench_method::measures::Family;
use sixbench_method::plan::Test;
use sixbench_method::terms::FrameSize;
use sixbench_method::units::counted;
use sixbench_stats::Shift;

/// Returns the comparison row by row, then what could not be compared.
pub fn describe(compared: &Comparison<'_>, names: &[String; 2]) -> String {
    let sides = Sides::new(compared);
    let points: String = compared
        .measured_points()
        .map(|point| of_point(point, names, &sides))
        .collect();
    points + &below(compared)
}

/// Returns the lines below the rows: what is known of the machine, what only one side did beside losing frames, and what could not be compared.
pub(super) fn below(compared: &Comparison<'_>) -> String {
    of_machine(compared) + &requirements(compared) + &anomalies(compared) + &lacking(compared)
}

/// Returns the anomalous frames that one side had and the other had not, one kind per line.
pub(super) fn anomalies(compared: &Comparison<'_>) -> String {
    let line = |found: &OneSidedAnomaly<'_>| {
        let AnomalyShare {
            kind,
            frames,
            share,
        } = found.frames;
        let words = frames_and_share(
            &noun(kind, frames, Some(found.test)),
            frames,
            share,
            &base(kind, Some(found.test)),
        )
        .replace('\u{a0}', " ");
        format!("only {} had {words} ({})\n", found.which, found.test.title)
    };
    compared.anomalies.iter().map(line).collect()
}

/// Returns what could not be compared, one item per line.
pub(super) fn lacking(compared: &Comparison<'_>) -> String {
    let missing = compared
        .missing
        .iter()
        .map(|missing| format!("missing: {missing}\n"));
    missing
        .chain(
            compared
                .unfit
                .iter()
                .map(|unfit| format!("tester not fit: {unfit}\n")),
        )
        .collect()
}

/// The context on which the words of a row depend.
pub(super) struct Sides {
    rows: usize,
    unit: ComparedUnit,
    /// What the reference device shows of the machine; empty if there is none.
    machine: String,
}

impl Sides {
    pub(super) fn new(compared: &Comparison<'_>) -> Self {
        Self {
            rows: compared.rows().count(),
            unit: compared.unit,
            machine: machine(compared),
        }
    }

    /// Returns whether any values are compared: requirements are not.
    pub(super) fn has_rows(&self) -> bool {
        self.rows > 0
    }

    /// Returns the noun for the values of a row.
    fn values(&self) -> &'static str {
        match self.unit {
            ComparedUnit::Repetitions => "repetitions",
            ComparedUnit::Runs => "runs",
        }
    }

    /// Returns the heading of the column of A or B.
    pub(super) fn head(&self, side: &str) -> String {
        match self.unit {
            ComparedUnit::Repetitions => format!("{side}: median (n)"),
            ComparedUnit::Runs => format!("{side}: median (runs)"),
        }
    }

    /// Returns a number of values with its noun: `n = 7`, or `5 runs`.
    fn count(&self, n: usize) -> String {
        match self.unit {
            ComparedUnit::Repetitions => format!("n = {n}"),
            ComparedUnit::Runs => counted(n, "run"),
        }
    }
}

/// Returns the ratio of B to A that the reference device shows, with its interval.
fn machine(compared: &Comparison<'_>) -> String {
    let reference = compared.reference.as_ref();
    let shown = reference.and_then(|reference| Some((&reference.test, reference.shift?)));
    shown.map_or_else(String::new, |(test, shift)| {
        format!("{test}: {} at 95 %", percent_of(&shift))
    })
}

/// Returns what is known of the machine between A and B, as a line below the rows; empty if A and B have no reference device.
pub(super) fn of_machine(compared: &Comparison<'_>) -> String {
    let Some(reference) = &compared.reference else {
        return String::new();
    };
    let shown = match reference.shift {
        None => format!(
            "{} has too few repetitions, so it says nothing of the machine",
            reference.test
        ),
        Some(_) if reference.is_changed => {
            format!("{}; the machine changed between A and B", machine(compared))
        }
        Some(_) => format!("{}; no change of the machine is shown", machine(compared)),
    };
    format!("reference device {shown}\n")
}

/// Returns the name of a side: its test's title, and its directory if there are two.
pub(super) fn title(test: &Test, name: &str) -> String {
    if name.is_empty() {
        test.title.clone()
    } else {
        format!("{} ({name})", test.title)
    }
}

fn of_point(point: &PointComparison<'_>, names: &[String; 2], sides: &Sides) -> String {
    point
        .rows
        .iter()
        .fold(titles(point, names), |text, row| text + &of_row(row, sides))
}

/// Returns the line above the rows of a point: the traffic, and what A and B are.
pub(super) fn titles(point: &PointComparison<'_>, [a, b]: &[String; 2]) -> String {
    let what = traffic(point.a, point.frame_size);
    format!(
        "{what}: A = {}, B = {}\n",
        title(point.a, a),
        title(point.b, b)
    )
}

/// Returns a description of the traffic: the frame size, or queries or TCP connections, whose frames are made by the kernel.
fn traffic(test: &Test, size: FrameSize) -> String {
    match test.measure.family() {
        Family::Queries => "DNS queries".to_owned(),
        Family::Tcp => "TCP connections".to_owned(),
        Family::Vectors => "vectors of requirements".to_owned(),
        Family::Frames | Family::Requests | Family::PhaseOne => test.size_in_words(size),
    }
}

fn of_row(row: &ComparisonRow, sides: &Sides) -> String {
    let [a, b] = [0, 1].map(|side| of_side(row, side, sides));
    format!(
        "  {}: A {a}, B {b}: {}{}\n",
        row.subject,
        interval(row),
        finding(row, sides)
    )
}

/// Returns the median of A (0) or B (1), and the number of its values with their noun.
fn of_side(row: &ComparisonRow, side: usize, sides: &Sides) -> String {
    format!(
        "{} ({})",
        median(row, side),
        sides.count([row.a, row.b][side].n)
    )
}

/// Returns the median of A (0) or B (1).
fn median(row: &ComparisonRow, side: usize) -> String {
    let sides = [
        (row.a, row.is_a_at_least, row.is_a_at_most),
        (row.b, row.is_b_at_least, row.is_b_at_most),
    ];
    let (summary, is_at_least, is_at_most) = sides[side];
    amount::show_bound(
        &row.subject,
        summary.median,
        Bound::of_value(is_at_least, is_at_most),
    )
}

/// Returns the median of A (0) or B (1) and the number of its values, whose noun is in the table's heading: see [`Sides::head`].
pub(super) fn short_side(row: &ComparisonRow, side: usize) -> String {
    format!("{} ({})", median(row, side), [row.a, row.b][side].n)
}

/// Returns the ratio of B to A with the confidence interval of this row alone, in per cent: `-10.0 [-10.4, -9.6] %`. An end is open if truncated
/// repetitions may lie anywhere beyond it. `None` if there is no ratio.
pub(super) fn effect(row: &ComparisonRow) -> Option<String> {
    row.shift.as_ref().map(percent_of)
}

/// Returns a ratio with its interval, in per cent.
fn percent_of(shift: &Shift) -> String {
    let percent = |ratio: f64| format!("{:+.1}", (ratio - 1.0) * 100.0);
    let end = |ratio: Option<f64>| ratio.map_or_else(|| "open".to_owned(), percent);
    let (low, high) = (end(shift.lower_end()), end(shift.upper_end()));
    format!("{} [{low}, {high}] %", percent(shift.ratio))
}

/// Does the same as [`effect`] for the beginning of a sentence.
fn interval(row: &ComparisonRow) -> String {
    effect(row).map_or_else(String::new, |effect| format!("{effect} at 95 %: "))
}

/// Returns a finding in one word.
pub(super) fn word(finding: ComparisonFinding) -> &'static str {
    match finding {
        ComparisonFinding::Better => "better",
        ComparisonFinding::Worse => "worse",
        ComparisonFinding::NoDifferenceShown => "no difference shown",
        _ => "inconclusive",
    }
}

/// Returns the finding of a row in a word, with the p-value if a difference is shown.
pub(super) fn verdict(row: &ComparisonRow) -> String {
    match row.finding {
        ComparisonFinding::Better | ComparisonFinding::Worse => {
            format!("{} ({})", word(row.finding), p_value(row))
        }
        finding => word(finding).to_owned(),
    }
}

fn p_value(row: &ComparisonRow) -> String {
    if row.p_value < 0.001 {
        "p < 0.001".to_owned()
    } else {
        format!("p = {:.3}", row.p_value)
    }
}

/// Returns how the difference was tested, and the p-value if there are several rows.
fn among(row: &ComparisonRow, sides: &Sides) -> String {
    let zeroes = if row.shift.is_none() {
        " by differences, because there are zeroes"
    } else {
        ""
    };
    if sides.rows == 1 {
        zeroes.to_owned()
    } else {
        format!("{zeroes} ({} among {} rows)", p_value(row), sides.rows)
    }
}

/// Returns the finding of a row, with the reason if it is inconclusive.
pub(super) fn finding(row: &ComparisonRow, sides: &Sides) -> String {
    let (among, rows, values) = (among(row, sides), sides.rows, sides.values());
    match row.finding {
        ComparisonFinding::Better => format!("B is better{among}"),
        ComparisonFinding::Worse => format!("B is worse{among}"),
        ComparisonFinding::NoDifferenceShown => format!("no difference shown{among}"),
        ComparisonFinding::TooFewRepetitions { needed } => {
            let of = if rows == 1 {
                String::new()
            } else {
                format!(" in one of {rows} rows")
            };
            format!(
                "inconclusive: too few {values} (at least {needed} of each are needed to show a difference{of})"
            )
        }
        ComparisonFinding::CutOff => cut_off(row, values),
        ComparisonFinding::Dependent => dependent(row, values),
        ComparisonFinding::Drifting => format!(
            "inconclusive: A and B were measured one after the other, and a drift of the machine that the {values} do not rule out \
             can make B differ from A by {:+.1} %; measure A and B in turns",
            row.drift.unwrap_or_default() * 100.0
        ),
        ComparisonFinding::NotInTurns => format!(
            "inconclusive: A and B were measured one after the other, so the machine may have changed in between instead of the device, which differences of \
             up to {:.0} % do not tell apart; measure them in turns, or name a test of a reference device that did not change and that both have \
             (`reference` in the plan, or --reference TEST)",
            SESSIONS_DIFFER * 100.0
        ),
        ComparisonFinding::WithinReference => {
            format!(
                "inconclusive: the machine may have changed as much between A and B ({})",
                sides.machine
            )
        }
        ComparisonFinding::MachineChanged => format!(
            "inconclusive: the machine changed between A and B ({})",
            sides.machine
        ),
    }
}

/// Returns the sentence about repetitions of which only bounds are known.
fn cut_off(row: &ComparisonRow, values: &str) -> String {
    if row.is_a_at_most || row.is_b_at_most {
        return format!(
            "inconclusive: the tester or other work on the machine may have made delays too long, so {values} that might show a difference are only upper \
             bounds"
        );
    }
    format!(
        "inconclusive: the tester, the plan's maximum or other work on the machine cut off {values} that might show a difference"
    )
}

/// Returns the sentence about dependent repetitions. Even independent repetitions have some autocorrelation by chance, so the sentence says "may"
/// unless the autocorrelation is significant.
fn dependent(row: &ComparisonRow, values: &str) -> String {
    let (follow, show) = if row.is_autocorrelation_shown {
        (
            format!("{values} depend on the ones before them"),
            "they show",
        )
    } else {
        (
            format!("{values} may depend on the ones before them"),
            "they may show",
        )
    };
    let autocorrelation = row
        .autocorrelation
        .map(|found| format!(" (autocorrelation {found:.1})"))
        .unwrap_or_default();
    format!(
        "inconclusive: {follow}{autocorrelation}, so {show} less than their number suggests; make more of them, with longer pauses"
    )
}

/// Returns the reason for the verdict: first the decisive finding, then all others. `what_helps` follows the points at which the tester was not fit.
pub fn reason(compared: &Comparison<'_>, what_helps: &str) -> String {
    let all = shortcomings(compared, what_helps);
    let mut present = all.iter().filter(|(count, _)| *count > 0);
    let Some((_, first)) = present.next() else {
        return without_shortcomings(compared);
    };
    let others: Vec<&str> = present.map(|(_, text)| text.as_str()).collect();
    if others.is_empty() {
        first.clone()
    } else {
        format!("{first}; besides, {}", others.join("; "))
    }
}

/// Returns what a comparison can fall short in, the most decisive first, each with how often it does and in words.
fn shortcomings(compared: &Comparison<'_>, what_helps: &str) -> [(usize, String); 6] {
    let rows = compared.rows().count();
    let worse = rows_with(compared, ComparisonFinding::Worse);
    let inconclusive = compared
        .rows()
        .filter(|row| row.finding.gate() == Gate::Inconclusive)
        .count();
    [
        requirements::violated(compared),
        (
            worse,
            format!("B is worse than A in {worse} of {}", counted(rows, "row")),
        ),
        (
            compared.missing.len(),
            format!(
                "{} missing, listed above",
                counted(compared.missing.len(), "result")
            ),
        ),
        (
            compared.unfit.len(),
            format!(
                "the tester was not fit at {}{what_helps}",
                counted(compared.unfit.len(), "point")
            ),
        ),
        requirements::unknown(compared),
        (
            inconclusive,
            format!("{inconclusive} of {} inconclusive", counted(rows, "row")),
        ),
    ]
}

/// Returns the reason for the verdict on a comparison that falls short in nothing.
fn without_shortcomings(compared: &Comparison<'_>) -> String {
    let rows = compared.rows().count();
    match rows_with(compared, ComparisonFinding::Better) {
        0 if rows == 0 && !compared.requirements.is_empty() => requirements::cured(compared),
        0 => format!("no difference is shown in {}", counted(rows, "row")),
        better if better == rows => format!("B is better than A in {}", counted(rows, "row")),
        better => format!(
            "B is better than A in {better} of {}, and no difference is shown in the others",
            counted(rows, "row")
        ),
    }
}

fn rows_with(compared: &Comparison<'_>, finding: ComparisonFinding) -> usize {
    compared.rows().filter(|row| row.finding == finding).count()
}
