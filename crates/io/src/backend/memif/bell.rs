//! Waking a peer that sleeps. Never done by the threads of a trial: a write to an eventfd waits while its counter is full, unless `O_NONBLOCK` is set,
//! and both are in the hands of everybody who has the descriptor, such as the peer.

use crate::sys::memfd::Doorbell;
use crate::thread::{give_up_privileges, raise_priority};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Builder, Thread};

/// The orders that the ringing thread may find.
const NOTHING: u8 = 0;
const RING: u8 = 1;
const END: u8 = 2;

/// Has a doorbell rung by a thread of its own, and never waits for it. The thread ends when this is dropped; one that the peer keeps in its write is
/// left behind, and ends with the process.
pub(super) struct Ringer {
    wish: Arc<AtomicU8>,
    thread: Thread,
}

impl Ringer {
    /// Starts the thread.
    ///
    /// # Errors
    /// The kernel's, which has no room for another thread.
    pub(super) fn new(bell: Doorbell) -> io::Result<Self> {
        let wish = Arc::new(AtomicU8::new(NOTHING));
        let found = wish.clone();
        let thread = Builder::new()
            .name("memif-bell".to_owned())
            .spawn(move || ring_when_wished(&bell, &found))?;
        Ok(Self {
            wish,
            thread: thread.thread().clone(),
        })
    }

    /// Returns one that rings nothing and has no thread, for fuzzing: a target makes many links a second.
    pub(super) fn mute() -> Self {
        Self {
            wish: Arc::default(),
            thread: thread::current(),
        }
    }

    /// Has the doorbell rung soon. Neither allocates nor locks; a system call is made only if the thread sleeps.
    #[inline]
    pub(super) fn ring(&self) {
        if self.wish.swap(RING, Ordering::AcqRel) == NOTHING {
            self.thread.unpark();
        }
    }
}

impl Drop for Ringer {
    fn drop(&mut self) {
        self.wish.store(END, Ordering::Release);
        self.thread.unpark();
    }
}

/// Rings whenever that is wished, with the priority of the threads of a trial: a wake that comes late would be taken for a delay of the device.
fn ring_when_wished(bell: &Doorbell, wish: &AtomicU8) {
    // Where these fail, the tester says so when it tries the same for its other threads.
    let _ = raise_priority();
    let _ = give_up_privileges();
    loop {
        match wish.swap(NOTHING, Ordering::AcqRel) {
            RING => bell.ring(),
            END => return,
            _ => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(60);

    fn until(what: &str, mut is_so: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < end, "{what}");
            thread::yield_now();
        }
    }

    #[test]
    fn whoever_waits_is_woken_each_time() {
        let bell = Doorbell::new().expect("an eventfd");
        let mut peer = bell.file().try_clone().expect("a copy");
        let ringer = Ringer::new(bell).expect("a thread");
        for _ in 0..100 {
            ringer.ring();
            until("it rings", || peer.read(&mut [0; 8]).is_ok());
        }
    }

    #[test]
    fn the_thread_ends_with_its_owner() {
        let ringer = Ringer::new(Doorbell::new().expect("an eventfd")).expect("a thread");
        let wish = ringer.wish.clone();
        ringer.ring();
        drop(ringer);
        until("the thread is gone", || Arc::strong_count(&wish) == 1);
    }

    #[test]
    fn a_doorbell_that_holds_its_ringer_up_holds_up_nobody_else() {
        let bell = Doorbell::new().expect("an eventfd");
        let mut peer = bell.file().try_clone().expect("a copy");
        peer.write_all(&(u64::MAX - 1).to_ne_bytes())
            .expect("it is full");
        rustix::io::ioctl_fionbio(&peer, false).expect("whoever writes waits");
        let ringer = Ringer::new(bell).expect("a thread");
        let wish = ringer.wish.clone();
        ringer.ring();
        until("the thread has begun", || {
            wish.load(Ordering::Acquire) == NOTHING
        });
        (0..1000).for_each(|_| ringer.ring());
        drop(ringer);
        assert_eq!(Arc::strong_count(&wish), 2, "it waits for the peer");
        peer.read_exact(&mut [0; 8]).expect("it was full");
        until("the thread goes on, and ends", || {
            Arc::strong_count(&wish) == 1
        });
    }
}
