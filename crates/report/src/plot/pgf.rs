//! A panel as a PGFPlots axis, made from the same plots and layout as its drawing, so that LaTeX sets its text in the fonts of the paper.

use super::text_start::FROM_HERE;
use super::ticks::{AxisEnds, ticks};
use crate::layout::latex::{escaped, natural_width};
use kuva::plot::line::LineStyle;
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot, StackedAreaPlot};
use kuva::prelude::{Layout, Plot, ReferenceLine, TextAnnotation, TickFormat};
use kuva::render::annotations::Orientation;
use std::collections::BTreeSet;

/// The line width in PGFPlots for one pixel in kuva, points. A panel is 380 pixels wide on the page (`style::WIDTH`) and 213 to 252 points in a column of a
/// paper, so that lines keep their share of it.
const POINTS_PER_PIXEL: f64 = 0.6;

/// Points of a line that are closer than this share of both axes are merged: in the widest column this is half a point, less than a line is wide.
const NEAR: f64 = 0.002;

/// The width of an M in the type of labels, points.
const EM: f64 = 7.0 * 1.08;

/// The space to the left of the y axis' labels, for the axis title and the ticks, points.
const LEFT: f64 = 34.0;

/// The narrowest column that figures are made for, points.
const NARROWEST: f64 = 213.0;

/// A panel for LaTeX.
pub(crate) struct Picture {
    /// Its title, in plain text.
    pub(crate) title: String,
    /// The options of the axis.
    pub(crate) options: String,
    /// The drawing commands.
    pub(crate) body: String,
    /// The colours in use, hexadecimal without `#`.
    pub(crate) colors: BTreeSet<String>,
}

impl Picture {
    pub(super) fn new(plots: &[Plot], layout: &Layout) -> Self {
        let frame = Frame::new(layout);
        let mut picture = Self {
            title: plain(layout.title.as_deref()),
            options: options(layout, &frame),
            body: String::new(),
            colors: BTreeSet::new(),
        };
        for plot in plots {
            picture.add(plot, &frame);
        }
        layout
            .reference_lines
            .iter()
            .for_each(|line| picture.add_level(line, &frame));
        layout
            .annotations
            .iter()
            .for_each(|text| picture.add_text(text));
        picture
    }

    fn add(&mut self, plot: &Plot, frame: &Frame) {
        match plot {
            Plot::Scatter(dots) => self.add_dots(dots, frame),
            Plot::Line(line) => self.add_line(line, frame),
            Plot::StackedArea(area) => self.add_areas(area),
            _ => debug_assert!(false, "a kind of plot that no figure has"),
        }
    }

    fn add_dots(&mut self, dots: &ScatterPlot, frame: &Frame) {
        let shown = dots.data.iter().filter(|point| frame.has(point.x, point.y));
        let mut has_bars = false;
        let points = shown.map(|point| match point.y_err {
            Some((down, up)) if down > 0.0 || up > 0.0 => {
                has_bars = true;
                // A logarithmic axis cannot show zero.
                let down = if frame.log[1] {
                    down.min(point.y * 0.999)
                } else {
                    down
                };
                format!(
                    "({},{}) += (0,{}) -= (0,{})",
                    number(point.x),
                    number(point.y),
                    number(up),
                    number(down)
                )
            }
            _ => coordinate((point.x, point.y)),
        });
        let points: Vec<String> = points.collect();
        let bars = if has_bars {
            ", error bars/.cd, y dir=both, y explicit"
        } else {
            ""
        };
        let color = self.color(&dots.color);
        self.add_plot(
            &format!(
                "only marks, {}, mark size=1.5pt, {color}{bars}",
                mark(dots.marker)
            ),
            &points,
            "",
        );
    }

