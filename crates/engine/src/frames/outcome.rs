//! Combines the counts of a trial's tasks, queue by queue, into its result.

use super::receiver::{Receiver, ReceiverResult};
use super::responder::SentReplies;
use super::sender::Sender;
use super::sent::{SentNumbers, SentShare};
use super::tally::IcmpErrorTable;
use super::trial::Task;
use crate::bitmap::Bitmap;
use crate::pacing::fault;
use crate::pacing::sending::together;
use sixbench_io::PortError;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::{
    BroadcastCounts, BurstTimes, DirectionResult, Fault, Receiving, TrialResult, TrialSpec,
};

/// The two ends of a direction: its senders and its receivers.
#[derive(Default)]
struct DirectionEnds<'a> {
    senders: Vec<Sender<'a>>,
    replies: Vec<SentReplies>,
    receivers: Vec<Receiver<'a>>,
}

/// The receivers on this machine of a direction whose senders are on another one.
pub(crate) struct ReceivedShare<'a> {
    direction: Direction,
    receivers: Vec<Receiver<'a>>,
}

/// Returns the result of trial `spec`, whose tasks have ended; gaps above `stall_ns` are stalls.
///
/// # Errors
/// A port cannot report the number of frames for which it had no room.
pub(crate) fn trial_result(
    tasks: Vec<Task<'_>>,
    spec: TrialSpec,
    stall_ns: u64,
) -> Result<TrialResult, PortError> {
    let (mut directions, mut faults) = (Vec::with_capacity(2), Vec::new());
    let mut ends = grouped(tasks);
    let errors = icmp_errors(&mut ends);
    for ((direction, ends), errors) in ends.into_iter().zip(errors) {
        if !ends.senders.is_empty() || !ends.replies.is_empty() {
            let (mut result, of_direction) = ends.result(direction, spec.rate, stall_ns)?;
            if let Some(errors) = errors {
                errors.note(&mut result);
            }
            directions.push(result);
            faults.extend(of_direction);
        }
    }
    Ok(TrialResult::new(spec, directions, faults))
}

/// Returns what was sent here, with the ICMP errors about it, what was received here in the `loaded` directions, and the faults of the senders.
pub(crate) fn shares<'a>(
    tasks: Vec<Task<'a>>,
    loaded: &[Direction],
    stall_ns: u64,
) -> (Vec<SentShare>, Vec<ReceivedShare<'a>>, Vec<Fault>) {
    let (mut all_sent, mut received, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    let mut ends = grouped(tasks);
    let errors = icmp_errors(&mut ends);
    for ((direction, ends), errors) in ends.into_iter().zip(errors) {
        if !ends.senders.is_empty() {
            let (mut counted, by_queue) = sent(direction, ends.senders);
            if let Some(errors) = errors {
                errors.note(&mut counted);
            }
            faults.extend(fault::of_sending(&counted, stall_ns));
            all_sent.push(SentShare { counted, by_queue });
        }
        if !ends.receivers.is_empty() && loaded.contains(&direction) {
            received.push(ReceivedShare {
                direction,
                receivers: ends.receivers,
            });
        }
    }
    (all_sent, received, faults)
}

impl ReceivedShare<'_> {
    /// Returns the counts of the direction, which another machine sent as one of `sent`, and the faults of the receivers; `None` if that machine
    /// did not send it.
    pub(crate) fn result(
        self,
        sent: &[SentShare],
        rate: FrameRate,
        stall_ns: u64,
    ) -> Result<Option<(DirectionResult, Vec<Fault>)>, PortError> {
        let Some(share) = sent
            .iter()
            .find(|share| share.counted.direction == self.direction)
        else {
            return Ok(None);
        };
        let mut result = share.counted.clone();
        let faults = receive(
            self.receivers,
            &mut result,
            SentNumbers::InTurn(share.by_queue.clone()),
            rate,
            stall_ns,
        )?;
        Ok(Some((result, faults)))
    }
}

/// Returns the ends of each direction, forward first.
fn grouped(tasks: Vec<Task<'_>>) -> [(Direction, DirectionEnds<'_>); 2] {
    let (mut forward, mut reverse) = (DirectionEnds::default(), DirectionEnds::default());
    for task in tasks {
        match task {
            Task::Send(queue, sender) => queue
                .choose(&mut forward, &mut reverse)
                .senders
                .push(*sender),
            Task::Receive(queue, receiver, _) => queue
                .choose(&mut forward, &mut reverse)
                .receivers
                .push(*receiver),
            Task::Respond(_, responder, _) => {
                let (receiver, replies) = responder.finish();
                forward.receivers.push(receiver);
                reverse.replies.push(replies);
            }
        }
    }
    [(Direction::Forward, forward), (Direction::Reverse, reverse)]
}

