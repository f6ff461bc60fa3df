//! A run, prepared once for all formats, which differ only in how they print it.

use crate::conformance::ReportedClauses;
use crate::digest::{Digest, check_formats};
use crate::findings::faults;
use crate::findings::origin;
use crate::format::bibliography::bibliography;
use crate::format::chapter;
use crate::format::continuous;
use crate::format::csv::{
    self, broadcasts_csv, bursts_csv, points_csv, ramps_csv, refusals_csv,
    requirements_by_device_csv, requirements_csv, scaling_csv, sequence_csv, sizes_csv,
    warnings_csv,
};
use crate::format::html;
use crate::format::json;
use crate::format::latex;
use crate::format::latex::PaperStyle;
use crate::format::latex::table_file::TableFile;
use crate::format::markdown;
use crate::format::methods;
use crate::format::paper;
use crate::format::terminal;
use crate::format::verdict;
use crate::layout::table::Table;
use crate::plot::{Figure, sheet};
use crate::subject::Chapter;
use crate::{Input, ReportError};
use sixbench_method::text::visible_lines;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The results of a run, divided into the parts of a report. Nothing is drawn or counted twice, no matter how many formats are written.
pub struct Document<'a> {
    pub(crate) digest: Digest<'a>,
    style: PaperStyle,
    // Each part is made when a format first needs it: the terminal and the tables of numbers need few of them.
    verdict: OnceLock<Vec<String>>,
    faults: OnceLock<Table>,
    conformance: OnceLock<ReportedClauses>,
    run: OnceLock<Table>,
    code: OnceLock<Table>,
    results: OnceLock<Vec<Chapter>>,
    evidence: OnceLock<Vec<Chapter>>,
    table_files: OnceLock<Vec<TableFile>>,
}

/// The name and the text of a file of a report.
pub type ReportFile = (String, String);

