//! The passes over all vectors: each is sent once, and those without an answer once more.

use super::exchange::VectorExchange;
use super::load::{ClosesWindow, VectorLoad};
use super::tester::{ANSWER_NS, LATE_ANSWER_NS, VectorRecord, VectorTester};
use crate::driver::joined;
use crate::error::MeasureError;
use sixbench_conformance::judge::JudgedFrame;
use sixbench_conformance::notation::RequiredAnswer;
use sixbench_conformance::{Vector, VectorJudgement, VectorResult};
use sixbench_io::thread::give_up_privileges;
use sixbench_method::trial::TrialResult;
use std::sync::Arc;
use std::time::Duration;

/// The pause before a second attempt at what the device itself must answer. Linux sends one ICMP error to a destination each second, and a few at
/// once (icmp(7), `icmp_ratelimit`): a vector must not be judged by the limit that those before it have reached.
const PAUSE_NS: u64 = 1_000_000_000;
/// The number of second attempts with a pause: so many answers missing are not due to the limit.
const PAUSES: usize = 20;
/// The longest time for which an exchange waits that is run again though it is right, because of silence in it.
const LONGEST_WAIT_AGAIN: Duration = Duration::from_secs(1);

/// The number of attempts under load at a vector without an answer that has one quietly. At a loss of 1 in 10, all of them are lost once in 100,000.
const LOADED_ATTEMPTS: u32 = 5;

/// The reason of a vector that a stop came before.
const NOT_SENT: &str = "not sent, because a stop was requested";
/// The reason of a vector without an answer that a stop came after.
const NOT_SENT_AGAIN: &str =
    "sent once without an answer, and not again, because a stop was requested";

/// The outcomes of vectors, as far as they were sent.
pub struct VectorRun {
    /// The outcomes, in the order of the vectors. After a stop, those of vectors that were not sent, or not as often as silence requires, are unknown.
    pub records: Vec<VectorRecord>,
    /// True if a stop was requested before all were sent.
    pub is_interrupted: bool,
}

/// The outcomes of vectors that were sent while a load was on.
pub struct LoadedRun {
    /// The outcomes, in the order of the vectors.
    pub records: Vec<VectorRecord>,
    /// The trials of the load.
    pub trials: Vec<TrialResult>,
}

/// Told after each attempt at a vector: the number of attempts made, and that of all that are known to be made.
pub type VectorProgress = Box<dyn FnMut(usize, usize) + Send>;

/// The attempts of a tester, and who is told of them.
pub(super) struct AttemptCount {
    made: usize,
    known: usize,
    progress: VectorProgress,
}

impl AttemptCount {
    pub(super) fn told_to(progress: VectorProgress) -> Self {
        Self {
            made: 0,
            known: 0,
            progress,
        }
    }

    /// Notes that attempts are to be made.
    fn plan(&mut self, attempts: usize) {
        self.known += attempts;
    }

    /// Notes that an attempt was made.
    fn count(&mut self) {
        self.made += 1;
        (self.progress)(self.made, self.known);
    }
}

impl VectorTester {
    /// Sends every vector, and those without an answer once more. Their outcomes are in the order of the vectors. A stop ends it early, with what was
    /// found until then.
    ///
    /// # Errors
    /// The device does not answer neighbour requests, no control frame passes it, a port fails, or a stop was requested before the first vector.
    pub fn run(&mut self, vectors: &[&Vector]) -> Result<VectorRun, MeasureError> {
        self.find_device()?;
        let mut records = Vec::with_capacity(vectors.len());
        let is_interrupted = match self.ask_twice(vectors, &mut records) {
            Ok(()) => false,
            Err(MeasureError::Interrupted) => {
                self.leave_open(vectors, &mut records);
                true
            }
            Err(error) => return Err(error),
        };
        Ok(VectorRun {
            records,
            is_interrupted,
        })
    }

