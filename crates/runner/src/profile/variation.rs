//! Checks that varying addresses and networks are ones that the device routes back to the tester, and that they are each other's translation on
//! both sides.

use super::translator::Translator;
use sixbench_engine::frames::profile::AddressVariation;
use sixbench_method::plan::Test;
use sixbench_testbed::recipe::{self, DeviceHost, Recipe, RecipeLink, RecipeTraffic};
use std::net::IpAddr;

/// The addresses on one side of the device, as seen from either link.
struct VariedSide<'a> {
    /// The name of the side in messages: `left` or `right`.
    name: &'static str,
    variation: AddressVariation,
    /// The address on this side's link. `far` is the address on the other link.
    near: IpAddr,
    far: IpAddr,
    link: &'a RecipeLink,
    /// True if all of these addresses are translated to the pool's behind the device.
    is_pooled: bool,
}

impl VariedSide<'_> {
    fn both<'a>(recipe: &'a Recipe, test: &Test, traffic: &RecipeTraffic) -> [VariedSide<'a>; 2] {
        let own = &test.traffic;
        // A stateful device forwards its background traffic unchanged.
        let pooled = recipe
            .state
            .as_ref()
            .filter(|_| *traffic == recipe.foreground)
            .map(|state| state.initiator);
        [
            VariedSide {
                name: "left",
                variation: super::variation(own.left_addresses, own.left_networks),
                near: traffic.left.source,
                far: traffic.right.source,
                link: &recipe.left,
                is_pooled: pooled == Some(recipe::DeviceSide::Left),
            },
            VariedSide {
                name: "right",
                variation: super::variation(own.right_addresses, own.right_networks),
                near: traffic.right.destination,
                far: traffic.left.destination,
                link: &recipe.right,
                is_pooled: pooled == Some(recipe::DeviceSide::Right),
            },
        ]
    }

    /// Returns all addresses other than the path's own, as (near, far).
    fn all(&self) -> Vec<(IpAddr, IpAddr)> {
        let near = self.variation.addresses(self.near);
        if self.is_pooled {
            near.map(|near| (near, self.far)).collect()
        } else {
            near.zip(self.variation.addresses(self.far)).collect()
        }
    }
}

fn background<'a>(recipe: &'a Recipe, test: &Test) -> Option<&'a RecipeTraffic> {
    recipe
        .background
        .as_ref()
        .filter(|_| test.foreground.foreground < test.foreground.of)
}

/// Refuses addresses that would not come back to the tester, or not as the translation of those sent.
pub(super) fn check(recipe: &Recipe, test: &Test) -> Result<(), String> {
    for traffic in std::iter::once(&recipe.foreground).chain(background(recipe, test)) {
        for side in VariedSide::both(recipe, test, traffic) {
            check_reached(recipe, test, &side)?;
            check_translated(recipe, test, &side)?;
        }
    }
    Ok(())
}

fn check_reached(recipe: &Recipe, test: &Test, side: &VariedSide<'_>) -> Result<(), String> {
    // A device set up by hand may have a static entry for each address, as in siitperf's setups.
    let is_by_hand = |near| {
        recipe.host == DeviceHost::Manual
            && side.link.routes.iter().any(|route| route.contains(&near))
    };
    let is_wire = recipe.technology == recipe::Technology::Wire;
    let is_reached = |near| is_wire || side.link.leads_to(near) || is_by_hand(near);
    let astray = side
        .all()
        .into_iter()
        .map(|(near, _)| near)
        .find(|near| !is_reached(*near));
    astray.map_or(Ok(()), |address| {
        Err(format!(
            "test {}: {address} is among the addresses that vary on the {}, but the device of recipe {} has no route to it \
             through the tester: it must lie in the `routes` of [{}] and outside the link's own prefix",
            test.name, side.name, recipe.name, side.name
        ))
    })
}

