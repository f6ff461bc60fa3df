//! Backends: the ways to send and receive frames. Each is a module with an entry in [`BACKENDS`], from which everything else follows: its word in
//! plan files and on the command line, its explanation, what this machine lacks for it, and how its ports are opened.

mod dpdk;
mod full;
mod mac;
mod memif;
pub mod packet;
mod turn;
mod xdp;

pub use memif::fuzzing;

use crate::{BackendInfo, Port, PortError, PortOptions, PortRequest};
use std::fmt;

/// All backends. Those that open interfaces are ordered from slower to faster, on veth (measured) as on NICs.
pub static BACKENDS: &[BackendInfo] = &[
    packet::INFO,
    xdp::INFO,
    memif::SERVER,
    memif::CLIENT,
    dpdk::INFO,
];

/// The backend to be used for kernel interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The fastest one that works.
    #[default]
    Auto,
    /// This one.
    Named(&'static BackendInfo),
}

impl Backend {
    /// Returns the possible choices, with the word for each.
    pub fn words() -> impl Iterator<Item = (&'static str, Self)> {
        let of_interfaces = BACKENDS.iter().filter(|info| info.opens_interfaces);
        std::iter::once(("auto", Self::Auto))
            .chain(of_interfaces.map(|info| (info.word, Self::Named(info))))
    }

    /// Returns the backend of which several ports on one interface each receive all of its frames.
    pub fn shared() -> Self {
        static PACKET: BackendInfo = packet::INFO;
        Self::Named(&PACKET)
    }

    /// Opens an interface with the first backend that can, trying the fastest first; the error is that of the last attempt.
    fn open(self, request: &PortRequest<'_>) -> Result<Port, PortError> {
        let is_wanted = |info: &&BackendInfo| match self {
            Self::Auto => {
                info.opens_interfaces && (info.serves_queues || request.settings.is_plain())
            }
            Self::Named(wanted) => *info == wanted,
        };
        let mut failed = PortError::Interface {
            interface: request.address.to_owned(),
            what: "no backend opens it".to_owned(),
        };
        for info in BACKENDS.iter().rev().filter(is_wanted) {
            match (info.open)(request) {
                Ok(port) => return Ok(port),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }
}

/// One of the tester's ports, as plan files and the command line name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortSpec {
    /// A kernel interface.
    Interface(String),
    /// An address that a backend opens without an interface.
    Address(&'static BackendInfo, String),
}

impl PortSpec {
    /// Returns the port with this name. A colon marks an address: the kernel does not allow one in an interface's name.
    pub fn parse(name: &str) -> Self {
        Self::among(BACKENDS, name)
    }

    /// Returns the two ports of a comma-separated list; `None` unless there are two different ones. A comma within an address is recognised by
    /// the option that follows it, as in `memif:PATH,id=1`.
    pub fn parse_pair(list: &str) -> Option<[Self; 2]> {
        let mut names: Vec<String> = Vec::new();
        for part in list.split(',') {
            let is_option = part
                .split_once('=')
                .is_some_and(|(option, _)| !option.is_empty() && !option.contains(':'));
            match names
                .last_mut()
                .filter(|name| is_option && Self::parse(name).interface().is_none())
            {
                Some(name) => *name += &format!(",{part}"),
                None => names.push(part.to_owned()),
            }
        }
        let ports: [String; 2] = names.try_into().ok()?;
        Some(ports.map(|name| Self::parse(&name))).filter(|[left, right]| left != right)
    }

    fn among(backends: &'static [BackendInfo], name: &str) -> Self {
        let addressed = name.split_once(':').and_then(|(word, address)| {
            let info = backends
                .iter()
                .find(|info| info.word == word && !info.opens_interfaces)?;
            Some(Self::Address(info, address.to_owned()))
        });
        addressed.unwrap_or_else(|| Self::Interface(name.to_owned()))
    }

    /// Returns the name of the interface; `None` if it is an address.
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::Interface(name) => Some(name),
            Self::Address(..) => None,
        }
    }

    /// Returns the names of the interfaces of the kernel that the port uses: its own, those that the options of a DPDK device name, or those of a NIC whose
    /// driver shares it with DPDK. Whatever else goes through them would be test traffic's victim.
    pub fn kernel_interfaces(&self) -> Vec<String> {
        let Self::Address(info, address) = self else {
            return self.interface().into_iter().map(str::to_owned).collect();
        };
        let options = address
            .split(',')
            .skip(1)
            .filter_map(|option| option.split_once('='));
        let named = options
            .filter(|(key, _)| ["iface", "rx_iface", "tx_iface"].contains(key))
            .map(|(_, name)| name.to_owned());
        let mut all: Vec<String> = named.collect();
        if **info == dpdk::INFO {
            all.extend(dpdk::shared_interfaces(address));
        }
        all
    }