/// What makes the text of a file.
pub(super) enum FormatText {
    /// Every run has the file.
    Always(fn(&Digest<'_>) -> String),
    /// A run may have nothing for the file.
    IfAny(fn(&Digest<'_>) -> Option<String>),
    /// The text has parts that the document shares among formats.
    OfDocument(fn(&Document<'_>) -> String),
    /// A template makes the text, which may not match its context.
    OfTemplate(fn(&Document<'_>) -> Result<String, ReportError>),
}

impl FormatText {
    /// Returns the text; `None` if the run has nothing for the file.
    fn text(&self, document: &Document<'_>) -> Result<Option<String>, ReportError> {
        match self {
            Self::Always(text) => Ok(Some(text(&document.digest))),
            Self::IfAny(text) => Ok(text(&document.digest)),
            Self::OfDocument(text) => Ok(Some(text(document))),
            Self::OfTemplate(text) => text(document).map(Some),
        }
    }
}

use FormatText::{Always, IfAny, OfDocument, OfTemplate};

/// The files of a report other than its figures, in the order in which they are written.
pub(super) const FORMATS: [(&str, FormatText); 25] = [
    ("report.html", OfTemplate(html::html)),
    (
        "results.csv",
        Always(|digest| csv::results(digest).lines().collect()),
    ),
    ("points.csv", Always(points_csv)),
    (
        "results-values.csv",
        Always(|digest| csv::values(digest).lines().collect()),
    ),
    ("warnings.csv", Always(warnings_csv)),
    ("refusals.csv", IfAny(refusals_csv)),
    ("sequence.csv", IfAny(sequence_csv)),
    ("sizes.csv", IfAny(sizes_csv)),
    ("ramps.csv", IfAny(ramps_csv)),
    ("broadcasts.csv", IfAny(broadcasts_csv)),
    ("bursts.csv", IfAny(bursts_csv)),
    ("requirements.csv", IfAny(requirements_csv)),
    (
        "requirements-by-device.csv",
        IfAny(requirements_by_device_csv),
    ),
    ("results-scaling.csv", IfAny(scaling_csv)),
    (
        "results.tex",
        OfDocument(|document| latex::latex(document, document.style)),
    ),
    ("results.md", OfDocument(markdown::markdown)),
    (
        "methods.tex",
        OfDocument(|document| methods::latex(&document.digest, document.style)),
    ),
    ("methods.md", Always(methods::markdown)),
    ("run.bib", Always(bibliography)),
    ("results.json", Always(json::json)),
    ("junit.xml", Always(continuous::junit)),
    ("bencher.json", IfAny(continuous::bencher)),
    ("benchmark-bigger.json", IfAny(continuous::bigger_is_better)),
    (
        "benchmark-smaller.json",
        IfAny(continuous::smaller_is_better),
    ),
    ("trend-left-out.json", IfAny(continuous::left_out)),
];

impl<'a> Document<'a> {
    /// Prepares a run.
    ///
    /// # Errors
    /// A record has a newer format than this version knows.
    pub fn new(input: &'a Input<'a>) -> Result<Self, ReportError> {
        check_formats(input.records)?;
        Ok(Self {
            digest: Digest::new(input),
            style: PaperStyle::default(),
            verdict: OnceLock::new(),
            faults: OnceLock::new(),
            conformance: OnceLock::new(),
            run: OnceLock::new(),
            code: OnceLock::new(),
            results: OnceLock::new(),
            evidence: OnceLock::new(),
            table_files: OnceLock::new(),
        })
    }

    /// Returns the document with its LaTeX tables in the style of this kind of paper.
    pub fn with_style(self, style: PaperStyle) -> Self {
        Self {
            style,
            table_files: OnceLock::new(),
            ..self
        }
    }

    /// Returns the text of one file of the report; `None` if the run has nothing for it, or if no file has this name.
    ///
    /// # Errors
    /// A template does not match its context: a bug in this crate.
    pub fn file(&self, name: &str) -> Result<Option<String>, ReportError> {
        let text = FORMATS
            .iter()
            .find(|(of, _)| *of == name)
            .map_or(Ok(None), |(_, format)| format.text(self))?;
        Ok(text.map(shown))
    }

    /// Returns the text of one file of the report if it has at most `most` octets.
    ///
    /// # Errors
    /// Those of [`Self::file`].
    pub(crate) fn short_file(
        &self,
        name: &str,
        most: usize,
    ) -> Result<Option<String>, ReportError> {
        let rows = match name {
            "results.csv" => csv::results(&self.digest),
            "results-values.csv" => csv::values(&self.digest),
            _ => return self.file(name),
        };
        let mut text = String::new();
        for line in rows.lines() {
            text += &line;
            if text.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(shown(text)))
    }

    /// Returns every file of the report with its name, the figures last. Each is made when it is asked for, since the files of a long run are large.
    ///
    /// # Errors
    /// An item is an error if a template does not match its context: a bug in this crate.
    pub fn files(&self) -> impl Iterator<Item = Result<ReportFile, ReportError>> {
        let formats = FORMATS.iter().filter_map(|(name, format)| {
            format
                .text(self)
                .map(|text| Some(((*name).to_owned(), shown(text?))))
                .transpose()
        });
        let figures = std::iter::once_with(|| self.shown_figures()).flatten();
        let of_papers = std::iter::once_with(|| self.shown_parts_of_papers()).flatten();
        formats.chain(figures.chain(of_papers).map(Ok))
    }

    /// Returns the figures as they are written to files.
    pub(crate) fn shown_figures(&self) -> impl Iterator<Item = ReportFile> {
        self.figures().map(|(name, text)| (name, shown(text)))
    }

    /// Returns the tables and the panels for papers as they are written to files.
    pub(crate) fn shown_parts_of_papers(&self) -> impl Iterator<Item = ReportFile> {
        self.paper_tables()
            .chain(self.paper_figures())
            .map(|(name, text)| (name, shown(text)))
    }

    /// Returns the summary for a terminal of `width` columns: tables, then the verdict.
    pub fn terminal(&self, width: usize, color: bool) -> String {
        terminal::terminal(&self.digest, width, color)
    }

    /// Returns the first screen of the page as HTML, for use in another page with the style sheet [`crate::STYLE`].
    ///
    /// # Errors
    /// A template does not match its context: a bug in this crate.
    pub fn answer_html(&self) -> Result<String, ReportError> {
        html::answer(self).map(shown)
    }

    /// Returns the first sentence of the report.
    pub fn headline(&self) -> String {
        verdict::headline(&self.digest)
    }

    pub(crate) fn verdict(&self) -> &[String] {
        self.verdict
            .get_or_init(|| verdict::sentences(&self.digest))
    }

    pub(crate) fn faults(&self) -> &Table {
        self.faults.get_or_init(|| faults::table(&self.digest))
    }

    pub(crate) fn conformance(&self) -> &ReportedClauses {
        self.conformance
            .get_or_init(|| ReportedClauses::of_plan(self.digest.input.plan))
    }

    pub(crate) fn run(&self) -> &Table {
        self.run.get_or_init(|| origin::table(&self.digest))
    }

    pub(crate) fn code(&self) -> &Table {
        self.code.get_or_init(|| origin::code(self.digest.input))
    }

    pub(crate) fn results(&self) -> &[Chapter] {
        self.results.get_or_init(|| chapter::results(&self.digest))
    }

    pub(crate) fn evidence(&self) -> &[Chapter] {
        self.evidence
            .get_or_init(|| chapter::evidence(&self.digest))
    }

    /// Returns the figures as files: their names and SVG, each readable by itself on a white background.
    pub fn figures(&self) -> impl Iterator<Item = (String, String)> {
        self.drawn()
            .map(|figure| (format!("{}.svg", figure.id), sheet::compose(figure)))
    }

    /// Returns the panels of the figures as files for papers: their names, with the folder `figures`, and LaTeX.
    pub fn paper_figures(&self) -> Vec<(String, String)> {
        paper::files(self.drawn(), self.style, &self.run_in_brief())
    }

    /// Returns the tables as files for papers, which `results.tex` reads: their names, with the folder `tables`, and LaTeX.
    pub fn paper_tables(&self) -> impl Iterator<Item = ReportFile> {
        let run = self.run_in_brief();
        self.table_files()
            .iter()
            .map(move |file| (file.path(), file.text(&run)))
    }

    pub(crate) fn table_files(&self) -> &[TableFile] {
        self.table_files
            .get_or_init(|| latex::table_files(self, self.style))
    }

    /// Returns the name of the plan, and when and where it was measured.
    fn run_in_brief(&self) -> String {
        let input = self.digest.input;
        format!("{}: {}", input.plan.name, origin::sentence(&self.digest))
    }

    fn drawn(&self) -> impl Iterator<Item = &Figure> {
        let drawn = self
            .results()
            .iter()
            .chain(self.evidence())
            .flat_map(|chapter| &chapter.figures);
        drawn.filter(|figure| !figure.panels.is_empty())
    }
}

/// Returns the text of a file in which control characters, whoever wrote them, are shown: people look at files on terminals. In JSON it is still the
/// same text.
pub(crate) fn shown(text: String) -> String {
    match visible_lines(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}
