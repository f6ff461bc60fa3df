//! Loss and response time of requests over the number of clients: the measurement of "Performance Analysis and Comparison of 6to4 Relay
//! Implementations" (Lencse and Répás, IJACSA 4(9), 2013).

mod watched;

use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults, time};
use super::loads::{Loads, outstanding_of_clients, rate_of_clients};
use super::procedure::SingleTrial;
use super::procedure::reading::{EXCUSABLE_SHARE, NEGLIGIBLE_SHARE, Reading, TAIL_SHARE};
use super::{
    Demand, Family, Info, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements, Value,
};
use crate::clause::Clause;
use crate::clause::numbers::{count, list, repetitions, seconds};
use crate::plan::{Payload, Profile, SeriesBy, Stateful};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{Direction, FrameRate};
use crate::trial::{Delay, SpoiltFrames, TrialKind, TrialResult, TrialSpec, Verdict, is_upper_bound};
use crate::units::{self, ValueError, expected};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Requests from clients, each at the same rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ResponseTime {
    /// Requests per second of each client.
    pub rate_per_client: FrameRate,
    /// Time of sending, nanoseconds.
    pub duration_ns: u64,
    /// Requests of each client that may wait for their replies; `None`: the clients wait for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<NonZeroU32>,
}

impl Bounded for ResponseTime {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("rate-per-client", FrameRate::BOUND),
            ("duration-ns", NumberBound::TIME_NS),
            ("outstanding", NumberBound::NONZERO_UINT32),
        ],
        ..TableBounds::NONE
    };
}

impl ResponseTime {
    /// Requests per second of all clients together.
    pub fn rate(&self, clients: u32) -> FrameRate {
        rate_of_clients(self.rate_per_client, clients)
    }

    fn trial(&self, clients: u32) -> TrialSpec {
        TrialSpec {
            outstanding: outstanding_of_clients(self.outstanding, clients),
            ..TrialSpec::response(self.rate(clients), self.duration_ns)
        }
    }
}

const METHOD: &str = "Lencse and Répás 2013 section VI";
const RESULTS: &str = "Lencse and Répás 2013 section VII";
const VALIDITY: &str = "Lencse and Répás 2013 section VIII";
/// Addresses to which each client of the paper sent.
const DESTINATIONS: u64 = 256 * 64 * 8;

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "response-time",
        definition: "What a relay does to requests and their replies as the number of clients grows: frame loss, average and \
                     standard deviation of the response time, forwarded frames, CPU load and memory.",
        clause: "no RFC; G. Lencse and S. Répás, Performance Analysis and Comparison of 6to4 Relay Implementations, IJACSA \
                 4(9), 2013",
        here: "One trial for each number of clients, at clients times `rate-per-client`. The tester's right end answers each \
               correct request once, immediately; the response time is from the request's departure to the reply's arrival, \
               and the tester's own share of it is recorded. A request without a correct reply in time is lost, whether the \
               request or the reply was lost. Forwarded frames are requests and replies together. The paper's clients ran \
               eight `ping6 -i0` each and waited for replies: so do they with `outstanding = 8`, each for its own. Without it, requests leave on \
               schedule whatever happens to them, so an overloaded relay loses frames where the paper's clients slowed down. CPU and memory are sampled ten times a \
               second from outside; memory is the growth since before the first frame.",
        unit: "per cent, milliseconds, frames per second of both directions together, kB",
    },
    summary: "loss and response time of requests, forwarded frames, CPU and memory, over the number of clients (6to4 paper)",
    family: Family::Requests,
    // Requests and replies follow no RFC.
    traffic: TrafficRequirements::None,
    demand: Some(Demand::NoConnections),
    is_steady: true,
    is_of_delay: true,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[
        Quantity::RequestLoss,
        Quantity::ResponseTime,
        Quantity::ResponseTimeDeviation,
        Quantity::ForwardedFrames,
        Quantity::ProcessorLoad,
        Quantity::ProcessorLoadDeviation,
        Quantity::MemoryGrowth,
    ],
    headline: Some(Quantity::ResponseTime),
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl ResponseTime {
    /// Returns the settings that the keys of a test ask for, and reports the keys that contradict them: requests go from left to right,
    /// and every one has a reply of its own.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        for (key, why) in [
            (
                "directions",
                "requests go from left to right and their replies back, so there is no direction to choose",
            ),
            (
                "connections",
                "every request has a reply of its own, but the connections of a stateful test are drawn separately for each \
                 direction",
            ),
            (
                "flow-step",
                "all clients send from the first frame on; their number is `subscribers`",
            ),
        ] {
            if keys.is_given(key) {
                let title = format!("`{key}` cannot be used with response-time: {why}");
                keys.mistake_with_help(key, title, format!("leave `{key}` out"));
            }
        }
        let rate_per_client = keys
            .required("rate-per-client", units::rate)
            .unwrap_or(FrameRate(1));
        let outstanding = keys.number("outstanding", request_count);
        Self {
            rate_per_client,
            duration_ns: time(keys, "duration", defaults.trial_ns),
            outstanding,
        }
    }
}

