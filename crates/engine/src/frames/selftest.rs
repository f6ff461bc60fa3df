//! The tester's own limits: the rates that it reaches without a DUT and without a link.

use super::profile::TrafficProfile;
use super::sender::Writer;
use super::sent::SentNumbers;
use super::side::Viewpoint;
use super::stateful::{Conversation, ConversationStep, Mapped};
use super::stream::{LinkMacs, Stream, StreamSource};
use super::tally::{CLOCKS_APART_NS, ExpectedFrames, FrameTally, QueueCounts};
use super::verify::Verifier;
use crate::delay::Delays;
use crate::delay::arrival::Polls;
use sixbench_io::clock::Clock;
use sixbench_io::loopback::{Discard, FrameRing, FrameRingEnd};
use sixbench_io::{BATCH, Transmit};
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::{DirectionResult, TrialSpec};
use sixbench_wire::template::StampedTime;
use sixbench_wire::{MacAddress, WireError};
use std::num::NonZeroU32;

/// Generates `frames` frames of one direction of the profile with the same code that sends them, and discards them. Returns the rate reached on
/// the calling thread.
///
/// # Errors
/// No frames can be built for the profile: its addresses do not belong together, or its frame size is too short for the tag.
pub fn generate(
    profile: &TrafficProfile,
    direction: Direction,
    frames: u64,
    clock: &Clock,
) -> Result<FrameRate, WireError> {
    into_nothing(profile, direction, None, frames, clock)
}

/// Returns the rate at which the Initiator enumerates its four-tuples, `count` of them, starting over after the last.
///
/// # Panics
/// If the profile has no gateway, or no combinations for one connection.
pub fn enumerate(profile: &TrafficProfile, count: u64, clock: &Clock) -> FrameRate {
    let conversation = conversation(profile, 1);
    let size = conversation.combinations();
    let start_ns = clock.now_ns();
    let mut next = 0;
    for _ in 0..count {
        std::hint::black_box(conversation.tuple(next));
        next = if next + 1 == size { 0 } else { next + 1 };
    }
    rate_of(count, clock.now_ns() - start_ns)
}

/// Returns the rate at which the Initiator generates the frames of phase 1.
///
/// # Errors
/// If the frames of the profile cannot be built.
///
/// # Panics
/// If the profile has no gateway, or too few combinations.
pub fn open(
    profile: &TrafficProfile,
    connections: u64,
    clock: &Clock,
) -> Result<FrameRate, WireError> {
    into_nothing(
        profile,
        Direction::Forward,
        Some(&conversation(profile, connections)),
        connections,
        clock,
    )
}

/// The performance of the Responder in phase 2, from a full state table.
#[derive(Clone, Copy, Debug)]
pub struct ResponderPerformance {
    /// Octets of the table.
    pub table_octets: u64,
    /// The rate at which entries are read in the test's order.
    pub reads: FrameRate,
    /// The rate at which frames are generated.
    pub frames: FrameRate,
}

/// Fills the state table, then makes the Responder read it and generate frames from it.
///
/// # Errors
/// If the frames of the profile cannot be built.
///
/// # Panics
/// If the profile has no gateway, or too few combinations.
pub fn respond(
    profile: &TrafficProfile,
    connections: u64,
    clock: &Clock,
) -> Result<ResponderPerformance, WireError> {
    let conversation = conversation(profile, connections).at(ConversationStep::Use);
    let table = &conversation.table;
    (0..connections).for_each(|connection| {
        table.learn(
            connection,
            Mapped {
                part: 1,
                port: connection as u16,
            },
        );
    });
    let view = Viewpoint {
        at_initiator: false,
        of_initiator: false,
    };
    let start_ns = clock.now_ns();
    for index in 0..connections {
        std::hint::black_box(table.get(conversation.connection(view, index)));
    }
    let reads = rate_of(connections, clock.now_ns() - start_ns);
    let frames = into_nothing(
        profile,
        Direction::Reverse,
        Some(&conversation),
        connections,
        clock,
    )?;
    Ok(ResponderPerformance {
        table_octets: table.octets(),
        reads,
        frames,
    })
}

