//! Tests facts read from a synthetic file tree, from the output of ethtool, and from this machine.

use super::*;
use crate::exec::Shell;
use std::fs;
use std::path::{Path, PathBuf};

/// A file tree like the kernel's, removed when dropped.
pub(crate) struct FakeMachine(PathBuf);

impl FakeMachine {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("sb-{}-machine {name}", std::process::id()));
        let fake = Self(root);
        for (path, content) in files {
            fake.write(path, content);
        }
        fake
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, format!("{content}\n")).expect("a file");
    }

    /// Returns the directory of the files.
    pub(crate) fn root(&self) -> String {
        self.0.display().to_string()
    }

    pub(crate) fn read(&self) -> Machine {
        self.read_with(&[])
    }

    fn read_with(&self, interfaces: &[&str]) -> Machine {
        Machine::read_below(&self.root(), &Shell::new(), interfaces)
    }
}

impl Drop for FakeMachine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server with two nodes of four cores with two threads each, as its kernel describes it.
pub(crate) const SERVER: [(&str, &str); 34] = [
    ("proc/sys/kernel/hostname", "lab7"),
    (
        "proc/cmdline",
        "BOOT_IMAGE=/vmlinuz isolcpus=2-3 nohz_full=2-3 a:b",
    ),
    (
        "proc/cpuinfo",
        "model name\t: X 9000\nmicrocode\t: 0x1\nflags\t\t: fpu tsc\n\nmodel name\t: Y",
    ),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet",
    ),
    ("sys/devices/system/cpu/online", "0-3"),
    ("sys/devices/system/cpu/isolated", "2-3"),
    ("sys/devices/system/cpu/nohz_full", "(null)"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
    ("sys/devices/system/cpu/cpufreq/boost", "0"),
    (
        "sys/devices/system/cpu/cpuidle/current_driver",
        "intel_idle",
    ),
    (
        "sys/devices/system/cpu/vulnerabilities/meltdown",
        "Mitigation: PTI",
    ),
    ("sys/devices/system/cpu/vulnerabilities/mds", "Not affected"),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
        "intel_pstate",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "performance",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "powersave",
    ),
    (
        "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
        "powersave",
    ),
    (
        "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
        "powersave",
    ),
    (
        "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "0,2",
    ),
    (
        "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
        "1,3",
    ),
    (
        "sys/devices/system/cpu/cpu2/topology/thread_siblings_list",
        "0,2",
    ),
    (
        "sys/devices/system/cpu/cpu3/topology/thread_siblings_list",
        "1,3",
    ),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/name", "POLL"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/latency", "0"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/disable", "0"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state1/name", "C6"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state1/latency", "133"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state1/disable", "0"),
    ("sys/devices/system/node/node0/cpulist", "0,2"),
    ("sys/devices/system/node/node1/cpulist", "1,3"),
    ("sys/class/dmi/id/sys_vendor", "Maker"),
    ("sys/class/net/e0/mtu", "1500"),
    ("sys/class/net/e0/device/numa_node", "1"),
    ("sys/class/net/e0/device/msi_irqs/9", "msix"),
    ("proc/irq/9/smp_affinity_list", "0-3"),
];

fn told<'f>(facts: &'f BTreeMap<String, String>, names: &[&'f str]) -> Vec<(&'f str, &'f str)> {
    names
        .iter()
        .filter_map(|name| Some((*name, facts.get(*name)?.as_str())))
        .collect()
}

#[test]
fn a_server_tells_how_its_cores_are_set_and_of_which_ones_it_holds() {
    let facts = FakeMachine::new("server", &SERVER)
        .read()
        .facts(&[0, 1], &[]);
    let expected = [
        ("processor", "X 9000"),
        ("clock source", "hpet"),
        ("cores", "4"),
        ("frequency driver", "intel_pstate"),
        ("frequency governor", "performance on 0; powersave on 1"),
        ("turbo", "on"),
        ("cpuidle driver", "intel_idle"),
        ("C-states", "POLL 0 us, C6 133 us"),
        ("SMT siblings of the cores in use", "0 with 2; 1 with 3"),
        ("isolated cores", "2-3"),
        ("nohz_full cores", "none"),
        ("NUMA nodes", "2"),
        ("NUMA nodes of the cores in use", "0, 1"),
        ("mitigations", "meltdown: Mitigation: PTI"),
        (
            "kernel command line",
            "BOOT_IMAGE=/vmlinuz isolcpus=2-3 nohz_full=2-3 a:b",
        ),
        ("virtual machine", "no"),
    ];
    assert_eq!(told(&facts, &expected.map(|(name, _)| name)), expected);
    assert!(!facts.contains_key("hypervisor"), "{facts:?}");
}

