//! The counts of the frames that one receiver has seen, by sequence number: which arrived, how late, and what was wrong with them. `queues`
//! combines the counts of several queues.

mod fields;
mod gaps;
mod icmp_errors;
mod lengths;
mod order;
mod queues;
mod right_frames;

pub(crate) use icmp_errors::IcmpErrorTable;
pub(crate) use queues::QueueCounts;

use crate::bitmap::Bitmap;
use crate::delay::arrival::Arrival;
use crate::delay::{DelayInterval, Delays};
use crate::frames::sent::SentNumbers;
use crate::frames::size_order::SizeOrder;
use crate::frames::verify::{ForeignFrame, FrameClass, Mismatch, Verifier, foreign_frame};
use crate::pacing::fault;
use crate::pacing::pacer::Pacer;
use crate::pacing::reach::reach;
use fields::WrongFields;
use gaps::GapFinder;
use lengths::LengthRecorder;
use order::ArrivalOrder;
use queues::{FaultyFrames, FrameFault};
use right_frames::RightFrames;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{
    BroadcastCounts, DirectionDetails, DirectionResult, Fault, LOSS_BIN_NS, Schedule, Silence,
    SizeCounts,
};
use sixbench_wire::tag::Tag;
use std::num::NonZeroU32;

/// The number of wrong frames kept for the report.
const EXAMPLES: usize = 5;
/// Octets kept of each: the largest frame, and some octets more.
const EXAMPLE_OCTETS: usize = 9_300;

/// The time by which the clocks of two cores of a machine may differ, in nanoseconds: a frame is right even if it seems to have been sent up to
/// this time after it arrived.
pub(crate) const CLOCKS_APART_NS: u64 = 1_000;

/// The frames that a receiver is to expect.
pub(crate) struct ExpectedFrames {
    pub(crate) verifier: Verifier,
    /// The times at which frames are due; empty if there are no frames.
    pub(crate) schedule: Schedule,
    /// The frames of each burst, all of which are due with its first one.
    pub(crate) burst: NonZeroU32,
    /// The time of sending in the schedule, nanoseconds.
    pub(crate) duration_ns: u64,
    /// The time after which a frame no longer counts as received; 0 for no limit.
    pub(crate) timeout_ns: u64,
    /// The time by which the clocks of sender and receiver may differ, nanoseconds.
    pub(crate) clocks_apart_ns: u64,
    /// The time at which the tester sent the first frame of its first trial, nanoseconds; `None` if this is the first.
    pub(crate) first_trial_ns: Option<u64>,
    /// The histograms in which delays are recorded.
    pub(crate) delays: Delays,
}

/// The counts of the frames that a receiver has seen.
pub(crate) struct FrameTally {
    expected: ExpectedFrames,
    seen: Bitmap,
    /// The right frames that are not yet counted: neither below nor in `seen`.
    run: RightFrames,
    /// False if each frame is to be counted for itself: what is learnt from it, or its delay, is not the same for all frames of a run.
    has_runs: bool,
    /// The outcomes of the frames that are not simply right, by number, if other receivers may see frames with the same numbers.
    faulty: Option<FaultyFrames>,
    counts: ReceiverCounts,
    /// Those of the frames that came back wrong, by field.
    wrong_fields: WrongFields,
    /// The ICMP errors about frames that left from the port at which this direction arrives: those of the opposite direction.
    icmp_errors: IcmpErrorTable,
    /// The order of foreground and background, which take different ways through a DUT, for each sending queue: there is no order between queues.
    orders: Box<[[ArrivalOrder; 2]]>,
    /// The reordering extents that other receivers have recorded.
    extents: LengthRecorder,
    /// By how much duplicates are behind.
    duplicate_distances: LengthRecorder,
    /// Frames not received, by bin.
    bins: Vec<u64>,
    /// The frames of each size that were not received, if the frames are of several sizes.
    sizes: Vec<SizeCounts>,
    /// The highest number of a frame not received.
    last_missing: Option<u64>,
    /// The time at which the last frame so far was received, in nanoseconds; 0 if there was none.
    last_arrival_ns: u64,
    /// The longest time without a frame, from arrival to arrival.
    silence: (u64, u64),
    /// The due times of the frames, as the sender computes them.
    pacer: Pacer,
    examples: Vec<Example>,
    /// The examples' octets, one after the other, in memory allocated before the trial.
    kept: Vec<u8>,
}

