//! The procedure: batches of malformed frames until all are sent or the device crashes; then the fewest frames that still make it crash.

use super::coverage::FrameCoverage;
use super::grammar::{DrawnFrame, FrameGrammar, MalformedFrame};
use super::memory::{DeviceMemory, MemoryCourse};
use super::reduce::Reduction;
use super::result::{CrashRecord, CrashSign, KeptFrame, ProbeOutcome};

/// The number of frames between two looks at the device.
const BATCH: usize = 32;
/// The number of batches between two looks at the log of the device's kernel: in a virtual machine, a look takes longer than a batch. Nothing is missed in
/// between, because the log keeps its lines.
const BATCHES_TO_LOG: u64 = 8;
/// The most frames that are sent once more after a crash: the last ones before it.
const LONGEST_REPLAY: usize = 1 << 14;
/// The most times that frames are sent once more to find the fewest.
const ATTEMPTS: usize = 150;

/// A device to which malformed frames are sent, with the tester on its links.
pub trait RobustnessTarget {
    /// The reason why nothing can be said of it.
    type Error;

    /// Brings the device up, in place of the one that was up before.
    ///
    /// # Errors
    /// It does not come up, or no control frame passes.
    fn bring_up(&mut self) -> Result<(), Self::Error>;

    /// Sends frames in their order, then control frames, and looks at the device. At its kernel's log it looks only where control frames are lost.
    ///
    /// # Errors
    /// The tester fails, or a stop was requested.
    fn send(&mut self, frames: &[MalformedFrame]) -> Result<BatchOutcome, Self::Error>;

    /// Learns that a crash was seen after so many frames: to find the fewest that make it may take many minutes.
    fn crash_seen(&mut self, sign: &CrashSign, after: u64);

    /// Returns the memory of the device, if it can be seen.
    fn memory(&mut self) -> Option<DeviceMemory>;

    /// Returns the sign of a crash in what is new in the log of its kernel, if there is one.
    ///
    /// # Errors
    /// The log cannot be read any more, or a stop was requested.
    fn read_kernel_log(&mut self) -> Result<Option<CrashSign>, Self::Error>;

    /// Returns true if there is a kernel log to read.
    fn has_kernel_log(&self) -> bool;
}

/// The result of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    /// The number of frames that came, without the control frames.
    pub came: u64,
    /// The sign of a crash, if there is one.
    pub crash: Option<CrashSign>,
}

/// Sends the first `wanted` frames of a grammar to a device. A crash ends it, after the fewest frames have been found that still make it.
///
/// # Errors
/// Those of the device and the tester.
pub fn probe<T: RobustnessTarget>(
    target: &mut T,
    grammar: &FrameGrammar<'_>,
    wanted: u64,
) -> Result<ProbeOutcome, T::Error> {
    target.bring_up()?;
    let mut outcome = ProbeOutcome::new(Some(grammar.seed()), wanted, target);
    let before = target.memory();
    let mut half = None;
    while outcome.sent < wanted {
        let end = wanted.min(outcome.sent + BATCH as u64);
        let drawn: Vec<DrawnFrame> = (outcome.sent..end).map(|at| grammar.draw(at)).collect();
        for drawn in &drawn {
            outcome.coverage.add(drawn.kind);
        }
        let frames: Vec<MalformedFrame> = drawn.into_iter().map(|drawn| drawn.frame).collect();
        let is_last = end == wanted;
        if let Some(sign) = outcome.send(target, &frames, is_last)? {
            target.crash_seen(&sign, outcome.sent);
            outcome.crash = Some(reduced(target, grammar, sign, outcome.sent)?);
            return Ok(outcome);
        }
        if half.is_none() && outcome.sent * 2 >= wanted {
            half = target.memory();
        }
    }
    let course = before.zip(half).zip(target.memory());
    outcome.memory = course.map(|((before, half), after)| MemoryCourse::new([before, half, after]));
    Ok(outcome)
}

