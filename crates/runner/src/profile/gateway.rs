//! Converts a stateful recipe and a test to what the engine must know (RFC 9693).

use sixbench_engine::frames::stateful::{self, StatefulGateway};
use sixbench_method::measures::Demand;
use sixbench_method::plan::Test;
use sixbench_method::terms::Direction;
use sixbench_plan::MOST_COMBINATIONS;
use sixbench_testbed::recipe::{DeviceSide, Pool, Recipe, StateSection};
use std::net::IpAddr;

/// Returns the gateway of a stateful device, or `None` for a stateless one.
pub(super) fn stateful_gateway(
    recipe: &Recipe,
    test: &Test,
) -> Result<Option<StatefulGateway>, String> {
    let (state, settings) = match (&recipe.state, test.stateful) {
        (Some(state), Some(settings)) => (state, settings),
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return Err(format!(
                "test {}: the device of recipe {} is stateful, so its test has two phases (RFC 9693): give it `connections`",
                test.name, recipe.name
            ));
        }
        (None, Some(_)) => {
            return Err(format!(
                "test {}: it has `connections`, but the recipe {} has no [state], so its device keeps no connections",
                test.name, recipe.name
            ));
        }
    };
    let opens = match state.initiator {
        DeviceSide::Left => Direction::Forward,
        DeviceSide::Right => Direction::Reverse,
    };
    check_measure(recipe, state, test)?;
    check_combinations(recipe, test, opens)?;
    check_pool(recipe, state, test, opens)?;
    let parts = state
        .pool
        .iter()
        .map(|pool| pool.ends())
        .map(|(first, last)| (part(first), part(last)))
        .collect();
    Ok(Some(StatefulGateway {
        opens,
        settings,
        pool: stateful::TranslationPool {
            parts,
            ports: (state.pool_ports.first, state.pool_ports.last),
        },
    }))
}

fn check_measure(recipe: &Recipe, state: &StateSection, test: &Test) -> Result<(), String> {
    let what = match test.measure.info().demand {
        Some(Demand::Reset) => {
            "a reset deletes the connections to which the frames of phase 2 belong; use a stateless device"
        }
        Some(Demand::TearDown) if state.count.is_none() => {
            "its [state] has no `count`, so it is not known when the connections are gone"
        }
        Some(Demand::TearDown) if state.tear_down.is_empty() && state.flush.is_empty() => {
            "its [state] has neither `tear-down` nor `flush`, so there is no command to time"
        }
        _ => return Ok(()),
    };
    Err(format!(
        "test {}: {} cannot be measured with recipe {}: {what}",
        test.name,
        test.measure.name(),
        recipe.name
    ))
}

/// Checks that the Initiator's ports and addresses have a combination for each connection.
fn check_combinations(recipe: &Recipe, test: &Test, opens: Direction) -> Result<(), String> {
    let (combinations, most) = (test.traffic.tuples_of(opens), test.most_connections());
    if combinations >= MOST_COMBINATIONS {
        let side = if opens == Direction::Forward {
            "left"
        } else {
            "right"
        };
        return Err(format!(
            "test {}: ports and addresses of the Initiator, which is on the {side} of recipe {}, have {combinations} combinations, and 2^63 \
             or more cannot be enumerated; narrow `{opens}-ports` or the addresses that vary",
            test.name, recipe.name
        ));
    }
    if combinations >= most {
        return Ok(());
    }
    Err(format!(
        "test {}: {most} connections need as many combinations of ports and addresses, but the Initiator, which is on the {} \
         of recipe {}, only has {combinations}; widen `{opens}-ports` or the addresses that vary",
        test.name,
        if opens == Direction::Forward {
            "left"
        } else {
            "right"
        },
        recipe.name
    ))
}

/// Checks that the pool has enough sources, because connections to the same destination differ only in their source behind the device.
fn check_pool(
    recipe: &Recipe,
    state: &StateSection,
    test: &Test,
    opens: Direction,
) -> Result<(), String> {
    let ports = test.traffic.ports_of(opens);
    let servers = match opens {
        Direction::Forward => test.traffic.right_addresses,
        Direction::Reverse => test.traffic.left_addresses,
    };
    let destinations = u64::from(ports.destination.count())
        * servers.map_or(1, |part| u64::from(part.range.count()));
    let each = |pool: &Pool| u64::from(part(pool.ends().1).abs_diff(part(pool.ends().0))) + 1;
    let sources = state.pool.iter().map(each).sum::<u64>()
        * u64::from(state.pool_ports.last - state.pool_ports.first + 1);
    let most = test.most_connections();
    let towards_each = most.div_ceil(destinations);
    if towards_each <= sources {
        return Ok(());
    }
    Err(format!(
        "test {}: {most} connections to {destinations} destinations are {towards_each} per destination, but the pool of {} has \
         only {sources} sources (addresses times ports); use more destination ports (`ports`) or addresses, or fewer \
         connections",
        test.name, recipe.name
    ))
}

