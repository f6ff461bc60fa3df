//! The results directory. `trials.jsonl` is the truth: each line is on disk before the next trial starts.

use super::owner;
use crate::exit::Failed;
use anyhow::{Context, Result, bail};
use sixbench_method::plan::{Plan, Point};
use sixbench_method::record::{FORMAT, Facts, TrialRecord};
use sixbench_plan::resolved;
use sixbench_testbed::Recipe;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The subdirectory of a results directory with the recipes of the run.
pub(crate) const RECIPES: &str = "recipes";

/// The subdirectory of a results directory with the records of DNS queries.
const QUERIES: &str = "queries";

/// An open results directory.
pub(crate) struct Store {
    directory: PathBuf,
    trials: File,
}

/// The contents of a results directory.
pub(crate) struct Stored {
    pub(crate) plan: Plan,
    pub(crate) records: Vec<TrialRecord>,
    pub(crate) facts: Facts,
    pub(crate) commands: String,
    /// True if the last line was cut off when the run was killed.
    pub(crate) is_torn: bool,
}

impl Store {
    /// Makes a new directory for the results of `plan`; `source` is the plan file's text.
    pub(crate) fn create(directory: &Path, plan: &Plan, source: &str) -> Result<Self, Failed> {
        let name = directory.display();
        if directory.join("trials.jsonl").exists() {
            let text = format!("{name} already holds results; choose another directory, or go on with --resume {name}");
            return Err(Failed::usage(text));
        }
        let resolved = resolved::write(plan, source, RECIPES).context("cannot write the resolved plan")?;
        make_directory(directory).map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => Failed::from(cannot_write(directory, error)),
            _ => Failed::usage(format!("cannot create the results directory {name}: {error}; choose another with -o")),
        })?;
        write(directory, "plan.toml", source)?;
        write(directory, "resolved.toml", &resolved)?;
        Self::open(directory)
    }

    /// Opens an existing directory to go on; a torn last line is cut off.
    pub(crate) fn reopen(directory: &Path) -> Result<(Self, Stored), Failed> {
        // No other process may be writing when the torn line is removed.
        let store = Self::open(directory)?;
        let stored = load(directory)?;
        if stored.is_torn {
            let lines: Vec<String> = stored.records.iter().map(line).collect::<Result<_>>()?;
            let whole: usize = lines.iter().map(String::len).sum();
            store.trials.set_len(whole as u64).map_err(|error| cannot_write(&directory.join("trials.jsonl"), error))?;
        }
        Ok((store, stored))
    }

    fn open(directory: &Path) -> Result<Self, Failed> {
        let path = directory.join("trials.jsonl");
        let trials = OpenOptions::new().create(true).append(true).open(&path);
        let trials = trials.map_err(|error| cannot_write(&path, error))?;
        owner::give(&path).map_err(|error| cannot_write(&path, error))?;
        // Two writers would number the same trials; the lock goes with the file.
        if let Err(fs::TryLockError::WouldBlock) = trials.try_lock() {
            let text = format!("another sixbench is writing to {}; wait for it, or end it", directory.display());
            return Err(Failed::usage(text));
        }
        Ok(Self { directory: directory.to_owned(), trials })
    }

    /// Returns the path of the results directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps the recipes of the run beside its results: what a resumed run goes on with.
    pub(crate) fn keep_recipes<'r>(&self, recipes: impl Iterator<Item = &'r Recipe>) -> Result<()> {
        let directory = self.directory.join(RECIPES);
        make_directory(&directory).map_err(|error| cannot_write(&directory, error))?;
        for recipe in recipes {
            let files = recipe.to_files().with_context(|| format!("cannot write the recipe {}", recipe.name))?;
            files.iter().try_for_each(|(name, text)| write(&directory, name, text))?;
        }
        Ok(())
    }

    /// Puts a trial on disk, for good.
    pub(crate) fn append(&mut self, record: &TrialRecord) -> Result<()> {
        let text = line(record)?;
        let written = self.trials.write_all(text.as_bytes()).and_then(|()| self.trials.sync_data());
        written.map_err(|error| cannot_write(&self.directory.join("trials.jsonl"), error))
    }

    /// Returns the path for the record of every DNS query of a trial, and makes its directory.
    pub(crate) fn queries(&self, point: &Point, repetition: u32, trial: u32) -> Result<PathBuf> {
        let directory = self.directory.join(QUERIES);
        make_directory(&directory).map_err(|error| cannot_write(&directory, error))?;
        Ok(directory.join(format!("{}-r{repetition}-t{trial}.csv", point.test)))
    }

    /// Writes one of the other files.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        write(&self.directory, name, text)
    }

    /// Writes the facts.
    pub(crate) fn write_facts(&self, facts: &Facts) -> Result<()> {
        self.write("facts.json", &serde_json::to_string_pretty(facts)?)
    }
}

fn line(record: &TrialRecord) -> Result<String> {
    Ok(serde_json::to_string(record)? + "\n")
}

/// Writes through a temporary file, so that a reader never sees half of it.
pub(crate) fn write(directory: &Path, name: &str, text: &str) -> Result<()> {
    let path = directory.join(name);
    let temporary = directory.join(format!(".{name}.new"));
    let written = fs::write(&temporary, text).and_then(|()| owner::give(&temporary));
    let written = written.and_then(|()| fs::rename(&temporary, &path));
    written.map_err(|error| {
        // Half a file is of no use, and takes room on a disk that may be full.
        let _ = fs::remove_file(&temporary);
        cannot_write(&path, error)
    })
}

