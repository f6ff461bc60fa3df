//! Mistakes in the lines of vectors for DNS servers.

/// A mistake in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnsMistake {
    /// A name cannot be read.
    #[error("`{0}` is no domain name, or one of more than 255 octets")]
    Name(String),
    /// `pref64::` or `arpa(..)` has no address, or the length of `long(..)` is impossible.
    #[error("`{0}`: expected pref64::IPV4, arpa(ADDRESS), or long(OCTETS) with up to 255 octets")]
    Symbol(String),
    /// A record cannot be read.
    #[error("`{text}` is no record: {reason}")]
    Record {
        /// The line.
        text: String,
        /// The reason that the reader of zone files gives.
        reason: String,
    },
    /// There is no such type of records.
    #[error("`{0}` is no type of records")]
    Type(String),
    /// There is no such behaviour of the authority.
    #[error(
        "`{0}` is unknown; an authority can answer !SERVFAIL, !REFUSED, !NOTIMP, !FORMERR, !NXDOMAIN, !NOSOA or !TIMEOUT"
    )]
    Failure(String),
    /// `$GENERATE` has no range or no line.
    #[error("`{0}`: expected $GENERATE FIRST-LAST LINE, with numbers of up to 255")]
    Generate(String),
    /// A query has no name or no type.
    #[error(
        "`{0}` is no query; expected NAME [CLASS] TYPE and options of dig, where NAME may be arpa(ADDRESS)"
    )]
    Query(String),
    /// A query has an unknown option.
    #[error("unknown option `{0}`; known are +tcp, +dnssec, +cdflag, +adflag, +bufsize=OCTETS")]
    Option(String),
    /// The first line of an expectation is not that of a header.
    #[error("`{0}`: an expectation begins with `;; status: RCODE, flags: WORDS`")]
    NoHeader(String),
    /// There is no such response code.
    #[error("`{0}` is no response code such as NOERROR; `any` is for any")]
    Status(String),
    /// There is no such flag.
    #[error(
        "`{0}` is no flag of a header; known are aa, tc, ra, ad, cd, each also with ! before it"
    )]
    Flag(String),
    /// A heading is unknown.
    #[error("`{0}` is no heading; known are ANSWER, AUTHORITY and ADDITIONAL SECTION, and EDNS")]
    Heading(String),
    /// A TTL is no number, no `any`, and no `<=`.
    #[error("`{0}` is no TTL; expected a number of seconds, <=SECONDS, or any")]
    Ttl(String),
    /// A record stands before the first heading.
    #[error("`{0}`: a record belongs under a heading such as `;; ANSWER SECTION:`")]
    NoSection(String),
}
