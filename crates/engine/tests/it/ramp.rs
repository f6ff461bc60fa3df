//! The ramp before a trial, with rigged devices in memory: its frames are counted apart, exactly, and are verified like those of the trial.

use crate::common::*;
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::plan::Flows;
use sixbench_method::terms::{Directions, FrameRate};
use sixbench_method::trial::{DirectionResult, RampCounts, TrialKind, TrialResult, TrialSpec};
use sixbench_wire::tag::Tag;
use std::collections::BTreeSet;

const RAMP_NS: u64 = 100_000_000;
const FLOWS: u32 = 10;

/// Returns the number of frames in a ramp to the load of the trial, which rises in 20 steps.
fn ramp_frames() -> u64 {
    let kind = TrialKind::Ramp {
        flows: 20,
        step_ns: RAMP_NS / 20,
    };
    let spec = TrialSpec {
        kind,
        ..TrialSpec::constant(spec().rate, RAMP_NS)
    };
    spec.frames()
}

fn spec() -> TrialSpec {
    TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000)
}

fn of_flows(ramp_ns: Option<u64>) -> TrafficProfile {
    TrafficProfile {
        directions: Directions::Forward,
        flows: Some(Flows {
            count: FLOWS,
            step_ns: 0,
        }),
        ramp_ns,
        ..ipv4()
    }
}

/// Returns a device that drops the first frame of each flow: it only learns from it.
fn learning() -> LoopbackDevice {
    let mut known = BTreeSet::new();
    each(move |_, frame| {
        if known.insert(frame[34..38].to_vec()) {
            vec![]
        } else {
            vec![frame]
        }
    })
}

/// Returns a device that changes the frames of the ramp, which is the first part that it sees: `change` gets their numbers.
fn of_the_ramp(
    change: impl Fn(u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static,
    is_of_ramp: bool,
) -> LoopbackDevice {
    let mut first = None;
    each(move |_, frame| {
        let Some(tag) = (42..frame.len()).find_map(|at| Tag::read(&frame[at..])) else {
            return vec![frame];
        };
        if (*first.get_or_insert(tag.stream) == tag.stream) == is_of_ramp {
            change(tag.sequence, frame)
        } else {
            vec![frame]
        }
    })
}

fn one(result: &TrialResult) -> (&DirectionResult, RampCounts) {
    let [forward] = &result.directions[..] else {
        panic!("one direction")
    };
    (forward, forward.ramp.expect("a ramp"))
}

#[test]
fn a_device_that_learns_flows_loses_their_first_frames_in_the_ramp_and_none_in_the_trial() {
    let without = trial_of(of_flows(None), learning(), spec());
    let forward = &without.directions[0];
    assert_eq!((forward.lost(), forward.ramp), (u64::from(FLOWS), None));

    let with = trial_of(of_flows(Some(RAMP_NS)), learning(), spec());
    let (forward, ramp) = one(&with);
    assert_eq!(
        (
            forward.intended,
            forward.offered,
            forward.received,
            forward.foreign
        ),
        (FRAMES, FRAMES, FRAMES, 0)
    );
    assert_eq!(forward.gaps, None);
    assert_eq!(
        (ramp.offered, ramp.lost(), ramp.received),
        (
            ramp_frames(),
            u64::from(FLOWS),
            ramp_frames() - u64::from(FLOWS)
        )
    );
    assert_eq!(ramp.duration_ns, RAMP_NS);
    assert!(
        ramp.pause_ns > 0 && ramp.pause_ns < 5_000_000_000,
        "{ramp:?}"
    );
}

#[test]
fn every_frame_of_a_ramp_is_verified_and_no_count_of_the_trial_contains_one() {
    let bad = |number: u64, mut frame: Vec<u8>| match number {
        3 | 5 => vec![],
        7 => {
            frame[29] = 9;
            vec![frame]
        }
        9 => vec![frame.clone(), frame],
        _ => vec![frame],
    };
    let result = trial_of(of_flows(Some(RAMP_NS)), of_the_ramp(bad, true), spec());
    let (forward, ramp) = one(&result);
    assert_eq!(
        (
            ramp.offered,
            ramp.received,
            ramp.lost(),
            ramp.mistranslated,
            ramp.wrong(),
            ramp.duplicate
        ),
        (ramp_frames(), ramp_frames() - 3, 2, 1, 1, 1)
    );
    assert_eq!(
        (
            forward.received,
            forward.mistranslated,
            forward.duplicate,
            forward.lost(),
            forward.foreign
        ),
        (FRAMES, 0, 0, 0, 0)
    );
    assert!(forward.examples.is_empty() && forward.wrong_fields.is_empty());

    let result = trial_of(of_flows(Some(RAMP_NS)), of_the_ramp(bad, false), spec());
    let (forward, ramp) = one(&result);
    assert_eq!(
        (ramp.received, ramp.wrong(), ramp.duplicate),
        (ramp_frames(), 0, 0)
    );
    assert_eq!(
        (
            forward.received,
            forward.mistranslated,
            forward.duplicate,
            forward.lost()
        ),
        (FRAMES - 3, 1, 1, 2)
    );
}

#[test]
fn a_frame_of_the_ramp_that_comes_too_late_is_foreign_in_the_trial() {
    let mut held = None;
    let mut first = None;
    let device = each(move |_, frame| {
        let Some(tag) = (42..frame.len()).find_map(|at| Tag::read(&frame[at..])) else {
            return vec![frame];
        };
        if *first.get_or_insert(tag.stream) == tag.stream {
            if tag.sequence == 4 {
                held = Some(frame);
                return vec![];
            }
            return vec![frame];
        }
        // The first frame of the trial brings the held one with it.
        [held.take(), Some(frame)].into_iter().flatten().collect()
    });
    let result = trial_of(of_flows(Some(RAMP_NS)), device, spec());
    let (forward, ramp) = one(&result);
    assert_eq!((ramp.lost(), ramp.received), (1, ramp_frames() - 1));
    assert_eq!(
        (
            forward.received,
            forward.lost(),
            forward.foreign,
            forward.duplicate
        ),
        (FRAMES, 0, 1, 0)
    );
}

#[test]
fn trials_whose_load_is_not_held_have_no_ramp() {
    let burst = TrialSpec::burst(FrameRate(FRAMES * 5), FRAMES);
    let result = trial_of(of_flows(Some(RAMP_NS)), each(|_, frame| vec![frame]), burst);
    let forward = &result.directions[0];
    assert_eq!((forward.received, forward.ramp), (FRAMES, None));
}
