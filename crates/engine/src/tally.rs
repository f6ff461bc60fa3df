//! The counts of the frames that one receiver saw, by sequence number: which came, how late, and what was wrong with them. Those of several
//! queues are put together in `queues`.

mod queues;

pub(crate) use queues::QueueCounts;

use crate::bitmap::Bitmap;
use crate::delay::Delays;
use crate::reach::reach;
use crate::sent::SentNumbers;
use crate::verify::{ForeignFrame, FrameClass, Mismatch, Verifier, foreign_frame};
use queues::{FaultyFrames, FrameFault};
use sixbench_method::trial::{DirectionResult, LOSS_BIN_NS, Schedule, Silence};
use sixbench_wire::tag::Tag;

/// Wrong frames kept for the report.
const EXAMPLES: usize = 5;
/// Octets kept of each: the largest frame, and some that should not be there.
const EXAMPLE_OCTETS: usize = 9_300;

/// The frames that a receiver is to expect.
pub(crate) struct ExpectedFrames {
    pub(crate) verifier: Verifier,
    /// When each frame is due; empty where nothing is.
    pub(crate) schedule: Schedule,
    /// Time of sending by the schedule, nanoseconds.
    pub(crate) duration_ns: u64,
    /// A frame later than this is not received; 0: no limit.
    pub(crate) timeout_ns: u64,
    /// The histograms into which delays go.
    pub(crate) delays: Delays,
}

/// The counts of the frames that a receiver saw.
pub(crate) struct FrameTally {
    expected: ExpectedFrames,
    seen: Bitmap,
    /// What became of the frames that are not simply right, by number, where other receivers may see frames of the same numbers.
    faulty: Option<FaultyFrames>,
    counts: ReceiverCounts,
    /// The highest sequence number so far of foreground and background, which take different ways through a DUT, of each queue that sends:
    /// between queues there is no order.
    highest: Box<[[Option<u64>; 2]]>,
    /// Frames not received, by bin.
    bins: Vec<u64>,
    /// The highest number of a frame not received.
    last_missing: Option<u64>,
    /// The time at which a frame was received last, in nanoseconds; 0: not yet.
    last_arrival_ns: u64,
    /// The longest time without one, from arrival to arrival.
    silence: (u64, u64),
    /// The time at which the first frame is due, in nanoseconds.
    start_ns: u64,
    examples: Vec<Example>,
    /// The examples' octets, one after the other, in memory taken before the trial.
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
    reordered: u64,
    foreign: u64,
    icmp: u64,
    fragments: u64,
    misdirected: u64,
    defective: u64,
}

struct Example {
    tag: Tag,
    mismatch: Mismatch,
    octets: std::ops::Range<usize>,
}

impl FrameTally {
    /// Counts nothing yet of the frames expected, which are sent by so many queues in turn and received by so many.
    pub(crate) fn new(expected: ExpectedFrames, queues: QueueCounts) -> Self {
        let reach = reach(&expected.schedule, queues.sending);
        let bins = expected.duration_ns.div_ceil(LOSS_BIN_NS).max(1);
        Self {
            seen: Bitmap::new(reach),
            faulty: (queues.receiving > 1).then(|| FaultyFrames::new(reach)),
            counts: ReceiverCounts::default(),
            highest: vec![[None; 2]; queues.sending.max(1)].into_boxed_slice(),
            bins: vec![0; bins as usize],
            last_missing: None,
            last_arrival_ns: 0,
            silence: (0, 0),
            start_ns: 0,
            examples: Vec::with_capacity(EXAMPLES),
            kept: Vec::with_capacity(EXAMPLES * EXAMPLE_OCTETS),
            expected,
        }
    }

    /// Counts a frame that arrived at `now_ns`; hands it to `on_first` where it is right and the first of its number.
    #[inline(always)]
    pub(crate) fn take(&mut self, frame: &[u8], now_ns: u64, on_first: &mut impl FnMut(Tag)) -> FrameClass {
        let class = self.expected.verifier.judge(frame);
        match class {
            FrameClass::Right(tag) => {
                if self.is_new(tag) {
                    on_first(tag);
                    self.expected.verifier.learn(frame, tag);
                    self.take_right(tag, now_ns);
                }
            }
            FrameClass::Defective(tag, mismatch) => {
                if self.is_new(tag) {
                    on_first(tag);
                    self.counts.defective += 1;
                    self.note_faulty(tag, FrameFault::Defective);
                    self.expected.verifier.learn(frame, tag);
                    self.take_right(tag, now_ns);
                    self.keep(frame, tag, mismatch);
                }
            }
            FrameClass::Mistranslated(tag, mismatch) => {
                if self.is_new(tag) {
                    self.counts.mistranslated += 1;
                    self.note_faulty(tag, FrameFault::Mistranslated);
                    self.miss(tag.sequence);
                    self.keep(frame, tag, mismatch);
                }
            }
            FrameClass::Corrupt(tag) => {
                if self.is_new(tag) {
                    self.counts.corrupt += 1;
                    self.note_faulty(tag, FrameFault::Corrupt);
                    self.miss(tag.sequence);
                }
            }
            FrameClass::Misdirected => self.counts.misdirected += 1,
            // Its receiver looks whether a neighbour sent it, and counts it.
            FrameClass::Foreign => {}
        }
        class
    }