fn check_translated(recipe: &Recipe, test: &Test, side: &VariedSide<'_>) -> Result<(), String> {
    let Some(translation) = recipe
        .translation
        .as_ref()
        .filter(|_| side.near != side.far && !side.is_pooled)
    else {
        return Ok(());
    };
    let translator = Translator::new(translation)
        .map_err(|e| format!("recipe {}: [translation]: {e}", recipe.name))?;
    for (near, far) in side.all() {
        let translated = translator.translate(near);
        if translated != Some(far) {
            let to = translated.map_or("nothing".to_owned(), |address| address.to_string());
            return Err(format!(
                "test {}: on the {} {near} varies together with {far}, but recipe {} translates it to {to}; choose offsets and a \
                 range that its [translation] covers",
                test.name, side.name, recipe.name
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::{AddressPart, ValueOrder, ValueRange};
    use sixbench_testbed::Library;

    fn recipe(name: &str) -> Recipe {
        Library::load::<&std::path::Path>(&[])
            .expect("recipes")
            .get(name)
            .expect("the recipe")
            .clone()
    }

    fn varying(first: u32, last: u32, ipv6_offset: u8) -> Test {
        let mut test = Test::new("t", "d");
        let range = ValueRange {
            first,
            last,
            order: ValueOrder::Pseudorandom,
        };
        test.traffic.left_addresses = Some(AddressPart {
            range,
            ipv4_offset: 2,
            ipv6_offset,
        });
        test
    }

    #[test]
    fn a_router_with_routes_takes_many_addresses_and_networks() {
        check(&recipe("linux-ipv4"), &varying(4, 65534, 12)).expect("all of 198.18.0.0/16");
        let error = check(&recipe("linux-ipv4"), &varying(2, 65534, 12))
            .expect_err("the link's broadcast address");
        assert!(error.contains("198.18.0.3 "), "{error}");
        let mut test = Test::new("t", "d");
        (test.traffic.left_networks, test.traffic.right_networks) = (256, 256);
        check(&recipe("linux-ipv4"), &test).expect("256 networks");
        check(&recipe("linux-ipv6"), &test).expect("256 networks");
        let router = recipe("linux-ipv6");
        let all = VariedSide::both(&router, &test, &router.foreground)[1].all();
        let last: IpAddr = "2001:2:0:80ff::2".parse().expect("address");
        assert!(all.contains(&(last, last)), "{all:?}");
    }

    #[test]
    fn a_translator_by_prefix_takes_many_addresses_on_both_sides() {
        let mut test = varying(4, 65534, 14);
        test.traffic.right_addresses = test.traffic.left_addresses;
        check(&recipe("tayga-siit-prefix"), &test).expect("all but those of the links");
        let error = check(&recipe("tayga-siit-prefix"), &varying(3, 9, 14)).expect_err("refused");
        assert!(
            error.contains("2001:2:0:6464::c612:3 is among the addresses that vary on the left"),
            "{error}"
        );
    }

    #[test]
    fn background_traffic_that_a_test_has_not_got_varies_nowhere() {
        // The native link of tayga-nat64 does not include bits 96 to 111, and the servers vary in the last 16.
        let mut test = Test::new("t", "tayga-nat64");
        let range = ValueRange {
            first: 4,
            last: 13,
            order: ValueOrder::Pseudorandom,
        };
        test.traffic.right_addresses = Some(AddressPart {
            range,
            ipv4_offset: 2,
            ipv6_offset: 14,
        });
        check(&recipe("tayga-nat64"), &test).expect("foreground alone");
        test.foreground = sixbench_method::terms::Share {
            foreground: 9,
            of: 10,
        };
        assert!(
            check(&recipe("tayga-nat64"), &test)
                .expect_err("refused")
                .contains("2001:2:0:8000::4")
        );
    }

    #[test]
    fn addresses_without_a_way_back_are_refused() {
        let mut recipe = recipe("linux-ipv4");
        recipe.left.routes.clear();
        let error = check(&recipe, &varying(4, 65534, 12)).expect_err("refused");
        assert!(
            error.contains("must lie in the `routes` of [left]"),
            "{error}"
        );
    }

    #[test]
    fn addresses_that_are_not_translated_alike_are_refused() {
        let error = check(&recipe("tayga-siit"), &varying(2, 2, 14)).err();
        assert_eq!(error, None, "the recipe's own address");
        let mut tayga = recipe("tayga-siit");
        tayga.left.dut = vec!["2001:2::1/112".parse().expect("a prefix")];
        tayga
            .left
            .routes
            .push("2001:2::/64".parse().expect("a prefix"));
        let error = check(&tayga, &varying(2, 9, 12)).expect_err("refused");
        assert!(error.contains("translates it to nothing"), "{error}");
    }
}
