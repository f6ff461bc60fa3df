//! The data of the authority: a zone that is computed, not stored.

use crate::dns::names::{Domain, NamePopulation, read_label};
use domain::base::iana::Rtype;
use domain::base::name::{Name, ToLabelIter};
use domain::base::{Serial, ToName, Ttl};
use domain::rdata::{A, Aaaa, Ns, Soa, ZoneRecordData};
use sixbench_method::plan::NAME_LABEL;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// A zone with a name for every IPv4 address. Each name has that address as its A record, and some have their own AAAA record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressZone {
    /// The domain in which all names end.
    pub domain: Domain,
    /// The names that have an AAAA record.
    pub population: NamePopulation,
    /// Seconds for which anything may be cached, including that a record does not exist: the TTL of all records and the SOA's minimum (RFC 2308).
    pub ttl_s: u32,
}

/// The name server's own name in the domain.
pub(crate) const SERVER: &str = "ns";
/// The mailbox in the SOA record.
pub(crate) const MAILBOX: &str = "hostmaster";
/// The serial number, which is constant because the zone never changes.
pub(crate) const SERIAL: u32 = 1;
/// Refresh, retry and expire of the SOA record, in seconds; they are for secondaries, and there are none.
pub(crate) const SECONDARIES: [u32; 3] = [86_400, 7_200, 3_600_000];

pub(super) type Owned = Name<Vec<u8>>;
pub(super) type Data = ZoneRecordData<Vec<u8>, Owned>;

/// The zone as data of the `domain` library, with the addresses of this server.
#[derive(Clone, Debug)]
pub(super) struct ZoneRecords {
    pub(super) zone: Arc<AddressZone>,
    pub(super) apex: Owned,
    own: Vec<IpAddr>,
}

/// The location of a name in the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameLocation {
    /// In another zone.
    Outside,
    /// The domain itself.
    Apex,
    /// The name server's name.
    Server,
    /// The name of an IPv4 address.
    Address(u32),
    /// In the domain, but without any records.
    Nowhere,
}

impl ZoneRecords {
    /// Creates the records of a server that listens at `own`; unspecified addresses are left out.
    pub(super) fn new(zone: Arc<AddressZone>, own: &[IpAddr]) -> Self {
        let apex = Name::from_octets(zone.domain.wire().to_vec())
            .expect("a Domain has checked its labels");
        let own = own
            .iter()
            .copied()
            .filter(|address| !address.is_unspecified())
            .collect();
        Self { zone, apex, own }
    }

    /// Returns the location of a name in the zone.
    pub(super) fn place(&self, name: &impl ToName) -> NameLocation {
        if !name.ends_with(&self.apex) {
            return NameLocation::Outside;
        }
        let below = name.iter_labels().count() - self.apex.iter_labels().count();
        match (
            below,
            name.iter_labels().next().map(|label| label.as_slice()),
        ) {
            (0, _) => NameLocation::Apex,
            (1, Some(label)) if label.eq_ignore_ascii_case(SERVER.as_bytes()) => {
                NameLocation::Server
            }
            (1, Some(label)) => <&[u8; NAME_LABEL]>::try_from(label)
                .ok()
                .and_then(read_label)
                .map_or(NameLocation::Nowhere, NameLocation::Address),
            _ => NameLocation::Nowhere,
        }
    }

    /// Returns the record of a type at a location, if there is one; for `ANY`, one of the existing records (RFC 8482 section 4.1).
    pub(super) fn record(&self, place: NameLocation, rtype: Rtype) -> Option<Data> {
        let is_any = rtype == Rtype::ANY;
        // The order of the cases decides which record answers `ANY`.
        let (wants_a, wants_aaaa) = (is_any || rtype == Rtype::A, is_any || rtype == Rtype::AAAA);
        match place {
            NameLocation::Apex if is_any || rtype == Rtype::SOA => Some(self.soa().into()),
            NameLocation::Apex if rtype == Rtype::NS => Some(Ns::new(self.below(SERVER)).into()),
            NameLocation::Address(address) if wants_a => {
                Some(A::new(Ipv4Addr::from(address)).into())
            }
            NameLocation::Address(address)
                if wants_aaaa && self.zone.population.has_aaaa(address) =>
            {
                Some(Aaaa::new(NamePopulation::own_aaaa(address)).into())
            }
            NameLocation::Server => self.own.iter().find_map(|own| match own {
                IpAddr::V4(own) if wants_a => Some(A::new(*own).into()),
                IpAddr::V6(own) if wants_aaaa => Some(Aaaa::new(*own).into()),
                _ => None,
            }),
            _ => None,
        }
    }

    /// Returns the SOA record.
    pub(super) fn soa(&self) -> Soa<Owned> {
        let [refresh, retry, expire] = SECONDARIES.map(Ttl::from_secs);
        let minimum = Ttl::from_secs(self.zone.ttl_s);
        Soa::new(
            self.below(SERVER),
            self.below(MAILBOX),
            Serial::from(SERIAL),
            refresh,
            retry,
            expire,
            minimum,
        )
    }

    fn below(&self, label: &str) -> Owned {
        let mut wire = vec![label.len() as u8];
        wire.extend_from_slice(label.as_bytes());
        wire.extend_from_slice(self.zone.domain.wire());
        Name::from_octets(wire)
            .expect("shorter than the names of addresses, which a Domain has checked")
    }
}

/// The addresses of the name server in a zone file: loopback addresses, as it is not known which server will load the file.
pub(crate) const ANYBODY: (Ipv4Addr, Ipv6Addr) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
