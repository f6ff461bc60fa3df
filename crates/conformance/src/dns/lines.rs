//! Names and records, as zone files have them.

use super::mistake::DnsMistake;
use domain::base::iana::Class;
use domain::base::name::FlattenInto;
use domain::base::{Name, Record};
use domain::rdata::ZoneRecordData;
use domain::zonefile::inplace::{Entry, Zonefile};
use std::str::FromStr;

/// A domain name. Names that differ only in the case of letters are equal.
pub type DnsName = Name<Vec<u8>>;
/// The data of a record.
pub type DnsData = ZoneRecordData<Vec<u8>, DnsName>;
/// A record.
pub type DnsRecord = Record<DnsName, DnsData>;

/// Returns a name, which is relative to the origin unless it ends with a dot; `@` is the origin.
pub(super) fn parse_name(text: &str, origin: &DnsName) -> Result<DnsName, DnsMistake> {
    let absolute = match text {
        "@" => return Ok(origin.clone()),
        _ if text.ends_with('.') => text.to_owned(),
        _ => format!("{text}.{origin}."),
    };
    // The root's own text is a dot, which follows the one before the origin.
    let absolute = if absolute.ends_with("..") {
        absolute.trim_end_matches('.').to_owned() + "."
    } else {
        absolute
    };
    Name::from_str(&absolute).map_err(|_| DnsMistake::Name(text.to_owned()))
}

/// Returns the record of a line of a zone file, which begins with the record's owner. `ttl` is that of a record without one, in seconds.
pub(super) fn parse_record(
    text: &str,
    origin: &DnsName,
    ttl: u32,
) -> Result<DnsRecord, DnsMistake> {
    let mut reader = Zonefile::from(format!("$TTL {ttl}\n{text}\n").as_str());
    let origin = Name::from_octets(origin.as_slice().to_vec().into())
        .map_err(|_| DnsMistake::Name(origin.to_string()))?;
    reader.set_origin(origin);
    reader.set_default_class(Class::IN);
    match reader.next_entry() {
        Ok(Some(Entry::Record(record))) => record
            .try_flatten_into()
            .map_err(|_| record_mistake(text, "a name is too long")),
        Ok(_) => Err(record_mistake(text, "expected OWNER [TTL] TYPE DATA")),
        Err(error) => Err(record_mistake(text, &error.to_string())),
    }
}

fn record_mistake(text: &str, reason: &str) -> DnsMistake {
    DnsMistake::Record {
        text: text.to_owned(),
        reason: reason.to_owned(),
    }
}
