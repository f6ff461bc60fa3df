//! Measures the cost of receiving and verifying frames: every octet of every frame, order, duplicates and delays.

use super::wire::{FRAMES, wire};
use super::{SelftestResult, all_addresses, subscribers};
use crate::RunError;
use sixbench_engine::frames::profile::{AddressVariation, TrafficProfile};
use sixbench_engine::frames::selftest::{self, Verification};
use sixbench_io::clock::Clock;
use sixbench_method::terms::{Direction, FrameRate, FrameSize};

/// Measures all figures on one core with received frames.
pub(super) fn figures(clock: &Clock) -> Result<Vec<SelftestResult>, RunError> {
    let mut figures = Vec::new();
    for (name, profile) in plain() {
        let what = |how: &str| format!("{how}, one core: {name}, random ports");
        let received = |verification| {
            selftest::receive(&profile, Direction::Forward, FRAMES, verification, clock)
        };
        figures.push(result_for(
            what("reception"),
            received(Verification::Usual)?,
        ));
        figures.push(result_for(
            what("reception, every field read"),
            received(Verification::FieldByField)?,
        ));
        figures.push(result_for(
            what("generation and reception"),
            selftest::exchange(&profile, Direction::Forward, FRAMES, clock)?,
        ));
        let with_addresses = varied(&profile);
        let rate = selftest::receive(
            &with_addresses,
            Direction::Forward,
            FRAMES,
            Verification::Usual,
            clock,
        )?;
        figures.push(result_for(what("reception") + " and addresses", rate));
    }
    for (name, frames, profile) in subscribers::cases() {
        for (direction, frames) in [Direction::Forward, Direction::Reverse]
            .into_iter()
            .zip([frames[1], frames[0]])
        {
            let rate = selftest::receive(&profile, direction, FRAMES, Verification::Usual, clock)?;
            figures.push(result_for(
                format!("reception, one core: {name}, {direction}: {frames}"),
                rate,
            ));
        }
    }
    Ok(figures)
}

/// Returns the smallest frames of either IP version.
fn plain() -> [(&'static str, TrafficProfile); 2] {
    [
        (
            "IPv4, 64 octets",
            wire("198.18.0.2", "198.19.0.2", FrameSize(84)),
        ),
        (
            "IPv6, 84 octets",
            wire("2001:2::2", "2001:2:0:8000::2", FrameSize(84)),
        ),
    ]
}

fn varied(profile: &TrafficProfile) -> TrafficProfile {
    let variation: AddressVariation = all_addresses();
    TrafficProfile {
        left_variation: variation,
        right_variation: variation,
        ..profile.clone()
    }
}

fn result_for(what: String, rate: FrameRate) -> SelftestResult {
    SelftestResult::new(what, rate.0, "frames/s")
}