#[derive(Default)]
struct ReceiverCounts {
    distinct: u64,
    received: u64,
    late: u64,
    mistranslated: u64,
    corrupt: u64,
    duplicate: u64,
    /// Those of other receivers; the orders have those of this one.
    reordered: u64,
    foreign: u64,
    /// Broadcast frames of the trial.
    broadcast: u64,
    icmp: u64,
    fragments: u64,
    misdirected: u64,
    defective: u64,
    /// Frames that had arrived before they were sent, according to the clocks of both ends, and by how much at most, in nanoseconds.
    before_sent: u64,
    before_sent_ns: u64,
}

struct Example {
    tag: Tag,
    mismatch: Mismatch,
    /// The latest time at which it may have arrived, in nanoseconds.
    arrived_ns: u64,
    octets: std::ops::Range<usize>,
}

impl FrameTally {
    /// Returns a tally without counts for the expected frames, which are sent by these queues in turn and received by these.
    pub(crate) fn new(expected: ExpectedFrames, queues: QueueCounts) -> Self {
        let reach = reach(&expected.schedule, queues.sending);
        let bins = expected.duration_ns.div_ceil(LOSS_BIN_NS).max(1);
        Self {
            seen: Bitmap::new(reach),
            run: RightFrames::EMPTY,
            has_runs: queues.sending <= 1
                && !expected.verifier.learns()
                && !expected.delays.are_of_each_frame(),
            faulty: (queues.receiving > 1).then(|| FaultyFrames::new(reach)),
            counts: ReceiverCounts::default(),
            wrong_fields: WrongFields::new(queues.receiving > 1),
            icmp_errors: IcmpErrorTable::new(),
            orders: ArrivalOrder::of_queues(queues.sending.max(1)),
            extents: LengthRecorder::default(),
            duplicate_distances: LengthRecorder::default(),
            bins: vec![0; bins as usize],
            sizes: expected
                .verifier
                .size_order()
                .map_or(Vec::new(), SizeOrder::no_counts),
            last_missing: None,
            last_arrival_ns: 0,
            silence: (0, 0),
            pacer: Pacer::new(&expected.schedule).in_bursts_of(expected.burst),
            examples: Vec::with_capacity(EXAMPLES),
            kept: Vec::with_capacity(EXAMPLES * EXAMPLE_OCTETS),
            expected,
        }
    }