fn conversation(profile: &TrafficProfile, connections: u64) -> Conversation {
    let gateway = profile.gateway.as_ref().expect("a stateful profile");
    Conversation::new(profile, gateway, connections).expect("enough combinations")
}

fn rate_of(count: u64, took_ns: u64) -> FrameRate {
    FrameRate((u128::from(count) * 1_000_000_000 / u128::from(took_ns.max(1))) as u64)
}

/// The hardware addresses of the link in memory.
const MACS: LinkMacs = LinkMacs {
    own: MacAddress([2, 0, 0, 0, 0, 1]),
    peer: MacAddress([2, 0, 0, 0, 0, 2]),
};

fn into_nothing(
    profile: &TrafficProfile,
    direction: Direction,
    conversation: Option<&Conversation>,
    frames: u64,
    clock: &Clock,
) -> Result<FrameRate, WireError> {
    // The load does not matter, because nothing is paced here.
    let spec = TrialSpec::burst(FrameRate(1), frames);
    let source = StreamSource {
        profile,
        spec: &spec,
        direction,
        trial: 0,
        conversation,
    };
    let stream = Stream::sent(source, MACS)?;
    let mut port = Discard::new(stream.longest_octets());
    let mut writer = Writer::new(&stream, port.slots());
    let start_ns = clock.now_ns();
    let (mut sent, mut sequence) = (0, 0);
    while sent < frames {
        let time = StampedTime::new(clock.now_ns());
        let next = || {
            let number = sequence;
            // A batch may go past the last frame: the connections then start over.
            sequence = if sequence + 1 == frames {
                0
            } else {
                sequence + 1
            };
            (number, time)
        };
        // Sending into memory cannot fail, and takes a whole batch.
        let _ = writer.transmit(&stream, next, BATCH, &mut port);
        sent += BATCH as u64;
    }
    Ok(rate_of(sent, clock.now_ns() - start_ns))
}

/// The way in which received frames are verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// As in a trial: by comparison with the expected octets, and field by field only if they differ.
    Usual,
    /// Field by field for every frame: the cost of a trial in which all frames differ from the expected ones.
    FieldByField,
}

/// Receives and verifies at least `frames` frames of one direction of the profile, as they must arrive, from memory and with the same code as a
/// trial. Returns the rate reached on the calling thread, without the time in which the frames are generated.
///
/// # Errors
/// No frames can be built for the profile.
pub fn receive(
    profile: &TrafficProfile,
    direction: Direction,
    frames: u64,
    verification: Verification,
    clock: &Clock,
) -> Result<FrameRate, WireError> {
    /// Frames between two readings of the clock.
    const AT_ONCE: u64 = 2048;
    let frames = frames.next_multiple_of(AT_ONCE);
    let mut exchange = MemoryLink::new(profile, direction, frames, AT_ONCE as usize, verification)?;
    let mut took_ns = 0;
    for _ in 0..frames / AT_ONCE {
        (0..AT_ONCE / BATCH as u64).for_each(|_| exchange.send(clock));
        took_ns += exchange.receive(AT_ONCE, clock);
    }
    exchange.finish();
    Ok(rate_of(frames, took_ns))
}

/// Generates, receives and verifies at least `frames` frames of one direction of the profile, as they must arrive, one batch at a time. Returns
/// the rate reached on the calling thread, at which each frame was sent once and received once.
///
/// # Errors
/// No frames can be built for the profile.
pub fn exchange(
    profile: &TrafficProfile,
    direction: Direction,
    frames: u64,
    clock: &Clock,
) -> Result<FrameRate, WireError> {
    let frames = frames.next_multiple_of(BATCH as u64);
    let mut exchange = MemoryLink::new(profile, direction, frames, BATCH, Verification::Usual)?;
    let start_ns = clock.now_ns();
    for _ in 0..frames / BATCH as u64 {
        exchange.send(clock);
        exchange.receive(BATCH as u64, clock);
    }
    exchange.finish();
    Ok(rate_of(frames, clock.now_ns() - start_ns))
}

