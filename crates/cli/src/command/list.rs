//! `sixbench list`.

use super::library;
use crate::args::Listed;
use crate::exit::{Exit, Failed};
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::Host;

/// Plans that come with sixbench, as they are: the first comment of each says what it does.
const PLANS: [(&str, &str); 26] = [
    ("quickstart.toml", include_str!("../../../../plans/quickstart.toml")),
    ("kernel-forwarding.toml", include_str!("../../../../plans/kernel-forwarding.toml")),
    ("6to4-paper.toml", include_str!("../../../../plans/6to4-paper.toml")),
    ("dns-authority.toml", include_str!("../../../../plans/dns-authority.toml")),
    ("dns64.toml", include_str!("../../../../plans/dns64.toml")),
    ("dns64-cores.toml", include_str!("../../../../plans/dns64-cores.toml")),
    ("dns64-grid.toml", include_str!("../../../../plans/dns64-grid.toml")),
    ("dns64-real-authority.toml", include_str!("../../../../plans/dns64-real-authority.toml")),
    ("464xlat-mapt-frames.toml", include_str!("../../../../plans/464xlat-mapt-frames.toml")),
    ("464xlat-mapt-paper.toml", include_str!("../../../../plans/464xlat-mapt-paper.toml")),
    ("siit-comparison.toml", include_str!("../../../../plans/siit-comparison.toml")),
    ("siit-paper-fig3-8.toml", include_str!("../../../../plans/siit-paper-fig3-8.toml")),
    ("siit-paper-fig10-12.toml", include_str!("../../../../plans/siit-paper-fig10-12.toml")),
    ("siit-paper-fig13-15.toml", include_str!("../../../../plans/siit-paper-fig13-15.toml")),
    ("siit-paper-table3.toml", include_str!("../../../../plans/siit-paper-table3.toml")),
    ("siitperf-paper-table11-14.toml", include_str!("../../../../plans/siitperf-paper-table11-14.toml")),
    ("siitperf-paper-table7-8.toml", include_str!("../../../../plans/siitperf-paper-table7-8.toml")),
    ("siitperf-paper-table9-10.toml", include_str!("../../../../plans/siitperf-paper-table9-10.toml")),
    ("stateful-compare.toml", include_str!("../../../../plans/stateful-compare.toml")),
    ("stateful-nat44.toml", include_str!("../../../../plans/stateful-nat44.toml")),
    ("stateful-scaling-connections.toml", include_str!("../../../../plans/stateful-scaling-connections.toml")),
    ("stateful-scaling-cores.toml", include_str!("../../../../plans/stateful-scaling-cores.toml")),
    ("stateful-scaling-table.toml", include_str!("../../../../plans/stateful-scaling-table.toml")),
    ("tcp.toml", include_str!("../../../../plans/tcp.toml")),
    ("tunnels.toml", include_str!("../../../../plans/tunnels.toml")),
    ("tunnels-subscribers.toml", include_str!("../../../../plans/tunnels-subscribers.toml")),
];

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
    match what {
        Listed::Duts => duts()?,
        Listed::Measures => MEASURES.iter().for_each(|(name, what)| println!("{name:<22} {what}")),
        Listed::Plans => {
            PLANS.iter().for_each(|(name, text)| println!("{:<42} {}", format!("plans/{name}"), first_comment(text)))
        }
    }
    Ok(Exit::Done)
}

/// The first line of a file, without the comment's sign.
fn first_comment(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
}

fn duts() -> Result<(), Failed> {
    for recipe in library(&[])?.iter() {
        println!("{:<22} {:<24} {:<44} {}", recipe.name, recipe.technology.title(), recipe.honest_title(), state(recipe));
    }
    Ok(())
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