    /// Counts a frame, and hands it to `on_first` if it is the first right one with its number. Both may be put off until the next frame, or until
    /// [`Self::end_poll`].
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        frame: &[u8],
        arrival: Arrival,
        on_first: &mut impl FnMut(Tag),
    ) -> FrameClass {
        let class = self.expected.verifier.judge(frame);
        if let FrameClass::Right(tag) = class
            && self.run.take(tag, arrival)
        {
            return class;
        }
        self.take_out_of_run(frame, class, arrival, on_first)
    }

    /// Counts the frames that were put off: at the end of each poll, before any count is read.
    #[inline]
    pub(crate) fn end_poll(&mut self, on_first: &mut impl FnMut(Tag)) {
        let run = std::mem::replace(&mut self.run, RightFrames::EMPTY);
        let frames = run.len();
        if frames == 0 {
            return;
        }
        let (first, arrival) = (run.first(), run.arrival());
        let delay = self.delay(first, arrival);
        if self.is_late(delay) || !self.seen.set_run(first.sequence, frames) {
            // They are late, or some are duplicates.
            for tag in run.tags() {
                if self.is_new(tag) {
                    on_first(tag);
                    self.take_right(tag, arrival);
                }
            }
            return;
        }
        self.counts.distinct += frames;
        self.order_mut(first).take_run(first.sequence, frames);
        run.tags().for_each(on_first);
        self.counts.received += frames;
        self.expected.delays.take_run(delay, frames);
        self.note_arrival(arrival.by_ns);
    }

    /// Counts a frame that does not continue the run.
    #[inline(never)]
    fn take_out_of_run(
        &mut self,
        frame: &[u8],
        class: FrameClass,
        arrival: Arrival,
        on_first: &mut impl FnMut(Tag),
    ) -> FrameClass {
        self.end_poll(on_first);
        let mut class = class;
        if let FrameClass::Right(tag) | FrameClass::Defective(tag, _) = class
            && (tag.time_ns > arrival.by_ns + self.expected.clocks_apart_ns
                || tag.time_ns < self.pacer.due_time(tag.sequence))
        {
            class = self.judge_time(tag, arrival);
        }
        match class {
            FrameClass::Right(tag) if self.has_runs => {
                self.run = RightFrames::begin(tag, arrival, |sequence| {
                    self.pacer.due_time(sequence) <= tag.time_ns
                });
            }
            FrameClass::Right(tag) => {
                if self.is_new(tag) {
                    on_first(tag);
                    self.expected.verifier.learn(frame, tag);
                    self.take_right(tag, arrival);
                }
            }
            FrameClass::Defective(tag, mismatch) => {
                if self.is_new(tag) {
                    on_first(tag);
                    self.counts.defective += 1;
                    self.note_faulty(tag, FrameFault::Defective);
                    self.expected.verifier.learn(frame, tag);
                    self.take_right(tag, arrival);
                    self.keep(frame, tag, mismatch, arrival.by_ns);
                }
            }
            FrameClass::Mistranslated(tag, _) | FrameClass::Corrupt(tag, _)
                if self.is_of_earlier_trial(tag) =>
            {
                return FrameClass::Foreign;
            }
            FrameClass::Mistranslated(tag, mismatch) => {
                if self.is_new(tag) {
                    self.counts.mistranslated += 1;
                    self.take_wrong(frame, tag, FrameFault::Mistranslated, mismatch, arrival);
                }
            }
            FrameClass::Corrupt(tag, mismatch) => {
                if self.is_new(tag) {
                    self.counts.corrupt += 1;
                    self.take_wrong(frame, tag, FrameFault::Corrupt, mismatch, arrival);
                }
            }
            FrameClass::Misdirected => self.counts.misdirected += 1,
            // The receiver checks whether it came from a neighbour, and counts it.
            FrameClass::Foreign => {}
        }
        class
    }

    /// Sets the time at which the first frame is due.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.pacer.begin(start_ns);
    }

    /// Returns the verdict on a right frame whose time of sending is implausible: no frame leaves before it is due, or after it arrived.
    #[cold]
    fn judge_time(&mut self, tag: Tag, arrival: Arrival) -> FrameClass {
        if tag.time_ns < self.pacer.due_time(tag.sequence) {
            return FrameClass::Corrupt(tag, Mismatch::SentBeforeDue);
        }
        self.counts.before_sent += 1;
        self.counts.before_sent_ns = self.counts.before_sent_ns.max(tag.time_ns - arrival.by_ns);
        FrameClass::Corrupt(tag, Mismatch::SentAfterArrival)
    }

    /// Returns whether a frame was sent in an earlier trial of the tester: before the first frame of this one was due, and not before there were any. The
    /// tag has only six bits of the trial's number, and a device may hold a frame for 64 trials; the time of sending tells them apart without a doubt.
    #[cold]
    fn is_of_earlier_trial(&self, tag: Tag) -> bool {
        let is_before =
            tag.time_ns.saturating_add(self.expected.clocks_apart_ns) < self.pacer.start_ns;
        is_before
            && self
                .expected
                .first_trial_ns
                .is_some_and(|first_ns| tag.time_ns >= first_ns)
    }

    /// Counts a frame that comes neither from the tester nor from a neighbour.
    #[cold]
    pub(crate) fn take_foreign(&mut self, frame: &[u8]) {
        if self.expected.verifier.is_broadcast(frame) {
            self.counts.broadcast += 1;
            return;
        }
        self.counts.foreign += 1;
        match foreign_frame(frame) {
            ForeignFrame::IcmpError(error) => {
                self.counts.icmp += 1;
                let of_background = error
                    .quoted
                    .and_then(|tag| self.expected.verifier.is_answered_background(tag));
                self.icmp_errors.count(&error, of_background);
            }
            ForeignFrame::Icmp => self.counts.icmp += 1,
            ForeignFrame::Fragment => self.counts.fragments += 1,
            ForeignFrame::Other => {}
        }
    }

    /// Returns the ICMP errors that arrived, and leaves none.
    pub(crate) fn take_icmp_errors(&mut self) -> IcmpErrorTable {
        std::mem::replace(&mut self.icmp_errors, IcmpErrorTable::new())
    }

    /// Returns the fault that frames of a direction had arrived before they were sent, according to the clocks of both ends.
    pub(crate) fn arrived_before_sent(&self, direction: Direction) -> Option<Fault> {
        fault::arrived_before_sent(
            direction,
            self.counts.before_sent,
            self.counts.before_sent_ns,
        )
    }

    /// Returns the number of different frames that were seen.
    #[inline]
    pub(crate) fn distinct(&self) -> u64 {
        self.counts.distinct
    }

    /// Returns the numbers of the frames seen.
    pub(crate) fn seen(&self) -> &Bitmap {
        &self.seen
    }

    /// Returns the time at which the last frame so far was received, in nanoseconds; 0 if there was none.
    #[inline]
    pub(crate) fn last_arrival_ns(&self) -> u64 {
        self.last_arrival_ns
    }

    /// Marks the frame as seen; returns whether it is the first with its number, and takes note of its order or of a duplicate.
    #[inline(always)]
    fn is_new(&mut self, tag: Tag) -> bool {
        if !self.seen.set(tag.sequence) {
            self.note_duplicate(tag);
            return false;
        }
        self.counts.distinct += 1;
        self.order_mut(tag).take(tag.sequence);
        true
    }

    #[inline(always)]
    fn order_mut(&mut self, tag: Tag) -> &mut ArrivalOrder {
        let queue = if self.orders.len() == 1 {
            0
        } else {
            tag.sequence % self.orders.len() as u64
        };
        let kind = usize::from(self.expected.verifier.is_background(tag));
        &mut self.orders[queue as usize][kind]
    }

    #[cold]
    fn note_duplicate(&mut self, tag: Tag) {
        self.counts.duplicate += 1;
        let distance = self.order_mut(tag).distance(tag.sequence);
        self.duplicate_distances.take(distance);
    }

    #[inline(always)]
    fn take_right(&mut self, tag: Tag, arrival: Arrival) {
        let delay = self.delay(tag, arrival);
        if self.is_late(delay) {
            self.counts.late += 1;
            self.note_faulty(tag, FrameFault::Late);
            self.expected.delays.take_late(delay.delay_ns);
            self.miss(tag.sequence);
            return;
        }
        self.counts.received += 1;
        self.expected.delays.take(tag.sequence, delay);
        self.note_arrival(arrival.by_ns);
    }

    /// Returns whether a frame with this delay arrived after the frame timeout.
    #[inline(always)]
    fn is_late(&self, delay: DelayInterval) -> bool {
        self.expected.timeout_ns > 0 && delay.is_surely_above(self.expected.timeout_ns)
    }

    /// Returns the delay of a right frame. By the clocks of both ends it may have arrived before it was sent, but by no more than these are known to
    /// differ (see [`Self::judge_time`]): then it took no time that they can show.
    #[inline(always)]
    fn delay(&self, tag: Tag, arrival: Arrival) -> DelayInterval {
        debug_assert!(
            tag.time_ns <= arrival.by_ns + self.expected.clocks_apart_ns,
            "judged before"
        );
        DelayInterval {
            delay_ns: arrival.by_ns.saturating_sub(tag.time_ns),
            width_ns: arrival.width_ns(),
        }
    }

    /// Notes a frame that does not count as received because it is wrong.
    #[cold]
    fn take_wrong(
        &mut self,
        frame: &[u8],
        tag: Tag,
        fault: FrameFault,
        mismatch: Mismatch,
        arrival: Arrival,
    ) {
        self.note_faulty(tag, fault);
        self.wrong_fields.count(
            tag.sequence,
            (mismatch, self.expected.verifier.is_background(tag)),
        );
        self.miss(tag.sequence);
        self.keep(frame, tag, mismatch, arrival.by_ns);
    }

    #[inline]
    fn note_arrival(&mut self, now_ns: u64) {
        if self.last_arrival_ns > 0
            && now_ns - self.last_arrival_ns > self.silence.1 - self.silence.0
        {
            self.silence = (self.last_arrival_ns, now_ns);
        }
        self.last_arrival_ns = now_ns;
    }

    #[cold]
    fn note_faulty(&mut self, tag: Tag, fault: FrameFault) {
        if let Some(faulty) = &mut self.faulty {
            faulty.bitmap_mut(fault).set(tag.sequence);
        }
    }

    fn miss(&mut self, sequence: u64) {
        let bin = self.bin_of(sequence);
        self.bins[bin] += 1;
        self.last_missing = self.last_missing.max(Some(sequence));
        if let Some(counts) = self.counts_of_size(sequence) {
            counts.not_received += 1;
        }
    }

    /// Returns the counts of the size of a frame; `None` if all frames have the same size.
    fn counts_of_size(&mut self, sequence: u64) -> Option<&mut SizeCounts> {
        let place = self.expected.verifier.size_order()?.place(sequence);
        self.sizes.get_mut(place)
    }

    /// Returns the bin of a frame by its due time.
    fn bin_of(&self, sequence: u64) -> usize {
        let due_ns = self.expected.schedule.due_ns(sequence);
        ((due_ns / LOSS_BIN_NS) as usize).min(self.bins.len() - 1)
    }

    fn keep(&mut self, frame: &[u8], tag: Tag, mismatch: Mismatch, arrived_ns: u64) {
        if self.examples.len() == EXAMPLES {
            return;
        }
        let start = self.kept.len();
        self.kept
            .extend_from_slice(&frame[..frame.len().min(EXAMPLE_OCTETS)]);
        self.examples.push(Example {
            tag,
            mismatch,
            arrived_ns,
            octets: start..self.kept.len(),
        });
    }

    /// Writes the counts into `result`; `sent` are the numbers of the frames that were sent.
    pub(crate) fn finish(mut self, result: &mut DirectionResult, sent: SentNumbers) {
        debug_assert_eq!(self.run.len(), 0, "the last poll has ended");
        let sent = &sent.without_broadcasts(self.expected.verifier.broadcasts());
        let counts = &self.counts;
        result.change_details(|details| with_forwarded(details, counts.broadcast));
        result.received = counts.received;
        result.late = counts.late;
        result.mistranslated = counts.mistranslated;
        result.corrupt = counts.corrupt;
        result.duplicate = counts.duplicate;
        result.reordered = counts.reordered + self.reordered();
        result.foreign = counts.foreign;
        result.icmp = counts.icmp;
        result.fragments = counts.fragments;
        result.misdirected = counts.misdirected;
        result.defective = counts.defective;
        result.wrong_fields = self
            .wrong_fields
            .by_name(|mismatch, of| self.expected.verifier.name_of(mismatch, of));
        result.reordering_extents = self.all_extents().distribution();
        result.duplicate_distances = self.duplicate_distances.distribution();
        let mut lost = Vec::new();
        if result.not_received() > 0 {
            let seen = std::mem::replace(&mut self.seen, Bitmap::new(0));
            let mut gaps = GapFinder::new(sent);
            for (nth, sequence) in sent.missing(&seen).enumerate() {
                self.miss(sequence);
                gaps.take(sequence);
                let explained = if nth < EXAMPLES {
                    self.expected.verifier.explain_missing(sequence)
                } else {
                    None
                };
                lost.extend(explained);
            }
            gaps.end();
            result.gaps = gaps.lengths.distribution();
            result.gap_distances = gaps.distances.distribution();
            result.lost_by_bin = std::mem::take(&mut self.bins);
        }
        result.sizes = self.all_sizes(sent);
        let since_start = |ns: u64| ns.saturating_sub(self.pacer.start_ns);
        result.last_missing_ns = self
            .last_missing
            .map(|sequence| self.expected.schedule.due_ns(sequence));
        let (from_ns, to_ns) = (since_start(self.silence.0), since_start(self.silence.1));
        result.silence = (to_ns > 0).then_some(Silence { from_ns, to_ns });
        result.examples = self
            .examples
            .iter()
            .map(|example| self.explain(example))
            .chain(lost)
            .collect();
        let mut delays = self.expected.delays;
        (result.delay, result.tagged, result.ipdv) =
            (delays.summary(), delays.tagged(), delays.ipdv());
        result.delays = delays.buckets();
    }

    /// Returns the counts of each size, those that were sent included; empty if all frames have the same size.
    fn all_sizes(&mut self, sent: &SentNumbers) -> Vec<SizeCounts> {
        let mut sizes = std::mem::take(&mut self.sizes);
        if let Some(order) = self.expected.verifier.size_order() {
            sent.count_sizes(order, &mut sizes);
        }
        sizes
    }

    /// Returns the number of frames that were reordered on the way to this receiver.
    fn reordered(&self) -> u64 {
        let orders = self.orders.iter().flatten();
        orders.map(ArrivalOrder::reordered).sum()
    }

    /// Returns the extents of all reordered frames, those of other receivers included.
    fn all_extents(&self) -> LengthRecorder {
        let mut all = self.extents.clone();
        for order in self.orders.iter().flatten() {
            all.add(order.extents());
        }
        all
    }

    /// Returns a description of an example in one line.
    fn explain(&self, example: &Example) -> String {
        let Example {
            tag,
            mismatch,
            arrived_ns,
            ..
        } = *example;
        let verifier = &self.expected.verifier;
        let bound_ns = match mismatch {
            Mismatch::SentBeforeDue => self.pacer.due_time(tag.sequence),
            Mismatch::SentAfterArrival => arrived_ns,
            _ => return verifier.explain(&self.kept[example.octets.clone()], tag, mismatch),
        };
        verifier.explain_time(tag, mismatch, self.pacer.start_ns, bound_ns)
    }
}

