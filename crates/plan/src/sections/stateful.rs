//! The settings of a `[[test]]` of a stateful gateway: the parameters of RFC 9693.

use crate::defaults::PlanDefaults;
use crate::reader::Section;
use crate::reader::words::order;
use sixbench_method::measures::Keys;
use sixbench_method::plan::{Measure, Stateful, TrafficSettings, ValueOrder};
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::units::{self, ValueError};
use thiserror::Error;

/// The default of R, connections per second: a rate that most software exceeds.
const RATE: FrameRate = FrameRate(20_000);

/// The keys that only tests of connections have.
const KEYS: [&str; 7] = [
    "state-table",
    "phase-1-rate",
    "phase-1-timeout",
    "phase-1-delay",
    "enumerate",
    "responder-order",
    "validation-rate",
];

/// The settings of the two phases, including those that may be lists.
pub(crate) struct StatefulSection {
    /// The settings of the first item of each list; `None` for a stateless test.
    pub(crate) stateful: Option<Stateful>,
    pub(crate) connections: Vec<u64>,
    pub(crate) table_sizes: Vec<u64>,
    /// True if M was given, so that it is not derived from N.
    pub(crate) has_own_state_table: bool,
}

/// Reads the keys; `connections` makes a test stateful.
pub(crate) fn read_stateful(
    section: &Section<'_>,
    defaults: &PlanDefaults<'_>,
    measure: &Measure,
    goals: &[LossRatio],
) -> StatefulSection {
    let connections = section
        .list("connections", units::connections)
        .unwrap_or_default();
    let table_sizes = section
        .list("table-size", units::connections)
        .unwrap_or_default();
    for key in ["connections", "table-size"]
        .into_iter()
        .filter(|key| section.is_empty_list(key))
    {
        section.mistake(key, format!("`{key}` needs at least one number"));
    }
    let own = measure.phase_one_connections();
    let first = match &own {
        Some(own) => {
            refuse_own_connections(section, &connections);
            Some(*own.start())
        }
        None => connections.first().copied(),
    };
    let Some(first) = first else {
        missing_connections(section, measure);
        return StatefulSection {
            stateful: None,
            connections,
            table_sizes,
            has_own_state_table: false,
        };
    };
    // The last step of a search for the capacity must be validated completely.
    let most = own.map_or(first, |own| *own.end());
    let own_table = section.value("state-table", units::connections);
    let stateful = Stateful {
        state_table: own_table.unwrap_or(most),
        table_size: table_sizes.first().copied(),
        ..read_phases(section, defaults, first)
    };
    check_goals(section, measure, goals);
    check(
        section,
        &stateful,
        connections.iter().copied().fold(most, u64::max),
    );
    StatefulSection {
        stateful: Some(stateful),
        connections,
        table_sizes,
        has_own_state_table: own_table.is_some(),
    }
}

/// Reads the settings of the two phases for this many connections.
fn read_phases(section: &Section<'_>, defaults: &PlanDefaults<'_>, connections: u64) -> Stateful {
    let rate = section.value("phase-1-rate", units::rate).unwrap_or(RATE);
    let timeout_ns = section
        .value("phase-1-timeout", units::duration_ns)
        .unwrap_or(defaults.trial.residual_ns);
    Stateful {
        delay_ns: section.value("phase-1-delay", units::duration_ns),
        enumeration: section
            .text("enumerate", enumeration)
            .unwrap_or(ValueOrder::Pseudorandom),
        responder: section
            .text("responder-order", order)
            .unwrap_or(ValueOrder::Pseudorandom),
        validation: section
            .value("validation-rate", units::factor)
            .unwrap_or(0.5),
        ..Stateful::new(connections, rate, timeout_ns)
    }
}

/// Refuses `connections` of a measure that sets their number itself.
fn refuse_own_connections(section: &Section<'_>, connections: &[u64]) {
    if !connections.is_empty() {
        let title = "a search for the capacity of a table begins with `start` connections and goes up to `most`";
        section.mistake_with_help("connections", title, "leave `connections` out");
    }
}

/// Refuses a loss goal other than zero of a measure that searches for the rate of phase 1.
fn check_goals(section: &Section<'_>, measure: &Measure, goals: &[LossRatio]) {
    let has_loss = goals.iter().any(|goal| goal.0 > 0.0);
    if has_loss && measure.info().searches_phase_one {
        let title = format!(
            "{} has no loss goal other than zero, because every connection must be established",
            measure.name()
        );
        section.mistake_with_help("measure", title, "give this test `loss-goals = [\"0%\"]`");
    }
}

