//! A trial of requests and replies: what it counted, as one exchange rather than as two directions.

use super::{Delay, DirectionResult, TrialKind, TrialResult};
use crate::terms::{Direction, LossRatio};

/// Both ways of a trial of the kind [`TrialKind::Response`]. Forward frames are the requests. Reverse ones are the replies: intended are those
/// due, one for each right request that arrived first of its number, and their delay counts from the departure of the request.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    requests: &'a DirectionResult,
    replies: &'a DirectionResult,
}

impl TrialResult {
    /// The exchange, where the trial was one.
    pub fn exchange(&self) -> Option<Exchange<'_>> {
        let of = |direction| self.directions.iter().find(|d| d.direction == direction);
        let (requests, replies) = (of(Direction::Forward)?, of(Direction::Reverse)?);
        (self.spec.kind == TrialKind::Response).then_some(Exchange { requests, replies })
    }
}

impl Exchange<'_> {
    /// Requests that left the tester.
    pub fn requested(&self) -> u64 {
        self.requests.offered
    }

    /// Requests whose reply came back right in every field and within the frame timeout.
    pub fn answered(&self) -> u64 {
        self.replies.received
    }

    /// Requests without such a reply, on whichever way it was lost.
    pub fn unanswered(&self) -> u64 {
        self.requested().saturating_sub(self.answered())
    }

    /// Requests without a reply over requests, 0..=1; 1 when none left.
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

    /// Frames that the DUT forwarded rightly, both ways together, in time or not.
    pub fn forwarded(&self) -> u64 {
        [self.requests, self.replies].iter().map(|way| way.received + way.late).sum()
    }

    /// The longest time the tester itself took for a reply, nanoseconds: it is part of the response time. It counts from the last look at
    /// the port that did not show the request yet.
    pub fn worst_turn_around_ns(&self) -> u64 {
        self.replies.sending.worst_lateness_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::FrameRate;
    use crate::trial::TrialSpec;

    /// 1000 requests, of which `arrived` did, and `answered` replies came back.
    fn result(spec: TrialSpec, arrived: u64, answered: u64) -> TrialResult {
        let requests = DirectionResult::counted(Direction::Forward, 1000, arrived);
        let replies = DirectionResult::counted(Direction::Reverse, arrived, answered);
        TrialResult::new(spec, vec![requests, replies], vec![])
    }

    #[test]
    fn what_was_lost_on_either_way_is_lost_once() {
        let trial = result(TrialSpec::response(FrameRate(1000), 1_000_000_000), 990, 980);
        let exchange = trial.exchange().expect("an exchange");
        assert_eq!((exchange.requested(), exchange.unanswered(), exchange.forwarded()), (1000, 20, 1970));
        assert_eq!(exchange.loss_ratio(), LossRatio(0.02));
    }

    #[test]
    fn two_loaded_directions_are_no_exchange() {
        assert!(result(TrialSpec::constant(FrameRate(1000), 1_000_000_000), 1000, 1000).exchange().is_none());
    }
}
