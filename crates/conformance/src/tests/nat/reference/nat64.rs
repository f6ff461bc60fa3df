//! A NAT64 in memory: the reference translator of RFC 7915 gives every inside host an IPv4 address of its own, and the reference NAT behind it all of
//! them the addresses of the pool (RFC 6146). What a NAT64 must do otherwise than the two is here.

use super::fault::Fault64;
use super::nat::{Nat, NatSetting, PROHIBITED, Sent};
use super::packet::{ICMP, Packet, TCP, UDP};
use crate::frame::Side;
use crate::tests::nat::ReferenceDevice;
use crate::tests::rigs::reference::datagram::{adjusted, set_word, word};
use crate::tests::rigs::reference::fault::Fault as TranslatorFault;
use crate::tests::rigs::reference::translator::{Links, Pair, Rig, Translator};
use std::net::Ipv6Addr;

const ICMPV6: u8 = 58;
const FRAGMENT: u8 = 44;

/// The addresses and the behavior of a NAT64.
pub(crate) struct Nat64Setting {
    /// The inside hosts, each with an IPv4 address that only the two parts know.
    pub(crate) inside: Vec<Pair>,
    /// The outside, with the representations in IPv6: hosts, and the pool.
    pub(crate) outside: Vec<Pair>,
    /// The device itself.
    pub(crate) own: Pair,
    pub(crate) nat: NatSetting,
    pub(crate) fault: Option<Fault64>,
}

/// The NAT64.
pub(crate) struct Nat64 {
    translator: Translator,
    nat: Nat,
    outside: Vec<Ipv6Addr>,
    fault: Option<Fault64>,
}

impl ReferenceDevice for Nat64 {
    fn pass(&mut self, time_ms: u64) -> Vec<Sent> {
        self.nat.pass(time_ms)
    }

    fn receive(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        if side == Side::Outside {
            return self.receive_outside(octets);
        }
        if !self.is_processed(octets) {
            return Vec::new();
        }
        let translated = self.translator.receive(Side::Ipv6, octets);
        let mut leaving = Vec::new();
        for sent in translated {
            if sent.side == Side::Ipv6 {
                leaving.push(inside(sent.octets));
            } else if let Some(packet) = self.refused(&sent.octets) {
                leaving.extend(self.pass_inside(&packet.error(3, 3, self.translator.own.v4)));
            } else {
                leaving.extend(self.through_nat(Side::Inside, &sent.octets));
            }
        }
        leaving
    }
}

impl Nat64 {
    pub(crate) fn new(setting: Nat64Setting, links: Links) -> Self {
        let Nat64Setting {
            inside,
            outside,
            own,
            nat,
            fault,
        } = setting;
        let prefixed = outside.iter().map(|pair| pair.v6).collect();
        let pairs = inside.into_iter().chain(outside).collect();
        let rig = match fault {
            Some(Fault64::Translator { from, fault }) => Some(Rig { from, fault }),
            Some(Fault64::ErrorInErrorForwarded) => Some(Rig {
                from: Side::Ipv4,
                fault: TranslatorFault::InnerErrorTranslated,
            }),
            _ => None,
        };
        Self {
            translator: Translator::new(pairs, own, links, rig),
            nat: Nat::new(nat),
            outside: prefixed,
            fault,
        }
    }

    fn has(&self, fault: Fault64) -> bool {
        self.fault == Some(fault)
    }

    fn receive_outside(&mut self, octets: &[u8]) -> Vec<Sent> {
        if let Some(packet) = self.refused(octets) {
            let is_port = self.has(Fault64::ProtocolUnreachableAsPort);
            let code = if is_port { 3 } else { 2 };
            let error = packet.error(3, code, self.translator.own.v4);
            return vec![Sent {
                side: Side::Outside,
                octets: error.octets,
            }];
        }
        self.through_nat(Side::Outside, octets)
    }

    /// Section 3.5: the source must not contain the prefix, and the destination must.
    fn is_processed(&self, octets: &[u8]) -> bool {
        let address = |at: usize| {
            let octets: Option<[u8; 16]> = octets.get(at..at + 16)?.try_into().ok();
            octets.map(Ipv6Addr::from)
        };
        let is_prefixed = |address: Option<Ipv6Addr>| {
            address.is_some_and(|address| self.outside.contains(&address))
        };
        let is_source_right = !is_prefixed(address(8)) || self.has(Fault64::PrefixSourceAccepted);
        is_source_right && is_prefixed(address(24))
    }

    /// Returns a packet of another protocol than TCP, UDP and ICMP (section 3.4).
    fn refused(&self, octets: &[u8]) -> Option<Packet> {
        let packet = Packet::parse(octets)?;
        let is_known = [ICMP, TCP, UDP, ICMPV6, FRAGMENT].contains(&packet.protocol());
        (!is_known && !self.has(Fault64::OtherProtocolsSilent)).then_some(packet)
    }

    fn through_nat(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        let sent = self.nat.receive(side, octets);
        let mut leaving = Vec::new();
        for sent in sent {
            if sent.side == Side::Outside {
                leaving.push(sent);
            } else if let Some(packet) = Packet::parse(&sent.octets) {
                let is_refusal = side == Side::Inside
                    && packet.protocol() == ICMP
                    && packet.data().starts_with(&[3, PROHIBITED]);
                let mut passed = self.pass_inside(&packet);
                if is_refusal && !self.has(Fault64::FullPoolAsProhibited) {
                    passed.iter_mut().for_each(say_address_unreachable);
                }
                leaving.extend(passed);
            }
        }
        leaving
    }

    fn pass_inside(&mut self, packet: &Packet) -> Vec<Sent> {
        let translated = self.translator.receive(Side::Ipv4, &packet.octets);
        let to_inside = translated
            .into_iter()
            .filter(|sent| sent.side == Side::Ipv6);
        to_inside.map(|sent| inside(sent.octets)).collect()
    }
}

/// Sections 3.5.1.1 and 3.5.2.3: what is refused because no transport address is left is told by code 3, which no code of ICMP is translated to.
fn say_address_unreachable(sent: &mut Sent) {
    const TYPE: usize = 40;
    let before = [sent.octets[TYPE], sent.octets[TYPE + 1]];
    let after = [before[0], 3];
    let checksum = adjusted(word(&sent.octets, TYPE + 2), &[&before], &[&after]);
    sent.octets[TYPE + 1] = 3;
    set_word(&mut sent.octets, TYPE + 2, checksum);
}

fn inside(octets: Vec<u8>) -> Sent {
    Sent {
        side: Side::Inside,
        octets,
    }
}
