//! Merges the results of runs that measured parts of one plan into one directory.

use super::differences::machine_differences;
use super::merged_store::MergedStore;
use super::store::{self, RECIPES, StoreError, StoredRun};
use crate::error::RunError;
use crate::error::merge::MergeError;
use serde_json::Value;
use sixbench_io::files::Folder;
use sixbench_method::lists::each_once;
use sixbench_method::plan::{MeasurementKey, Plan, Point, Selection, Test};
use sixbench_method::record::Warning;
use sixbench_method::record::{DutFacts, Facts, RepetitionHosts, TrialRecord};
use sixbench_method::text::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A results directory that is merged with others.
struct ResultsPart {
    directory: PathBuf,
    folder: Folder,
    stored: StoredRun,
    /// Keeps runs from writing to the directory. `None` if the file system does not support locks.
    _lock: Option<File>,
}

/// Merges results directories into a new one: records, facts, recipes, commands and records of queries. The caller has to write the report.
///
/// # Errors
/// The directories have different plans, a repetition twice, or a writer, or cannot be read or written.
pub fn merge(directories: &[PathBuf], output: &Path) -> Result<(), RunError> {
    // No run resumes one of them meanwhile.
    let parts = directories
        .iter()
        .map(|directory| part(directory))
        .collect::<Result<Vec<ResultsPart>, RunError>>()?;
    let plan = plan_of(&parts)?;
    check_unique(&parts)?;
    check_recipes(&parts)?;
    let source = store::source_of(&parts[0].folder)?;
    let mut merged = MergedStore::create(output, &plan, &source)?;
    let store = merged.store();
    for part in &parts {
        [RECIPES, store::QUERIES]
            .into_iter()
            .try_for_each(|name| copy_files(&part.folder, store.folder(), name))?;
    }
    let mut records: Vec<&TrialRecord> =
        parts.iter().flat_map(|part| &part.stored.records).collect();
    records.sort_by(|a, b| a.started.cmp(&b.started));
    store.append_all(&records)?;
    // In one line, whatever the name of the directory is: the file may be run.
    let name = |part: &ResultsPart| visible(&part.directory.to_string_lossy()).into_owned();
    let commands: Vec<String> = parts
        .iter()
        .map(|part| format!("# {}\n{}", name(part), part.stored.commands))
        .collect();
    store.write("commands.sh", &commands.join("\n"))?;
    store.write_facts(&facts_of(&plan, &parts))?;
    Ok(merged.finish()?)
}

fn part(directory: &Path) -> Result<ResultsPart, RunError> {
    let folder = store::folder(directory)?;
    let lock = store::lock_to_read(&folder).ok_or_else(|| MergeError::still_written(directory))?;
    let stored = store::load_from(&folder)?;
    if stored.facts.runs.is_empty() {
        return Err(StoreError::NoTrial(directory.to_owned()).into());
    }
    Ok(ResultsPart {
        directory: directory.to_owned(),
        folder,
        stored,
        _lock: lock,
    })
}

/// Returns the plan of all parts: the one that left out the fewest tests, because a device missing on one machine may be on another.
fn plan_of(parts: &[ResultsPart]) -> Result<Plan, MergeError> {
    let whole = parts
        .iter()
        .max_by_key(|part| part.stored.plan.tests.len())
        .expect("at least one directory");
    let different = |part: &ResultsPart, what: &str| {
        let (a, b) = (whole.directory.clone(), part.directory.clone());
        MergeError::DifferentPlans {
            a,
            b,
            what: what.to_owned(),
        }
    };
    let plan = &whole.stored.plan;
    for part in parts {
        let other = &part.stored.plan;
        if let Some(test) = other
            .tests
            .iter()
            .find(|test| plan.test(&test.name) != Some(*test))
        {
            return Err(different(
                part,
                &format!("test {} differs, or only one has it", test.name),
            ));
        }
        let is_left_out = |test: &&Test| {
            part.stored
                .facts
                .left_out()
                .any(|left_out| left_out.name == test.name)
        };
        let is_missing = |test: &&Test| other.test(&test.name).is_none() && !is_left_out(test);
        if let Some(test) = plan.tests.iter().find(is_missing) {
            return Err(different(
                part,
                &format!("only one has the test {}", test.name),
            ));
        }
        // Link rates are properties of a machine.
        let bare = |plan: &Plan| Plan {
            tests: Vec::new(),
            link_rate: None,
            ..plan.clone()
        };
        if bare(other) != bare(plan) {
            return Err(different(part, "profile, seed, [trial] or [search] differ"));
        }
    }
    Ok(plan.clone())
}