    fn add_line(&mut self, line: &LinePlot, frame: &Frame) {
        let shown = line
            .data
            .iter()
            .map(|point| (point.x, point.y))
            .filter(|&(x, y)| frame.has(x, y));
        let points: Vec<String> = frame.thinned(shown).into_iter().map(coordinate).collect();
        let dashes = if matches!(line.line_style, LineStyle::Solid) {
            ""
        } else {
            ", dashed"
        };
        let (color, width) = (
            self.color(&line.color),
            number(line.stroke_width * POINTS_PER_PIXEL),
        );
        self.add_plot(
            &format!("no marks, {color}, line width={width}pt{dashes}"),
            &points,
            "",
        );
    }

    fn add_areas(&mut self, area: &StackedAreaPlot) {
        self.options += "stack plots=y,\n";
        for (values, color) in area.series.iter().zip(&area.colors) {
            let color = self.color(color.as_deref().unwrap_or("#000000"));
            let points: Vec<String> = area
                .x
                .iter()
                .copied()
                .zip(values.iter().copied())
                .map(coordinate)
                .collect();
            self.add_plot(
                &format!("draw=none, fill={color}"),
                &points,
                " \\closedcycle",
            );
        }
    }

    fn add_plot(&mut self, options: &str, points: &[String], end: &str) {
        if points.is_empty() {
            return;
        }
        let lines: Vec<String> = points.chunks(6).map(|some| some.join(" ")).collect();
        self.body += &format!(
            "\\addplot[forget plot, {options}] coordinates {{\n{}\n}}{end};\n",
            lines.join("\n")
        );
    }

    fn add_level(&mut self, line: &ReferenceLine, frame: &Frame) {
        let [x, y] = frame.ends;
        let (from, to) = match line.orientation {
            Orientation::Horizontal => ((x.low, line.value), (x.high, line.value)),
            Orientation::Vertical => ((line.value, y.low), (line.value, y.high)),
        };
        if !(frame.has(from.0, from.1) && frame.has(to.0, to.1)) {
            return;
        }
        let dashes = if line.dasharray == "none" {
            ""
        } else {
            ", dashed"
        };
        let color = self.color(&line.color);
        let place = |(x, y)| format!("(axis cs:{},{})", number(x), number(y));
        self.body += &format!(
            "\\draw[{color}{dashes}] {} -- {};\n",
            place(from),
            place(to)
        );
    }

    fn add_text(&mut self, text: &TextAnnotation) {
        let (x, y) = (number(text.text_x), number(text.text_y));
        // A name starts at its position: the line already draws its mark there, and pdflatex has no such character.
        let name = text
            .text
            .strip_prefix(FROM_HERE)
            .map(|name| name.split_once(' ').map_or(name, |(_mark, name)| name));
        let anchor = if name.is_some() {
            "south west"
        } else {
            "south"
        };
        let words = escaped(&plain(Some(name.unwrap_or(&text.text))));
        self.body += &format!(
            "\\node[anchor={anchor}, inner sep=1pt, font=\\scriptsize] at (axis cs:{x},{y}) {{{words}}};\n"
        );
    }

    /// Records a colour, `#0072b2`, and returns its name in LaTeX.
    fn color(&mut self, color: &str) -> String {
        let digits = color.trim_start_matches('#').to_ascii_uppercase();
        let name = color_name(&digits);
        self.colors.insert(digits);
        name
    }
}

/// Returns the name of the colour with these hexadecimal digits.
pub(crate) fn color_name(digits: &str) -> String {
    format!("sixbench{digits}")
}

/// The ends of the axes.
struct Frame {
    ends: [AxisEnds; 2],
    log: [bool; 2],
}

impl Frame {
    fn new(layout: &Layout) -> Self {
        let x = AxisEnds::new(
            layout.x_axis_min.unwrap_or(layout.x_range.0),
            layout.x_axis_max.unwrap_or(layout.x_range.1),
        );
        let y = AxisEnds::new(
            layout.y_axis_min.unwrap_or(layout.y_range.0),
            layout.y_axis_max.unwrap_or(layout.y_range.1),
        );
        Self {
            ends: [x, y],
            log: [layout.log_x, layout.log_y],
        }
    }

