//! The measurement of the 6to4 paper on a simulated relay of known capacity, with ten numbers of clients.

use super::*;
use crate::simulated::SimulatedRelay;

/// Returns a plan with 15,000 requests per second from each client, as in each test of a series.
fn of(clients: u32) -> Plan {
    let response = ResponseTime {
        rate_per_client: FrameRate(15_000),
        duration_ns: SECOND_NS / 5,
        outstanding: None,
    };
    let mut plan = plan(Measure::ResponseTime(response));
    plan.tests[0].traffic.subscribers = Some(clients);
    plan
}

/// Returns a relay that can carry both directions of seven clients and a little more, with a queue of 100 frames.
fn relay() -> SimulatedRelay {
    SimulatedRelay::new(FrameRate(220_000), 100)
}

fn outcome(clients: u32, mut relay: SimulatedRelay) -> (Vec<TrialSpec>, Outcome) {
    repeat(&of(clients), &[], &mut relay)
}

fn one(outcome: &Outcome, quantity: Quantity) -> f64 {
    let found = values(outcome, quantity);
    assert_eq!(found.len(), 1, "{quantity:?}: {outcome:?}");
    found[0]
}

#[test]
fn one_trial_at_the_rate_of_all_clients_is_all_there_is() {
    let (specs, outcome) = outcome(3, relay());
    assert_eq!(
        specs,
        [TrialSpec::response(FrameRate(45_000), SECOND_NS / 5)]
    );
    assert!(outcome.brackets.is_empty());
    let plan = Plan {
        tests: vec![Test {
            traffic: TrafficSettings::RFC_4814,
            ..of(1).tests[0].clone()
        }],
        ..of(1)
    };
    let (specs, _) = repeat(&plan, &[], &mut relay());
    assert_eq!(
        specs[0].rate,
        FrameRate(15_000),
        "a device without subscribers has one client"
    );
}

#[test]
fn below_its_capacity_the_relay_forwards_both_ways_and_loses_nothing() {
    let service_ns = relay().service_ns() as f64;
    for clients in 1..=7 {
        let (_, outcome) = outcome(clients, relay());
        assert_eq!(one(&outcome, Quantity::RequestLoss), 0.0, "{clients}");
        let forwarded = one(&outcome, Quantity::ForwardedFrames);
        assert!(
            (forwarded - f64::from(clients) * 30_000.0).abs() < 10.0,
            "{clients}: {forwarded}"
        );
        let time = one(&outcome, Quantity::ResponseTime);
        assert!(
            (2.0 * service_ns..4.0 * service_ns).contains(&time),
            "{clients}: {time}"
        );
    }
}

#[test]
fn from_eight_clients_on_the_relay_is_saturated_and_its_queue_is_the_response_time() {
    let service_ns = relay().service_ns() as f64;
    let mut before = 0.0;
    for clients in 8..=10 {
        let (_, outcome) = outcome(clients, relay());
        let (loss, forwarded) = (
            one(&outcome, Quantity::RequestLoss),
            one(&outcome, Quantity::ForwardedFrames),
        );
        assert!(loss > before, "{clients}: {loss}");
        before = loss;
        assert!(
            (forwarded / 220_000.0 - 1.0).abs() < 0.01,
            "{clients}: {forwarded}"
        );
        // The request and the reply each wait for the whole queue.
        let time = one(&outcome, Quantity::ResponseTime);
        assert!(
            (time / (202.0 * service_ns) - 1.0).abs() < 0.05,
            "{clients}: {time}"
        );
        assert!(
            one(&outcome, Quantity::ResponseTimeDeviation) < 0.2 * time,
            "{clients}"
        );
    }
}

#[test]
fn a_step_that_the_tester_could_not_send_is_repeated_and_has_no_values() {
    let (specs, outcome) = outcome(4, relay().with_ceiling(FrameRate(50_000)));
    assert_eq!((specs.len(), outcome.invalid), (3, 3));
    assert!(outcome.values.is_empty());
}