    /// Notes, after a stop, which outcomes are not known: silence that would have been asked once more, and all that was not sent.
    fn leave_open(&self, vectors: &[&Vector], records: &mut Vec<VectorRecord>) {
        for (vector, record) in vectors.iter().zip(&mut *records) {
            if record.attempts == 1 && self.is_worth_another(vector, &record.judgement) {
                record.leave_open();
            }
        }
        records.resize_with(vectors.len(), VectorRecord::not_sent);
    }

    /// Sends an exchange once to a device whose pool is small and empty. `earlier` is its first attempt, if this is the second. [`Self::run`] must have
    /// been called before, if only without vectors.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn run_in_small_pool(
        &mut self,
        vector: &Vector,
        number: u16,
        earlier: Option<&VectorRecord>,
    ) -> Result<VectorRecord, MeasureError> {
        let answer_ns = earlier.map_or(ANSWER_NS, |_| LATE_ANSWER_NS);
        self.is_pool_small = true;
        self.attempts.plan(1);
        let record = self.attempt(vector, number, answer_ns);
        self.attempts.count();
        self.is_pool_small = false;
        let before = earlier.map_or(0, |earlier| earlier.attempts);
        record.map(|record| VectorRecord {
            attempts: before + record.attempts,
            ..record
        })
    }

    /// Sends every vector once more while a load is on, after [`run`](Self::run) has sent them without. `quiet` is what was found then.
    ///
    /// Where the load makes a device lose frames, an answer may be among them. So a vector without an answer that had one quietly is sent again, up to
    /// [`LOADED_ATTEMPTS`] times, and what was found quietly counts if it comes at any of them. Where a control frame was lost at any of them, nothing is
    /// known. A frame that comes and is wrong needs no second one.
    ///
    /// The calling thread should have privileges, so that the threads of the load can take their cores and priority.
    ///
    /// # Errors
    /// A trial of the load could not be performed, a port fails, or a stop was requested.
    pub fn run_under_load(
        &mut self,
        vectors: &[&Vector],
        quiet: &[VectorRecord],
        load: &mut VectorLoad,
    ) -> Result<LoadedRun, MeasureError> {
        let window = Arc::new(load.window());
        self.clock = window.clock().clone();
        self.load = Some(window.clone());
        let (records, trials) = std::thread::scope(|scope| {
            // What a device sends is untrusted input. The threads of the load give their privileges up by themselves, once they have their priority.
            let asking = scope.spawn(|| {
                let _closes = ClosesWindow(&window);
                give_up_privileges()?;
                self.ask_under_load(vectors, quiet)
            });
            let trials = load.keep_running(&window);
            (joined(asking.join()), trials)
        });
        self.load = None;
        // Where the load has failed, the vectors were interrupted for that reason.
        let trials = trials?;
        Ok(LoadedRun {
            records: records?,
            trials,
        })
    }

    fn ask_under_load(
        &mut self,
        vectors: &[&Vector],
        quiet: &[VectorRecord],
    ) -> Result<Vec<VectorRecord>, MeasureError> {
        let mut records = Vec::with_capacity(vectors.len());
        self.ask_twice(vectors, &mut records)?;
        let all = vectors.iter().zip(0..).zip(quiet).zip(&mut records);
        for (((vector, number), quiet), record) in all {
            while record.attempts < LOADED_ATTEMPTS && is_open(record, quiet) {
                self.attempts.plan(1);
                let again = self.attempt(vector, number, LATE_ANSWER_NS)?;
                record.add(again, quiet);
                self.attempts.count();
            }
        }
        Ok(records)
    }

    /// Sends every vector, and those without an answer once more. An error leaves the outcomes until then.
    fn ask_twice(
        &mut self,
        vectors: &[&Vector],
        records: &mut Vec<VectorRecord>,
    ) -> Result<(), MeasureError> {
        self.attempts.plan(vectors.len());
        for (vector, number) in vectors.iter().zip(0..) {
            records.push(self.attempt(vector, number, ANSWER_NS)?);
            self.attempts.count();
        }
        self.ask_again(vectors, records)
    }

    /// Makes a second attempt at the vectors of which it may say otherwise.
    fn ask_again(
        &mut self,
        vectors: &[&Vector],
        records: &mut [VectorRecord],
    ) -> Result<(), MeasureError> {
        let judged = vectors.iter().zip(&*records);
        let is_open: Vec<bool> = judged
            .map(|(vector, record)| self.is_worth_another(vector, &record.judgement))
            .collect();
        let open = is_open.iter().filter(|is_open| **is_open);
        self.attempts.plan(open.count());
        let mut pauses = 0;
        let all = vectors.iter().zip(0..).zip(records).zip(is_open);
        for (((vector, number), record), _) in all.filter(|(_, is_open)| *is_open) {
            if is_answered_by_device(vector) && pauses < PAUSES {
                pauses += 1;
                self.wait(&mut VectorExchange::new(number), PAUSE_NS, |_| false)?;
            }
            let again = self.attempt(vector, number, LATE_ANSWER_NS)?;
            *record = VectorRecord {
                attempts: record.attempts + 1,
                ..again
            };
            self.attempts.count();
        }
        Ok(())
    }

    /// Returns true if another attempt may say otherwise.
    pub fn is_worth_another(&self, vector: &Vector, judgement: &VectorJudgement) -> bool {
        let waits = self.timers.waits_of(vector).unwrap_or_default();
        let is_met = matches!(
            judgement.result,
            VectorResult::Right | VectorResult::Allowed
        );
        is_silent(judgement) && !(is_met && waits > LONGEST_WAIT_AGAIN)
    }
}