    /// Returns whether the axes can show a point: a logarithmic axis cannot show zero.
    fn has(&self, x: f64, y: f64) -> bool {
        [x, y]
            .iter()
            .zip(self.log)
            .all(|(value, is_log)| value.is_finite() && (!is_log || *value > 0.0))
    }

    /// Returns the position of a value along an axis, as a share of its length.
    fn place(&self, axis: usize, value: f64) -> f64 {
        let scaled = |value: f64| {
            if self.log[axis] {
                value.max(f64::MIN_POSITIVE).ln()
            } else {
                value
            }
        };
        let AxisEnds { low, high } = self.ends[axis];
        (scaled(value) - scaled(low)) / (scaled(high) - scaled(low))
    }

    /// Returns the points of a line without those that are indistinguishable from the one before; both ends are kept.
    fn thinned(&self, points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let points: Vec<(f64, f64)> = points.collect();
        let mut kept: Vec<(f64, f64)> = Vec::new();
        for (index, point) in points.iter().enumerate() {
            let far = |axis, a, b| (self.place(axis, a) - self.place(axis, b)).abs() > NEAR;
            let is_far = kept
                .last()
                .is_none_or(|last| far(0, last.0, point.0) || far(1, last.1, point.1));
            if is_far || index + 1 == points.len() {
                kept.push(*point);
            }
        }
        kept
    }
}

fn options(layout: &Layout, frame: &Frame) -> String {
    let [x, y] = frame.ends;
    let steps = [layout.x_tick_step, layout.y_tick_step];
    let marks = |axis: usize, format: &TickFormat| {
        ticks(frame.ends[axis], steps[axis], frame.log[axis], format)
    };
    let (x_ticks, y_ticks) = (
        marks(0, &layout.x_tick_format),
        marks(1, &layout.y_tick_format),
    );
    let [left, right] = margins(&x_ticks, &y_ticks);
    let inner = format!("\\sixbenchfigurewidth-{}pt", number(left + right));
    // The title of the x axis needs a second line if the column is narrow.
    let is_long = natural_width(&plain(layout.x_label.as_deref())) * EM > NARROWEST - left - right;
    let below = if is_long { 46 } else { 34 };
    let modes = ["x", "y"]
        .into_iter()
        .zip(frame.log)
        .filter(|(_, is_log)| *is_log)
        .map(|(axis, _)| format!("{axis}mode=log,\n"));
    let title = escaped(&plain(layout.title.as_deref()));
    let note = layout
        .subtitle
        .as_deref()
        .map(|note| format!("\\\\{{\\scriptsize {}}}", escaped(&plain(Some(note)))));
    let label = |axis: &str, text: &Option<String>| match plain(text.as_deref()) {
        text if text.is_empty() => String::new(),
        text => format!("{axis}label={{{}}},\n", escaped(&text)),
    };
    format!(
        "scale only axis, width={inner}, height=0.5*\\sixbenchfigurewidth,\n\
         title style={{font=\\footnotesize, align=center, text width={inner}}},\n\
         xlabel style={{align=center, text width={inner}}},\n\
         legend style={{at={{(0,0)}}, anchor=north west, xshift=-{}pt, yshift=-{below}pt}},\n{}\
         xmin={}, xmax={}, ymin={}, ymax={},\n{}{}\
         title={{{title}{}}},\n{}{}",
        number(left),
        modes.collect::<String>(),
        number(x.low),
        number(x.high),
        number(y.low),
        number(y.high),
        listed("x", &x_ticks),
        listed("y", &y_ticks),
        note.unwrap_or_default(),
        label("x", &layout.x_label),
        label("y", &layout.y_label)
    )
}

