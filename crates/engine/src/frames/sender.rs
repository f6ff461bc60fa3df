//! A paced sender of one direction, or of a queue's share of it. It sends the frames that are due, and never waits to fill a batch.

use super::burst_timer::BurstTimer;
use super::flow::DrawnPorts;
use super::stream::{FlowPattern, KindNumber, Stream};
use super::window::{RequestLog, RequestSlots};
use crate::pacing::pacer::{Pacer, ThreadShare};
use crate::pacing::reach::reach;
use crate::pacing::sending::{GIVE_UP_LATENESS_NS, PacedSending};
use sixbench_io::{BATCH, PortError, Sent, Transmit};
use sixbench_method::trial::{BurstTimes, Schedule};
use sixbench_wire::template::{PlainPatch, StampedTime, Template, TunnelPatch};
use std::num::NonZeroU32;
use std::sync::Arc;

/// One direction being sent by one queue.
pub(crate) struct Sender<'a> {
    port: &'a mut dyn Transmit,
    stream: Stream,
    pub(crate) sending: PacedSending,
    /// The number of its frames for which receivers have room in their tables.
    reach: u64,
    writer: Writer,
    is_flushed: bool,
    refused: u64,
    /// The requests that may wait for their replies, if the sender waits for them.
    requests: Option<RequestSlots>,
    /// `None` if every frame leaves at its own time.
    bursts: Option<BurstTimer>,
}

impl<'a> Sender<'a> {
    /// Returns a sender of a queue's share of `stream` by `schedule`; a frame more than `stall_ns` behind its due time counts as late.
    pub(crate) fn new(
        port: &'a mut dyn Transmit,
        stream: Stream,
        schedule: &Schedule,
        share: ThreadShare,
        stall_ns: u64,
    ) -> Self {
        let sending = PacedSending::new(Pacer::share(schedule, share), stall_ns);
        let writer = Writer::new(&stream, port.slots());
        let reach = share.part_of(reach(schedule, share.of as usize));
        // A queue without frames has nothing to flush.
        let is_flushed = sending.pacer.frames() == 0;
        Self {
            port,
            stream,
            sending,
            reach,
            writer,
            is_flushed,
            refused: 0,
            requests: None,
            bursts: None,
        }
    }

    /// Returns the same sender, which waits for replies to its requests according to `log`, if there is one.
    pub(crate) fn waiting_for_replies(self, log: Option<Arc<RequestLog>>) -> Self {
        let requests = log.map(|log| RequestSlots::new(log, &self.sending.pacer));
        Self { requests, ..self }
    }

    /// Returns the same sender, which sends bursts of so many frames.
    pub(crate) fn in_bursts_of(mut self, burst: NonZeroU32) -> Self {
        self.sending.pacer = self.sending.pacer.in_bursts_of(burst);
        self.bursts = (burst > NonZeroU32::MIN).then(|| BurstTimer::new(burst));
        self
    }

    /// Returns the log that it shares with the receivers of replies, if it waits for these.
    pub(crate) fn request_log(&self) -> Option<&Arc<RequestLog>> {
        self.requests.as_ref().map(|requests| &requests.log)
    }

