//! A trial in progress: senders and receivers are tasks that are polled in turn, on as many threads as there are cores for them. With one core
//! everything runs in one loop, so that the DUT can have the other core.

use super::companion::Companion;
use super::receiver::{LINGER_NS, Receiver};
use super::responder::Responder;
use super::sender::Sender;
use super::window::RequestLog;
use crate::driver::{CallsOff, EndsOthers, Layout, TrialStart, joined, pin_and_prioritise};
use crate::error::MeasureError;
use sixbench_io::PortError;
use sixbench_io::clock::Clock;
use sixbench_io::thread::give_up_privileges;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{TrialKind, TrialSpec};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The time limit for waiting after a burst was sent, even if frames still trickle in.
const LONGEST_SILENCE_NS: u64 = 60_000_000_000;

/// The state that the threads of a trial share.
pub(crate) struct FrameRun<'a> {
    clock: &'a Clock,
    stop: &'a AtomicBool,
    /// True if a task has failed, so that the others need not continue.
    failed: AtomicBool,
    residual_ns: u64,
    /// True if the wait for residual frames starts over with every frame received (RFC 9004 section 6.2).
    waits_for_silence: bool,
    /// True if reverse frames are replies: they are sent at the same time as forward frames, and there are as many as forward frames arrive.
    is_exchange: bool,
    /// The log that the sender and the receivers of replies share, if the sender waits for replies.
    requests: Option<Arc<RequestLog>>,
    /// The time by which the reverse direction starts later, in nanoseconds.
    reverse_offset_ns: u64,
    /// Both directions, forward first.
    progress: [DirectionProgress; 2],
    /// True while frames are waited for again after all were sent: two queues have received the same frame, so the number of frames seen does not
    /// show that a direction is complete.
    waits_again: bool,
    /// Receivers that still wait for frames.
    pending: AtomicUsize,
    /// The longest time for which a thread of the tester was ready but had no core, nanoseconds.
    kept_off_ns: AtomicU64,
    /// The moment at which the first frame is due, by the run's clock; 0 until it is chosen.
    began_ns: Arc<AtomicU64>,
    /// The machine with the tester's other end, if that is not this one.
    other: Option<OtherEnd<'a>>,
}

/// The tester's end on another machine.
struct OtherEnd<'a> {
    companion: Mutex<&'a mut dyn Companion>,
    lost: Arc<AtomicBool>,
    /// The reason why the two machines agreed on no common start, if so.
    failure: Mutex<Option<MeasureError>>,
}

/// The progress of one direction, which its queues share.
struct DirectionProgress {
    /// The number of queues that are still sending.
    sending: AtomicUsize,
    /// The time at which the last frame so far was sent, in nanoseconds.
    last_sent_ns: AtomicU64,
    /// The same once nothing more will be sent; 0 until then.
    sent_at_ns: AtomicU64,
    /// The number of frames to be received. For replies it increases as responders end.
    expected: AtomicU64,
    receivers: Vec<ReceiverProgress>,
    /// The time after the start of the trial at which the last frame will have left another machine, in nanoseconds; `None` if the direction is
    /// sent here, or not at all.
    sent_elsewhere_ns: Option<u64>,
}

/// The progress of a receiver, in its own cache line.
#[repr(align(64))]
#[derive(Default)]
struct ReceiverProgress {
    /// The number of different frames seen.
    distinct: AtomicU64,
    /// The time at which the last frame so far was received, in nanoseconds; 0 if there was none yet.
    last_arrival_ns: AtomicU64,
}

/// One of the queues of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectionQueue {
    pub(crate) direction: Direction,
    pub(crate) queue: usize,
}

impl DirectionQueue {
    /// Returns the one of two things that belongs to its direction.
    pub(crate) fn choose<'t, T>(self, forward: &'t mut T, reverse: &'t mut T) -> &'t mut T {
        match self.direction {
            Direction::Forward => forward,
            Direction::Reverse => reverse,
        }
    }
}

