//! The rigs, and which vectors each of them fails.

use super::reference::fault::{Fault, Fault64};
use super::reference::nat::Filtering;
use crate::frame::Side;
use crate::notation::Vector;
use crate::tests::rigs::reference::fault::Fault as TranslatorFault;
use std::collections::BTreeSet;

/// A rig, with the names of the vectors that it fails: a `*` at the end stands for any rest.
pub(crate) struct RigRow {
    pub(crate) fault: Fault,
    pub(crate) filtering: Filtering,
    pub(crate) fails: &'static [&'static str],
}

/// A rig of a NAT64, in the same way.
pub(crate) struct Rig64Row {
    pub(crate) fault: Fault64,
    pub(crate) filtering: Filtering,
    pub(crate) fails: &'static [&'static str],
}

impl RigRow {
    /// Returns the names of the vectors that it fails.
    pub(crate) fn fails(&self, vectors: &[Vector]) -> BTreeSet<String> {
        meant_by(self.fails, vectors)
    }
}

impl Rig64Row {
    /// Returns the names of the vectors that it fails.
    pub(crate) fn fails(&self, vectors: &[Vector]) -> BTreeSet<String> {
        meant_by(self.fails, vectors)
    }
}

fn meant_by(patterns: &[&str], vectors: &[Vector]) -> BTreeSet<String> {
    let fits = |pattern: &str, name: &str| {
        pattern
            .strip_suffix('*')
            .map_or(name == pattern, |begin| name.starts_with(begin))
    };
    let mut meant = BTreeSet::new();
    for pattern in patterns {
        let names = vectors.iter().map(|vector| &vector.name);
        let before = meant.len();
        meant.extend(names.filter(|name| fits(pattern, name)).cloned());
        assert!(meant.len() > before, "no vector more is called {pattern}");
    }
    meant
}

/// Vectors of a choice that the reference does not make.
pub(crate) const NOT_RIGHT_BUT_ALLOWED: &[&str] = &["nat-port-overlapping"];

/// Faults that are none, but choices which the text allows, each with a vector that says so.
pub(crate) const CHOICES: &[(Fault, &str)] = &[
    (Fault::ParityIgnored, "udp-port-parity-even"),
    (Fault::ParityIgnored, "udp-port-parity-odd"),
    (Fault::NoInboundRefresh, "udp-refresh-inbound"),
    (Fault::SynDropped, "tcp-unsolicited-syn-error"),
];

const fn rig(fault: Fault, fails: &'static [&'static str]) -> RigRow {
    RigRow {
        fault,
        filtering: Filtering::EndpointIndependent,
        fails,
    }
}

/// A rig of a NAT whose filtering depends on the address.
const fn filtering_rig(fault: Fault, fails: &'static [&'static str]) -> RigRow {
    RigRow {
        filtering: Filtering::AddressDependent,
        ..rig(fault, fails)
    }
}