fn part(address: IpAddr) -> u16 {
    match address {
        IpAddr::V4(address) => u16::from_be_bytes([address.octets()[2], address.octets()[3]]),
        IpAddr::V6(address) => address.segments()[7],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::Measure;
    use sixbench_method::plan::{AddressPart, Ports, Stateful, ValueOrder, ValueRange};
    use sixbench_method::terms::FrameRate;
    use sixbench_testbed::Library;

    fn recipe(name: &str) -> Recipe {
        Library::load::<&std::path::Path>(&[])
            .expect("recipes")
            .get(name)
            .expect("the recipe")
            .clone()
    }

    fn test(connections: u64, destination_ports: u16) -> Test {
        let mut test = Test {
            stateful: Some(Stateful::new(connections, FrameRate(1), 0)),
            ..Test::new("t", "nft-nat44")
        };
        let range = |last| ValueRange {
            first: 1,
            last,
            order: ValueOrder::Pseudorandom,
        };
        test.traffic.forward_ports = Ports {
            source: range(u16::MAX),
            destination: range(destination_ports),
        };
        test
    }

    #[test]
    fn connections_that_would_collide_behind_the_device_are_refused() {
        stateful_gateway(&recipe("nft-nat44"), &test(64_512 * 10, 10))
            .expect("just as many as the pool has ports");
        let error = stateful_gateway(&recipe("nft-nat44"), &test(64_512 * 10 + 1, 10))
            .expect_err("refused");
        assert!(
            error.contains(
                "64513 per destination, but the pool of nft-nat44 has only 64512 sources"
            ),
            "{error}"
        );
        stateful_gateway(&recipe("nft-nat44-pool"), &test(64_512 * 10 + 1, 10))
            .expect("four addresses");
    }

    #[test]
    fn a_stateful_device_needs_connections_and_a_stateless_one_has_none() {
        let stateless = Test {
            stateful: None,
            ..test(1, 1)
        };
        assert!(
            stateful_gateway(&recipe("nft-nat44"), &stateless)
                .expect_err("refused")
                .contains("give it `connections`")
        );
        assert!(
            stateful_gateway(&recipe("linux-ipv4"), &test(1, 1))
                .expect_err("refused")
                .contains("has no [state]")
        );
        assert!(
            stateful_gateway(&recipe("linux-ipv4"), &stateless)
                .expect("a router")
                .is_none()
        );
    }

    #[test]
    fn more_connections_than_the_initiator_has_combinations_are_refused() {
        let mut narrow = test(100, 1);
        let one = ValueRange {
            first: 1,
            last: 1,
            order: ValueOrder::Pseudorandom,
        };
        narrow.traffic.forward_ports = Ports {
            source: one,
            destination: one,
        };
        let error = stateful_gateway(&recipe("nft-nat44"), &narrow).expect_err("refused");
        assert!(
            error.contains("on the left of recipe nft-nat44, only has 1; widen `forward-ports`"),
            "{error}"
        );
        std::mem::swap(
            &mut narrow.traffic.forward_ports,
            &mut narrow.traffic.reverse_ports,
        );
        stateful_gateway(&recipe("nft-nat44"), &narrow)
            .expect("the Responder's ports do not matter");
    }

    #[test]
    fn more_combinations_than_can_be_enumerated_are_refused() {
        let mut wide = test(100, u16::MAX);
        let range = ValueRange {
            first: 1,
            last: 65_535,
            order: ValueOrder::Pseudorandom,
        };
        let part = AddressPart {
            range,
            ipv4_offset: 2,
            ipv6_offset: 12,
        };
        (wide.traffic.left_addresses, wide.traffic.right_addresses) = (Some(part), Some(part));
        let error = stateful_gateway(&recipe("nft-nat44"), &wide).expect_err("refused");
        assert!(
            error.contains("2^63 or more cannot be enumerated; narrow `forward-ports`"),
            "{error}"
        );
        wide.traffic.right_addresses = None;
        if let Err(error) = stateful_gateway(&recipe("nft-nat44"), &wide) {
            assert!(!error.contains("2^63"), "{error}");
        }
    }

    #[test]
    fn measures_that_the_recipe_has_no_commands_for_are_refused() {
        let tear_down = Test {
            measure: Measure::TearDownRate,
            ..test(100, 10)
        };
        let mut blind = recipe("nft-nat44");
        blind.state.as_mut().expect("state").count = None;
        assert!(
            stateful_gateway(&blind, &tear_down)
                .expect_err("refused")
                .contains("has no `count`")
        );
        let load = sixbench_method::plan::Load::OfThroughput(1.0);
        let reset = sixbench_method::plan::Reset {
            load,
            before_ns: 1,
            after_ns: 1,
        };
        let error = stateful_gateway(
            &recipe("nft-nat44"),
            &Test {
                measure: Measure::Reset(reset),
                ..test(100, 10)
            },
        )
        .expect_err("refused");
        assert!(error.contains("a reset deletes the connections"), "{error}");
    }

    #[test]
    fn a_pool_is_the_last_16_bits_of_its_addresses() {
        let gateway = stateful_gateway(&recipe("nft-nat44-pool"), &test(1, 1))
            .expect("good")
            .expect("stateful");
        assert_eq!(
            (gateway.opens, gateway.pool.parts),
            (Direction::Forward, vec![(4, 7)])
        );
    }
}
