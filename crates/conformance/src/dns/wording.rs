//! A message in the notation of vectors, so that what came can be read beside what is expected.

use super::lines::{DnsName, DnsRecord};
use super::message::{DnsMessage, HeaderFlag};
use super::symbols::{DnsSetting, address_of_reverse};
use domain::base::name::Name;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// Describes messages to one server, with the names of one vector relative to its zone.
#[derive(Clone, Copy, Debug)]
pub struct DnsWording<'a> {
    pub(super) setting: &'a DnsSetting,
    pub(super) origin: &'a DnsName,
}

impl DnsWording<'_> {
    /// Returns the header of a message, and its EDNS, as dig prints them.
    pub fn header(&self, message: &DnsMessage) -> String {
        let set = HeaderFlag::ALL
            .into_iter()
            .filter(|flag| message.has(*flag));
        let flags: Vec<&str> = set.map(HeaderFlag::name).collect();
        let header = format!("status: {}, flags: {}", message.rcode, flags.join(" "));
        let edns = message.edns.map(|edns| {
            let flags = if edns.is_dnssec_ok { " do" } else { "" };
            let (version, size) = (edns.version, edns.size);
            format!("; EDNS: version: {version}, flags:{flags}; udp: {size}")
        });
        header + &edns.unwrap_or_default()
    }

    /// Returns a record as a line of a zone file.
    pub fn record(&self, record: &DnsRecord) -> String {
        let ttl = record.ttl().as_secs();
        let owner = self.name(record.owner());
        format!("{owner} {ttl} {} {}", record.rtype(), self.data(record))
    }

    /// Returns the data of a record as in a line of a zone file.
    pub fn data(&self, record: &DnsRecord) -> String {
        let data = record.data().display_zonefile(DisplayKind::Simple);
        let data = data.to_string();
        let words: Vec<String> = data
            .split_whitespace()
            .map(|word| self.word(word))
            .collect();
        words.join(" ")
    }

    /// Returns a name: relative to the zone of the vector, `arpa(ADDRESS)`, or absolute.
    pub fn name(&self, name: &DnsName) -> String {
        if name == self.origin {
            return "@".to_owned();
        }
        if let Some(address) = address_of_reverse(name) {
            return format!("arpa({})", self.address(address));
        }
        let (text, origin) = (name.to_string(), self.origin.to_string());
        let at = text.len().saturating_sub(origin.len());
        match (text.get(..at), text.get(at..)) {
            (Some(relative), Some(end))
                if end.eq_ignore_ascii_case(&origin) && relative.ends_with('.') =>
            {
                relative.trim_end_matches('.').to_owned()
            }
            _ if text == "." => text,
            _ => text + ".",
        }
    }

    fn word(&self, word: &str) -> String {
        if let Ok(address) = word.parse::<Ipv6Addr>() {
            return self.address(address.into());
        }
        let is_name = word.ends_with('.') && word.len() > 1;
        let name = is_name.then(|| Name::from_str(word).ok()).flatten();
        name.map_or_else(|| word.to_owned(), |name| self.name(&name))
    }

    fn address(&self, address: IpAddr) -> String {
        match address {
            IpAddr::V6(ipv6) => match self.setting.embedded(ipv6) {
                Some(ipv4) => format!("pref64::{ipv4}"),
                None => ipv6.to_string(),
            },
            IpAddr::V4(ipv4) => ipv4.to_string(),
        }
    }
}
