//! The common style of all figures: sizes, colours, fonts, axes.

use super::panel::Panel;
use super::pgf::Picture;
use super::svg;
pub(crate) use super::ticks::AxisEnds;
use crate::digest::{Digest, PointDigest};
use crate::wording::numbers::{
    cut, full_rate_unit, load, percent, short_or_fraction, three_digits, title,
};
use kuva::backend::svg::SvgBackend;
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::prelude::{Layout, Plot, ReferenceLine, TextAnnotation, Theme, TickFormat};
use kuva::render::render::render_multiple;
use serde::Serialize;
use sixbench_method::plan::Measure;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::{TrialKind, Verdict};
use std::sync::Arc;

/// The width of a panel, pixels: three fit side by side on the page, one on a telephone.
pub(crate) const WIDTH: f64 = 380.0;
/// The height of a panel, pixels.
pub(crate) const HEIGHT: f64 = 250.0;

/// The colour of text and axes. The page's style sheet changes this and the next three colours if the reader prefers a dark page.
pub(crate) const INK: &str = "#24292f";
/// The colour of secondary text and of reference lines.
pub(crate) const MUTED: &str = "#8c959f";
/// The colour of lines between dots.
pub(crate) const THREAD: &str = "#c3cad1";
/// The colour of grid lines.
pub(crate) const GRID: &str = "#e4e8ec";
/// The background of a stand-alone figure.
pub(crate) const PAPER: &str = "#ffffff";

/// The palette of Okabe and Ito, which works with any colour vision, except its black and yellow, which are invisible on dark and light pages.
const SERIES: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#937860",
];
const MARKERS: [MarkerShape; 7] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
    MarkerShape::Pentagon,
    MarkerShape::Hexagon,
];
const GLYPHS: [&str; 7] = ["●", "■", "▲", "◆", "▼", "⬟", "⬢"];

/// The number of different looks for tests: more in one panel could not be distinguished.
pub(crate) const LOOKS: usize = SERIES.len();

#[derive(Clone, Debug, Serialize)]
pub(crate) struct LegendEntry {
    pub(crate) glyph: &'static str,
    pub(crate) color: &'static str,
    pub(crate) label: String,
}

impl LegendEntry {
    pub(crate) fn new(glyph: &'static str, color: &'static str, label: impl Into<String>) -> Self {
        Self {
            glyph,
            color,
            label: label.into(),
        }
    }
}

pub(crate) fn color(i: usize) -> &'static str {
    SERIES[i % SERIES.len()]
}

pub(crate) fn marker(i: usize) -> MarkerShape {
    MARKERS[i % MARKERS.len()]
}

pub(crate) fn key(i: usize, label: impl Into<String>) -> LegendEntry {
    LegendEntry::new(GLYPHS[i % GLYPHS.len()], color(i), label)
}

const LOST: &str = "lost frames";

/// The appearance of each verdict in all figures: shape and colour, either of which suffices.
const VERDICTS: [(Verdict, &str, MarkerShape, &str, &str); 3] = [
    (
        Verdict::Passed,
        "#0072b2",
        MarkerShape::Circle,
        "●",
        "passed",
    ),
    (Verdict::Lost, "#d55e00", MarkerShape::Cross, "✕", LOST),
    (
        Verdict::Invalid,
        "#cc79a7",
        MarkerShape::TriangleDown,
        "▼",
        "invalid",
    ),
];

/// Returns the legend of the verdicts. In a run with stateful gateways or DNS servers a trial may be invalid for reasons other than the tester.
pub(crate) fn verdict_keys(digest: &Digest) -> Vec<LegendEntry> {
    let invalid = match (
        digest.has_faults_of_connections(),
        digest.has_faults_of_names(),
    ) {
        (true, _) => "invalid: the tester fell short, or connections of phase 1 were missing",
        (false, true) => "invalid: the tester fell short, or names were not cached as intended",
        (false, false) => "invalid: the tester fell short",
    };
    let words = |verdict, label| match verdict {
        Verdict::Invalid => invalid,
        Verdict::Lost => digest.lost_word(label),
        Verdict::Passed => label,
    };
    VERDICTS
        .iter()
        .map(|&(verdict, color, _, glyph, label)| {
            LegendEntry::new(glyph, color, words(verdict, label))
        })
        .collect()
}

