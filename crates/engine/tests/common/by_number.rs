//! Devices in memory that know the number of each frame, for ports of one or several queues.

use sixbench_io::loopback::{LoopbackDevice, QueueChoice};
use sixbench_wire::tag::Tag;

pub(crate) const QUEUES: [usize; 3] = [1, 2, 4];

/// The frames that a device treats otherwise: eleven, of all queues.
pub(crate) fn is_chosen(number: u64) -> bool {
    number % 97 == 5
}

/// Frames among [`FRAMES`] that [`is_chosen`].
pub(crate) const CHOSEN: u64 = 11;

/// Returns the tag of a test frame; `None` if it is another frame.
pub(crate) fn tag(frame: &[u8]) -> Option<Tag> {
    (42..frame.len()).find_map(|at| Tag::read(&frame[at..]))
}

/// A device that passes forward frames through `change`, which gets the number of each, and all others as they are.
pub(crate) fn device(change: impl Fn(u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static) -> LoopbackDevice {
    Box::new(move |frame, from_left, out| {
        let forward = tag(frame).filter(|_| from_left);
        let changed = forward.map_or_else(|| vec![frame.to_vec()], |tag| change(tag.sequence, frame.to_vec()));
        out.extend(changed.into_iter().map(|frame| (from_left, frame)));
    })
}

/// A device that changes the chosen frames.
pub(crate) fn rigged(change: impl Fn(Vec<u8>) -> Vec<Vec<u8>> + Send + 'static) -> LoopbackDevice {
    device(move |number, frame| if is_chosen(number) { change(frame) } else { vec![frame] })
}

/// Copies of a frame arrive on the same queue.
pub(crate) fn by_number() -> QueueChoice {
    Box::new(|frame| tag(frame).map_or(0, |tag| tag.sequence as usize))
}

/// Frames that arrive one after the other, as copies do, arrive on different queues.
pub(crate) fn in_turn() -> QueueChoice {
    let mut next = 0;
    Box::new(move |_| {
        next += 1;
        next
    })
}
