//! The query of a vector, written as the arguments of dig: `host AAAA +dnssec +tcp`.

use super::lines::{DnsName, parse_name};
use super::mistake::DnsMistake;
use domain::base::iana::{Class, Rtype};
use domain::base::message_builder::{MessageBuilder, PushError};
use std::str::FromStr;

/// The size that a query announces with EDNS unless it says another, in octets: that of dig.
const USUAL_SIZE: u16 = 1232;

/// The protocol that carries a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsTransport {
    /// UDP.
    Udp,
    /// TCP (RFC 7766).
    Tcp,
}

/// The OPT record of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryEdns {
    /// The largest message over UDP that the client takes, in octets.
    pub size: u16,
    /// The DO bit.
    pub is_dnssec_ok: bool,
}

/// A query, which asks for recursion.
#[derive(Clone, Debug)]
pub struct DnsQuery {
    /// The name, in the case in which it is sent.
    pub name: DnsName,
    /// The type.
    pub rtype: Rtype,
    /// The class.
    pub class: Class,
    /// The protocol.
    pub transport: DnsTransport,
    /// EDNS; `None` for a query without.
    pub edns: Option<QueryEdns>,
    /// The CD bit.
    pub is_checking_disabled: bool,
    /// The AD bit.
    pub is_authentic_data: bool,
}

impl DnsQuery {
    /// Reads the words of a query.
    pub(super) fn parse(text: &str, origin: &DnsName) -> Result<Self, DnsMistake> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (options, asked): (Vec<&str>, Vec<&str>) =
            words.into_iter().partition(|word| word.starts_with('+'));
        let (name, class, rtype) = match asked[..] {
            [name, rtype] => (name, Class::IN, rtype),
            [name, class, rtype] => {
                let class = Class::from_str(class);
                let class = class.map_err(|_| DnsMistake::Query(text.to_owned()))?;
                (name, class, rtype)
            }
            _ => return Err(DnsMistake::Query(text.to_owned())),
        };
        let mut query = Self {
            name: parse_name(name, origin)?,
            rtype: parse_type(rtype)?,
            class,
            transport: DnsTransport::Udp,
            edns: None,
            is_checking_disabled: false,
            is_authentic_data: false,
        };
        for option in options {
            query.set(option)?;
        }
        Ok(query)
    }

    fn set(&mut self, option: &str) -> Result<(), DnsMistake> {
        match option {
            "+tcp" => self.transport = DnsTransport::Tcp,
            "+cdflag" => self.is_checking_disabled = true,
            "+adflag" => self.is_authentic_data = true,
            "+dnssec" => self.edns_or_usual().is_dnssec_ok = true,
            _ => {
                let size = option.strip_prefix("+bufsize=");
                let size = size.and_then(|octets| octets.parse().ok());
                let size = size.ok_or_else(|| DnsMistake::Option(option.to_owned()))?;
                self.edns_or_usual().size = size;
            }
        }
        Ok(())
    }

    fn edns_or_usual(&mut self) -> &mut QueryEdns {
        self.edns.get_or_insert(QueryEdns {
            size: USUAL_SIZE,
            is_dnssec_ok: false,
        })
    }

    /// Returns the largest answer that the client takes, in octets (RFC 1035 section 4.2.1, RFC 6891 section 6.2.3).
    pub fn largest_answer(&self) -> usize {
        const WITHOUT_EDNS: u16 = 512;
        match self.transport {
            DnsTransport::Tcp => usize::from(u16::MAX),
            DnsTransport::Udp => {
                let size = self.edns.map_or(WITHOUT_EDNS, |edns| edns.size);
                usize::from(size.max(WITHOUT_EDNS))
            }
        }
    }

    /// Returns the message with this identifier.
    ///
    /// # Errors
    /// None occurs: the message has one name.
    pub fn octets(&self, id: u16) -> Result<Vec<u8>, PushError> {
        let mut builder = MessageBuilder::new_vec();
        let header = builder.header_mut();
        header.set_id(id);
        header.set_rd(true);
        header.set_cd(self.is_checking_disabled);
        header.set_ad(self.is_authentic_data);
        let mut question = builder.question();
        question.push((&self.name, self.rtype, self.class))?;
        let mut additional = question.additional();
        if let Some(edns) = self.edns {
            additional.opt(|opt| {
                opt.set_udp_payload_size(edns.size);
                opt.set_dnssec_ok(edns.is_dnssec_ok);
                Ok(())
            })?;
        }
        Ok(additional.finish())
    }
}

/// Returns the type of a word such as `AAAA`.
pub(super) fn parse_type(word: &str) -> Result<Rtype, DnsMistake> {
    Rtype::from_str(word).map_err(|_| DnsMistake::Type(word.to_owned()))
}
