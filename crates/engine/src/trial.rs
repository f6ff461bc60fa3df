//! One trial under way: senders and receivers as tasks that are polled in turn, on as many threads as there are cores for them.
//! On one core everything runs to completion in one loop, so that the DUT can have the other.

use crate::driver::{CallsOff, EndsOthers, Layout, TrialStart, joined, pin_and_prioritise};
use crate::receiver::{LINGER_NS, Receiver};
use crate::responder::Responder;
use crate::sender::Sender;
use crate::tester::MeasureError;
use sixbench_io::PortError;
use sixbench_io::clock::Clock;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{TrialKind, TrialSpec};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A burst is not waited for longer than this after it was sent, whatever still trickles in.
const LONGEST_SILENCE_NS: u64 = 60_000_000_000;

/// The state that the threads of a trial share.
pub(crate) struct FrameRun<'a> {
    clock: &'a Clock,
    stop: &'a AtomicBool,
    /// A task failed: the others need not go on.
    failed: AtomicBool,
    residual_ns: u64,
    /// True if the wait for residual frames begins again with every frame received (RFC 9004 section 6.2).
    waits_for_silence: bool,
    /// True if reverse frames are replies: they are sent while forward frames are, and as many as of those arrive.
    is_exchange: bool,
    /// Time by which the reverse direction starts later, in nanoseconds.
    reverse_offset_ns: u64,
    /// The time at which each direction's last frame was sent, in nanoseconds; 0 while it is sending.
    sent_at_ns: [AtomicU64; 2],
    /// Replies that were sent, once that is known.
    replies: AtomicU64,
    /// Receivers that still wait for frames.
    pending: AtomicUsize,
}

