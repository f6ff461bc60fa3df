//! The tester's authority for vectors: a function from a query to its answer. It serves the zones of all vectors, and the root above them, so that a
//! server that forwards everything finds every name here. It has no sockets and no clock.

use super::exchange::ResolvedExchange;
use super::lines::{DnsData, DnsName, DnsRecord};
use super::query::DnsTransport;
use super::zone::{FailureMode, ZoneLine};
use domain::base::iana::{Class, Opcode, Rcode, Rtype};
use domain::base::message_builder::{MessageBuilder, PushError, TreeCompressor};
use domain::base::name::{Label, Name, OwnedLabel, ToLabelIter};
use domain::base::{Message, Record, Serial, ToName, Ttl};
use domain::rdata::{Cname, Soa};
use std::collections::{BTreeMap, BTreeSet};

/// The size of messages over UDP that the authority announces and sends at most, in octets.
const UDP_SIZE: u16 = 1232;
/// The size of messages over UDP without EDNS (RFC 1035 section 4.2.1).
const SIZE_WITHOUT_EDNS: u16 = 512;
/// TC in octet 2 of a header.
const TRUNCATED: u8 = 2;
/// The longest chain of aliases that is followed.
const LONGEST_CHAIN: usize = 16;
/// The TTL of the SOA records of zones above those of vectors, in seconds.
const TTL_ABOVE: u32 = 600;

/// The authority's reaction to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorityReply {
    /// This message.
    Answer(Vec<u8>),
    /// None.
    Silence,
}

/// The zones of all vectors.
#[derive(Clone, Debug)]
pub struct VectorAuthority {
    records: BTreeMap<DnsName, Vec<DnsRecord>>,
    failures: BTreeMap<(DnsName, Rtype), FailureMode>,
    /// Names above others, which exist even if they have no records (RFC 4592 section 2.2.2).
    inner: BTreeSet<DnsName>,
}

/// The data of the zones for a name and a type.
struct LookupResult {
    rcode: Rcode,
    answer: Vec<DnsRecord>,
    /// The name at which the search ended.
    last: DnsName,
    has_soa: bool,
}

