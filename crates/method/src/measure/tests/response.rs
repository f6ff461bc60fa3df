//! The measurement of the 6to4 paper on a relay of known capacity: ten numbers of clients, without a clock.

use super::*;
use crate::simulated::SimulatedRelay;

/// 15,000 requests a second from each client, as each test of a series has them.
fn of(clients: u32) -> Plan {
    let response = ResponseTime { rate_per_client: FrameRate(15_000), duration_ns: SECOND / 5 };
    let mut plan = plan(Measure::ResponseTime(response));
    plan.tests[0].traffic.subscribers = Some(clients);
    plan
}

/// Both ways of seven clients and a little more; a queue of 100 frames.
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
    assert_eq!(specs, [TrialSpec::response(FrameRate(45_000), SECOND / 5)]);
    assert!(outcome.brackets.is_empty());
    let plan = Plan { tests: vec![Test { traffic: Traffic::RFC_4814, ..of(1).tests[0].clone() }], ..of(1) };
    let (specs, _) = repeat(&plan, &[], &mut relay());
    assert_eq!(specs[0].rate, FrameRate(15_000), "a device without subscribers has one client");
}

#[test]
fn below_its_capacity_the_relay_forwards_both_ways_and_loses_nothing() {
    let service_ns = relay().service_ns() as f64;
    for clients in 1..=7 {
        let (_, outcome) = outcome(clients, relay());
        assert_eq!(one(&outcome, Quantity::RequestLoss), 0.0, "{clients}");
        let forwarded = one(&outcome, Quantity::ForwardedFrames);
        assert!((forwarded - f64::from(clients) * 30_000.0).abs() < 10.0, "{clients}: {forwarded}");
        let time = one(&outcome, Quantity::ResponseTime);
        assert!((2.0 * service_ns..4.0 * service_ns).contains(&time), "{clients}: {time}");
    }
}

#[test]
fn from_eight_clients_on_the_relay_is_saturated_and_its_queue_is_the_response_time() {
    let service_ns = relay().service_ns() as f64;
    let mut before = 0.0;
    for clients in 8..=10 {
        let (_, outcome) = outcome(clients, relay());
        let (loss, forwarded) = (one(&outcome, Quantity::RequestLoss), one(&outcome, Quantity::ForwardedFrames));
        assert!(loss > before, "{clients}: {loss}");
        before = loss;
        assert!((forwarded / 220_000.0 - 1.0).abs() < 0.01, "{clients}: {forwarded}");
        // Request and reply both wait for the whole queue.
        let time = one(&outcome, Quantity::ResponseTime);
        assert!((time / (202.0 * service_ns) - 1.0).abs() < 0.05, "{clients}: {time}");
        assert!(one(&outcome, Quantity::ResponseTimeDeviation) < 0.2 * time, "{clients}");
    }
}

#[test]
fn a_step_that_the_tester_could_not_send_is_repeated_and_has_no_values() {
    let (specs, outcome) = outcome(4, relay().with_ceiling(FrameRate(50_000)));
    assert_eq!((specs.len(), outcome.invalid), (3, 3));
    assert!(outcome.values.is_empty());
}

#[test]
fn loss_that_the_testers_own_stall_may_have_caused_is_not_the_relays() {
    let Ok(mut result) =
        SimulatedRelay::new(FrameRate(100_000), 10).measure(&TrialSpec::response(FrameRate(60_000), SECOND / 5));
    assert_eq!(read::response_time(&result).0, Verdict::Passed, "the loss is a result");
    let frames = result.not_received();
    result.faults.push(Fault::ReceiverStalled { direction: Direction::Reverse, worst_gap_ns: 5_000_000, frames });
    assert_eq!(read::response_time(&result).0, Verdict::Invalid);
}

#[test]
fn a_responder_that_was_away_spoils_response_times() {
    let Ok(mut result) = relay().measure(&TrialSpec::response(FrameRate(15_000), SECOND / 5));
    assert_eq!(read::response_time(&result).0, Verdict::Passed);
    result.faults.push(Fault::SenderStalled { direction: Direction::Reverse, worst_lateness_ns: 3_000_000, frames: 45 });
    assert_eq!(read::response_time(&result).0, Verdict::Invalid);
}