impl ResponseTime {
    /// Returns a description of when each client sends.
    fn sending_in_words(&self) -> String {
        let (rate, duration) = (self.rate_per_client.0, seconds(self.duration_ns));
        match self.outstanding {
            None => format!(
                "every client sends {rate} requests/s for {duration}, whether replies come or not (open loop), so an overloaded relay \
                gets no relief"
            ),
            Some(each) => format!(
                "every client has up to {each} requests without a reply, each of which waits for its own, for 10 ms at most, and sends at \
                most {rate} requests/s for {duration}"
            ),
        }
    }
}

impl Measurement for ResponseTime {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::PerClient {
            rate: self.rate_per_client,
            outstanding: self.outstanding,
        }
    }

    fn sending(&self) -> SendingTime {
        SendingTime::For(self.duration_ns)
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Response
    }

    fn follow(&mut self, _profile: Profile, trial_ns: u64) {
        self.duration_ns = trial_ns;
    }

    fn lengthen(&mut self) {
        self.duration_ns = 60_000_000_000;
    }

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        // The paper has no key words and makes no demands: what it did is taken as a SHOULD.
        let steps = steps(test);
        let is_raised = steps.first() == Some(&1) && steps.len() > 1;
        let echo = match test.traffic.payload {
            Payload::Echo => "ICMP echo",
            Payload::Udp => "UDP",
        };
        let size = format!(
            "{echo}, {} octets of Ethernet frame",
            list(test.frame_sizes)
        );
        let destinations = test.traffic.destinations_of(Direction::Forward);
        let repeated = format!(
            "{}: median, 1st and 99th percentile of them",
            repetitions(test.repetitions)
        );
        vec![
            Clause::should(
                METHOD,
                "the load is raised by the number of clients, from one on",
                clients(&steps),
                is_raised,
            ),
            Clause::should(
                METHOD,
                "eight `ping6 -i0` at a time on each client, which wait for their replies (closed loop)",
                self.sending_in_words(),
                self.outstanding.is_some(),
            ),
            Clause::should(
                METHOD,
                "requests of each client to 131,072 addresses",
                count(destinations, "destination"),
                destinations >= DESTINATIONS,
            ),
            Clause::should(
                METHOD,
                "eleven requests to each address, answered by two responders",
                "requests in the order that the plan gives the addresses, all answered by the tester's right end",
                false,
            ),
            Clause::should(
                METHOD,
                "CPU and memory of the relay once a second",
                "ten times a second, from outside of it",
                true,
            ),
            Clause::should(
                VALIDITY,
                "ICMPv6 echo requests of 100 bytes",
                size,
                test.traffic.payload == Payload::Echo,
            ),
            Clause::should(
                RESULTS,
                "loss, response time, CPU, forwarded frames and memory for each number of clients",
                repeated,
                true,
            ),
        ]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let spec = self.trial(context.test.traffic.clients());
        Box::new(SingleTrial::new(spec, context.tries(), read).of_delays())
    }

    fn watched(&self, result: &TrialResult, watch: &Watch) -> Vec<Value> {
        watched::values(result, watch)
    }
}

fn request_count(text: &str) -> Result<NonZeroU32, ValueError> {
    text.parse()
        .map_err(|_| expected("a number of requests of each client, such as 8", text))
}