impl VectorAuthority {
    /// Returns the authority for these vectors.
    pub fn new<'v>(vectors: impl IntoIterator<Item = &'v ResolvedExchange>) -> Self {
        let mut authority = Self {
            records: BTreeMap::new(),
            failures: BTreeMap::new(),
            inner: BTreeSet::new(),
        };
        authority.add(soa_above(Name::root_vec()));
        for vector in vectors {
            // Names outside the zones of vectors belong to zones of their own: a server may take NXDOMAIN from the root for a whole top-level domain.
            let names = vector.zone.iter().filter_map(ZoneLine::owner);
            let tops = names.chain([&vector.query.name]).filter_map(top);
            for top in tops.collect::<BTreeSet<_>>() {
                if !authority.records.contains_key(&top) {
                    authority.add(soa_above(top));
                }
            }
            for line in vector.zone.iter().cloned() {
                match line {
                    ZoneLine::Record(record) => authority.add(record),
                    ZoneLine::Failure(name, rtype, failure) => {
                        authority.note_above(&name);
                        authority.failures.insert((name, rtype), failure);
                    }
                    ZoneLine::Ttl(_) => {}
                }
            }
        }
        authority
    }

    fn add(&mut self, record: DnsRecord) {
        self.note_above(record.owner());
        let of_name = self.records.entry(record.owner().clone()).or_default();
        // A zone has one SOA record: a vector's own replaces that of its file.
        if record.rtype() == Rtype::SOA {
            of_name.retain(|other| other.rtype() != Rtype::SOA);
        }
        if !of_name.contains(&record) {
            of_name.push(record);
        }
    }

    fn note_above(&mut self, name: &DnsName) {
        self.inner.extend(above(name));
    }

    /// Returns the question of a query, for a log of what was asked.
    pub fn question(query: &[u8]) -> Option<(DnsName, Rtype)> {
        let question = Message::from_slice(query).ok()?.sole_question().ok()?;
        Some((question.qname().to_name(), question.qtype()))
    }

    /// Returns the reply to a message.
    pub fn reply(&self, query: &[u8], transport: DnsTransport) -> AuthorityReply {
        let Ok(message) = Message::from_slice(query) else {
            return AuthorityReply::Silence;
        };
        let Ok(question) = message.sole_question() else {
            return AuthorityReply::Silence;
        };
        if message.header().qr() || message.header().opcode() != Opcode::QUERY {
            return AuthorityReply::Silence;
        }
        let (name, rtype): (DnsName, _) = (question.qname().to_name(), question.qtype());
        let found = if question.qclass() == Class::IN {
            self.look_up(&name, rtype)
        } else {
            Some(LookupResult::failed(Rcode::REFUSED, name))
        };
        let answered = found.and_then(|found| self.compose(message, &found, transport).ok());
        answered.map_or(AuthorityReply::Silence, AuthorityReply::Answer)
    }

    /// Looks a type of a name up by RFC 1034 section 4.3.2 and RFC 6672 section 3.2. `None` if there must be no answer.
    fn look_up(&self, name: &DnsName, rtype: Rtype) -> Option<LookupResult> {
        let mut found = LookupResult::failed(Rcode::NOERROR, name.clone());
        for _ in 0..LONGEST_CHAIN {
            match self.failures.get(&(found.last.clone(), rtype)) {
                // What comes before in a chain is answered; the server asks for its end by itself.
                Some(_) if !found.answer.is_empty() => return Some(found.without_soa()),
                Some(FailureMode::Timeout) => return None,
                Some(FailureMode::WithoutSoa) => return Some(found.without_soa()),
                Some(FailureMode::Rcode(rcode)) => {
                    found.rcode = *rcode;
                    found.has_soa = *rcode == Rcode::NXDOMAIN;
                    return Some(found);
                }
                None => {}
            }
            match self.step(&found.last, rtype) {
                LookupStep::Alias(records, target) => {
                    found.answer.extend(records);
                    found.last = target;
                }
                LookupStep::End(records) => {
                    found.answer.extend(records);
                    return Some(found);
                }
                LookupStep::Nowhere => {
                    found.rcode = Rcode::NXDOMAIN;
                    return Some(found);
                }
            }
        }
        Some(found)
    }

    /// Returns what a name has: an alias to be followed, or the end of a chain.
    fn step(&self, name: &DnsName, rtype: Rtype) -> LookupStep {
        if let Some(records) = self.records.get(name) {
            return LookupStep::at(records.clone(), rtype);
        }
        if self.inner.contains(name) || self.has_failure(name) {
            return LookupStep::End(Vec::new());
        }
        if let Some(redirected) = self.redirect(name) {
            return redirected;
        }
        let wildcard = self
            .closest_encloser(name)
            .and_then(|encloser| self.records.get(&child(Label::wildcard(), &encloser)?));
        match wildcard {
            Some(records) => {
                let owned = records.iter().map(|record| with_owner(record, name));
                LookupStep::at(owned.collect(), rtype)
            }
            None => LookupStep::Nowhere,
        }
    }

    fn has_failure(&self, name: &DnsName) -> bool {
        self.failures.keys().any(|(failing, _)| failing == name)
    }

    /// Returns the DNAME record above a name, with the CNAME record that follows from it.
    fn redirect(&self, name: &DnsName) -> Option<LookupStep> {
        let (owner, dname) = above(name).find_map(|owner| {
            let records = self.records.get(&owner)?;
            let dname = records.iter().find(|record| record.rtype() == Rtype::DNAME);
            Some((owner, dname?))
        })?;
        let DnsData::Dname(data) = dname.data() else {
            return None;
        };
        let kept = name.iter_labels().count() - owner.iter_labels().count();
        let labels: Vec<OwnedLabel> = name
            .iter_labels()
            .take(kept)
            .map(OwnedLabel::from_label)
            .collect();
        let target = labels
            .iter()
            .rev()
            .try_fold(data.dname().clone(), |below, label| child(label, &below))?;
        let alias = Record::new(
            name.clone(),
            Class::IN,
            dname.ttl(),
            Cname::new(target.clone()).into(),
        );
        Some(LookupStep::Alias(vec![dname.clone(), alias], target))
    }

    fn closest_encloser(&self, name: &DnsName) -> Option<DnsName> {
        above(name).find(|above| self.records.contains_key(above) || self.inner.contains(above))
    }

    /// Returns the SOA record of the zone of a name, with the TTL that it has in negative answers (RFC 2308 section 3).
    fn soa(&self, name: &DnsName) -> Option<DnsRecord> {
        let at = std::iter::once(name.clone()).chain(above(name));
        let mut zones = at.filter_map(|zone| self.records.get(&zone));
        let record = zones.find_map(|records| {
            records
                .iter()
                .find(|record| record.rtype() == Rtype::SOA)
                .cloned()
        });
        let mut record = record?;
        if let DnsData::Soa(soa) = record.data() {
            let ttl = soa.minimum().min(record.ttl());
            record.set_ttl(ttl);
        }
        Some(record)
    }

    fn authority_section(&self, found: &LookupResult, rtype: Rtype) -> Vec<DnsRecord> {
        let is_negative = found
            .answer
            .iter()
            .all(|record| record.rtype() == Rtype::CNAME || record.rtype() == Rtype::DNAME);
        let is_failure = found.rcode != Rcode::NOERROR && found.rcode != Rcode::NXDOMAIN;
        if is_failure || is_negative && (!found.has_soa || rtype == Rtype::CNAME) {
            return Vec::new();
        }
        if is_negative {
            return self.soa(&found.last).into_iter().collect();
        }
        let zone = self.soa(&found.last).map(|soa| soa.owner().clone());
        let of_zone = zone.and_then(|zone| self.records.get(&zone));
        let of_zone = of_zone.map_or(&[][..], Vec::as_slice).iter();
        of_zone
            .filter(|record| record.rtype() == Rtype::NS)
            .cloned()
            .collect()
    }

    /// Returns the addresses of the hosts that records name (RFC 1035 sections 3.3.9 and 3.3.11).
    fn additional_section<'r>(
        &self,
        records: impl Iterator<Item = &'r DnsRecord>,
    ) -> Vec<DnsRecord> {
        let hosts = records.filter_map(|record| match record.data() {
            DnsData::Ns(ns) => Some(ns.nsdname()),
            DnsData::Mx(mx) => Some(mx.exchange()),
            _ => None,
        });
        let of_hosts = hosts.filter_map(|host| self.records.get(host));
        let of_hosts = of_hosts.flatten();
        of_hosts
            .filter(|record| matches!(record.rtype(), Rtype::A | Rtype::AAAA))
            .cloned()
            .collect()
    }

    fn compose(
        &self,
        query: &Message<[u8]>,
        found: &LookupResult,
        transport: DnsTransport,
    ) -> Result<Vec<u8>, PushError> {
        let announced = query.opt().map(|opt| opt.udp_payload_size());
        let limit = match (transport, announced) {
            (DnsTransport::Tcp, _) => u16::MAX,
            (DnsTransport::Udp, None) => SIZE_WITHOUT_EDNS,
            (DnsTransport::Udp, Some(size)) => size.clamp(SIZE_WITHOUT_EDNS, UDP_SIZE),
        };
        let rtype = query
            .sole_question()
            .map_or(Rtype::A, |question| question.qtype());
        let authority = self.authority_section(found, rtype);
        let additional = self.additional_section(found.answer.iter().chain(&authority));
        let whole = message_of(query, found, &authority, &additional)?;
        if whole.len() <= usize::from(limit) {
            return Ok(whole);
        }
        let short = message_of(query, found, &[], &[])?;
        if short.len() <= usize::from(limit) {
            return Ok(short);
        }
        truncated(query)
    }
}