impl VectorRecord {
    /// Returns the outcome of a vector that a stop came before.
    pub fn not_sent() -> Self {
        Self {
            judgement: VectorJudgement::unknown(&NOT_SENT),
            capture: Vec::new(),
            attempts: 0,
        }
    }

    /// Notes that a stop came before the second attempt: of silence, nothing is known.
    pub fn leave_open(&mut self) {
        self.judgement.result = VectorResult::Unknown;
        self.judgement.reason = Some(NOT_SENT_AGAIN.to_owned());
    }

    /// Adds an attempt under load to those before it. Where one of them is unknown, so is silence.
    fn add(&mut self, again: Self, quiet: &Self) {
        let attempts = self.attempts + 1;
        let is_unknown = self.judgement.result == VectorResult::Unknown;
        if !is_unknown || !is_open(&again, quiet) {
            *self = again;
        }
        self.attempts = attempts;
    }
}

/// Returns true if a vector found something else under load than quietly, and for lack of frames, which chance may have lost.
fn is_open(loaded: &VectorRecord, quiet: &VectorRecord) -> bool {
    loaded.judgement.result != quiet.judgement.result && is_silent(&loaded.judgement)
}

/// Returns true if nothing came, or so little that more may have been lost: another attempt may say otherwise.
pub(super) fn is_silent(judgement: &VectorJudgement) -> bool {
    let is_asked = judgement.result != VectorResult::NotApplicable || !judgement.steps.is_empty();
    let in_steps = judgement.steps.iter().map(|step| &step.frames);
    is_asked
        && in_steps
            .chain([&judgement.frames])
            .any(|frames| lacks_frames(frames))
}

/// Returns true if no frame came, or not every expected one.
fn lacks_frames(frames: &[JudgedFrame]) -> bool {
    frames.is_empty() || frames.iter().any(|frame| frame.came.is_none())
}

/// Returns true if a frame is required on the side from which the vector is sent: only the device itself can have written it.
fn is_answered_by_device(vector: &Vector) -> bool {
    match &vector.expect {
        RequiredAnswer::Nothing => false,
        RequiredAnswer::Frames(frames) => frames.iter().any(|frame| {
            vector
                .send
                .first()
                .is_some_and(|sent| sent.side == frame.side)
        }),
    }
}
