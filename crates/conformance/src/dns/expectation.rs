//! The answer that must come, written as dig prints one.
//!
//! ```text
//! ;; status: NOERROR, flags: ra !ad
//! ;; ANSWER SECTION:
//! host 300 AAAA pref64::192.31.196.1
//! ```

use super::lines::{DnsData, DnsName, parse_name, parse_record};
use super::message::{HeaderFlag, MessageSection};
use super::mistake::DnsMistake;
use super::query::parse_type;
use domain::base::iana::{Rcode, Rtype};
use std::str::FromStr;

/// A flag of the header, and whether it must be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagExpectation {
    /// The flag.
    pub flag: HeaderFlag,
    /// True if it must be set, false if it must not.
    pub is_set: bool,
}

/// The rule for the TTL of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TtlRule {
    /// Any.
    Any,
    /// This number of seconds, less those that the answer has been in a cache.
    Exactly(u32),
    /// At most this number of seconds.
    AtMost(u32),
}

impl TtlRule {
    fn parse(word: &str) -> Result<Self, DnsMistake> {
        let parsed = match (word, word.strip_prefix("<=")) {
            ("any", _) => Ok(Self::Any),
            (_, Some(digits)) => digits.parse().map(Self::AtMost),
            _ => word.parse().map(Self::Exactly),
        };
        parsed.map_err(|_| DnsMistake::Ttl(word.to_owned()))
    }

    /// Returns true if it allows a TTL of a record that has been in caches for at most so many seconds.
    pub fn allows(self, ttl: u32, age: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(seconds) => ttl <= seconds && ttl.saturating_add(age) >= seconds,
            Self::AtMost(seconds) => ttl <= seconds,
        }
    }
}

/// A record that must come.
#[derive(Clone, Debug)]
pub struct ExpectedRecord {
    /// Its owner.
    pub owner: DnsName,
    /// The rule for its TTL.
    pub ttl: TtlRule,
    /// Its type.
    pub rtype: Rtype,
    /// Its data; `None` for any.
    pub data: Option<DnsData>,
    /// Its line as it is written.
    pub text: String,
}

/// The records that a section must have.
#[derive(Clone, Debug, Default)]
pub struct ExpectedSection {
    /// The records that must come, in any order.
    pub records: Vec<ExpectedRecord>,
    /// True if others may come as well.
    pub allows_more: bool,
    /// The types of which no further record may come.
    pub forbidden: Vec<Rtype>,
}

/// The OPT record that an answer must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdnsExpectation {
    /// It must have no OPT record.
    Absent,
    /// It must have one, of version 0, and its DO bit must be as given.
    Present(Option<bool>),
}

/// An answer that must come.
#[derive(Clone, Debug)]
pub struct DnsExpectation {
    /// The response code; `None` for any.
    pub rcode: Option<Rcode>,
    /// The flags that are compared. QR, RD and TC always are.
    pub flags: Vec<FlagExpectation>,
    /// EDNS, if it is compared.
    pub edns: Option<EdnsExpectation>,
    /// The answer section, which is always compared; empty if it is not written.
    pub answer: ExpectedSection,
    /// The authority section, if it is compared.
    pub authority: Option<ExpectedSection>,
    /// The additional section without EDNS, if it is compared.
    pub additional: Option<ExpectedSection>,
    /// The first line.
    pub header_text: String,
}

impl DnsExpectation {
    /// Reads the first line.
    pub(super) fn parse_header(line: &str) -> Result<Self, DnsMistake> {
        let rest = line.strip_prefix(";; status: ");
        let rest = rest.ok_or_else(|| DnsMistake::NoHeader(line.to_owned()))?;
        let (status, flags) = rest.split_once(", flags:").unwrap_or((rest, ""));
        let rcode = match status.trim() {
            "any" => None,
            word => Some(parse_rcode(word)?),
        };
        Ok(Self {
            rcode,
            flags: flags
                .split_whitespace()
                .map(parse_flag)
                .collect::<Result<_, _>>()?,
            edns: None,
            answer: ExpectedSection::default(),
            authority: None,
            additional: None,
            header_text: line.trim_start_matches(";; ").to_owned(),
        })
    }

