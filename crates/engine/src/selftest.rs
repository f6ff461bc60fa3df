//! The tester's own ceiling: what it could do if there were no DUT and no link.

use crate::profile::TrafficProfile;
use crate::sender::Writer;
use crate::side::Viewpoint;
use crate::stateful::{Conversation, ConversationStep, Mapped};
use crate::stream::{Stream, StreamSource};
use sixbench_io::clock::Clock;
use sixbench_io::loopback::Discard;
use sixbench_io::{BATCH, Transmit};
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::TrialSpec;
use sixbench_wire::template::StampedTime;
use sixbench_wire::{MacAddress, WireError};

/// Generates `frames` frames of one direction of the profile through the very code that sends them, into nothing.
/// Returns the rate reached on the calling thread.
///
/// # Errors
/// A profile of which no frames can be made: addresses that do not belong together, or a frame size too short for the tag.
pub fn generate(profile: &TrafficProfile, direction: Direction, frames: u64, clock: &Clock) -> Result<FrameRate, WireError> {
    into_nothing(profile, direction, None, frames, clock)
}

/// The rate at which the Initiator goes through its four-tuples, `count` of them and again from the first.
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

/// The rate at which the Initiator generates the frames of phase 1.
///
/// # Panics
/// If the profile has no gateway, or not as many combinations.
pub fn open(profile: &TrafficProfile, connections: u64, clock: &Clock) -> Result<FrameRate, WireError> {
    into_nothing(profile, Direction::Forward, Some(&conversation(profile, connections)), connections, clock)
}

/// The performance of the Responder in phase 2, from a full state table.
#[derive(Clone, Copy, Debug)]
pub struct Responding {
    /// Octets of the table.
    pub table_octets: u64,
    /// Entries read in the test's order.
    pub reads: FrameRate,
    /// Frames generated.
    pub frames: FrameRate,
}

/// Fills the state table and has the Responder read it, and generate frames from it.
///
/// # Panics
/// If the profile has no gateway, or not as many combinations.
pub fn respond(profile: &TrafficProfile, connections: u64, clock: &Clock) -> Result<Responding, WireError> {
    let conversation = conversation(profile, connections).at(ConversationStep::Use);
    let table = &conversation.table;
    (0..connections).for_each(|connection| table.learn(connection, Mapped { part: 1, port: connection as u16 }));
    let view = Viewpoint { at_initiator: false, of_initiator: false };
    let start_ns = clock.now_ns();
    for index in 0..connections {
        std::hint::black_box(table.get(conversation.connection(view, index)));
    }
    let reads = rate_of(connections, clock.now_ns() - start_ns);
    let frames = into_nothing(profile, Direction::Reverse, Some(&conversation), connections, clock)?;
    Ok(Responding { table_octets: table.octets(), reads, frames })
}

fn conversation(profile: &TrafficProfile, connections: u64) -> Conversation {
    let gateway = profile.gateway.as_ref().expect("a stateful profile");
    Conversation::new(profile, gateway, connections).expect("enough combinations")
}

fn rate_of(count: u64, took_ns: u64) -> FrameRate {
    FrameRate((u128::from(count) * 1_000_000_000 / u128::from(took_ns.max(1))) as u64)
}

fn into_nothing(
    profile: &TrafficProfile,
    direction: Direction,
    conversation: Option<&Conversation>,
    frames: u64,
    clock: &Clock,
) -> Result<FrameRate, WireError> {
    let (own, peer) = (MacAddress([2, 0, 0, 0, 0, 1]), MacAddress([2, 0, 0, 0, 0, 2]));
    // The load does not matter: nothing is paced here.
    let spec = TrialSpec::burst(FrameRate(1), frames);
    let source = StreamSource { profile, spec: &spec, direction, trial: 0, conversation };
    let stream = Stream::sent(source, (own, peer))?;
    let mut port = Discard::new(stream.longest_octets());
    let mut writer = Writer::new(port.slots());
    let start_ns = clock.now_ns();
    let mut next = 0;
    while next < frames {
        let time = StampedTime::new(clock.now_ns());
        let mut fill = |slot: usize, buffer: &mut [u8]| {
            // A batch may go past the last frame: connections begin again.
            let length = writer.write(&stream, next % frames, time, slot, buffer);
            next += 1;
            length
        };
        // Into memory: it cannot fail.
        let _ = port.transmit(BATCH, &mut fill);
    }
    Ok(rate_of(next, clock.now_ns() - start_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{AddressPair, Encapsulation, Tunnel};
    use sixbench_method::terms::FrameSize;

    #[test]
    fn a_frame_that_grows_by_a_header_around_it_has_room() {
        let address = |text: &str| text.parse().expect("address");
        let mut profile = TrafficProfile::identity(address("192.0.2.1"), address("198.51.100.2"), FrameSize(1518));
        let ends = AddressPair { source: address("2001:db8::2"), destination: address("2001:db8::1") };
        let datagram = &mut profile.forward.foreground.sent;
        *datagram = Encapsulation { tunnel: Some(Tunnel { ends, hop_limit: 64 }), ..*datagram };
        for direction in [Direction::Forward, Direction::Reverse] {
            generate(&profile, direction, 1, &Clock::new()).expect("frames");
        }
    }
}
