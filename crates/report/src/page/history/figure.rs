//! The line of one series: the median of each run with its interval, every repetition as a dot, and the changes. Colours are classes of the style
//! sheet, so that they follow the reader's choice of a light or dark page.

use super::tested::HistoryRun;
use super::words::relative;
use crate::plot::sheet::escaped;
use crate::wording::amount;
use crate::wording::bound::Bound;
use sixbench_analysis::history::{HistorySeries, SeriesPoint};
use sixbench_method::units::counted;
use std::fmt::Write;

/// The size of the drawing and its margins, pixels; the page scales it to its column.
const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 34.0;
/// The most characters of a name below the axis, and the most names.
const LONGEST_NAME: usize = 16;
const MOST_NAMES: usize = 3;
/// The most characters of names of which all fit; if one is longer, only the first and the last are shown.
const SHORT_NAME: usize = 13;

/// The scale of a drawing.
struct PanelScale {
    runs: usize,
    low: f64,
    high: f64,
}

impl PanelScale {
    fn new(series: &HistorySeries<'_>, runs: usize) -> Self {
        let ends = series
            .points
            .iter()
            .flat_map(|point| [point.summary.min, point.summary.max]);
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        // If all values are equal, they lie in the middle.
        let room = if high > low {
            0.06 * (high - low)
        } else {
            f64::max(0.02 * high.abs(), 1.0)
        };
        Self {
            runs,
            low: low - room,
            high: high + room,
        }
    }

    fn x(&self, run: usize) -> f64 {
        let share = if self.runs > 1 {
            run as f64 / (self.runs - 1) as f64
        } else {
            0.5
        };
        LEFT + 8.0 + share * (WIDTH - LEFT - RIGHT - 16.0)
    }

    /// Returns the position halfway between a run and the one before.
    fn before(&self, run: usize) -> f64 {
        (self.x(run) + self.x(run.saturating_sub(1))) / 2.0
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (self.high - value) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)
    }

    /// Returns round values for labels, three to six of them.
    fn ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 4.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let (first, last) = (
            (self.low / step).ceil() as i64,
            (self.high / step).floor() as i64,
        );
        (first..=last).map(|index| index as f64 * step).collect()
    }
}

/// Draws a series over all runs of the history.
pub(super) fn draw(name: &str, series: &HistorySeries<'_>, runs: &[HistoryRun<'_>]) -> String {
    let scale = PanelScale::new(series, runs.len());
    let label = format!(
        "{name}: {}, {}",
        counted(series.points.len() as u64, "run"),
        extremes(series)
    );
    // The role is not `img`, since the medians are links to the reports of their runs, and screen readers cannot reach anything inside an image.
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" aria-label=\"{}\">",
        escaped(&label)
    );
    axes(&mut svg, &scale, series, runs);
    marks(&mut svg, &scale, runs);
    changes(&mut svg, &scale, series);
    repetitions(&mut svg, &scale, series);
    medians(&mut svg, &scale, series, runs);
    svg + "</svg>"
}

fn extremes(series: &HistorySeries<'_>) -> String {
    let medians = || series.points.iter().map(|point| point.summary.median);
    let (low, high) = (
        medians().fold(f64::INFINITY, f64::min),
        medians().fold(f64::NEG_INFINITY, f64::max),
    );
    format!(
        "medians from {} to {}",
        amount::show(&series.subject, low),
        amount::show(&series.subject, high)
    )
}

fn axes(svg: &mut String, scale: &PanelScale, series: &HistorySeries<'_>, runs: &[HistoryRun<'_>]) {
    let (low, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for tick in scale.ticks() {
        let y = scale.y(tick);
        // The title of the figure contains the unit.
        let shown = amount::show(&series.subject, tick);
        let number = escaped(shown.split(' ').next().unwrap_or_default());
        let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{end}\"/>");
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{number}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    let _ = write!(svg, "<path class=\"axis\" d=\"M{LEFT} {low}H{end}\"/>");
    let is_long = runs.iter().any(|run| run.name.chars().count() > SHORT_NAME);
    let names = runs.len().min(if is_long { 2 } else { MOST_NAMES });
    for index in 0..names {
        let run = if names > 1 {
            index * (runs.len() - 1) / (names - 1)
        } else {
            0
        };
        let anchor = match index {
            0 if names > 1 => "start",
            _ if index + 1 == names && names > 1 => "end",
            _ => "middle",
        };
        let x = match anchor {
            "start" => LEFT,
            "end" => end,
            _ => scale.x(run),
        };
        let name: String = runs[run].name.chars().take(LONGEST_NAME).collect();
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            HEIGHT - 6.0,
            escaped(&name)
        );
    }
}

