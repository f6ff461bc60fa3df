//! The measurement of a paper rather than of an RFC: G. Lencse and S. Répás, "Performance Analysis and Comparison of 6to4 Relay
//! Implementations", IJACSA 4(9), 2013. What is taken over from it, and what is not.

use super::Clause;
use super::numbers::{list, repetitions, seconds};
use crate::plan::{Payload, Plan, ResponseTime, SeriesBy, Test};

const METHOD: &str = "Lencse and Répás 2013 section VI";
const RESULTS: &str = "Lencse and Répás 2013 section VII";

/// The paper has no key words and makes no demands: what it did is taken as a SHOULD.
pub(crate) fn clauses(plan: &Plan, test: &Test, response: &ResponseTime) -> Vec<Clause> {
    let steps = steps(plan, test);
    let is_raised = steps.first() == Some(&1) && steps.len() > 1;
    let echo = match test.traffic.payload {
        Payload::Echo => "ICMPv6 echo",
        Payload::Udp => "UDP",
    };
    let size = format!("{echo}, {} octets of Ethernet frame", list(&test.frame_sizes));
    let loop_ = format!(
        "every client sends {} requests/s for {}, whether replies come or not (open loop), so an overloaded relay gets no \
         relief",
        response.rate_per_client.0,
        seconds(response.duration_ns)
    );
    let repeated = format!("{}: median, 1st and 99th percentile of them", repetitions(test));
    vec![
        Clause::should(METHOD, "the load is raised by the number of clients, from one on", clients(&steps), is_raised),
        Clause::should(
            METHOD,
            "eight `ping6 -i0` at a time on each client, which wait for their replies (closed loop)",
            loop_,
            false,
        ),
        Clause::should(
            METHOD,
            "eleven requests to each of 131,072 addresses, answered by two responders",
            "the addresses the plan varies, answered by one responder: the tester's right end",
            false,
        ),
        Clause::should(METHOD, "CPU and memory of the relay once a second", "ten times a second, from outside of it", true),
        Clause::should(RESULTS, "ICMPv6 echo requests of 100 bytes", size, test.traffic.payload == Payload::Echo),
        Clause::should(
            RESULTS,
            "loss, response time, CPU, forwarded frames and memory for each number of clients",
            repeated,
            true,
        ),
    ]
}

/// The numbers of clients of the series the test is of, ascending.
fn steps(plan: &Plan, test: &Test) -> Vec<u32> {
    let series = test.series.as_ref().filter(|series| series.by == SeriesBy::Subscribers);
    let is_sibling = |other: &&Test| series.is_some_and(|own| other.series.as_ref().is_some_and(|s| s.name == own.name));
    let mut steps: Vec<u32> = plan.tests.iter().filter(is_sibling).map(Test::clients).collect();
    if steps.is_empty() {
        steps.push(test.clients());
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
