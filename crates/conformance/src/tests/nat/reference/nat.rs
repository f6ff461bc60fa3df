//! A NAT between two IPv4 networks in memory, with a clock that is set from outside. What the RFCs leave to a NAT, it does in the way that they
//! recommend: Endpoint-Independent Mapping and Filtering, ports preserved where they are free, refresh by both directions.

use super::fault::Fault;
use super::packet::{End, Endpoint, ICMP, Packet, TCP, UDP};
use super::table::{Flow, Mapping, MappingTable, PoolPorts};
use crate::frame::Side;
use crate::tests::nat::ReferenceDevice;
use std::net::Ipv4Addr;

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;
/// The time for which an unsolicited SYN is not answered (RFC 5382 REQ-4).
const INCOMING_SYN_MS: u64 = 6_000;

/// Codes of Destination Unreachable: communication administratively prohibited, and host unreachable.
pub(crate) const PROHIBITED: u8 = 13;
const HOST_UNREACHABLE: u8 = 1;

/// The filtering behavior (RFC 4787 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filtering {
    EndpointIndependent,
    AddressDependent,
}

/// The addresses and the behavior of a NAT.
#[derive(Clone, Debug)]
pub(crate) struct NatSetting {
    pub(crate) pool: Vec<Ipv4Addr>,
    /// The ports of the pool, if it does not have all.
    pub(crate) ports: Option<PoolPorts>,
    pub(crate) own_inside: Ipv4Addr,
    pub(crate) own_outside: Ipv4Addr,
    /// An inside host, to which a faulty NAT sends what is for no one.
    pub(crate) host: Ipv4Addr,
    pub(crate) filtering: Filtering,
    pub(crate) fault: Option<Fault>,
}

/// The mapping for a flow.
enum MappingFor {
    /// At this place.
    Flow(usize),
    /// The packet opens nothing.
    None,
    /// There is no port left for it.
    FullPool,
}

/// A datagram that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) side: Side,
    pub(crate) octets: Vec<u8>,
}

/// An unsolicited SYN that is not answered yet.
struct WaitingSyn {
    packet: Packet,
    until_ms: u64,
}

/// The fields that all fragments of a datagram have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FragmentKey {
    addresses: [Ipv4Addr; 2],
    identification: u16,
    protocol: u8,
}

/// A datagram that comes in fragments.
struct FragmentedDatagram {
    key: FragmentKey,
    /// The first fragment after its translation, and the side to which it went.
    first: Option<(Side, Packet)>,
    held: Vec<Packet>,
}

/// The NAT.
pub(crate) struct Nat {
    setting: NatSetting,
    now_ms: u64,
    table: MappingTable,
    waiting: Vec<WaitingSyn>,
    fragmented: Vec<FragmentedDatagram>,
}

impl ReferenceDevice for Nat {
    /// What leaves are the errors about unsolicited SYNs.
    fn pass(&mut self, time_ms: u64) -> Vec<Sent> {
        self.now_ms += time_ms;
        if !self.has(Fault::ExpiredKeepsPort) {
            self.table.forget_expired(self.now_ms);
        }
        let (over, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|syn| syn.until_ms <= self.now_ms);
        self.waiting = waiting;
        let over: Vec<WaitingSyn> = over;
        let from = self.setting.own_outside;
        let code = if self.has(Fault::SynProhibited) {
            13
        } else {
            3
        };
        over.iter()
            .map(|syn| outward(syn.packet.error(3, code, from)))
            .collect()
    }

    fn receive(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        let Some(mut packet) = Packet::parse(octets).filter(Packet::has_right_header_sum) else {
            return Vec::new();
        };
        if packet.ttl() <= 1 {
            return self.time_exceeded(side, &packet);
        }
        if !self.has(Fault::TtlKept) {
            packet.lower_ttl();
        }
        if packet.is_part() {
            return self.receive_part(side, packet);
        }
        self.translate(side, packet)
    }
}

