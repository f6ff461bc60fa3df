//! Converts a recipe and a test to the engine's frames: those that are sent, and those that must be received.

pub(crate) mod dns;
mod gateway;
mod job;
pub(crate) mod subscribers;
pub(crate) mod translator;
mod variation;

pub use crate::error::PlanError;
pub use job::{DnsJob, Job, job};

use sixbench_engine::frames::profile::{
    AddressPair, AddressVariation, Encapsulation, Neighbours, Path, Paths, TrafficProfile, Tunnel,
    WireAddresses,
};
use sixbench_method::measures::{Demand, Quantity};
use sixbench_method::plan::{AddressPart, Test};
use sixbench_method::terms::FrameSize;
use sixbench_testbed::recipe::{self, DeviceHost, KnownDefect, Recipe, RecipeLink, RecipeTraffic};
use sixbench_wire::WireError;
use std::net::IpAddr;
use translator::Translator;

pub(crate) fn traffic_profile(
    recipe: &Recipe,
    test: &Test,
    frame_size: FrameSize,
    seed: u64,
) -> Result<TrafficProfile, String> {
    check_forwards(recipe, test)?;
    let background = recipe.background.as_ref();
    if background.is_none() && test.foreground.foreground < test.foreground.of {
        return Err(format!(
            "test {}: the recipe {} carries no background traffic",
            test.name, recipe.name
        ));
    }
    check_translation(recipe)?;
    check_reset(recipe, test)?;
    check_tear_down(recipe, test)?;
    check_response(recipe, test)?;
    let gateway = gateway::stateful_gateway(recipe, test)?;
    variation::check(recipe, test)?;
    let subscribers = subscribers::groups(recipe, test)?;
    let paths = |view: fn(&RecipeTraffic) -> Path| Paths {
        foreground: view(&recipe.foreground),
        background: background.map(view),
    };
    Ok(TrafficProfile {
        frame_size,
        size_mix: test.traffic.size_mix.map(Box::new),
        directions: test.directions,
        forward: paths(forward),
        reverse: paths(reverse),
        share: test.foreground,
        forward_ports: test.traffic.forward_ports,
        reverse_ports: test.traffic.reverse_ports,
        left_variation: variation(test.traffic.left_addresses, test.traffic.left_networks),
        right_variation: variation(test.traffic.right_addresses, test.traffic.right_networks),
        subscribers,
        payload: test.traffic.payload,
        flows: test.traffic.flows,
        ramp_ns: test.traffic.ramp_ns,
        broadcast_every: test.traffic.broadcast_every,
        burst: test.traffic.burst,
        gateway,
        ipdv: test
            .measure
            .info()
            .quantities
            .contains(&Quantity::IpdvMedian),
        keeps_identification: recipe.keeps_headers(),
        zero_checksum_is_known: recipe.known_defects.contains(&KnownDefect::ZeroUdpChecksum),
        absent_checksum_is_known: recipe.known_defects.contains(&KnownDefect::NoUdpChecksum),
        wire: wire(recipe),
        seed,
        left: neighbours(&recipe.left),
        right: neighbours(&recipe.right),
    })
}

fn variation(addresses: Option<AddressPart>, networks: u16) -> AddressVariation {
    match addresses {
        Some(part) => AddressVariation::Part(part),
        None if networks > 1 => AddressVariation::Networks(networks),
        None => AddressVariation::None,
    }
}

/// Refuses a DNS server in a test with frames or connections, because a server does not forward them.
fn check_forwards(recipe: &Recipe, test: &Test) -> Result<(), String> {
    if !recipe.technology.is_dns() {
        return Ok(());
    }
    let (test, name, technology) = (&test.name, &recipe.name, recipe.technology.title());
    let measure = if recipe.technology == recipe::Technology::Dns64 {
        "dns64"
    } else {
        "dns-authority"
    };
    let article = if technology.starts_with('a') {
        "an"
    } else {
        "a"
    };
    Err(format!(
        "test {test}: recipe {name} is {article} {technology}: it forwards no frames; measure = \"{measure}\""
    ))
}