fn cannot_write(path: &Path, error: io::Error) -> anyhow::Error {
    let next = match error.kind() {
        io::ErrorKind::StorageFull => "; make room on that disk: trials that are whole stay, and the run can go on",
        _ => "",
    };
    anyhow::anyhow!("cannot write {}: {error}{next}", path.display())
}

/// Makes a directory and those above it, as those of the user who called sudo.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(directory)?;
    missing.into_iter().try_for_each(owner::give)
}

/// Reads the resolved plan of a results directory.
fn plan_in(directory: &Path) -> Result<Plan> {
    let path = directory.join("resolved.toml");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}; is this a results directory?", path.display()))?;
    resolved::plan_of(&text).map_err(|mistake| {
        let line = text[..mistake.span.start.min(text.len())].lines().count().max(1);
        let (path, title) = (path.display(), mistake.title);
        anyhow::anyhow!("{path} is not a plan of this version of sixbench: line {line}: {title}")
    })
}

/// Reads the plan file of an interrupted run. Only it says on which interfaces the run took place, so one that is gone, empty or changed is
/// refused: the run would go on somewhere else.
///
/// # Errors
/// No results directory, or a plan file that is not the one the run began with.
pub(crate) fn source_of(directory: &Path) -> Result<String, Failed> {
    let name = directory.display();
    let resolved = fs::read_to_string(directory.join("resolved.toml")).map_err(|error| {
        Failed::usage(format!("{name} is not the directory of an interrupted run: cannot read resolved.toml there: {error}"))
    })?;
    let new_run = format!("put it back as it was, or start a new run with {name}/resolved.toml");
    let source = fs::read_to_string(directory.join("plan.toml")).map_err(|error| {
        Failed::usage(format!("cannot read {name}/plan.toml, which says where the run took place: {error}; {new_run}"))
    })?;
    let is_same = match resolved::digest_in(&resolved) {
        Some(digest) => digest == resolved::digest(&source),
        // Of an earlier version, which kept none.
        None => !source.trim().is_empty(),
    };
    if !is_same {
        return Err(Failed::usage(format!("{name}/plan.toml is not what it was when the run began: {new_run}")));
    }
    Ok(source)
}

/// Reads a results directory.
pub(crate) fn load(directory: &Path) -> Result<Stored> {
    let read = |name: &str| {
        let path = directory.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}; is this a results directory?", path.display()))
    };
    let plan = plan_in(directory)?;
    let trials = directory.join("trials.jsonl");
    // A run that was killed before its first trial has none.
    let text = if trials.exists() { read("trials.jsonl")? } else { String::new() };
    let (records, is_torn) = records(&text).with_context(|| directory.join("trials.jsonl").display().to_string())?;
    // Facts and commands come late in a run that was killed early.
    let facts = read("facts.json").ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let commands = read("commands.sh").unwrap_or_default();
    Ok(Stored { plan, records, facts, commands, is_torn })
}

/// Returns the records of a file's lines, and whether the last line is torn. Only the last line may be torn, and only if its
/// end is missing.
fn records(text: &str) -> Result<(Vec<TrialRecord>, bool)> {
    let mut records = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            return Ok((records, true));
        }
        let record: TrialRecord = serde_json::from_str(line).with_context(|| format!("line {} is no trial", number + 1))?;
        if record.format > FORMAT {
            bail!("line {} has format {}; this sixbench reads up to {FORMAT}: use a newer one", number + 1, record.format);
        }
        records.push(record);
    }
    Ok((records, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::Point;
    use sixbench_method::terms::{Direction, FrameRate, FrameSize};
    use sixbench_method::trial::{DirectionResult, TrialResult, TrialSpec};

    fn record(trial: u32) -> TrialRecord {
        TrialRecord {
            format: FORMAT,
            point: Point { test: "t".to_owned(), frame_size: FrameSize(84) },
            repetition: 1,
            trial,
            load: None,
            started: "2026-01-01T00:00:00Z".to_owned(),
            result: TrialResult {
                spec: TrialSpec::constant(FrameRate(1000), 1_000_000_000),
                directions: vec![DirectionResult::counted(Direction::Forward, 1000, 1000)],
                connections: None,
                tcp: None,
                dns: None,
                faults: vec![],
            },
            watch: None,
        }
    }

    #[test]
    fn a_line_torn_by_a_kill_costs_one_trial_and_no_more() {
        let whole = line(&record(1)).expect("json") + &line(&record(2)).expect("json");
        let torn = &whole[..whole.len() - 20];
        assert_eq!(records(torn).expect("readable"), (vec![record(1)], true));
        assert_eq!(records(&whole).expect("readable"), (vec![record(1), record(2)], false));
    }

    #[test]
    fn a_broken_line_in_the_middle_is_an_error_that_names_it() {
        let text = format!("{}nonsense\n", line(&record(1)).expect("json"));
        let error = records(&text).expect_err("an error");
        assert_eq!(error.to_string(), "line 2 is no trial");
    }

    #[test]
    fn a_newer_format_is_refused() {
        let newer = TrialRecord { format: FORMAT + 1, ..record(1) };
        assert!(records(&line(&newer).expect("json")).is_err());
    }
}
