//! A message that came, with its records in a form that can be compared.

use super::lines::{DnsName, DnsRecord};
use domain::base::iana::{Class, OptRcode, Rtype};
use domain::base::message::RecordSection;
use domain::base::name::FlattenInto;
use domain::base::wire::ParseError;
use domain::base::{Header, Message, ToName};
use domain::rdata::ZoneRecordData;

/// A section with records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSection {
    /// The answer section.
    Answer,
    /// The authority section.
    Authority,
    /// The additional section.
    Additional,
}

/// A flag of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFlag {
    /// QR: the message is a response.
    Response,
    /// AA: authoritative answer.
    Authoritative,
    /// TC: truncated.
    Truncated,
    /// RD: recursion desired.
    RecursionDesired,
    /// RA: recursion available.
    RecursionAvailable,
    /// AD: authentic data.
    AuthenticData,
    /// CD: checking disabled.
    CheckingDisabled,
}

impl HeaderFlag {
    /// All flags, in the order of the header.
    pub const ALL: [Self; 7] = [
        Self::Response,
        Self::Authoritative,
        Self::Truncated,
        Self::RecursionDesired,
        Self::RecursionAvailable,
        Self::AuthenticData,
        Self::CheckingDisabled,
    ];

    /// Returns its name, as dig prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Response => "qr",
            Self::Authoritative => "aa",
            Self::Truncated => "tc",
            Self::RecursionDesired => "rd",
            Self::RecursionAvailable => "ra",
            Self::AuthenticData => "ad",
            Self::CheckingDisabled => "cd",
        }
    }

    fn is_set(self, header: Header) -> bool {
        match self {
            Self::Response => header.qr(),
            Self::Authoritative => header.aa(),
            Self::Truncated => header.tc(),
            Self::RecursionDesired => header.rd(),
            Self::RecursionAvailable => header.ra(),
            Self::AuthenticData => header.ad(),
            Self::CheckingDisabled => header.cd(),
        }
    }
}

/// The OPT record of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedEdns {
    /// The version.
    pub version: u8,
    /// The DO bit.
    pub is_dnssec_ok: bool,
    /// The largest message over UDP that its sender takes, in octets.
    pub size: u16,
}

/// A message that came.
#[derive(Clone, Debug)]
pub struct DnsMessage {
    /// The identifier.
    pub id: u16,
    header: Header,
    /// The response code, with the bits of EDNS.
    pub rcode: OptRcode,
    /// The question; `None` if there is not exactly one.
    pub question: Option<(DnsName, Rtype, Class)>,
    /// The records of the answer section.
    pub answer: Vec<DnsRecord>,
    /// The records of the authority section.
    pub authority: Vec<DnsRecord>,
    /// The records of the additional section, without EDNS.
    pub additional: Vec<DnsRecord>,
    /// EDNS.
    pub edns: Option<ReceivedEdns>,
    /// The length of the message, in octets.
    pub length: usize,
}

impl DnsMessage {
    /// Reads a message.
    ///
    /// # Errors
    /// It is malformed.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let message = Message::from_slice(octets)
            .map_err(|_| ParseError::form_error("it is shorter than a header"))?;
        let (_, answer, authority, additional) = message.sections()?;
        Ok(Self {
            id: message.header().id(),
            header: message.header(),
            rcode: message.opt_rcode(),
            question: question_of(message)?,
            answer: records_of(answer)?,
            authority: records_of(authority)?,
            additional: records_of(additional)?,
            edns: message.opt().map(|opt| ReceivedEdns {
                version: opt.version(),
                is_dnssec_ok: opt.dnssec_ok(),
                size: opt.udp_payload_size(),
            }),
            length: octets.len(),
        })
    }

    /// Returns true if a flag is set.
    pub fn has(&self, flag: HeaderFlag) -> bool {
        flag.is_set(self.header)
    }

    /// Returns the operation code.
    pub fn opcode(&self) -> u8 {
        self.header.opcode().to_int()
    }

    /// Returns the records of a section.
    pub fn section(&self, section: MessageSection) -> &[DnsRecord] {
        match section {
            MessageSection::Answer => &self.answer,
            MessageSection::Authority => &self.authority,
            MessageSection::Additional => &self.additional,
        }
    }
}

fn question_of(message: &Message<[u8]>) -> Result<Option<(DnsName, Rtype, Class)>, ParseError> {
    if message.header_counts().qdcount() != 1 {
        return Ok(None);
    }
    let question = message.sole_question()?;
    let name = question.qname().to_name();
    Ok(Some((name, question.qtype(), question.qclass())))
}

fn records_of(section: RecordSection<'_, [u8]>) -> Result<Vec<DnsRecord>, ParseError> {
    let mut records = Vec::new();
    for record in section {
        let record = record?;
        if record.rtype() == Rtype::OPT {
            continue;
        }
        if let Some(parsed) = record.to_record::<ZoneRecordData<_, _>>()? {
            let flat: Result<DnsRecord, _> = parsed.try_flatten_into();
            records.push(flat.map_err(|_| ParseError::form_error("a name is too long"))?);
        }
    }
    Ok(records)
}