/// One of the parts of a trial: a queue's share of sending or receiving a direction.
pub(crate) enum Task<'a> {
    Send(DirectionQueue, Box<Sender<'a>>),
    Receive(DirectionQueue, Box<Receiver<'a>>, ReceiverState),
    /// Receives forward frames on the queue with this index and answers each with a reverse one.
    Respond(usize, Box<Responder<'a>>, ReceiverState),
}

/// The state of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiverState {
    /// No frames are due here; only neighbours are answered.
    Idle,
    /// Frames are due or may still come.
    Due,
    /// All frames have arrived, or the wait for residual frames is over.
    Over,
}

impl<'a> FrameRun<'a> {
    /// Returns a run of these tasks for a trial that waits `residual_ns` for residual frames.
    pub(crate) fn new(
        clock: &'a Clock,
        stop: &'a AtomicBool,
        spec: &TrialSpec,
        residual_ns: u64,
        tasks: &[Task<'_>],
    ) -> Self {
        let is_exchange = spec.kind == TrialKind::Response;
        let mut run = Self {
            waits_for_silence: spec.kind == TrialKind::Burst,
            is_exchange,
            requests: None,
            // This is half of a frame's time, so that on one core the two directions are not due at the same moment.
            reverse_offset_ns: if is_exchange {
                0
            } else {
                500_000_000 / spec.rate.0.max(1)
            },
            clock,
            stop,
            failed: AtomicBool::new(false),
            residual_ns,
            progress: [DirectionProgress::new(), DirectionProgress::new()],
            waits_again: false,
            pending: AtomicUsize::new(0),
            kept_off_ns: AtomicU64::new(0),
            began_ns: Arc::default(),
            other: None,
        };
        for task in tasks {
            run.expect(task, spec.schedule().frames());
        }
        run
    }

    /// Returns the same run for the tasks of one end of the tester: the rest of the `loaded` directions is done by another machine, whose clock
    /// may differ by `clocks_apart_ns` from ours.
    pub(crate) fn with_other_end(
        mut self,
        companion: &'a mut dyn Companion,
        spec: &TrialSpec,
        loaded: &[Direction],
        clocks_apart_ns: u64,
    ) -> Self {
        let schedule = spec.schedule();
        let last_due_ns = schedule.due_ns(schedule.frames().saturating_sub(1));
        for direction in loaded {
            let offset_ns = self.offset_ns(*direction);
            let progress = &mut self.progress[*direction as usize];
            if *progress.sending.get_mut() == 0 {
                progress.sent_elsewhere_ns = Some(offset_ns + last_due_ns + clocks_apart_ns);
                *progress.expected.get_mut() = schedule.frames();
            }
            // A direction that is received elsewhere is done here once it is sent.
            if progress.receivers.is_empty() {
                *self.pending.get_mut() += *progress.sending.get_mut();
            }
        }
        let lost = companion.lost();
        self.other = Some(OtherEnd {
            companion: Mutex::new(companion),
            lost,
            failure: Mutex::default(),
        });
        self
    }

    /// Returns by how much later than the trial a direction starts, in nanoseconds.
    fn offset_ns(&self, direction: Direction) -> u64 {
        if direction == Direction::Reverse {
            self.reverse_offset_ns
        } else {
            0
        }
    }

    /// Notes that there is this task; `frames` is the number of frames in the schedule.
    fn expect(&mut self, task: &Task<'_>, frames: u64) {
        let [forward, reverse] = &mut self.progress;
        match task {
            Task::Send(queue, sender) => {
                self.requests = sender.request_log().cloned().or(self.requests.take());
                let progress = queue.choose(forward, reverse);
                *progress.sending.get_mut() += 1;
                *progress.expected.get_mut() = frames;
            }
            Task::Receive(queue, ..) => queue
                .choose(forward, reverse)
                .receivers
                .push(ReceiverProgress::default()),
            Task::Respond(..) => {
                forward.receivers.push(ReceiverProgress::default());
                *reverse.sending.get_mut() += 1;
            }
        }
        *self.pending.get_mut() += usize::from(task.waiting() == Some(ReceiverState::Due));
    }

    /// Returns the longest time for which a thread of the tester was ready but had no core, nanoseconds.
    pub(crate) fn kept_off_ns(&mut self) -> u64 {
        *self.kept_off_ns.get_mut()
    }

    /// Returns the moment at which the first frame was due, in nanoseconds of the run's clock.
    pub(crate) fn began_ns(&self) -> u64 {
        self.began_ns.load(Ordering::Relaxed)
    }

    /// Returns the same run, which notes that moment where others see it at once.
    pub(crate) fn noting_start_in(self, began_ns: Arc<AtomicU64>) -> Self {
        Self { began_ns, ..self }
    }

    /// Runs the tasks to the end of the trial and returns them.
    pub(crate) fn complete<'t>(
        &mut self,
        tasks: Vec<Task<'t>>,
        layout: &Layout,
    ) -> Result<Vec<Task<'t>>, MeasureError> {
        let mut tasks = self.perform(tasks, layout)?;
        if !two_queues_saw_a_frame(&tasks) {
            return Ok(tasks);
        }
        // As many frames arrived as were sent, but one of them twice: another may still be in flight.
        self.waits_again = true;
        let again = tasks
            .iter_mut()
            .map(|task| usize::from(task.waits_again()))
            .sum();
        *self.pending.get_mut() = again;
        self.perform(tasks, layout)
    }

    /// Runs the tasks to the end of the trial and returns them.
    fn perform<'t>(
        &self,
        tasks: Vec<Task<'t>>,
        layout: &Layout,
    ) -> Result<Vec<Task<'t>>, MeasureError> {
        let threads = layout.cores.len().clamp(1, tasks.len().max(1));
        let agreed = || self.agreed_start();
        let mut start = TrialStart::new(self.clock, threads);
        if self.other.is_some() && !self.waits_again {
            start = start.chosen_by(&agreed);
        }
        std::thread::scope(|scope| {
            let _calls_off = CallsOff(&start);
            let begin = |(index, tasks): (usize, Vec<Task<'t>>)| {
                let (core, start) = (layout.cores.get(index).copied(), &start);
                scope.spawn(move || {
                    let _ends_others = EndsOthers(&self.failed);
                    pin_and_prioritise(core);
                    // Frames from the device are parsed here, so privileges are no longer wanted. The ports are already open.
                    let _ = give_up_privileges();
                    let Some(start_ns) = start.wait() else {
                        return Ok(Vec::new());
                    };
                    let _noting = start.note_waits();
                    self.work(tasks, start_ns)
                })
            };
            let workers: Vec<_> = spread(tasks, threads)
                .into_iter()
                .enumerate()
                .map(begin)
                .collect();
            let mut all = Vec::with_capacity(4);
            for worker in workers {
                all.extend(joined(worker.join())?);
            }
            self.failure().map_or(Ok(()), Err)?;
            self.kept_off_ns
                .fetch_max(start.kept_off_ns(), Ordering::Relaxed);
            Ok(all)
        })
    }

    /// Returns the moment of the first frame on which both machines have agreed; `None` if they have not.
    fn agreed_start(&self) -> Option<u64> {
        let other = self.other.as_ref()?;
        let agreed = other
            .companion
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .agree(self.clock);
        agreed
            .map_err(|error| {
                *other.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            })
            .ok()
    }

    fn failure(&self) -> Option<MeasureError> {
        self.other
            .as_ref()?
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Returns whether the machine with the other end is lost.
    fn is_parted(&self) -> bool {
        self.other
            .as_ref()
            .is_some_and(|other| other.lost.load(Ordering::Relaxed))
    }

    /// Notes the start of the trial, also for the directions that another machine sends.
    fn note_start(&self, start_ns: u64) {
        self.began_ns.store(start_ns, Ordering::Release);
        for progress in &self.progress {
            if let Some(sent_ns) = progress.sent_elsewhere_ns {
                progress
                    .sent_at_ns
                    .store(start_ns + sent_ns, Ordering::Release);
            }
        }
    }

    fn work<'t>(
        &self,
        mut tasks: Vec<Task<'t>>,
        start_ns: u64,
    ) -> Result<Vec<Task<'t>>, MeasureError> {
        if !self.waits_again {
            self.note_start(start_ns);
            for task in &mut tasks {
                task.begin(start_ns, self.reverse_offset_ns);
            }
        }
        while self.pending.load(Ordering::Acquire) > 0 {
            if self.stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted);
            }
            if self.is_parted() {
                return Err(MeasureError::Parted);
            }
            if self.failed.load(Ordering::Relaxed) {
                break;
            }
            let now_ns = self.clock.now_ns();
            let is_ending = tasks
                .iter()
                .any(|task| matches!(task, Task::Send(_, s) if s.sending.is_about_to_end(now_ns)));
            for task in tasks
                .iter_mut()
                .filter(|task| !is_ending || matches!(task, Task::Send(..)))
            {
                task.poll(self)
                    .inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
            }
        }
        Ok(tasks)
    }
}

