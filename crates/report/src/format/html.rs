//! `report.html`: a single self-contained file.

use crate::ReportError;
use crate::findings::basis;
use crate::findings::origin;
use crate::findings::trust::TrustBox;
use crate::findings::warning_kind;
use crate::format::answer::{self, AnswerGroup};
use crate::format::clauses;
use crate::format::document::Document;
use crate::format::download::{Downloads, MOST_WITHIN};
use crate::format::verdict;
use crate::layout::table::Table;
use crate::subject::Chapter;
use crate::subject::anomalies;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, value::Serde};
use serde::Serialize;
use sixbench_method::plan::ExportFormat;
use sixbench_method::record::DutFacts;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const TEMPLATE: &str = include_str!("templates/report.html.jinja");
const ANSWER: &str = include_str!("templates/answer.html.jinja");

/// The style sheet of the report's page.
pub const STYLE: &str = include_str!("templates/report.css");

/// Everything the template prints. Only the style sheet and the figures are markup; everything else is text, and is escaped.
#[derive(Serialize)]
struct Page<'a> {
    name: &'a str,
    generated: &'a str,
    sixbench: &'a str,
    /// The time and place of the measurement, in words.
    measured: String,
    /// The number of parts of a resumed run, in words.
    parts: String,
    /// The mark of an incomplete run.
    mark: &'static str,
    style: &'static str,
    headline: String,
    /// The number of points that have a result, and the reasons why others were not run.
    results_made: Vec<String>,
    trust: Option<TrustBox>,
    /// A sentence for each kind of frames that were neither received as they were sent nor simply lost.
    anomalies: Vec<String>,
    answer: Vec<AnswerGroup>,
    contents: Vec<ContentsEntry>,
    downloads: [&'static str; 2],
    /// The words of the formats in which the run can be exported, separated by commas.
    exports: String,
    verdict: &'a [String],
    notice: Vec<String>,
    conformant_run: Option<String>,
    results: &'a [Chapter],
    evidence: &'a [Chapter],
    examples: Vec<String>,
    faults: &'a Table,
    open_clauses: Table,
    met_clauses: Table,
    run: &'a Table,
    code: &'a Table,
    host: &'a BTreeMap<String, String>,
    layout: Vec<String>,
    cables: Table,
    duts: &'a BTreeMap<String, DutFacts>,
    /// Warnings of kinds that occur several times, and those that occur once.
    warning_table: Table,
    single_warnings: Vec<String>,
    /// The links of each figure, by its name.
    downloads_of: BTreeMap<&'a str, Downloads>,
    /// The command line of the run; empty if it is unknown.
    command: &'a str,
    commands: &'a str,
}

/// A line of the table of contents.
#[derive(Serialize)]
struct ContentsEntry {
    id: &'static str,
    title: &'static str,
}

/// Returns the whole report as one HTML page: no scripts, nothing fetched, readable on paper and on a dark screen.
///
/// # Errors
/// The template does not match its context: a bug.
pub(crate) fn html(document: &Document<'_>) -> Result<String, ReportError> {
    Ok(PAGES
        .get_template("report.html")?
        .render(Serde(&page(document)?))?)
}

/// Returns the first screen of the page alone: a section with the results, without links to files.
///
/// # Errors
/// The template does not match its context: a bug.
pub(crate) fn answer(document: &Document<'_>) -> Result<String, ReportError> {
    let section = AnswerSection {
        answer: answer::groups(&document.digest),
        downloads: [],
    };
    Ok(PAGES.get_template("answer.html")?.render(Serde(&section))?)
}

/// The part of [`Page`] that the first screen prints.
#[derive(Serialize)]
struct AnswerSection {
    answer: Vec<AnswerGroup>,
    downloads: [&'static str; 0],
}

/// Returns the settings of all templates: text is escaped, and an undefined name is an error.
pub(crate) fn strict_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
}

/// The templates of the page, parsed once.
static PAGES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = strict_environment();
    environment.add_filter("clauses", |text: String| {
        Value::from_safe_string(clauses::linked(&text))
    });
    for (name, template) in [("answer.html", ANSWER), ("report.html", TEMPLATE)] {
        environment
            .add_template(name, template)
            .expect("a template of this crate that can be parsed");
    }
    environment
});

fn page<'a>(document: &'a Document<'a>) -> Result<Page<'a>, ReportError> {
    let digest = &document.digest;
    let input = digest.input;
    let (warning_table, single_warnings) =
        warning_kind::by_kind("Warnings of the run", &input.facts.warnings);
    let figures = document
        .results()
        .iter()
        .chain(document.evidence())
        .flat_map(|chapter| &chapter.figures);
    Ok(Page {
        name: &input.plan.name,
        generated: input.generated,
        sixbench: &input.facts.sixbench,
        measured: origin::sentence(digest),
        parts: origin::parts(input),
        mark: origin::mark(input),
        style: STYLE,
        headline: verdict::headline(digest),
        results_made: basis::results(digest),
        answer: answer::groups(digest),
        contents: contents(document),
        downloads: ["results.csv", "results.json"],
        exports: ExportFormat::ALL.map(ExportFormat::word).join(","),
        verdict: document.verdict(),
        notice: basis::notice(digest),
        conformant_run: basis::conformant_run(input),
        results: document.results(),
        evidence: document.evidence(),
        examples: anomalies::examples(digest),
        faults: document.faults(),
        open_clauses: document.conformance().open(),
        met_clauses: document.conformance().met(),
        run: document.run(),
        code: document.code(),
        host: &input.facts.host,
        trust: digest
            .trust
            .as_ref()
            .map(|trust| TrustBox::new(trust, basis::trials(digest))),
        anomalies: digest.anomalies_in_brief(),
        layout: input.facts.layouts(),
        cables: basis::cables(input.facts),
        duts: &input.facts.duts,
        warning_table,
        single_warnings,
        downloads_of: figures
            .map(|figure| {
                Ok((
                    &*figure.id,
                    Downloads::new(figure, document.short_file(figure.data.0, MOST_WITHIN)?),
                ))
            })
            .collect::<Result<_, ReportError>>()?,
        command: origin::command(input),
        commands: input.commands,
    })
}

/// Returns the table of contents. Chapters are folded, so that their headings follow each other on the page.
fn contents(document: &Document<'_>) -> Vec<ContentsEntry> {
    let first = |chapters: &[Chapter]| chapters.first().map(|chapter| chapter.id);
    let entries = [
        (Some("answer"), "Answer"),
        (first(document.results()), "Results"),
        (first(document.evidence()), "Evidence"),
        (Some("method"), "Conformance"),
        (Some("facts"), "Machine"),
        (Some("commands"), "Reproduce"),
    ];
    entries
        .into_iter()
        .filter_map(|(id, title)| Some(ContentsEntry { id: id?, title }))
        .collect()
}