pub(crate) const RIGS: &[RigRow] = &[
    rig(
        Fault::OutboundDropped,
        &[
            "icmp-query",
            "tcp-handshake",
            "udp-mapping",
            "udp-no-checksum",
            "udp-port-range-*",
            "udp-ttl",
        ],
    ),
    rig(
        Fault::InboundDropped,
        &[
            "icmp-error-keeps-query",
            "icmp-query-response",
            "icmp-query-two-hosts",
            "icmp-timer",
            "icmp-timer-60-seconds",
            "tcp-handshake",
            "tcp-icmp-keeps-opening-*",
            "tcp-port-overloading",
            "tcp-simultaneous-open",
            "tcp-timer-4-minutes",
            "tcp-timer-transitory",
            "udp-filter-other-port",
            "udp-fragments-inbound-*",
            "udp-icmp-keeps-*",
            "udp-no-checksum",
            "udp-port-overloading",
            "udp-refresh-outbound",
            "udp-reply",
            "udp-reply-after-conflict",
            "udp-timer",
            "udp-timer-*",
            "udp-ttl",
        ],
    ),
    rig(
        Fault::MappingPerAddress,
        &[
            "icmp-query-other-host",
            "tcp-hairpin-source",
            "tcp-mapping-in-conflict",
            "tcp-mapping-other-address",
            "udp-hairpin-*",
            "udp-mapping-after-conflict",
            "udp-mapping-in-conflict",
            "udp-mapping-other-address",
        ],
    ),
    rig(
        Fault::MappingPerPort,
        &[
            "icmp-query-other-host",
            "tcp-hairpin-source",
            "tcp-mapping-*",
            "udp-hairpin-*",
            "udp-mapping-after-conflict",
            "udp-mapping-in-conflict",
            "udp-mapping-other-*",
        ],
    ),
    rig(
        Fault::MappingPerPacket,
        &[
            "icmp-query-other-host",
            "tcp-handshake",
            "tcp-simultaneous-open",
            "tcp-syn-again",
            "udp-fragments-outbound-*",
            "udp-hairpin-*",
            "udp-mapping-*",
        ],
    ),
    rig(
        Fault::MappingPerAddressAfterConflict,
        &[
            "tcp-mapping-in-conflict",
            "udp-mapping-after-conflict",
            "udp-mapping-in-conflict",
        ],
    ),
    rig(
        Fault::PortOverlapped,
        &["tcp-mapping-in-conflict", "udp-mapping-in-conflict"],
    ),
    rig(
        Fault::PortOverloaded,
        &[
            "icmp-error-inward-after-conflict",
            "icmp-query-two-hosts",
            "tcp-port-overloading",
            "udp-port-overloading",
            "udp-reply-after-conflict",
        ],
    ),
    rig(Fault::PoolArbitrary, &["udp-pooling-paired"]),
    rig(Fault::LowPortsRaised, &["udp-port-range-low"]),
    rig(Fault::HighPortsLowered, &["udp-port-range-high"]),
    rig(
        Fault::ConflictDropped,
        &[
            "nat-port-overlapping",
            "tcp-port-overloading",
            "udp-port-overloading",
            "udp-port-parity-*",
        ],
    ),
    rig(
        Fault::ChangedPortForgotten,
        &[
            "icmp-error-inward-after-conflict",
            "icmp-query-two-hosts",
            "tcp-port-overloading",
            "udp-port-overloading",
            "udp-reply-after-conflict",
        ],
    ),
    rig(Fault::TtlKept, &["udp-ttl"]),
    rig(Fault::UdpSumComputed, &["udp-no-checksum"]),
    rig(
        Fault::InsideNotTranslated,
        &[
            "icmp-query",
            "tcp-handshake",
            "udp-mapping",
            "udp-no-checksum",
            "udp-port-range-*",
            "udp-ttl",
        ],
    ),
    rig(
        Fault::UdpTimerOneMinute,
        &["udp-refresh-outbound", "udp-timer", "udp-timer-*"],
    ),
    rig(
        Fault::UdpTimerThreeMinutes,
        &["udp-refresh-outbound", "udp-timer", "udp-timer-5-minutes"],
    ),
    rig(Fault::UdpTimerFourMinutes, &["udp-timer-5-minutes"]),
    rig(
        Fault::TransitoryTimerOneMinute,
        &[
            "nat-rst-keeps-session-4-minutes",
            "tcp-timer-4-minutes",
            "tcp-timer-transitory",
        ],
    ),
    rig(
        Fault::EstablishedTimerTenMinutes,
        &["tcp-timer-2-hours", "tcp-timer-established"],
    ),
    rig(
        Fault::IcmpTimerHalfMinute,
        &["icmp-timer", "icmp-timer-60-seconds"],
    ),
    rig(Fault::NoOutboundRefresh, &["udp-refresh-outbound"]),
    rig(
        Fault::NoInboundRefreshAndRefused,
        &[
            "icmp-query-unsolicited",
            "nat-error-no-refresh",
            "nat-filter-protocol",
            "tcp-unsolicited-syn",
            "udp-refresh-inbound",
        ],
    ),
    filtering_rig(Fault::FilteredRefreshes, &["nat-filtered-no-refresh"]),
    rig(Fault::ErrorRefreshes, &["nat-error-no-refresh"]),
    rig(
        Fault::FilteredByPort,
        &[
            "icmp-query-two-hosts",
            "tcp-filter-other-port",
            "udp-filter-other-port",
        ],
    ),
    rig(Fault::FilteredByPortAloneForTcp, &["tcp-filter-other-port"]),
    rig(
        Fault::UnsolicitedForwarded,
        &[
            "icmp-query-unsolicited",
            "nat-error-no-refresh",
            "nat-filter-protocol",
            "tcp-unsolicited-syn",
            "udp-unsolicited",
            "udp-unsolicited-other-port",
        ],
    ),
    rig(
        Fault::UnsolicitedRefused,
        &[
            "icmp-query-unsolicited",
            "nat-error-no-refresh",
            "nat-filter-protocol",
            "tcp-unsolicited-syn",
        ],
    ),
    rig(
        Fault::ProtocolIgnored,
        &[
            "icmp-error-keeps-query",
            "icmp-query-response",
            "icmp-query-two-hosts",
            "icmp-timer",
            "icmp-timer-60-seconds",
            "nat-filter-protocol",
            "tcp-handshake",
            "tcp-icmp-keeps-opening-*",
            "tcp-port-overloading",
            "tcp-simultaneous-open",
            "tcp-timer-4-minutes",
            "tcp-timer-transitory",
        ],
    ),
    rig(
        Fault::NoHairpinning,
        &[
            "tcp-hairpin",
            "tcp-hairpin-source",
            "udp-hairpin",
            "udp-hairpin-source",
        ],
    ),
    rig(
        Fault::HairpinInternalSource,
        &["tcp-hairpin-source", "udp-hairpin-source"],
    ),
    rig(
        Fault::HairpinOtherSourcePort,
        &["icmp-error-hairpin", "tcp-hairpin-source", "udp-hairpin-*"],
    ),
    rig(Fault::HairpinErrorDropped, &["icmp-error-hairpin"]),
    rig(Fault::FragmentsDropped, &["udp-fragments-*"]),
    rig(
        Fault::FragmentsOrdered,
        &[
            "udp-fragments-inbound-out-of-order",
            "udp-fragments-outbound-out-of-order",
        ],
    ),
    rig(Fault::TcpDropped, &["tcp-handshake"]),
    rig(
        Fault::TcpDataDropped,
        &["tcp-data", "tcp-icmp-keeps-connection"],
    ),
    rig(
        Fault::SynAckDropped,
        &[
            "tcp-handshake",
            "tcp-icmp-keeps-opening-*",
            "tcp-port-overloading",
            "tcp-simultaneous-open",
            "tcp-timer-4-minutes",
            "tcp-timer-transitory",
        ],
    ),
    rig(
        Fault::SynAgainMappedAnew,
        &["tcp-hairpin-source", "tcp-mapping-*", "tcp-syn-again"],
    ),
    rig(
        Fault::InboundSynBlocked,
        &["tcp-filter-other-port", "tcp-simultaneous-open"],
    ),
    rig(Fault::OutboundSynAckBlocked, &["tcp-simultaneous-open"]),
    rig(Fault::FinDropped, &["tcp-close"]),
    rig(Fault::HalfClosedDropped, &["tcp-half-close"]),
    rig(Fault::ClosedAtFirstFin, &["tcp-close"]),
    rig(
        Fault::SynRefusedAtOnce,
        &["nat-filter-protocol", "tcp-unsolicited-syn"],
    ),
    filtering_rig(
        Fault::SynRefusedDespiteOutbound,
        &["tcp-syn-before-outbound"],
    ),
    rig(Fault::SynProhibited, &["tcp-unsolicited-syn-error"]),
    rig(Fault::RstDropped, &["nat-rst-inward", "nat-rst-outward"]),
    rig(Fault::RstEndsSession, &["nat-rst-keeps-*"]),
    rig(Fault::RstEndsSessionSoon, &["nat-rst-keeps-session-*"]),
    rig(
        Fault::ErrorsDropped,
        &[
            "icmp-error-cut",
            "icmp-error-inner-*",
            "icmp-error-inward",
            "icmp-error-inward-after-conflict",
            "icmp-error-inward-mtu",
            "icmp-error-inward-query",
            "icmp-error-inward-sums",
            "icmp-error-inward-tcp",
            "tcp-icmp-fragmentation-needed",
            "tcp-icmp-unreachable",
            "udp-icmp-other-source",
            "udp-icmp-unreachable",
        ],
    ),
    rig(
        Fault::ErrorsFilteredBySource,
        &[
            "icmp-error-cut",
            "icmp-error-inner-*",
            "icmp-error-inward",
            "icmp-error-inward-after-conflict",
            "icmp-error-inward-mtu",
            "icmp-error-inward-query",
            "icmp-error-inward-sums",
            "icmp-error-inward-tcp",
            "udp-icmp-other-source",
        ],
    ),
    rig(
        Fault::ErrorEndsMapping,
        &[
            "icmp-error-keeps-query",
            "tcp-icmp-keeps-*",
            "udp-icmp-keeps-*",
        ],
    ),
    rig(
        Fault::InsideErrorEndsMapping,
        &["udp-icmp-from-inside-keeps-mapping"],
    ),
    rig(
        Fault::MtuChanged,
        &["icmp-error-inward-mtu", "tcp-icmp-fragmentation-needed"],
    ),
    rig(
        Fault::CodeChanged,
        &[
            "icmp-error-cut",
            "icmp-error-hairpin",
            "icmp-error-inner-*",
            "icmp-error-inward",
            "icmp-error-inward-after-conflict",
            "icmp-error-inward-mtu",
            "icmp-error-inward-query",
            "icmp-error-inward-sums",
            "icmp-error-inward-tcp",
            "icmp-error-outward",
            "icmp-error-outward-after-conflict",
            "icmp-error-outward-router",
            "tcp-icmp-fragmentation-needed",
            "tcp-icmp-unreachable",
            "udp-icmp-other-source",
            "udp-icmp-unreachable",
        ],
    ),
    rig(Fault::BadSumForwarded, &["icmp-error-bad-checksum"]),
    rig(
        Fault::BadInnerHeaderForwarded,
        &["icmp-error-bad-inner-header"],
    ),
    rig(Fault::OptionsNotTraversed, &["icmp-error-inner-options"]),
    rig(
        Fault::InnerTransportChecked,
        &["icmp-error-cut", "icmp-error-inner-transport-sum"],
    ),
    rig(Fault::CutErrorDropped, &["icmp-error-cut"]),
    rig(
        Fault::InnerNotReverted,
        &[
            "icmp-error-cut",
            "icmp-error-hairpin",
            "icmp-error-inner-*",
            "icmp-error-inward",
            "icmp-error-inward-after-conflict",
            "icmp-error-inward-mtu",
            "icmp-error-inward-query",
            "icmp-error-inward-sums",
            "icmp-error-inward-tcp",
            "icmp-error-outward",
            "icmp-error-outward-after-conflict",
            "icmp-error-outward-router",
            "tcp-icmp-fragmentation-needed",
            "tcp-icmp-unreachable",
            "udp-icmp-other-source",
            "udp-icmp-unreachable",
        ],
    ),
    rig(
        Fault::InnerPortNotReverted,
        &[
            "icmp-error-inward-after-conflict",
            "icmp-error-outward-after-conflict",
        ],
    ),
    rig(Fault::InnerSumsKept, &["icmp-error-inward-sums"]),
    rig(
        Fault::UnmappedErrorForwarded,
        &["icmp-error-inward-unmapped", "icmp-error-outward-unmapped"],
    ),
    rig(
        Fault::OuterDestinationKept,
        &[
            "icmp-error-cut",
            "icmp-error-inner-*",
            "icmp-error-inward",
            "icmp-error-inward-after-conflict",
            "icmp-error-inward-mtu",
            "icmp-error-inward-query",
            "icmp-error-inward-sums",
            "icmp-error-inward-tcp",
            "tcp-icmp-fragmentation-needed",
            "tcp-icmp-unreachable",
            "udp-icmp-other-source",
            "udp-icmp-unreachable",
        ],
    ),
    rig(Fault::RouterSourceKept, &["icmp-error-outward-router"]),
    rig(
        Fault::OutwardErrorDropped,
        &[
            "icmp-error-hairpin",
            "icmp-error-outward",
            "icmp-error-outward-after-conflict",
            "icmp-error-outward-router",
        ],
    ),
    rig(Fault::NoTimeExceeded, &["icmp-ds-field", "icmp-time-*"]),
    rig(
        Fault::TimeExceededInsideForm,
        &["icmp-time-exceeded-inward"],
    ),
    rig(Fault::DsFieldZero, &["icmp-ds-field"]),
    rig(Fault::QueryDropped, &["icmp-query"]),
    rig(
        Fault::ResponseDropped,
        &[
            "icmp-error-keeps-query",
            "icmp-query-response",
            "icmp-query-two-hosts",
            "icmp-timer",
            "icmp-timer-60-seconds",
        ],
    ),
    rig(Fault::QueryPerHost, &["icmp-query-other-host"]),
    rig(Fault::QueryIdKept, &["icmp-query-two-hosts"]),
    filtering_rig(
        Fault::UnsolicitedRefused,
        &[
            "icmp-query-unsolicited",
            "nat-error-no-refresh",
            "nat-filter-protocol",
            "tcp-filter-other-address",
            "tcp-unsolicited-syn",
            "udp-filter-other-address",
        ],
    ),
    filtering_rig(
        Fault::SynRefusedAtOnce,
        &[
            "nat-filter-protocol",
            "tcp-filter-other-address",
            "tcp-unsolicited-syn",
        ],
    ),
];

