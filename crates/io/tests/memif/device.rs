//! `dpdk-testpmd`, which forwards between two of its ports, without hugepages, devices or root. It needs the Debian package dpdk-dev.

use sixbench_io::thread::allowed_cores;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A `dpdk-testpmd`, ended when dropped.
pub(crate) struct Testpmd(pub(crate) Child);

impl Testpmd {
    /// Starts it between two sockets; frames that arrive on one of its ports leave on the other, unchanged.
    pub(crate) fn start(directory: &Path, sockets: [&str; 2], options: &str) -> Self {
        let device = |nth: usize| {
            format!(
                "--vdev=net_memif{nth},role=server,id={nth},socket={},rsize=11,bsize=2048,{options}",
                sockets[nth]
            )
        };
        let cores: Vec<String> = allowed_cores()
            .expect("cores")
            .iter()
            .map(u32::to_string)
            .collect();
        let cores = cores.join(",");
        let log = File::create(directory.join("testpmd.log")).expect("a file");
        // All its state is in this directory, in which other DPDK programs do not look.
        // Its output is in the log at once, because a test may wait for it.
        let child = Command::new("stdbuf")
            .args(["-oL", "dpdk-testpmd"])
            .env("XDG_RUNTIME_DIR", directory)
            .args([
                "--no-huge",
                "--no-shconf",
                "-m",
                "256",
                "--no-pci",
                "--no-telemetry",
            ])
            .arg(format!("--lcores=0@({cores}),1@({cores})"))
            .arg(format!("--file-prefix=sb-{}", std::process::id()))
            .args([device(0), device(1)])
            .args([
                "--",
                "--forward-mode=io",
                "--auto-start",
                "--nb-cores=1",
                "--total-num-mbufs=16384",
                "--disable-link-check",
            ])
            // It ends when it can no longer read from there.
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("a copy"))
            .stderr(log)
            .spawn()
            .expect("dpdk-testpmd: apt-get install dpdk-dev");
        Self(child)
    }
}

impl Drop for Testpmd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        // Root's directory for files that other DPDK processes may read, of which there are none.
        let _ = std::fs::remove_dir(format!("/var/run/dpdk/sb-{}", std::process::id()));
    }
}