/// Returns the ICMP errors about the frames of each direction, forward first; `None` without a receiver. They arrived where the other direction is
/// received, even if that has no frames.
fn icmp_errors(ends: &mut [(Direction, DirectionEnds<'_>); 2]) -> [Option<IcmpErrorTable>; 2] {
    let [forward, reverse] = ends.each_mut().map(|(_, ends)| {
        let tables = ends.receivers.iter_mut().map(Receiver::take_icmp_errors);
        tables.reduce(|mut all, table| {
            all.add(&table);
            all
        })
    });
    [reverse, forward]
}

impl DirectionEnds<'_> {
    /// Returns the counts of the direction, and the tester's faults in it.
    fn result(
        self,
        direction: Direction,
        rate: FrameRate,
        stall_ns: u64,
    ) -> Result<(DirectionResult, Vec<Fault>), PortError> {
        let (mut result, numbers) = if self.replies.is_empty() {
            let (counted, by_queue) = sent(direction, self.senders);
            (counted, SentNumbers::InTurn(by_queue))
        } else {
            replied(direction, self.replies)
        };
        let mut faults = fault::of_sending(&result, stall_ns);
        faults.extend(receive(
            self.receivers,
            &mut result,
            numbers,
            rate,
            stall_ns,
        )?);
        Ok((result, faults))
    }
}

/// Writes the counts of the receivers of a direction into `result`; `numbers` are those of the frames sent. Returns the receivers' faults.
fn receive(
    receivers: Vec<Receiver<'_>>,
    result: &mut DirectionResult,
    numbers: SentNumbers,
    rate: FrameRate,
    stall_ns: u64,
) -> Result<Vec<Fault>, PortError> {
    let queues = receivers.len().max(1) as u64;
    let mut received: Option<ReceiverResult> = None;
    for part in receivers {
        let part = part.finish()?;
        match &mut received {
            Some(all) => all.add(part),
            None => received = Some(part),
        }
    }
    let Some(ReceiverResult {
        tally,
        gaps,
        overruns,
        lost_neighbours,
    }) = received
    else {
        return Ok(Vec::new());
    };
    result.receiving = Receiving {
        worst_gap_ns: gaps.worst_ns,
        overruns,
    };
    let before_sent = tally.arrived_before_sent(result.direction);
    tally.finish(result, numbers);
    // A queue that is not polled delays or loses only its own frames.
    let of_one_queue = FrameRate(rate.0.div_ceil(queues));
    let mut faults = fault::of_receiving(result, of_one_queue, stall_ns, gaps, &lost_neighbours);
    faults.extend(before_sent);
    Ok(faults)
}

/// Returns the combined counts of the queues that sent one schedule, and the number of frames that each sent.
fn sent(direction: Direction, mut senders: Vec<Sender<'_>>) -> (DirectionResult, Vec<u64>) {
    senders.sort_by_key(|sender| sender.sending.pacer.share.index);
    let mut result = DirectionResult::counted(direction, 0, 0);
    for sender in &senders {
        result.intended += sender.sending.pacer.frames();
        result.offered += sender.sending.pacer.sent();
        result.refused += sender.refused();
        if let Some((planned, sent)) = sender.broadcasts() {
            result.intended -= planned;
            result.offered -= sent;
            let all = result.broadcasts.unwrap_or_default();
            result.broadcasts = Some(BroadcastCounts {
                sent: all.sent + sent,
                ..all
            });
        }
    }
    result.bursts = senders
        .iter()
        .filter_map(Sender::burst_times)
        .reduce(BurstTimes::beside);
    let (shares, by_queue): (Vec<_>, Vec<_>) = senders
        .iter()
        .map(|sender| (sender.sending.finish(), sender.sending.pacer.sent()))
        .unzip();
    result.sending = together(&shares);
    (result, by_queue)
}

/// Returns the counts of the responders. A request that arrived on two queues was answered by both; the second reply does not count.
fn replied(direction: Direction, replies: Vec<SentReplies>) -> (DirectionResult, SentNumbers) {
    let mut result = DirectionResult::counted(direction, 0, 0);
    let (mut numbers, mut repeated) = (Bitmap::new(0), 0);
    let shares: Vec<_> = replies.iter().map(|part| part.sending).collect();
    result.sending = together(&shares);
    for mut part in replies {
        result.intended += part.due;
        result.offered += part.sent;
        result.refused += part.refused;
        repeated += part.numbers.unite(&numbers);
        numbers = part.numbers;
    }
    // Every repeated number was counted in `sent` by both parts, so the differences cannot be negative.
    result.intended -= repeated;
    result.offered -= repeated;
    (result, SentNumbers::Each(numbers))
}
