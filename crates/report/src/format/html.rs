//! `report.html`: a single self-contained file.

use crate::conformance;
use crate::digest::Digest;
use crate::findings::origin;
use crate::findings::status;
use crate::findings::trust::{self, TrustBox};
use crate::findings::warning_kind;
use crate::format::answer::{self, AnswerGroup};
use crate::format::clauses;
use crate::format::document::Document;
use crate::format::download::{Downloads, MOST_WITHIN};
use crate::format::verdict;
use crate::layout::table::Table;
use crate::subject::Chapter;
use crate::subject::anomalies;
use crate::wording::numbers::{count, seconds, stretch};
use crate::{Input, ReportError};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, value::Serde};
use serde::Serialize;
use sixbench_method::lists::each_once;
use sixbench_method::measures::SendingTime;
use sixbench_method::plan::{ExportFormat, Measure, Plan, Profile, Test};
use sixbench_method::record::DutFacts;
use sixbench_method::repeat::Repetition;
use sixbench_method::throughput::saved;
use sixbench_method::trial::Verdict;
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
    tally: String,
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
    title: String,
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
    let (open_clauses, met_clauses) = conformance::parted(document.conformance());
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
        tally: tally(digest),
        answer: answer::groups(digest),
        contents: contents(document),
        downloads: ["results.csv", "results.json"],
        exports: ExportFormat::ALL.map(ExportFormat::word).join(","),
        verdict: document.verdict(),
        notice: notice(digest),
        conformant_run: conformant_run(input),
        results: document.results(),
        evidence: document.evidence(),
        examples: anomalies::examples(digest),
        faults: document.faults(),
        open_clauses,
        met_clauses,
        run: document.run(),
        code: document.code(),
        host: &input.facts.host,
        trust: digest.trust.as_ref().map(trust::TrustBox::of),
        anomalies: digest.anomalies_in_brief(),
        layout: input.facts.layouts(),
        duts: &input.facts.duts,
        warning_table,
        single_warnings,
        downloads_of: figures
            .map(|figure| {
                Ok((
                    &*figure.id,
                    Downloads::of(figure, document.short_file(figure.data.0, MOST_WITHIN)?),
                ))
            })
            .collect::<Result<_, ReportError>>()?,
        command: origin::command(input),
        commands: input.commands,
    })
}

/// Returns the table of contents: the result chapters by the first words of their titles, the evidence as one entry, and the sections around them.
fn contents(document: &Document) -> Vec<ContentsEntry> {
    let entry = |id, title: &str| ContentsEntry {
        id,
        title: title.to_owned(),
    };
    let of_chapter = |chapter: &Chapter| {
        entry(
            chapter.id,
            chapter
                .title
                .split([',', ':', '('])
                .next()
                .unwrap_or("")
                .trim(),
        )
    };
    let results = document.results().iter().map(of_chapter);
    let evidence = document
        .evidence()
        .first()
        .map(|first| entry(first.id, "Evidence"));
    let around = [
        ("faults", "Tester"),
        ("method", "Conformance"),
        ("facts", "Machine"),
        ("commands", "Reproduce"),
    ];
    let around = around.map(|(id, title)| entry(id, title));
    std::iter::once(entry("answer", "Answer"))
        .chain(results)
        .chain(evidence)
        .chain(around)
        .collect()
}

/// Returns the amount of data on which the page is based: tests, points with and without a result, and trials by verdict.
fn tally(digest: &Digest) -> String {
    format!(
        "{}; {}; {}: {} passed, {} {}, {} invalid",
        count(
            digest.input.plan.tests.len() as u64 + digest.input.facts.left_out().count() as u64,
            "test"
        ),
        status::counted(digest),
        count(digest.input.records.len() as u64, "trial"),
        digest.counted(Verdict::Passed),
        digest.counted(Verdict::Lost),
        digest.lost_word("lost frames"),
        digest.counted(Verdict::Invalid),
    )
}

/// Returns the sentences on what the numbers mean and what they do not.
fn notice(digest: &Digest) -> Vec<String> {
    let plan = digest.input.plan;
    let repetitions: std::collections::BTreeSet<String> = plan
        .tests
        .iter()
        .filter(|test| test.measure.family().has_load())
        .map(|t| repetitions(t.repetitions))
        .collect();
    let repetitions: Vec<String> = repetitions.into_iter().collect();
    let mut notice = vec![
        "Tester and devices share one machine and are joined by virtual links (veth) unless the layout below says otherwise: the \
         numbers rank these devices on this machine. They do not show the performance over a wire and must not be compared with \
         those of other machines."
            .to_owned(),
        format!(
            "A trial lasted {} (RFC 2544 section 24: at least 60 s){} and a measurement was made {} times (RFC 8219: at \
             least 20).{}",
            seconds(plan.trial.duration_ns),
            own_durations(plan),
            repetitions.join(" or "),
            if digest.has_queries_and_others().1 { " All frame rates are per direction." } else { "" },
        ),
    ];
    notice.extend(shared_searches(digest));
    notice
}

/// Returns a sentence about what was saved by searching for each throughput only once, or `None` if nothing was.
fn shared_searches(digest: &Digest) -> Option<String> {
    let saved = saved(digest.input.plan, digest.input.outcomes);
    (saved.points > 0).then(|| {
        format!(
            "Every throughput was searched for in one test only, and measurements at the throughput use the median of those \
             searches: for {}, this saved searches of {} in total, {} or more.",
            count(saved.points.into(), "point"),
            count(saved.trials.into(), "trial"),
            stretch(saved.time_ns / 1_000_000_000),
        )
    })
}

/// Returns the durations of measures that set their own: `, of latency 120 s`.
fn own_durations(plan: &Plan) -> String {
    let duration = |measure: &Measure| match measure.sending() {
        _ if !measure.family().has_load() => None,
        SendingTime::For(ns) => Some(ns),
        SendingTime::AsPlanned | SendingTime::AtMost(_) | SendingTime::UntilConnected => None,
    };
    let of = |t: &Test| {
        duration(&t.measure).map(|ns| format!(", of {} {}", t.measure.name(), seconds(ns)))
    };
    each_once(plan.tests.iter().filter_map(of)).concat()
}

/// Returns the planned repetitions: `20`, or `6 to 20`; the tables have the actual number.
fn repetitions(repetition: Repetition) -> String {
    match repetition {
        Repetition::Fixed(count) => count.to_string(),
        Repetition::Adaptive { least, most, .. } => format!("{least} to {most}"),
    }
}

/// Returns a sentence on what a conformant run would take; `None` if the plan has the profile `rfc` or the cost is unknown.
fn conformant_run(input: &Input) -> Option<String> {
    let budget = input
        .rfc_budget
        .filter(|_| input.plan.profile != Profile::Rfc)?;
    let (trials, time) = (
        count(budget.trials.into(), "trial"),
        stretch(budget.seconds),
    );
    Some(format!("The conformant run would need {trials}, {time}:"))
}
