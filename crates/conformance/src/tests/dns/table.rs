//! The rigs, and which vectors each of them fails.

use super::NamedExchange;
use super::fault::DnsFault;

/// A rig, with the names of the vectors that it fails, and of those in which it makes a choice that the text allows.
pub(super) struct DnsRigRow {
    pub(super) fault: DnsFault,
    pub(super) fails: &'static [&'static str],
    pub(super) chooses: &'static [&'static str],
}

pub(super) const DNS_RIGS: &[DnsRigRow] = &[
    DnsRigRow {
        fault: DnsFault::SynthesisInChaos,
        fails: &["class-chaos"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::SynthesisBesideAaaa,
        fails: &[
            "aaaa-exists",
            "aaaa-beside-many-a",
            "mapped-beside-real",
            "cname-to-aaaa",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::FirstAaaaAlone,
        fails: &["aaaa-without-a", "aaaa-beside-many-a"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::NxdomainTriesA,
        fails: &["nxdomain-although-a"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::NxdomainBecomesEmpty,
        fails: &[
            "nxdomain",
            "nxdomain-although-a",
            "cname-to-nxdomain",
            "ptr-outside-prefix-nxdomain",
            "ipv4only-below",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::ErrorReturned,
        fails: &[
            "servfail-for-aaaa",
            "refused-for-aaaa",
            "notimp-for-aaaa",
            "formerr-for-aaaa",
            "aaaa-times-out",
            "cname-to-servfail",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TimeoutSilent,
        fails: &["aaaa-times-out", "a-times-out"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::ErrorOfABecomesEmpty,
        fails: &["servfail-for-both", "servfail-for-a", "a-times-out"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::MappedReturned,
        fails: &[
            "mapped-alone",
            "mapped-without-a",
            "mapped-beside-real",
            "cname-to-mapped",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::MappedBesideReal,
        fails: &["mapped-beside-real"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::MappedEmpties,
        fails: &[],
        chooses: &["mapped-beside-real"],
    },
    DnsRigRow {
        fault: DnsFault::ChainLeftOut,
        fails: &[
            "cname-1",
            "cname-2",
            "cname-8",
            "cname-to-mapped",
            "cname-to-servfail",
            "dname",
            "dname-then-cname",
            "wildcard-cname",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::ChainNotFollowed,
        fails: &[
            "cname-1",
            "cname-2",
            "cname-8",
            "cname-to-mapped",
            "dname",
            "dname-then-cname",
            "wildcard-cname",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::DnameLeftOut,
        fails: &["dname", "dname-then-cname"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::OwnerOfQuery,
        fails: &[
            "cname-1",
            "cname-2",
            "cname-8",
            "cname-to-mapped",
            "cname-to-servfail",
            "dname",
            "dname-then-cname",
            "wildcard-cname",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::FirstAAlone,
        fails: &[
            "three-a",
            "truncated-without-edns",
            "truncated-at-bufsize",
            "whole-with-edns",
            "whole-over-tcp",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::ARecordsKept,
        fails: &[
            "servfail-for-aaaa",
            "refused-for-aaaa",
            "notimp-for-aaaa",
            "formerr-for-aaaa",
            "aaaa-times-out",
            "mapped-alone",
            "cname-1",
            "cname-2",
            "cname-8",
            "cname-to-mapped",
            "cname-to-servfail",
            "dname",
            "dname-then-cname",
            "a-becomes-aaaa",
            "three-a",
            "over-tcp",
            "ttl-of-a",
            "ttl-of-soa",
            "ttl-of-soa-minimum",
            "ttl-without-soa",
            "ttl-without-soa-of-a",
            "wkp-mixed",
            "additional-of-synthesis",
            "not-authoritative",
            "mixed-case",
            "whole-with-edns",
            "whole-over-tcp",
            "edns-is-answered",
            "edns-is-not-volunteered",
            "name-of-255-octets",
            "label-of-63-octets",
            "zone-apex",
            "underscores",
            "wildcard",
            "wildcard-cname",
            "do-without-cd",
            "cd-without-do",
            "ad-clear",
            "ad-clear-with-do",
            "ad-clear-with-ad",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TtlOfA,
        fails: &["ttl-of-soa", "ttl-of-soa-minimum", "ttl-without-soa"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TtlOfSoa,
        fails: &[
            "a-becomes-aaaa",
            "three-a",
            "over-tcp",
            "ttl-of-a",
            "ttl-without-soa-of-a",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TtlWithoutLimit,
        fails: &["ttl-without-soa"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::WrongAddress,
        fails: &[
            "servfail-for-aaaa",
            "refused-for-aaaa",
            "notimp-for-aaaa",
            "formerr-for-aaaa",
            "aaaa-times-out",
            "mapped-alone",
            "cname-1",
            "cname-2",
            "cname-8",
            "cname-to-mapped",
            "cname-to-servfail",
            "dname",
            "dname-then-cname",
            "a-becomes-aaaa",
            "three-a",
            "over-tcp",
            "ttl-of-a",
            "ttl-of-soa",
            "ttl-of-soa-minimum",
            "ttl-without-soa",
            "ttl-without-soa-of-a",
            "wkp-mixed",
            "additional-of-synthesis",
            "not-authoritative",
            "mixed-case",
            "whole-with-edns",
            "whole-over-tcp",
            "edns-is-answered",
            "edns-is-not-volunteered",
            "name-of-255-octets",
            "label-of-63-octets",
            "zone-apex",
            "underscores",
            "wildcard",
            "wildcard-cname",
            "do-without-cd",
            "cd-without-do",
            "ad-clear",
            "ad-clear-with-do",
            "ad-clear-with-ad",
            "discovery",
            "discovery-over-tcp",
            "discovery-mixed-case",
            "ipv4only-aaaa",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::NotGlobalSynthesised,
        fails: &[
            "wkp-10",
            "wkp-172",
            "wkp-192",
            "wkp-loopback",
            "wkp-link-local",
            "wkp-test-net",
            "wkp-mixed",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::NotGlobalEmpties,
        fails: &["wkp-mixed"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::PtrNotRecognised,
        fails: &["ptr-under-prefix"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::PtrUnchecked,
        fails: &[
            "ptr-under-prefix-without-ptr",
            "ptr-under-prefix-with-cname",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::PtrOwnData,
        fails: &[],
        chooses: &[
            "ptr-under-prefix",
            "ptr-under-prefix-without-ptr",
            "ptr-under-prefix-with-cname",
        ],
    },
    DnsRigRow {
        fault: DnsFault::PtrOfEveryPrefix,
        fails: &["ptr-outside-prefix", "ptr-outside-prefix-nxdomain"],
        chooses: &[
            "ptr-under-prefix",
            "ptr-under-prefix-without-ptr",
            "ptr-under-prefix-with-cname",
        ],
    },
    DnsRigRow {
        fault: DnsFault::PtrInAddrRefused,
        fails: &["ptr-in-addr"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::AdditionalSynthesised,
        fails: &["additional-of-synthesis", "additional-of-mx"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::AQuerySynthesised,
        fails: &["a-query", "a-query-beside-aaaa"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::OtherTypesRefused,
        fails: &[
            "additional-of-mx",
            "txt-query",
            "srv-query",
            "https-query",
            "cname-query",
            "unknown-type-query",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::AnySynthesised,
        fails: &["any-query"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::CnameQueryFollowed,
        fails: &["cname-query"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::AuthoritativeSet,
        fails: &["not-authoritative"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::QuestionLowered,
        fails: &["mixed-case", "discovery-mixed-case"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::NotTruncated,
        fails: &["truncated-without-edns", "truncated-at-bufsize"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TruncatedWithoutFlag,
        fails: &["truncated-without-edns", "truncated-at-bufsize"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TruncatedAlways,
        fails: &["whole-with-edns"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TcpTruncated,
        fails: &["whole-over-tcp"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::TcpSilent,
        fails: &[
            "over-tcp",
            "any-query",
            "whole-over-tcp",
            "discovery-over-tcp",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::EdnsIgnored,
        fails: &["edns-is-answered"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::EdnsVolunteered,
        fails: &["edns-is-not-volunteered"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::LongNameRefused,
        fails: &["name-of-255-octets"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::LongLabelRefused,
        fails: &["label-of-63-octets"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::UnderscoreRefused,
        fails: &["srv-query", "underscores"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::ApexNotSynthesised,
        fails: &["zone-apex"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::WildcardKept,
        fails: &["wildcard"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::EmptyBecomesNxdomain,
        fails: &[
            "mapped-without-a",
            "nodata",
            "wkp-10",
            "wkp-172",
            "wkp-192",
            "wkp-loopback",
            "wkp-link-local",
            "wkp-test-net",
            "empty-non-terminal",
            "do-and-cd",
            "ipv4only-txt",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::EmptyChainBecomesNxdomain,
        fails: &["cname-to-nodata"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::DoStopsSynthesis,
        fails: &["do-without-cd", "ad-clear-with-do"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::CdStopsSynthesis,
        fails: &[],
        chooses: &["cd-without-do"],
    },
    DnsRigRow {
        fault: DnsFault::DoAndCdSynthesised,
        fails: &[],
        chooses: &["do-and-cd"],
    },
    DnsRigRow {
        fault: DnsFault::AdSet,
        fails: &["ad-clear", "ad-clear-with-do", "ad-clear-with-ad"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::SoaLeftOut,
        fails: &["nodata"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::WellKnownNameAsked,
        fails: &["ipv4only-txt", "ipv4only-below", "ipv4only-not-asked"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::WellKnownNameRefused,
        fails: &[
            "discovery",
            "discovery-over-tcp",
            "discovery-mixed-case",
            "ipv4only-a",
            "ipv4only-aaaa",
            "ipv4only-txt",
            "ipv4only-below",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::OneWellKnownAddress,
        fails: &[
            "discovery",
            "discovery-over-tcp",
            "discovery-mixed-case",
            "ipv4only-a",
            "ipv4only-aaaa",
        ],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::WellKnownNameNxdomain,
        fails: &["ipv4only-txt"],
        chooses: &[],
    },
    DnsRigRow {
        fault: DnsFault::BelowWellKnownNameEmpty,
        fails: &["ipv4only-below"],
        chooses: &[],
    },
];

/// Returns the names that a list of patterns means, in the order of the vectors: a `*` at the end stands for any rest.
pub(super) fn meant(patterns: &[&str], exchanges: &[NamedExchange]) -> Vec<String> {
    let fits = |name: &str, pattern: &&str| match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *pattern,
    };
    for pattern in patterns {
        let mut names = exchanges.iter().map(|named| &named.name);
        assert!(
            names.any(|name| fits(name, pattern)),
            "no vector is called {pattern}"
        );
    }
    let names = exchanges.iter().map(|named| named.name.clone());
    names
        .filter(|name| patterns.iter().any(|pattern| fits(name, pattern)))
        .collect()
}
