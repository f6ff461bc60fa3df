//! A query for the AAAA record of a name, which is built once and patched for each query.

use super::names::{Domain, write_label};
use sixbench_method::plan::NAME_LABEL;

/// Octets of the header of every message (RFC 1035 section 4.1.1).
pub(crate) const HEADER: usize = 12;
/// Recursion desired, as clients of a DNS64 server set it.
const RD: u8 = 0x01;
/// AAAA (RFC 3596).
pub(crate) const AAAA: u16 = 28;
/// IN.
pub(crate) const INTERNET: u16 = 1;
/// The octet at which the label of the address begins, after the header and the label's length.
const AT_LABEL: usize = HEADER + 1;

/// A query without label and identifier. It has no EDNS, like those of dns64perf++.
#[derive(Clone, Debug)]
pub(crate) struct Query(Box<[u8]>);

impl Query {
    /// Creates a query for names of `domain`.
    pub(crate) fn new(domain: &Domain) -> Self {
        let mut octets = vec![0, 0, RD, 0, 0, 1, 0, 0, 0, 0, 0, 0, NAME_LABEL as u8];
        octets.extend_from_slice(&[0; NAME_LABEL]);
        octets.extend_from_slice(domain.wire());
        octets.extend_from_slice(&AAAA.to_be_bytes());
        octets.extend_from_slice(&INTERNET.to_be_bytes());
        Self(octets.into())
    }

    /// Returns the octets of the query, which are the same for every name.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes the whole query into `out`, which must have its length.
    pub(crate) fn write(&self, out: &mut [u8], id: u16, address: u32) {
        out.copy_from_slice(&self.0);
        Self::patch(out, id, address);
    }

    /// Turns a written query into one for another name.
    #[inline]
    pub(crate) fn patch(out: &mut [u8], id: u16, address: u32) {
        out[..2].copy_from_slice(&id.to_be_bytes());
        if let Some(label) = out[AT_LABEL..].first_chunk_mut() {
            write_label(address, label);
        }
    }
}

/// Returns a query for the record of a name in wire format; its identifier is 0.
pub(crate) fn message(name: &[u8], record_type: u16) -> Vec<u8> {
    let mut octets = vec![0, 0, RD, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    octets.extend_from_slice(name);
    octets.extend_from_slice(&record_type.to_be_bytes());
    octets.extend_from_slice(&INTERNET.to_be_bytes());
    octets
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::base::iana::Rtype;
    use domain::base::{Message, Name};

    #[test]
    fn another_library_reads_the_query_as_it_was_meant() {
        let query = Query::new(&Domain::new("dns64perf.test").expect("a domain"));
        let mut octets = vec![0; query.len()];
        query.write(&mut octets, 0xbeef, 0x0a00_00ff);
        let message = Message::from_octets(&octets).expect("a message");
        assert_eq!(
            (
                message.header().id(),
                message.header().rd(),
                message.header().qr()
            ),
            (0xbeef, true, false)
        );
        let question = message.sole_question().expect("one question");
        let name: Name<Vec<u8>> = "010-000-000-255.dns64perf.test.".parse().expect("a name");
        assert!(question.qname() == &name && question.qtype() == Rtype::AAAA);
    }
}
