//! From what the tasks of a trial counted, queue by queue, to its result.

use crate::bitmap::Bitmap;
use crate::fault;
use crate::paced_sending::together;
use crate::receiver::{Received, Receiver};
use crate::responder::SentReplies;
use crate::sender::Sender;
use crate::sent::SentNumbers;
use crate::trial::Task;
use sixbench_io::PortError;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::{DirectionResult, Fault, Receiving, TrialResult, TrialSpec};

/// The two ends of a direction: what sent it and what received it.
#[derive(Default)]
struct DirectionEnds<'a> {
    senders: Vec<Sender<'a>>,
    replies: Vec<SentReplies>,
    receivers: Vec<Receiver<'a>>,
}

/// Returns the result of the trial `spec` whose tasks have ended; gaps above `stall_ns` are stalls.
///
/// # Errors
/// A port that cannot say for how many frames it had no room.
pub(crate) fn trial_result(tasks: Vec<Task<'_>>, spec: TrialSpec, stall_ns: u64) -> Result<TrialResult, PortError> {
    let (mut forward, mut reverse) = (DirectionEnds::default(), DirectionEnds::default());
    for task in tasks {
        match task {
            Task::Send(queue, sender) => queue.of(&mut forward, &mut reverse).senders.push(*sender),
            Task::Receive(queue, receiver, _) => queue.of(&mut forward, &mut reverse).receivers.push(*receiver),
            Task::Respond(_, responder, _) => {
                let (receiver, replies) = responder.finish();
                forward.receivers.push(receiver);
                reverse.replies.push(replies);
            }
        }
    }
    let (mut directions, mut faults) = (Vec::with_capacity(2), Vec::new());
    for (direction, ends) in [(Direction::Forward, forward), (Direction::Reverse, reverse)] {
        if !ends.senders.is_empty() || !ends.replies.is_empty() {
            let (result, of_direction) = ends.result(direction, spec.rate, stall_ns)?;
            directions.push(result);
            faults.extend(of_direction);
        }
    }
    Ok(TrialResult::new(spec, directions, faults))
}

impl DirectionEnds<'_> {
    /// Returns what was counted in the direction, and the faults of the tester in it.
    fn result(self, direction: Direction, rate: FrameRate, stall_ns: u64) -> Result<(DirectionResult, Vec<Fault>), PortError> {
        let queues = self.receivers.len().max(1) as u64;
        let (mut result, numbers) = match self.replies.is_empty() {
            true => sent(direction, self.senders),
            false => replied(direction, self.replies),
        };
        let mut received: Option<Received> = None;
        for part in self.receivers {
            let part = part.finish()?;
            match &mut received {
                Some(all) => all.add(part),
                None => received = Some(part),
            }
        }
        let Some(Received { tally, gaps, overruns, lost_neighbours }) = received else { return Ok((result, Vec::new())) };
        result.receiving = Receiving { worst_gap_ns: gaps.worst_ns, overruns };
        tally.finish(&mut result, &numbers);
        // A queue that is not looked at delays or loses its own frames only.
        let of_one_queue = FrameRate(rate.0.div_ceil(queues));
        let faults = fault::of_direction(&result, of_one_queue, stall_ns, gaps, &lost_neighbours);
        Ok((result, faults))
    }
}

/// Returns what the queues sent together by one schedule.
fn sent(direction: Direction, mut senders: Vec<Sender<'_>>) -> (DirectionResult, SentNumbers) {
    senders.sort_by_key(|sender| sender.sending.pacer.share.index);
    let mut result = DirectionResult::counted(direction, 0, 0);
    for sender in &senders {
        result.intended += sender.sending.pacer.frames();
        result.offered += sender.sending.pacer.sent();
        result.refused += sender.refused();
    }
    let shares: Vec<_> = senders.iter().map(|sender| sender.sending.finish()).collect();
    result.sending = together(&shares);
    (result, SentNumbers::InTurn(senders.iter().map(|sender| sender.sending.pacer.sent()).collect()))
}

/// Returns what the responders sent. A request that came on two queues was answered by both; the second reply does not count.
fn replied(direction: Direction, replies: Vec<SentReplies>) -> (DirectionResult, SentNumbers) {
    let mut result = DirectionResult::counted(direction, 0, 0);
    let (mut numbers, mut repeated) = (Bitmap::new(0), 0);
    let shares: Vec<_> = replies.iter().map(|part| part.sending).collect();
    result.sending = together(&shares);
    for mut part in replies {
        result.intended += part.due;
        result.offered += part.sent;
        result.refused += part.refused;
        repeated += part.numbers.unite(&numbers).len() as u64;
        numbers = part.numbers;
    }
    result.intended -= repeated;
    result.offered -= repeated;
    (result, SentNumbers::Each(numbers))
}
