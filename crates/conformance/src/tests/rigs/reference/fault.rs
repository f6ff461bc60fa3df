//! Faults with which the reference translator can be rigged, one clause each.

/// A fault, in what comes from one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// Nothing is translated.
    Dropped,
    /// Type of Service and Traffic Class are taken as numbers of six bits.
    ClassShifted,
    /// The two bits of ECN are cleared.
    EcnCleared,
    /// Type of Service and Traffic Class are zero.
    ClassZeroed,
    /// The Flow Label is not zero; from IPv6 to IPv4, it spoils the Type of Service.
    FlowLabelUsed,
    /// The length field loses its highest bits.
    LengthCut,
    /// The hop limit is not decremented.
    HopLimitKept,
    /// No error is sent when the hop limit ends.
    NoTimeExceeded,
    /// Protocols other than TCP, UDP and ICMP are dropped.
    OtherProtocolsDropped,
    /// The TCP checksum is not updated.
    TcpSumKept,
    /// The UDP checksum is not updated if the datagram has an odd length.
    UdpOddSumKept,
    /// A UDP checksum that comes out as zero is sent as zero.
    UdpSumZero,
    /// A UDP datagram without a checksum is forwarded without one.
    NoUdpSumForwarded,
    /// A first fragment of UDP without a checksum gets one over the fragment.
    NoUdpSumFragmentSummed,
    /// Packets with options are dropped.
    OptionsDropped,
    /// Options are left in front of the data.
    OptionsKept,
    /// A source route is ignored like any option; a Routing header whatever its Segments Left.
    SourceRouteIgnored,
    /// Illegal sources are translated.
    IllegalSourceTranslated,
    /// The hop limit is checked before the source address.
    ErrorToIllegalSource,
    /// The header checksum is not checked.
    HeaderSumUnchecked,
    /// A header length below 5 is taken as 5.
    HeaderLengthUnchecked,
    /// The version is not checked.
    VersionUnchecked,
    /// A Total Length that does not hold the header is ignored.
    TotalLengthUnchecked,
    /// A truncated packet is translated as it is.
    TruncatedForwarded,
    /// A Fragment header is added if DF is clear and the packet is exactly as long as fits.
    FragmentHeaderAtLimit,
    /// A Fragment header is added if DF is clear and the identification is zero.
    FragmentHeaderWithoutId,
    /// A Fragment header is added if DF is set.
    FragmentHeaderWithDf,
    /// A packet with DF clear is never fragmented.
    NeverFragmented,
    /// Packets that become larger than 1280 octets are dropped although the link carries them.
    LinkTakenAs1280,
    /// No error is sent about a packet that is too big.
    NoTooBig,
    /// The error about a packet that is too big gives the MTU of the IPv6 link.
    TooBigNotReduced,
    /// The identification of fragments is zero.
    IdentificationDropped,
    /// The offset of fragments is zero.
    OffsetDropped,
    /// The offset of fragments loses its highest bit.
    OffsetCut,
    /// More Fragments is never set.
    MoreFragmentsDropped,
    /// Fragments of ICMP are translated.
    IcmpFragmentsTranslated,
    /// A packet of 49 octets of data lets the next one pass.
    Overtaken,
    /// The type of echoes is not translated.
    EchoTypeKept,
    /// The identifier of echoes is lost.
    EchoIdentifierLost,
    /// Messages that have no counterpart are forwarded.
    UntranslatableForwarded,
    /// IGMP is forwarded.
    IgmpForwarded,
    /// The code of Destination Unreachable is not translated.
    UnreachableCodeKept,
    /// Protocol Unreachable, or Unrecognized Next Header, is translated like an unreachable host.
    ProtocolUnreachableAsHost,
    /// Codes of Destination Unreachable that are to be dropped become an unreachable host.
    UnknownCodeTranslated,
    /// The MTU in errors is not adjusted.
    MtuKept,
    /// The MTU in errors may be below the minimum of IPv6.
    MtuBelowMinimum,
    /// The MTU in errors may be above that of the links.
    MtuUncapped,
    /// The MTU in an error about a fragment is that of the link's least.
    FragmentMtuKept,
    /// An MTU of zero is taken as it is.
    PlateauIgnored,
    /// The plateau may be as large as the Total Length.
    PlateauAsLarge,
    /// The plateau may be below the minimum of IPv6.
    PlateauBelowMinimum,
    /// The code of Time Exceeded is zero.
    TimeExceededCodeZero,
    /// The pointer is not translated.
    PointerKept,
    /// The pointer is one too large.
    PointerOffByOne,
    /// Parameter Problems with any code are translated like code 0.
    ParameterProblemCodesIgnored,
    /// Code 2 of an ICMPv4 Parameter Problem is dropped.
    BadLengthDropped,
    /// The length attribute of RFC 4884 is not adjusted.
    ExtensionLengthKept,
    /// What stands before an extension is not padded.
    ExtensionUnpadded,
    /// The extension of RFC 4884 is cut off.
    ExtensionCut,
    /// The hop limit of the packet in error is decremented.
    InnerHopLimitDecremented,
    /// Type of Service and Traffic Class of the packet in error are lost but for their highest bit.
    InnerClassCut,
    /// The TCP checksum in the packet in error is not updated.
    InnerTcpSumKept,
    /// The UDP checksum in the packet in error is not updated, if the datagram has an odd length.
    InnerUdpSumKept,
    /// The checksum of an echo in the packet in error is not updated.
    InnerEchoSumKept,
    /// The checksum of the IPv4 header in error is zero, if its Total Length is 68.
    InnerHeaderSumZero,
    /// The type of an echo in the packet in error is not translated.
    InnerEchoKept,
    /// The length of the packet in error is that of the octets quoted.
    InnerLengthOfQuoted,
    /// Packets in error with options or extension headers are dropped.
    InnerExtensionsDropped,
    /// A packet in error that is a fragment loses what it says of that.
    InnerFragmentLost,
    /// A packet in error of another protocol is dropped.
    InnerProtocolDropped,
    /// The addresses of a packet in error are swapped.
    InnerAddressesSwapped,
    /// A packet in error that is an error is translated.
    InnerErrorTranslated,
    /// Errors are sent about errors.
    ErrorAboutError,
    /// Errors are sent about fragments other than the first.
    ErrorAboutFragment,
    /// The error about an address without a mapping has another code.
    UnmappedWrongCode,
    /// Packets of up to 1260 octets have DF set.
    DfSetOnSmall,
    /// Packets of more than 1260 octets have DF clear.
    DfClearOnLarge,
    /// DF is set from 1260 octets on.
    DfSetAt1260,
    /// Fragments have DF set.
    DfSetOnFragments,
    /// Extension headers are not skipped.
    ExtensionsDropped,
    /// At most four extension headers are skipped.
    FourExtensionsSkipped,
    /// The error about a Routing header points to its first octet.
    SegmentsLeftPointerWrong,
    /// A Fragment header is skipped like the others.
    FragmentHeaderSkipped,
    /// A fragment in which an extension header follows is translated.
    ExtensionAfterFragmentTranslated,
    /// ESP after a Fragment header is dropped like extension headers.
    EspFragmentDropped,
    /// The source of an error that has no mapping is the reason to drop it.
    UnmappedErrorDropped,
    /// An address without a mapping is taken for its last four octets.
    LastOctetsTaken,
}