#[test]
fn of_a_file_that_is_missing_there_is_no_fact() {
    let bare = FakeMachine::new(
        "bare",
        &[
            ("proc/sys/kernel/hostname", "bare"),
            ("sys/devices/system/cpu/online", "0"),
        ],
    );
    let facts = bare.read().facts(&[], &[]);
    assert_eq!(
        facts,
        [("cores", "1"), ("host name", "bare")]
            .map(|(name, fact)| (name.to_owned(), fact.to_owned()))
            .into()
    );
}

#[test]
fn a_virtual_machine_names_its_hypervisor() {
    let files = [
        ("proc/cpuinfo", "flags\t\t: fpu hypervisor"),
        ("sys/class/dmi/id/sys_vendor", "QEMU"),
    ];
    let guest = FakeMachine::new("guest", &files);
    let facts = guest.read().facts(&[], &[]);
    assert_eq!(
        told(&facts, &["hypervisor", "virtual machine"]).len(),
        2,
        "{facts:?}"
    );
    assert_eq!(facts["hypervisor"], "QEMU");
    guest.write("sys/hypervisor/type", "xen");
    assert_eq!(guest.read().facts(&[], &[])["hypervisor"], "xen");
}

#[test]
fn an_interface_tells_its_node_and_the_cores_of_its_interrupts_in_the_order_of_their_numbers() {
    let fake = FakeMachine::new("nic", &SERVER);
    std::os::unix::fs::symlink(
        "/sys/bus/pci/drivers/ice",
        fake.0.join("sys/class/net/e0/device/driver"),
    )
    .expect("a link");
    for (irq, cores) in [("10", "1"), ("100", "2")] {
        fake.write(&format!("sys/class/net/e0/device/msi_irqs/{irq}"), "msix");
        fake.write(&format!("proc/irq/{irq}/smp_affinity_list"), cores);
    }
    let facts = fake.read_with(&["e0"]).interface_facts("e0");
    let expected = [
        ("e0: MTU", "1500"),
        ("e0: NUMA node", "1"),
        ("e0: cores of its interrupts", "0-3; 1; 2"),
        ("e0: driver", "ice"),
    ];
    assert_eq!(
        facts,
        expected
            .map(|(name, fact)| (name.to_owned(), fact.to_owned()))
            .into()
    );
}

#[test]
fn the_interrupts_of_a_virtio_interface_are_those_of_its_bus() {
    let fake = FakeMachine::new(
        "virtio",
        &[
            ("proc/irq/7/smp_affinity_list", "1"),
            ("bus/msi_irqs/7", "msix"),
        ],
    );
    fs::create_dir_all(fake.0.join("bus/virtio0")).expect("a directory");
    fs::create_dir_all(fake.0.join("sys/class/net/e0")).expect("a directory");
    std::os::unix::fs::symlink(
        fake.0.join("bus/virtio0"),
        fake.0.join("sys/class/net/e0/device"),
    )
    .expect("a link");
    let machine = fake.read_with(&["e0"]);
    let device = machine.device_with_interrupts("e0").map(str::to_owned);
    assert_eq!(device, Some(fake.0.join("bus").display().to_string()));
    assert_eq!(
        machine.interface_facts("e0"),
        [("e0: cores of its interrupts".to_owned(), "1".to_owned())].into()
    );
}