    /// Reads a heading, and returns the section that it begins; `None` after that of EDNS, which has no lines.
    pub(super) fn begin_section(
        &mut self,
        line: &str,
    ) -> Result<Option<MessageSection>, DnsMistake> {
        match line {
            ";; EDNS: version: 0" => self.edns = Some(EdnsExpectation::Present(None)),
            ";; EDNS: version: 0, flags: do" => {
                self.edns = Some(EdnsExpectation::Present(Some(true)));
            }
            ";; EDNS: version: 0, flags: !do" => {
                self.edns = Some(EdnsExpectation::Present(Some(false)));
            }
            ";; EDNS: none" => self.edns = Some(EdnsExpectation::Absent),
            ";; ANSWER SECTION:" => return Ok(Some(MessageSection::Answer)),
            ";; AUTHORITY SECTION:" => {
                self.authority.get_or_insert_default();
                return Ok(Some(MessageSection::Authority));
            }
            ";; ADDITIONAL SECTION:" => {
                self.additional.get_or_insert_default();
                return Ok(Some(MessageSection::Additional));
            }
            _ => return Err(DnsMistake::Heading(line.to_owned())),
        }
        Ok(None)
    }

    /// Reads a line of a section: a record, `...` if others may come as well, or `no TYPE` if none of that type may. `written` is the line before
    /// its words were replaced.
    pub(super) fn add_line(
        &mut self,
        section: MessageSection,
        line: &str,
        written: &str,
        origin: &DnsName,
    ) -> Result<(), DnsMistake> {
        let section = match section {
            MessageSection::Answer => &mut self.answer,
            MessageSection::Authority => self.authority.get_or_insert_default(),
            MessageSection::Additional => self.additional.get_or_insert_default(),
        };
        match line.strip_prefix("no ") {
            Some(rtype) => section.forbidden.push(parse_type(rtype.trim())?),
            None if line == "..." => section.allows_more = true,
            None => section
                .records
                .push(ExpectedRecord::parse(line, written, origin)?),
        }
        Ok(())
    }
}

impl ExpectedRecord {
    /// Reads `OWNER TTL TYPE DATA`.
    fn parse(line: &str, written: &str, origin: &DnsName) -> Result<Self, DnsMistake> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [owner, ttl, word, data @ ..] = &words[..] else {
            return Err(incomplete(line));
        };
        let rtype = parse_type(word)?;
        let data = match data {
            [] => return Err(incomplete(line)),
            ["any"] => None,
            _ => {
                let record = format!("{owner} 0 {word} {}", data.join(" "));
                Some(parse_record(&record, origin, 0)?.into_data())
            }
        };
        Ok(Self {
            owner: parse_name(owner, origin)?,
            ttl: TtlRule::parse(ttl)?,
            rtype,
            data,
            text: written.split_whitespace().collect::<Vec<_>>().join(" "),
        })
    }
}

fn incomplete(line: &str) -> DnsMistake {
    DnsMistake::Record {
        text: line.to_owned(),
        reason: "expected OWNER TTL TYPE DATA, where `any` stands for any TTL or data".to_owned(),
    }
}

fn parse_rcode(word: &str) -> Result<Rcode, DnsMistake> {
    Rcode::from_str(word).map_err(|_| DnsMistake::Status(word.to_owned()))
}

fn parse_flag(word: &str) -> Result<FlagExpectation, DnsMistake> {
    let name = word.trim_start_matches('!');
    let flag = HeaderFlag::ALL.into_iter().find(|flag| flag.name() == name);
    Ok(FlagExpectation {
        flag: flag.ok_or_else(|| DnsMistake::Flag(word.to_owned()))?,
        is_set: name == word,
    })
}
