//! Converts a recipe's rule to the addresses and ports of each subscriber, both for the engine's frames and for the device's configuration.

use crate::error::PlanError;
use sixbench_engine::frames::profile::{Appearance, SubscriberGroup, SubscriberGroups};
use sixbench_method::measures::Family;
use sixbench_method::plan::{Payload, Test, ValueOrder};
use sixbench_testbed::Subscriber;
use sixbench_testbed::recipe::{self, Ends, Recipe};
use sixbench_wire::rules::{
    AddressRule, B4Addresses, B4Layout, DsLite, MapDomain, MapRule, PortRule, SixRd, Softwires,
};
use sixbench_wire::{Prefix6, template};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The maximum number of mapping rules in a domain, because the tester searches them linearly for each frame.
const MOST_RULES: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct RuleSet {
    /// A single rule, or those of a MAP domain.
    rules: Vec<Rule>,
    /// The largest number of subscribers that both the device's setup and the rules allow.
    most: u64,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The rule's maximum number of subscribers.
    most: u64,
    /// The rule for the subscribers' IPv6 addresses: with MAP the MAP address, in tunnels their tunnel end, with 6rd the address of a host behind
    /// them.
    ipv6: AddressRule,
    /// The rule for the subscribers' IPv4 addresses, or `None` if all have the same.
    ipv4: Option<AddressRule>,
    ports: PortRule,
}

impl RuleSet {
    pub(super) fn from_recipe(recipe: &Recipe) -> Result<Option<Self>, String> {
        let Some(section) = &recipe.subscribers else {
            return Ok(None);
        };
        let rules = match (&section.map[..], &section.softwires, &section.six_rd) {
            (_, Some(softwires), _) => of_softwires(softwires).map(|rule| vec![rule]),
            (_, _, Some(six_rd)) => of_six_rd(six_rd).map(|rule| vec![rule]),
            (map, ..) => of_domain(map),
        };
        let rules =
            rules.map_err(|wrong| format!("recipe {}: [subscribers]: {wrong}", recipe.name))?;
        let most = rules
            .iter()
            .fold(0u64, |sum, rule| sum.saturating_add(rule.most));
        Ok(Some(Self {
            rules,
            most: most.min(section.most.map_or(u64::MAX, u64::from)),
        }))
    }

    /// Divides `count` subscribers evenly among the rules, without exceeding any rule's maximum.
    fn shares(&self, count: u64) -> Vec<u64> {
        let mut shares = vec![0; self.rules.len()];
        let mut left = count.min(self.most);
        while left > 0 {
            let open: Vec<usize> = (0..shares.len())
                .filter(|&at| shares[at] < self.rules[at].most)
                .collect();
            let each = (left / open.len().max(1) as u64).max(1);
            for at in open {
                let taken = each.min(self.rules[at].most - shares[at]).min(left);
                shares[at] += taken;
                left -= taken;
            }
        }
        shares
    }

    fn shared(&self, count: u32) -> impl Iterator<Item = (&Rule, u32)> {
        self.rules.iter().zip(
            self.shares(u64::from(count))
                .into_iter()
                .map(|share| share as u32),
        )
    }

    /// Returns the first `count` subscribers as needed for a device's configuration.
    fn subscribers(&self, count: u32) -> Vec<Subscriber> {
        let all = self
            .shared(count)
            .flat_map(|(rule, share)| (0..share).map(move |number| (rule, number)));
        all.enumerate()
            .map(|(number, (rule, of_rule))| rule.subscriber(number as u32, of_rule))
            .collect()
    }
}

impl Rule {
    fn appearance(&self, ends: &Ends) -> Appearance {
        let prefix = |address: IpAddr| {
            if address.is_ipv4() {
                self.ipv4
            } else {
                Some(self.ipv6)
            }
        };
        Appearance {
            inner: prefix(ends.source),
            outer: ends.outer.and_then(|outer| prefix(outer.source)),
        }
    }

    fn group(&self, recipe: &Recipe, count: u32) -> SubscriberGroup {
        let traffic = &recipe.foreground;
        // Behind a stateful device, sources are from the pool.
        let right = if recipe.state.is_some() {
            Appearance::default()
        } else {
            self.appearance(&traffic.right)
        };
        SubscriberGroup {
            count,
            left: self.appearance(&traffic.left),
            right,
            ports: self.ports,
        }
    }

