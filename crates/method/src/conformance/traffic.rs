//! Clauses on the test frames: sizes, directions, mixes, ports and addresses.

use crate::clause::Clause;
use crate::clause::numbers::{ETHERNET, count, list, missing_sizes};
use crate::lists::each_once;
use crate::measures::TrafficRequirements;
use crate::plan::{AddressPart, Plan, Ports, SeriesBy, Test, ValueOrder, ValueRange};
use crate::terms::{Direction, Directions, FrameSize};

/// The frame sizes that RFC 8219 section 5.1.1 lists in addition to `ETHERNET`.
const TRANSITION: [FrameSize; 6] = [
    FrameSize(768),
    FrameSize(1522),
    FrameSize(2048),
    FrameSize(4096),
    FrameSize(8192),
    FrameSize(9216),
];

pub(super) fn clauses(plan: &Plan, test: &Test) -> Vec<Clause> {
    let required = test.measure.info().traffic;
    match required {
        TrafficRequirements::None => return Vec::new(),
        TrafficRequirements::Addresses => return addresses(plan, test),
        TrafficRequirements::AnySize | TrafficRequirements::All => {}
    }
    let mut clauses = directions(plan, test);
    if required == TrafficRequirements::All {
        clauses.extend(sizes(test));
    }
    clauses.extend(mixes(plan, test));
    clauses.extend(ports(plan, test));
    clauses.extend(addresses(plan, test));
    clauses
}

fn sizes(test: &Test) -> Vec<Clause> {
    if let Some(mix) = test.traffic.size_mix {
        return vec![Clause::should(
            "RFC 2544 section 9",
            "at least five frame sizes",
            format!(
                "{} in one trial; give another test single sizes",
                mix.label()
            ),
            false,
        )];
    }
    let all: Vec<FrameSize> = ETHERNET.into_iter().chain(TRANSITION).collect();
    let sizes_met = |wanted: &[FrameSize]| {
        let missing = missing_sizes(&test.frame_sizes, wanted);
        let without = if missing.is_empty() {
            String::new()
        } else {
            format!("; without {}", list(&missing))
        };
        (
            format!("{}{without}", list(&test.frame_sizes)),
            missing.is_empty(),
        )
    };
    let ((transition, has_all), (ethernet, has_ethernet)) = (sizes_met(&all), sizes_met(&ETHERNET));
    let overhead = "a size names the IPv6 frame, the IPv4 frame is 20 octets shorter; rates are calculated with the larger";
    vec![
        Clause::must(
            "RFC 8219 section 5.1",
            "the frame overhead of translation or encapsulation is considered",
            overhead,
            true,
        ),
        Clause::should(
            "RFC 8219 section 5.1.1",
            "sizes 64 (84 where IPv6 becomes IPv4), 128, 256, 512, 768, 1024, 1280, 1518, 1522, 2048, 4096, 8192 and 9216",
            transition,
            has_all,
        ),
        Clause::should(
            "RFC 5180 section 5.1.1",
            "sizes 64, 128, 256, 512, 1024, 1280 and 1518",
            ethernet,
            has_ethernet,
        ),
        Clause::should(
            "RFC 2544 section 9",
            "at least five frame sizes",
            list(&test.frame_sizes),
            test.frame_sizes.len() >= 5,
        ),
    ]
}

fn directions(plan: &Plan, test: &Test) -> Vec<Clause> {
    let udp = Clause::should("RFC 8219 section 5.3", "UDP traffic", "every frame", true);
    if test.directions == Directions::Both {
        let (actual, requirement) = ("both directions at once", "bidirectional traffic");
        let rate = "the same rate each way";
        return vec![
            udp,
            Clause::should("RFC 8219 section 5.3", requirement, actual, true),
            Clause::should("RFC 5180 section 5.4", requirement, actual, true),
            Clause::should(
                "RFC 2544 section 14",
                "the same data rate from each direction",
                rate,
                true,
            ),
        ];
    }
    let way = test
        .directions
        .each()
        .first()
        .map(Direction::to_string)
        .unwrap_or_default();
    vec![udp, one_way(plan, test, &way)]
}

/// Returns the clause on one direction alone, which may be measured in addition to both directions, but not instead.
fn one_way(plan: &Plan, test: &Test, way: &str) -> Clause {
    match siblings(plan, test).find(|other| other.directions == Directions::Both) {
        Some(both) => {
            let actual = format!("{way} only; {} loads both", both.name);
            Clause::may(
                "RFC 8219 section 5.3",
                "unidirectional traffic as well",
                actual,
            )
        }
        None => Clause::should(
            "RFC 8219 section 5.3",
            "bidirectional traffic",
            format!("{way} only"),
            false,
        ),
    }
}

/// Returns the tests of the same device by the same measure, including this one.
pub(super) fn siblings<'a>(plan: &'a Plan, test: &'a Test) -> impl Iterator<Item = &'a Test> {
    let is_sibling =
        |other: &&Test| other.dut == test.dut && other.measure.name() == test.measure.name();
    plan.tests.iter().filter(is_sibling)
}

/// Returns the steps of the series that this test belongs to.
pub(super) fn series<'a>(plan: &'a Plan, test: &'a Test, by: SeriesBy) -> Option<Vec<&'a Test>> {
    let name = &test.series.as_ref().filter(|series| series.by == by)?.name;
    let is_step = |other: &&Test| {
        other
            .series
            .as_ref()
            .is_some_and(|series| series.by == by && series.name == *name)
    };
    Some(plan.tests.iter().filter(is_step).collect())
}

