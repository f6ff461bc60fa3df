//! The queue of events from the run to the page. It is bounded, and the run never waits for it.

use sixbench_method::event::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;

/// The most events that wait for the page: those of some hundred trials.
const CAPACITY: usize = 1024;

/// The run's end of the queue.
#[derive(Clone)]
pub struct LiveFeed {
    queue: mpsc::Sender<Event>,
    dropped: Arc<AtomicU64>,
}

impl LiveFeed {
    /// Passes an event on without ever waiting: when the queue is full, the event is dropped, and the page says that events are missing.
    pub fn note(&self, event: &Event) {
        if self.queue.try_send(event.clone()).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The page's end of the queue.
pub(crate) struct EventQueue {
    pub(crate) events: mpsc::Receiver<Event>,
    dropped: Arc<AtomicU64>,
}

impl EventQueue {
    /// Returns the number of events dropped because the queue was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Returns both ends of a queue.
pub(crate) fn queue() -> (LiveFeed, EventQueue) {
    let (queue, events) = mpsc::channel(CAPACITY);
    let dropped = Arc::new(AtomicU64::new(0));
    (
        LiveFeed {
            queue,
            dropped: dropped.clone(),
        },
        EventQueue { events, dropped },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_is_never_waited_for_and_what_is_lost_is_counted() {
        let (feed, mut queue) = queue();
        for _ in 0..CAPACITY + 3 {
            feed.note(&Event::Progress {
                elapsed_s: 1,
                remaining_s: 2,
            });
        }
        assert_eq!(queue.dropped(), 3);
        assert!(queue.events.try_recv().is_ok());
        feed.note(&Event::Progress {
            elapsed_s: 1,
            remaining_s: 2,
        });
        assert_eq!(queue.dropped(), 3, "there was room again");
    }
}
