//! The numbers of cores that devices may use: one number for all devices, or separate numbers for some of several devices in a row.

use super::Test;
use crate::terms::bounds::NumberBound;
use std::collections::BTreeMap;

/// The numbers of cores that the devices of a test may use. A device without a limit uses all of its cores.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoreLimits {
    every: Option<u32>,
    by_device: BTreeMap<String, u32>,
}

impl CoreLimits {
    /// The cores that a plan may give a device.
    pub const NUMBER: NumberBound = NumberBound::new(1.0, 1000.0);

    /// Returns limits with the same number of cores for every device.
    pub fn every(cores: u32) -> Self {
        Self {
            every: Some(cores),
            by_device: BTreeMap::new(),
        }
    }

    /// Returns the number of cores that every device may use, if there is a common number.
    pub fn of_every(&self) -> Option<u32> {
        self.every
    }

    /// Returns the names of the devices, or of their machines, that have their own numbers.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.by_device.keys().map(String::as_str)
    }

    /// Returns the number of cores of the device with either of these names, its own and that of its machine; `None` means all cores.
    pub fn of_device(&self, names: [&str; 2]) -> Option<u32> {
        names
            .into_iter()
            .find_map(|name| self.by_device.get(name).copied())
            .or(self.every)
    }
}

impl Test {
    /// Returns the core limits of its devices.
    pub fn core_limits(&self) -> CoreLimits {
        CoreLimits {
            every: self.cores,
            by_device: self.device_cores.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_its_own_number_of_cores_by_its_name_or_that_of_its_machine() {
        let test = Test {
            device_cores: [("br".to_owned(), 4)].into(),
            ..Test::new("t", "row")
        };
        let limits = test.core_limits();
        assert_eq!(limits.of_device(["jool-plat", "br"]), Some(4));
        assert_eq!(limits.of_device(["br", "machine"]), Some(4));
        assert_eq!(limits.of_device(["jool-clat", "ce"]), None);
        assert_eq!(CoreLimits::every(2).of_device(["jool-clat", "ce"]), Some(2));
    }
}
