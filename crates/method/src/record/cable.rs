//! The cables of a testbed whose links end at interfaces: which port of which machine is at each end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A cable between the tester and a device, between two devices of a row, or, without a device, between the tester's own ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cable {
    /// The end that is nearer to the tester's left port.
    pub left: CableEnd,
    /// The end that is nearer to the tester's right port.
    pub right: CableEnd,
}

/// A port, with a cable in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CableEnd {
    /// The machine: `tester`, the name by which ssh knows the machine of a device or of an agent, or `device` for one that the user set up.
    pub machine: String,
    /// The interface or the address of the port; unknown of a device that the user set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Its driver; `None` of an interface without hardware, and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The rate of its medium in Mbit/s, as the driver reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<u32>,
}

impl CableEnd {
    /// The machine of a tester's port.
    pub const TESTER: &'static str = "tester";
    /// The machine of a device that the user set up.
    pub const DEVICE: &'static str = "device";

    /// Returns the end at a port, described by the facts about its machine, which name it as in [`Facts::host`](super::Facts::host).
    pub fn described(machine: &str, port: &str, facts: &BTreeMap<String, String>) -> Self {
        let driver = facts.get(&format!("{port}: driver"));
        let speed = facts.get(&format!("{port}: speed in Mbit/s"));
        Self {
            machine: machine.to_owned(),
            port: Some(port.to_owned()),
            driver: driver.cloned(),
            speed: speed.and_then(|speed| speed.parse().ok()),
        }
    }

    /// Returns the end at a device that the user set up.
    pub fn unknown() -> Self {
        Self {
            machine: Self::DEVICE.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the rate of the medium in words: `10 Gbit/s`.
    pub fn speed_in_words(&self) -> Option<String> {
        self.speed.map(|megabits| {
            if megabits >= 1000 && megabits.is_multiple_of(100) {
                format!("{} Gbit/s", f64::from(megabits) / 1000.0)
            } else {
                format!("{megabits} Mbit/s")
            }
        })
    }
}

impl fmt::Display for CableEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.machine)?;
        if let Some(port) = &self.port {
            write!(f, " {port}")?;
        }
        let details: Vec<String> = self
            .driver
            .iter()
            .cloned()
            .chain(self.speed_in_words())
            .collect();
        if details.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", details.join(", "))
        }
    }
}

impl fmt::Display for Cable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --- {}", self.left, self.right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cable_is_drawn_with_what_is_known_of_its_ends() {
        let facts = [
            ("enp1s0f0: driver", "igb"),
            ("enp1s0f0: speed in Mbit/s", "1000"),
            ("e1: speed in Mbit/s", "2500"),
            ("e2: speed in Mbit/s", "100"),
        ];
        let facts = facts
            .map(|(name, fact)| (name.to_owned(), fact.to_owned()))
            .into();
        let cable = Cable {
            left: CableEnd::described(CableEnd::TESTER, "enp1s0f0", &facts),
            right: CableEnd::unknown(),
        };
        assert_eq!(
            cable.to_string(),
            "tester enp1s0f0 (igb, 1 Gbit/s) --- device"
        );
        let ends = ["e1", "e2", "e3"].map(|port| CableEnd::described("dut", port, &facts));
        assert_eq!(
            ends.map(|end| end.to_string()),
            ["dut e1 (2.5 Gbit/s)", "dut e2 (100 Mbit/s)", "dut e3"]
        );
    }
}