/// Refuses to time the tear-down of a device in the lab: running a command in a virtual machine takes a tenth of a second, which would be included.
fn check_tear_down(recipe: &Recipe, test: &Test) -> Result<(), String> {
    if test.measure.info().demand == Some(Demand::TearDown) && recipe.is_in_lab() {
        Err(format!(
            "test {}: the tear-down of {} cannot be timed, because starting a command in the lab takes longer than the \
             tear-down",
            test.name, recipe.name
        ))
    } else {
        Ok(())
    }
}

fn check_reset(recipe: &Recipe, test: &Test) -> Result<(), String> {
    if test.measure.info().demand != Some(Demand::Reset) || recipe.can_be_reset() {
        return Ok(());
    }
    let why = match recipe.host {
        DeviceHost::Memif => {
            "it has no [[reset]], and links in shared memory would end with the process of its [daemon]"
        }
        _ => "it has neither [[reset]] nor [daemon]",
    };
    Err(format!(
        "test {}: the recipe {} does not say how to reset the device: {why}",
        test.name, recipe.name
    ))
}

/// Refuses to measure the response time of a stateful device: its connections are opened by phase 1, and its reverse frames are not replies to the
/// forward ones.
fn check_response(recipe: &Recipe, test: &Test) -> Result<(), String> {
    match (test.measure.info().demand, &recipe.state) {
        (Some(Demand::NoConnections), Some(_)) => Err(format!(
            "test {}: response-time is for devices without connections, but recipe {} has [state]; use a stateless device, or \
             measure latency",
            test.name, recipe.name
        )),
        _ => Ok(()),
    }
}

fn forward(traffic: &RecipeTraffic) -> Path {
    Path {
        sent: encapsulation(traffic.left),
        expected: encapsulation(traffic.right),
        hops: traffic.hops,
    }
}

/// Returns the path of the reply to a forward datagram, with ends swapped, from right to left.
fn reverse(traffic: &RecipeTraffic) -> Path {
    let (sent, expected) = (
        encapsulation(traffic.right).swapped(),
        encapsulation(traffic.left).swapped(),
    );
    Path {
        sent,
        expected,
        hops: traffic.hops_in_reverse(),
    }
}

/// Returns what a wire does with hardware addresses, or `None` for any other device.
fn wire(recipe: &Recipe) -> Option<WireAddresses> {
    let of_wire = if recipe.swaps_hardware_addresses {
        WireAddresses::Exchanged
    } else {
        WireAddresses::Kept
    };
    (recipe.technology == recipe::Technology::Wire).then_some(of_wire)
}

fn encapsulation(ends: recipe::Ends) -> Encapsulation {
    let tunnel = ends.outer.map(|outer| Tunnel {
        ends: AddressPair {
            source: outer.source,
            destination: outer.destination,
        },
        hop_limit: outer.hop_limit,
    });
    Encapsulation {
        ends: AddressPair {
            source: ends.source,
            destination: ends.destination,
        },
        tunnel,
    }
}

pub(crate) fn neighbours(link: &RecipeLink) -> Vec<Neighbours> {
    let pair = |tester: &IpAddr| {
        Some(Neighbours {
            tester: *tester,
            dut: link.neighbour_of(*tester)?,
        })
    };
    link.tester.iter().filter_map(pair).collect()
}