impl Nat {
    pub(crate) fn new(setting: NatSetting) -> Self {
        let table = MappingTable {
            ports: setting.ports,
            ..MappingTable::default()
        };
        Self {
            setting,
            now_ms: 0,
            table,
            waiting: Vec::new(),
            fragmented: Vec::new(),
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.setting.fault == Some(fault)
    }

    fn time_exceeded(&mut self, side: Side, packet: &Packet) -> Vec<Sent> {
        if self.has(Fault::NoTimeExceeded) {
            return Vec::new();
        }
        let own = if side == Side::Inside {
            self.setting.own_inside
        } else {
            self.setting.own_outside
        };
        let mut quoted = packet.clone();
        if self.has(Fault::TimeExceededInsideForm)
            && let Some(sent) = self.translate(side, packet.clone()).pop()
        {
            quoted.octets = sent.octets;
            quoted.set_address(End::Source, packet.address(End::Source));
        }
        let mut error = quoted.error(11, 0, own);
        if self.has(Fault::DsFieldZero) {
            error.octets[1] = 0;
            error.write_header_sum();
        }
        vec![Sent {
            side,
            octets: error.octets,
        }]
    }

    fn translate(&mut self, side: Side, packet: Packet) -> Vec<Sent> {
        let is_outward = side == Side::Inside;
        match packet.protocol() {
            ICMP if packet.is_icmp_error() && is_outward => self.error_outward(packet),
            ICMP if packet.is_icmp_error() => self.error_inward(packet),
            ICMP | TCP | UDP if is_outward => self.outward(packet),
            ICMP | TCP | UDP => self.inward(packet),
            _ => Vec::new(),
        }
    }

    /// A packet from the inside: its source becomes the external endpoint of its mapping.
    fn outward(&mut self, mut packet: Packet) -> Vec<Sent> {
        if self.drops_outward(&packet) {
            return Vec::new();
        }
        let ends = (
            packet.endpoint(End::Source),
            packet.endpoint(End::Destination),
        );
        let (Some(inside), Some(peer)) = ends else {
            return Vec::new();
        };
        if self.has(Fault::InsideNotTranslated) {
            return vec![outward(packet)];
        }
        let is_hairpin = self.setting.pool.contains(&peer.address);
        if is_hairpin && self.has(Fault::NoHairpinning) {
            return Vec::new();
        }
        let flow = Flow {
            protocol: packet.protocol(),
            inside,
            peer,
        };
        let at = match self.mapping_for(flow, &packet) {
            MappingFor::Flow(at) => at,
            MappingFor::None => return Vec::new(),
            MappingFor::FullPool => return self.refused(flow, packet),
        };
        self.cancel_waiting_syn(at, peer);
        let has_session = self.table.mappings[at]
            .sessions
            .iter()
            .any(|known| known.peer == peer);
        self.note_tcp(at, peer, packet.tcp_flags(), true);
        if !(has_session && self.has(Fault::NoOutboundRefresh)) {
            self.refresh(at, peer);
        }
        let external = self.table.mappings[at].external;
        self.spoil_sum(&mut packet);
        if is_hairpin && self.has(Fault::HairpinInternalSource) {
            return self.hairpinned(packet, inside);
        }
        packet.set_endpoint(End::Source, external);
        if is_hairpin {
            return self.hairpinned(packet, external);
        }
        vec![outward(packet)]
    }

    fn drops_outward(&self, packet: &Packet) -> bool {
        let flags = packet.tcp_flags();
        match self.setting.fault {
            Some(Fault::OutboundDropped) => true,
            Some(Fault::TcpDropped) => packet.protocol() == TCP,
            Some(Fault::TcpDataDropped) => packet.protocol() == TCP && flags & 8 != 0,
            Some(Fault::FinDropped) => flags & FIN != 0,
            Some(Fault::RstDropped) => flags & RST != 0,
            Some(Fault::OutboundSynAckBlocked) => flags & (SYN | ACK) == SYN | ACK,
            Some(Fault::QueryDropped) => packet.protocol() == ICMP,
            _ => false,
        }
    }

    /// Finds the mapping for a flow from the inside, and makes one if there is none. A segment of TCP that opens nothing makes none.
    fn mapping_for(&mut self, flow: Flow, packet: &Packet) -> MappingFor {
        let is_again = self.has(Fault::MappingPerPacket)
            || self.has(Fault::SynAgainMappedAnew) && packet.tcp_flags() & (SYN | ACK) == SYN;
        let fault = self.setting.fault;
        let found = self.table.find_inside(flow, fault).filter(|_| !is_again);
        if let Some(found) = found {
            return MappingFor::Flow(found);
        }
        let opens =
            flow.protocol != TCP || packet.tcp_flags() & SYN != 0 || self.has(Fault::SynNotNeeded);
        if !opens {
            return MappingFor::None;
        }
        let pool = self.setting.pool.clone();
        let Some(at) = self.table.create(flow, &pool, fault) else {
            return MappingFor::FullPool;
        };
        if self.has(Fault::ConflictDropped) && self.table.mappings[at].had_conflict {
            self.table.mappings.remove(at);
            return MappingFor::None;
        }
        MappingFor::Flow(at)
    }

    /// The first packet of a flow for which the pool has no port left is refused (RFC 5508 REQ-8).
    fn refused(&mut self, flow: Flow, mut packet: Packet) -> Vec<Sent> {
        match self.setting.fault {
            Some(Fault::FullPoolSilent) => return Vec::new(),
            Some(Fault::FullPoolOverloaded) => {
                let mut mappings = self.table.mappings.iter();
                let used = mappings.rfind(|mapping| mapping.protocol == flow.protocol);
                if let Some(used) = used {
                    packet.set_endpoint(End::Source, used.external);
                }
                return vec![outward(packet)];
            }
            Some(Fault::FullPoolStolen) => {
                if let Some(stolen) = self.table.stolen(flow.protocol) {
                    packet.set_endpoint(End::Source, stolen);
                }
                return vec![outward(packet)];
            }
            Some(Fault::FullPoolForgets) => {
                self.table
                    .mappings
                    .retain(|mapping| mapping.protocol != flow.protocol);
            }
            _ => {}
        }
        let code = match self.setting.fault {
            Some(Fault::FullPoolHostUnreachable) => HOST_UNREACHABLE,
            _ => PROHIBITED,
        };
        vec![inward(packet.error(3, code, self.setting.own_inside))]
    }

    fn cancel_waiting_syn(&mut self, at: usize, peer: Endpoint) {
        if self.has(Fault::SynRefusedDespiteOutbound) {
            return;
        }
        let external = self.table.mappings[at].external;
        self.waiting.retain(|syn| {
            syn.packet.endpoint(End::Source) != Some(peer)
                || syn.packet.endpoint(End::Destination) != Some(external)
        });
    }

    fn note_tcp(&mut self, at: usize, peer: Endpoint, flags: u8, is_outward: bool) {
        let mapping = &mut self.table.mappings[at];
        if mapping.protocol != TCP {
            return;
        }
        let tcp = &mut mapping.session(peer).tcp;
        tcp.was_reset = flags & RST != 0;
        if is_outward {
            tcp.syn_outward |= flags & SYN != 0;
            tcp.fin_outward |= flags & FIN != 0;
        } else {
            tcp.syn_inward |= flags & SYN != 0;
            tcp.fin_inward |= flags & FIN != 0;
        }
    }

    fn refresh(&mut self, at: usize, peer: Endpoint) {
        let (now_ms, fault) = (self.now_ms, self.setting.fault);
        self.table.mappings[at].refresh(peer, now_ms, fault);
    }

    fn spoil_sum(&self, packet: &mut Packet) {
        if self.has(Fault::UdpSumComputed) && packet.protocol() == UDP {
            let at = packet.header() + 6;
            if packet.octets[at..at + 2] == [0, 0] {
                packet.octets[at..at + 2].copy_from_slice(&[0xbe, 0xef]);
            }
        }
    }

    /// A packet between two inside hosts: it is as if it had come from outside.
    fn hairpinned(&mut self, mut packet: Packet, source: Endpoint) -> Vec<Sent> {
        let Some(external) = packet.endpoint(End::Destination) else {
            return Vec::new();
        };
        let Some(at) = self
            .table
            .find_external(packet.protocol(), external, source)
        else {
            return Vec::new();
        };
        self.note_tcp(at, source, packet.tcp_flags(), false);
        self.refresh(at, source);
        let inside = self.table.mappings[at].inside;
        packet.set_endpoint(End::Destination, inside);
        if self.has(Fault::HairpinOtherSourcePort) {
            let other = Endpoint {
                port: source.port ^ 0x4000,
                ..source
            };
            packet.set_endpoint(End::Source, other);
        }
        vec![inward(packet)]
    }

    /// A packet from the outside: its destination becomes the inside endpoint of the mapping.
    fn inward(&mut self, mut packet: Packet) -> Vec<Sent> {
        let ends = (
            packet.endpoint(End::Source),
            packet.endpoint(End::Destination),
        );
        let (Some(peer), Some(external)) = ends else {
            return Vec::new();
        };
        if !self.setting.pool.contains(&external.address) || self.drops_inward(&packet) {
            return Vec::new();
        }
        let protocol = if self.has(Fault::ProtocolIgnored) {
            UDP
        } else {
            packet.protocol()
        };
        let Some(at) = self.table.find_external(protocol, external, peer) else {
            return self.unsolicited(packet);
        };
        if !self.passes_filter(at, peer, &packet) {
            if self.has(Fault::FilteredRefreshes) {
                let known = self.table.mappings[at].sessions[0].peer;
                self.refresh(at, known);
            }
            return self.unsolicited(packet);
        }
        self.note_tcp(at, peer, packet.tcp_flags(), false);
        let has_session = self.table.mappings[at]
            .sessions
            .iter()
            .any(|known| known.peer == peer);
        let refreshes =
            !self.has(Fault::NoInboundRefresh) && !self.has(Fault::NoInboundRefreshAndRefused);
        if refreshes || !has_session {
            self.refresh(at, peer);
        }
        let mut inside = self.table.mappings[at].inside;
        if self.has(Fault::ChangedPortForgotten) {
            inside.port = external.port;
        }
        let is_half_closed = self.table.mappings[at].session(peer).tcp.fin_outward;
        if is_half_closed && packet.tcp_flags() & 8 != 0 && self.has(Fault::HalfClosedDropped) {
            return Vec::new();
        }
        self.spoil_sum(&mut packet);
        let (is_reset, is_fin) = (packet.tcp_flags() & RST != 0, packet.tcp_flags() & FIN != 0);
        if is_reset && self.has(Fault::RstEndsSession)
            || is_fin && self.has(Fault::ClosedAtFirstFin)
        {
            self.table.mappings.remove(at);
        }
        packet.set_endpoint(End::Destination, inside);
        vec![inward(packet)]
    }

    fn drops_inward(&self, packet: &Packet) -> bool {
        let flags = packet.tcp_flags();
        match self.setting.fault {
            Some(Fault::InboundDropped) => true,
            Some(Fault::SynAckDropped) => flags & (SYN | ACK) == SYN | ACK,
            Some(Fault::FinDropped) => flags & FIN != 0,
            Some(Fault::RstDropped) => flags & RST != 0,
            Some(Fault::InboundSynBlocked) => flags & (SYN | ACK) == SYN,
            Some(Fault::ResponseDropped) => packet.protocol() == ICMP,
            _ => false,
        }
    }

    fn passes_filter(&self, at: usize, peer: Endpoint, packet: &Packet) -> bool {
        let mut sessions = self.table.mappings[at].sessions.iter();
        let is_to_port = self.has(Fault::FilteredByPort)
            || self.has(Fault::FilteredByPortAloneForTcp) && packet.protocol() == TCP;
        if is_to_port {
            return sessions.any(|session| session.peer == peer);
        }
        match self.setting.filtering {
            Filtering::EndpointIndependent => true,
            Filtering::AddressDependent => {
                sessions.any(|session| session.peer.address == peer.address)
            }
        }
    }

    /// A packet that no mapping lets through: it is dropped, and an unsolicited SYN is answered after six seconds (RFC 5382 REQ-4).
    fn unsolicited(&mut self, mut packet: Packet) -> Vec<Sent> {
        let from = self.setting.own_outside;
        if self.has(Fault::UnsolicitedForwarded)
            && let Some(mapping) = self.table.mappings.last()
        {
            packet.set_endpoint(End::Destination, mapping.inside);
            return vec![inward(packet)];
        }
        if self.has(Fault::UnsolicitedForwarded) {
            packet.set_address(End::Destination, self.setting.host);
            return vec![inward(packet)];
        }
        if self.has(Fault::UnsolicitedRefused) || self.has(Fault::NoInboundRefreshAndRefused) {
            return vec![outward(packet.error(3, 3, from))];
        }
        if packet.tcp_flags() & (SYN | ACK) != SYN || self.has(Fault::SynDropped) {
            return Vec::new();
        }
        if self.has(Fault::SynRefusedAtOnce) {
            return vec![outward(packet.error(3, 3, from))];
        }
        self.waiting.push(WaitingSyn {
            until_ms: self.now_ms + INCOMING_SYN_MS,
            packet,
        });
        Vec::new()
    }
}

/// Fragments (RFC 4787 REQ-14): those that come before the first are held.
impl Nat {
    fn receive_part(&mut self, side: Side, packet: Packet) -> Vec<Sent> {
        if self.has(Fault::FragmentsDropped) {
            return Vec::new();
        }
        let key = FragmentKey {
            addresses: [
                packet.address(End::Source),
                packet.address(End::Destination),
            ],
            identification: packet.identification(),
            protocol: packet.protocol(),
        };
        let at = self.fragmented.iter().position(|known| known.key == key);
        let at = at.unwrap_or_else(|| {
            self.fragmented.push(FragmentedDatagram {
                key,
                first: None,
                held: Vec::new(),
            });
            self.fragmented.len() - 1
        });
        if !packet.is_first_part() {
            if !(self.has(Fault::FragmentsOrdered) && self.fragmented[at].first.is_none()) {
                self.fragmented[at].held.push(packet);
            }
            return self.release(at);
        }
        let Some(sent) = self.translate(side, packet).pop() else {
            return Vec::new();
        };
        let first = Packet {
            octets: sent.octets.clone(),
        };
        self.fragmented[at].first = Some((sent.side, first));
        let mut leaving = vec![sent];
        leaving.extend(self.release(at));
        leaving
    }

