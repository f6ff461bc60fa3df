//! The tester's own ceiling: what it could do if there were no DUT and no link.

use crate::profile::Profile;
use crate::sender::Writer;
use crate::stream::Stream;
use sixbench_io::clock::Clock;
use sixbench_io::loopback::Discard;
use sixbench_io::{BATCH, Transmit};
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::TrialSpec;
use sixbench_wire::template::StampedTime;
use sixbench_wire::{MacAddress, WireError};

/// Generates `frames` frames of the profile's forward direction through the very code that sends them, into nothing.
/// Returns the rate reached on the calling thread.
pub fn generate(profile: &Profile, frames: u64, clock: &Clock) -> Result<FrameRate, WireError> {
    let (own, peer) = (MacAddress([2, 0, 0, 0, 0, 1]), MacAddress([2, 0, 0, 0, 0, 2]));
    // The load does not matter: nothing is paced here.
    let spec = TrialSpec::burst(FrameRate(1), frames);
    let stream = Stream::sent(profile, &spec, Direction::Forward, 0, (own, peer))?;
    let mut port = Discard::new(usize::from(profile.frame_size.0));
    let mut writer = Writer::new(port.slots());
    let start_ns = clock.now_ns();
    let mut next = 0;
    while next < frames {
        let time = StampedTime::new(clock.now_ns());
        let mut fill = |slot: usize, buffer: &mut [u8]| {
            let length = writer.write(&stream, next, time, slot, buffer);
            next += 1;
            length
        };
        // Into memory: it cannot fail.
        let _ = port.transmit(BATCH, &mut fill);
    }
    let took_ns = (clock.now_ns() - start_ns).max(1);
    Ok(FrameRate((u128::from(next) * 1_000_000_000 / u128::from(took_ns)) as u64))
}
