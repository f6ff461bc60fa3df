//! Names at the ends of lines, instead of a legend.

use super::style::{self, Axis, AxisEnds, LOOKS, LegendEntry};
use super::text_start::FROM_HERE;
use crate::wording::numbers::cut;
use kuva::prelude::{Layout, TextAnnotation};

/// The approximate height of the drawing in a panel, and the least distance between two names, pixels.
const DRAWN: f64 = 165.0;
const LINE: f64 = 13.0;
/// The distance by which kuva draws a text above its position, pixels; names must be level with it.
const LIFTED: f64 = 10.0;
/// The space for names, as a share of the drawing's width.
pub(crate) const ROOM: f64 = 0.5;
const LONGEST: usize = 24;

/// A name, and the end of its line.
pub(crate) struct EndLabel {
    pub(crate) at: (f64, f64),
    pub(crate) name: String,
}

/// Returns whether this many lines can have their names at their ends.
pub(crate) fn is_room_for(lines: usize) -> bool {
    (2..=LOOKS).contains(&lines)
}

impl EndLabel {
    /// Returns the name of the line with this look, with its mark, since several lines may end at the same place.
    pub(crate) fn new(look: usize, name: &str, at: (f64, f64)) -> Self {
        Self {
            at,
            name: format!("{} {name}", style::key(look, "").glyph),
        }
    }
}

/// Returns the legend of lines with these looks and names; empty if the names are at the ends of the lines.
pub(crate) fn keys<N: Into<String>>(lines: Vec<(usize, N)>) -> Vec<LegendEntry> {
    if is_room_for(lines.len()) {
        Vec::new()
    } else {
        lines
            .into_iter()
            .map(|(look, name)| style::key(look, name))
            .collect()
    }
}

/// Returns a layout whose horizontal axis goes from zero to `end`, followed by the names if there is space for all `lines`.
pub(crate) fn named(
    layout: Layout,
    lines: usize,
    end: Axis,
    labels: Vec<EndLabel>,
    highest: f64,
) -> Layout {
    if !is_room_for(lines) {
        return style::x_from_zero(layout, end);
    }
    let layout = style::x_from_zero(
        layout,
        Axis {
            end: end.end * (1.0 + ROOM),
            ..end
        },
    );
    let layout = layout.with_x_tick_format(style::thousands_up_to(end.end));
    labelled(layout, labels, 0.03 * end.end, highest)
}

/// Does the same as [`named`] for a logarithmic axis with these ends.
pub(crate) fn named_on_log(
    layout: Layout,
    lines: usize,
    ends: AxisEnds,
    labels: Vec<EndLabel>,
    highest: f64,
) -> Layout {
    if !is_room_for(lines) {
        return style::log_x(layout, ends);
    }
    let further = |share: f64| (ends.high / ends.low).powf(share);
    let aside = |label: EndLabel| EndLabel {
        at: (label.at.0 * further(0.03), label.at.1),
        ..label
    };
    let layout = style::log_x(layout, AxisEnds::new(ends.low, ends.high * further(ROOM)));
    labelled(
        layout,
        labels.into_iter().map(aside).collect(),
        0.0,
        highest,
    )
}

/// Returns the layout with each name slightly to the side of the end of its line, by `aside`, and without overlaps. The vertical axis goes from zero to
/// `highest`.
pub(crate) fn labelled(
    layout: Layout,
    mut labels: Vec<EndLabel>,
    aside: f64,
    highest: f64,
) -> Layout {
    let pixel = highest / DRAWN;
    labels.sort_by(|a, b| a.at.1.total_cmp(&b.at.1));
    let heights: Vec<f64> = labels.iter().map(|label| label.at.1).collect();
    let heights = spread(&heights, LINE * pixel, highest - LINE / 2.0 * pixel);
    labels
        .iter()
        .zip(heights)
        .fold(layout, |layout, (label, height)| {
            let text = format!(
                "{FROM_HERE}{}",
                cut(&label.name, LONGEST).replace('$', "\\$")
            );
            layout.with_annotation(
                TextAnnotation::new(text, label.at.0 + aside, height - LIFTED * pixel)
                    .with_font_size(11),
            )
        })
}

/// Moves heights, which ascend, as little as possible so that they are `apart` and not above `highest`.
fn spread(heights: &[f64], apart: f64, highest: f64) -> Vec<f64> {
    let mut spread = heights.to_vec();
    for i in 1..spread.len() {
        spread[i] = spread[i].max(spread[i - 1] + apart);
    }
    let mut ceiling = highest;
    for height in spread.iter_mut().rev() {
        *height = height.min(ceiling);
        ceiling = *height - apart;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lines_that_end_together_stand_apart_and_inside() {
        assert_eq!(spread(&[0.0, 1.0, 50.0], 10.0, 100.0), [0.0, 10.0, 50.0]);
        assert_eq!(
            spread(&[96.0, 97.0, 98.0], 10.0, 100.0),
            [80.0, 90.0, 100.0]
        );
    }
}
