//! A veth pair in its own namespace. It needs root.

use sixbench_io::thread;
use std::process::Command;

/// A namespace with one veth pair, `e0` and `e1`; removed when dropped.
pub(crate) struct Pair(String);

fn ip(arguments: &str) {
    let status = Command::new("ip")
        .args(arguments.split_whitespace())
        .status()
        .expect("ip: apt-get install iproute2");
    assert!(status.success(), "ip {arguments} (these tests need root)");
}

impl Pair {
    pub(crate) fn new(name: &str) -> Self {
        Self::with_queues(name, 1)
    }

    /// Creates a pair whose ends have this number of queues in either direction.
    pub(crate) fn with_queues(name: &str, queues: u32) -> Self {
        let pair = Self(format!("sb-{}-{name}", std::process::id()));
        ip(&format!("netns add {}", pair.0));
        let many = format!("numtxqueues {queues} numrxqueues {queues}");
        pair.ip(&format!("link add e0 {many} type veth peer name e1 {many}"));
        for end in ["e0", "e1"] {
            // There are no kernel addresses, so that the kernel sends nothing on the link.
            pair.ip(&format!("link set {end} addrgenmode none"));
            pair.ip(&format!("link set {end} up"));
        }
        pair
    }

    /// Runs `ip` in the namespace.
    pub(crate) fn ip(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.0));
    }

    /// Runs `work` on a thread in the namespace.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        thread::in_namespace(&self.0, work).expect("a namespace")
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}
