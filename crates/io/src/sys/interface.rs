//! The kernel's information about an interface.

use super::{check, socket};
use crate::PortError;
use std::ffi::CString;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};

/// An interface of the calling thread's network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// The kernel's number for it.
    pub index: u32,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// Its MTU, octets of layer 3.
    pub mtu: u32,
    /// True if it is one end of a veth pair: then a full peer queue is a loss by the DUT, not a fault of the tester.
    pub is_veth: bool,
}

impl Interface {
    /// Looks up an interface, which must be up.
    ///
    /// # Errors
    /// [`PortError::Interface`] if it is missing or down, with which of the two.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let unusable = |what: &str| PortError::Interface {
            interface: name.to_owned(),
            what: what.to_owned(),
        };
        let c_name = CString::new(name).map_err(|_| unusable("its name contains a zero octet"))?;
        // SAFETY: the name is a C string that outlives the call.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(unusable(
                "no such interface in this namespace (see `ip link`)",
            ));
        }
        let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)
            .map_err(PortError::kernel(name, "ask the kernel"))?;
        let ask = |request| {
            ask(&fd, name, request).map_err(PortError::kernel(name, "read its properties"))
        };
        // SAFETY: SIOCGIFFLAGS fills ifru_flags.
        let flags = unsafe { ask(libc::SIOCGIFFLAGS)?.ifr_ifru.ifru_flags };
        if i32::from(flags) & libc::IFF_UP == 0 {
            return Err(unusable("it is down (use ip link set to bring it up)"));
        }
        // SAFETY: SIOCGIFHWADDR fills ifru_hwaddr.
        let address = unsafe { ask(libc::SIOCGIFHWADDR)?.ifr_ifru.ifru_hwaddr.sa_data };
        // SAFETY: SIOCGIFMTU fills ifru_mtu.
        let mtu = unsafe { ask(libc::SIOCGIFMTU)?.ifr_ifru.ifru_mtu };
        let mac = std::array::from_fn(|i| address[i] as u8);
        let is_veth = driver(&fd, name).is_ok_and(|d| d == "veth");
        Ok(Self {
            name: name.to_owned(),
            index,
            mac,
            mtu: mtu as u32,
            is_veth,
        })
    }
}

fn request(name: &str) -> libc::ifreq {
    // SAFETY: ifreq is a C struct of integers and pointers, for which all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request
        .ifr_name
        .iter_mut()
        .take(libc::IFNAMSIZ - 1)
        .zip(name.bytes())
    {
        *to = from as libc::c_char;
    }
    request
}

fn ask(fd: &OwnedFd, name: &str, what: libc::c_ulong) -> io::Result<libc::ifreq> {
    let mut request = request(name);
    // SAFETY: `request` is a valid ifreq for every request made here, and outlives the call.
    // The type of the request is that of the C library: unsigned in glibc, signed in musl.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), what as _, &raw mut request) })?;
    Ok(request)
}

/// Returns whether the interface is reported as running: up, with a carrier. This may lag behind by a second, and takes no lock.
pub(crate) fn is_running(fd: &OwnedFd, name: &str) -> io::Result<bool> {
    // SAFETY: SIOCGIFFLAGS fills ifru_flags.
    let flags = unsafe { ask(fd, name, libc::SIOCGIFFLAGS)?.ifr_ifru.ifru_flags };
    Ok(i32::from(flags) & libc::IFF_RUNNING != 0)
}

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

const ETHTOOL_GLINK: u32 = 10;

/// Returns whether the interface has a carrier now; true for an interface that cannot tell.
pub(crate) fn has_carrier(fd: &OwnedFd, name: &str) -> io::Result<bool> {
    let mut answer = EthtoolValue {
        command: ETHTOOL_GLINK,
        data: 0,
    };
    // SAFETY: the struct is the one that this command fills.
    let answered = unsafe { ethtool(fd, name, &mut answer) }?;
    Ok(!answered || answer.data != 0)
}

/// Returns an error if the interface has no carrier.
pub(crate) fn check_carrier(fd: &OwnedFd, name: &str) -> Result<(), PortError> {
    if has_carrier(fd, name).map_err(PortError::kernel(name, "read the state of its link"))? {
        Ok(())
    } else {
        Err(PortError::LinkDown {
            interface: name.to_owned(),
        })
    }
}

/// `struct ethtool_drvinfo` of linux/ethtool.h.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

/// From linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 3;

fn driver(fd: &OwnedFd, name: &str) -> io::Result<String> {
    let mut info = DriverInfo {
        command: ETHTOOL_GDRVINFO,
        driver: [0; 32],
        rest: [0; 160],
    };
    // SAFETY: the struct is the one that this command fills.
    unsafe { ethtool(fd, name, &mut info) }?;
    let length = info
        .driver
        .iter()
        .position(|&c| c == 0)
        .unwrap_or(info.driver.len());
    let _ = info.rest;
    Ok(String::from_utf8_lossy(&info.driver[..length]).into_owned())
}

/// Asks the driver of an interface; returns false if it does not know the command.
///
/// # Safety
/// `answer` must begin with a command, and be the struct that this command fills.
unsafe fn ethtool<T>(fd: &OwnedFd, name: &str, answer: &mut T) -> io::Result<bool> {
    let mut request = request(name);
    request.ifr_ifru.ifru_data = std::ptr::from_mut(answer).cast();
    // SAFETY: ifru_data points to a struct of the size the command fills, by contract, alive during the call.
    match check(unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) }) {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
        Err(error) => Err(error),
    }
}

/// `struct ethtool_channels` of linux/ethtool.h, in which the maximum numbers come first.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    send: u32,
    other: u32,
    combined: u32,
}

const ETHTOOL_GCHANNELS: u32 = 0x3c;

/// Queues of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InterfaceQueues {
    pub(crate) receive: u32,
    pub(crate) send: u32,
}

impl Interface {
    /// Returns the numbers of queues in use; one each if the driver does not report them.
    pub(crate) fn queues(&self) -> Result<InterfaceQueues, PortError> {
        let ask = || {
            let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
            let mut channels = Channels {
                command: ETHTOOL_GCHANNELS,
                ..Channels::default()
            };
            // SAFETY: the struct is the one that this command fills.
            unsafe { ethtool(&fd, &self.name, &mut channels) }?;
            let _ = (channels.most, channels.other);
            Ok(channels)
        };
        let Channels {
            receive,
            send,
            combined,
            ..
        } = ask().map_err(PortError::kernel(&self.name, "ask for its queues"))?;
        Ok(InterfaceQueues {
            receive: (receive + combined).max(1),
            send: (send + combined).max(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_known_and_no_veth() {
        let lo = Interface::open("lo").expect("lo");
        assert_eq!(lo.mac, [0; 6]);
        assert!(!lo.is_veth);
    }

    #[test]
    fn an_interface_that_does_not_exist_is_named_in_the_error() {
        let error = Interface::open("sb-none").unwrap_err().to_string();
        assert_eq!(
            error,
            "cannot use interface sb-none: no such interface in this namespace (see `ip link`)"
        );
    }
}