    /// Returns the fragments that were held, with the addresses of the first, if that is known.
    fn release(&mut self, at: usize) -> Vec<Sent> {
        let datagram = &mut self.fragmented[at];
        let Some((side, first)) = &datagram.first else {
            return Vec::new();
        };
        let (side, ends) = (*side, [End::Source, End::Destination]);
        let addresses = ends.map(|end| first.address(end));
        let held = std::mem::take(&mut datagram.held).into_iter();
        held.map(|mut packet| {
            for (end, address) in ends.into_iter().zip(addresses) {
                packet.set_address(end, address);
            }
            Sent {
                side,
                octets: packet.octets,
            }
        })
        .collect()
    }
}

/// Errors of ICMP (RFC 5508 section 4).
impl Nat {
    /// An error from the outside (REQ-4): the packet in it is reverted, and it goes to the host from which that came.
    fn error_inward(&mut self, mut packet: Packet) -> Vec<Sent> {
        if self.has(Fault::ErrorsDropped) || !self.is_error_valid(&packet) {
            return Vec::new();
        }
        let Some(mut embedded) = packet.embedded() else {
            return Vec::new();
        };
        let Some(external) = self.embedded_end(&embedded, End::Source) else {
            return self.error_in_error(packet, &embedded);
        };
        if self.has(Fault::ErrorsFilteredBySource)
            && packet.address(End::Source) != embedded.address(End::Destination)
        {
            return Vec::new();
        }
        let peer = embedded.endpoint(End::Destination).unwrap_or(external);
        let found = self
            .table
            .find_external(embedded.protocol(), external, peer);
        let Some(at) = found else {
            return self.unmapped_error(packet, Side::Inside);
        };
        let inside = self.table.mappings[at].inside;
        if self.has(Fault::ErrorEndsMapping) {
            self.table.mappings.remove(at);
        }
        self.revert(&mut embedded, End::Source, inside);
        self.finish_error(&mut packet, &embedded);
        if !self.has(Fault::OuterDestinationKept) {
            packet.set_address(End::Destination, inside.address);
        }
        vec![inward(packet)]
    }