/// Refuses a recipe whose foreground addresses do not match its translation, because every frame would count as mistranslated.
fn check_translation(recipe: &Recipe) -> Result<(), String> {
    let Some(translation) = &recipe.translation else {
        return Ok(());
    };
    let in_recipe = |e: WireError| format!("recipe {}: [translation]: {e}", recipe.name);
    let translator = Translator::new(translation).map_err(in_recipe)?;
    let (left, right) = (recipe.foreground.left, recipe.foreground.right);
    let pooled = recipe.state.as_ref().map(|state| state.initiator);
    let ends = [
        (
            "source",
            left.source,
            right.source,
            pooled != Some(recipe::DeviceSide::Left),
        ),
        (
            "destination",
            left.destination,
            right.destination,
            pooled != Some(recipe::DeviceSide::Right),
        ),
    ];
    // An address from the pool of a stateful device is not a function of the original one.
    for (what, from, to, _) in ends
        .into_iter()
        .filter(|(_, _, _, is_translated)| *is_translated)
    {
        match translator.translate(from) {
            Some(translated) if translated == to => {}
            Some(translated) => {
                return Err(format!(
                    "recipe {}: foreground.right.{what} is {to}, but its [translation] turns {from} into {translated}",
                    recipe.name
                ));
            }
            None => {
                return Err(format!(
                    "recipe {}: its [translation] has no mapping for {from}",
                    recipe.name
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::Measure;
    use sixbench_method::terms::Share;
    use sixbench_testbed::Library;

    fn test(foreground: Share) -> Test {
        Test {
            foreground,
            ..Test::new("t", "tayga-siit")
        }
    }

    fn recipe(name: &str) -> Recipe {
        Library::load::<&std::path::Path>(&[])
            .expect("recipes")
            .get(name)
            .expect("the recipe")
            .clone()
    }

    #[test]
    fn the_reverse_frame_is_the_answer_to_the_forward_one() {
        let profile = traffic_profile(&recipe("tayga-siit"), &test(Share::ALL), FrameSize(84), 1)
            .expect("a profile");
        let reverse = profile.reverse.foreground;
        assert_eq!(reverse.sent.ends.source.to_string(), "198.19.0.2");
        assert_eq!(reverse.sent.ends.destination.to_string(), "198.18.0.2");
        assert_eq!(reverse.expected.ends.source.to_string(), "2001:2:0:1::2");
        assert_eq!(reverse.expected.ends.destination.to_string(), "2001:2::2");
    }

    #[test]
    fn a_recipe_whose_addresses_are_no_translation_of_each_other_is_refused() {
        let mut recipe = recipe("tayga-siit");
        recipe.foreground.right.source = "198.18.0.1".parse().expect("address");
        let error =
            traffic_profile(&recipe, &test(Share::ALL), FrameSize(84), 1).expect_err("refused");
        assert_eq!(
            error,
            "recipe tayga-siit: foreground.right.source is 198.18.0.1, but its [translation] turns 2001:2::2 into 198.18.0.2"
        );
    }

    #[test]
    fn a_dns_server_is_refused_for_frames_and_connections() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let test = |dut: &str, measure: &str| {
            format!("[[test]]\nname = \"{measure}\"\ndut = \"{dut}\"\nmeasure = \"{measure}\"\n")
        };
        let tests = [
            test("unbound-dns64", "throughput"),
            test("nsd-authority", "tcp-establishment-rate"),
        ]
        .concat();
        let loaded =
            sixbench_plan::load(&format!("name = \"p\"\n{tests}"), &library).expect("a plan");
        let refused = crate::check_traffic(
            &loaded.plan,
            &library,
            sixbench_method::isolation::Isolation::Declared,
        )
        .expect_err("refused");
        assert_eq!(
            refused.to_string(),
            "test throughput: recipe unbound-dns64 is a DNS64 server: it forwards no frames; measure = \"dns64\"\n\
             test tcp-establishment-rate: recipe nsd-authority is an authoritative DNS server: it forwards no frames; \
             measure = \"dns-authority\""
        );
    }

    #[test]
    fn background_needs_a_recipe_that_carries_it() {
        let mixed = Share {
            foreground: 9,
            of: 10,
        };
        assert!(traffic_profile(&recipe("linux-ipv4"), &test(mixed), FrameSize(84), 1).is_err());
        assert!(traffic_profile(&recipe("tayga-siit"), &test(mixed), FrameSize(84), 1).is_ok());
    }

    #[test]
    fn a_kernel_without_a_way_to_reset_it_is_refused_for_the_reset_test() {
        let reset = sixbench_method::plan::Reset {
            load: sixbench_method::plan::Load::OfThroughput(1.0),
            before_ns: 1,
            after_ns: 1,
        };
        let test = Test {
            measure: Measure::Reset(reset),
            ..Test::new("t", "linux-ipv4")
        };
        let mut recipe = recipe("linux-ipv4");
        recipe.reset.clear();
        assert!(
            traffic_profile(&recipe, &test, FrameSize(84), 1)
                .expect_err("refused")
                .contains("neither [[reset]] nor [daemon]")
        );
    }
}