fn check_unique(parts: &[ResultsPart]) -> Result<(), MergeError> {
    let mut owners: BTreeMap<(Point, u32), usize> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        for (point, repetition) in part
            .stored
            .records
            .iter()
            .map(|record| (&record.point, record.repetition))
        {
            let owner = *owners.entry((point.clone(), repetition)).or_insert(index);
            if owner != index {
                let key = MeasurementKey {
                    point: point.clone(),
                    repetition: Some(repetition),
                };
                return Err(MergeError::Twice {
                    a: parts[owner].directory.clone(),
                    b: part.directory.clone(),
                    key,
                });
            }
        }
    }
    Ok(())
}

fn check_recipes(parts: &[ResultsPart]) -> Result<(), MergeError> {
    let mut seen: BTreeMap<String, (&Path, Vec<u8>)> = BTreeMap::new();
    for part in parts {
        let Some(folder) = below(&part.folder, RECIPES)? else {
            continue;
        };
        for name in folder
            .files()
            .map_err(MergeError::copying(&folder, RECIPES))?
        {
            let octets = folder
                .octets(&name)
                .map_err(MergeError::copying(&folder, RECIPES))?;
            let name = name.to_string_lossy().into_owned();
            let (owner, first) = seen
                .entry(name.clone())
                .or_insert_with(|| (&part.directory, octets.clone()));
            if *first != octets {
                let (a, b) = (owner.to_owned(), part.directory.clone());
                return Err(MergeError::DifferentRecipes { a, b, recipe: name });
            }
        }
    }
    Ok(())
}

/// Opens a folder of a results directory; `None` if it has none.
fn below(folder: &Folder, name: &str) -> Result<Option<Folder>, MergeError> {
    match folder.folder(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some).map_err(MergeError::copying(folder, name)),
    }
}

/// Copies the files in a folder of a results directory, but not symlinks: the directory may be untrusted.
fn copy_files(from: &Folder, to: &Folder, name: &str) -> Result<(), RunError> {
    let Some(folder) = below(from, name)? else {
        return Ok(());
    };
    let failed = MergeError::copying(&folder, name);
    for file in folder.files().map_err(&failed)? {
        let mut source = folder.read(&file).map_err(&failed)?;
        let copy = format!("{name}/{}", file.to_string_lossy());
        store::write_with(to, &copy, |copy| io::copy(&mut source, copy).map(drop))?;
    }
    Ok(())
}

fn facts_of(plan: &Plan, parts: &[ResultsPart]) -> Facts {
    let all: Vec<&Facts> = parts.iter().map(|part| &part.stored.facts).collect();
    let mut facts = Facts {
        selection: selection_of(plan, &all),
        measured_on: hosts_of(parts),
        ..all[0].clone()
    };
    facts.runs = all.iter().flat_map(|facts| facts.runs.clone()).collect();
    facts.runs.sort_by(|a, b| a.started.cmp(&b.started));
    for other in &all[1..] {
        facts.labels.extend(other.labels.clone());
        facts.disturbers.extend(other.disturbers.clone());
        facts.code = each_once(facts.code.drain(..).chain(other.code.iter().cloned()));
        for (name, dut) in &other.duts {
            unite(facts.duts.entry(name.clone()).or_default(), dut);
        }
        add_new(&mut facts.warnings, &other.warnings);
        add_new(&mut facts.code, &other.code);
        facts.not_run.extend(other.not_run.clone());
    }
    // Tests that one machine left out may have been measured on another.
    facts
        .not_run
        .retain(|skipped| plan.test(&skipped.test).is_none());
    facts.not_run.dedup_by(|a, b| a.test == b.test);
    let mut warnings = warnings_of(&facts, &all);
    warnings.append(&mut facts.warnings);
    Facts { warnings, ..facts }
}

