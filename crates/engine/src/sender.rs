//! The paced sender of one direction. Sends what is due, never waits to fill a batch, and keeps note of how late it was.

use crate::pacer::Pacer;
use crate::reach::reach;
use crate::stream::Stream;
use sixbench_io::{BATCH, PortError, Transmit};
use sixbench_method::terms::Direction;
use sixbench_method::trial::{DirectionResult, Schedule, Sending};
use sixbench_wire::template::StampedTime;

/// A sender so far behind gives up: the trial is invalid anyway.
pub(crate) const GIVE_UP_LATENESS_NS: u64 = 500_000_000;

/// Time before the last frame during which its core does nothing else, in nanoseconds.
pub(crate) const LAST_FRAME_WATCH_NS: u64 = 50_000;

/// One direction being sent.
pub(crate) struct Sender<'a> {
    port: &'a mut dyn Transmit,
    stream: Stream,
    pacer: Pacer,
    /// Number of frames of which receivers keep what is to be known.
    reach: u64,
    writer: Writer,
    stall_ns: u64,
    last_ns: u64,
    gave_up: bool,
    is_flushed: bool,
    sending: Sending,
    refused: u64,
}

impl<'a> Sender<'a> {
    /// Will send `stream` by `schedule`; a frame more than `stall_ns` behind its due time counts as late.
    pub(crate) fn new(port: &'a mut dyn Transmit, stream: Stream, schedule: &Schedule, stall_ns: u64) -> Self {
        let (pacer, reach) = (Pacer::new(schedule), reach(schedule));
        let writer = Writer::new(port.slots());
        let sending = Sending { nominal_ns: pacer.nominal_ns(), ..Sending::default() };
        Self {
            port,
            stream,
            pacer,
            reach,
            writer,
            stall_ns,
            last_ns: 0,
            gave_up: false,
            is_flushed: false,
            sending,
            refused: 0,
        }
    }

    /// The first frame is due at `start_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.pacer.begin(start_ns);
    }

    /// Sends what is due at `now_ns`, at most a batch.
    #[inline]
    pub(crate) fn poll(&mut self, now_ns: u64) -> Result<(), PortError> {
        if self.has_sent_all() {
            return self.flush(now_ns);
        }
        let due = self.pacer.due(now_ns, BATCH);
        if due == 0 {
            return Ok(());
        }
        let lateness_ns = now_ns - self.pacer.next_due_time();
        let (stream, writer, first) = (&self.stream, &mut self.writer, self.pacer.sent());
        let time = StampedTime::new(now_ns);
        let mut next = first;
        let sent = self.port.transmit(due, &mut |slot, buffer| {
            let length = writer.write(stream, next, time, slot, buffer);
            next += 1;
            length
        })?;
        self.note_lateness(lateness_ns, sent.taken);
        self.pacer.advance(sent.taken);
        self.refused += sent.refused as u64;
        if sent.taken > 0 {
            self.last_ns = now_ns;
        }
        Ok(())
    }

    /// Pushes on what the port still holds. A port that does not let go of it, as that of a link that is down, is given up: then the last
    /// frame leaves now at the earliest, and the trial was too slow.
    #[cold]
    fn flush(&mut self, now_ns: u64) -> Result<(), PortError> {
        self.is_flushed = self.port.flush()?;
        if !self.is_flushed && now_ns.saturating_sub(self.last_ns) > GIVE_UP_LATENESS_NS {
            self.is_flushed = true;
            self.last_ns = now_ns;
        }
        Ok(())
    }

    fn note_lateness(&mut self, lateness_ns: u64, taken: usize) {
        let is_at_reach = self.reach < self.pacer.frames() && self.pacer.sent() + (taken + BATCH) as u64 > self.reach;
        self.gave_up = lateness_ns > GIVE_UP_LATENESS_NS || is_at_reach;
        self.sending.worst_lateness_ns = self.sending.worst_lateness_ns.max(lateness_ns);
        if lateness_ns > self.stall_ns {
            self.sending.late_frames += taken as u64;
        }
    }

    /// Returns whether the last frame is due so soon that nothing else may come before it: by its sending the trial's duration
    /// is judged. Once it is overdue that is decided, and receiving matters more.
    #[inline]
    pub(crate) fn is_about_to_end(&self, now_ns: u64) -> bool {
        let last_due_ns = self.pacer.last_due_time();
        !self.has_sent_all() && (now_ns..now_ns + LAST_FRAME_WATCH_NS).contains(&last_due_ns)
    }

    /// Returns whether nothing more will be handed to the port.
    #[inline]
    fn has_sent_all(&self) -> bool {
        self.gave_up || self.pacer.is_done()
    }

    /// Returns whether nothing more will leave: what the port still held is on its way.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.is_flushed
    }

    /// Returns the counts of what was sent in `direction`; the counts of what was received are still to be filled in.
    pub(crate) fn finish(self, direction: Direction) -> DirectionResult {
        let took_ns = self.last_ns.saturating_sub(self.pacer.first_due_time());
        let mut result = DirectionResult::counted(direction, self.pacer.sent(), 0);
        result.intended = self.pacer.frames();
        result.refused = self.refused;
        result.sending = Sending { took_ns, ..self.sending };
        result
    }
}

/// Writes frames into buffers, copying a template only where the buffer holds another.
pub(crate) struct Writer {
    /// The kind of frame that each buffer holds.
    held: Vec<Held>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Unknown,
    Foreground,
    Background,
}

impl Writer {
    pub(crate) fn new(slots: usize) -> Self {
        Self { held: vec![Held::Unknown; slots] }
    }

    /// Writes frame `sequence` of `stream` into buffer `slot`; returns its octets.
    #[inline]
    pub(crate) fn write(&mut self, stream: &Stream, sequence: u64, time: StampedTime, slot: usize, buffer: &mut [u8]) -> usize {
        let (kind, is_background) = stream.kind(sequence);
        let wanted = if is_background { Held::Background } else { Held::Foreground };
        let octets = kind.template.octets();
        if self.held[slot] != wanted {
            buffer[..octets.len()].copy_from_slice(octets);
            self.held[slot] = wanted;
        }
        kind.template.patch(&mut buffer[..octets.len()], &stream.variable(kind, sequence, time));
        octets.len()
    }
}
