//! A reference device of known delay: a wire that holds every frame for a set time. The tester's delays are compared with it; it is not meant as
//! a product.

use sixbench_io::clock::Clock;
use sixbench_io::{Halves, Port, PortError, Receive, Transmit};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

/// Octets kept of a frame: enough for all except jumbo frames.
const FRAME_OCTETS: usize = 1600;

/// Frames that may be in flight in one direction at once.
const HELD: usize = 8192;

/// Both directions between two ports.
pub struct DelayLine {
    left: Halves,
    right: Halves,
    delay_ns: u64,
    clock: Clock,
}

/// Frames of one direction, oldest first, in memory that is reused.
struct DelayQueue {
    due: VecDeque<(u64, usize, usize)>,
    memory: Box<[u8]>,
    next: usize,
}

impl DelayLine {
    /// Returns a delay line on which frames from either port leave on the other one `delay_ns` after they were seen.
    pub fn new(left: Port, right: Port, delay_ns: u64, clock: Clock) -> Self {
        Self {
            left: left.into_single_queue(),
            right: right.into_single_queue(),
            delay_ns,
            clock,
        }
    }

    /// Runs on the calling thread until `stop` is set, polling busily.
    ///
    /// # Errors
    /// A port fails.
    pub fn run(mut self, stop: &AtomicBool) -> Result<(), PortError> {
        let (mut forward, mut reverse) = (DelayQueue::new(), DelayQueue::new());
        while !stop.load(Ordering::Relaxed) {
            forward.take(&mut *self.left.receive, self.delay_ns, &self.clock)?;
            forward.give(&mut *self.right.transmit, &self.clock)?;
            reverse.take(&mut *self.right.receive, self.delay_ns, &self.clock)?;
            reverse.give(&mut *self.left.transmit, &self.clock)?;
        }
        Ok(())
    }
}

impl DelayQueue {
    fn new() -> Self {
        Self {
            due: VecDeque::with_capacity(HELD),
            memory: vec![0; HELD * FRAME_OCTETS].into_boxed_slice(),
            next: 0,
        }
    }

    /// Takes the frames waiting at `port` into the queue, due `delay_ns` after they were seen. Frames that do not fit are lost, as in any device.
    fn take(
        &mut self,
        port: &mut dyn Receive,
        delay_ns: u64,
        clock: &Clock,
    ) -> Result<(), PortError> {
        let mut due_ns = None;
        port.receive(&mut |frame| {
            // Read once the frames of this call are settled: a line that is preempted before that holds none of them too briefly.
            let due_ns = *due_ns.get_or_insert_with(|| clock.now_ns() + delay_ns);
            if self.due.len() < HELD && frame.len() <= FRAME_OCTETS {
                let at = self.next * FRAME_OCTETS;
                self.memory[at..at + frame.len()].copy_from_slice(frame);
                self.due.push_back((due_ns, at, frame.len()));
                self.next = (self.next + 1) % HELD;
            }
        })
        .map(drop)
    }

    fn give(&mut self, port: &mut dyn Transmit, clock: &Clock) -> Result<(), PortError> {
        let now_ns = clock.now_ns();
        let due = self
            .due
            .iter()
            .take_while(|(due_ns, ..)| *due_ns <= now_ns)
            .count();
        if due == 0 {
            return Ok(());
        }
        let (frames, memory) = (&mut self.due, &self.memory);
        port.transmit(due, &mut |_, buffer| {
            let (_, at, length) = frames
                .pop_front()
                .expect("no more are filled than were due");
            buffer[..length].copy_from_slice(&memory[at..at + length]);
            length
        })?;
        port.flush().map(drop)
    }
}