/// Returns everything that the runs selected: the whole plan if together they cover it, or one selected it.
fn selection_of(plan: &Plan, all: &[&Facts]) -> Selection {
    if all.iter().any(|facts| facts.selection.is_all()) {
        return Selection::default();
    }
    let selection: Selection = all
        .iter()
        .flat_map(|facts| facts.selection.keys().cloned())
        .collect();
    let is_whole = |test: &Test| {
        test.points()
            .all(|point| selection.repetitions(test, &point) == test.repetitions.most())
    };
    if plan.tests.iter().all(is_whole) {
        Selection::default()
    } else {
        selection
    }
}

/// Returns the repetitions that each host measured. A repetition resumed on another host counts for both.
fn hosts_of(parts: &[ResultsPart]) -> BTreeMap<String, Selection> {
    let mut hosts: BTreeMap<String, BTreeSet<MeasurementKey>> = BTreeMap::new();
    for part in parts {
        for (point, repetition, names) in
            RepetitionHosts::new(&part.stored.facts, &part.stored.records).iter()
        {
            let key = MeasurementKey {
                point: point.clone(),
                repetition: Some(repetition),
            };
            for name in names {
                hosts
                    .entry((*name).to_owned())
                    .or_default()
                    .insert(key.clone());
            }
        }
    }
    hosts
        .into_iter()
        .map(|(host, keys)| (host, keys.into_iter().collect()))
        .collect()
}

/// Adds the items that are not yet there.
fn add_new<T: Clone + PartialEq>(all: &mut Vec<T>, others: &[T]) {
    let new: Vec<T> = others
        .iter()
        .filter(|other| !all.contains(other))
        .cloned()
        .collect();
    all.extend(new);
}

/// Adds the facts that another run recorded about the same device.
fn unite(dut: &mut DutFacts, other: &DutFacts) {
    if dut.title.is_empty() {
        *dut = other.clone();
        return;
    }
    add_new(&mut dut.layout, &other.layout);
    dut.certificates.extend(other.certificates.iter().cloned());
}

/// Returns warnings about how the runs' machines and devices differ, the most serious first.
fn warnings_of(facts: &Facts, all: &[&Facts]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let hosts: Vec<String> = facts.measured_on.keys().cloned().collect();
    let different = differing(all);
    if hosts.len() > 1 && !different.is_empty() {
        warnings.push(Warning::HostsDiffer {
            hosts,
            facts: different,
        });
    }
    for name in facts.duts.keys() {
        let of_parts = all
            .iter()
            .filter_map(|facts| facts.duts.get(name))
            .map(|dut| &dut.version);
        if let Some(versions) = several(of_parts) {
            warnings.push(Warning::DutVersionsDiffer {
                dut: name.clone(),
                versions,
            });
        }
    }
    if let Some(versions) = several(all.iter().map(|facts| &facts.sixbench)) {
        warnings.push(Warning::SixbenchVersionsDiffer { versions });
    }
    warnings
}

/// Returns the different values in their order; `None` if all are the same.
fn several<'v>(values: impl Iterator<Item = &'v String>) -> Option<Vec<String>> {
    let different: BTreeSet<&String> = values.collect();
    (different.len() > 1).then(|| different.into_iter().cloned().collect())
}

/// Returns the names of the machine facts that differ between a run and the first one.
fn differing(all: &[&Facts]) -> Vec<String> {
    let values: Vec<Value> = all
        .iter()
        .map(|facts| serde_json::to_value(facts).unwrap_or_default())
        .collect();
    let names = values[1..]
        .iter()
        .flat_map(|other| machine_differences(&values[0], other))
        .map(|(name, _, _)| name);
    names.collect::<BTreeSet<String>>().into_iter().collect()
}