/// A link on which frames go from the sender to the receiver through memory.
struct MemoryLink {
    stream: Stream,
    writer: Writer,
    sender: FrameRingEnd,
    receiver: FrameRingEnd,
    tally: FrameTally,
    polls: Polls,
    sent: u64,
}

impl MemoryLink {
    /// Returns a link for `frames` frames, `at_once` of which are sent before they are received.
    fn new(
        profile: &TrafficProfile,
        direction: Direction,
        frames: u64,
        at_once: usize,
        verification: Verification,
    ) -> Result<Self, WireError> {
        // They are due faster than any core writes them, as none may be sent before it is due; a receiver then expects all of up to 80 million frames.
        let spec = TrialSpec::burst(FrameRate(250_000_000), frames);
        let source = StreamSource {
            profile,
            spec: &spec,
            direction,
            trial: 0,
            conversation: None,
        };
        let stream = Stream::expected(source, MACS)?;
        let mut verifier = Verifier::new(Stream::expected(source, MACS)?, frames, false);
        if verification == Verification::FieldByField {
            verifier.read_every_field();
        }
        let (sender, receiver) = FrameRing::pair(at_once, stream.longest_octets());
        let expected = ExpectedFrames {
            verifier,
            delays: Delays::new(None, false),
            schedule: spec.schedule(),
            burst: NonZeroU32::MIN,
            duration_ns: spec.duration_ns,
            timeout_ns: 0,
            clocks_apart_ns: CLOCKS_APART_NS,
            first_trial_ns: None,
        };
        let tally = FrameTally::new(expected, QueueCounts::SINGLE);
        Ok(Self {
            writer: Writer::new(&stream, at_once),
            stream,
            sender,
            receiver,
            tally,
            polls: Polls::default(),
            sent: 0,
        })
    }

    /// Sends a batch.
    #[inline]
    fn send(&mut self, clock: &Clock) {
        let (sequence, time) = (&mut self.sent, StampedTime::new(clock.now_ns()));
        let next = || {
            *sequence += 1;
            (*sequence - 1, time)
        };
        // Sending into memory cannot fail, and there is room for a whole batch.
        let _ = self
            .writer
            .transmit(&self.stream, next, BATCH, &mut self.sender);
    }

    /// Receives `frames` frames, batch by batch; returns the time it took, in nanoseconds.
    #[inline]
    fn receive(&mut self, frames: u64, clock: &Clock) -> u64 {
        let (start_ns, tally) = (clock.now_ns(), &mut self.tally);
        // Receiving from memory cannot fail.
        let _ = self.polls.receive(
            &mut self.receiver,
            start_ns,
            frames as usize / BATCH,
            clock,
            |frame, arrival| {
                tally.take(frame, arrival, &mut |_| ());
            },
        );
        self.tally.end_poll(&mut |_| ());
        clock.now_ns() - start_ns
    }

    /// Checks that every frame was judged right.
    ///
    /// # Panics
    /// If one was not: the rate would then be for different work than in a trial.
    fn finish(self) {
        let mut result = DirectionResult::counted(Direction::Forward, self.sent, 0);
        self.tally
            .finish(&mut result, SentNumbers::InTurn(vec![self.sent]));
        assert_eq!(
            (result.received, result.not_received()),
            (self.sent, 0),
            "a frame of our own was not right"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::profile::{AddressPair, Encapsulation, Tunnel};
    use sixbench_method::terms::FrameSize;

    #[test]
    fn a_frame_that_grows_by_a_header_around_it_has_room() {
        let address = |text: &str| text.parse().expect("address");
        let mut profile = TrafficProfile::identity(
            address("192.0.2.1"),
            address("198.51.100.2"),
            FrameSize(1518),
        );
        let ends = AddressPair {
            source: address("2001:db8::2"),
            destination: address("2001:db8::1"),
        };
        let datagram = &mut profile.forward.foreground.sent;
        *datagram = Encapsulation {
            tunnel: Some(Tunnel {
                ends,
                hop_limit: 64,
            }),
            ..*datagram
        };
        for direction in [Direction::Forward, Direction::Reverse] {
            generate(&profile, direction, 1, &Clock::new()).expect("frames");
        }
    }
}
