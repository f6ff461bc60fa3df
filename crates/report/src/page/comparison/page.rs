//! A comparison as a page: before and after, every repetition, the effect with its interval, and the verdict.

use super::requirements::requirements;
use super::words::{
    Sides, anomalies, below, effect, finding, lacking, of_machine, reason, short_side, titles,
    verdict, word,
};
use crate::ReportError;
use crate::format::document::shown;
use crate::format::html::{STYLE, strict_environment};
use crate::layout::markdown::escaped as escaped_for_markdown;
use crate::plot::sheet::escaped;
use crate::wording::amount;
use minijinja::value::Serde;
use serde::Serialize;
use sixbench_analysis::comparison::{Comparison, ComparisonRow};
use sixbench_analysis::gate::Gate;
use std::fmt::Write;

const TEMPLATE: &str = include_str!("../../format/templates/comparison.html.jinja");
const OWN_STYLE: &str = include_str!("../../format/templates/comparison.css");

/// The sizes of the two drawings of a row, pixels.
const WIDTH: f64 = 220.0;
const DOTS_HEIGHT: f64 = 44.0;
const EFFECT_HEIGHT: f64 = 44.0;
/// The margin on either side, pixels.
const ROOM: f64 = 10.0;

/// The texts around a comparison.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonWords<'a> {
    /// The names of A and B: their directories, or empty for devices of one run.
    pub names: &'a [String; 2],
    /// The exit code and its reason.
    pub explanation: &'a str,
    /// Doubts about the comparison.
    pub warnings: &'a [String],
    /// The relative difference up to which differences do not count.
    pub margin: f64,
}

#[derive(Serialize)]
struct ComparisonPage<'a> {
    headline: String,
    gate: Gate,
    kicker: String,
    explanation: &'a str,
    warnings: &'a [String],
    /// What the reference device shows of the machine; empty if there is none.
    reference: String,
    /// The requirements of RFCs that became wrong or right.
    requirements: Vec<String>,
    /// The anomalous frames that only one side had.
    anomalies: Vec<String>,
    lacking: Vec<String>,
    points: Vec<ComparedPoint>,
    rows: usize,
    /// The headings of the columns of A and B.
    heads: [String; 2],
    style: [&'static str; 2],
    written: &'a str,
}

#[derive(Serialize)]
struct ComparedPoint {
    title: String,
    rows: Vec<RowWords>,
}

#[derive(Serialize)]
struct RowWords {
    name: String,
    a: String,
    b: String,
    dots: String,
    effect: String,
    effect_drawing: String,
    verdict: String,
    class: &'static str,
    finding: String,
}

/// Returns the page: one self-contained file without a script. `written` gives the date and the version.
///
/// # Errors
/// The template does not match its context: a bug in this crate.
pub fn page(
    compared: &Comparison<'_>,
    words: &ComparisonWords<'_>,
    written: &str,
) -> Result<String, ReportError> {
    let mut environment = strict_environment();
    environment.add_template("comparison.html", TEMPLATE)?;
    Ok(shown(
        environment
            .get_template("comparison.html")?
            .render(Serde(&context(compared, words, written)))?,
    ))
}

fn context<'a>(
    compared: &Comparison<'_>,
    words: &ComparisonWords<'a>,
    written: &'a str,
) -> ComparisonPage<'a> {
    let sides = Sides::new(compared);
    let reason = reason(compared, "");
    let points = compared.measured_points().map(|point| ComparedPoint {
        title: titles(point, words.names).trim_end().to_owned(),
        rows: point
            .rows
            .iter()
            .map(|row| row_words(row, &sides, words.margin))
            .collect(),
    });
    ComparisonPage {
        headline: reason[..1].to_uppercase() + &reason[1..],
        gate: compared.gate(),
        kicker: format!(
            "Comparison · differences up to {:.1} % do not count",
            words.margin * 100.0
        ),
        explanation: words.explanation,
        warnings: words.warnings,
        reference: of_machine(compared).trim_end().to_owned(),
        requirements: requirements(compared).lines().map(str::to_owned).collect(),
        anomalies: anomalies(compared).lines().map(str::to_owned).collect(),
        lacking: lacking(compared).lines().map(str::to_owned).collect(),
        points: points.collect(),
        rows: compared.rows().count(),
        heads: [sides.head("A"), sides.head("B")],
        style: [STYLE, OWN_STYLE],
        written,
    }
}

fn shown_effect(row: &ComparisonRow) -> String {
    effect(row).unwrap_or_else(|| "–".to_owned())
}

fn row_words(row: &ComparisonRow, sides: &Sides, margin: f64) -> RowWords {
    RowWords {
        name: row.subject.to_string(),
        a: short_side(row, 0),
        b: short_side(row, 1),
        dots: dots(row),
        effect: shown_effect(row),
        effect_drawing: effect_drawing(row, margin),
        verdict: verdict(row),
        class: word(row.finding),
        finding: if row.finding.gate() == Gate::Inconclusive {
            finding(row, sides)
        } else {
            String::new()
        },
    }
}

