//! The filters of RFC 2544 section 11.4 as a device has them by nftables, in addition to what its recipe sets up.
//!
//! Each link has a chain, as a router has an access list for each port, so a frame meets as many conditions as the plan says, whatever its direction. Section
//! 11.4 wants 24 conditions that block other addresses "first", and "last" the one that permits the test frames, "to ensure that in the second case, 25
//! conditions must be checked". (The sequence in section 11.4.1, in which that one is the 13th, contradicts this.) The chain then denies everything else.

use super::{ConfigFile, DeviceHost, Ends, Recipe, RecipeCommand, RequiredProgram, System};
use std::fmt::Write as _;
use std::net::IpAddr;

/// The file with the rules, in the directory of the device.
const FILE: &str = "filters.nft";

/// The table of the rules.
const TABLE: &str = "inet sixbench_filters";

impl Recipe {
    /// Returns the recipe with this number of filter conditions, of which the last permits the test frames; as it is with none. Traffic in the background is
    /// permitted by one more condition behind them, so that they are the same in number for the traffic that is measured.
    #[must_use]
    pub fn with_filters(&self, conditions: u32) -> Self {
        let mut recipe = self.clone();
        if conditions == 0 || self.filters.is_none() {
            return recipe;
        }
        recipe.needs.push(RequiredProgram {
            program: "nft".to_owned(),
            package: Some("nftables".to_owned()),
            source: None,
        });
        recipe.files.push(ConfigFile {
            path: FILE.to_owned(),
            host: None,
            content: self.filter_rules(conditions),
        });
        recipe.after.push(RecipeCommand {
            run: format!("nft -f {{dir}}/{FILE}"),
        });
        let remove = RecipeCommand {
            run: format!("nft delete table {TABLE}"),
        };
        recipe.teardown.insert(0, remove);
        recipe
    }

    /// Returns the rules as `nft -f` reads them, which replace those of an earlier start of the device.
    fn filter_rules(&self, conditions: u32) -> String {
        let background = self.background.as_ref();
        let left = [Some(self.foreground.left), background.map(|of| of.left)];
        let right = [Some(self.foreground.right), background.map(|of| of.right)];
        format!(
            "table {TABLE}\ndelete table {TABLE}\ntable {TABLE} {{\n{}{}    chain forward {{\n        type filter hook forward priority filter\n        \
             iifname vmap {{ \"{{left}}\" : goto left, \"{{right}}\" : goto right }}\n    }}\n}}\n",
            chain("left", conditions, left),
            chain("right", conditions, right.map(reversed)),
        )
    }
}

fn reversed(ends: Option<Ends>) -> Option<Ends> {
    ends.map(|ends| Ends {
        source: ends.destination,
        destination: ends.source,
        outer: None,
    })
}

/// Returns the chain for frames from a link, which carry the first of these addresses, and perhaps the second in the background.
fn chain(link: &str, conditions: u32, [foreground, background]: [Option<Ends>; 2]) -> String {
    let mut rules = format!("    chain {link} {{\n");
    let is_ipv4 = foreground.is_some_and(|ends| ends.source.is_ipv4());
    let blocked = (1..conditions).map(|number| (blocked_pair(number, is_ipv4), "drop"));
    let permitted = [foreground, background]
        .into_iter()
        .flatten()
        .map(|ends| ((ends.source, ends.destination), "accept"));
    for ((source, destination), verdict) in blocked.chain(permitted) {
        let family = if source.is_ipv4() { "ip" } else { "ip6" };
        let _ = writeln!(
            rules,
            "        {family} saddr {source} {family} daddr {destination} {verdict}"
        );
    }
    rules + "        drop\n    }\n"
}

/// Returns the addresses that a blocking condition is about, counted from 1. RFC 2544 section 11.4.1: "deny aa.ba.12.12 to aa.ba.112.12", of the addresses
/// for benchmarks; RFC 5180 section 6.2.2: "deny tcp 2001:DB8:1::1 2001:DB8:1::2".
fn blocked_pair(number: u32, is_ipv4: bool) -> (IpAddr, IpAddr) {
    if is_ipv4 {
        let low = number as u8;
        ([198, 18, low, low].into(), [198, 18, 100 + low, low].into())
    } else {
        let part = number as u16;
        (
            [0x2001, 0xdb8, part, 0, 0, 0, 0, 1].into(),
            [0x2001, 0xdb8, part, 0, 0, 0, 0, 2].into(),
        )
    }
}

