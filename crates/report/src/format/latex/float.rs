//! Tables as LaTeX floats.

use super::layout::{self, COLUMN_SEPARATION, ColumnExtents, TablePart, TypeSize};
use super::style::PaperStyle;
use crate::layout::latex::escaped;
use crate::layout::table::{ColumnHead, Table};

/// Returns the table as one float, or as several with the same number if it has too many rows or columns for a page.
pub(crate) fn floats(table: &Table, style: PaperStyle, label: &str) -> Vec<String> {
    let (column, page) = style.widths();
    let is_narrow = |parts: &[TablePart]| parts.len() == 1 && parts[0].widths.is_none();
    let extents = ColumnExtents::measure(table);
    let parts = layout::parts(table, &extents, column);
    let (parts, environment) = match style {
        PaperStyle::TwoColumn if !is_narrow(&parts) => {
            (layout::parts(table, &extents, page), "table*")
        }
        _ => (parts, "table"),
    };
    let caption = |index: usize| match index {
        0 => format!("\\caption{{{}}}\\label{{{label}}}", escaped(&table.title)),
        _ => format!(
            "\\addtocounter{{table}}{{-1}}\\caption{{{}, continued}}",
            escaped(&table.title)
        ),
    };
    parts
        .iter()
        .enumerate()
        .map(|(index, part)| float(part, environment, &caption(index)))
        .collect()
}

fn float(part: &TablePart, environment: &str, caption: &str) -> String {
    let (table, TypeSize { command, .. }) = (&part.table, part.size);
    let names = line(table.columns.iter().map(|c: &ColumnHead| escaped(&c.name)));
    let rows: String = table
        .rows
        .iter()
        .map(|row| line(row.iter().map(|cell| escaped(cell))))
        .collect();
    let notes: String = table
        .notes
        .iter()
        .map(|note| format!("\\par {}\n", escaped(note)))
        .collect();
    let notes = if notes.is_empty() {
        notes
    } else {
        format!("\\par\\smallskip\\raggedright\n{notes}")
    };
    format!(
        "\\begin{{{environment}}}[htbp]\n\\centering{command}\\setlength{{\\tabcolsep}}{{{COLUMN_SEPARATION}pt}}\n{caption}\n\
         \\begin{{tabular}}{{@{{}}{}@{{}}}}\n\\toprule\n{}{names}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n\
         {notes}\\end{{{environment}}}\n",
        columns(part),
        groups(table)
    )
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(" & ") + " \\\\\n"
}

/// Returns the column specification for `tabular`: columns of natural width, or of a given width with wrapped text.
fn columns(part: &TablePart) -> String {
    let columns = &part.table.columns;
    match &part.widths {
        None => columns
            .iter()
            .map(|column| if column.number { 'r' } else { 'l' })
            .collect(),
        Some(widths) => columns
            .iter()
            .zip(widths)
            .map(|(column, width)| wrapped(column, *width))
            .collect(),
    }
}

fn wrapped(column: &ColumnHead, width: f64) -> String {
    let side = if column.number { "left" } else { "right" };
    format!(">{{\\ragged{side}\\arraybackslash}}p{{{width:.1}pt}}")
}

/// Returns the names of groups of columns, with a rule under each.
fn groups(table: &Table) -> String {
    if table.groups.is_empty() {
        return String::new();
    }
    let mut rules = String::new();
    let mut first = 1;
    for group in &table.groups {
        let last = first + group.columns - 1;
        if !group.name.is_empty() {
            rules += &format!("\\cmidrule(lr){{{first}-{last}}}");
        }
        first = last + 1;
    }
    line(
        table
            .groups
            .iter()
            .map(|group| spanning(&group.name, group.columns)),
    ) + &rules
        + "\n"
}

fn spanning(name: &str, columns: usize) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!("\\multicolumn{{{columns}}}{{c}}{{{}}}", escaped(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::cell::Cell;
    use crate::layout::table::Column;

    #[test]
    fn grouped_columns_share_a_heading() {
        let columns = [
            Column::text("Test", |_: &u64| "t"),
            Column::number_in("TL (ms)", "Median", |_: &u64| Cell::Missing),
            Column::number_in("TL (ms)", "P1", |_: &u64| Cell::Missing),
        ];
        let table = Table::new("T", columns, []);
        let text = floats(&table, PaperStyle::OneColumn, "tab:t").concat();
        let heading =
            " & \\multicolumn{2}{c}{TL (ms)} \\\\\n\\cmidrule(lr){2-3}\nTest & Median & P1 \\\\";
        assert!(
            text.contains(&format!("{{@{{}}lrr@{{}}}}\n\\toprule\n{heading}")),
            "{text}"
        );
    }

    #[test]
    fn a_wide_table_spans_both_columns_and_a_narrow_one_does_not() {
        let columns = || {
            [
                Column::text("Test", |row: &String| row.clone()),
                Column::number("n", |_: &String| Cell::Number(1)),
            ]
        };
        let table = |cell: &str| Table::new("T", columns(), [cell.to_owned()]);
        let of = |cell: &str| floats(&table(cell), PaperStyle::TwoColumn, "tab:t").concat();
        assert!(
            of("a").starts_with("\\begin{table}[htbp]")
                && of(&"word ".repeat(30)).starts_with("\\begin{table*}[htbp]")
        );
    }
}