/// Faults that are none, but choices which the text allows, each with a vector that says so.
pub(crate) const CHOICES64: &[(Fault64, &str)] = &[
    (
        Fault64::Nat(Fault::NoInboundRefresh),
        "nat64-udp-refresh-inbound",
    ),
    (
        Fault64::Nat(Fault::SynDropped),
        "nat64-tcp-unsolicited-syn-error",
    ),
    (Fault64::OtherProtocolsSilent, "nat64-other-protocol-ipv6"),
    (Fault64::OtherProtocolsSilent, "nat64-other-protocol-ipv4"),
];

const fn own64(fault: Fault64, fails: &'static [&'static str]) -> Rig64Row {
    Rig64Row {
        fault,
        filtering: Filtering::EndpointIndependent,
        fails,
    }
}

const fn nat64(fault: Fault, fails: &'static [&'static str]) -> Rig64Row {
    own64(Fault64::Nat(fault), fails)
}

const fn translator64(
    from: Side,
    fault: TranslatorFault,
    fails: &'static [&'static str],
) -> Rig64Row {
    own64(Fault64::Translator { from, fault }, fails)
}

const fn filtering_nat64(fault: Fault, fails: &'static [&'static str]) -> Rig64Row {
    Rig64Row {
        filtering: Filtering::AddressDependent,
        ..nat64(fault, fails)
    }
}

