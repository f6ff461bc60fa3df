//! DNS servers (RFC 8219 section 9).

mod figures;
pub(super) mod json;
mod sentences;
mod tables;

pub(crate) use tables::repeated_at_rates;

use crate::digest::{Digest, PointDigest};
use crate::subject::{Chapter, PointFields, Subject};

pub(super) struct DnsServers;

impl Subject for DnsServers {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![
            Chapter::new(
                "dns",
                "DNS resolution performance (RFC 8219 section 9)",
                tables::results(digest),
                vec![figures::figure(digest), figures::servers(digest)],
            ),
            Chapter::new(
                "dns-trials",
                "DNS queries in the trials that decided",
                tables::trials(digest),
                vec![],
            ),
        ]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.dns = json::point(digest, point);
    }
}