    /// Sets the time at which the first frame is due.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.sending.pacer.begin(start_ns);
        self.requests
            .iter_mut()
            .for_each(|requests| requests.begin(start_ns));
    }

    /// Sends the frames that are due at `now_ns`, at most a batch.
    #[inline]
    pub(crate) fn poll(&mut self, now_ns: u64) -> Result<(), PortError> {
        if let Some(bursts) = &mut self.bursts {
            bursts.note_return(now_ns);
        }
        if self.sending.has_sent_all() {
            return self.flush(now_ns);
        }
        let pacer = &mut self.sending.pacer;
        let due = match &mut self.requests {
            None => pacer.due(now_ns, BATCH),
            Some(requests) => requests.admit(pacer, now_ns),
        };
        if due == 0 {
            return Ok(());
        }
        let (first, time) = (self.sending.pacer.next_number(), StampedTime::new(now_ns));
        let mut sequence = first;
        // Queues take turns, so from one frame of a queue to its next is as far as there are queues.
        let distance = self.sending.pacer.share.of;
        let next = || {
            sequence += distance;
            (sequence - distance, time)
        };
        let sent = self.writer.transmit(&self.stream, next, due, self.port)?;
        self.sending.note_sent(sent.taken, now_ns);
        if let Some(bursts) = self.bursts.as_mut().filter(|_| sent.taken > 0) {
            let next = self.sending.pacer.next_number();
            bursts.note_sent(first, next - distance, next, now_ns);
        }
        self.requests
            .iter_mut()
            .for_each(|requests| requests.note_sent(sent.taken, first, now_ns));
        // Receivers have no room for frames beyond the reach, so the sender ends before a whole batch might go there.
        let pacer = &self.sending.pacer;
        self.sending.gave_up |=
            self.reach < pacer.frames() && pacer.sent() + BATCH as u64 > self.reach;
        self.refused += sent.refused as u64;
        Ok(())
    }

    /// Flushes the frames that the port still holds. A port that keeps holding them, such as that of a link that is down, is given up: then the
    /// last frame leaves now at the earliest, and the trial was too slow.
    #[cold]
    fn flush(&mut self, now_ns: u64) -> Result<(), PortError> {
        let flushed = self.port.flush()?;
        self.is_flushed = flushed.is_empty;
        self.refused += flushed.refused as u64;
        if !self.is_flushed && now_ns.saturating_sub(self.sending.last_ns) > GIVE_UP_LATENESS_NS {
            self.is_flushed = true;
            self.sending.last_ns = now_ns;
        }
        Ok(())
    }

    /// Returns whether nothing more will leave, including the frames that the port held.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.is_flushed
    }

    /// Returns the number of its frames that no receiver is to wait for: broadcast frames, and those that were left out, because the time was over while it
    /// waited for replies.
    pub(crate) fn not_expected(&self) -> u64 {
        let left_out = self
            .requests
            .as_ref()
            .map_or(0, |requests| requests.left_out);
        left_out + self.broadcasts().map_or(0, |(planned, _)| planned)
    }

    /// Returns how many of its frames are broadcast, of those in the schedule and of those that it has sent; `None` if none is.
    pub(crate) fn broadcasts(&self) -> Option<(u64, u64)> {
        let (order, pacer) = (self.stream.broadcasts()?, &self.sending.pacer);
        let (first, step) = (pacer.share.index, pacer.share.of);
        Some((
            order.among(first, step, pacer.frames()),
            order.among(first, step, pacer.sent()),
        ))
    }

    /// Returns how its bursts left; `None` if every frame left at its own time.
    pub(crate) fn burst_times(&self) -> Option<BurstTimes> {
        self.bursts.as_ref().map(BurstTimer::times)
    }

    /// Returns the number of its frames for which the DUT had no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }
}

/// Writes frames into buffers, copying a template only if the buffer holds another one.
pub(crate) struct Writer {
    /// The kind of frame that each buffer holds; `None` where that is not known.
    held: Vec<Option<KindNumber>>,
    way: WritingWay,
}

/// The way in which the frames of a stream are written, fastest first.
enum WritingWay {
    /// Plain datagrams in which only the ports vary, apart from number and time.
    Ports(DrawnPorts, PlainPatch),
    /// Plain datagrams.
    Plain(FlowPattern, PlainPatch),
    /// Datagrams in a tunnel.
    Tunnel(FlowPattern, TunnelPatch),
    /// All others.
    Any,
}

impl WritingWay {
    fn for_stream(stream: &Stream) -> Self {
        let Some((pattern, template)) = stream.only_kind() else {
            return Self::Any;
        };
        match (PlainPatch::new(template), stream.drawn_ports()) {
            (Some(patch), Some(ports)) => Self::Ports(ports, patch),
            (Some(patch), None) => Self::Plain(pattern.clone(), patch),
            (None, _) => TunnelPatch::new(template)
                .map_or(Self::Any, |patch| Self::Tunnel(pattern.clone(), patch)),
        }
    }
}