/// Returns the quantities that remain valid in a trial with this fault.
fn holding(mut result: TrialResult, fault: Fault) -> (Verdict, Vec<Quantity>) {
    assert_eq!(
        crate::measures::response_time::read(&result).values.len(),
        4,
        "everything holds without it"
    );
    result.faults.push(fault);
    let reading = crate::measures::response_time::read(&result);
    assert_eq!(reading.is_whole, reading.values.len() == 4);
    (
        reading.verdict,
        reading.values.iter().map(|value| value.quantity).collect(),
    )
}

fn measured(mut relay: SimulatedRelay, rate: u64) -> TrialResult {
    let Ok(result) = relay.measure(&TrialSpec::response(FrameRate(rate), SECOND_NS / 5));
    result
}

#[test]
fn loss_that_the_testers_own_stall_may_have_caused_is_not_the_relays() {
    let result = measured(SimulatedRelay::new(FrameRate(100_000), 10), 60_000);
    let frames = result.not_received();
    let fault = Fault::ReceiverStalled {
        direction: Direction::Forward,
        worst_gap_ns: 5_000_000,
        frames,
    };
    assert_eq!(holding(result, fault), (Verdict::Invalid, vec![]));
}

#[test]
fn a_responder_that_was_away_spoils_response_times_and_no_counts() {
    let fault = Fault::SenderStalled {
        direction: Direction::Reverse,
        worst_lateness_ns: 3_000_000,
        frames: 45,
    };
    let (verdict, quantities) = holding(measured(relay(), 15_000), fault);
    assert_eq!(
        (verdict, quantities),
        (
            Verdict::Passed,
            vec![Quantity::RequestLoss, Quantity::ForwardedFrames]
        )
    );
}

/// Returns a trial of a relay with a long queue that loses thousands of frames, like those in the paper.
fn overloaded() -> TrialResult {
    let result = measured(SimulatedRelay::new(FrameRate(220_000), 1000), 225_000);
    assert!(result.exchange().expect("an exchange").unanswered() > 20_000);
    result
}

#[test]
fn sixty_four_late_frames_explain_nothing_of_twenty_thousand_lost_ones() {
    let stall = |direction| Fault::SenderStalled {
        direction,
        worst_lateness_ns: 1_500_000,
        frames: 64,
    };
    for direction in [Direction::Forward, Direction::Reverse] {
        let (verdict, quantities) = holding(overloaded(), stall(direction));
        assert_eq!(
            (verdict, quantities.len()),
            (Verdict::Passed, 4),
            "{direction}: {quantities:?}"
        );
    }
}

#[test]
fn a_stall_that_explains_a_fifth_of_the_loss_leaves_the_rate_and_not_the_loss() {
    let result = measured(SimulatedRelay::new(FrameRate(220_000), 100), 112_000);
    let frames = result.exchange().expect("an exchange").unanswered() / 5;
    assert!(frames > 0);
    let fault = Fault::ReceiveRingOverrun {
        direction: Direction::Forward,
        frames,
    };
    let (_, quantities) = holding(result, fault);
    assert!(
        !quantities.contains(&Quantity::RequestLoss)
            && quantities.contains(&Quantity::ForwardedFrames),
        "{quantities:?}"
    );
}

/// A relay with a tester that stalls for 1.5 ms in every trial.
struct Stalling(SimulatedRelay);

impl Measurer for Stalling {
    type Error = std::convert::Infallible;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Self::Error> {
        let mut result = self.0.measure(spec)?;
        let (direction, frames) = (Direction::Forward, spec.rate.frames_in(1_500_000));
        result.faults.push(Fault::SenderStalled {
            direction,
            worst_lateness_ns: 1_500_000,
            frames,
        });
        Ok(result)
    }
}

#[test]
fn ten_clients_have_their_column_although_the_tester_stalls_in_every_trial() {
    let (specs, outcome) = repeat(&of(10), &[], &mut Stalling(relay()));
    assert_eq!(
        (specs.len(), outcome.invalid),
        (3, 0),
        "what is spoilt is tried again"
    );
    assert!(one(&outcome, Quantity::RequestLoss) > 20.0);
    assert!((one(&outcome, Quantity::ForwardedFrames) / 220_000.0 - 1.0).abs() < 0.01);
}