/// Returns a description of which queues each core serves if both directions are sent, according to [`spread`]; `queues` are the numbers of
/// queues of the left and the right port.
pub(crate) fn placement(queues: [usize; 2], cores: &[u32]) -> String {
    let [left, right] = queues;
    let tasks_on = |what: &'static str, port: &'static str, queues: usize| {
        (0..queues).map(move |queue| format!("{what} {port} {queue}"))
    };
    let tasks: Vec<String> = tasks_on("sends on", "left", left)
        .chain(tasks_on("sends on", "right", right))
        .chain(tasks_on("receives on", "right", right))
        .chain(tasks_on("receives on", "left", left))
        .collect();
    let threads = cores.len().clamp(1, tasks.len().max(1));
    (0..threads)
        .map(|thread| {
            let tasks: Vec<_> = tasks
                .iter()
                .skip(thread)
                .step_by(threads)
                .map(String::as_str)
                .collect();
            let core = cores
                .get(thread)
                .map_or_else(|| "any core".to_owned(), |core| format!("core {core}"));
            format!("{core} {}", tasks.join(", "))
        })
        .collect::<Vec<_>>()
        .join("; ")
}

/// Distributes the tasks (senders first) over threads. With two threads, each direction has its own, or each queue if there are two.
fn spread(tasks: Vec<Task<'_>>, threads: usize) -> Vec<Vec<Task<'_>>> {
    let mut groups: Vec<Vec<Task<'_>>> = (0..threads).map(|_| Vec::with_capacity(4)).collect();
    for (index, task) in tasks.into_iter().enumerate() {
        groups[index % threads].push(task);
    }
    groups
}

/// Returns whether a frame was seen on two queues of a direction.
fn two_queues_saw_a_frame(tasks: &[Task<'_>]) -> bool {
    [Direction::Forward, Direction::Reverse]
        .into_iter()
        .any(|direction| {
            let receivers: Vec<_> = tasks
                .iter()
                .filter_map(|task| task.receiver(direction))
                .collect();
            receivers.len() > 1
                && receivers[0].seen_together(&receivers[1..])
                    < receivers.iter().map(|r| r.distinct()).sum()
        })
}

impl<'a> Task<'a> {
    fn begin(&mut self, start_ns: u64, reverse_offset_ns: u64) {
        let start_of = |direction| {
            start_ns
                + if direction == Direction::Reverse {
                    reverse_offset_ns
                } else {
                    0
                }
        };
        match self {
            Self::Send(queue, sender) => sender.begin(start_of(queue.direction)),
            Self::Receive(queue, receiver, _) => receiver.begin(start_of(queue.direction)),
            Self::Respond(_, responder, _) => responder.begin(start_ns),
        }
    }

    /// Returns the state of its receiver; `None` for a sender.
    fn waiting(&self) -> Option<ReceiverState> {
        match self {
            Self::Send(..) => None,
            Self::Receive(_, _, waiting) | Self::Respond(_, _, waiting) => Some(*waiting),
        }
    }

    /// Makes a receiver that was done wait again; returns whether this is one.
    fn waits_again(&mut self) -> bool {
        match self {
            Self::Receive(_, _, waiting @ ReceiverState::Over) => {
                *waiting = ReceiverState::Due;
                true
            }
            Self::Send(..) | Self::Receive(..) | Self::Respond(..) => false,
        }
    }

    /// Returns the receiver of a direction in this task, if there is one.
    fn receiver(&self, direction: Direction) -> Option<&Receiver<'a>> {
        match self {
            Self::Receive(queue, receiver, _) if queue.direction == direction => Some(receiver),
            Self::Respond(_, responder, _) if direction == Direction::Forward => {
                Some(&responder.receiver)
            }
            Self::Send(..) | Self::Receive(..) | Self::Respond(..) => None,
        }
    }

    #[inline]
    fn poll(&mut self, run: &FrameRun<'_>) -> Result<(), PortError> {
        match self {
            Self::Send(queue, sender) => poll_sender(queue.direction, sender, run),
            Self::Receive(queue, receiver, waiting) => {
                poll_receiver(*queue, receiver, waiting, run)
            }
            Self::Respond(queue, responder, waiting) => {
                poll_responder(*queue, responder, waiting, run)
            }
        }
    }
}

#[inline]
fn poll_sender(
    direction: Direction,
    sender: &mut Sender<'_>,
    run: &FrameRun<'_>,
) -> Result<(), PortError> {
    if sender.is_done() {
        return Ok(());
    }
    sender.poll(run.clock.now_ns())?;
    if sender.is_done() {
        let progress = run.progress(direction);
        // First the number, then the end: a receiver that saw them in the other order would wait for frames that never left.
        progress
            .expected
            .fetch_sub(sender.not_expected(), Ordering::Release);
        progress.note_sender_done(run.clock.now_ns());
        if run.other.is_some() && progress.receivers.is_empty() {
            run.pending.fetch_sub(1, Ordering::AcqRel);
        }
    }
    Ok(())
}

#[inline]
fn poll_receiver(
    DirectionQueue { direction, queue }: DirectionQueue,
    receiver: &mut Receiver<'_>,
    waiting: &mut ReceiverState,
    run: &FrameRun<'_>,
) -> Result<(), PortError> {
    let is_sending = run.is_sending(direction) && *waiting != ReceiverState::Idle;
    match run
        .requests
        .as_ref()
        .filter(|_| direction == Direction::Reverse)
    {
        Some(requests) => receiver.poll_each(run.clock, is_sending, &mut |tag| {
            requests.note_reply(tag.sequence);
        })?,
        None => receiver.poll(run.clock, is_sending)?,
    }
    run.progress(direction).receivers[queue].note(receiver);
    if *waiting == ReceiverState::Due && run.is_over(direction) {
        *waiting = ReceiverState::Over;
        run.pending.fetch_sub(1, Ordering::AcqRel);
    }
    Ok(())
}

/// Polls a responder. Once the last request was received or given up, it only sends replies that are still waiting.
#[inline]
fn poll_responder(
    queue: usize,
    responder: &mut Responder<'_>,
    waiting: &mut ReceiverState,
    run: &FrameRun<'_>,
) -> Result<(), PortError> {
    responder.poll(run.clock, run.is_sending(Direction::Forward))?;
    run.progress(Direction::Forward).receivers[queue].note(&responder.receiver);
    if *waiting != ReceiverState::Due || !run.is_over(Direction::Forward) {
        return Ok(());
    }
    if !responder.has_answered_all(run.clock.now_ns())? {
        return Ok(());
    }
    *waiting = ReceiverState::Over;
    let replies = run.progress(Direction::Reverse);
    // First the number, then the end: a receiver that saw them in the other order would expect no replies, and be done.
    replies
        .expected
        .fetch_add(responder.sent(), Ordering::Release);
    replies.note_sender_done(responder.last_sent_ns());
    run.pending.fetch_sub(1, Ordering::AcqRel);
    Ok(())
}

impl DirectionProgress {
    fn new() -> Self {
        Self {
            sending: AtomicUsize::new(0),
            last_sent_ns: AtomicU64::new(0),
            sent_at_ns: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            receivers: Vec::new(),
            sent_elsewhere_ns: None,
        }
    }

    /// Notes that a queue will send nothing more; its last frame left at `last_ns`.
    fn note_sender_done(&self, last_ns: u64) {
        // A queue that sent nothing has no time, but 0 would mean that it is still sending.
        self.last_sent_ns
            .fetch_max(last_ns.max(1), Ordering::AcqRel);
        if self.sending.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.sent_at_ns
                .store(self.last_sent_ns.load(Ordering::Acquire), Ordering::Release);
        }
    }

    /// Returns how many different frames the queues have seen, and when the last one arrived, in nanoseconds.
    fn received(&self) -> (u64, u64) {
        let (mut distinct, mut last_arrival_ns) = (0, 0);
        for receiver in &self.receivers {
            distinct += receiver.distinct.load(Ordering::Relaxed);
            last_arrival_ns = receiver
                .last_arrival_ns
                .load(Ordering::Relaxed)
                .max(last_arrival_ns);
        }
        (distinct, last_arrival_ns)
    }
}