fn missing_connections(section: &Section<'_>, measure: &Measure) {
    // `mentions` also marks a key as known, so all are asked before the early return, or they would be reported as unknown.
    let table_size = section.is_given("table-size").then_some("table-size");
    let given: Vec<_> = KEYS
        .into_iter()
        .filter(|key| section.mentions(key))
        .chain(table_size)
        .collect();
    if section.is_given("connections") {
        // A mistake in it has already been reported.
        return;
    }
    let help =
        "`connections` is N of RFC 9693: how many connections phase 1 opens, such as \"100k\"";
    if measure.family().ends_with_phase_one() {
        section.mistake_with_help(
            "measure",
            format!("{} needs `connections`", measure.name()),
            help,
        );
    }
    for key in given {
        section.mistake_with_help(
            key,
            format!("`{key}` belongs to a stateful test, which has `connections`"),
            help,
        );
    }
}

fn check(section: &Section<'_>, stateful: &Stateful, most: u64) {
    if stateful.state_table > most {
        section.mistake(
            "state-table",
            format!(
                "a state table of {} cannot be filled by {most} connections",
                stateful.state_table
            ),
        );
    }
    if stateful.validation <= 0.0 {
        section.mistake(
            "validation-rate",
            "the connections are validated at a share of the rate above 0%",
        );
    }
    if let Some(delay_ns) = stateful.delay_ns {
        // Without a delay of its own, `delay_ns` is N / R + 2 T; one T less is the least.
        let without_delay = Stateful {
            connections: most,
            delay_ns: None,
            ..*stateful
        };
        let needed_ns = without_delay.delay_ns(without_delay.phase_one()) - stateful.timeout_ns;
        if delay_ns < needed_ns {
            let title = format!(
                "phase 1 takes N / R + T = {} s, which is longer than this delay",
                needed_ns as f64 / 1e9
            );
            section.mistake_with_help(
                "phase-1-delay",
                title,
                "leave it out: the default is N / R + 2 T",
            );
        }
    }
}

/// The smallest number of combinations that cannot be numbered.
pub const MOST_COMBINATIONS: u64 = 1 << 63;

/// Reports ranges with too few combinations for the connections, or with more than can be numbered.
pub(crate) fn check_combinations(
    section: &Section<'_>,
    read: &StatefulSection,
    traffic: &TrafficSettings,
    measure: &Measure,
) {
    if read.stateful.is_none() {
        return;
    }
    let searched = measure.phase_one_connections().map_or(0, |own| *own.end());
    let most = read
        .connections
        .iter()
        .copied()
        .max()
        .unwrap_or(0)
        .max(searched);
    // The recipe determines which direction is the Initiator's, and its check covers that direction.
    let tuples = traffic
        .tuples_of(Direction::Forward)
        .max(traffic.tuples_of(Direction::Reverse));
    let key = if searched > 0 { "most" } else { "connections" };
    if most > tuples {
        let title = format!(
            "{most} connections need as many combinations of ports and addresses, but the ranges only have {tuples}"
        );
        section.mistake_with_help(
            key,
            title,
            "widen `ports`, `left-addresses` or `right-addresses`",
        );
    }
    check_countable(section, traffic);
    for (key, networks) in [
        ("left-networks", traffic.left_networks),
        ("right-networks", traffic.right_networks),
    ] {
        if networks > 1 {
            section.mistake(
                key,
                "a stateful gateway is tested with addresses that vary, not with networks",
            );
        }
    }
}

/// Reports ranges with more combinations than can be numbered.
fn check_countable(section: &Section<'_>, traffic: &TrafficSettings) {
    // If only one direction has this many, it may be the Responder's, whose combinations are not enumerated.
    let fewest = traffic
        .tuples_of(Direction::Forward)
        .min(traffic.tuples_of(Direction::Reverse));
    if fewest >= MOST_COMBINATIONS {
        let title =
            "ports and addresses have 2^63 combinations or more, which cannot be enumerated";
        section.mistake_with_help(
            "connections",
            title,
            "narrow the ranges: a connection tracking table holds far fewer",
        );
    }
}

/// The reason why a text is no order in which connections are enumerated.
#[derive(Debug, Error)]
enum EnumerationError {
    /// The text is no order.
    #[error(transparent)]
    Order(#[from] ValueError),
    /// The order would repeat one combination.
    #[error(
        "expected an order that covers every combination: increasing, decreasing or pseudorandom"
    )]
    Fixed,
}