    /// Returns a subscriber as needed for a device's configuration. `of_rule` is its number within the rule, and `number` its number among all.
    fn subscriber(&self, number: u32, of_rule: u32) -> Subscriber {
        let e = u64::from(of_rule);
        let ranges = self.ports.ranges(e);
        Subscriber {
            number,
            ipv6: self.ipv6.address(e),
            ipv4: self.ipv4.map(|rule| rule.address(e)),
            psid: self.ports.psid(e),
            ports: ranges
                .first()
                .map_or((1, u16::MAX), |first| (*first.start(), *first.end())),
        }
    }
}

fn text(wrong: impl Display) -> String {
    wrong.to_string()
}

/// Returns the rules of a MAP domain, of which no two may claim the same address.
fn of_domain(map: &[recipe::MapRuleSection]) -> Result<Vec<Rule>, String> {
    if map.len() > MOST_RULES {
        return Err(format!(
            "{} mapping rules: expected up to {MOST_RULES}, because the tester goes through them one by one for each frame",
            map.len()
        ));
    }
    let named = |(index, rule)| {
        of_map(rule).map_err(|wrong| format!("{}{wrong}", place_of(index, map.len())))
    };
    let rules = map
        .iter()
        .enumerate()
        .map(named)
        .collect::<Result<Vec<_>, _>>()?;
    let domain = MapDomain::new(rules).map_err(text)?;
    let rule = |rule: &MapRule| Rule {
        most: rule.subscribers(),
        ipv6: rule.ipv6(),
        ipv4: Some(rule.ipv4()),
        ports: rule.ports(),
    };
    Ok(domain.rules().iter().map(rule).collect())
}

/// Returns a prefix for messages that names the rule, or nothing if there is only one rule.
fn place_of(index: usize, of: usize) -> String {
    if of > 1 {
        format!("mapping rule {}: ", index + 1)
    } else {
        String::new()
    }
}

fn of_map(map: &recipe::MapRuleSection) -> Result<MapRule, String> {
    let prefixes = (
        map.ipv6_prefix.parse().map_err(text)?,
        map.ipv4_prefix.parse().map_err(text)?,
    );
    MapRule::new(prefixes.0, prefixes.1, map.ea_bits, map.psid_offset).map_err(text)
}

fn of_softwires(softwires: &recipe::SoftwiresSection) -> Result<Rule, String> {
    let layout = match softwires.ipv6_length {
        64 => B4Layout::PerSubnet {
            interface: softwires.interface,
        },
        128 => B4Layout::PerAddress,
        other => return Err(format!("ipv6-length: expected 64 or 128, not {other}")),
    };
    let prefix: Prefix6 = softwires.ipv6_prefix.parse().map_err(text)?;
    let b4s = B4Addresses::new(prefix, layout).map_err(text)?;
    if let Some(ipv4) = &softwires.ipv4_prefix {
        let ipv4 = ipv4.parse().map_err(text)?;
        let rule = Softwires::new(b4s, ipv4, softwires.psid_length, softwires.psid_offset)
            .map_err(text)?;
        Ok(Rule {
            most: rule.subscribers(),
            ipv6: rule.ipv6(),
            ipv4: Some(rule.ipv4()),
            ports: rule.ports(),
        })
    } else {
        let Some(IpAddr::V4(inner)) = softwires.ipv4 else {
            return Err(
                    "softwires: expected `ipv4-prefix` (lw4o6), or the `ipv4` address that all share (DS-Lite)".to_owned()
                );
        };
        let rule = DsLite::alike(b4s, inner);
        Ok(Rule {
            most: rule.subscribers(),
            ipv6: rule.ipv6(),
            ipv4: None,
            ports: PortRule::ANY,
        })
    }
}

fn of_six_rd(six_rd: &recipe::SixRdSection) -> Result<Rule, String> {
    let prefixes = (
        six_rd.ipv6_prefix.parse().map_err(text)?,
        six_rd.ipv4_prefix.parse().map_err(text)?,
    );
    let rule = SixRd::new(prefixes.0, six_rd.ipv4_mask_length, prefixes.1).map_err(text)?;
    let rule = rule.numbered(six_rd.first, None).map_err(text)?;
    Ok(Rule {
        most: rule.subscribers(),
        ipv6: rule.ipv6(),
        ipv4: Some(rule.ipv4()),
        ports: PortRule::ANY,
    })
}

