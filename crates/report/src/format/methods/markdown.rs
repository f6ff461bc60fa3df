//! `methods.md`: the same section for a paper in Markdown, with Pandoc citations.

use super::{Methods, MethodsPart};
use crate::digest::Digest;
use crate::layout::markdown::{escaped, table};

pub(crate) fn markdown(digest: &Digest<'_>) -> String {
    let Methods { paragraphs, tables } = Methods::new(digest);
    let part = |part: &MethodsPart| match part {
        MethodsPart::Text(text) => escaped(text),
        MethodsPart::Cite(key) => format!(" [@{key}]"),
        MethodsPart::Refer(name) => {
            let title = tables
                .iter()
                .find(|(of, _)| of == name)
                .map_or(*name, |(_, table)| &table.title);
            format!("the table \"{}\"", escaped(title))
        }
    };
    let paragraphs = paragraphs.iter().map(|paragraph| {
        let text: String = paragraph.parts.iter().map(part).collect();
        format!("\n**{}.** {text}\n", paragraph.title)
    });
    let tables = tables
        .iter()
        .map(|(_, one)| format!("\n### {}\n\n{}", escaped(&one.title), table(one)));
    format!(
        "## Methods: {}\n{}{}",
        escaped(&digest.input.plan.name),
        paragraphs.collect::<String>(),
        tables.collect::<String>()
    )
}
