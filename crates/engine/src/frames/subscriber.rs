//! The subscriber of a frame, and its addresses and ports: a function of the frame's number, so that the receiver can compute them again.

use super::flow::{Counter, Draw};
use super::profile::{AddressPair, Appearance, SubscriberGroups};
use sixbench_method::plan::ValueOrder;
use sixbench_wire::rules::{AddressRule, PortRule};
use sixbench_wire::template::{DatagramEnd, SubscriberAddresses};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The subscribers in one kind of frame of one direction.
#[derive(Clone, Debug)]
pub(crate) struct SubscriberPopulation {
    end: DatagramEnd,
    groups: Vec<SeenGroup>,
    numbers: Counter,
    port_order: ValueOrder,
    /// The addresses of each subscriber, by its number among all; empty if there are more than fit into a core's cache.
    kept: Box<[SubscriberAddresses]>,
}

/// The most subscribers whose addresses are cached: those of both directions, as they leave and as they arrive, fit into a core's second-level cache.
const MOST_KEPT: u32 = 2048;

/// The subscribers of one rule, as seen on one link.
#[derive(Clone, Copy, Debug)]
struct SeenGroup {
    /// The number of its first subscriber among all.
    first: u32,
    seen: Appearance,
    ports: PortRule,
}

/// One subscriber of a population.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    group: &'a SeenGroup,
    /// Its number within the group.
    number: u64,
}

impl SubscriberPopulation {
    /// Returns the subscribers as seen on the left link or, without `is_left`, on the right. `port_order` is that of the ports at the subscribers' end.
    pub(crate) fn new(
        subscribers: &SubscriberGroups,
        end: DatagramEnd,
        is_left: bool,
        port_order: ValueOrder,
    ) -> Self {
        let mut first = 0;
        let groups = subscribers
            .groups
            .iter()
            .map(|group| {
                let seen = SeenGroup {
                    first,
                    seen: if is_left { group.left } else { group.right },
                    ports: group.ports,
                };
                first += group.count;
                seen
            })
            .collect();
        let numbers = Counter::among(subscribers.order, subscribers.count().max(1));
        let mut population = Self {
            end,
            groups,
            numbers,
            port_order,
            kept: Box::default(),
        };
        if subscribers.count() <= MOST_KEPT {
            let all = (0..subscribers.count()).filter_map(|number| population.member(number));
            population.kept = all.map(|member| population.computed(member)).collect();
        }
        population
    }

    /// Returns the ends with the address at the subscribers' end set to zero, if each subscriber has its own address.
    pub(crate) fn zero_varying_suffix(&self, ends: AddressPair) -> AddressPair {
        if self.groups.iter().all(|group| group.seen.inner.is_none()) {
            return ends;
        }
        let zeroed = |address: IpAddr| -> IpAddr {
            if address.is_ipv4() {
                Ipv4Addr::UNSPECIFIED.into()
            } else {
                Ipv6Addr::UNSPECIFIED.into()
            }
        };
        match self.end {
            DatagramEnd::Source => AddressPair {
                source: zeroed(ends.source),
                ..ends
            },
            DatagramEnd::Destination => AddressPair {
                destination: zeroed(ends.destination),
                ..ends
            },
        }
    }

    /// Returns the subscriber of frame `index`.
    #[inline(always)]
    pub(crate) fn drawn(&self, index: u64, draw: Draw) -> Option<Member<'_>> {
        self.member(self.numbers.position(index, draw.subscriber))
    }

    /// Returns the subscriber with this number among all; `None` for a population without groups.
    #[inline(always)]
    pub(crate) fn member(&self, number: u32) -> Option<Member<'_>> {
        let group = self.groups.iter().rfind(|group| group.first <= number)?;
        Some(Member {
            group,
            number: u64::from(number - group.first),
        })
    }

    /// Returns the subscriber's addresses.
    #[inline(always)]
    pub(crate) fn addresses(&self, member: Member<'_>) -> SubscriberAddresses {
        let among_all = u64::from(member.group.first) + member.number;
        self.kept
            .get(among_all as usize)
            .copied()
            .unwrap_or_else(|| self.computed(member))
    }

    fn computed(&self, Member { group, number }: Member<'_>) -> SubscriberAddresses {
        let bits = |rule: Option<AddressRule>| rule.map(|rule| rule.bits(number));
        SubscriberAddresses {
            end: self.end,
            inner: bits(group.seen.inner),
            outer: bits(group.seen.outer),
        }
    }

    /// Returns the end of the frames at which the subscribers are.
    #[inline]
    pub(crate) fn end(&self) -> DatagramEnd {
        self.end
    }

    /// Replaces the port at `end` with one of the subscriber's own, if its ports are restricted.
    #[inline(always)]
    pub(crate) fn take_port(
        &self,
        Member { group, number }: Member<'_>,
        index: u64,
        draw: Draw,
        end: DatagramEnd,
        ports: &mut (u16, u16),
    ) {
        if !group.ports.is_restricted() {
            return;
        }
        let nth =
            Counter::among(self.port_order, group.ports.count(number)).position(index, draw.port);
        let port = group.ports.port(number, nth);
        match end {
            DatagramEnd::Source => ports.0 = port,
            DatagramEnd::Destination => ports.1 = port,
        }
    }
}