/// Sends frames that made a device crash once more, to a device that was brought up anew.
///
/// # Errors
/// Those of the device and the tester.
pub fn replay<T: RobustnessTarget>(
    target: &mut T,
    frames: &[MalformedFrame],
) -> Result<ProbeOutcome, T::Error> {
    target.bring_up()?;
    let mut outcome = ProbeOutcome::new(None, frames.len() as u64, target);
    for batch in frames.chunks(BATCH) {
        let is_last = outcome.sent + batch.len() as u64 == outcome.wanted;
        if let Some(sign) = outcome.send(target, batch, is_last)? {
            outcome.crash = Some(CrashRecord {
                sign,
                after: outcome.sent,
                is_repeatable: true,
                attempts: 1,
                is_minimal: false,
                frames: frames.iter().map(KeptFrame::from).collect(),
            });
            break;
        }
    }
    Ok(outcome)
}

impl ProbeOutcome {
    fn new<T: RobustnessTarget>(seed: Option<u64>, wanted: u64, target: &T) -> Self {
        Self {
            seed,
            wanted,
            sent: 0,
            batches: 0,
            came: 0,
            has_kernel_log: target.has_kernel_log(),
            coverage: FrameCoverage::default(),
            memory: None,
            crash: None,
        }
    }

    /// Sends a batch, notes what came of it, and returns the sign of a crash. The log of the kernel is read after some batches, and after the last one.
    fn send<T: RobustnessTarget>(
        &mut self,
        target: &mut T,
        frames: &[MalformedFrame],
        is_last: bool,
    ) -> Result<Option<CrashSign>, T::Error> {
        let batch = target.send(frames)?;
        self.sent += frames.len() as u64;
        self.batches += 1;
        self.came += batch.came;
        let is_log_due = is_last || self.batches.is_multiple_of(BATCHES_TO_LOG);
        if batch.crash.is_none() && is_log_due {
            return target.read_kernel_log();
        }
        Ok(batch.crash)
    }
}

/// Returns the fewest of the frames before a crash that still make it.
fn reduced<T: RobustnessTarget>(
    target: &mut T,
    grammar: &FrameGrammar<'_>,
    sign: CrashSign,
    sent: u64,
) -> Result<CrashRecord, T::Error> {
    let first = sent.saturating_sub(LONGEST_REPLAY as u64);
    let all: Vec<MalformedFrame> = (first..sent).map(|index| grammar.frame(index)).collect();
    let mut attempts = 0;
    let Some(suffix) = sufficient(target, &all, &mut attempts)? else {
        return Ok(CrashRecord {
            sign,
            after: sent,
            is_repeatable: false,
            attempts,
            is_minimal: false,
            frames: all.iter().map(KeptFrame::from).collect(),
        });
    };
    // One attempt is left for the last time, whose frames are the capture.
    let mut reduction = Reduction::new(suffix.len(), ATTEMPTS.saturating_sub(attempts + 1));
    while let Some(places) = reduction.next_attempt() {
        attempts += 1;
        let frames: Vec<MalformedFrame> = places.iter().map(|at| suffix[*at].clone()).collect();
        reduction.learn(makes_it_crash(target, &frames)?);
    }
    let smallest = reduction.smallest().iter();
    let frames: Vec<MalformedFrame> = smallest.map(|at| suffix[*at].clone()).collect();
    let is_repeatable = makes_it_crash(target, &frames)?;
    Ok(CrashRecord {
        sign,
        after: sent,
        is_repeatable,
        attempts: attempts + 1,
        is_minimal: is_repeatable && reduction.is_minimal(),
        frames: frames.iter().map(KeptFrame::from).collect(),
    })
}

/// Returns the frames of the last batch if they suffice, or of the last two, four, and so on; `None` if not even all frames make it again.
fn sufficient<'f, T: RobustnessTarget>(
    target: &mut T,
    all: &'f [MalformedFrame],
    attempts: &mut usize,
) -> Result<Option<&'f [MalformedFrame]>, T::Error> {
    let mut count = BATCH;
    loop {
        let frames = &all[all.len().saturating_sub(count)..];
        *attempts += 1;
        if makes_it_crash(target, frames)? {
            return Ok(Some(frames));
        }
        if count >= all.len() {
            return Ok(None);
        }
        count *= 2;
    }
}

fn makes_it_crash<T: RobustnessTarget>(
    target: &mut T,
    frames: &[MalformedFrame],
) -> Result<bool, T::Error> {
    target.bring_up()?;
    let mut outcome = ProbeOutcome::new(None, frames.len() as u64, target);
    for batch in frames.chunks(BATCH) {
        let is_last = outcome.sent + batch.len() as u64 == outcome.wanted;
        if outcome.send(target, batch, is_last)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