impl LookupResult {
    fn failed(rcode: Rcode, last: DnsName) -> Self {
        Self {
            rcode,
            answer: Vec::new(),
            last,
            has_soa: true,
        }
    }

    fn without_soa(self) -> Self {
        Self {
            has_soa: false,
            ..self
        }
    }
}

/// The outcome of one step of a search.
enum LookupStep {
    /// Records that lead to another name.
    Alias(Vec<DnsRecord>, DnsName),
    /// Records that end the search, or none.
    End(Vec<DnsRecord>),
    /// The name does not exist.
    Nowhere,
}

impl LookupStep {
    fn at(records: Vec<DnsRecord>, rtype: Rtype) -> Self {
        let alias = records.iter().find(|record| record.rtype() == Rtype::CNAME);
        if let Some(record) = alias
            && let DnsData::Cname(cname) = record.data()
            && rtype != Rtype::CNAME
            && rtype != Rtype::ANY
        {
            return Self::Alias(vec![record.clone()], cname.cname().clone());
        }
        let mut of_type = records;
        of_type.retain(|record| rtype == Rtype::ANY || record.rtype() == rtype);
        Self::End(of_type)
    }
}

/// Returns the names above one, the nearest first, down to the root.
fn above(name: &DnsName) -> impl Iterator<Item = DnsName> {
    name.iter_suffixes().skip(1).map(|suffix| suffix.to_name())
}

