//! Individual formats of a report, by file name.

use sixbench_report::{Document, Input, PaperStyle, ReportError};

fn file(input: &Input, name: &str) -> Option<String> {
    Document::new(input)
        .and_then(|document| document.file(name))
        .expect("a report")
}

pub(crate) fn html(input: &Input) -> Result<String, ReportError> {
    Ok(Document::new(input)?.file("report.html")?.expect("a page"))
}

pub(crate) fn csv(input: &Input) -> String {
    file(input, "results.csv").expect("rows")
}

pub(crate) fn points_csv(input: &Input) -> String {
    file(input, "points.csv").expect("rows")
}

pub(crate) fn values_csv(input: &Input) -> String {
    file(input, "results-values.csv").expect("rows")
}

pub(crate) fn warnings_csv(input: &Input) -> String {
    file(input, "warnings.csv").expect("rows")
}

pub(crate) fn sequence_csv(input: &Input) -> Option<String> {
    file(input, "sequence.csv")
}

pub(crate) fn sizes_csv(input: &Input) -> Option<String> {
    file(input, "sizes.csv")
}

pub(crate) fn broadcasts_csv(input: &Input) -> Option<String> {
    file(input, "broadcasts.csv")
}

pub(crate) fn bursts_csv(input: &Input) -> Option<String> {
    file(input, "bursts.csv")
}

pub(crate) fn ramps_csv(input: &Input) -> Option<String> {
    file(input, "ramps.csv")
}

pub(crate) fn scaling_csv(input: &Input) -> Option<String> {
    file(input, "results-scaling.csv")
}

pub(crate) fn latex(input: &Input) -> String {
    latex_for(input, PaperStyle::default())
}

/// Returns `results.tex` for a paper of this style as TeX reads it: with the files of the tables in place of the lines that read them.
pub(crate) fn latex_for(input: &Input, style: PaperStyle) -> String {
    let mut files = latex_files(input, style).into_iter();
    let (_, mut text) = files.next().expect("results.tex");
    for (name, table) in files {
        let line = format!(
            "\\input{{\\sixbenchfolder {}}}\n",
            name.trim_end_matches(".tex")
        );
        assert_eq!(text.matches(&line).count(), 1, "{name} is read once");
        text = text.replace(&line, &table);
    }
    assert!(!text.contains("\\input{"), "all that is read is there");
    text
}

/// Returns `results.tex` for a paper of this style, and the files that it reads.
pub(crate) fn latex_files(input: &Input, style: PaperStyle) -> Vec<(String, String)> {
    let document = Document::new(input).expect("a report").with_style(style);
    let text = document.file("results.tex").expect("a report");
    let results = ("results.tex".to_owned(), text.expect("tables"));
    std::iter::once(results)
        .chain(document.paper_tables())
        .collect()
}

/// Returns `methods.tex` for a paper of this style.
pub(crate) fn methods_for(input: &Input, style: PaperStyle) -> String {
    file_for(input, style, "methods.tex")
}

fn file_for(input: &Input, style: PaperStyle, name: &str) -> String {
    let document = Document::new(input).expect("a report").with_style(style);
    document.file(name).expect("a report").expect("tables")
}

/// Returns `methods.md` and `run.bib`.
pub(crate) fn methods(input: &Input) -> [String; 2] {
    ["methods.md", "run.bib"].map(|name| file(input, name).expect("methods"))
}

/// Fails if a row of a LaTeX table has more or fewer cells than the table has columns; returns the number of tables.
pub(crate) fn assert_rows_are_whole(text: &str) -> usize {
    let tables = text.split("\\begin{tabular}{@{}").skip(1).map(|table| {
        let (layout, rest) = table.split_once("@{}}\n").expect("a layout");
        let wrapped = layout.matches("p{").count();
        let columns = if wrapped > 0 { wrapped } else { layout.len() };
        let (body, _) = rest.split_once("\\end{tabular}").expect("an end");
        let rows = body
            .lines()
            .filter(|line| line.ends_with("\\\\") && !line.contains("\\multicolumn"));
        rows.for_each(|row| {
            assert_eq!(
                row.replace("\\&", "").matches('&').count() + 1,
                columns,
                "{row}"
            );
        });
    });
    tables.count()
}

pub(crate) fn markdown(input: &Input) -> String {
    file(input, "results.md").expect("tables")
}

pub(crate) fn json(input: &Input) -> String {
    file(input, "results.json").expect("a document")
}

/// Returns the names of the figures for papers and their LaTeX.
pub(crate) fn paper_figures(input: &Input, style: PaperStyle) -> Vec<(String, String)> {
    Document::new(input)
        .expect("a report")
        .with_style(style)
        .paper_figures()
}

/// Returns the names of the figures and their SVG.
pub(crate) fn figures(input: &Input) -> Vec<(String, String)> {
    Document::new(input).expect("a report").figures().collect()
}

pub(crate) fn terminal(input: &Input, width: usize, color: bool) -> String {
    Document::new(input)
        .expect("a report")
        .terminal(width, color)
}
