//! `methods.tex`: compiles alone, and can be `\input` into a paper.

use super::{Methods, MethodsPart, Paragraph};
use crate::digest::Digest;
use crate::format::latex::PaperStyle;
use crate::format::latex::float::floats;
use crate::format::latex::preamble::{Preamble, comment};
use crate::layout::latex::escaped;

/// The list of references, which a paper has already.
const REFERENCES: &str = "\\bibliographystyle{plain}\\bibliography{run}";

pub(crate) fn latex(digest: &Digest<'_>, style: PaperStyle) -> String {
    let Methods { paragraphs, tables } = Methods::new(digest);
    let name = &digest.input.plan.name;
    let paragraphs: String = paragraphs.iter().map(paragraph).collect();
    let tables: String = tables
        .iter()
        .flat_map(|(name, table)| floats(table, style, &label(name)))
        .collect();
    format!(
        "% The methods of {}, for a paper. pdflatex compiles this file by itself, with bibtex and run.bib for its references.\n\
         % A paper that has \\usepackage{{array,booktabs,url}} may \\input it, and takes run.bib into its \\bibliography.\n{}{paragraphs}\n{tables}\\sixbenchend\n",
        comment(name),
        Preamble::of_tables(style, &format!("Methods: {name}")).with_references("url", REFERENCES)
    )
}

fn paragraph(paragraph: &Paragraph) -> String {
    let text: String = paragraph.parts.iter().map(part).collect();
    format!("\n\\paragraph{{{}.}} {text}\n", escaped(paragraph.title))
}

fn part(part: &MethodsPart) -> String {
    match part {
        MethodsPart::Text(text) => escaped(text),
        MethodsPart::Cite(key) => format!("~\\cite{{{key}}}"),
        MethodsPart::Refer(table) => format!("Table~\\ref{{{}}}", label(table)),
    }
}

fn label(table: &str) -> String {
    format!("tab:sixbench-methods-{table}")
}
