//! What a `[[test]]` of a stateful gateway sets: the parameters of RFC 9693.

use super::reader::Section;
use super::test_section::Surroundings;
use super::units;
use super::words::order;
use sixbench_method::plan::{Measure, Order, Stateful, Traffic};
use sixbench_method::terms::FrameRate;

/// R where nothing is said: most software opens more.
const RATE: FrameRate = FrameRate(20_000);

/// The keys that only tests of connections have.
const KEYS: [&str; 7] =
    ["state-table", "phase-1-rate", "phase-1-timeout", "phase-1-delay", "enumerate", "responder-order", "validation-rate"];

/// The two phases, and what may be a list.
pub(super) struct Read {
    /// As the first item of each list has it; `None` of a stateless test.
    pub(super) stateful: Option<Stateful>,
    pub(super) connections: Vec<u64>,
    pub(super) table_sizes: Vec<u64>,
    /// M was given: it does not follow N.
    pub(super) has_own_state_table: bool,
}

/// Reads the keys; `connections` makes a test stateful.
pub(super) fn read_stateful(section: &Section<'_>, around: &Surroundings<'_>, measure: &Measure) -> Read {
    let connections = section.list("connections", connections).unwrap_or_default();
    let table_sizes = section.list("table-size", self::connections).unwrap_or_default();
    let first = connections.first().copied().or(match measure {
        Measure::TableCapacity(capacity) => Some(capacity.start),
        _ => None,
    });
    let Some(first) = first else {
        missing_connections(section, measure, !table_sizes.is_empty());
        return Read { stateful: None, connections, table_sizes, has_own_state_table: false };
    };
    let own_table = section.value("state-table", self::connections);
    let rate = section.value("phase-1-rate", units::rate).unwrap_or(RATE);
    let timeout_ns = section.value("phase-1-timeout", units::duration_ns).unwrap_or(around.trial.residual_ns);
    let stateful = Stateful {
        state_table: own_table.unwrap_or(first),
        delay_ns: section.value("phase-1-delay", units::duration_ns),
        enumeration: section.value("enumerate", enumeration).unwrap_or(Order::Pseudorandom),
        responder: section.value("responder-order", order).unwrap_or(Order::Pseudorandom),
        validation: section.value("validation-rate", units::ratio).unwrap_or(0.5),
        table_size: table_sizes.first().copied(),
        ..Stateful::new(first, rate, timeout_ns)
    };
    check(section, &stateful, &connections);
    Read { stateful: Some(stateful), connections, table_sizes, has_own_state_table: own_table.is_some() }
}

fn missing_connections(section: &Section<'_>, measure: &Measure, has_table_size: bool) {
    let help = "`connections` is N of RFC 9693: how many connections phase 1 opens, such as \"100k\"";
    if measure.is_of_connections() {
        section.mistake_with_help("measure", format!("{} needs `connections`", measure.name()), help);
    }
    let mut given = KEYS.into_iter().filter(|key| section.value(key, |_| Ok(())).is_some());
    let given = given.next().or(has_table_size.then_some("table-size"));
    if let Some(key) = given {
        section.mistake_with_help(key, format!("`{key}` belongs to a stateful test, which has `connections`"), help);
    }
}

fn check(section: &Section<'_>, stateful: &Stateful, connections: &[u64]) {
    let most = connections.iter().copied().max().unwrap_or(stateful.connections);
    if stateful.state_table > most {
        section.mistake(
            "state-table",
            format!("a state table of {} cannot be filled by {most} connections", stateful.state_table),
        );
    }
    if stateful.validation <= 0.0 {
        section.mistake("validation-rate", "the connections are validated at a share of the rate above 0%");
    }
    if let Some(delay_ns) = stateful.delay_ns {
        let needed_ns = Stateful { delay_ns: None, ..*stateful }.delay_ns(stateful.opening()) - stateful.timeout_ns;
        if delay_ns < needed_ns {
            let title = format!("phase 1 takes N / R + T = {} s, which is longer than this delay", needed_ns as f64 / 1e9);
            section.mistake_with_help("phase-1-delay", title, "leave it out: it is N / R + 2 T then");
        }
    }
}

/// Ranges that do not have so many combinations, or have more than can be numbered.
pub(super) fn check_combinations(section: &Section<'_>, read: &Read, traffic: &Traffic, measure: &Measure) {
    if read.stateful.is_none() {
        return;
    }
    let searched = match measure {
        Measure::TableCapacity(capacity) => capacity.most,
        _ => 0,
    };
    let most = read.connections.iter().copied().max().unwrap_or(0).max(searched);
    let tuples = traffic.tuples();
    let key = if searched > 0 { "most" } else { "connections" };
    if most > tuples {
        let title =
            format!("{most} connections need as many combinations of ports and addresses, and the ranges have {tuples}");
        section.mistake_with_help(key, title, "widen `ports`, `left-addresses` or `right-addresses`");
    }
    if tuples >= 1 << 63 {
        let title = "ports and addresses have 2^63 combinations or more, which cannot be enumerated";
        section.mistake_with_help("connections", title, "narrow the ranges: a connection tracking table holds far fewer");
    }
    for (key, networks) in [("left-networks", traffic.left_networks), ("right-networks", traffic.right_networks)] {
        if networks > 1 {
            section.mistake(key, "a stateful gateway is tested with addresses that vary, not with networks");
        }
    }
}

fn enumeration(text: &str) -> Result<Order, String> {
    match order(text)? {
        Order::Fixed => {
            Err("expected an order that comes by every combination: increasing, decreasing, pseudorandom".to_owned())
        }
        order => Ok(order),
    }
}

/// `100k`, `1M`, `65536`.
pub(super) fn connections(text: &str) -> Result<u64, String> {
    let number = units::rate(text).map(|rate| rate.0).ok().filter(|_| !text.contains("fps"));
    number.ok_or_else(|| format!("expected a number of connections such as 1000, 100k or 4M, not `{text}`"))
}
