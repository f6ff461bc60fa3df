//! Counts the errors that the network reports at a client's sockets, by what they say about the server. A full send buffer is the tester's own, and never
//! gets here: [`sixbench_io::udp`] reports it as queries that were not sent.

use std::io::{Error, ErrorKind};

/// Errors of the network. A socket keeps one error at a time, so there may have been more ICMP messages than errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NetworkErrors {
    /// ICMP or ICMPv6 port unreachable.
    pub(crate) port_unreachable: u64,
    /// The server's address or network cannot be reached.
    pub(crate) host_unreachable: u64,
    /// Any others, such as those of a filter.
    pub(crate) other: u64,
}

impl NetworkErrors {
    /// Counts an error of a connected socket.
    #[cold]
    pub(crate) fn count(&mut self, error: &Error) {
        let counter = match error.kind() {
            ErrorKind::ConnectionRefused => &mut self.port_unreachable,
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                &mut self.host_unreachable
            }
            _ => &mut self.other,
        };
        *counter += 1;
    }

    /// Returns the number of all.
    pub(crate) fn all(&self) -> u64 {
        self.port_unreachable + self.host_unreachable + self.other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_counted_by_what_it_says_about_the_server() {
        let mut errors = NetworkErrors::default();
        for code in [
            libc::ECONNREFUSED,
            libc::EHOSTUNREACH,
            libc::ENETUNREACH,
            libc::EACCES,
            libc::EPERM,
            libc::ENOPROTOOPT,
        ] {
            errors.count(&Error::from_raw_os_error(code));
        }
        assert_eq!(
            errors,
            NetworkErrors {
                port_unreachable: 1,
                host_unreachable: 2,
                other: 3
            }
        );
        assert_eq!(errors.all(), 6);
    }
}
