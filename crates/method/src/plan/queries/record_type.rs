//! The types of records that a query may ask for, by their mnemonics (the registry "Resource Record (RR) TYPEs" of IANA) or as `TYPE65` (RFC 3597).

/// The mnemonics and numbers of types.
const TYPES: &[(&str, u16)] = &[
    ("A", 1),
    ("NS", 2),
    ("CNAME", 5),
    ("SOA", 6),
    ("PTR", 12),
    ("HINFO", 13),
    ("MX", 15),
    ("TXT", 16),
    ("RP", 17),
    ("AFSDB", 18),
    ("SIG", 24),
    ("KEY", 25),
    ("AAAA", 28),
    ("LOC", 29),
    ("SRV", 33),
    ("NAPTR", 35),
    ("KX", 36),
    ("CERT", 37),
    ("A6", 38),
    ("DNAME", 39),
    ("APL", 42),
    ("DS", 43),
    ("SSHFP", 44),
    ("IPSECKEY", 45),
    ("RRSIG", 46),
    ("NSEC", 47),
    ("DNSKEY", 48),
    ("DHCID", 49),
    ("NSEC3", 50),
    ("NSEC3PARAM", 51),
    ("TLSA", 52),
    ("SMIMEA", 53),
    ("HIP", 55),
    ("CDS", 59),
    ("CDNSKEY", 60),
    ("OPENPGPKEY", 61),
    ("CSYNC", 62),
    ("ZONEMD", 63),
    ("SVCB", 64),
    ("HTTPS", 65),
    ("SPF", 99),
    ("EUI48", 108),
    ("EUI64", 109),
    ("ANY", 255),
    ("URI", 256),
    ("CAA", 257),
];

/// The types that are no questions about a name: of the message itself, of its signature, and of transfers of zones.
const NO_QUESTIONS: &[(&str, u16)] = &[
    ("OPT", 41),
    ("TKEY", 249),
    ("TSIG", 250),
    ("IXFR", 251),
    ("AXFR", 252),
];

/// The type AAAA (RFC 3596).
pub(super) const AAAA: u16 = 28;

/// The reason why a word is no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeError {
    /// The word is unknown.
    Unknown,
    /// The type is of something else than a query with one answer.
    NoQuestion,
}

/// Returns the number of a type.
pub(super) fn number_of(word: &str) -> Result<u16, TypeError> {
    let is_it = |(mnemonic, _): &&(&str, u16)| mnemonic.eq_ignore_ascii_case(word);
    let known = TYPES.iter().chain(NO_QUESTIONS).find(is_it);
    let number = known
        .map(|(_, number)| *number)
        .or_else(|| generic(word))
        .filter(|number| *number > 0)
        .ok_or(TypeError::Unknown)?;
    let is_question = NO_QUESTIONS.iter().all(|(_, other)| *other != number);
    is_question.then_some(number).ok_or(TypeError::NoQuestion)
}

/// Returns the number of a type that is written as `TYPE65`.
fn generic(word: &str) -> Option<u16> {
    let (head, number) = word.split_at_checked(4)?;
    let is_generic =
        head.eq_ignore_ascii_case("TYPE") && number.bytes().all(|octet| octet.is_ascii_digit());
    is_generic.then(|| number.parse().ok()).flatten()
}

/// Returns the mnemonic of a type, or its number as RFC 3597 has it.
pub(super) fn name_of(number: u16) -> String {
    TYPES
        .iter()
        .find(|(_, known)| *known == number)
        .map_or_else(
            || format!("TYPE{number}"),
            |(mnemonic, _)| (*mnemonic).to_owned(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_mnemonic_in_any_case_and_by_number() {
        for (word, number) in [
            ("aaaa", 28),
            ("HTTPS", 65),
            ("TYPE65", 65),
            ("type1234", 1234),
        ] {
            assert_eq!(number_of(word), Ok(number));
        }
        assert_eq!(
            (name_of(28), name_of(1234)),
            ("AAAA".into(), "TYPE1234".into())
        );
        for word in [
            "",
            "AAAAA",
            "IN",
            "TYPE",
            "TYPE0",
            "TYPE+1",
            "TYPE65536",
            "TÿPE1",
        ] {
            assert_eq!(number_of(word), Err(TypeError::Unknown), "{word}");
        }
        for word in ["AXFR", "type252", "OPT"] {
            assert_eq!(number_of(word), Err(TypeError::NoQuestion), "{word}");
        }
    }
}
