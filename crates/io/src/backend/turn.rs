//! Turns at a queue for sending, which the sending half of a port has and the receiving half uses for answers. Whoever finds it taken goes on
//! without waiting.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// Attempts to send a frame outside of the schedule while the other half is sending a batch, which takes some microseconds.
const ATTEMPTS: u32 = 10_000;

/// Takes the turn, if nobody has it.
pub(super) fn try_take<T>(queue: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match queue.try_lock() {
        Ok(turn) => Some(turn),
        Err(TryLockError::Poisoned(panicked)) => Some(panicked.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Takes the turn as soon as the half that has it is done with its batch; `None` if that takes longer than any batch does.
pub(super) fn take_soon<T>(queue: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    (0..ATTEMPTS).find_map(|_| {
        let turn = try_take(queue);
        if turn.is_none() {
            std::hint::spin_loop();
        }
        turn
    })
}
