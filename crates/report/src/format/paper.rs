//! Panels as files for papers: each compiles alone to a PDF, and can be `\input` into a paper, in which case its text has the fonts of the paper.

use crate::format::latex::PaperStyle;
use crate::format::latex::preamble::{Preamble, comment};
use crate::layout::latex::escaped;
use crate::plot::Figure;
use crate::plot::pgf::{Picture, color_name};
use crate::plot::style::LegendEntry;
use std::collections::BTreeSet;

/// The folder of these files.
pub const FOLDER: &str = "figures";

/// The beginning of each of these files.
pub const MARK: &str = "% A figure of sixbench. ";

/// The most words of a title that become part of a file name.
const NAME_WORDS: usize = 8;

/// Returns the file of each panel: its name, made from the panel's title, and its text.
pub(crate) fn files<'f>(
    figures: impl Iterator<Item = &'f Figure>,
    style: PaperStyle,
    run: &str,
) -> Vec<(String, String)> {
    let mut names = BTreeSet::new();
    let panels = figures.flat_map(|figure| {
        figure
            .panels
            .iter()
            .map(move |panel| (figure, &panel.picture))
    });
    panels
        .map(|(figure, picture)| {
            (
                name(figure, picture, &mut names),
                file(figure, picture, style, run),
            )
        })
        .collect()
}

/// Returns the name of a file: `figures/search-jool-siit-84-bytes.tex`, with a number if another panel has the same title.
fn name(figure: &Figure, picture: &Picture, names: &mut BTreeSet<String>) -> String {
    let words = picture
        .title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(NAME_WORDS);
    let words: Vec<String> = std::iter::once(figure.id.clone().into_owned())
        .chain(words.map(str::to_ascii_lowercase))
        .collect();
    let name = words.join("-");
    let numbered =
        std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
    let free = numbered
        .into_iter()
        .find(|name| names.insert(name.clone()))
        .unwrap_or(name);
    format!("{FOLDER}/{free}.tex")
}

fn file(figure: &Figure, picture: &Picture, style: PaperStyle, run: &str) -> String {
    let keys: Vec<&LegendEntry> = figure
        .keys
        .iter()
        .filter(|key| {
            picture
                .colors
                .contains(&key.color.trim_start_matches('#').to_ascii_uppercase())
        })
        .collect();
    let colors = picture.colors.iter().map(|digits| {
        format!(
            "\\definecolor{{{}}}{{HTML}}{{{digits}}}\n",
            color_name(digits)
        )
    });
    let Picture {
        title,
        options,
        body,
        ..
    } = picture;
    format!(
        "{MARK}{}: {}.\n% {}.\n% Data: {}. pdflatex makes a PDF of this file by itself. A paper that has \\usepackage{{pgfplots}} may \\input it, and may set\n\
         % its width before: \\def\\sixbenchfigurewidth{{\\columnwidth}}.\n{}\
         \\ifdefined\\sixbenchfigurewidth\\else\\def\\sixbenchfigurewidth{{{}}}\\fi\n\
         \\usepgflibrary{{plotmarks}}%\n\
         \\begin{{tikzpicture}}\n{}\\begin{{axis}}[\n{options}{LOOK}{}]\n{body}{}\\end{{axis}}\n\\end{{tikzpicture}}%\n\\sixbenchend\n",
        comment(&figure.title),
        comment(title),
        comment(run),
        figure.data.0,
        Preamble::of_a_picture(),
        style.figure_width(),
        colors.collect::<String>(),
        legend_columns(&keys),
        keys.iter().map(|key| entry(key)).collect::<String>()
    )
}

/// The look of all panels: that of the drawings, in the type size of captions.
const LOOK: &str = "font=\\footnotesize, ticklabel style={font=\\scriptsize}, label style={font=\\footnotesize},\n\
     grid=major, grid style={black!10}, axis line style={black!50}, tick style={black!50}, tick align=outside, tick pos=left,\n\
     xticklabel style={/pgf/number format/fixed}, scaled ticks=false, clip marker paths=true,\n\
     legend style={draw=none, fill=none, font=\\scriptsize, inner xsep=0pt}, legend cell align=left,\n";

/// The most characters of a legend label that fit into the narrowest column.
const WIDEST_LABEL: usize = 38;

/// Returns as many columns as the longest label leaves space for; in one column, long labels are broken into lines.
fn legend_columns(keys: &[&LegendEntry]) -> String {
    let longest = keys
        .iter()
        .map(|key| key.label.chars().count())
        .max()
        .unwrap_or(0);
    let columns = match longest {
        0..=10 => 3,
        11..=18 => 2,
        _ => 1,
    };
    let wrapped = if longest > WIDEST_LABEL {
        "legend style={cells={text width=0.82*\\sixbenchfigurewidth}},\n"
    } else {
        ""
    };
    format!("legend columns={columns},\n{wrapped}")
}

fn entry(key: &LegendEntry) -> String {
    let color = color_name(&key.color.trim_start_matches('#').to_ascii_uppercase());
    let look = match key.glyph {
        "▬" | "┃" => "no marks, line width=1pt",
        "╌╌" => "no marks, dashed",
        "✕" => "only marks, mark=x",
        "■" => "only marks, mark=square*",
        "▲" => "only marks, mark=triangle*",
        "◆" => "only marks, mark=diamond*",
        "▼" => "only marks, mark=triangle*, mark options={rotate=180}",
        "⬟" => "only marks, mark=pentagon*",
        "⬢" => "only marks, mark=otimes*",
        _ => "only marks, mark=*",
    };
    format!(
        "\\addlegendimage{{{look}, {color}}}\\addlegendentry{{{}}}\n",
        escaped(&key.label)
    )
}
