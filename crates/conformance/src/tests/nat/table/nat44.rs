//! Rigs of the NAT44.

use super::RigRow;
use crate::tests::nat::reference::fault::Fault;
use crate::tests::nat::reference::nat::Filtering;

/// Vectors of a choice that the reference does not make.
pub(in crate::tests::nat) const NOT_RIGHT_BUT_ALLOWED: &[&str] = &[
    "cgn-full-drops-tcp",
    "cgn-full-drops-udp",
    "cgn-full-error-tcp",
    "cgn-full-error-udp",
    "cgn-full-keeps-tcp",
    "cgn-full-keeps-udp",
    "nat-port-overlapping",
];

/// Faults that are none, but choices which the text allows, each with a vector that says so.
pub(in crate::tests::nat) const CHOICES: &[(Fault, &str)] = &[
    (Fault::ParityIgnored, "udp-port-parity-even"),
    (Fault::ParityIgnored, "udp-port-parity-odd"),
    (Fault::NoInboundRefresh, "udp-refresh-inbound"),
    (Fault::SynDropped, "tcp-unsolicited-syn-error"),
    (Fault::FullPoolSilent, "udp-full-port-overloading"),
    (Fault::FullPoolSilent, "tcp-full-port-overloading"),
    (Fault::FullPoolHostUnreachable, "icmp-full-udp"),
    (Fault::FullPoolHostUnreachable, "icmp-full-tcp"),
    (Fault::FullPoolHostUnreachable, "cgn-full-drops-tcp"),
    (Fault::FullPoolHostUnreachable, "cgn-full-drops-udp"),
];

const fn rig(fault: Fault, fails: &'static [&'static str]) -> RigRow<Fault> {
    RigRow {
        fault,
        filtering: Filtering::EndpointIndependent,
        fails,
    }
}

/// A rig of a NAT whose filtering depends on the address.
const fn filtering_rig(fault: Fault, fails: &'static [&'static str]) -> RigRow<Fault> {
    RigRow {
        filtering: Filtering::AddressDependent,
        ..rig(fault, fails)
    }
}

pub(in crate::tests::nat) const RIGS: &[RigRow<Fault>] = &[
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
            "cgn-full-keeps-*",
            "icmp-full-keeps-*",
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
            "cgn-full-*",
            "icmp-full-*",
            "tcp-full-port-overloading",
            "udp-full-port-overloading",
            "icmp-error-inward-after-conflict",
            "icmp-query-two-hosts",
            "tcp-port-overloading",
            "udp-port-overloading",
            "udp-reply-after-conflict",
        ],
    ),
    rig(
        Fault::PoolArbitrary,
        &["cgn-paired-across-protocols", "udp-pooling-paired"],
    ),
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
            "cgn-full-keeps-*",
            "icmp-full-keeps-*",
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
            "cgn-full-keeps-tcp",
            "icmp-full-keeps-tcp",
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
    rig(
        Fault::TcpDropped,
        &["cgn-paired-across-protocols", "tcp-handshake"],
    ),
    rig(
        Fault::TcpDataDropped,
        &["tcp-data", "tcp-icmp-keeps-connection"],
    ),
    rig(
        Fault::SynAckDropped,
        &[
            "cgn-full-keeps-tcp",
            "icmp-full-keeps-tcp",
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
    rig(
        Fault::QueryDropped,
        &["cgn-paired-across-protocols", "icmp-query"],
    ),
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
    rig(
        Fault::FullPoolSilent,
        &["cgn-full-error-*", "icmp-full-tcp", "icmp-full-udp"],
    ),
    rig(
        Fault::FullPoolOverloaded,
        &[
            "cgn-full-*",
            "icmp-full-*",
            "tcp-full-port-overloading",
            "udp-full-port-overloading",
        ],
    ),
    rig(
        Fault::FullPoolStolen,
        &[
            "cgn-full-*",
            "icmp-full-*",
            "tcp-full-port-overloading",
            "udp-full-port-overloading",
        ],
    ),
    rig(
        Fault::FullPoolForgets,
        &["cgn-full-keeps-*", "icmp-full-keeps-*"],
    ),
    rig(
        Fault::ExpiredKeepsPort,
        &[
            "nat-error-no-refresh",
            "tcp-full-after-timer",
            "udp-full-after-timer",
        ],
    ),
];