impl Writer {
    /// Returns a writer for frames of `stream` into the buffers of a port with this number of slots.
    pub(crate) fn new(stream: &Stream, slots: usize) -> Self {
        Self {
            held: vec![None; slots],
            way: WritingWay::for_stream(stream),
        }
    }

    /// Makes `port` send up to `wanted` frames with the numbers and times that `next` gives. The kind of stream is checked only once for all of them.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        stream: &Stream,
        mut next: impl FnMut() -> (u64, StampedTime),
        wanted: usize,
        port: &mut dyn Transmit,
    ) -> Result<Sent, PortError> {
        let held = &mut self.held;
        match &self.way {
            // These are copies, which the compiler can keep in registers: for all it knows, a reference might point into the frame being written.
            &WritingWay::Ports(ports, patch) if patch.is_ipv4() => {
                write_each(stream, held, next, wanted, port, |frame, sequence, time| {
                    patch.patch_ports::<true>(frame, ports.at(sequence), sequence, time);
                })
            }
            &WritingWay::Ports(ports, patch) => {
                write_each(stream, held, next, wanted, port, |frame, sequence, time| {
                    patch.patch_ports::<false>(frame, ports.at(sequence), sequence, time);
                })
            }
            WritingWay::Plain(pattern, patch) => {
                write_each(stream, held, next, wanted, port, |frame, sequence, time| {
                    patch.patch(
                        frame,
                        &pattern.variable(sequence, stream.turn(sequence), time),
                    );
                })
            }
            WritingWay::Tunnel(pattern, patch) => {
                write_each(stream, held, next, wanted, port, |frame, sequence, time| {
                    patch.patch(
                        frame,
                        &pattern.variable(sequence, stream.turn(sequence), time),
                    );
                })
            }
            WritingWay::Any => port.transmit(wanted, &mut |slot, buffer| {
                let (sequence, time) = next();
                write(stream, sequence, time, &mut held[slot], buffer)
            }),
        }
    }
}

/// Makes `port` send up to `wanted` foreground frames with the numbers and times that `next` gives, each completed by `patch`.
#[inline(always)]
fn write_each(
    stream: &Stream,
    held: &mut [Option<KindNumber>],
    mut next: impl FnMut() -> (u64, StampedTime),
    wanted: usize,
    port: &mut dyn Transmit,
    patch: impl Fn(&mut [u8], u64, StampedTime),
) -> Result<Sent, PortError> {
    let (kind, number) = stream.kind(0);
    let template = &kind.template;
    port.transmit(wanted, &mut |slot, buffer| {
        let frame = template_in(&mut held[slot], buffer, template, number);
        let (sequence, time) = next();
        patch(frame, sequence, time);
        frame.len()
    })
}

/// Writes frame `sequence` of `stream` into a buffer; returns its octets.
#[inline]
fn write(
    stream: &Stream,
    sequence: u64,
    time: StampedTime,
    held: &mut Option<KindNumber>,
    buffer: &mut [u8],
) -> usize {
    let (kind, number) = stream.kind(sequence);
    let frame = template_in(held, buffer, &kind.template, number);
    kind.template
        .patch(frame, &stream.variable(kind, sequence, time));
    frame.len()
}

/// Returns the part of a buffer that holds a frame of the template, perhaps patched before.
#[inline(always)]
fn template_in<'b>(
    held: &mut Option<KindNumber>,
    buffer: &'b mut [u8],
    template: &Template,
    wanted: KindNumber,
) -> &'b mut [u8] {
    let octets = template.octets();
    let frame = &mut buffer[..octets.len()];
    if *held != Some(wanted) {
        frame.copy_from_slice(octets);
        *held = Some(wanted);
    }
    frame
}