/// Returns the details with the number of broadcast frames that were forwarded, if the trial has some.
fn with_forwarded(details: DirectionDetails, forwarded: u64) -> DirectionDetails {
    let broadcasts = details.broadcasts.map(|counts| BroadcastCounts {
        forwarded,
        ..counts
    });
    DirectionDetails {
        broadcasts,
        ..details
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::profile::TrafficProfile;
    use crate::frames::stream::{LinkMacs, Stream, StreamSource};
    use sixbench_method::terms::{Direction, FrameRate, FrameSize, SECOND_NS};
    use sixbench_method::trial::{TrialKind, TrialSpec};
    use sixbench_stats::SplitMix64;
    use sixbench_wire::MacAddress;
    use sixbench_wire::template::StampedTime;

    /// The frames of a trial whose first one was due at `start_ns`, and their receiver.
    struct RiggedTrial {
        tally: FrameTally,
        stream: Stream,
    }

    impl RiggedTrial {
        fn new(spec: TrialSpec, timeout_ns: u64, start_ns: u64) -> Self {
            let address = |text: &str| text.parse().expect("address");
            let profile = TrafficProfile::identity(
                address("198.18.0.2"),
                address("198.19.0.2"),
                FrameSize(84),
            );
            let source = StreamSource {
                profile: &profile,
                spec: &spec,
                direction: Direction::Forward,
                trial: 0,
                conversation: None,
            };
            let stream = || {
                let macs = LinkMacs {
                    own: MacAddress([2; 6]),
                    peer: MacAddress([4; 6]),
                };
                Stream::expected(source, macs).expect("a stream")
            };
            let expected = ExpectedFrames {
                verifier: Verifier::new(stream(), spec.frames(), false),
                delays: Delays::new(None, false),
                schedule: spec.schedule(),
                burst: NonZeroU32::MIN,
                duration_ns: spec.duration_ns,
                timeout_ns,
                clocks_apart_ns: CLOCKS_APART_NS,
                first_trial_ns: Some(SECOND_NS),
            };
            let mut tally = FrameTally::new(expected, QueueCounts::SINGLE);
            tally.begin(start_ns);
            Self {
                tally,
                stream: stream(),
            }
        }

        /// Returns the frame of this number, sent at this time.
        fn frame(&self, sequence: u64, time_ns: u64) -> Vec<u8> {
            let kind = self.stream.kind(sequence).0;
            kind.template
                .patched(
                    &self
                        .stream
                        .variable(kind, sequence, StampedTime::new(time_ns)),
                )
                .to_vec()
        }

        fn take(&mut self, sequence: u64, time_ns: u64, arrival: Arrival) -> FrameClass {
            let frame = self.frame(sequence, time_ns);
            let class = self.tally.take(&frame, arrival, &mut |_| ());
            self.tally.end_poll(&mut |_| ());
            class
        }
    }

    /// A frame that arrives, with the poll that hands it out.
    #[derive(Clone, Copy)]
    struct RiggedArrival {
        sequence: u64,
        time_ns: u64,
        arrival: Arrival,
        ends_poll: bool,
    }

    /// Returns arrivals in batches with one time of sending each, some of which are split, swapped, repeated or sent too early.
    fn rigged_arrivals(random: &mut SplitMix64, frames: u64, start_ns: u64) -> Vec<RiggedArrival> {
        let (mut arrivals, mut sequence) = (Vec::new(), 0);
        while sequence < frames {
            let batch = (1 + random.next_u64() % 100).min(frames - sequence);
            let early_ns = if random.next_u64().is_multiple_of(8) {
                3
            } else {
                0
            };
            let time_ns = start_ns + (sequence + batch - 1) - early_ns;
            let arrival = Arrival {
                since_ns: time_ns + random.next_u64() % 2 * 9,
                by_ns: time_ns + 10 + random.next_u64() % 3,
            };
            let received = |sequence| RiggedArrival {
                sequence,
                time_ns,
                arrival,
                ends_poll: false,
            };
            arrivals.extend((sequence..sequence + batch).map(received));
            sequence += batch;
        }
        for _ in 0..random.next_u64() % 20 {
            let any = random.next_u64() as usize % arrivals.len();
            let other = random.next_u64() as usize % arrivals.len();
            match random.next_u64() % 4 {
                0 => arrivals.swap(any, other),
                1 => arrivals.insert(other, arrivals[any]),
                2 => arrivals[any..].rotate_left(1),
                _ => arrivals[any].ends_poll = true,
            }
        }
        // Whatever was sent when, frames arrive one after another.
        let mut in_turn: Vec<Arrival> = arrivals.iter().map(|of| of.arrival).collect();
        in_turn.sort_unstable_by_key(|arrival| arrival.by_ns);
        for (of, arrival) in arrivals.iter_mut().zip(in_turn) {
            of.arrival = arrival;
        }
        arrivals
    }

    /// Returns what a receiver of these frames counts, and the numbers handed to `on_first`.
    fn counted(
        arrivals: &[RiggedArrival],
        spec: TrialSpec,
        timeout_ns: u64,
        has_runs: bool,
    ) -> (DirectionResult, Vec<u64>) {
        let mut trial = RiggedTrial::new(spec, timeout_ns, 7);
        trial.tally.has_runs &= has_runs;
        let mut firsts = Vec::new();
        let mut on_first = |tag: Tag| firsts.push(tag.sequence);
        for of in arrivals {
            let frame = trial.frame(of.sequence, of.time_ns);
            trial.tally.take(&frame, of.arrival, &mut on_first);
            if of.ends_poll {
                trial.tally.end_poll(&mut on_first);
            }
        }
        trial.tally.end_poll(&mut on_first);
        let frames = spec.frames();
        let mut result = DirectionResult::counted(Direction::Forward, frames, 0);
        trial
            .tally
            .finish(&mut result, SentNumbers::InTurn(vec![frames]));
        (result, firsts)
    }

    #[test]
    fn frames_that_are_counted_together_count_as_each_for_itself() {
        let spec = TrialSpec::burst(FrameRate(1_000_000_000), 700);
        let (mut random, mut duplicates, mut late) = (SplitMix64::new(1), 0, 0);
        for round in 0..400 {
            let arrivals = rigged_arrivals(&mut random, spec.frames(), 7);
            // Delays are from 10 to 12 ns, of which the receiver knows nothing, or that they are above 8.
            let timeout_ns = [0, 1][round % 2];
            let [together, apart] =
                [true, false].map(|has_runs| counted(&arrivals, spec, timeout_ns, has_runs));
            assert_eq!(together, apart, "round {round}");
            duplicates += together.0.duplicate;
            late += together.0.late;
        }
        assert!(duplicates > 0 && late > 0, "{duplicates}, {late}");
    }

    /// Returns the verdicts on frames with these numbers and times of sending, which arrive at `now_ns`; the first frame was due at 7 ns.
    fn verdicts(spec: TrialSpec, sent: &[(u64, u64)], now_ns: u64) -> Vec<Option<Mismatch>> {
        let mut trial = RiggedTrial::new(spec, 0, 7);
        let mut verdict = |&(sequence, time_ns): &(u64, u64)| match trial.take(
            sequence,
            time_ns,
            Arrival::at(now_ns),
        ) {
            FrameClass::Right(_) => None,
            FrameClass::Corrupt(_, mismatch) => Some(mismatch),
            class => panic!("{class:?}"),
        };
        sent.iter().map(&mut verdict).collect()
    }

    #[test]
    fn a_frame_that_was_held_since_a_trial_of_the_same_number_is_foreign_and_takes_no_frames_place()
    {
        let (spec, start_ns) = (
            TrialSpec::constant(FrameRate(10), SECOND_NS),
            100 * SECOND_NS,
        );
        let mut trial = RiggedTrial::new(spec, 0, start_ns);
        let arrival = Arrival::at(start_ns + 900 * 1_000_000);
        for sequence in 0..5 {
            // The same number of a trial, and all else as in this one: only the time of sending is that of 64 trials before.
            assert_eq!(
                trial.take(sequence, 36 * SECOND_NS + sequence, arrival),
                FrameClass::Foreign
            );
            let mut spoilt = trial.frame(sequence, 36 * SECOND_NS + sequence);
            let last = spoilt.len() - 1;
            spoilt[last] ^= 1;
            assert_eq!(
                trial.tally.take(&spoilt, arrival, &mut |_| ()),
                FrameClass::Foreign,
                "whatever the device did to it"
            );
        }
        for sequence in 0..10 {
            let sent_ns = start_ns + sequence * SECOND_NS / 10 + 50;
            assert!(
                matches!(trial.take(sequence, sent_ns, arrival), FrameClass::Right(_)),
                "{sequence}"
            );
        }
        let ReceiverCounts {
            distinct,
            received,
            corrupt,
            duplicate,
            reordered,
            mistranslated,
            ..
        } = trial.tally.counts;
        assert_eq!(
            (
                distinct,
                received,
                corrupt,
                duplicate,
                reordered,
                mistranslated
            ),
            (10, 10, 0, 0, 0, 0)
        );
        // A time at which there was no trial yet was damaged on the way.
        assert!(matches!(
            trial.take(0, SECOND_NS - 1, arrival),
            FrameClass::Corrupt(_, Mismatch::SentBeforeDue)
        ));
    }

    #[test]
    fn a_frame_is_late_only_if_it_is_wherever_it_arrived_since_the_last_poll() {
        let (spec, timeout_ns) = (TrialSpec::constant(FrameRate(10), SECOND_NS), 1_000_000);
        let mut trial = RiggedTrial::new(spec, timeout_ns, 0);
        let polled = |since_ns| Arrival {
            since_ns,
            by_ns: 1_500_000,
        };
        trial.take(0, 0, polled(1_000_000));
        assert_eq!(
            (trial.tally.counts.received, trial.tally.counts.late),
            (1, 0),
            "it may have been in time"
        );
        let sent_ns = SECOND_NS / 10;
        let later = |since_ns| Arrival {
            since_ns: since_ns + sent_ns,
            by_ns: sent_ns + 1_500_000,
        };
        trial.take(1, sent_ns, later(1_000_001));
        assert_eq!(
            (trial.tally.counts.received, trial.tally.counts.late),
            (1, 1)
        );
    }

    #[test]
    fn a_frame_may_be_sent_when_it_is_due_and_no_nanosecond_before() {
        let early = Some(Mismatch::SentBeforeDue);
        let spec = TrialSpec::constant(FrameRate(3), SECOND_NS);
        let due = 7 + SECOND_NS / 3;
        let sent = [(0, 7), (0, 6), (1, due), (1, due - 1), (2, 0)];
        assert_eq!(
            verdicts(spec, &sent, SECOND_NS),
            [None, early, None, early, early]
        );
        let drop = TrialKind::Drop {
            at_ns: SECOND_NS,
            to: FrameRate(10),
        };
        let spec = TrialSpec {
            kind: drop,
            ..TrialSpec::constant(FrameRate(1000), 2 * SECOND_NS)
        };
        let due = 7 + SECOND_NS + SECOND_NS / 10;
        assert_eq!(
            verdicts(spec, &[(1001, due), (1001, due - 1)], 2 * SECOND_NS),
            [None, early],
            "in a later stretch"
        );
    }

    #[test]
    fn a_frame_may_seem_to_arrive_before_it_was_sent_by_no_more_than_the_clocks_differ() {
        let spec = TrialSpec::constant(FrameRate(SECOND_NS), 10);
        let (now_ns, after) = (5_000, Some(Mismatch::SentAfterArrival));
        let sent = [
            (0, now_ns),
            (1, now_ns + CLOCKS_APART_NS),
            (2, now_ns + CLOCKS_APART_NS + 1),
            (3, 3600 * SECOND_NS),
        ];
        assert_eq!(verdicts(spec, &sent, now_ns), [None, None, after, after]);
    }
}