/// Returns a name with one more label; `None` if it would be too long.
fn child(label: &Label, parent: &DnsName) -> Option<DnsName> {
    let mut wire = vec![label.len() as u8];
    wire.extend_from_slice(label.as_slice());
    wire.extend_from_slice(parent.as_slice());
    Name::from_octets(wire).ok()
}

fn with_owner(record: &DnsRecord, owner: &DnsName) -> DnsRecord {
    Record::new(
        owner.clone(),
        record.class(),
        record.ttl(),
        record.data().clone(),
    )
}

/// Returns the top-level domain of a name; `None` for the root.
fn top(name: &DnsName) -> Option<DnsName> {
    let suffixes = name.iter_suffixes();
    suffixes
        .map(|suffix| suffix.to_name())
        .nth(name.label_count().checked_sub(2)?)
}

/// Returns the SOA record of a zone above those of vectors.
fn soa_above(zone: DnsName) -> DnsRecord {
    let ttl = Ttl::from_secs(TTL_ABOVE);
    let soa = Soa::new(
        Name::root_vec(),
        Name::root_vec(),
        Serial::from(1),
        ttl,
        ttl,
        ttl,
        ttl,
    );
    Record::new(zone, Class::IN, ttl, soa.into())
}

fn message_of(
    query: &Message<[u8]>,
    found: &LookupResult,
    authority: &[DnsRecord],
    additional: &[DnsRecord],
) -> Result<Vec<u8>, PushError> {
    let builder = MessageBuilder::from_target(TreeCompressor::new(Vec::new()))?;
    let mut answer = builder.start_answer(query, found.rcode)?;
    answer.header_mut().set_aa(true);
    for record in &found.answer {
        answer.push(record)?;
    }
    let mut section = answer.authority();
    for record in authority {
        section.push(record)?;
    }
    let mut section = section.additional();
    for record in additional {
        section.push(record)?;
    }
    if let Some(opt) = query.opt() {
        section.opt(|own| {
            own.set_udp_payload_size(UDP_SIZE);
            own.set_dnssec_ok(opt.dnssec_ok());
            Ok(())
        })?;
    }
    Ok(section.finish().into_target())
}

/// Returns an answer without records that tells the server to ask over TCP.
fn truncated(query: &Message<[u8]>) -> Result<Vec<u8>, PushError> {
    let nothing = LookupResult::failed(Rcode::NOERROR, Name::root_vec());
    let mut octets = message_of(query, &nothing, &[], &[])?;
    octets[2] |= TRUNCATED;
    Ok(octets)
}