fn enumeration(text: &str) -> Result<ValueOrder, EnumerationError> {
    match order(text)? {
        ValueOrder::Fixed => Err(EnumerationError::Fixed),
        order => Ok(order),
    }
}

#[cfg(test)]
mod tests {
    use crate::{fixture_tests, parse};

    const DUTS: [&str; 1] = ["nft-nat44"];

    /// Returns a plan with one test of nft-nat44 for each set of lines.
    fn plan(tests: &[&str]) -> String {
        fixture_tests::plan(|_| DUTS[0], tests)
    }

    fn mistakes(tests: &[&str]) -> String {
        fixture_tests::mistakes(&plan(tests), &DUTS)
    }

    const FULL: &str = "{ source = \"0-65535\", destination = \"0-65535\" }";

    #[test]
    fn mistakes_of_the_phases_are_told_each_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "connections = \"1M\"\nphase-1-delay = \"1s\"",
            "connections = \"1k\"\nstate-table = 2000",
            "connections = \"1k\"\nenumerate = \"fixed\"",
            "connections = \"1k\"\nenumerate = \"sideways\"\nresponder-order = \"up\"",
            "connections = \"many\"",
            "connections = \"2000M\"",
            "connections = []",
            "connections = [\"1k\", \"100k\"]\nphase-1-delay = \"1s\"",
            "connections = \"1k\"\nvalidation-rate = \"0%\"\nphase-1-rate = \"fast\"",
        ]));
    }

    #[test]
    fn mistakes_of_the_traffic_are_told_each_at_its_line() {
        let full = format!(
            "connections = \"1k\"\nforward-ports = {FULL}\nreverse-ports = {FULL}\nleft-addresses = {{ range = \"0-65535\" }}\n\
             right-addresses = {{ range = \"0-65535\" }}"
        );
        insta::assert_snapshot!(mistakes(&[
            "connections = [\"10k\", \"100k\"]\nforward-ports = { source = \"1-100\", destination = \"1-100\" }\nreverse-ports = { source = \"1-100\", destination = \"1-100\" }",
            "connections = \"1k\"\nports = \"fixed\"",
            &full,
            "connections = \"1k\"\nright-networks = 16",
            "connections = \"1k\"\nflows = 100",
            "connections = [\"1k\", \"2k\"]\ntable-size = [\"4k\", \"8k\"]",
            "connections = [\"1k\", \"2k\"]\ncores = [1, 2]",
        ]));
    }

    #[test]
    fn keys_of_stateful_tests_in_others_are_told_each_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "phase-1-rate = \"50k\"\nstate-table = 1000",
            "table-size = [\"1M\", \"2M\"]",
            "measure = \"establishment-rate\"",
            "measure = \"tear-down-rate\"\nvalidation-rate = \"50%\"",
        ]));
    }

    #[test]
    fn mistakes_of_a_search_for_the_capacity_are_told_each_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "measure = \"table-capacity\"\nstart = \"1M\"\nmost = \"500k\"",
            "measure = \"table-capacity\"\nstart = \"1k\"\nmost = \"2k\"\nforward-ports = { source = \"1-100\", destination = \"1-10\" }\nreverse-ports = { source = \"1\", destination = \"1-10\" }",
            "measure = \"table-capacity\"\nbeta = \"0%\"\ngamma = \"100%\"",
            "measure = \"table-capacity\"\nconnections = \"5M\"",
            "measure = \"establishment-rate\"\nconnections = \"1k\"\nstart = \"1k\"",
        ]));
    }

    #[test]
    fn the_responders_ports_may_have_any_number_of_combinations() {
        // As imported for figures 7 and 8: the Responder keeps the ports of RFC 4814.
        let lines = "connections = \"1k\"\nforward-ports = { source = \"1-400\", destination = \"1-100\" }\n\
                     left-addresses = { range = \"0-65535\" }\nright-addresses = { range = \"0-65535\" }";
        assert_eq!(
            parse(&plan(&[lines]), &DUTS)
                .map_err(|_| mistakes(&[lines]))
                .map(|loaded| loaded.plan.tests.len()),
            Ok(1)
        );
    }

    #[test]
    fn a_series_of_connections_fills_the_state_table_at_every_step() {
        let tests = parse(&plan(&["connections = [\"1k\", \"10k\"]"]), &DUTS)
            .expect("a plan")
            .plan
            .tests;
        let tables: Vec<u64> = tests
            .iter()
            .filter_map(|test| Some(test.stateful?.state_table))
            .collect();
        assert_eq!(
            (tests[1].name.as_str(), tables),
            ("t0.connections10000", vec![1000, 10_000])
        );
    }
}