/// Returns the tooltip of a trial. A trial without a phase 2 has no counts of received and lost frames.
pub(crate) fn trial_label(record: &TrialRecord, word: &str) -> String {
    let result = &record.result;
    let is_queries = result.spec.kind == TrialKind::Queries;
    let word = if is_queries && word == LOST {
        "not all answered"
    } else {
        word
    };
    let lost = match result
        .faults
        .iter()
        .find(|fault| fault.is_of_connections() || fault.is_of_names())
    {
        Some(fault) => fault.to_string(),
        None if is_queries => format!("not correctly answered {}", percent(result.loss_ratio().0)),
        None => format!("not received {}", percent(result.loss_ratio().0)),
    };
    format!(
        "repetition {}, trial {}: {}, {word}, {lost}",
        record.repetition,
        record.trial,
        load(&result.spec)
    )
}

/// Returns the title of an axis with searched rates: `throughput (frames/s per direction)`.
pub(crate) fn rate_label(measure: &Measure) -> String {
    format!("{} ({})", measure.info().axis, full_rate_unit(measure))
}

/// The most dots of a series with tooltips: with more, no single dot could be pointed at, and the tooltips would take up most of the page.
const MOST_LABELLED: usize = 300;

/// Returns dots of one colour and shape, each with a tooltip unless there are too many.
pub(crate) fn dots(
    points: Vec<(f64, f64)>,
    color: &str,
    marker: MarkerShape,
    labels: Vec<String>,
) -> Plot {
    let labels = labels.iter().map(|l| plain(l));
    let is_crowd = points.len() > MOST_LABELLED;
    let dots = ScatterPlot::new()
        .with_data(points)
        .with_color(color)
        .with_marker(marker)
        .with_size(3.5);
    let dots = dots.with_marker_opacity(0.85);
    if is_crowd {
        dots.into()
    } else {
        dots.with_tooltips().with_tooltip_labels(labels).into()
    }
}

pub(crate) fn line(points: Vec<(f64, f64)>, color: &str, width: f64) -> Plot {
    LinePlot::new()
        .with_data(points)
        .with_color(color)
        .with_stroke_width(width)
        .into()
}

pub(crate) fn dashed(points: Vec<(f64, f64)>, color: &str, width: f64) -> Plot {
    LinePlot::new()
        .with_data(points)
        .with_color(color)
        .with_stroke_width(width)
        .with_dashed()
        .into()
}

/// A median: its position, the lengths of its bar downwards and upwards, and its tooltip.
#[derive(Clone)]
pub(crate) struct Barred {
    pub(crate) at: (f64, f64),
    pub(crate) bar: (f64, f64),
    pub(crate) label: String,
    /// `≥` or `≤` if the median is a bound, otherwise empty.
    pub(crate) sign: &'static str,
}

impl Barred {
    /// Returns a median with a bar between two other statistics of the same sample.
    pub(crate) fn new(x: f64, median: f64, bar: AxisEnds, label: String) -> Self {
        Self {
            at: (x, median),
            bar: (median - bar.low, bar.high - median),
            label,
            sign: "",
        }
    }

    /// Returns the median with the sign of a bound, which is drawn beside it.
    pub(crate) fn signed(self, sign: &'static str) -> Self {
        Self {
            sign: sign.trim_end(),
            ..self
        }
    }
}

/// Returns the layout with the sign of a bound at each median that is one.
pub(crate) fn with_signs(layout: Layout, points: &[Barred]) -> Layout {
    let open = points.iter().filter(|point| !point.sign.is_empty());
    let sign = |point: &Barred| {
        TextAnnotation::new(point.sign, point.at.0, point.at.1)
            .with_font_size(11)
            .with_color(INK)
    };
    open.map(sign).fold(layout, Layout::with_annotation)
}