pub(super) fn groups(recipe: &Recipe, test: &Test) -> Result<Option<SubscriberGroups>, String> {
    let rules = RuleSet::from_recipe(recipe)?;
    check_echo(recipe, test, rules.as_ref())?;
    let Some(rules) = rules else {
        return none(recipe, test);
    };
    let count = count(recipe, test);
    if u64::from(count) > rules.most {
        return Err(format!(
            "test {}: {count} subscribers are configured, but recipe {} only has room for {}",
            test.name, recipe.name, rules.most
        ));
    }
    if let Some(flows) = test.traffic.flows.filter(|flows| flows.count < count) {
        return Err(format!(
            "test {}: {} flows are fewer than {count} subscribers; raise `flows` or lower `subscribers`",
            test.name, flows.count
        ));
    }
    check_state(recipe, &rules)?;
    check_ranges(recipe, &rules)?;
    if recipe.state.is_some() && count > 1 << 16 {
        return Err(format!(
            "test {}: a stateful device is tested with up to 65536 subscribers, not {count}",
            test.name
        ));
    }
    if test.traffic.left_addresses.is_some() || test.traffic.left_networks > 1 {
        return Err(format!(
            "test {}: the addresses on the left follow from the subscribers of recipe {}: leave out `left-addresses` and `left-networks`",
            test.name, recipe.name
        ));
    }
    // The foreground of a recipe corresponds to the first subscriber of the first rule.
    rules
        .rules
        .first()
        .map_or(Ok(()), |rule| check_first(recipe, rule))?;
    let groups = rules
        .shared(count)
        .map(|(rule, share)| rule.group(recipe, share))
        .filter(|group| group.count > 0);
    Ok(Some(SubscriberGroups {
        order: ValueOrder::Pseudorandom,
        groups: groups.collect(),
    }))
}

/// Refuses echoes where a device would have to tell connections or subscribers apart by their identifiers: these are drawn like ports that it leaves as
/// they are.
fn check_echo(recipe: &Recipe, test: &Test, rules: Option<&RuleSet>) -> Result<(), String> {
    let shares_addresses =
        rules.is_some_and(|rules| rules.rules.iter().any(|rule| rule.ports.is_restricted()));
    let why = match (&recipe.state, shares_addresses) {
        _ if test.traffic.payload != Payload::Echo => return Ok(()),
        (Some(_), _) => "maps ports of connections",
        (None, true) => "lets subscribers share addresses by their ports",
        (None, false) => return Ok(()),
    };
    Err(format!(
        "test {}: `payload = \"echo\"` has no ports, but the device of recipe {} {why}: use UDP",
        test.name, recipe.name
    ))
}

fn none(recipe: &Recipe, test: &Test) -> Result<Option<SubscriberGroups>, String> {
    match test.traffic.subscribers {
        Some(_) => Err(format!(
            "test {}: recipe {} has no [subscribers]: it serves one client network",
            test.name, recipe.name
        )),
        None => Ok(None),
    }
}

pub(super) fn count(recipe: &Recipe, test: &Test) -> u32 {
    match test.measure.family() {
        // The load is generated by this number of clients, so the plan's number counts.
        Family::Requests => return test.clients(),
        Family::Frames | Family::PhaseOne | Family::Tcp | Family::Queries | Family::Vectors => {}
    }
    test.traffic.subscribers.unwrap_or_else(|| {
        recipe
            .subscribers
            .as_ref()
            .map_or(1, |section| section.count)
    })
}

/// Refuses a recipe whose foreground differs from the rule's first subscriber, because every frame would count as wrong.
fn check_first(recipe: &Recipe, rule: &Rule) -> Result<(), String> {
    let sides = [
        ("left", recipe.foreground.left),
        ("right", recipe.foreground.right),
    ];
    // Behind a stateful device, sources are from the pool.
    let sides = sides
        .into_iter()
        .filter(|(side, _)| *side == "left" || recipe.state.is_none());
    for (side, ends) in sides {
        let seen = rule.appearance(&ends);
        let outer = ends
            .outer
            .map(|outer| ("outer.source", outer.source))
            .into_iter()
            .filter_map(|(what, own)| Some((what, own, seen.outer?)));
        for (what, own, rule) in outer.chain(seen.inner.map(|rule| ("source", ends.source, rule))) {
            if template::bits(own) != rule.bits(0) {
                return Err(format!(
                    "recipe {}: foreground.{side}.{what} is {own}, but the first subscriber has {} by the rule of [subscribers]",
                    recipe.name,
                    rule.address(0)
                ));
            }
        }
    }
    Ok(())
}

/// Refuses rules that contradict the recipe's state: connections are opened from the subscribers' side, and their ports are those of the plan.
fn check_state(recipe: &Recipe, rules: &RuleSet) -> Result<(), String> {
    let Some(state) = &recipe.state else {
        return Ok(());
    };
    let name = &recipe.name;
    if state.initiator != recipe::DeviceSide::Left {
        return Err(format!(
            "recipe {name}: subscribers are on the left and open the connections: [state] initiator = \"left\""
        ));
    }
    if rules.rules.iter().any(|rule| rule.ports.is_restricted()) {
        Err(format!(
            "recipe {name}: the ports of connections come from the plan, not from a port set; a rule of [subscribers] that \
                             restricts ports is only for devices without [state]"
        ))
    } else {
        Ok(())
    }
}

