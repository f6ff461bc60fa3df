//! Translates addresses according to a recipe.

use sixbench_testbed::recipe::TranslationSection;
use sixbench_wire::{Eam, EamTable, Prefix6052, WireError};
use std::net::IpAddr;

/// The translation in a recipe: explicit mappings first, then the prefix (RFC 7757 section 4).
pub(crate) struct Translator {
    eam: EamTable,
    prefix: Option<Prefix6052>,
}

impl Translator {
    pub(crate) fn new(translation: &TranslationSection) -> Result<Self, WireError> {
        let mapping = |(four, six): &(String, String)| Eam::new(four.parse()?, six.parse()?);
        let mappings = translation
            .eam
            .iter()
            .map(mapping)
            .collect::<Result<Vec<_>, _>>()?;
        let prefix = translation.prefix.as_deref().map(str::parse).transpose()?;
        Ok(Self {
            eam: EamTable::new(mappings)?,
            prefix,
        })
    }

    /// Returns true if an address has a counterpart of the other version.
    pub(crate) fn has_mapping(&self, address: IpAddr) -> bool {
        self.translate(address).is_some()
    }

    pub(crate) fn translate(&self, address: IpAddr) -> Option<IpAddr> {
        match address {
            IpAddr::V4(address) => {
                let embedded = || Some(self.prefix.as_ref()?.embed(address));
                self.eam.to_ipv6(address).or_else(embedded).map(IpAddr::V6)
            }
            IpAddr::V6(address) => {
                let extracted = || self.prefix.as_ref()?.extract(address);
                self.eam.to_ipv4(address).or_else(extracted).map(IpAddr::V4)
            }
        }
    }
}