fn mixes(plan: &Plan, test: &Test) -> Option<Clause> {
    let steps = series(plan, test, SeriesBy::Background)?;
    let percents: Vec<f64> = steps
        .iter()
        .map(|step| step.foreground.background_percent())
        .collect();
    let actual = format!("{} % native", list(&percents));
    let requirement = "mixes with 0, 10, 50 and 90 % of native IPvY traffic";
    Some(Clause::should(
        "RFC 8219 section 5.3",
        requirement,
        actual,
        [0.0, 10.0, 50.0, 90.0].into_iter().all(|wanted| {
            percents
                .iter()
                .any(|percent| (percent - wanted).abs() < 0.01)
        }),
    ))
}

fn ports(plan: &Plan, test: &Test) -> Vec<Clause> {
    const SECTION: &str = "RFC 4814 section 4.5";
    let loaded: Vec<Ports> = test
        .directions
        .each()
        .iter()
        .map(|&direction| test.traffic.ports_of(direction))
        .collect();
    let ranges =
        |of: fn(&Ports) -> ValueRange| list(each_once(loaded.iter().map(|ports| range(of(ports)))));
    let is_random = loaded
        .iter()
        .all(|ports| is_random(ports.source) && is_random(ports.destination));
    let orders = loaded
        .iter()
        .flat_map(|ports| [ports.source.order.word(), ports.destination.order.word()]);
    let mut orders = format!("{}, seed {}", list(each_once(orders)), plan.seed);
    if let Some(flows) = test.traffic.flows {
        // The section makes an exception where a test requires specific numbers; a number of flows is such a requirement.
        orders += &format!(
            "; drawn once for each of {}",
            count(u64::from(flows.count), "flow")
        );
    }
    let are = |of: fn(&Ports) -> ValueRange| {
        loaded
            .iter()
            .all(|ports| covers(of(ports), of(&Ports::RFC_4814)))
    };
    vec![
        Clause::should(
            SECTION,
            "pseudorandom, uniformly distributed ports",
            orders,
            is_random,
        ),
        Clause::should(
            SECTION,
            "destination ports from 1 to 49151",
            ranges(|p| p.destination),
            are(|p| p.destination),
        ),
        Clause::should(
            SECTION,
            "source ports from 1024 to 65535",
            ranges(|p| p.source),
            are(|p| p.source),
        ),
    ]
}

fn is_random<V>(range: ValueRange<V>) -> bool {
    range.order == ValueOrder::Pseudorandom
}

/// Returns whether `range` varies over exactly the values of `wanted`.
fn covers(range: ValueRange, wanted: ValueRange) -> bool {
    range.order != ValueOrder::Fixed && (range.first, range.last) == (wanted.first, wanted.last)
}

fn range(range: ValueRange) -> String {
    match range.order {
        ValueOrder::Fixed => format!("{} alone", range.first),
        _ => format!("{} to {}", range.first, range.last),
    }
}

fn addresses(plan: &Plan, test: &Test) -> Vec<Clause> {
    let actual = format!("the same in all trials, from seed {}", plan.seed);
    let requirement = "the same MAC and IP addresses in all trials";
    let mut clauses = vec![Clause::must(
        "RFC 4814 section 4.2.1",
        requirement,
        actual,
        true,
    )];
    clauses.extend(pairs(plan, test));
    clauses.extend(random_addresses(test));
    clauses
}

/// Returns the clauses on one pair of addresses first, then 256 networks: two runs of a measurement, so two tests of a plan.
fn pairs(plan: &Plan, test: &Test) -> Vec<Clause> {
    let single = siblings(plan, test).find(|other| other.traffic.has_one_address_pair());
    let many = siblings(plan, test).find(|other| networks(other) == 256);
    let first = single.map_or("more than one".to_owned(), |other| {
        where_else(test, other, "one pair")
    });
    let then = many.map_or(count(u64::from(networks(test)), "network"), |other| {
        where_else(test, other, "256 networks")
    });
    let one = "first a single pair of source and destination address";
    let requirement = "then random destination addresses in 256 networks";
    vec![
        Clause::should("RFC 2544 section 12", one, first.clone(), single.is_some()),
        Clause::should("RFC 2544 section 12", requirement, then, many.is_some()),
        Clause::should("RFC 5180 section 5.2.2", one, first, single.is_some()),
    ]
}

fn where_else(test: &Test, other: &Test, what: &str) -> String {
    if test.name == other.name {
        what.to_owned()
    } else {
        format!("{what} in {}", other.name)
    }
}

/// Returns the smallest number of destination networks of the loaded directions.
fn networks(test: &Test) -> u16 {
    test.directions
        .each()
        .iter()
        .map(|&direction| test.traffic.networks_of(direction))
        .min()
        .unwrap_or(1)
}

/// Returns the clause on random addresses. It applies if a device hashes addresses, and a plan with varying addresses is for such a device.
fn random_addresses(test: &Test) -> Option<Clause> {
    let parts: Vec<AddressPart> = [test.traffic.left_addresses, test.traffic.right_addresses]
        .into_iter()
        .flatten()
        .collect();
    let varying: Vec<ValueRange<u32>> = parts
        .iter()
        .map(|part| part.range)
        .filter(|range| range.count() > 1)
        .collect();
    let actual = list(each_once(varying.iter().map(|range| range.order.word())));
    let is_met = varying.iter().copied().all(is_random);
    let requirement = "randomly distributed IP addresses where the DUT may hash them";
    (!varying.is_empty())
        .then(|| Clause::should("RFC 4814 section 4.4", requirement, actual, is_met))
}
