//! The TCP counters of a namespace's kernel, which knows about retransmissions and full queues; sockets do not. They are only read.

use crate::driver::within;
use std::fs;
use std::io;

/// The counters of one namespace since its creation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KernelTcp {
    pub syn_retransmitted: u64,
    pub retransmitted: u64,
    pub queue_full: u64,
}

impl KernelTcp {
    /// Reads the counters of a namespace; `None` for the current one.
    pub(super) fn read(namespace: Option<&str>) -> io::Result<Self> {
        // /proc/net would be the namespace of the process's first thread.
        within(namespace, || {
            let (more, plain) = (
                fs::read_to_string("/proc/thread-self/net/netstat")?,
                fs::read_to_string("/proc/thread-self/net/snmp")?,
            );
            let counter = |table: &str, group, name| value(table, group, name).unwrap_or(0);
            Ok(Self {
                syn_retransmitted: counter(&more, "TcpExt:", "TCPSynRetrans"),
                retransmitted: counter(&plain, "Tcp:", "RetransSegs"),
                queue_full: counter(&more, "TcpExt:", "ListenOverflows")
                    + counter(&more, "TcpExt:", "TCPReqQFullDrop"),
            })
        })?
    }

    /// Returns the increase since `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            syn_retransmitted: self
                .syn_retransmitted
                .saturating_sub(before.syn_retransmitted),
            retransmitted: self.retransmitted.saturating_sub(before.retransmitted),
            queue_full: self.queue_full.saturating_sub(before.queue_full),
        }
    }
}

/// Returns a counter of a table whose lines come in pairs: names, then values.
fn value(table: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = table
        .lines()
        .filter(|line| line.split_whitespace().next() == Some(group));
    let (names, values) = (lines.next()?, lines.next()?);
    names
        .split_whitespace()
        .zip(values.split_whitespace())
        .find(|(found, _)| *found == name)?
        .1
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_found_by_group_and_name() {
        let table =
            "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 3 17\nIpExt: InOctets\nIpExt: 99\n";
        assert_eq!(value(table, "TcpExt:", "ListenOverflows"), Some(17));
        assert_eq!(value(table, "TcpExt:", "InOctets"), None);
        assert_eq!(value(table, "IpExt:", "InOctets"), Some(99));
    }

    #[test]
    fn the_counters_of_this_namespace_can_be_read() {
        assert!(KernelTcp::read(None).is_ok());
    }
}
