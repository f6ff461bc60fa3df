//! The single-producer single-consumer queues shared with the kernel: head, tail and entries in mapped memory. Indices count up and wrap; an
//! entry's place is its index modulo the size, which is a power of two.

use std::sync::atomic::{AtomicU32, Ordering};

/// The addresses of a ring's parts. The memory must outlive the ring.
#[derive(Clone, Copy)]
pub(super) struct RingParts<T> {
    pub(super) producer: *const AtomicU32,
    pub(super) consumer: *const AtomicU32,
    pub(super) flags: *const AtomicU32,
    pub(super) entries: *mut T,
    pub(super) size: u32,
}

const NEED_WAKEUP: u32 = 1;

/// The end that puts entries in.
pub(super) struct Producer<T> {
    parts: RingParts<T>,
    head: u32,
}

/// The end that takes entries out.
pub(super) struct Consumer<T> {
    parts: RingParts<T>,
    tail: u32,
}

// SAFETY: the parts point into memory that the owner keeps mapped; each end is used by one thread at a time (`&mut self`), and the values that
// the other side writes are read atomically with the right ordering.
unsafe impl<T: Send> Send for Producer<T> {}
// SAFETY: as for `Producer`.
unsafe impl<T: Send> Send for Consumer<T> {}

impl<T: Copy> Producer<T> {
    /// # Safety
    /// The parts must describe a live ring of a power-of-two size whose only producer this is, for as long as it lives.
    pub(super) unsafe fn new(parts: RingParts<T>) -> Self {
        // SAFETY: by contract the pointers are live.
        let head = unsafe { (*parts.producer).load(Ordering::Relaxed) };
        Self { parts, head }
    }

    /// Returns the number of entries that can be put in now.
    pub(super) fn free(&self) -> u32 {
        // SAFETY: by the contract of `new` the pointer is live.
        let consumed = unsafe { (*self.parts.consumer).load(Ordering::Acquire) };
        self.parts.size - self.head.wrapping_sub(consumed)
    }

    /// Returns whether the other side has taken everything.
    pub(super) fn is_empty(&self) -> bool {
        self.free() == self.parts.size
    }

    /// Puts one entry in, which the other side cannot see yet. The caller has checked `free`.
    pub(super) fn put(&mut self, entry: T) {
        let place = (self.head & (self.parts.size - 1)) as usize;
        // SAFETY: the place lies within the ring, and `free` said that the consumer is done with it.
        unsafe { self.parts.entries.add(place).write(entry) };
        self.head = self.head.wrapping_add(1);
    }

    /// Shows the other side the entries that were put in.
    pub(super) fn publish(&mut self) {
        // SAFETY: by the contract of `new` the pointer is live. Release: the entries are written before the index.
        unsafe { (*self.parts.producer).store(self.head, Ordering::Release) };
    }

    /// Returns whether the kernel sleeps and needs a call to continue.
    pub(super) fn needs_wakeup(&self) -> bool {
        // SAFETY: by the contract of `new` the pointer is live.
        unsafe { (*self.parts.flags).load(Ordering::Relaxed) & NEED_WAKEUP != 0 }
    }
}

impl<T: Copy> Consumer<T> {
    /// # Safety
    /// The parts must describe a live ring of a power-of-two size whose only consumer this is, for as long as it lives.
    pub(super) unsafe fn new(parts: RingParts<T>) -> Self {
        // SAFETY: by contract the pointers are live.
        let tail = unsafe { (*parts.consumer).load(Ordering::Relaxed) };
        Self { parts, tail }
    }

    /// Returns the number of entries that are there now.
    pub(super) fn ready(&self) -> u32 {
        // SAFETY: by the contract of `new` the pointer is live. Acquire: the entries were written before the index.
        let produced = unsafe { (*self.parts.producer).load(Ordering::Acquire) };
        produced.wrapping_sub(self.tail)
    }

    /// Takes the oldest entry, if there is one. The producer may not reuse its place before `release`.
    pub(super) fn take(&mut self) -> Option<T> {
        if self.ready() == 0 {
            return None;
        }
        let place = (self.tail & (self.parts.size - 1)) as usize;
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the place lies within the ring and holds an entry that was published.
        Some(unsafe { self.parts.entries.add(place).read() })
    }

    /// Returns the places of the taken entries to the producer.
    pub(super) fn release(&mut self) {
        // SAFETY: by the contract of `new` the pointer is live.
        unsafe { (*self.parts.consumer).store(self.tail, Ordering::Release) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring in ordinary memory, with indices about to wrap.
    struct Plain {
        producer: Box<AtomicU32>,
        consumer: Box<AtomicU32>,
        flags: Box<AtomicU32>,
        entries: Box<[u64; 4]>,
    }

    impl Plain {
        fn new(start: u32) -> Self {
            let at = || Box::new(AtomicU32::new(start));
            Self {
                producer: at(),
                consumer: at(),
                flags: Box::new(AtomicU32::new(0)),
                entries: Box::new([0; 4]),
            }
        }

        fn ends(&mut self) -> (Producer<u64>, Consumer<u64>) {
            let parts = RingParts {
                producer: &raw const *self.producer,
                consumer: &raw const *self.consumer,
                flags: &raw const *self.flags,
                entries: self.entries.as_mut_ptr(),
                size: 4,
            };
            // SAFETY: the memory lives as long as the test, and there is one end of each kind.
            unsafe { (Producer::new(parts), Consumer::new(parts)) }
        }
    }

    #[test]
    fn entries_come_out_in_order_also_when_the_index_wraps() {
        let mut plain = Plain::new(u32::MAX - 1);
        let (mut producer, mut consumer) = plain.ends();
        for round in 0..5u64 {
            (0..4).for_each(|i| producer.put(round * 4 + i));
            producer.publish();
            assert_eq!(producer.free(), 0);
            let taken: Vec<u64> = std::iter::from_fn(|| consumer.take()).collect();
            assert_eq!(taken, (round * 4..round * 4 + 4).collect::<Vec<_>>());
            assert_eq!(producer.free(), 0, "places come back only with release");
            consumer.release();
            assert_eq!(producer.free(), 4);
        }
    }

    #[test]
    fn nothing_is_seen_before_it_is_published() {
        let mut plain = Plain::new(0);
        let (mut producer, mut consumer) = plain.ends();
        producer.put(9);
        assert_eq!(consumer.take(), None);
        producer.publish();
        assert_eq!(consumer.take(), Some(9));
    }
}
