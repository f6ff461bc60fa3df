//! Faults with which the reference relays can be rigged, one clause each.

use crate::tests::nat::reference::fault::Fault as NatFault;

/// A fault of a relay, a lwAFTR, a border relay or an AFTR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// Nothing enters the tunnel.
    EncapDropped,
    /// Nothing leaves the tunnel.
    DecapDropped,
    /// Every packet goes to the end of the tunnel that is used most.
    EndCached,
    /// The tunnel header comes from another address than the relay's.
    SourceOfLink,
    /// The hop limit or TTL is not lowered at encapsulation.
    EncapHopsKept,
    /// The hop limit or TTL is not lowered at decapsulation.
    DecapHopsKept,
    /// No error is sent when the hop limit or TTL ends.
    NoTimeExceeded,
    /// The hop limit of the tunnel header is that of the packet in it.
    OuterHopsCopied,
    /// The hop limit of a packet that leaves the tunnel is that of the tunnel header.
    InnerHopsFromOuter,
    /// A tunnel header whose hop limit or TTL is 1 is not for this node.
    OuterHopsChecked,
    /// The class in the tunnel header is another one.
    OuterClassInvented,
    /// The class in the tunnel header is zero but for ECN.
    OuterClassZero,
    /// The class of the packet is cleared as it enters the tunnel.
    InnerClassCleared,
    /// The class of the packet stays as it leaves, whatever the tunnel header has.
    InnerClassKept,
    /// The class and the flow label of the packet are cleared as it leaves the tunnel.
    InnerHeaderCleared,
    /// Identification and Don't Fragment of the packet are cleared as it enters the tunnel.
    InnerFlagsCleared,
    /// Congestion Experienced becomes ECT(0) in the tunnel header (RFC 3168 section 9.1.1).
    EncapCeHidden,
    /// ECT(1) and ECT(0) are exchanged in the tunnel header.
    EncapEctExchanged,
    /// The ECN field of the tunnel header is ignored.
    DecapEcnIgnored,
    /// The ECN field of the tunnel header is taken if that of the packet says that it has no ECN.
    DecapEcnForced,
    /// Congestion Experienced is forwarded as no ECN instead of dropped.
    DecapCeCleared,
    /// ECT(1) and ECT(0) are of the same severity.
    DecapEctEqual,
    /// Whatever the packet has is replaced by the tunnel header's ECN field.
    DecapEcnReplaced,
    /// Don't Fragment is set in the tunnel header.
    DfSet,
    /// Packets of more than 1,232 octets do not enter the tunnel.
    MtuBelowMinimum,
    /// The tunnel's MTU is one octet too small.
    MtuOneTooSmall,
    /// The error about a packet that is too big says the MTU of the link.
    TooBigNotReduced,
    /// Errors about the path MTU in the tunnel are ignored, and so is the link's own MTU.
    MtuIgnored,
    /// Don't Fragment is ignored.
    DfIgnored,
    /// An error is sent although Don't Fragment is clear.
    ErrorWithoutDf,
    /// The packet is fragmented before it is encapsulated.
    FragmentedInside,
    /// Errors from inside the tunnel are relayed with another code.
    ErrorCodeWrong,
    /// Errors from inside the tunnel are forwarded as they are.
    ErrorForwarded,
    /// Errors from inside the tunnel about hop limits and limits of encapsulation are ignored.
    ErrorsIgnored,
    /// Padding behind the packet is kept.
    PaddingKept,
    /// Packets of more than 1280 octets do not leave the tunnel.
    LargeDropped,
    /// Fragments are not reassembled.
    NoReassembly,
    /// Fragments are reassembled only in their order.
    ReassemblyInOrder,
    /// Fragments are reassembled whatever their identification.
    IdentificationIgnored,
    /// Sources that no host has leave the tunnel.
    InvalidSourcePassed,
    /// The source of the packet is not compared with that of the tunnel header.
    SourceUnchecked,
    /// Sources without an embedded address are not checked.
    NativeSourcePassed,
    /// Only the first octets of the source are compared.
    SourceNetworkChecked,
    /// The destination of the packet is not compared with that of the tunnel header.
    DestinationUnchecked,
    /// Destinations that no host has leave the tunnel.
    InvalidDestinationPassed,
    /// Addresses embedded in sources may be any.
    EmbeddedSourceUnchecked,
    /// Addresses embedded in destinations may be any.
    EmbeddedDestinationUnchecked,
    /// The source of what enters the tunnel may be any.
    EncapSourceUnchecked,
    /// What goes back to the tunnel that it came from is dropped.
    ReflectedDropped,
    /// The extension headers of the tunnel header are not skipped.
    ExtensionsDropped,
    /// A limit of zero is the reason to drop a packet at the exit.
    LimitChecked,
    /// The last port of a set is not in it.
    LastPortLost,
    /// The port before a set is in it.
    PortBelowTaken,
    /// Of the ranges of a port set, only the first is known.
    OneRange,
    /// The last range of a port set is not known.
    LastRangeLost,
    /// The ports that no set has are those of the first subscriber in their place.
    ExcludedTaken,
    /// Ports of TCP are not looked at on the way up.
    TcpPortUnchecked,
    /// Only UDP is known: everything else is dropped.
    OnlyUdp,
    /// Identifiers of ICMP are not looked at on the way up.
    IdentifierUnchecked,
    /// ICMP to a shared address is dropped.
    IcmpDropped,
    /// ICMP goes to the first subscriber at its address.
    IcmpToFirst,
    /// The port in a packet in error is not read.
    ErrorsDropped,
    /// ICMP messages of other types go to the first subscriber.
    OtherIcmpPassed,
    /// Ports are not looked at on the way up.
    PortUnchecked,
    /// The source of the tunnel header is not looked at.
    TunnelUnchecked,
    /// The address of the packet is not looked at.
    AddressUnchecked,
    /// Subscribers do not reach each other.
    NoHairpin,
    /// Discarded packets are told, although they must be so silently.
    DiscardTold,
    /// Discarded packets are not told, although they should be.
    DiscardSilent,
    /// Fragments from outside are dropped.
    FragmentsDropped,
    /// The NAT keeps the source address.
    SourceKept,
    /// The binding table does not know from which tunnel a packet came.
    TunnelForgotten,
    /// A fault of the NAT.
    Nat(NatFault),
    /// The softwire of an earlier subscriber with the same address is taken.
    OverlappingDropped,
    /// The checksum of TCP is not updated.
    TcpSumKept,
    /// A UDP checksum that comes out as zero is sent as zero.
    UdpSumZero,
    /// The errors of the device come from its address on another link.
    ErrorFromLink,
}
