//! A trial of requests and replies, with its counts as one exchange rather than two directions.

use super::{Delay, DirectionResult, TrialKind, TrialResult};
use crate::terms::{Direction, LossRatio};

/// Both directions of a trial of the kind [`TrialKind::Response`]. Forward frames are the requests. Reverse frames are the replies: one is intended
/// for each correct request that was the first to arrive with its number, and its delay counts from the departure of the request.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    requests: &'a DirectionResult,
    replies: &'a DirectionResult,
}

impl TrialResult {
    /// Returns the exchange, if the trial was one.
    pub fn exchange(&self) -> Option<Exchange<'_>> {
        let direction_result =
            |direction| self.directions.iter().find(|d| d.direction == direction);
        let (requests, replies) = (
            direction_result(Direction::Forward)?,
            direction_result(Direction::Reverse)?,
        );
        (self.spec.kind == TrialKind::Response).then_some(Exchange { requests, replies })
    }
}

impl Exchange<'_> {
    /// Returns the number of requests that left the tester.
    pub fn requested(&self) -> u64 {
        self.requests.offered
    }

    /// Returns the number of requests whose reply came back with every field correct and within the frame timeout.
    pub fn answered(&self) -> u64 {
        self.replies.received
    }

    /// Returns the number of requests without such a reply, in whichever direction it was lost.
    pub fn unanswered(&self) -> u64 {
        self.requested().saturating_sub(self.answered())
    }

    /// Returns the share of requests without a reply, 0..=1; 1 if no request left the tester.
    pub fn loss_ratio(&self) -> LossRatio {
        match self.requested() {
            0 => LossRatio(1.0),
            requested => LossRatio(self.unanswered() as f64 / requested as f64),
        }
    }

    /// Returns the delays from the departure of a request to the arrival of its reply.
    pub fn time(&self) -> Option<&Delay> {
        self.replies.delay.as_ref()
    }

    /// Returns the number of frames that the DUT forwarded correctly in both directions together, in time or not.
    pub fn forwarded(&self) -> u64 {
        [self.requests, self.replies]
            .iter()
            .map(|way| way.received + way.late)
            .sum()
    }

    /// Returns the longest time in nanoseconds that the tester itself took for a reply, which is part of the response time. It counts from the last
    /// poll of the port that did not yet show the request.
    pub fn worst_turn_around_ns(&self) -> u64 {
        self.replies.sending.worst_lateness_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::FrameRate;
    use crate::trial::TrialSpec;

    /// Returns the result of 1000 requests, of which `arrived` did, with `answered` replies.
    fn result(spec: TrialSpec, arrived: u64, answered: u64) -> TrialResult {
        let requests = DirectionResult::counted(Direction::Forward, 1000, arrived);
        let replies = DirectionResult::counted(Direction::Reverse, arrived, answered);
        TrialResult::new(spec, vec![requests, replies], vec![])
    }

    #[test]
    fn what_was_lost_on_either_way_is_lost_once() {
        let trial = result(
            TrialSpec::response(FrameRate(1000), 1_000_000_000),
            990,
            980,
        );
        let exchange = trial.exchange().expect("an exchange");
        assert_eq!(
            (
                exchange.requested(),
                exchange.unanswered(),
                exchange.forwarded()
            ),
            (1000, 20, 1970)
        );
        assert_eq!(exchange.loss_ratio(), LossRatio(0.02));
    }

    #[test]
    fn two_loaded_directions_are_no_exchange() {
        assert!(
            result(
                TrialSpec::constant(FrameRate(1000), 1_000_000_000),
                1000,
                1000
            )
            .exchange()
            .is_none()
        );
    }
}