/// One of the up to four parts of a trial.
pub(crate) enum Task<'a> {
    Send(Direction, Box<Sender<'a>>),
    Receive(Direction, Box<Receiver<'a>>, Waiting),
    /// Receives forward frames and answers each by a reverse one.
    Respond(Box<Responder<'a>>, Waiting),
}

/// The state of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Nothing is due here: only neighbours are answered.
    Idle,
    /// Frames are due or may still come.
    Due,
    /// Everything came, or the wait for residual frames is over.
    Over,
}

impl<'a> FrameRun<'a> {
    pub(crate) fn new(clock: &'a Clock, stop: &'a AtomicBool, spec: &TrialSpec, residual_ns: u64, loaded: usize) -> Self {
        let is_exchange = spec.kind == TrialKind::Response;
        Self {
            waits_for_silence: spec.kind == TrialKind::Burst,
            is_exchange,
            // Half a frame's time, so that on one core the two directions do not come due at the same moment.
            reverse_offset_ns: if is_exchange { 0 } else { 500_000_000 / spec.rate.0.max(1) },
            clock,
            stop,
            failed: AtomicBool::new(false),
            residual_ns,
            sent_at_ns: [AtomicU64::new(0), AtomicU64::new(0)],
            replies: AtomicU64::new(u64::MAX),
            pending: AtomicUsize::new(loaded),
        }
    }

    /// Runs the tasks to the end of the trial and gives them back.
    pub(crate) fn perform(&self, tasks: Vec<Task<'a>>, layout: &Layout) -> Result<Vec<Task<'a>>, MeasureError> {
        let threads = layout.cores.len().clamp(1, tasks.len().max(1));
        let start = TrialStart::new(self.clock, threads);
        std::thread::scope(|scope| {
            let _calls_off = CallsOff(&start);
            let begin = |(index, tasks): (usize, Vec<Task<'a>>)| {
                let (core, start) = (layout.cores.get(index).copied(), &start);
                scope.spawn(move || {
                    let _ends_others = EndsOthers(&self.failed);
                    pin_and_prioritise(core);
                    start.wait().map_or(Ok(Vec::new()), |start_ns| self.work(tasks, start_ns))
                })
            };
            let workers: Vec<_> = spread(tasks, threads).into_iter().enumerate().map(begin).collect();
            let mut all = Vec::with_capacity(4);
            for worker in workers {
                all.extend(joined(worker.join())?);
            }
            Ok(all)
        })
    }

    fn work(&self, mut tasks: Vec<Task<'a>>, start_ns: u64) -> Result<Vec<Task<'a>>, MeasureError> {
        tasks.iter_mut().for_each(|task| task.begin(start_ns, self.reverse_offset_ns));
        while self.pending.load(Ordering::Acquire) > 0 {
            if self.stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted);
            }
            if self.failed.load(Ordering::Relaxed) {
                break;
            }
            let now_ns = self.clock.now_ns();
            let is_ending = tasks.iter().any(|task| matches!(task, Task::Send(_, s) if s.sending.is_about_to_end(now_ns)));
            for task in tasks.iter_mut().filter(|task| !is_ending || matches!(task, Task::Send(..))) {
                task.poll(self).inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
            }
        }
        Ok(tasks)
    }
}

/// Distributes the tasks (senders first) over threads. With two, each direction has its own.
fn spread(tasks: Vec<Task<'_>>, threads: usize) -> Vec<Vec<Task<'_>>> {
    let mut groups: Vec<Vec<Task<'_>>> = (0..threads).map(|_| Vec::with_capacity(4)).collect();
    for (index, task) in tasks.into_iter().enumerate() {
        groups[index % threads].push(task);
    }
    groups
}

impl<'a> Task<'a> {
    fn begin(&mut self, start_ns: u64, reverse_offset_ns: u64) {
        let start_of = |direction| start_ns + if direction == Direction::Reverse { reverse_offset_ns } else { 0 };
        match self {
            Self::Send(direction, sender) => sender.begin(start_of(*direction)),
            Self::Receive(direction, receiver, _) => receiver.begin(start_of(*direction)),
            Self::Respond(responder, _) => responder.begin(start_ns),
        }
    }

    #[inline]
    fn poll(&mut self, run: &FrameRun<'a>) -> Result<(), PortError> {
        match self {
            Self::Send(direction, sender) => poll_sender(*direction, sender, run),
            Self::Receive(direction, receiver, waiting) => poll_receiver(*direction, receiver, waiting, run),
            Self::Respond(responder, waiting) => poll_responder(responder, waiting, run),
        }
    }
}

#[inline]
fn poll_sender(direction: Direction, sender: &mut Sender<'_>, run: &FrameRun<'_>) -> Result<(), PortError> {
    if sender.is_done() {
        return Ok(());
    }
    sender.poll(run.clock.now_ns())?;
    if sender.is_done() {
        run.sent_at_ns[direction as usize].store(run.clock.now_ns().max(1), Ordering::Release);
    }
    Ok(())
}

#[inline]
fn poll_receiver(
    direction: Direction,
    receiver: &mut Receiver<'_>,
    waiting: &mut Waiting,
    run: &FrameRun<'_>,
) -> Result<(), PortError> {
    let is_sending = run.is_sending(direction) && *waiting != Waiting::Idle;
    receiver.poll(run.clock, is_sending)?;
    if *waiting == Waiting::Due && run.is_over(direction, receiver) {
        *waiting = Waiting::Over;
        run.pending.fetch_sub(1, Ordering::AcqRel);
    }
    Ok(())
}

/// Once the last request was received or given up, only replies that still wait are sent.
#[inline]
fn poll_responder(responder: &mut Responder<'_>, waiting: &mut Waiting, run: &FrameRun<'_>) -> Result<(), PortError> {
    responder.poll(run.clock, run.is_sending(Direction::Forward))?;
    if *waiting != Waiting::Due || !run.is_over(Direction::Forward, &responder.receiver) {
        return Ok(());
    }
    if !responder.has_answered_all(run.clock.now_ns())? {
        return Ok(());
    }
    *waiting = Waiting::Over;
    run.replies.store(responder.sent(), Ordering::Release);
    run.sent_at_ns[Direction::Reverse as usize].store(responder.last_sent_ns().max(1), Ordering::Release);
    run.pending.fetch_sub(1, Ordering::AcqRel);
    Ok(())
}

impl FrameRun<'_> {
    /// Returns whether frames of a direction are still being sent; replies take as long as requests do.
    #[inline]
    fn is_sending(&self, direction: Direction) -> bool {
        let paced = if self.is_exchange { Direction::Forward } else { direction };
        self.sent_at_ns[paced as usize].load(Ordering::Acquire) == 0
    }

    /// Returns whether the receiver of a direction has nothing more to wait for.
    #[inline]
    fn is_over(&self, direction: Direction, receiver: &Receiver<'_>) -> bool {
        let sent_at_ns = self.sent_at_ns[direction as usize].load(Ordering::Acquire);
        let (now_ns, last_arrival_ns) = (self.clock.now_ns(), receiver.last_arrival_ns());
        let is_of_replies = self.is_exchange && direction == Direction::Reverse;
        let has_all = if is_of_replies { receiver.has(self.replies.load(Ordering::Acquire)) } else { receiver.has_all() };
        let has_all = has_all && now_ns > last_arrival_ns + LINGER_NS;
        let latest_ns = sent_at_ns + LONGEST_SILENCE_NS;
        let since_ns = if self.waits_for_silence { sent_at_ns.max(last_arrival_ns).min(latest_ns) } else { sent_at_ns };
        sent_at_ns > 0 && (has_all || now_ns > since_ns + self.residual_ns)
    }
}
