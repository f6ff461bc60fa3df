//! A DNS64 server, written from RFC 6147 and RFC 8880: recursive, aware of DNSSEC but not validating. It asks the authority by a function call, and has
//! no cache. It answers PTR queries with CNAME records (the second option of section 5.3.1).

use super::fault::DnsFault;
use crate::dns::{
    AuthorityReply, DnsData, DnsMessage, DnsName, DnsRecord, DnsTransport, VectorAuthority,
};
use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::message_builder::{MessageBuilder, TreeCompressor};
use domain::base::name::Name;
use domain::base::{Message, Record, ToName, Ttl};
use domain::rdata::{Aaaa, Cname, Ptr};
use sixbench_wire::Prefix6052;
use std::cell::RefCell;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// RFC 6147 section 5.1.7: the longest TTL without a SOA record, in seconds.
const LONGEST_TTL_WITHOUT_SOA: u32 = 600;
const WELL_KNOWN_ADDRESSES: [Ipv4Addr; 2] =
    [Ipv4Addr::new(192, 0, 0, 170), Ipv4Addr::new(192, 0, 0, 171)];
const WELL_KNOWN_TTL: u32 = 86_400;

/// The server.
pub(super) struct Reference<'a> {
    pub(super) authority: &'a VectorAuthority,
    pub(super) prefix: Prefix6052,
    pub(super) fault: Option<DnsFault>,
    /// The questions to the authority.
    pub(super) asked: RefCell<Vec<(DnsName, Rtype)>>,
}

/// What a query results in.
#[derive(Clone, Debug)]
struct Resolved {
    rcode: Rcode,
    answer: Vec<DnsRecord>,
    authority: Vec<DnsRecord>,
    additional: Vec<DnsRecord>,
    has_timed_out: bool,
}

/// The parts of a query that decide about its answer.
struct Asked {
    name: DnsName,
    rtype: Rtype,
    class: Class,
    has_edns: bool,
    is_dnssec_ok: bool,
    is_checking_disabled: bool,
}

impl Resolved {
    fn empty(rcode: Rcode) -> Self {
        Self {
            rcode,
            answer: Vec::new(),
            authority: Vec::new(),
            additional: Vec::new(),
            has_timed_out: false,
        }
    }

    fn of_answer(answer: Vec<DnsRecord>) -> Self {
        Self {
            answer,
            ..Self::empty(Rcode::NOERROR)
        }
    }

    fn has(&self, rtype: Rtype) -> bool {
        self.answer.iter().any(|record| record.rtype() == rtype)
    }

    /// Returns the TTL of the SOA record in a negative answer.
    fn soa_ttl(&self) -> Option<u32> {
        let soa = self
            .authority
            .iter()
            .find(|record| record.rtype() == Rtype::SOA);
        soa.map(|soa| soa.ttl().as_secs())
    }
}