    /// Opens the port with these settings; an interface is opened with `backend`.
    ///
    /// # Errors
    /// The interface or address cannot be used, or not with this backend or these settings.
    pub fn open(&self, backend: Backend, settings: PortOptions) -> Result<Port, PortError> {
        match self {
            Self::Interface(address) => backend.open(&PortRequest { address, settings }),
            Self::Address(info, address) => (info.open)(&PortRequest { address, settings }),
        }
    }
}

impl fmt::Display for PortSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interface(name) => f.write_str(name),
            Self::Address(info, address) => write!(f, "{}:{address}", info.word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::loopback;

    /// A backend that opens no interfaces.
    static OF_ADDRESSES: [BackendInfo; 1] = [BackendInfo {
        word: "memory",
        title: "memory",
        definition: "an end of a link in memory",
        opens_interfaces: false,
        serves_queues: false,
        obstacle: || None,
        open: |request| {
            let name = format!("{}/{}", request.address, request.settings.longest_frame);
            Ok(Port {
                name,
                ..loopback::pair().0
            })
        },
    }];

    #[test]
    fn words_tell_backends_apart() {
        let words: Vec<&str> = BACKENDS.iter().map(|info| info.word).collect();
        let mut distinct = words.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), words.len(), "{words:?}");
        assert!(!words.contains(&"auto"));
        assert!(
            words
                .iter()
                .all(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-')),
            "{words:?}"
        );
    }

    #[test]
    fn the_interfaces_that_a_port_uses_are_its_own_or_those_its_options_name() {
        let used = |name| PortSpec::among(&OF_ADDRESSES, name).kernel_interfaces();
        assert_eq!(used("enp1s0f0"), ["enp1s0f0"]);
        assert_eq!(used("memory:net_af_packet0,iface=e0,blocksz=4096"), ["e0"]);
        assert_eq!(
            used("memory:net_pcap0,rx_iface=e0,tx_iface=e1"),
            ["e0", "e1"]
        );
        assert_eq!(
            used("memory:net_memif0,role=client,socket=/tmp/a"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_address_is_of_a_backend_and_all_else_an_interface() {
        let parsed = |name| PortSpec::among(&OF_ADDRESSES, name);
        let address = PortSpec::Address(&OF_ADDRESSES[0], "a:b".to_owned());
        assert_eq!(parsed("memory:a:b"), address);
        assert_eq!(
            (address.to_string().as_str(), address.interface()),
            ("memory:a:b", None)
        );
        for name in ["memory", "enp1s0f0", "packet:x", ""] {
            assert_eq!(parsed(name), PortSpec::Interface(name.to_owned()));
        }
    }

    #[test]
    fn commas_within_an_address_do_not_separate_ports() {
        let parsed =
            |list: &str| PortSpec::parse_pair(list).map(|ports| ports.map(|port| port.to_string()));
        let pair = |left: &str, right: &str| Some([left.to_owned(), right.to_owned()]);
        assert_eq!(parsed("e0,e1"), pair("e0", "e1"));
        // The kernel allows an equals sign in an interface's name.
        assert_eq!(parsed("e0,e=1"), pair("e0", "e=1"));
        assert_eq!(
            parsed("memif:/a=b,id=1,memif:/a=b"),
            pair("memif:/a=b,id=1", "memif:/a=b")
        );
        let nics = ["dpdk:0000:3b:00.0,mode=1", "dpdk:3b:00.1"];
        assert_eq!(parsed(&nics.join(",")), pair(nics[0], nics[1]));
        let virtuals = [
            "dpdk:net_memif0,role=client,socket=/tmp/a:b.sock",
            "dpdk:net_memif1,socket=/x",
        ];
        assert_eq!(parsed(&virtuals.join(",")), pair(virtuals[0], virtuals[1]));
        for list in [
            "e0",
            "e0,e1,e2",
            "memif:/a,id=1",
            "dpdk:net_null0,size=64,no-rx=1",
            "dpdk:net_a0,dpdk:net_b0,net_c0",
            "e0,e0",
        ] {
            assert_eq!(parsed(list), None, "{list}");
        }
    }

    #[test]
    fn an_address_is_opened_by_its_backend_whatever_is_wanted_for_interfaces() {
        let port = PortSpec::among(&OF_ADDRESSES, "memory:a")
            .open(Backend::Auto, PortOptions::new(1514))
            .expect("a port");
        assert_eq!(port.name, "a/1514");
        for (_, backend) in Backend::words() {
            let error = PortSpec::Interface("sb-none".to_owned())
                .open(backend, PortOptions::new(64))
                .err()
                .expect("no port")
                .to_string();
            assert_eq!(
                error,
                "cannot use interface sb-none: no such interface in this namespace (see `ip link`)"
            );
        }
    }
}
