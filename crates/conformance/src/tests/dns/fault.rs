//! The faults of rigged servers, each of which breaks one rule.

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DnsFault {
    /// It synthesises for a query of any class.
    SynthesisInChaos,
    /// It adds synthetic records to real ones.
    SynthesisBesideAaaa,
    /// It returns the first AAAA record alone.
    FirstAaaaAlone,
    /// It asks for A records after NXDOMAIN.
    NxdomainTriesA,
    /// It returns an empty answer instead of NXDOMAIN.
    NxdomainBecomesEmpty,
    /// It returns any other error of the query for AAAA records.
    ErrorReturned,
    /// It returns no answer after a timeout.
    TimeoutSilent,
    /// It returns an empty answer instead of an error of the query for A records.
    ErrorOfABecomesEmpty,
    /// It does not exclude mapped addresses.
    MappedReturned,
    /// It returns mapped addresses beside others.
    MappedBesideReal,
    /// It treats an answer with a mapped address among others as empty, which is allowed.
    MappedEmpties,
    /// It leaves aliases out of a synthesised answer.
    ChainLeftOut,
    /// It does not follow aliases to A records.
    ChainNotFollowed,
    /// It leaves DNAME records out of a synthesised answer.
    DnameLeftOut,
    /// It gives synthetic records the name of the query.
    OwnerOfQuery,
    /// It synthesises from the first A record alone.
    FirstAAlone,
    /// It leaves the A records in the answer.
    ARecordsKept,
    /// It has the TTL of the A record.
    TtlOfA,
    /// It has the TTL of the SOA record.
    TtlOfSoa,
    /// It does not limit the TTL where there is no SOA record.
    TtlWithoutLimit,
    /// It synthesises with the octets of the IPv4 address reversed.
    WrongAddress,
    /// It synthesises from addresses that are not global.
    NotGlobalSynthesised,
    /// It does not synthesise for a name with an address that is not global.
    NotGlobalEmpties,
    /// It has no answer of its own for PTR queries.
    PtrNotRecognised,
    /// It synthesises a CNAME record whatever there is in IN-ADDR.ARPA.
    PtrUnchecked,
    /// It answers PTR queries with RDATA of its own, which is allowed.
    PtrOwnData,
    /// It answers PTR queries under any prefix with RDATA of its own.
    PtrOfEveryPrefix,
    /// It refuses PTR queries for IPv4 addresses.
    PtrInAddrRefused,
    /// It adds AAAA records to the additional section.
    AdditionalSynthesised,
    /// It answers queries for A records with AAAA records.
    AQuerySynthesised,
    /// It refuses queries for other types than A, AAAA and PTR.
    OtherTypesRefused,
    /// It synthesises in the answer to a query for ANY.
    AnySynthesised,
    /// It follows a CNAME record that is asked for.
    CnameQueryFollowed,
    /// It sets AA.
    AuthoritativeSet,
    /// It writes the question in lower case.
    QuestionLowered,
    /// It sends more octets than the client takes.
    NotTruncated,
    /// It leaves records out without setting TC.
    TruncatedWithoutFlag,
    /// It never sends more than 512 octets over UDP.
    TruncatedAlways,
    /// It sends no more than 512 octets over TCP.
    TcpTruncated,
    /// It does not answer over TCP.
    TcpSilent,
    /// It has no EDNS.
    EdnsIgnored,
    /// It answers with an OPT record whether the query has one or not.
    EdnsVolunteered,
    /// It refuses names of more than 250 octets.
    LongNameRefused,
    /// It refuses labels of more than 60 octets.
    LongLabelRefused,
    /// It refuses names that are no host names.
    UnderscoreRefused,
    /// It does not synthesise for names with NS records.
    ApexNotSynthesised,
    /// It leaves the wildcard in the name of synthetic records.
    WildcardKept,
    /// It answers NXDOMAIN for a name without records.
    EmptyBecomesNxdomain,
    /// It answers NXDOMAIN for a chain that ends at a name without records.
    EmptyChainBecomesNxdomain,
    /// It does not synthesise for a query with DO.
    DoStopsSynthesis,
    /// It does not synthesise for a query with CD, which is allowed.
    CdStopsSynthesis,
    /// It synthesises for a query with DO and CD, which is allowed.
    DoAndCdSynthesised,
    /// It sets AD.
    AdSet,
    /// It leaves the SOA record out of a negative answer.
    SoaLeftOut,
    /// It asks the authority for ipv4only.arpa, as for any other name.
    WellKnownNameAsked,
    /// It refuses queries for ipv4only.arpa.
    WellKnownNameRefused,
    /// It has one of the two addresses of ipv4only.arpa.
    OneWellKnownAddress,
    /// It answers other types of ipv4only.arpa with NXDOMAIN.
    WellKnownNameNxdomain,
    /// It answers names below ipv4only.arpa with an empty answer.
    BelowWellKnownNameEmpty,
}
