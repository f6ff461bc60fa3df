//! Follows a results directory that another process writes or has written, and reports its changes as the events of the run. Nothing is written
//! here.

use super::store::{self, ReadTrials, StoredRun};
use crate::error::RunError;
use crate::stop::rest;
use sixbench_io::files::Folder;
use sixbench_io::thread::give_way;
use sixbench_method::budget;
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
    stored: StoredRun,
    stop: &AtomicBool,
    listener: &mut dyn FnMut(&Event),
) -> Result<(), RunError> {
    // Lower our priority so that we never compete with the run. Failure is harmless, because following costs little.
    let _ = give_way(&[]);
    let StoredRun {
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
            let seen = match (is_running, is_new) {
                (true, true) => SeenRun::Started,
                (true, false) => SeenRun::Progressed,
                (false, _) => SeenRun::Ended,
            };
            let event = event(folder.path(), &plan, &facts.selection, &records, seen);
            listener(&event);
        }
        (told, was_running) = (records.len(), Some(is_running));
        if rest(stop, INTERVAL).is_err() {
            return Ok(());
        }
    }
}

/// A change of a run, as its directory shows it.
#[derive(Clone, Copy)]
enum SeenRun {
    /// It has begun, or it was under way when the directory was opened.
    Started,
    /// It has made further trials.
    Progressed,
    /// Nothing writes to the directory, or no more.
    Ended,
}

/// Returns the event of a change of the run.
fn event(
    directory: &Path,
    plan: &Plan,
    selection: &Selection,
    records: &[TrialRecord],
    seen: SeenRun,
) -> Event {
    let outcomes = replay::outcomes(plan, records);
    let mut forecast = Forecast::new(plan, selection);
    for outcome in &outcomes {
        forecast.finish(outcome);
    }
    let remaining_s = forecast.remaining_ns().div_ceil(1_000_000_000);
    let results = directory.display().to_string();
    match seen {
        SeenRun::Started => Event::RunStarted {
            plan: plan.name.clone(),
            results,
            measurements: budget::estimate(&selection.narrowed(plan)).measurements,
            estimate_s: remaining_s,
        },
        SeenRun::Progressed => Event::Progress {
            elapsed_s: elapsed_s(records),
            remaining_s,
        },
        SeenRun::Ended => Event::RunEnded {
            results,
            interrupted: !campaign::is_complete(plan, selection, &outcomes),
        },
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