/// Refuses port sets of several ranges if a configuration file contains a subscriber's ports, because its line for each subscriber has only one
/// range.
fn check_ranges(recipe: &Recipe, rules: &RuleSet) -> Result<(), String> {
    let says_ports = |file: &recipe::ConfigFile| file.content.contains("{subscriber-first-port}");
    let has_more = |rule: &Rule| rule.ports.ranges(0).len() > 1;
    match recipe
        .files
        .iter()
        .find(|file| says_ports(file))
        .filter(|_| rules.rules.iter().any(has_more))
    {
        Some(file) => Err(format!(
            "recipe {}: file `{}` uses {{subscriber-first-port}}, but the port sets consist of several ranges; psid-offset = 0 makes each of them a single range",
            recipe.name, file.path
        )),
        None => Ok(()),
    }
}

/// Returns, by recipe name, the first `count` subscribers for a device's configuration files. Each of several devices in a row has the number of
/// subscribers in its own recipe.
///
/// # Errors
/// A recipe's rule is invalid, or cannot be expressed in its files.
pub(crate) fn by_recipe(
    recipe: &Recipe,
    count: u32,
) -> Result<BTreeMap<String, Arc<[Subscriber]>>, PlanError> {
    let own = recipe.subscribers.as_ref().map(|_| (recipe, count));
    let of_parts = recipe
        .parts
        .iter()
        .filter_map(|part| Some((part, part.subscribers.as_ref()?.count)));
    let mut subscribers = BTreeMap::new();
    for (recipe, count) in own.into_iter().chain(of_parts) {
        let Some(rules) = RuleSet::from_recipe(recipe).map_err(PlanError)? else {
            continue;
        };
        check_ranges(recipe, &rules).map_err(PlanError)?;
        subscribers.insert(recipe.name.clone(), rules.subscribers(count).into());
    }
    Ok(subscribers)
}

/// Returns the ranges of the ports of a recipe's subscriber, by its number from 0, within the first rule; none if the recipe has no rule.
///
/// # Errors
/// The rule is wrong.
pub(crate) fn port_ranges(
    recipe: &Recipe,
    number: u32,
) -> Result<Vec<RangeInclusive<u16>>, PlanError> {
    let rules = RuleSet::from_recipe(recipe).map_err(PlanError)?;
    let first = rules.and_then(|rules| rules.rules.first().copied());
    Ok(first.map_or_else(Vec::new, |rule| rule.ports.ranges(u64::from(number))))
}

/// Returns the largest number of subscribers that any of the tests needs with the recipe's device, or 1 if no test uses it.
pub(crate) fn most(recipe: &Recipe, tests: &[Test]) -> u32 {
    let of_recipe = tests.iter().filter(|test| test.dut == recipe.name);
    of_recipe.map(|test| count(recipe, test)).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(most: &[u64]) -> RuleSet {
        let ipv6 = AddressRule::fixed(IpAddr::from([0u16; 8]));
        let rule = |most: &u64| Rule {
            most: *most,
            ipv6,
            ipv4: None,
            ports: PortRule::ANY,
        };
        RuleSet {
            rules: most.iter().map(rule).collect(),
            most: most.iter().sum(),
        }
    }

    #[test]
    fn rules_take_subscribers_in_turns_as_long_as_they_have_room() {
        let shares = |count| rules(&[10, 2, 100]).shares(count);
        assert_eq!(shares(1), [1, 0, 0]);
        assert_eq!(shares(5), [2, 2, 1]);
        assert_eq!(shares(7), [3, 2, 2]);
        assert_eq!(shares(40), [10, 2, 28]);
        assert_eq!(shares(112), [10, 2, 100]);
        assert_eq!(shares(113), [10, 2, 100], "there are no more");
    }

    #[test]
    fn a_device_set_up_for_more_subscribers_knows_those_of_fewer() {
        let rules = rules(&[7, 1, 30, 3]);
        for count in 0..41 {
            let pairs = rules.shares(count).into_iter().zip(rules.shares(count + 1));
            let added: Vec<u64> = pairs
                .map(|(fewer, more)| more.checked_sub(fewer).expect("none is taken away"))
                .collect();
            assert_eq!(added.iter().sum::<u64>(), 1, "{count}");
        }
    }
}