impl Reference<'_> {
    fn is(&self, fault: DnsFault) -> bool {
        self.fault == Some(fault)
    }

    /// Returns the answer to a query; `None` if there is none.
    pub(super) fn answer(&self, query: &[u8], transport: DnsTransport) -> Option<Vec<u8>> {
        let message = Message::from_slice(query).expect("a query");
        let question = message.sole_question().expect("a question");
        let opt = message.opt();
        let asked = Asked {
            name: question.qname().to_name(),
            rtype: question.qtype(),
            class: question.qclass(),
            has_edns: opt.is_some(),
            is_dnssec_ok: opt.as_ref().is_some_and(|opt| opt.dnssec_ok()),
            is_checking_disabled: message.header().cd(),
        };
        if transport == DnsTransport::Tcp && self.is(DnsFault::TcpSilent) {
            return None;
        }
        let mut resolved = self.resolve(&asked);
        if resolved.has_timed_out && self.is(DnsFault::TimeoutSilent) {
            return None;
        }
        self.spoil(&asked, &mut resolved);
        let limit = match (transport, opt.map(|opt| opt.udp_payload_size())) {
            (DnsTransport::Tcp, _) if self.is(DnsFault::TcpTruncated) => 512,
            (DnsTransport::Tcp, _) => u16::MAX,
            (DnsTransport::Udp, Some(size)) if !self.is(DnsFault::TruncatedAlways) => size.max(512),
            (DnsTransport::Udp, _) => 512,
        };
        let whole = self.compose(message, &asked, &resolved);
        if whole.len() <= usize::from(limit) || self.is(DnsFault::NotTruncated) {
            return Some(whole);
        }
        let mut short = self.compose(message, &asked, &Resolved::empty(resolved.rcode));
        if !self.is(DnsFault::TruncatedWithoutFlag) {
            short[2] |= 2;
        }
        Some(short)
    }

    /// Breaks what is only in the finished answer.
    fn spoil(&self, asked: &Asked, resolved: &mut Resolved) {
        if self.is(DnsFault::SoaLeftOut) {
            resolved
                .authority
                .retain(|record| record.rtype() != Rtype::SOA);
        }
        let is_empty = resolved.rcode == Rcode::NOERROR && resolved.answer.is_empty();
        if self.is(DnsFault::EmptyBecomesNxdomain) && is_empty {
            resolved.rcode = Rcode::NXDOMAIN;
        }
        let is_chain = resolved.has(Rtype::CNAME) && !resolved.has(asked.rtype);
        if self.is(DnsFault::EmptyChainBecomesNxdomain) && is_chain {
            resolved.rcode = Rcode::NXDOMAIN;
        }
        if self.is(DnsFault::NxdomainBecomesEmpty) && resolved.rcode == Rcode::NXDOMAIN {
            resolved.rcode = Rcode::NOERROR;
        }
        if self.is(DnsFault::AdditionalSynthesised) && asked.class == Class::IN {
            let synthetic = resolved
                .additional
                .iter()
                .filter_map(|record| self.synthetic(record, 60));
            let synthetic: Vec<DnsRecord> = synthetic.collect();
            resolved.additional.extend(synthetic);
        }
        let labels = || asked.name.iter().map(|label| label.as_slice().to_vec());
        let is_refused = self.is(DnsFault::LongNameRefused) && asked.name.len() > 250
            || self.is(DnsFault::LongLabelRefused)
                && labels().any(|label| label.len() == 63 && asked.name.len() < 200)
            || self.is(DnsFault::UnderscoreRefused) && labels().any(|label| label.contains(&b'_'));
        if is_refused {
            *resolved = Resolved::empty(Rcode::REFUSED);
        }
    }

    fn resolve(&self, asked: &Asked) -> Resolved {
        // Section 5.1: other classes are as without DNS64.
        if asked.class != Class::IN && !self.is(DnsFault::SynthesisInChaos) {
            return Resolved::empty(Rcode::REFUSED);
        }
        if !self.is(DnsFault::WellKnownNameAsked)
            && let Some(special) = self.well_known(asked)
        {
            return special;
        }
        match asked.rtype {
            // Section 5.5, item 3.
            Rtype::AAAA if asked.is_dnssec_ok && asked.is_checking_disabled => {
                if self.is(DnsFault::DoAndCdSynthesised) {
                    self.aaaa(&asked.name)
                } else {
                    self.ask(&asked.name, Rtype::AAAA)
                }
            }
            Rtype::AAAA if asked.is_dnssec_ok && self.is(DnsFault::DoStopsSynthesis) => {
                self.ask(&asked.name, Rtype::AAAA)
            }
            Rtype::AAAA if asked.is_checking_disabled && self.is(DnsFault::CdStopsSynthesis) => {
                self.ask(&asked.name, Rtype::AAAA)
            }
            Rtype::AAAA => self.aaaa(&asked.name),
            Rtype::PTR => self.ptr(&asked.name),
            _ => self.other(asked),
        }
    }

    fn other(&self, asked: &Asked) -> Resolved {
        let is_a = asked.rtype == Rtype::A;
        if !is_a && self.is(DnsFault::OtherTypesRefused) {
            return Resolved::empty(Rcode::NOTIMP);
        }
        if asked.rtype == Rtype::CNAME && self.is(DnsFault::CnameQueryFollowed) {
            return self.ask(&asked.name, Rtype::A);
        }
        let mut resolved = self.ask(&asked.name, asked.rtype);
        let is_spoilt = is_a && self.is(DnsFault::AQuerySynthesised)
            || asked.rtype == Rtype::ANY && self.is(DnsFault::AnySynthesised);
        if is_spoilt {
            let found = resolved.answer.iter();
            resolved.answer = found.filter_map(|a| self.synthetic(a, 60)).collect();
        }
        resolved
    }

    /// RFC 8880 section 7.1, item 4.
    fn well_known(&self, asked: &Asked) -> Option<Resolved> {
        let name: DnsName = Name::from_str("ipv4only.arpa.").expect("a name");
        if !asked.name.ends_with(&name) || asked.rtype == Rtype::DS {
            return None;
        }
        if self.is(DnsFault::WellKnownNameRefused) {
            return Some(Resolved::empty(Rcode::REFUSED));
        }
        if asked.name != name {
            return Some(Resolved::empty(
                if self.is(DnsFault::BelowWellKnownNameEmpty) {
                    Rcode::NOERROR
                } else {
                    Rcode::NXDOMAIN
                },
            ));
        }
        let count = if self.is(DnsFault::OneWellKnownAddress) {
            1
        } else {
            WELL_KNOWN_ADDRESSES.len()
        };
        let addresses = &WELL_KNOWN_ADDRESSES[..count];
        let data: Vec<DnsData> = match asked.rtype {
            Rtype::A => addresses
                .iter()
                .map(|address| domain::rdata::A::new(*address).into())
                .collect(),
            Rtype::AAAA => addresses
                .iter()
                .map(|address| Aaaa::new(self.embed(*address)).into())
                .collect(),
            _ if self.is(DnsFault::WellKnownNameNxdomain) => {
                return Some(Resolved::empty(Rcode::NXDOMAIN));
            }
            _ => Vec::new(),
        };
        let records = data
            .into_iter()
            .map(|data| record(&name, WELL_KNOWN_TTL, data));
        Some(Resolved::of_answer(records.collect()))
    }

    /// Section 5.1.
    fn aaaa(&self, name: &DnsName) -> Resolved {
        let mut first = self.ask(name, Rtype::AAAA);
        // Section 5.1.2.
        if first.rcode == Rcode::NXDOMAIN && !self.is(DnsFault::NxdomainTriesA) {
            return first;
        }
        if first.rcode != Rcode::NOERROR {
            if self.is(DnsFault::ErrorReturned) && first.rcode != Rcode::NXDOMAIN {
                return first;
            }
            first.answer.clear();
        }
        self.exclude(&mut first);
        if first.has(Rtype::AAAA) {
            return self.real(name, first);
        }
        let last = last_of_chain(name, &first.answer);
        if last != *name && self.is(DnsFault::ChainNotFollowed) {
            return first;
        }
        let second = self.ask(name, Rtype::A);
        let has_timed_out = first.has_timed_out || second.has_timed_out;
        let synthesised = self.synthesise(name, first, second);
        Resolved {
            has_timed_out,
            ..synthesised
        }
    }

    /// Section 5.1.1.
    fn real(&self, name: &DnsName, mut found: Resolved) -> Resolved {
        if self.is(DnsFault::SynthesisBesideAaaa) {
            let a = self.ask(name, Rtype::A);
            let synthetic = a.answer.iter().filter_map(|a| self.synthetic(a, 300));
            found.answer.extend(synthetic);
        }
        if self.is(DnsFault::FirstAaaaAlone) {
            let mut is_first = true;
            found.answer.retain(|record| {
                let is_kept = record.rtype() != Rtype::AAAA || is_first;
                is_first &= record.rtype() != Rtype::AAAA;
                is_kept
            });
        }
        found
    }

    /// Section 5.1.4: the default exclusion set.
    fn exclude(&self, found: &mut Resolved) {
        let is_mapped = |record: &DnsRecord| match record.data() {
            DnsData::Aaaa(data) => data.addr().to_ipv4_mapped().is_some(),
            _ => false,
        };
        let real = found
            .answer
            .iter()
            .filter(|record| record.rtype() == Rtype::AAAA && !is_mapped(record));
        let has_real = real.count() > 0;
        let has_mapped = found.answer.iter().any(is_mapped);
        let is_kept =
            self.is(DnsFault::MappedReturned) || has_real && self.is(DnsFault::MappedBesideReal);
        if !is_kept {
            found.answer.retain(|record| !is_mapped(record));
        }
        if has_mapped && has_real && self.is(DnsFault::MappedEmpties) {
            found.answer.retain(|record| record.rtype() != Rtype::AAAA);
        }
    }

    /// Sections 5.1.6 and 5.1.7. `first` is the answer without AAAA records.
    fn synthesise(&self, name: &DnsName, first: Resolved, second: Resolved) -> Resolved {
        if second.rcode != Rcode::NOERROR {
            return if self.is(DnsFault::ErrorOfABecomesEmpty) {
                Resolved::empty(Rcode::NOERROR)
            } else {
                second
            };
        }
        if !second.has(Rtype::A) {
            // Section 5.4: the answer to the original query, unless that was an error.
            return if first.rcode == Rcode::NOERROR {
                first
            } else {
                second
            };
        }
        let limit = match first.soa_ttl() {
            Some(ttl) => ttl,
            None if self.is(DnsFault::TtlWithoutLimit) => u32::MAX,
            None => LONGEST_TTL_WITHOUT_SOA,
        };
        let is_apex = self.ask(name, Rtype::NS).has(Rtype::NS);
        if is_apex && self.is(DnsFault::ApexNotSynthesised) {
            return first;
        }
        let mut answer = Vec::new();
        for record in &second.answer {
            match record.rtype() {
                Rtype::A => answer.extend(self.synthetic_for(name, record, limit)),
                Rtype::CNAME if self.is(DnsFault::ChainLeftOut) => {}
                Rtype::DNAME if self.is(DnsFault::ChainLeftOut) => {}
                Rtype::DNAME if self.is(DnsFault::DnameLeftOut) => {}
                _ => answer.push(record.clone()),
            }
        }
        let synthetic = answer
            .iter()
            .filter(|record| record.rtype() == Rtype::AAAA)
            .count();
        let of_a = second
            .answer
            .iter()
            .filter(|record| record.rtype() == Rtype::A)
            .count();
        if synthetic == 0 || synthetic < of_a && self.is(DnsFault::NotGlobalEmpties) {
            return first;
        }
        if self.is(DnsFault::FirstAAlone) {
            let mut left = 1;
            answer.retain(|record| {
                let is_kept = record.rtype() != Rtype::AAAA || left > 0;
                left -= i32::from(record.rtype() == Rtype::AAAA);
                is_kept
            });
        }
        if self.is(DnsFault::ARecordsKept) {
            let a = second.answer.iter();
            answer.extend(a.filter(|record| record.rtype() == Rtype::A).cloned());
        }
        Resolved { answer, ..second }
    }

    fn synthetic_for(&self, asked: &DnsName, a: &DnsRecord, limit: u32) -> Option<DnsRecord> {
        let limit = match self.fault {
            Some(DnsFault::TtlOfA) => u32::MAX,
            _ => limit,
        };
        let mut synthetic = self.synthetic(a, limit)?;
        if self.is(DnsFault::TtlOfSoa) {
            synthetic.set_ttl(Ttl::from_secs(limit));
        }
        let owner = synthetic.owner().clone();
        let wildcard = format!("*.{}.", owner.parent()?);
        let is_of_wildcard = owner.to_string().starts_with("host.wild.");
        let owner = match self.fault {
            Some(DnsFault::OwnerOfQuery) => asked.clone(),
            Some(DnsFault::WildcardKept) if is_of_wildcard => Name::from_str(&wildcard).ok()?,
            _ => owner,
        };
        let (_, data) = synthetic.clone().into_owner_and_data();
        Some(Record::new(owner, Class::IN, synthetic.ttl(), data))
    }

    /// Returns the synthetic record of an A record, with at most this TTL; `None` if there must be none (RFC 6052 section 3.1).
    fn synthetic(&self, a: &DnsRecord, most_ttl: u32) -> Option<DnsRecord> {
        let DnsData::A(data) = a.data() else {
            return None;
        };
        let address = data.addr();
        let is_well_known = self.prefix.to_string() == Prefix6052::WELL_KNOWN;
        if is_well_known && !is_global(address) && !self.is(DnsFault::NotGlobalSynthesised) {
            return None;
        }
        let ttl = a.ttl().as_secs().min(most_ttl);
        let data = Aaaa::new(self.embed(address));
        Some(record(a.owner(), ttl, data.into()))
    }

    fn embed(&self, address: Ipv4Addr) -> Ipv6Addr {
        let mut octets = address.octets();
        if self.is(DnsFault::WrongAddress) {
            octets.reverse();
        }
        self.prefix.embed(octets.into())
    }

    /// Section 5.3.1, the second option.
    fn ptr(&self, name: &DnsName) -> Resolved {
        let text = name.to_string();
        if text.ends_with("in-addr.arpa") && self.is(DnsFault::PtrInAddrRefused) {
            return Resolved::empty(Rcode::REFUSED);
        }
        let own: DnsName = Name::from_str("nat64.invalid.").expect("a name");
        let own = record(name, 60, Ptr::new(own).into());
        if text.ends_with("ip6.arpa") && self.is(DnsFault::PtrOfEveryPrefix) {
            return Resolved::of_answer(vec![own]);
        }
        let embedded = address_of(&text).and_then(|address| self.prefix.extract(address));
        let Some(embedded) = embedded.filter(|_| !self.is(DnsFault::PtrNotRecognised)) else {
            return self.ask(name, Rtype::PTR);
        };
        if self.is(DnsFault::PtrOwnData) {
            return Resolved::of_answer(vec![own]);
        }
        let [a, b, c, d] = embedded.octets();
        let target: DnsName =
            Name::from_str(&format!("{d}.{c}.{b}.{a}.in-addr.arpa.")).expect("a name");
        let mut found = self.ask(&target, Rtype::PTR);
        let is_direct = found.has(Rtype::PTR) && !found.has(Rtype::CNAME);
        if !is_direct && !self.is(DnsFault::PtrUnchecked) {
            return self.ask(name, Rtype::PTR);
        }
        let alias = record(name, 600, Cname::new(target).into());
        found.answer.insert(0, alias);
        found
    }

    /// Asks the authority, over TCP if the answer is truncated, and once more for the end of a chain.
    fn ask(&self, name: &DnsName, rtype: Rtype) -> Resolved {
        self.asked.borrow_mut().push((name.clone(), rtype));
        let query = {
            let mut builder = MessageBuilder::new_vec();
            builder.header_mut().set_id(1);
            let mut question = builder.question();
            question.push((name, rtype)).expect("room");
            question.finish()
        };
        let mut reply = self.authority.reply(&query, DnsTransport::Udp);
        if let AuthorityReply::Answer(octets) = &reply
            && octets[2] & 2 != 0
        {
            reply = self.authority.reply(&query, DnsTransport::Tcp);
        }
        let AuthorityReply::Answer(octets) = reply else {
            // Section 5.1.3.
            return Resolved {
                has_timed_out: true,
                ..Resolved::empty(Rcode::SERVFAIL)
            };
        };
        let message = DnsMessage::parse(&octets).expect("an answer");
        let found = Resolved {
            rcode: message.rcode.rcode(),
            answer: message.answer,
            authority: message.authority,
            additional: message.additional,
            has_timed_out: false,
        };
        let last = last_of_chain(name, &found.answer);
        let is_open =
            found.rcode == Rcode::NOERROR && !found.has(rtype) && found.authority.is_empty();
        if !is_open || last == *name || rtype == Rtype::CNAME {
            return found;
        }
        let end = self.ask(&last, rtype);
        Resolved {
            answer: [found.answer, end.answer].concat(),
            ..end
        }
    }

    fn compose(&self, query: &Message<[u8]>, asked: &Asked, resolved: &Resolved) -> Vec<u8> {
        let builder = MessageBuilder::from_target(TreeCompressor::new(Vec::new())).expect("room");
        let mut answer = builder.start_answer(query, resolved.rcode).expect("room");
        if self.is(DnsFault::QuestionLowered) {
            let name = asked.name.to_string().to_ascii_lowercase() + ".";
            let name: DnsName = Name::from_str(&name).expect("a name");
            let mut question = answer.builder().question();
            question
                .push((&name, asked.rtype, asked.class))
                .expect("room");
            answer = question.answer();
        }
        let header = answer.header_mut();
        header.set_ra(true);
        header.set_aa(self.is(DnsFault::AuthoritativeSet));
        header.set_ad(self.is(DnsFault::AdSet));
        header.set_cd(asked.is_checking_disabled);
        for record in &resolved.answer {
            answer.push(record).expect("room");
        }
        let mut section = answer.authority();
        for record in &resolved.authority {
            section.push(record).expect("room");
        }
        let mut section = section.additional();
        for record in &resolved.additional {
            section.push(record).expect("room");
        }
        let has_edns = asked.has_edns && !self.is(DnsFault::EdnsIgnored);
        if has_edns || self.is(DnsFault::EdnsVolunteered) {
            let pushed = section.opt(|opt| {
                opt.set_dnssec_ok(asked.is_dnssec_ok);
                Ok(())
            });
            pushed.expect("room");
        }
        section.finish().into_target()
    }
}

fn record(owner: &DnsName, ttl: u32, data: DnsData) -> DnsRecord {
    Record::new(owner.clone(), Class::IN, Ttl::from_secs(ttl), data)
}

/// Returns the name at the end of the aliases of an answer.
fn last_of_chain(name: &DnsName, answer: &[DnsRecord]) -> DnsName {
    let mut last = name.clone();
    for _ in 0..answer.len() {
        let alias = answer.iter().find_map(|record| match record.data() {
            DnsData::Cname(cname) if *record.owner() == last => Some(cname.cname().clone()),
            _ => None,
        });
        match alias {
            Some(target) => last = target,
            None => break,
        }
    }
    last
}

/// Returns true for an address that is not listed in RFC 1918 and section 3 of RFC 5735, as far as vectors have them.
fn is_global(address: Ipv4Addr) -> bool {
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast())
}

/// Returns the address of a name in IP6.ARPA (RFC 3596 section 2.5).
fn address_of(name: &str) -> Option<Ipv6Addr> {
    let nibbles = name.strip_suffix(".ip6.arpa")?;
    let digits: String = nibbles.split('.').rev().collect();
    u128::from_str_radix(&digits, 16).ok().map(Ipv6Addr::from)
}
