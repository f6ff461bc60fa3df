//! A relay with one processor and one queue, through which requests go one way and replies the other. It serves to test the measurement of response
//! times.

use super::slow;
use crate::terms::{Direction, FrameRate};
use crate::trial::{Delay, DirectionResult, Measurer, Moments, TrialResult, TrialSpec};
use std::collections::VecDeque;
use std::convert::Infallible;

/// A relay with its tester. Frames of both directions are served in the order of arrival, each in the same time; a frame that finds the queue full is
/// lost. Nothing in it is random.
#[derive(Clone, Debug)]
pub struct SimulatedRelay {
    capacity: FrameRate,
    queue: u64,
    link_ns: u64,
    ceiling: FrameRate,
    elapsed_ns: u64,
}

/// The relay's only processor.
struct RelayProcessor {
    service_ns: u64,
    queue: u64,
    /// The time at which everything it has accepted will have left, in nanoseconds.
    free_ns: u64,
}

impl RelayProcessor {
    /// Returns the time at which a frame that arrives at `at_ns` leaves again, or `None` if the queue is full.
    fn take(&mut self, at_ns: u64) -> Option<u64> {
        let waiting = self.free_ns.saturating_sub(at_ns).div_ceil(self.service_ns);
        if waiting > self.queue {
            return None;
        }
        self.free_ns = self.free_ns.max(at_ns) + self.service_ns;
        Some(self.free_ns)
    }
}

impl SimulatedRelay {
    /// Returns a relay that serves `capacity` frames per second in both directions together; up to `queue` frames wait besides the one in service.
    pub fn new(capacity: FrameRate, queue: u64) -> Self {
        Self {
            capacity,
            queue,
            link_ns: 0,
            ceiling: FrameRate(u64::MAX),
            elapsed_ns: 0,
        }
    }

    /// Sets the time that every frame takes from the relay to the tester, in nanoseconds.
    pub fn with_link(self, link_ns: u64) -> Self {
        Self { link_ns, ..self }
    }

    /// Limits the number of requests that the tester sends per second.
    pub fn with_ceiling(self, ceiling: FrameRate) -> Self {
        Self { ceiling, ..self }
    }

    /// Returns the virtual time spent in trials so far, in nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    /// Returns the service time of one frame, nanoseconds.
    pub fn service_ns(&self) -> u64 {
        (1_000_000_000 / self.capacity.0.max(1)).max(1)
    }

    /// Returns the number of requests that arrived, and the response times of those that were answered.
    fn serve(&self, spec: &TrialSpec, requests: u64) -> (u64, Vec<u64>) {
        let schedule = spec.schedule();
        let mut server = RelayProcessor {
            service_ns: self.service_ns(),
            queue: self.queue,
            free_ns: 0,
        };
        // The arrival time of each reply at the relay and the departure time of its request, in the order of arrival.
        let mut replies: VecDeque<(u64, u64)> = VecDeque::new();
        let (mut arrived, mut times) = (0, Vec::new());
        let mut next = 0;
        loop {
            let request_ns = (next < requests).then(|| schedule.due_ns(next));
            match (request_ns, replies.front().copied()) {
                (None, None) => return (arrived, times),
                (Some(at_ns), reply) if reply.is_none_or(|(reply_ns, _)| at_ns < reply_ns) => {
                    next += 1;
                    if let Some(left_ns) = server.take(at_ns) {
                        arrived += 1;
                        replies.push_back((left_ns + self.link_ns, at_ns));
                    }
                }
                (_, Some((reply_ns, sent_ns))) => {
                    replies.pop_front();
                    times.extend(
                        server
                            .take(reply_ns)
                            .map(|left_ns| left_ns + self.link_ns - sent_ns),
                    );
                }
                (Some(_), None) => unreachable!("a request comes before no reply"),
            }
        }
    }
}

impl Measurer for SimulatedRelay {
    type Error = Infallible;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Infallible> {
        self.elapsed_ns += spec.duration_ns;
        let intended = spec.frames();
        let offered = intended.min(self.ceiling.frames_in(spec.duration_ns));
        let (arrived, mut times) = self.serve(spec, offered);
        let requests = DirectionResult {
            intended,
            ..DirectionResult::counted(Direction::Forward, offered, arrived)
        };
        let mut replies = DirectionResult::counted(Direction::Reverse, arrived, times.len() as u64);
        times.sort_unstable();
        replies.delay = summary(&times);
        let faults = slow(&requests, spec).into_iter().collect();
        Ok(TrialResult::new(*spec, vec![requests, replies], faults))
    }
}

/// Returns the summary of times in ascending order, or `None` if there are none.
fn summary(sorted: &[u64]) -> Option<Delay> {
    let count = sorted.len() as u64;
    let (min_ns, max_ns) = (*sorted.first()?, *sorted.last()?);
    let at =
        |share: f64| sorted[((count as f64 * share).ceil() as usize).clamp(1, sorted.len()) - 1];
    let sum = sorted.iter().map(|&ns| u128::from(ns)).sum();
    let squares = sorted
        .iter()
        .map(|&ns| u128::from(ns) * u128::from(ns))
        .sum();
    let moments = Moments::of_sums(count, sum, squares);
    Some(Delay {
        count,
        min_ns,
        median_ns: at(0.5),
        p999_ns: at(0.999),
        max_ns,
        moments,
        bounds: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::SECOND_NS;

    fn trial(mut relay: SimulatedRelay, rate: u64) -> TrialResult {
        let Ok(result) = relay.measure(&TrialSpec::response(FrameRate(rate), SECOND_NS));
        result
    }

    #[test]
    fn one_request_at_a_time_takes_two_services_and_two_links() {
        let result = trial(
            SimulatedRelay::new(FrameRate(1000), 10).with_link(5_000),
            100,
        );
        let time = result.directions[1].delay.as_ref().expect("times");
        assert_eq!(
            (time.count, time.min_ns, time.max_ns),
            (100, 2_010_000, 2_010_000)
        );
        assert_eq!(time.deviation_ns(), Some(0.0));
    }

    #[test]
    fn an_overloaded_relay_serves_its_capacity_and_loses_the_rest() {
        let result = trial(SimulatedRelay::new(FrameRate(1000), 10), 2000);
        let exchange = result.exchange().expect("an exchange");
        // Frames waiting when the last request was sent are served, too: eleven requests, then their replies.
        assert!(
            (1000..=1022).contains(&exchange.forwarded()),
            "{}",
            exchange.forwarded()
        );
        assert!(exchange.unanswered() > 1000);
    }
}
