//! Tables as files for papers: `results.tex` reads all of them, and a paper can `\input` single ones.

use super::float::floats;
use super::label::TableLabels;
use super::preamble::{CHARACTERS, comment};
use super::repeats::without_repeats;
use super::style::PaperStyle;
use crate::layout::table::Table;

/// The folder of these files.
pub const FOLDER: &str = "tables";

/// The beginning of each of these files.
pub const MARK: &str = "% A table of sixbench. ";

/// The number of floats after which pending ones are flushed: LaTeX can hold at least 18.
const FLOATS_AT_ONCE: usize = 12;

/// A table as it is written for a paper.
pub(crate) struct TableFile {
    /// The name of the file without folder and extension, which is also the end of the table's label.
    name: String,
    title: String,
    floats: Vec<String>,
}

impl TableFile {
    pub(super) fn new(table: &Table, style: PaperStyle, labels: &mut TableLabels) -> Self {
        let name = labels.name(&table.title);
        let label = format!("tab:sixbench-{name}");
        Self {
            floats: floats(&without_repeats(table), style, &label),
            title: table.title.clone(),
            name,
        }
    }

    /// Returns its path beside `results.tex`.
    pub(crate) fn path(&self) -> String {
        format!("{FOLDER}/{}.tex", self.name)
    }

    /// Returns its text. `run` describes the run in a comment.
    pub(crate) fn text(&self, run: &str) -> String {
        let floats: Vec<String> = self
            .floats
            .chunks(FLOATS_AT_ONCE)
            .map(|some| some.join("\n"))
            .collect();
        let floats = floats.join("\n\\clearpage\n\n");
        let characters = if floats.contains("\\sixbenchchar") {
            CHARACTERS
        } else {
            ""
        };
        format!(
            "{MARK}{}.\n% {}.\n% A paper that has \\usepackage{{array,booktabs}} may \\input it; results.tex reads it, too. Its label is \
             tab:sixbench-{}.\n{characters}{floats}",
            comment(&self.title),
            comment(run),
            self.name
        )
    }
}

/// Returns the lines that read the files, with pending floats flushed before LaTeX holds too many.
pub(super) fn inputs(files: &[TableFile]) -> String {
    let mut pending = 0;
    let mut lines = String::new();
    for file in files {
        if pending > 0 && pending + file.floats.len() > FLOATS_AT_ONCE {
            lines += "\\clearpage\n";
            pending = 0;
        }
        pending += file.floats.len();
        lines += &format!("\\input{{\\sixbenchfolder {FOLDER}/{}}}\n", file.name);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::table::Column;

    fn file(title: &str, rows: u64, labels: &mut TableLabels) -> TableFile {
        let columns = [Column::text("Test", |row: &u64| row.to_string())];
        TableFile::new(
            &Table::new(title, columns, 0..rows),
            PaperStyle::OneColumn,
            labels,
        )
    }

    #[test]
    fn a_file_has_its_table_under_the_label_of_its_name() {
        let mut labels = TableLabels::default();
        let text = file("Throughput", 1, &mut labels).text("a run");
        assert!(text.starts_with("% A table of sixbench. Throughput.\n% a run.\n"));
        assert!(text.contains("\\caption{Throughput}\\label{tab:sixbench-throughput}"));
        assert!(!text.contains("\\providecommand"), "{text}");
    }

    #[test]
    fn a_letter_that_pdflatex_lacks_is_defined_in_the_file_that_has_it() {
        let mut labels = TableLabels::default();
        let text = file("中", 1, &mut labels).text("a run");
        assert!(
            text.contains("\\providecommand\\sixbenchchar{}%\n"),
            "{text}"
        );
    }

    #[test]
    fn no_more_floats_are_pending_than_latex_holds() {
        let mut labels = TableLabels::default();
        let files: Vec<TableFile> = (0..30)
            .map(|index| file(&format!("T {index}"), 1, &mut labels))
            .collect();
        let lines = inputs(&files);
        let pending = lines
            .split("\\clearpage\n")
            .map(|part| part.lines().count());
        assert_eq!(pending.collect::<Vec<_>>(), [12, 12, 6]);
        assert!(
            lines.starts_with("\\input{\\sixbenchfolder tables/t-0}\n"),
            "{lines}"
        );
    }
}
