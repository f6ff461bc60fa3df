//! The faults with which the reference NAT can be rigged: each breaks one clause.

use crate::frame::Side;
use crate::tests::rigs::reference::fault::Fault as TranslatorFault;

/// A fault of a NAT64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault64 {
    /// One of its NAT.
    Nat(Fault),
    /// One of its translator, for packets from a side.
    Translator {
        from: Side,
        fault: TranslatorFault,
    },
    PrefixSourceAccepted,
    OtherProtocolsSilent,
    ProtocolUnreachableAsPort,
    FullPoolAsProhibited,
    /// In both of its parts.
    ErrorInErrorForwarded,
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fault {
    // Mappings.
    OutboundDropped,
    InboundDropped,
    MappingPerAddress,
    MappingPerPort,
    MappingPerPacket,
    MappingPerAddressAfterConflict,
    PortOverlapped,
    PortOverloaded,
    PoolArbitrary,
    LowPortsRaised,
    HighPortsLowered,
    ParityIgnored,
    ConflictDropped,
    ChangedPortForgotten,
    TtlKept,
    UdpSumComputed,
    InsideNotTranslated,
    // A full pool.
    FullPoolSilent,
    FullPoolOverloaded,
    FullPoolStolen,
    FullPoolForgets,
    FullPoolHostUnreachable,
    ExpiredKeepsPort,
    // Timers.
    UdpTimerOneMinute,
    UdpTimerThreeMinutes,
    UdpTimerFourMinutes,
    TransitoryTimerOneMinute,
    EstablishedTimerTenMinutes,
    IcmpTimerHalfMinute,
    NoOutboundRefresh,
    NoInboundRefresh,
    NoInboundRefreshAndRefused,
    FilteredRefreshes,
    ErrorRefreshes,
    // Filters.
    FilteredByPort,
    FilteredByPortAloneForTcp,
    UnsolicitedForwarded,
    UnsolicitedRefused,
    ProtocolIgnored,
    // Hairpinning.
    NoHairpinning,
    HairpinInternalSource,
    HairpinOtherSourcePort,
    HairpinErrorDropped,
    // Fragments.
    FragmentsDropped,
    FragmentsOrdered,
    // TCP.
    TcpDropped,
    TcpDataDropped,
    SynAckDropped,
    SynAgainMappedAnew,
    SynNotNeeded,
    InboundSynBlocked,
    OutboundSynAckBlocked,
    FinDropped,
    HalfClosedDropped,
    ClosedAtFirstFin,
    SynRefusedAtOnce,
    SynRefusedDespiteOutbound,
    SynDropped,
    SynProhibited,
    RstDropped,
    RstEndsSession,
    RstEndsSessionSoon,
    // Errors of ICMP.
    ErrorsDropped,
    ErrorsFilteredBySource,
    ErrorEndsMapping,
    InsideErrorEndsMapping,
    MtuChanged,
    CodeChanged,
    InnerErrorForwarded,
    BadSumForwarded,
    BadInnerHeaderForwarded,
    OptionsNotTraversed,
    InnerTransportChecked,
    CutErrorDropped,
    InnerNotReverted,
    InnerPortNotReverted,
    InnerSumsKept,
    UnmappedErrorForwarded,
    OuterDestinationKept,
    RouterSourceKept,
    OutwardErrorDropped,
    NoTimeExceeded,
    TimeExceededInsideForm,
    DsFieldZero,
    // Queries of ICMP.
    QueryDropped,
    ResponseDropped,
    QueryPerHost,
    QueryIdKept,
}
