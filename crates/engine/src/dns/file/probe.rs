//! Waits for a server that may have just started, by the first query of the file.

use super::super::transport::ClientTransport;
use super::FileQueries;
use sixbench_io::clock::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The settings of the wait.
pub(crate) struct FileProbe<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) timeout_ns: u64,
}

impl FileProbe<'_> {
    /// Sends the query until there is any response to it: which one is right, the trial shows. Returns the number of attempts in vain if there is none until
    /// `end`, or until the user asks to stop.
    pub(crate) fn wait_for_response(
        &self,
        file: &FileQueries,
        transport: &mut ClientTransport,
        end: Instant,
    ) -> Result<(), u64> {
        let mut attempts = 0;
        while !self.is_answered(file, attempts, transport) {
            attempts += 1;
            if self.is_stopped() || Instant::now() > end {
                return Err(attempts);
            }
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends the query as number `attempt`, and returns whether a response to it comes in time.
    fn is_answered(
        &self,
        file: &FileQueries,
        attempt: u64,
        transport: &mut ClientTransport,
    ) -> bool {
        transport.send_messages(attempt, 1, |_| file.message(0));
        let until = Instant::now() + Duration::from_nanos(self.timeout_ns);
        let mut is_answered = false;
        while !is_answered && !self.is_stopped() && Instant::now() < until {
            transport.wait(Duration::from_millis(1));
            transport.receive(self.clock, |reply| {
                let is_response = reply.sequence.is_some();
                is_answered |= is_response && file.is_about(0, reply.octets);
                is_response
            });
        }
        if !is_answered {
            transport.expire(attempt);
        }
        is_answered
    }
}
