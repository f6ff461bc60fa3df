//! Follows a results directory that another process writes or has written, and reports its changes as the events of the run. Nothing is written
//! here.

use super::store::{self, ReadTrials, Stored};
use crate::error::RunError;
use crate::stop::rest;
use sixbench_io::files::Folder;
use sixbench_io::thread::give_way;
use sixbench_method::campaign;
use sixbench_method::event::Event;
use sixbench_method::forecast::Forecast;
use sixbench_method::plan::{Plan, Selection};
use sixbench_method::record::TrialRecord;
use sixbench_method::replay;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The time between two checks of the directory.
const INTERVAL: Duration = Duration::from_millis(500);

/// Follows a directory until a stop is requested. `listener` receives the trials after those of `stored`, and events when a run starts, ends, is
/// killed or is resumed.
///
/// # Errors
/// The records cannot be read any more.
pub fn follow(
    folder: &Folder,
    stored: Stored,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(&Event),
) -> Result<(), RunError> {
    // Lower our priority so that we never compete with the run. Failure is harmless, because following costs little.
    let _ = give_way(&[]);
    let Stored {
        plan,
        records,
        facts,
        ..
    } = stored;
    let mut told = records.len();
    let (mut records, mut read) = (Vec::new(), ReadTrials::default());
    let mut was_running = None;
    loop {
        // Asked before the records are read: a run writes its last one before it ends.
        let is_running = store::is_in_use(folder);
        records.extend(store::new_records(folder, &mut read)?);
        replay::events(&plan, &records, told)
            .iter()
            .for_each(&mut *listener);
        let is_new = was_running != Some(is_running);
        if is_new || told < records.len() {
            state(
                folder.path(),
                (&plan, &facts.selection),
                &records,
                (is_running, is_new),
            )
            .iter()
            .for_each(&mut *listener);
        }
        (told, was_running) = (records.len(), Some(is_running));
        if rest(stop, INTERVAL).is_err() {
            return Ok(());
        }
    }
}

/// Returns the events that describe the progress of the run.
fn state(
    directory: &Path,
    (plan, selection): (&Plan, &Selection),
    records: &[TrialRecord],
    (is_running, is_new): (bool, bool),
) -> Vec<Event> {
    let outcomes = replay::outcomes(plan, records);
    let mut forecast = Forecast::new(plan, selection);
    for outcome in &outcomes {
        forecast.finish(outcome);
    }
    let remaining_s = forecast.remaining_ns().div_ceil(1_000_000_000);
    let results = directory.display().to_string();
    match (is_running, is_new) {
        (true, true) => {
            let measurements =
                sixbench_method::budget::estimate(&selection.narrowed(plan)).measurements;
            vec![Event::RunStarted {
                plan: plan.name.clone(),
                results,
                measurements,
                estimate_s: remaining_s,
            }]
        }
        (true, false) => vec![Event::Progress {
            elapsed_s: elapsed_s(records),
            remaining_s,
        }],
        (false, _) => vec![Event::RunEnded {
            results,
            interrupted: !campaign::is_complete(plan, selection, &outcomes),
        }],
    }
}

/// Returns the time from the first trial to the end of the last one, in seconds. The clock of this machine now may not be that of the run.
fn elapsed_s(records: &[TrialRecord]) -> u64 {
    let started = |record: &TrialRecord| record.started.parse::<jiff::Timestamp>().ok();
    let ends = records
        .first()
        .and_then(started)
        .zip(records.last().and_then(started));
    let before = ends.map_or(0, |(first, last)| {
        last.duration_since(first).as_secs().max(0) as u64
    });
    before
        + records
            .last()
            .map_or(0, |record| record.result.spec.duration_ns / 1_000_000_000)
}
