//! Turns at a queue for sending, which the sending half of a port shares with the receiving half's answers. If one of them finds the queue taken,
//! it continues without waiting.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// The number of attempts to send a frame outside the schedule while the other half sends a batch, which takes some microseconds.
const ATTEMPTS: u32 = 10_000;

/// Takes the turn if it is free.
pub(super) fn try_take<T>(queue: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match queue.try_lock() {
        Ok(turn) => Some(turn),
        Err(TryLockError::Poisoned(panicked)) => Some(panicked.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Takes the turn as soon as the other half has finished its batch; `None` if that takes longer than any batch does.
pub(super) fn take_soon<T>(queue: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    (0..ATTEMPTS).find_map(|_| {
        let turn = try_take(queue);
        if turn.is_none() {
            std::hint::spin_loop();
        }
        turn
    })
}
