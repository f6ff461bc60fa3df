//! The address of a port: the path of a socket, and the number of an interface on it.

use super::error::MemifError;
use crate::backend::mac::local_mac;

/// An address, as it follows `memif:` or `memif-server:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemifAddress {
    /// The path of the socket, or `@` and a name in the abstract namespace.
    pub(super) path: String,
    /// The number of the interface, as several may share a socket.
    pub(super) id: u32,
}

impl MemifAddress {
    /// Parses `PATH` or `PATH,id=NUMBER`.
    pub(super) fn parse(text: &str) -> Result<Self, MemifError> {
        let (path, option) = text
            .split_once(',')
            .map_or((text, None), |(path, option)| (path, Some(option)));
        if path.is_empty() || path == "@" {
            return Err(MemifError::Address("there is no path".to_owned()));
        }
        let number = |option: &str| option.strip_prefix("id=").and_then(|id| id.parse().ok());
        let id = match option {
            None => 0,
            Some(option) => number(option).ok_or_else(|| {
                MemifError::Address(format!("{option:?} is no number of an interface"))
            })?,
        };
        Ok(Self {
            path: path.to_owned(),
            id,
        })
    }

    /// Returns a hardware address for this end.
    pub(super) fn mac(&self, word: &str) -> [u8; 6] {
        local_mac(&format!("{word}:{},id={}", self.path, self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_be_followed_by_the_number_of_an_interface() {
        let parsed = |text| MemifAddress::parse(text).expect("an address");
        assert_eq!(
            parsed("/run/x.sock"),
            MemifAddress {
                path: "/run/x.sock".to_owned(),
                id: 0
            }
        );
        assert_eq!(
            parsed("@x,id=7"),
            MemifAddress {
                path: "@x".to_owned(),
                id: 7
            }
        );
        for text in [
            "",
            "@",
            ",id=1",
            "/x,id=",
            "/x,id=-1",
            "/x,secret=y",
            "/x,id=1,id=2",
        ] {
            let error = MemifAddress::parse(text)
                .expect_err("no address")
                .to_string();
            assert!(
                error.contains("expected a path as in /run/vpp/memif.sock"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_two_ends_of_a_device_have_different_hardware_addresses_that_stay() {
        let mac = |text| MemifAddress::parse(text).expect("an address").mac("memif");
        assert_eq!(mac("/run/left"), mac("/run/left,id=0"));
        assert_ne!(mac("/run/left"), mac("/run/right"));
        assert_ne!(mac("/run/left"), mac("/run/left,id=1"));
        assert_eq!(
            mac("/run/left")[0] & 3,
            2,
            "locally administered, and of one host"
        );
    }
}