    /// An error about an error is dropped (RFC 6146 section 3.4).
    fn error_in_error(&self, mut packet: Packet, embedded: &Packet) -> Vec<Sent> {
        if !embedded.is_icmp_error() || !self.has(Fault::InnerErrorForwarded) {
            return Vec::new();
        }
        packet.set_address(End::Destination, self.setting.host);
        vec![inward(packet)]
    }

    /// An error from the inside (REQ-5): the packet in it is reverted, and it comes from the external address.
    fn error_outward(&mut self, mut packet: Packet) -> Vec<Sent> {
        if self.has(Fault::OutwardErrorDropped) || !self.is_error_valid(&packet) {
            return Vec::new();
        }
        let Some(mut embedded) = packet.embedded() else {
            return Vec::new();
        };
        let Some(inside) = embedded.endpoint(End::Destination) else {
            return Vec::new();
        };
        let is_it =
            |mapping: &Mapping| mapping.protocol == embedded.protocol() && mapping.inside == inside;
        let Some(at) = self.table.mappings.iter().position(is_it) else {
            return self.unmapped_error(packet, Side::Outside);
        };
        let external = self.table.mappings[at].external;
        self.note_error(at);
        self.revert(&mut embedded, End::Destination, external);
        let is_of_host = packet.address(End::Source) == inside.address;
        if is_of_host {
            packet.set_address(End::Source, external.address);
        } else if !self.has(Fault::RouterSourceKept) {
            packet.set_address(End::Source, self.setting.own_outside);
        }
        let is_hairpin = self
            .setting
            .pool
            .contains(&packet.address(End::Destination));
        self.finish_error(&mut packet, &embedded);
        if is_hairpin {
            return self.hairpinned_error(packet, embedded);
        }
        vec![outward(packet)]
    }