/// Returns the values that the paper's tables list for a number of clients. Loss and response time are both the result, and a
/// fault that may explain one of them need not touch the other.
pub(super) fn read(result: &TrialResult) -> Reading {
    let Some(exchange) = result.exchange() else {
        return Reading::new(Verdict::Invalid, Vec::new());
    };
    let both = [Direction::Forward, Direction::Reverse];
    let excusable = both
        .map(|way| result.excusable(way))
        .into_iter()
        .fold(0, u64::saturating_add) as f64;
    let spoilt = result
        .spoilt(Direction::Forward)
        .and(result.spoilt(Direction::Reverse));
    let (unanswered, forwarded) = (exchange.unanswered() as f64, exchange.forwarded() as f64);
    let time = exchange.time();
    // Both are of the same times, and hold together.
    let times_hold =
        time.is_some_and(|time| mean_holds(time, spoilt) && deviation_holds(time, spoilt));
    let loss_holds = unanswered == 0.0 || excusable <= EXCUSABLE_SHARE * unanswered;
    let forwarding_holds = unanswered == 0.0 || excusable <= NEGLIGIBLE_SHARE * forwarded;
    // Values for both directions together are stored with the requests.
    let value = |quantity, value| Value {
        quantity,
        direction: Direction::Forward,
        load: result.spec.rate,
        value,
        is_at_least: false,
        is_at_most: false,
    };
    let loss = exchange.loss_ratio().0 * 100.0;
    let mut found = vec![(value(Quantity::RequestLoss, loss), loss_holds)];
    if let Some(mean_ns) = time.and_then(Delay::mean_ns) {
        let mean = Value {
            is_at_most: time.is_some_and(is_mean_upper_bound),
            ..value(Quantity::ResponseTime, mean_ns)
        };
        found.push((mean, times_hold));
    }
    if let Some(deviation_ns) = time.and_then(Delay::deviation_ns) {
        let deviation = value(Quantity::ResponseTimeDeviation, deviation_ns);
        found.push((deviation, times_hold));
    }
    let per_second = forwarded * 1e9 / result.spec.duration_ns.max(1) as f64;
    let forwarding = value(Quantity::ForwardedFrames, per_second);
    found.push((forwarding, forwarding_holds));
    Reading::of_valid(result, found)
}

/// Returns whether the tester may have added a sensible share of the average by polling its port.
fn is_mean_upper_bound(time: &Delay) -> bool {
    time.bounds
        .zip(time.mean_ns())
        .is_some_and(|(bounds, mean_ns)| is_upper_bound(mean_ns, bounds.mean_ns as f64))
}

/// Returns whether the tester's part in the sum of all times is negligible.
fn mean_holds(time: &Delay, spoilt: SpoiltFrames) -> bool {
    let sum_ns = time.moments.map_or(0, |moments| moments.sum_ns);
    spoilt.is_within(TAIL_SHARE, time.count)
        || spoilt.sum_ns as f64 <= NEGLIGIBLE_SHARE * sum_ns as f64
}

/// Returns whether the tester's part in the spread is small: by the triangle inequality a standard deviation moves by no more
/// than the root of the mean square of what was added.
fn deviation_holds(time: &Delay, spoilt: SpoiltFrames) -> bool {
    let added_ns =
        (spoilt.frames as f64 / time.count.max(1) as f64).sqrt() * spoilt.worst_ns as f64;
    spoilt.is_within(TAIL_SHARE, time.count)
        || added_ns <= EXCUSABLE_SHARE * time.deviation_ns().unwrap_or(0.0)
}

/// Returns the numbers of clients of the series the test is of, ascending.
fn steps(test: &TestContext<'_>) -> Vec<u32> {
    let series = test
        .series
        .filter(|series| series.by == SeriesBy::Subscribers);
    let mut steps: Vec<u32> = test
        .peers
        .iter()
        .filter(|other| series.is_some_and(|own| other.series.is_some_and(|s| s.name == own.name)))
        .map(|other| other.clients)
        .collect();
    if steps.is_empty() {
        steps.push(test.traffic.clients());
    }
    steps.sort_unstable();
    steps
}

fn clients(steps: &[u32]) -> String {
    match steps {
        [one] => format!("clients: {one}"),
        _ => format!("clients: {}", list(steps)),
    }
}