/// Returns the legend of the signs of bounds that these panels have.
pub(crate) fn bound_keys(panels: &[Panel]) -> Vec<LegendEntry> {
    let words = [
        ("≥", "lower bound: the true value may be higher"),
        ("≤", "upper bound: the true value may be lower"),
        ("≈", "bound on either side"),
    ];
    let is_drawn = |sign: &str| {
        panels
            .iter()
            .any(|panel| panel.signs.iter().any(|drawn| drawn == sign))
    };
    words
        .into_iter()
        .filter(|(sign, _)| is_drawn(sign))
        .map(|(sign, label)| LegendEntry::new(sign, INK, label))
        .collect()
}

/// Returns medians with their bars in the look of the `i`th series.
pub(crate) fn barred(i: usize, points: Vec<Barred>) -> Plot {
    let at: Vec<(f64, f64)> = points.iter().map(|p| p.at).collect();
    let bars: Vec<(f64, f64)> = points.iter().map(|p| p.bar).collect();
    let labels: Vec<String> = points.iter().map(|p| plain(&p.label)).collect();
    let dots = ScatterPlot::new()
        .with_data(at)
        .with_y_err_asymmetric(bars)
        .with_color(color(i))
        .with_size(4.0);
    dots.with_marker(marker(i))
        .with_tooltips()
        .with_tooltip_labels(labels)
        .into()
}

/// Returns medians with their bars, and the line that joins them, in the look of the `i`th series.
pub(crate) fn joined(i: usize, points: Vec<Barred>) -> [Plot; 2] {
    [
        line(points.iter().map(|p| p.at).collect(), color(i), 1.5),
        barred(i, points),
    ]
}

/// Returns trials at their positions, in the looks of their verdicts.
pub(crate) fn trials<'r>(
    digest: &Digest,
    trials: impl Iterator<Item = ((f64, f64), &'r TrialRecord)> + Clone,
    label: impl Fn(&TrialRecord, &str) -> String,
) -> Vec<Plot> {
    let marks = |&(verdict, color, marker, _, word): &(_, _, _, _, &str)| {
        let alike = trials
            .clone()
            .filter(|(_, record)| digest.verdict(record) == verdict);
        let (points, labels) = alike
            .map(|(place, record)| (place, label(record, word)))
            .unzip();
        dots(points, color, marker, labels)
    };
    VERDICTS.iter().map(marks).collect()
}

/// Returns a dashed horizontal line. The panel's note explains it, since a label could cover dots.
pub(crate) fn level(y: f64) -> ReferenceLine {
    ReferenceLine::horizontal(y)
        .with_color(MUTED)
        .with_dasharray("5 3")
}

/// Returns a dashed vertical line, explained in the same way.
pub(crate) fn upright(x: f64) -> ReferenceLine {
    ReferenceLine::vertical(x)
        .with_color(MUTED)
        .with_dasharray("5 3")
}

/// Adds a line below the title of a panel.
pub(crate) fn with_note(layout: Layout, note: &str) -> Layout {
    layout.with_subtitle(plain(note)).with_subtitle_size(11)
}

/// Splits items that would crowd one panel into as many even parts as necessary. Returns the addition to the title and the part, for each panel.
pub(crate) fn shared_out<T>(all: &[T], most: usize) -> impl Iterator<Item = (String, &[T])> {
    let panels = all.len().div_ceil(most).max(1);
    let parts = all.chunks(all.len().div_ceil(panels).max(1)).enumerate();
    let title = move |i: usize| {
        if panels > 1 {
            format!(" ({} of {panels})", i + 1)
        } else {
            String::new()
        }
    };
    parts.map(move |(i, part)| (title(i), part))
}

pub(crate) fn point_title(point: &PointDigest) -> String {
    match point.size() {
        Some(size) => format!("{}, {size}\u{a0}bytes", cut(&title(point.test), 36)),
        None => cut(&title(point.test), 46),
    }
}

/// An axis from zero to just above `highest`, with round ticks.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) end: f64,
    pub(crate) step: f64,
}