    fn note_error(&mut self, at: usize) {
        let peer = self.table.mappings[at].sessions[0].peer;
        if self.has(Fault::InsideErrorEndsMapping) {
            self.table.mappings[at].sessions.clear();
        } else if self.has(Fault::ErrorRefreshes) {
            self.refresh(at, peer);
        }
    }

    /// An error about a hairpinned packet (REQ-7): it goes to the host that the packet in it came from.
    fn hairpinned_error(&mut self, mut packet: Packet, mut embedded: Packet) -> Vec<Sent> {
        let Some(external) = embedded.endpoint(End::Source) else {
            return Vec::new();
        };
        let peer = embedded.endpoint(End::Destination).unwrap_or(external);
        let found = self
            .table
            .find_external(embedded.protocol(), external, peer);
        let Some(at) = found.filter(|_| !self.has(Fault::HairpinErrorDropped)) else {
            return Vec::new();
        };
        let inside = self.table.mappings[at].inside;
        embedded.set_endpoint(End::Source, inside);
        packet.set_embedded(&embedded);
        packet.set_address(End::Destination, inside.address);
        vec![inward(packet)]
    }

    /// Checks an error (REQ-3).
    fn is_error_valid(&self, packet: &Packet) -> bool {
        let Some(embedded) = packet.embedded() else {
            return false;
        };
        let is_cut = embedded.data().len() < 16;
        let is_sum_wrong = !packet.has_right_icmp_sum() && !self.has(Fault::BadSumForwarded);
        let is_header_wrong =
            !embedded.has_right_header_sum() && !self.has(Fault::BadInnerHeaderForwarded);
        let is_refused = is_cut && self.has(Fault::CutErrorDropped)
            || self.has(Fault::InnerTransportChecked) && !has_right_udp_sum(&embedded);
        !(is_sum_wrong || is_header_wrong || is_refused)
    }