    /// The first frame is due at `start_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// Counts a frame that is not one of the tester's, nor a neighbour's.
    #[cold]
    pub(crate) fn take_foreign(&mut self, frame: &[u8]) {
        self.counts.foreign += 1;
        match foreign_frame(frame) {
            ForeignFrame::Icmp => self.counts.icmp += 1,
            ForeignFrame::Fragment => self.counts.fragments += 1,
            ForeignFrame::Other => {}
        }
    }

    /// Returns the number of different frames seen.
    #[inline]
    pub(crate) fn distinct(&self) -> u64 {
        self.counts.distinct
    }

    /// The numbers of the frames seen.
    pub(crate) fn seen(&self) -> &Bitmap {
        &self.seen
    }

    /// Returns the time at which a frame was received last, in nanoseconds; 0: none yet.
    #[inline]
    pub(crate) fn last_arrival_ns(&self) -> u64 {
        self.last_arrival_ns
    }

    /// Marks the frame as seen; says whether it is the first of its number, and counts order and duplicates.
    #[inline(always)]
    fn is_new(&mut self, tag: Tag) -> bool {
        if !self.seen.set(tag.sequence) {
            self.counts.duplicate += 1;
            return false;
        }
        self.counts.distinct += 1;
        let queue = if self.highest.len() == 1 { 0 } else { tag.sequence % self.highest.len() as u64 };
        let highest = &mut self.highest[queue as usize][usize::from(self.expected.verifier.is_background(tag))];
        if highest.is_some_and(|highest| tag.sequence < highest) {
            self.counts.reordered += 1;
        } else {
            *highest = Some(tag.sequence);
        }
        true
    }

    #[inline(always)]
    fn take_right(&mut self, tag: Tag, now_ns: u64) {
        // The stamp of a batch may be a little older than the youngest frame in it.
        let delay = now_ns.saturating_sub(tag.time_ns);
        if self.expected.timeout_ns > 0 && delay > self.expected.timeout_ns {
            self.counts.late += 1;
            self.note_faulty(tag, FrameFault::Late);
            self.expected.delays.take_late(delay);
            self.miss(tag.sequence);
            return;
        }
        self.counts.received += 1;
        self.expected.delays.take(tag.sequence, delay);
        self.note_arrival(now_ns);
    }

    #[inline]
    fn note_arrival(&mut self, now_ns: u64) {
        if self.last_arrival_ns > 0 && now_ns - self.last_arrival_ns > self.silence.1 - self.silence.0 {
            self.silence = (self.last_arrival_ns, now_ns);
        }
        self.last_arrival_ns = now_ns;
    }

    #[cold]
    fn note_faulty(&mut self, tag: Tag, fault: FrameFault) {
        if let Some(faulty) = &mut self.faulty {
            faulty.of(fault).set(tag.sequence);
        }
    }

    fn miss(&mut self, sequence: u64) {
        let bin = self.bin_of(sequence);
        self.bins[bin] += 1;
        self.last_missing = self.last_missing.max(Some(sequence));
    }

    /// Returns the bin of a frame by its due time.
    fn bin_of(&self, sequence: u64) -> usize {
        let due_ns = self.expected.schedule.due_ns(sequence);
        ((due_ns / LOSS_BIN_NS) as usize).min(self.bins.len() - 1)
    }

    fn keep(&mut self, frame: &[u8], tag: Tag, mismatch: Mismatch) {
        if self.examples.len() == EXAMPLES {
            return;
        }
        let start = self.kept.len();
        self.kept.extend_from_slice(&frame[..frame.len().min(EXAMPLE_OCTETS)]);
        self.examples.push(Example { tag, mismatch, octets: start..self.kept.len() });
    }

    /// Writes what was counted into `result`; `sent` are the numbers of the frames that were sent.
    pub(crate) fn finish(mut self, result: &mut DirectionResult, sent: &SentNumbers) {
        let counts = &self.counts;
        result.received = counts.received;
        result.late = counts.late;
        result.mistranslated = counts.mistranslated;
        result.corrupt = counts.corrupt;
        result.duplicate = counts.duplicate;
        result.reordered = counts.reordered;
        result.foreign = counts.foreign;
        result.icmp = counts.icmp;
        result.fragments = counts.fragments;
        result.misdirected = counts.misdirected;
        result.defective = counts.defective;
        let mut lost = Vec::new();
        if result.not_received() > 0 {
            let seen = std::mem::replace(&mut self.seen, Bitmap::new(0));
            for (nth, sequence) in sent.missing(&seen).enumerate() {
                self.miss(sequence);
                let explained = if nth < EXAMPLES { self.expected.verifier.explain_missing(sequence) } else { None };
                lost.extend(explained);
            }
            result.lost_by_bin = std::mem::take(&mut self.bins);
        }
        let since_start = |ns: u64| ns.saturating_sub(self.start_ns);
        result.last_missing_ns = self.last_missing.map(|sequence| self.expected.schedule.due_ns(sequence));
        let (from_ns, to_ns) = (since_start(self.silence.0), since_start(self.silence.1));
        result.silence = (to_ns > 0).then_some(Silence { from_ns, to_ns });
        let verifier = &self.expected.verifier;
        let explained = self.examples.iter().map(|e| verifier.explain(&self.kept[e.octets.clone()], e.tag, e.mismatch));
        result.examples = explained.chain(lost).collect();
        let mut delays = self.expected.delays;
        (result.delay, result.tagged, result.ipdv) = (delays.summary(), delays.tagged(), delays.ipdv());
        result.delays = delays.buckets();
    }
}