/// Returns the reason why the device cannot have filters where its recipe says that it can; `None` if it can.
pub(super) fn problem(recipe: &Recipe) -> Option<String> {
    recipe.filters?;
    let is_forwarded_by_the_kernel = recipe.system == System::Linux
        && recipe.host != DeviceHost::Memif
        && !recipe.owns_links
        && !recipe.technology.is_dns()
        && !recipe.left.is_silent();
    let has_other_addresses =
        recipe.is_tunnel() || recipe.state.is_some() || recipe.subscribers.is_some();
    if !is_forwarded_by_the_kernel {
        return Some(
            "filters: `forward` is for devices whose frames the Linux kernel forwards".to_owned(),
        );
    }
    has_other_addresses.then(|| {
        "filters: `forward` is for devices without tunnels, state and subscribers, which forward the addresses of [foreground] as they arrive".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use crate::Library;
    use std::path::Path;

    fn rules(name: &str, conditions: u32) -> String {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let recipe = library
            .get(name)
            .expect("a recipe")
            .with_filters(conditions);
        recipe
            .files
            .iter()
            .find(|file| file.path == super::FILE)
            .map_or_else(String::new, |file| file.content.clone())
    }

    /// Returns the rules of a chain.
    fn chain(rules: &str, name: &str) -> Vec<String> {
        rules
            .lines()
            .skip_while(|line| *line != format!("    chain {name} {{"))
            .skip(1)
            .take_while(|line| *line != "    }")
            .map(|line| line.trim().to_owned())
            .collect()
    }

    #[test]
    fn one_filter_permits_the_test_frames_and_denies_all_else() {
        assert_eq!(
            chain(&rules("linux-ipv4", 1), "left"),
            ["ip saddr 198.18.0.2 ip daddr 198.19.0.2 accept", "drop"]
        );
        assert_eq!(
            chain(&rules("linux-ipv4", 1), "right"),
            ["ip saddr 198.19.0.2 ip daddr 198.18.0.2 accept", "drop"]
        );
        assert_eq!(rules("linux-ipv4", 0), "");
    }

    #[test]
    fn the_last_of_25_filters_permits_the_test_frames_and_those_before_block_the_addresses_of_the_rfc()
     {
        let ipv4 = chain(&rules("linux-ipv4", 25), "left");
        assert_eq!(ipv4.len(), 26);
        assert_eq!(
            ipv4[11],
            "ip saddr 198.18.12.12 ip daddr 198.18.112.12 drop"
        );
        assert_eq!(ipv4[24], "ip saddr 198.18.0.2 ip daddr 198.19.0.2 accept");
        let ipv6 = chain(&rules("linux-ipv6", 25), "right");
        assert_eq!(
            ipv6[0],
            "ip6 saddr 2001:db8:1::1 ip6 daddr 2001:db8:1::2 drop"
        );
        assert_eq!(
            ipv6[24],
            "ip6 saddr 2001:2:0:8000::2 ip6 daddr 2001:2::2 accept"
        );
    }

    #[test]
    fn a_translator_filters_what_arrives_and_permits_its_background_behind_the_conditions() {
        let all = rules("tayga-siit", 25);
        let (left, right) = (chain(&all, "left"), chain(&all, "right"));
        assert_eq!(
            left[24],
            "ip6 saddr 2001:2::2 ip6 daddr 2001:2:0:1::2 accept"
        );
        assert_eq!(
            left[25],
            "ip6 saddr 2001:2::2 ip6 daddr 2001:2:0:8000::2 accept"
        );
        assert_eq!(right[24], "ip saddr 198.19.0.2 ip daddr 198.18.0.2 accept");
        assert_eq!(
            right[25],
            "ip6 saddr 2001:2:0:8000::2 ip6 daddr 2001:2::2 accept"
        );
        assert_eq!(right.len(), 27);
    }

    #[test]
    fn no_condition_that_blocks_is_about_addresses_of_any_devices_test_frames() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let devices = library.iter().filter(|recipe| recipe.filters.is_some());
        for recipe in devices {
            for traffic in std::iter::once(&recipe.foreground).chain(&recipe.background) {
                for ends in [traffic.left, traffic.right] {
                    let pairs = [
                        (ends.source, ends.destination),
                        (ends.destination, ends.source),
                    ];
                    let is_blocked = |number| {
                        pairs.contains(&super::blocked_pair(number, ends.source.is_ipv4()))
                    };
                    assert!(!(1..=100).any(is_blocked), "{}", recipe.name);
                }
            }
        }
    }
}