    /// Returns an end of an embedded packet. A faulty NAT takes its header for one without options.
    fn embedded_end(&self, embedded: &Packet, end: End) -> Option<Endpoint> {
        let has_options = embedded.header() > 20;
        if has_options && self.has(Fault::OptionsNotTraversed) {
            return None;
        }
        embedded.endpoint(end)
    }

    fn revert(&self, embedded: &mut Packet, end: End, original: Endpoint) {
        let before = embedded.clone();
        match self.setting.fault {
            Some(Fault::InnerNotReverted) => {}
            Some(Fault::InnerPortNotReverted | Fault::ChangedPortForgotten) => {
                embedded.set_address(end, original.address);
            }
            _ => embedded.set_endpoint(end, original),
        }
        if self.has(Fault::InnerSumsKept) {
            embedded.octets[10..12].copy_from_slice(&before.octets[10..12]);
        }
    }

    fn finish_error(&self, packet: &mut Packet, embedded: &Packet) {
        let at = packet.header();
        if self.has(Fault::MtuChanged) && packet.octets[at..at + 2] == [3, 4] {
            packet.octets[at + 6] ^= 1;
        }
        if self.has(Fault::CodeChanged) {
            packet.octets[at + 1] = 9;
        }
        packet.set_embedded(embedded);
    }

    fn unmapped_error(&self, mut packet: Packet, to: Side) -> Vec<Sent> {
        if !self.has(Fault::UnmappedErrorForwarded) {
            return Vec::new();
        }
        if to == Side::Inside {
            packet.set_address(End::Destination, self.setting.host);
        }
        vec![Sent {
            side: to,
            octets: packet.octets,
        }]
    }
}

/// Returns whether the checksum of an embedded UDP datagram that is whole is right.
fn has_right_udp_sum(packet: &Packet) -> bool {
    use crate::tests::rigs::reference::datagram::sum;
    if packet.protocol() != UDP {
        return true;
    }
    let length = (packet.data().len() as u16).to_be_bytes();
    let ends = [End::Source, End::Destination].map(|end| packet.address(end).octets());
    let parts = [&ends[0][..], &ends[1], &[0, UDP], &length, packet.data()];
    sum(&parts) == 0xffff
}

fn outward(packet: Packet) -> Sent {
    Sent {
        side: Side::Outside,
        octets: packet.octets,
    }
}

fn inward(packet: Packet) -> Sent {
    Sent {
        side: Side::Inside,
        octets: packet.octets,
    }
}