#[test]
fn what_ethtool_prints_of_rings_hashes_and_offloads_becomes_facts() {
    let printed = [
        (
            "ethtool -g e0",
            "Ring parameters for e0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nTX:\t\t8192\nCurrent hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t1024\nRX Buf Len:\t\t2048",
        ),
        (
            "ethtool -n e0 rx-flow-hash udp4",
            "UDP over IPV4 flows use these fields for computing Hash flow key:\nIP SA\nIP DA\n",
        ),
        (
            "ethtool -n e0 rx-flow-hash udp6",
            "UDP over IPV6 flows use these fields for computing Hash flow key:\nIP SA\nIP DA\nL4 bytes 0 & 1 [TCP/UDP src port]\nL4 bytes 2 & 3 [TCP/UDP dst port]\n",
        ),
        (
            "ethtool -k e0",
            "Features for e0:\nrx-checksumming: on\ntx-checksumming: off\n\ttx-checksum-sctp: off [fixed]\nhighdma: on [fixed]",
        ),
        (
            "ethtool -a e0",
            "Pause parameters for e0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\toff\nRX negotiated: on\nTX negotiated: off",
        ),
        (
            "ethtool -l e0",
            "Channel parameters for e0:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t8\nCurrent hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t4",
        ),
        (
            "ethtool -c e0",
            "Coalesce parameters for e0:\nAdaptive RX: on  TX: off\n\nrx-usecs:\t3\nrx-frames:\tn/a\nrx-usecs-irq:\tn/a\n\ntx-usecs:\t0",
        ),
        (
            "ethtool -x e0",
            "RX flow hash indirection table for e0 with 4 RX ring(s):\n    0:      0     1     3     0     1     3     0     1\n    8:      3     0\nRSS hash key:\n6d:5a:56:da\nRSS hash function:\n    toeplitz: on",
        ),
        (
            "ethtool --show-eee e0",
            "EEE settings for e0:\n\tEEE status: disabled",
        ),
    ];
    let lines = printed
        .iter()
        .flat_map(|(name, text)| text.lines().map(move |line| format!("{name}:{line}\n")));
    let facts = Machine::parse("", &lines.collect::<String>()).interface_facts("e0");
    let expected = [
        ("e0: RSS hash fields of udp4", "sd"),
        ("e0: RSS hash fields of udp6", "sdfn"),
        ("e0: offloads", "rx-checksumming, highdma"),
        ("e0: ring sizes", "RX 512 of 4096, TX 1024 of 8192"),
        ("e0: flow control", "autoneg on, rx on, tx off"),
        ("e0: queues", "other 1, combined 4"),
        ("e0: RSS table", "10 entries, of queues 0-1,3"),
        (
            "e0: interrupt coalescing",
            "adaptive rx, rx-usecs 3, tx-usecs 0",
        ),
        ("e0: Energy-Efficient Ethernet", "disabled"),
    ];
    assert_eq!(
        facts,
        expected
            .map(|(name, fact)| (name.to_owned(), fact.to_owned()))
            .into()
    );
}

#[test]
fn this_machine_tells_what_its_files_do() {
    let facts = Machine::read(&Shell::new(), &["lo", "sb-none"]).facts(&[], &[]);
    assert_eq!(facts["host name"], host_name());
    let files = [
        ("kernel", "/proc/sys/kernel/osrelease"),
        (
            "clock source",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        (
            "simultaneous multithreading",
            "/sys/devices/system/cpu/smt/control",
        ),
        (
            "net.core.netdev_max_backlog",
            "/proc/sys/net/core/netdev_max_backlog",
        ),
        ("kernel command line", "/proc/cmdline"),
    ];
    for (name, path) in files {
        let told = fs::read_to_string(path)
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        assert_eq!(facts.get(name), told.as_ref(), "{name}");
    }
    let processor = fs::read_to_string("/proc/cpuinfo").expect("cpuinfo");
    assert_eq!(
        facts.contains_key("microcode"),
        processor.contains("microcode\t: ")
    );
    assert_eq!(
        facts.contains_key("mitigations"),
        Path::new("/sys/devices/system/cpu/vulnerabilities").exists()
    );
}

#[test]
fn numbers_are_written_as_the_kernel_writes_them() {
    assert_eq!(
        [ranges(&[]), ranges(&[3]), ranges(&[0, 1, 2, 5, 7, 8])],
        ["none", "3", "0-2,5,7-8"]
    );
}