/// Marks below the axis the runs in which something else changed.
fn marks(svg: &mut String, scale: &PanelScale, runs: &[HistoryRun<'_>]) {
    for (index, run) in runs
        .iter()
        .enumerate()
        .filter(|(_, run)| !run.changed.is_empty())
    {
        let (x, y) = (scale.x(index), HEIGHT - BOTTOM);
        let title = escaped(&format!("{}: {}", run.name, run.changed.join("; ")));
        let _ = write!(
            svg,
            "<path class=\"fact\" d=\"M{x:.1} {:.1}l5 9h-10z\"><title>{title}</title></path>",
            y + 2.0
        );
    }
}

/// Draws the level of each stretch, and the changes between them.
fn changes(svg: &mut String, scale: &PanelScale, series: &HistorySeries<'_>) {
    for (index, change) in series.changes.iter().enumerate() {
        let (run, class) = (
            series.points[change.at].entry,
            if change.is_better { "better" } else { "worse" },
        );
        let x = scale.before(run);
        let _ = write!(
            svg,
            "<path class=\"change {class}\" d=\"M{x:.1} {TOP}V{}\"/>",
            HEIGHT - BOTTOM
        );
        let by =
            relative(change).map_or_else(|| class.to_owned(), |percent| format!("{percent:+.1} %"));
        let anchor = if x > WIDTH - 60.0 { "end" } else { "middle" };
        let _ = write!(
            svg,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"13\" text-anchor=\"{anchor}\">{by}</text>"
        );
        let from = index
            .checked_sub(1)
            .map_or(0, |before| series.changes[before].at);
        level(svg, scale, &series.points[from..change.at], change.before);
        if index + 1 == series.changes.len() {
            level(svg, scale, &series.points[change.at..], change.after);
        }
    }
}

fn level(svg: &mut String, scale: &PanelScale, points: &[SeriesPoint], value: f64) {
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let (from, to, y) = (
            scale.x(first.entry) - 5.0,
            scale.x(last.entry) + 5.0,
            scale.y(value),
        );
        let _ = write!(
            svg,
            "<path class=\"level\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>"
        );
    }
}

/// Draws every repetition as a dot. They form one path, which takes a tenth of the text that circles would.
fn repetitions(svg: &mut String, scale: &PanelScale, series: &HistorySeries<'_>) {
    let mut dots = String::new();
    for point in &series.points {
        for value in &point.values {
            let _ = write!(
                dots,
                "M{:.1} {:.1}h0",
                scale.x(point.entry),
                scale.y(*value)
            );
        }
    }
    let _ = write!(svg, "<path class=\"repetitions\" d=\"{dots}\"/>");
}

fn medians(
    svg: &mut String,
    scale: &PanelScale,
    series: &HistorySeries<'_>,
    runs: &[HistoryRun<'_>],
) {
    let at = |point: &SeriesPoint| {
        format!(
            "{:.1} {:.1}",
            scale.x(point.entry),
            scale.y(point.summary.median)
        )
    };
    let line: Vec<String> = series.points.iter().map(at).collect();
    let _ = write!(svg, "<path class=\"line\" d=\"M{}\"/>", line.join("L"));
    for point in &series.points {
        let (x, y) = (scale.x(point.entry), scale.y(point.summary.median));
        // An interval wider than the range of the values is cut at the frame.
        let inside = |value: f64| scale.y(value.clamp(scale.low, scale.high));
        if let Some((low, high)) = point.interval {
            let _ = write!(
                svg,
                "<path class=\"interval\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
                inside(low),
                inside(high)
            );
        }
        let class = if point.is_at_least || point.is_at_most {
            "median open"
        } else {
            "median"
        };
        let dot = format!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"><title>{}</title></circle>",
            escaped(&tooltip(series, point, &runs[point.entry]))
        );
        let _ = match &runs[point.entry].link {
            Some(link) => write!(svg, "<a href=\"{}\">{dot}</a>", escaped(link)),
            None => write!(svg, "{dot}"),
        };
    }
}

fn tooltip(series: &HistorySeries<'_>, point: &SeriesPoint, run: &HistoryRun<'_>) -> String {
    let median = amount::show_bound(
        &series.subject,
        point.summary.median,
        Bound::of_value(point.is_at_least, point.is_at_most),
    );
    format!("{}: {median}, n = {}", run.name, point.summary.n)
}
