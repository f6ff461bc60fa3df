//! Devices in memory that know the number of each frame, for ports with one or several queues.

use sixbench_io::loopback::{LoopbackDevice, QueueChoice};
use sixbench_wire::tag::Tag;

pub(crate) const QUEUES: [usize; 3] = [1, 2, 4];

/// Returns whether a device treats this frame differently: eleven frames, on all queues.
pub(crate) fn is_chosen(number: u64) -> bool {
    number % 97 == 5
}

/// The number of frames among [`FRAMES`] for which [`is_chosen`] is true.
pub(crate) const CHOSEN: u64 = 11;

/// Returns the tag of a test frame; `None` if it is another frame.
pub(crate) fn tag(frame: &[u8]) -> Option<Tag> {
    (42..frame.len()).find_map(|at| Tag::read(&frame[at..]))
}

/// Returns a device that passes forward frames through `change`, together with their numbers, and all other frames unchanged.
pub(crate) fn device(
    change: impl Fn(u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static,
) -> LoopbackDevice {
    Box::new(move |frame, from_left, out| {
        let forward = tag(frame).filter(|_| from_left);
        let changed = forward.map_or_else(
            || vec![frame.to_vec()],
            |tag| change(tag.sequence, frame.to_vec()),
        );
        out.extend(changed.into_iter().map(|frame| (from_left, frame)));
    })
}

/// Returns a device that changes the chosen frames.
pub(crate) fn rigged(change: impl Fn(Vec<u8>) -> Vec<Vec<u8>> + Send + 'static) -> LoopbackDevice {
    device(move |number, frame| {
        if is_chosen(number) {
            change(frame)
        } else {
            vec![frame]
        }
    })
}

/// Returns a choice by which copies of a frame arrive on the same queue.
pub(crate) fn by_number() -> QueueChoice {
    Box::new(|frame| tag(frame).map_or(0, |tag| tag.sequence as usize))
}

/// Returns a choice by which consecutive frames, such as copies, arrive on different queues.
pub(crate) fn in_turn() -> QueueChoice {
    let mut next = 0;
    Box::new(move |_| {
        next += 1;
        next
    })
}
