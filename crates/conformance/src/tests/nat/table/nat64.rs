//! Rigs of the NAT64.

use super::RigRow;
use crate::frame::Side;
use crate::tests::nat::reference::fault::{Fault, Fault64};
use crate::tests::nat::reference::nat::Filtering;
use crate::tests::rigs::reference::fault::Fault as TranslatorFault;

/// Faults that are none, but choices which the text allows, each with a vector that says so.
pub(in crate::tests::nat) const CHOICES: &[(Fault64, &str)] = &[
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
    (Fault64::Nat(Fault::FullPoolSilent), "nat64-full-udp-unique"),
];

const fn own64(fault: Fault64, fails: &'static [&'static str]) -> RigRow<Fault64> {
    RigRow {
        fault,
        filtering: Filtering::EndpointIndependent,
        fails,
    }
}

const fn nat64(fault: Fault, fails: &'static [&'static str]) -> RigRow<Fault64> {
    own64(Fault64::Nat(fault), fails)
}

const fn translator64(
    from: Side,
    fault: TranslatorFault,
    fails: &'static [&'static str],
) -> RigRow<Fault64> {
    own64(Fault64::Translator { from, fault }, fails)
}

const fn filtering_nat64(fault: Fault, fails: &'static [&'static str]) -> RigRow<Fault64> {
    RigRow {
        filtering: Filtering::AddressDependent,
        ..nat64(fault, fails)
    }
}

pub(in crate::tests::nat) const RIGS: &[RigRow<Fault64>] = &[
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
            "nat64-full-keeps-udp",
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
            "nat64-full-keeps-udp",
            "nat64-full-tcp",
            "nat64-full-tcp-unique",
            "nat64-full-udp",
            "nat64-full-udp-unique",
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
            "nat64-full-keeps-udp",
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
            "nat64-full-keeps-udp",
            "nat64-full-tcp",
            "nat64-full-tcp-unique",
            "nat64-full-udp",
            "nat64-full-udp-unique",
            "nat64-error-inward",
            "nat64-error-inward-*",
            "nat64-other-protocol-ipv6",
        ],
    ),
    translator64(
        Side::Ipv4,
        TranslatorFault::Dropped,
        &[
            "nat64-full-keeps-udp",
            "nat64-full-tcp",
            "nat64-full-udp",
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
    nat64(Fault::FullPoolSilent, &["nat64-full-tcp", "nat64-full-udp"]),
    own64(
        Fault64::FullPoolAsProhibited,
        &[
            "nat64-full-keeps-udp",
            "nat64-full-tcp*",
            "nat64-full-udp",
            "nat64-full-udp-unique",
        ],
    ),
    nat64(
        Fault::FullPoolOverloaded,
        &[
            "nat64-full-keeps-udp",
            "nat64-full-tcp*",
            "nat64-full-udp",
            "nat64-full-udp-unique",
        ],
    ),
    nat64(
        Fault::FullPoolStolen,
        &[
            "nat64-full-keeps-udp",
            "nat64-full-tcp*",
            "nat64-full-udp",
            "nat64-full-udp-unique",
        ],
    ),
    nat64(Fault::FullPoolForgets, &["nat64-full-keeps-udp"]),
    nat64(Fault::ExpiredKeepsPort, &["nat64-full-udp-after-timer"]),
];