impl Axis {
    /// Returns an axis with at most `ticks` steps of 1, 2, 2.5 or 5 times a power of ten.
    pub(crate) fn up_to(highest: f64, ticks: f64) -> Self {
        // Five per cent more, so that no mark is cut at the frame.
        let rough = highest.max(1e-9) * 1.05 / ticks;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|m| m * power)
            .find(|s| *s >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        Self {
            end: (highest * 1.05 / step).ceil().max(1.0) * step,
            step,
        }
    }

    /// Does the same as [`Self::up_to`], but the axis ends exactly at `end`.
    pub(crate) fn ending(end: f64, ticks: f64) -> Self {
        Self {
            end,
            // Without the room that `up_to` adds.
            ..Self::up_to(end / 1.05, ticks)
        }
    }

    /// Does the same as [`Self::up_to`] for counts: with whole steps.
    pub(crate) fn counting(highest: f64, ticks: f64) -> Self {
        if highest <= ticks {
            Self {
                end: highest + 1.0,
                step: 1.0,
            }
        } else {
            let step = Self::up_to(highest, ticks).step.ceil();
            Self {
                end: (highest * 1.05 / step).ceil() * step,
                step,
            }
        }
    }
}

/// Returns the powers of ten around these values, as the ends of a logarithmic axis, which cannot include zero.
pub(crate) fn decades(lowest: f64, highest: f64) -> AxisEnds {
    let (lowest, highest) = (lowest.max(1e-6), highest.max(1e-6));
    // At least one decade, also where all values are the same power of ten.
    let (low, high) = (lowest.log10().floor(), highest.log10().ceil());
    AxisEnds::new(10f64.powf(low), 10f64.powf(high.max(low + 1.0)))
}

/// Returns ends of a logarithmic axis slightly beyond these values, so that no marks are cut at the frame.
pub(crate) fn around(lowest: f64, highest: f64) -> AxisEnds {
    AxisEnds::new(lowest.max(1e-6) / 1.4, highest.max(lowest).max(1e-6) * 1.1)
}

/// Returns the panel with a logarithmic x axis between these ends.
pub(crate) fn log_x(layout: Layout, ends: AxisEnds) -> Layout {
    // Slightly beyond the last tick, whose label would otherwise be cut at the edge of the panel.
    layout
        .with_log_x()
        .with_x_axis_min(ends.low)
        .with_x_axis_max(ends.high * 1.3)
        .with_x_tick_format(thousands())
}

/// Returns the panel with a logarithmic y axis between these ends.
pub(crate) fn log_y(layout: Layout, ends: AxisEnds) -> Layout {
    layout
        .with_log_y()
        .with_y_axis_min(ends.low)
        .with_y_axis_max(ends.high)
}

/// Returns the format of numbers without a prefix: `0.001`, `25`, `100`.
pub(crate) fn plain_numbers() -> TickFormat {
    TickFormat::Custom(Arc::new(three_digits))
}

/// Returns the format of powers of ten: `1`, `10⁻³`.
pub(crate) fn powers() -> TickFormat {
    TickFormat::Custom(Arc::new(power))
}

fn power(value: f64) -> String {
    let exponent = value.log10().round();
    if exponent == 0.0 {
        return "1".to_owned();
    }
    let digit = |c: char| match c {
        '-' => '⁻',
        c => {
            ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c.to_digit(10).unwrap_or(0) as usize]
        }
    };
    let exponent: String = (exponent as i32).to_string().chars().map(digit).collect();
    format!("10{exponent}")
}

/// Returns the layout of a panel: title and axes with units, nothing else.
pub(crate) fn panel(plots: &[Plot], title: &str, x: &str, y: &str) -> Layout {
    Layout::auto_from_plots(plots)
        .with_width(WIDTH)
        .with_height(HEIGHT)
        .with_title(plain(title))
        .with_x_label(x)
        .with_y_label(y)
        .with_theme(theme())
        .with_title_size(13)
        .with_label_size(12)
        .with_tick_size(12)
        .with_body_size(12)
        .with_axis_line_width(1.0)
        .with_grid_line_width(1.0)
        .with_x_tick_format(thousands())
        .with_y_tick_format(thousands())
}