/// Draws every repetition of A above those of B on one scale, each a little lower than the one before, and the medians as lines.
fn dots(row: &ComparisonRow) -> String {
    let all = || row.values.iter().flatten().flatten().copied();
    let (low, high) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let room = if high > low {
        high - low
    } else {
        f64::max(high.abs(), 1.0)
    };
    let x = |value: f64| ROOM + (value - low) / room * (WIDTH - 2.0 * ROOM);
    let shown = |value| amount::show(&row.subject, value);
    let label = format!(
        "every repetition of A and B, from {} to {}",
        shown(low),
        shown(high)
    );
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {DOTS_HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(&label)
    );
    for (side, (runs, summary)) in row.values.iter().zip([row.a, row.b]).enumerate() {
        let top = 4.0 + 21.0 * side as f64;
        let mut path = String::new();
        for (index, run) in runs.iter().enumerate() {
            for (number, value) in run.iter().enumerate() {
                let within =
                    (index as f64 + (number as f64 + 0.5) / run.len() as f64) / runs.len() as f64;
                let _ = write!(path, "M{:.1} {:.1}h0", x(*value), top + 15.0 * within);
            }
        }
        let class = ["a", "b"][side];
        let median = x(summary.median);
        let _ = write!(
            svg,
            "<path class=\"dots {class}\" d=\"{path}\"/><path class=\"middle\" d=\"M{median:.1} {top}v16\"/>"
        );
    }
    svg + "</svg>"
}

/// Draws the interval of the ratio on a scale centred on no difference, with the margin within which differences do not count.
fn effect_drawing(row: &ComparisonRow, margin: f64) -> String {
    let Some(shift) = row.shift else {
        return String::new();
    };
    let ends = [
        shift.lower_end(),
        shift.upper_end(),
        Some(1.0 + 1.3 * margin),
        Some(shift.ratio),
    ];
    let farthest = ends
        .into_iter()
        .flatten()
        .map(|ratio| (ratio - 1.0).abs())
        .fold(0.01, f64::max);
    let x = |ratio: f64| WIDTH / 2.0 + (ratio - 1.0) / farthest * (WIDTH / 2.0 - ROOM);
    let (middle, y) = (x(1.0), EFFECT_HEIGHT / 2.0 - 4.0);
    let label = format!("ratio of B to A: {}", shown_effect(row));
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {EFFECT_HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escaped(&label)
    );
    let (from, to) = (x(1.0 - margin), x(1.0 + margin));
    let _ = write!(
        svg,
        "<rect class=\"margin\" x=\"{from:.1}\" y=\"4\" width=\"{:.1}\" height=\"28\"/>",
        to - from
    );
    let _ = write!(svg, "<path class=\"none\" d=\"M{middle} 2V34\"/>");
    // An open end extends to the frame.
    let low = shift.lower_end().map_or(ROOM / 2.0, x);
    let high = shift.upper_end().map_or(WIDTH - ROOM / 2.0, x);
    let class = word(row.finding);
    let _ = write!(
        svg,
        "<path class=\"effect {class}\" d=\"M{low:.1} {y}H{high:.1}M{low:.1} {}v10M{high:.1} {}v10\"/>",
        y - 5.0,
        y - 5.0
    );
    let _ = write!(
        svg,
        "<circle class=\"effect {class}\" cx=\"{:.1}\" cy=\"{y}\" r=\"4\"/>",
        x(shift.ratio)
    );
    let _ = write!(
        svg,
        "<text x=\"{middle}\" y=\"43\" text-anchor=\"middle\">no difference</text>"
    );
    svg + "</svg>"
}

fn markdown_table(compared: &Comparison<'_>, words: &ComparisonWords<'_>, sides: &Sides) -> String {
    let [a, b] = ["A", "B"].map(|side| sides.head(side));
    let mut table =
        format!("| | {a} | {b} | B to A [95 % interval] | verdict |\n|:--|--:|--:|--:|:--|\n");
    for point in compared.measured_points() {
        let _ = writeln!(
            table,
            "| **{}** | | | | |",
            escaped_for_markdown(titles(point, words.names).trim_end())
        );
        for row in &point.rows {
            let cells = [
                row.subject.to_string(),
                short_side(row, 0),
                short_side(row, 1),
                shown_effect(row),
                verdict(row),
            ];
            let _ = writeln!(
                table,
                "| {} |",
                cells.map(|cell| escaped_for_markdown(&cell)).join(" | ")
            );
        }
    }
    table
}

/// Returns the comparison as Markdown: the verdict, a table, the missing results, and the warnings.
pub fn markdown(compared: &Comparison<'_>, words: &ComparisonWords<'_>) -> String {
    let sides = Sides::new(compared);
    let reason = reason(compared, "");
    let mark = match compared.gate() {
        Gate::Passed => "✅",
        Gate::Worse => "❌",
        Gate::Inconclusive | Gate::TesterUnfit | Gate::Missing => "⚠️",
    };
    let text = format!(
        "### {mark} {}{}\n\n{}",
        reason[..1].to_uppercase(),
        &reason[1..],
        markdown_table(compared, words, &sides)
    );
    let doubtful = compared
        .rows()
        .filter(|row| row.finding.gate() == Gate::Inconclusive);
    let mut notes: Vec<String> = doubtful
        .map(|row| format!("{}: {}", row.subject, finding(row, &sides)))
        .collect();
    notes.dedup();
    notes.extend(below(compared).lines().map(str::to_owned));
    notes.extend(words.warnings.iter().cloned());
    let notes: String = notes
        .iter()
        .map(|note| format!("- {}\n", escaped_for_markdown(note)))
        .collect();
    shown(format!(
        "{text}\n{notes}\n{}. Differences up to {:.1} % do not count.\n",
        escaped_for_markdown(words.explanation),
        words.margin * 100.0
    ))
}
