//! What the kernel knows of an interface.

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
    /// The kernel's number of it.
    pub index: u32,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// Its MTU, octets of layer 3.
    pub mtu: u32,
    /// True if it is one end of a veth pair: then a full peer queue is the DUT's loss, not a shortfall of the tester.
    pub is_veth: bool,
}

impl Interface {
    /// Looks up an interface that is up.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let unusable = |what: &str| PortError::Interface { interface: name.to_owned(), what: what.to_owned() };
        let c_name = CString::new(name).map_err(|_| unusable("its name contains a zero octet"))?;
        // SAFETY: the name is a C string that outlives the call.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(unusable("no such interface in this namespace (see `ip link`)"));
        }
        let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0).map_err(PortError::kernel(name, "ask the kernel"))?;
        let ask = |request| ask(&fd, name, request).map_err(PortError::kernel(name, "read its properties"));
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
        Ok(Self { name: name.to_owned(), index, mac, mtu: mtu as u32, is_veth })
    }
}

fn request(name: &str) -> libc::ifreq {
    // SAFETY: ifreq is a C struct of integers and pointers, for which all zeroes is a value.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

fn ask(fd: &OwnedFd, name: &str, what: libc::c_ulong) -> io::Result<libc::ifreq> {
    let mut request = request(name);
    // SAFETY: `request` is a valid ifreq for every request made here, and outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), what as _, &raw mut request) })?;
    Ok(request)
}

/// Returns whether the interface says that it is running: up, with a carrier. May lag behind by a second, and takes no lock.
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
    let mut answer = EthtoolValue { command: ETHTOOL_GLINK, data: 0 };
    let mut request = request(name);
    request.ifr_ifru.ifru_data = (&raw mut answer).cast();
    // SAFETY: ifru_data points to a struct of the size the command fills, alive during the call.
    match check(unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) }) {
        Ok(_) => Ok(answer.data != 0),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(true),
        Err(error) => Err(error),
    }
}

/// An error where the interface has no carrier.
pub(crate) fn check_carrier(fd: &OwnedFd, name: &str) -> Result<(), PortError> {
    match has_carrier(fd, name).map_err(PortError::kernel(name, "read the state of its link"))? {
        true => Ok(()),
        false => Err(PortError::LinkDown { interface: name.to_owned() }),
    }
}

/// `struct ethtool_drvinfo` of linux/ethtool.h.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 3;

fn driver(fd: &OwnedFd, name: &str) -> io::Result<String> {
    let mut info = DriverInfo { command: ETHTOOL_GDRVINFO, driver: [0; 32], rest: [0; 160] };
    let mut request = request(name);
    request.ifr_ifru.ifru_data = (&raw mut info).cast();
    // SAFETY: ifru_data points to a struct of the size the command fills, alive during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })?;
    let length = info.driver.iter().position(|&c| c == 0).unwrap_or(info.driver.len());
    let _ = info.rest;
    Ok(String::from_utf8_lossy(&info.driver[..length]).into_owned())
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
        assert_eq!(error, "cannot use interface sb-none: no such interface in this namespace (see `ip link`)");
    }
}
