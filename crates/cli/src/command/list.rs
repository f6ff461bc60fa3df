//! `sixbench list`.

use super::library;
use crate::args::Listed;
use crate::exit::{Exit, Failed};
use crate::output;
use crate::plans;
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::Host;

/// What a test may `measure`.
const MEASURES: [(&str, &str); 17] = [
    ("throughput", "the highest rate without loss (RFC 2544 section 26.1, RFC 8219 section 7.1)"),
    ("frame-loss-rate", "the loss at each of several rates (RFC 2544 section 26.3, RFC 8219 section 7.4)"),
    ("latency", "typical and worst-case latency of tagged frames (RFC 8219 section 7.2)"),
    ("pdv", "packet delay variation of all frames (RFC 8219 section 7.3.1)"),
    ("ipdv", "inter packet delay variation (RFC 8219 section 7.3.2)"),
    ("back-to-back", "the longest burst at the minimum gap that is forwarded without loss (RFC 9004, RFC 8219 section 7.5)"),
    ("recovery", "how long losses go on after an overload (RFC 2544 section 26.5, RFC 8219 section 7.6)"),
    ("reset", "how long the DUT forwards nothing around a reset (RFC 6201, RFC 8219 section 7.7)"),
    ("establishment-rate", "the highest rate at which a stateful device opens connections that work (RFC 9693)"),
    ("tear-down-rate", "how fast a stateful device deletes its connections (RFC 9693)"),
    ("table-capacity", "how many connections a stateful device holds (RFC 9693)"),
    (
        "tcp-establishment-rate",
        "the highest rate of TCP connections with a GET on each (RFC 3511 section 5.3, RFC 8219 section 8)",
    ),
    ("tcp-capacity", "how many TCP connections are open at once (RFC 3511 section 5.2, RFC 8219 section 8)"),
    ("dns64", "the highest rate of DNS queries that a DNS64 server answers all, rightly and in time (RFC 8219 section 9)"),
    ("dns-authority", "the same of an authoritative server, which answers from its zone"),
    ("dns-queries", "the same through a device that forwards them to the tester's own authority"),
    (
        "response-time",
        "loss and response time of requests, forwarded frames, CPU and memory, over the number of clients (6to4 paper)",
    ),
];

/// Prints one of the lists.
pub(crate) fn list(what: Listed) -> Result<Exit, Failed> {
    let lines: String = match what {
        Listed::Duts => duts()?,
        Listed::Measures => MEASURES.iter().map(|(name, what)| format!("{name:<22} {what}\n")).collect(),
        Listed::Plans => plans::READY.iter().map(|plan| format!("{:<42} {}\n", plan.path(), plan.summary())).collect(),
    };
    output::print(lines)?;
    Ok(Exit::Done)
}

fn duts() -> Result<String, Failed> {
    let line = |recipe: &Recipe| {
        let (technology, title) = (recipe.technology.title(), recipe.honest_title());
        format!("{:<22} {technology:<24} {title:<44} {}\n", recipe.name, state(recipe))
    };
    Ok(library(&[])?.iter().map(line).collect())
}

/// Whether it runs here, and what to do if not.
fn state(recipe: &Recipe) -> String {
    if recipe.host == Host::Manual {
        return "set up by hand, cabled to two interfaces".to_owned();
    }
    if !recipe.is_for_namespaces() {
        return format!("runs on {}, over ssh", recipe.system.title());
    }
    let missing = recipe.missing();
    match (recipe.check_lab(), missing.first()) {
        (Err(error), _) => error.to_string(),
        (Ok(()), Some(need)) => format!("needs {}: {}", need.program, need.cure()),
        (Ok(()), None) => "runs here".to_owned(),
    }
}