pub(crate) fn from_zero(layout: Layout, x: Axis, y: Axis) -> Layout {
    y_from_zero(x_from_zero(layout, x), y)
}

pub(crate) fn x_from_zero(layout: Layout, x: Axis) -> Layout {
    layout
        .with_x_axis_min(0.0)
        .with_x_axis_max(x.end)
        .with_x_tick_step(x.step)
}

pub(crate) fn y_from_zero(layout: Layout, y: Axis) -> Layout {
    layout
        .with_y_axis_min(0.0)
        .with_y_axis_max(y.end)
        .with_y_tick_step(y.step)
}

/// Returns the format of numbers with a prefix: `0`, `0.01`, `500`, `50 k`, `1.5 M`.
pub(crate) fn thousands() -> TickFormat {
    TickFormat::Custom(Arc::new(short_or_fraction))
}

/// Does the same as [`thousands`], but without labels beyond `end`, where the names are.
pub(crate) fn thousands_up_to(end: f64) -> TickFormat {
    TickFormat::Custom(Arc::new(move |v| {
        if v > end * 1.001 {
            String::new()
        } else {
            short_or_fraction(v)
        }
    }))
}

/// Returns the format that replaces the whole numbers from 1 by names.
pub(crate) fn names(names: Vec<String>) -> TickFormat {
    TickFormat::Custom(Arc::new(move |v| {
        let place = (v.round() as usize)
            .checked_sub(1)
            // Ticks between the whole numbers have no name.
            .filter(|_| (v - v.round()).abs() < 1e-6);
        place
            .and_then(|i| names.get(i))
            .map(|n| plain(n))
            .unwrap_or_default()
    }))
}

fn theme() -> Theme {
    Theme {
        background: "none".into(),
        axis_color: MUTED.into(),
        grid_color: GRID.into(),
        tick_color: MUTED.into(),
        text_color: INK.into(),
        font_family: Some("system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif".into()),
        ..Theme::light()
    }
}

pub(crate) fn draw(plots: Vec<Plot>, layout: Layout) -> Panel {
    let picture = Picture::new(&plots, &layout);
    let signs = layout
        .annotations
        .iter()
        .map(|annotation| annotation.text.clone())
        .collect();
    let label = [&layout.title, &layout.subtitle]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(": ");
    let svg = SvgBackend::new().render_scene(&render_multiple(plots, layout));
    Panel {
        svg: svg::finished(&svg, &label),
        picture,
        signs,
    }
}

/// Escapes dollars, between which kuva would typeset formulas; titles contain none.
fn plain(text: &str) -> String {
    text.replace('$', "\\$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_above_the_highest_value_at_a_round_tick() {
        let axis = Axis::up_to(412_345.0, 5.0);
        assert_eq!((axis.end, axis.step), (500_000.0, 100_000.0));
        let axis = Axis::counting(3.0, 6.0);
        assert_eq!((axis.end, axis.step), (4.0, 1.0));
    }

    #[test]
    fn a_logarithmic_axis_ends_at_powers_of_ten() {
        let ends = decades(0.03, 4.0);
        assert_eq!((ends.low, ends.high), (0.01, 10.0));
        assert_eq!([1.0, 1e-6, 10.0].map(power), ["1", "10⁻⁶", "10¹"]);
    }

    #[test]
    fn ten_rows_of_at_most_nine_are_two_panels_of_five() {
        let rows = [0; 10];
        let parts: Vec<_> = shared_out(&rows, 9)
            .map(|(title, part)| (title, part.len()))
            .collect();
        assert_eq!(
            parts,
            [(" (1 of 2)".to_owned(), 5), (" (2 of 2)".to_owned(), 5)]
        );
        assert_eq!(
            shared_out(&rows[..3], 9).next(),
            Some((String::new(), &rows[..3]))
        );
    }
}
