//! A line of a zone: a record, the TTL of those after it, or a failure of the authority: `host AAAA !SERVFAIL`.

use super::lines::{DnsName, DnsRecord, parse_name, parse_record};
use super::mistake::DnsMistake;
use super::query::parse_type;
use domain::base::iana::{Rcode, Rtype};

/// The way in which the authority fails to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureMode {
    /// With this response code.
    Rcode(Rcode),
    /// There is no data, and the answer has no SOA record.
    WithoutSoa,
    /// Never.
    Timeout,
}

impl FailureMode {
    fn parse(word: &str) -> Result<Self, DnsMistake> {
        Ok(match word {
            "!SERVFAIL" => Self::Rcode(Rcode::SERVFAIL),
            "!REFUSED" => Self::Rcode(Rcode::REFUSED),
            "!NOTIMP" => Self::Rcode(Rcode::NOTIMP),
            "!FORMERR" => Self::Rcode(Rcode::FORMERR),
            "!NXDOMAIN" => Self::Rcode(Rcode::NXDOMAIN),
            "!NOSOA" => Self::WithoutSoa,
            "!TIMEOUT" => Self::Timeout,
            _ => return Err(DnsMistake::Failure(word.to_owned())),
        })
    }
}

/// A line of a zone.
#[derive(Clone, Debug)]
pub enum ZoneLine {
    /// A record.
    Record(DnsRecord),
    /// The authority's failure to answer queries for a type of a name.
    Failure(DnsName, Rtype, FailureMode),
    /// The TTL of later records that have none, in seconds.
    Ttl(u32),
}

impl ZoneLine {
    /// Returns the name that the line is about; `None` if there is none.
    pub(super) fn owner(&self) -> Option<&DnsName> {
        match self {
            Self::Record(record) => Some(record.owner()),
            Self::Failure(name, _, _) => Some(name),
            Self::Ttl(_) => None,
        }
    }

    /// Reads a line. `ttl` is that of a record without one, in seconds.
    pub(super) fn parse(line: &str, origin: &DnsName, ttl: u32) -> Result<Self, DnsMistake> {
        if let Some(ttl) = line.strip_prefix("$TTL ") {
            let seconds = ttl.trim().parse();
            return seconds
                .map(Self::Ttl)
                .map_err(|_| DnsMistake::Ttl(ttl.to_owned()));
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [owner, rtype, failure] if failure.starts_with('!') => Ok(Self::Failure(
                parse_name(owner, origin)?,
                parse_type(rtype)?,
                FailureMode::parse(failure)?,
            )),
            _ => parse_record(line, origin, ttl).map(Self::Record),
        }
    }
}
