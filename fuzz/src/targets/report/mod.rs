//! The report of a run whose files were modified: any number, text or list in its plan, its records and its facts may be a different one, as long
//! as the files can still be parsed. Every such run must have a report.

use crate::input::Input;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_report::{Document, Input as ReportInput};
use sixbench_runner::perform_with;
use std::sync::LazyLock;

const PLAN: &str = include_str!("plan.toml");
const FACTS: &str = include_str!("facts.json");

/// A run as it was recorded.
pub(super) struct SampleRun {
    pub(super) plan: Plan,
    /// The files of the run, followed by those of runs of just one of its tests each, whose reports take a fraction of the time.
    documents: Vec<Documents>,
}

/// A file of a run, or a line of one: as JSON, and in parsed form.
struct Written<T> {
    json: Value,
    read: T,
}

impl<T: Serialize + DeserializeOwned> Written<T> {
    fn of(value: &T) -> Self {
        let json = serde_json::to_value(value).expect("JSON");
        Self {
            read: T::deserialize(&json).expect("what was written"),
            json,
        }
    }
}

/// The files of a run.
struct Documents {
    plan: Written<Plan>,
    facts: Written<Facts>,
    records: Vec<Written<TrialRecord>>,
}

/// The files of a run with changes.
struct Changed<'s> {
    plan: ChangedFile<'s, Plan>,
    facts: ChangedFile<'s, Facts>,
    records: Vec<ChangedFile<'s, TrialRecord>>,
}

impl<'s> Changed<'s> {
    fn of(documents: &'s Documents) -> Self {
        let records = documents.records.iter().map(ChangedFile::of).collect();
        Self {
            plan: ChangedFile::of(&documents.plan),
            facts: ChangedFile::of(&documents.facts),
            records,
        }
    }
}

/// A file and its changes: only a changed file is copied and parsed again.
#[derive(Clone)]
struct ChangedFile<'s, T> {
    of: &'s Written<T>,
    changed: Option<Value>,
}

impl<'s, T: Clone + DeserializeOwned> ChangedFile<'s, T> {
    fn of(of: &'s Written<T>) -> Self {
        Self { of, changed: None }
    }

    fn json(&mut self) -> &mut Value {
        self.changed.get_or_insert_with(|| self.of.json.clone())
    }

    fn read(self) -> serde_json::Result<T> {
        self.changed
            .map_or_else(|| Ok(self.of.read.clone()), serde_json::from_value)
    }
}

static SAMPLE: LazyLock<SampleRun> = LazyLock::new(make);

/// Returns the sample run, which is created once.
pub(super) fn sample() -> &'static SampleRun {
    &SAMPLE
}

fn make() -> SampleRun {
    let plan = sixbench_plan::load(PLAN, &super::plan::LIBRARY);
    let plan = plan
        .unwrap_or_else(|mistakes| {
            panic!("{}", sixbench_plan::render("plan", PLAN, &mistakes, false))
        })
        .plan;
    let of_one = |test: &Test| {
        perform(&Plan {
            tests: vec![test.clone()],
            ..plan.clone()
        })
    };
    let documents = std::iter::once(perform(&plan))
        .chain(plan.tests.iter().map(of_one))
        .collect();
    SampleRun { plan, documents }
}

fn perform(plan: &Plan) -> Documents {
    let mut device = SimulatedDut::new(Behaviour::HardLimit, FrameRate(3_000), plan.seed);
    let Ok(records) = perform_with(plan, &mut device, &mut |_| ());
    let facts: Facts = serde_json::from_str(FACTS).expect("facts");
    Documents {
        plan: Written::of(plan),
        facts: Written::of(&facts),
        records: records.iter().map(Written::of).collect(),
    }
}

/// The first octet selects the run, the second one the output; changes follow, each with its position.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    let runs = &sample().documents;
    let mut documents = Changed::of(&runs[input.below(runs.len())]);
    let what = input.octet();
    while !input.0.is_empty() && !documents.records.is_empty() {
        change(&mut documents, &mut input);
    }
    let Changed {
        plan,
        facts,
        records,
    } = documents;
    // Refuses numbers that no trial has, like the parser of `trials.jsonl`.
    let record = |record: ChangedFile<'_, TrialRecord>| {
        record
            .read()
            .ok()
            .filter(|record| record.first_outside().is_none())
    };
    let records: Option<Vec<TrialRecord>> = records.into_iter().map(record).collect();
    if let (Ok(plan), Ok(facts), Some(records)) = (plan.read(), facts.read(), records) {
        write(what, &plan, &facts, &records);
    }
}