impl ReceiverProgress {
    #[inline]
    fn note(&self, receiver: &Receiver<'_>) {
        self.distinct.store(receiver.distinct(), Ordering::Relaxed);
        self.last_arrival_ns
            .store(receiver.last_arrival_ns(), Ordering::Relaxed);
    }
}

impl FrameRun<'_> {
    #[inline]
    fn progress(&self, direction: Direction) -> &DirectionProgress {
        &self.progress[direction as usize]
    }

    /// Returns whether frames of a direction are still being sent; replies are sent for as long as requests are.
    #[inline]
    fn is_sending(&self, direction: Direction) -> bool {
        let paced = if self.is_exchange {
            Direction::Forward
        } else {
            direction
        };
        let progress = self.progress(paced);
        let sent_at_ns = progress.sent_at_ns.load(Ordering::Acquire);
        // If another machine sends them, the end is known in advance.
        sent_at_ns == 0
            || (progress.sent_elsewhere_ns.is_some() && self.clock.now_ns() < sent_at_ns)
    }

    /// Returns whether the receivers of a direction have nothing more to wait for.
    #[inline]
    fn is_over(&self, direction: Direction) -> bool {
        let progress = self.progress(direction);
        let sent_at_ns = progress.sent_at_ns.load(Ordering::Acquire);
        if sent_at_ns == 0 {
            return false;
        }
        let (now_ns, (distinct, last_arrival_ns)) = (self.clock.now_ns(), progress.received());
        let has_all = !self.waits_again && distinct >= progress.expected.load(Ordering::Acquire);
        let latest_ns = sent_at_ns + LONGEST_SILENCE_NS;
        let since_ns = if self.waits_for_silence {
            sent_at_ns.max(last_arrival_ns).min(latest_ns)
        } else {
            sent_at_ns
        };
        (has_all && now_ns > last_arrival_ns + LINGER_NS) || now_ns > since_ns + self.residual_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_serves_the_same_queue_of_both_directions() {
        let two = "core 4 sends on left 0, sends on right 0, receives on right 0, receives on left 0; \
                   core 6 sends on left 1, sends on right 1, receives on right 1, receives on left 1";
        assert_eq!(placement([2, 2], &[4, 6]), two);
        assert_eq!(
            placement([1, 1], &[0, 1]),
            "core 0 sends on left 0, receives on right 0; core 1 sends on right 0, receives on left 0"
        );
        assert_eq!(
            placement([1, 1], &[]),
            "any core sends on left 0, sends on right 0, receives on right 0, receives on left 0"
        );
    }
}