/// Returns the space to the left and right of the axis that its labels need, points.
fn margins(x_ticks: &[(f64, String)], y_ticks: &[(f64, String)]) -> [f64; 2] {
    let width = |label: &String| natural_width(label) * EM;
    // If PGFPlots chooses the ticks, their labels are short.
    let labels = if y_ticks.is_empty() {
        20.0
    } else {
        y_ticks
            .iter()
            .map(|(_, label)| width(label))
            .fold(0.0, f64::max)
    };
    let last = x_ticks.last().map_or(20.0, |(_, label)| width(label));
    [LEFT + labels, last / 2.0 + 6.0]
}

/// Returns the ticks of an axis with their labels; empty if PGFPlots chooses them.
fn listed(axis: &str, ticks: &[(f64, String)]) -> String {
    if ticks.is_empty() {
        return String::new();
    }
    let places: Vec<String> = ticks.iter().map(|(place, _)| number(*place)).collect();
    let labels: Vec<String> = ticks
        .iter()
        .map(|(_, label)| format!("{{{}}}", tick_label(&plain(Some(label)))))
        .collect();
    format!(
        "{axis}tick={{{}}}, {axis}ticklabels={{{}}},\n",
        places.join(","),
        labels.join(",")
    )
}

/// Returns a tick label, with powers of ten as formulas.
fn tick_label(label: &str) -> String {
    let digit = |c: char| match c {
        '⁻' => Some('-'),
        c => "⁰¹²³⁴⁵⁶⁷⁸⁹"
            .chars()
            .position(|digit| digit == c)
            .and_then(|digit| char::from_digit(digit as u32, 10)),
    };
    let exponent: Option<String> = label
        .strip_prefix("10")
        .filter(|rest| !rest.is_empty())
        .and_then(|rest| rest.chars().map(digit).collect());
    exponent.map_or_else(|| escaped(label), |exponent| format!("$10^{{{exponent}}}$"))
}

fn mark(marker: MarkerShape) -> &'static str {
    match marker {
        MarkerShape::Square => "mark=square*",
        MarkerShape::Triangle => "mark=triangle*",
        MarkerShape::TriangleDown => "mark=triangle*, mark options={rotate=180}",
        MarkerShape::Diamond => "mark=diamond*",
        MarkerShape::Pentagon => "mark=pentagon*",
        MarkerShape::Hexagon => "mark=otimes*",
        MarkerShape::Cross => "mark=x",
        _ => "mark=*",
    }
}

fn coordinate((x, y): (f64, f64)) -> String {
    format!("({},{})", number(x), number(y))
}

/// Returns a number with seven significant digits, more than TeX computes with.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    format!("{rounded}")
}

/// Returns text that was written for kuva, which treats dollars as formulas, as plain text.
fn plain(text: Option<&str>) -> String {
    text.unwrap_or_default().replace("\\$", "$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_are_formulas_and_other_labels_text() {
        assert_eq!(tick_label("10⁻³"), "$10^{-3}$");
        assert_eq!(tick_label("10\u{a0}k"), "10~k");
        assert_eq!(tick_label("10"), "10");
    }

    #[test]
    fn a_line_keeps_its_ends_and_loses_what_cannot_be_seen() {
        let frame = Frame {
            ends: [AxisEnds::new(0.0, 1.0); 2],
            log: [false, false],
        };
        let points = [(0.0, 0.0), (0.0001, 0.0001), (0.5, 0.5), (0.5001, 0.5)];
        assert_eq!(
            frame.thinned(points.into_iter()),
            [(0.0, 0.0), (0.5, 0.5), (0.5001, 0.5)]
        );
    }

    #[test]
    fn a_logarithmic_axis_has_no_place_for_zero() {
        let frame = Frame {
            ends: [AxisEnds::new(0.0, 1.0), AxisEnds::new(1.0, 10.0)],
            log: [false, true],
        };
        assert!(frame.has(0.0, 1.0) && !frame.has(1.0, 0.0));
    }

    #[test]
    fn numbers_have_seven_digits_that_count() {
        assert_eq!(
            [412_345.0, 0.1 + 0.2, 1e-7].map(number),
            ["412345", "0.3", "0.0000001"]
        );
    }
}