fn change(documents: &mut Changed<'_>, input: &mut Input<'_>) {
    let count = documents.records.len();
    let nth = input.below(count);
    match input.octet() % 8 {
        0 => change_value(documents.plan.json(), input),
        1 => change_value(documents.facts.json(), input),
        2 => drop(documents.records.remove(nth)),
        3 => documents.records.push(documents.records[nth].clone()),
        4 => documents.records.truncate(nth),
        _ => change_value(documents.records[nth].json(), input),
    }
}

fn change_value(document: &mut Value, input: &mut Input<'_>) {
    let mut left = input.below(leaves(document).max(1));
    if let Some(leaf) = leaf(document, &mut left) {
        *leaf = value(leaf, input);
    }
}

/// Returns whether a value has no other values in it.
fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => true,
    }
}

/// Returns the number of values in a document that have no other values in them.
fn leaves(value: &Value) -> usize {
    match value {
        _ if is_leaf(value) => 1,
        Value::Array(items) => items.iter().map(leaves).sum(),
        Value::Object(fields) => fields.values().map(leaves).sum(),
        _ => 1,
    }
}

/// Returns the leaf with this number.
fn leaf<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if is_leaf(value) {
        let is_it = *left == 0;
        *left = left.saturating_sub(1);
        return is_it.then_some(value);
    }
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| leaf(item, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| leaf(field, left)),
        _ => None,
    }
}

/// Returns a different value to replace this one, usually of the same kind.
fn value(old: &Value, input: &mut Input<'_>) -> Value {
    const NUMBERS: [u64; 12] = [
        0,
        1,
        2,
        3,
        100,
        65_535,
        1 << 31,
        u32::MAX as u64,
        1 << 53,
        i64::MAX as u64,
        u64::MAX - 1,
        u64::MAX,
    ];
    const FLOATS: [f64; 8] = [0.0, -1.0, 0.5, 1.5, 1e-300, 1e300, -1e300, 1e19];
    let how = input.octet();
    match old {
        Value::Number(number) if number.is_u64() && how & 1 == 0 => {
            NUMBERS[usize::from(how >> 1) % NUMBERS.len()].into()
        }
        Value::Number(number) if number.is_u64() => input.u64().into(),
        Value::Number(_) => FLOATS[usize::from(how) % FLOATS.len()].into(),
        Value::String(_) => String::from_utf8_lossy(input.piece()).into(),
        Value::Bool(is_so) => (!is_so).into(),
        _ => Value::Null,
    }
}

/// The files of a report; the last one stands for the figures.
const FILES: [&str; 13] = [
    "report.html",
    "results.csv",
    "points.csv",
    "results-values.csv",
    "results-scaling.csv",
    "results.tex",
    "results.md",
    "methods.tex",
    "results.json",
    "junit.xml",
    "bencher.json",
    "benchmark-bigger.json",
    "figures",
];

fn write(what: u8, plan: &Plan, facts: &Facts, records: &[TrialRecord]) {
    let outcomes = replay::outcomes(plan, records);
    let input = ReportInput {
        plan,
        records,
        outcomes: &outcomes,
        facts,
        commands: "",
        generated: "today",
        interrupted: what & 1 != 0,
        rfc_budget: None,
    };
    // Records in a newer format are refused.
    let Ok(document) = Document::new(&input) else {
        return;
    };
    if what & 0x80 != 0 {
        assert!(!document.terminal(100, false).is_empty());
        return;
    }
    match FILES[usize::from(what >> 1 & 0x3f) % FILES.len()] {
        "figures" => assert!(
            document
                .figures()
                .all(|(name, text)| !name.is_empty() && text.contains("<svg"))
        ),
        name => assert_eq!(
            document
                .file(name)
                .map(drop)
                .map_err(|error| error.to_string()),
            Ok(()),
            "{name}"
        ),
    }
}