pub(crate) const RIGS64: &[Rig64Row] = &[
    nat64(
        Fault::OutboundDropped,
        &[
            "nat64-class-outward",
            "nat64-df-*",
            "nat64-hop-limit-outward",
            "nat64-icmp-query",
            "nat64-tcp-handshake",
            "nat64-udp-mapping",
            "nat64-udp-port-range-*",
        ],
    ),
    nat64(
        Fault::InboundDropped,
        &[
            "nat64-class-inward",
            "nat64-error-keeps-mapping",
            "nat64-flow-label",
            "nat64-fragments-inbound-*",
            "nat64-hop-limit-inward",
            "nat64-icmp-query-reply",
            "nat64-icmp-query-unique",
            "nat64-icmp-timer",
            "nat64-icmp-timer-60-seconds",
            "nat64-tcp-handshake",
            "nat64-tcp-simultaneous-open",
            "nat64-tcp-timer-4-minutes",
            "nat64-tcp-timer-transitory",
            "nat64-tcp-unique",
            "nat64-udp-filter-other-port",
            "nat64-udp-no-checksum",
            "nat64-udp-refresh-outbound",
            "nat64-udp-reply",
            "nat64-udp-reply-after-conflict",
            "nat64-udp-timer",
            "nat64-udp-timer-*",
            "nat64-udp-unique",
            "nat64-udp-sum-ffff",
        ],
    ),
    nat64(
        Fault::MappingPerAddress,
        &[
            "nat64-icmp-query-other-host",
            "nat64-tcp-mapping-*",
            "nat64-udp-hairpin-*",
            "nat64-udp-mapping-in-conflict",
            "nat64-udp-mapping-other-address",
        ],
    ),
    nat64(
        Fault::MappingPerPort,
        &[
            "nat64-icmp-query-other-host",
            "nat64-tcp-mapping-*",
            "nat64-udp-hairpin-*",
            "nat64-udp-mapping-*",
        ],
    ),
    nat64(
        Fault::MappingPerPacket,
        &[
            "nat64-fragments-outbound-*",
            "nat64-icmp-query-other-host",
            "nat64-tcp-handshake",
            "nat64-tcp-simultaneous-open",
            "nat64-udp-hairpin-*",
            "nat64-udp-mapping-*",
            "nat64-udp-same-session",
        ],
    ),
    nat64(
        Fault::MappingPerAddressAfterConflict,
        &[
            "nat64-tcp-mapping-in-conflict",
            "nat64-udp-mapping-in-conflict",
        ],
    ),
    nat64(
        Fault::PortOverlapped,
        &[
            "nat64-tcp-mapping-in-conflict",
            "nat64-udp-mapping-in-conflict",
        ],
    ),
    nat64(
        Fault::PortOverloaded,
        &[
            "nat64-error-inward-after-conflict",
            "nat64-icmp-query-unique",
            "nat64-tcp-unique",
            "nat64-udp-reply-after-conflict",
            "nat64-udp-unique",
        ],
    ),
    nat64(Fault::PoolArbitrary, &["nat64-udp-pooling"]),
    nat64(Fault::LowPortsRaised, &["nat64-udp-port-range-low"]),
    nat64(Fault::HighPortsLowered, &["nat64-udp-port-range-high"]),
    nat64(Fault::ParityIgnored, &["nat64-udp-port-parity-*"]),
    nat64(
        Fault::ConflictDropped,
        &[
            "nat64-tcp-unique",
            "nat64-udp-port-parity-*",
            "nat64-udp-unique",
        ],
    ),
    nat64(
        Fault::ChangedPortForgotten,
        &[
            "nat64-error-inward-after-conflict",
            "nat64-icmp-query-unique",
            "nat64-tcp-unique",
            "nat64-udp-reply-after-conflict",
            "nat64-udp-unique",
        ],
    ),
    nat64(Fault::TtlKept, &["nat64-hop-*"]),
    nat64(Fault::UdpSumComputed, &["nat64-udp-no-checksum"]),
    nat64(
        Fault::InsideNotTranslated,
        &[
            "nat64-class-outward",
            "nat64-df-*",
            "nat64-hop-limit-outward",
            "nat64-icmp-query",
            "nat64-tcp-handshake",
            "nat64-tcp-no-syn-from-ipv6",
            "nat64-udp-mapping",
            "nat64-udp-port-range-*",
        ],
    ),
    nat64(
        Fault::UdpTimerOneMinute,
        &[
            "nat64-udp-refresh-outbound",
            "nat64-udp-timer",
            "nat64-udp-timer-*",
        ],
    ),
    nat64(
        Fault::UdpTimerThreeMinutes,
        &[
            "nat64-udp-refresh-outbound",
            "nat64-udp-timer",
            "nat64-udp-timer-5-minutes",
        ],
    ),
    nat64(Fault::UdpTimerFourMinutes, &["nat64-udp-timer-5-minutes"]),
    nat64(
        Fault::TransitoryTimerOneMinute,
        &["nat64-tcp-timer-4-minutes", "nat64-tcp-timer-transitory"],
    ),
    nat64(
        Fault::EstablishedTimerTenMinutes,
        &["nat64-tcp-timer-2-hours", "nat64-tcp-timer-established"],
    ),
    nat64(
        Fault::IcmpTimerHalfMinute,
        &["nat64-icmp-timer", "nat64-icmp-timer-60-seconds"],
    ),
    nat64(Fault::NoOutboundRefresh, &["nat64-udp-refresh-outbound"]),
    nat64(
        Fault::NoInboundRefreshAndRefused,
        &[
            "nat64-icmp-query-unsolicited",
            "nat64-tcp-no-syn-from-ipv4",
            "nat64-tcp-unsolicited-syn",
            "nat64-udp-refresh-inbound",
        ],
    ),
    nat64(
        Fault::FilteredByPort,
        &["nat64-icmp-query-unique", "nat64-udp-filter-other-port"],
    ),
    nat64(
        Fault::UnsolicitedRefused,
        &[
            "nat64-icmp-query-unsolicited",
            "nat64-tcp-no-syn-from-ipv4",
            "nat64-tcp-unsolicited-syn",
        ],
    ),
    nat64(
        Fault::ProtocolIgnored,
        &[
            "nat64-icmp-query-reply",
            "nat64-icmp-query-unique",
            "nat64-icmp-timer",
            "nat64-icmp-timer-60-seconds",
            "nat64-tcp-handshake",
            "nat64-tcp-simultaneous-open",
            "nat64-tcp-timer-4-minutes",
            "nat64-tcp-timer-transitory",
            "nat64-tcp-unique",
        ],
    ),
    nat64(
        Fault::NoHairpinning,
        &[
            "nat64-tcp-hairpin",
            "nat64-udp-hairpin",
            "nat64-udp-hairpin-source",
        ],
    ),
    nat64(Fault::HairpinInternalSource, &["nat64-udp-hairpin-*"]),
    nat64(Fault::HairpinOtherSourcePort, &["nat64-udp-hairpin-*"]),
    nat64(Fault::FragmentsDropped, &["nat64-fragments-*"]),
    nat64(
        Fault::FragmentsOrdered,
        &[
            "nat64-fragments-inbound-out-of-order",
            "nat64-fragments-outbound-out-of-order",
        ],
    ),
    nat64(Fault::TcpDropped, &["nat64-tcp-handshake"]),
    nat64(
        Fault::TcpDataDropped,
        &["nat64-tcp-data", "nat64-tcp-rst-not-accepted"],
    ),
    nat64(
        Fault::SynAckDropped,
        &[
            "nat64-tcp-handshake",
            "nat64-tcp-simultaneous-open",
            "nat64-tcp-timer-4-minutes",
            "nat64-tcp-timer-transitory",
            "nat64-tcp-unique",
        ],
    ),
    nat64(Fault::SynAgainMappedAnew, &["nat64-tcp-mapping-*"]),
    nat64(Fault::SynNotNeeded, &["nat64-tcp-no-syn-from-ipv6"]),
    nat64(Fault::InboundSynBlocked, &["nat64-tcp-simultaneous-open"]),
    nat64(
        Fault::OutboundSynAckBlocked,
        &["nat64-tcp-simultaneous-open"],
    ),
    nat64(Fault::FinDropped, &["nat64-tcp-close"]),
    nat64(Fault::HalfClosedDropped, &["nat64-tcp-half-close"]),
    nat64(Fault::ClosedAtFirstFin, &["nat64-tcp-close"]),
    nat64(Fault::SynRefusedAtOnce, &["nat64-tcp-unsolicited-syn"]),
    nat64(Fault::SynProhibited, &["nat64-tcp-unsolicited-syn-error"]),
    nat64(Fault::RstDropped, &["nat64-tcp-rst"]),
    nat64(
        Fault::RstEndsSession,
        &["nat64-tcp-rst", "nat64-tcp-rst-not-accepted"],
    ),
    nat64(
        Fault::ErrorsDropped,
        &["nat64-error-inward", "nat64-error-inward-*"],
    ),
    nat64(
        Fault::ErrorsFilteredBySource,
        &["nat64-error-inward-router"],
    ),
    nat64(Fault::ErrorEndsMapping, &["nat64-error-keeps-mapping"]),
    nat64(
        Fault::InsideErrorEndsMapping,
        &["nat64-error-outward-keeps-mapping"],
    ),
    nat64(
        Fault::MtuChanged,
        &["nat64-error-inward-mtu", "nat64-error-outward-mtu"],
    ),
    nat64(
        Fault::CodeChanged,
        &[
            "nat64-error-inward",
            "nat64-error-inward-*",
            "nat64-error-outward",
            "nat64-error-outward-after-conflict",
            "nat64-error-outward-mtu",
        ],
    ),
    nat64(
        Fault::InnerNotReverted,
        &[
            "nat64-error-inward",
            "nat64-error-inward-*",
            "nat64-error-outward",
            "nat64-error-outward-after-conflict",
            "nat64-error-outward-mtu",
        ],
    ),
    nat64(
        Fault::InnerPortNotReverted,
        &[
            "nat64-error-inward-after-conflict",
            "nat64-error-outward-after-conflict",
        ],
    ),
    nat64(
        Fault::OuterDestinationKept,
        &["nat64-error-inward", "nat64-error-inward-*"],
    ),
    nat64(
        Fault::OutwardErrorDropped,
        &[
            "nat64-error-outward",
            "nat64-error-outward-after-conflict",
            "nat64-error-outward-mtu",
        ],
    ),
    nat64(Fault::NoTimeExceeded, &["nat64-time-exceeded-inward"]),
    nat64(
        Fault::TimeExceededInsideForm,
        &["nat64-time-exceeded-inward"],
    ),
    nat64(Fault::QueryDropped, &["nat64-icmp-query"]),
    nat64(
        Fault::ResponseDropped,
        &[
            "nat64-icmp-query-reply",
            "nat64-icmp-query-unique",
            "nat64-icmp-timer",
            "nat64-icmp-timer-60-seconds",
        ],
    ),
    nat64(Fault::QueryPerHost, &["nat64-icmp-query-other-host"]),
    nat64(Fault::QueryIdKept, &["nat64-icmp-query-unique"]),
    filtering_nat64(
        Fault::UnsolicitedRefused,
        &[
            "nat64-icmp-query-unsolicited",
            "nat64-tcp-filter-other-address",
            "nat64-tcp-no-syn-from-ipv4",
            "nat64-tcp-unsolicited-syn",
            "nat64-udp-filter-other-address",
        ],
    ),
    filtering_nat64(
        Fault::SynRefusedAtOnce,
        &[
            "nat64-tcp-filter-other-address",
            "nat64-tcp-unsolicited-syn",
        ],
    ),
    translator64(
        Side::Ipv6,
        TranslatorFault::ClassZeroed,
        &["nat64-class-outward"],
    ),
    translator64(
        Side::Ipv6,
        TranslatorFault::HopLimitKept,
        &["nat64-hop-limit-outward"],
    ),
    translator64(
        Side::Ipv6,
        TranslatorFault::DfSetOnSmall,
        &["nat64-df-small"],
    ),
    translator64(
        Side::Ipv6,
        TranslatorFault::DfClearOnLarge,
        &["nat64-df-large"],
    ),
    translator64(
        Side::Ipv6,
        TranslatorFault::NoTimeExceeded,
        &["nat64-time-exceeded-outward"],
    ),
    translator64(
        Side::Ipv6,
        TranslatorFault::MtuKept,
        &["nat64-error-outward-mtu"],
    ),
    translator64(
        Side::Ipv6,
        TranslatorFault::Dropped,
        &[
            "nat64-class-outward",
            "nat64-df-*",
            "nat64-hop-limit-outward",
            "nat64-icmp-query",
            "nat64-tcp-handshake",
            "nat64-udp-mapping",
            "nat64-udp-port-range-*",
        ],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::ClassZeroed,
        &["nat64-class-inward"],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::FlowLabelUsed,
        &["nat64-flow-label"],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::HopLimitKept,
        &["nat64-hop-limit-inward"],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::MtuKept,
        &["nat64-error-inward-mtu"],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::NoUdpSumForwarded,
        &["nat64-udp-no-checksum"],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::InnerAddressesSwapped,
        &[
            "nat64-error-inward",
            "nat64-error-inward-*",
            "nat64-other-protocol-ipv6",
        ],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::Dropped,
        &[
            "nat64-class-inward",
            "nat64-error-inward",
            "nat64-error-inward-*",
            "nat64-error-keeps-mapping",
            "nat64-flow-label",
            "nat64-fragments-inbound-*",
            "nat64-hop-limit-inward",
            "nat64-icmp-query-reply",
            "nat64-icmp-query-unique",
            "nat64-icmp-timer",
            "nat64-icmp-timer-60-seconds",
            "nat64-tcp-handshake",
            "nat64-tcp-simultaneous-open",
            "nat64-tcp-timer-4-minutes",
            "nat64-tcp-timer-transitory",
            "nat64-tcp-unique",
            "nat64-udp-filter-other-port",
            "nat64-udp-hairpin",
            "nat64-udp-hairpin-source",
            "nat64-udp-no-checksum",
            "nat64-udp-refresh-outbound",
            "nat64-udp-reply",
            "nat64-udp-reply-after-conflict",
            "nat64-udp-timer",
            "nat64-udp-timer-*",
            "nat64-udp-unique",
            "nat64-udp-sum-ffff",
        ],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::UdpSumZero,
        &["nat64-udp-sum-ffff"],
    ),
    own64(Fault64::PrefixSourceAccepted, &["nat64-prefix-source"]),
    nat64(
        Fault::UnsolicitedForwarded,
        &[
            "nat64-icmp-query-unsolicited",
            "nat64-tcp-no-syn-from-ipv4",
            "nat64-tcp-unsolicited-syn",
            "nat64-udp-unsolicited",
        ],
    ),
    nat64(Fault::UnmappedErrorForwarded, &["nat64-error-unmapped"]),
    own64(
        Fault64::ProtocolUnreachableAsPort,
        &["nat64-other-protocol-ipv4"],
    ),
    own64(Fault64::ErrorInErrorForwarded, &["nat64-error-in-error"]),
];
