//! A machine across the room, for tests: sshd in a namespace of its own, reached from another one by a link for nothing else, and joined
//! to that by two more links, which are to be measured. Keys are made for the test. Everything goes when this is dropped.

use sixbench_testbed::Shell;
use sixbench_testbed::namespace::{Namespace, name};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Of the far machine, on the link for ssh.
const ADDRESS: &str = "10.99.0.2";
pub(crate) const PORT: u16 = 2222;

/// The far machine's interfaces to be measured; their other ends are `left` and `right` in the near namespace.
pub(crate) const FAR: [&str; 2] = ["enp5s0f0", "enp5s0f1"];

/// Its cores are made up: a test must not take those of this machine offline. Its /run is its own,
/// for sshd wants a directory there, and so is root's home, whose start-up files may take their time.
const START: &str = "set -e
mount -t tmpfs none /run
mkdir /run/sshd
mount -t tmpfs none /root
mount -t tmpfs none /sys/devices/system/cpu
cd /sys/devices/system/cpu
echo 0-3 > online
mkdir -p cpu0/cpufreq
echo powersave > cpu0/cpufreq/scaling_governor
for core in 1 2 3; do mkdir cpu$core; echo 1 > cpu$core/online; done
cd /
exec /usr/sbin/sshd -D -e -f \"$1\"";

/// What is dropped first comes first.
pub(crate) struct Room {
    sshd: Child,
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) near: Namespace,
    pub(crate) far: Namespace,
    /// With ssh_config for who is in the near namespace, and for who is not.
    pub(crate) directory: PathBuf,
}

impl Room {
    /// `run` tells the rooms of one process apart.
    pub(crate) fn build(run: &str) -> Self {
        let shell = Shell::new();
        let [near, far] =
            ["near", "far"].map(|role| Namespace::new(&shell, &name(run, role)).expect("a namespace (these tests need root)"));
        join(&shell, &near, &far);
        let directory = std::env::temp_dir().join(name(run, "keys"));
        fs::create_dir(&directory).expect("a directory");
        write_keys(&shell, &directory, near.name());
        let log = fs::File::create(directory.join("sshd.log")).expect("a log");
        let sshd = Command::new("ip")
            .args(["netns", "exec", far.name(), "sh", "-c", START, "sh"])
            .arg(directory.join("sshd_config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("sshd");
        let room = Self { sshd, near, far, directory };
        room.wait_for_sshd();
        room
    }

    /// ssh_config for who is not in the near namespace.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn config(&self) -> PathBuf {
        self.directory.join("from_outside")
    }

    /// ssh_config for who is in the near namespace.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn config_within(&self) -> PathBuf {
        self.directory.join("from_within")
    }

    fn wait_for_sshd(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        let log = || fs::read_to_string(self.directory.join("sshd.log")).expect("a log");
        while !log().contains("Server listening") {
            assert!(Instant::now() < end, "sshd (openssh-server) does not start: {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Everything on the far machine that a device could leave behind.
    pub(crate) fn state(&self) -> String {
        let shell = self.far.shell();
        let look = |line: &str| shell.look(&line.split_whitespace().collect::<Vec<_>>()).expect("an answer");
        // Link-local addresses are the kernel's, and take their time.
        let lasting =
            |text: String| text.lines().filter(|line| !line.contains("fe80::")).map(|line| format!("{line}\n")).collect();
        // Carriers come and go by themselves.
        let settled = |line: &str| {
            line.split(" qdisc ").next().unwrap_or(line).replace("NO-CARRIER,", "").replace(",LOWER_UP", "") + "\n"
        };
        let links: String = look("ip -o link").lines().map(settled).collect();
        let addresses: String = lasting(look("ip -o address"));
        let routes: String = lasting(look("ip -4 route show table all") + &look("ip -6 route show table main"));
        let switches: String =
            SWITCHES.iter().map(|switch| format!("{switch} {}", look(&format!("cat /proc/sys/net/{switch}")))).collect();
        format!("{links}{addresses}{routes}{switches}{}", look("nft list ruleset"))
    }

    /// The names of its processes, without sshd's own.
    pub(crate) fn processes(&self) -> Vec<String> {
        let pids = Shell::new().look(&["ip", "netns", "pids", self.far.name()]).expect("processes");
        let names = pids.split_whitespace().filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        names.map(|name| name.trim().to_owned()).filter(|name| name != "sshd").collect()
    }

    /// Waits until the far machine is as it was, and fails when that does not come.
    pub(crate) fn assert_is_as(&self, before: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        while (self.state() != before || !self.processes().is_empty()) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(self.state(), before);
        assert_eq!(self.processes(), Vec::<String>::new());
    }
}

const SWITCHES: [&str; 9] = [
    "ipv4/ip_forward",
    "ipv4/conf/all/rp_filter",
    "ipv4/conf/default/rp_filter",
    "ipv4/conf/enp5s0f0/rp_filter",
    "ipv6/conf/all/forwarding",
    "ipv6/conf/enp5s0f0/accept_dad",
    "ipv6/conf/enp5s0f1/disable_ipv6",
    "netfilter/nf_conntrack_udp_timeout",
    "netfilter/nf_conntrack_tcp_timeout_established",
];

impl Drop for Room {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Three links: for ssh, and two to be measured, on which the near kernel keeps silent.
fn join(shell: &Shell, near: &Namespace, far: &Namespace) {
    let line = |shell: &Shell, text: &str| drop(shell.line(text).expect("a link"));
    for (ours, theirs) in [("mgmt", "mgmt"), ("left", FAR[0]), ("right", FAR[1])] {
        let (near, far) = (near.name(), far.name());
        line(shell, &format!("ip link add {ours} netns {near} type veth peer name {theirs} netns {far}"));
    }
    for link in ["left", "right"] {
        near.shell().set(&format!("/proc/sys/net/ipv6/conf/{link}/disable_ipv6"), "1").expect("a switch");
        line(&near.shell(), &format!("ethtool -K {link} tx off rx off tso off gso off gro off"));
        line(&near.shell(), &format!("ip link set {link} arp off up"));
    }
    for (namespace, address) in [(near, "10.99.0.1"), (far, ADDRESS)] {
        line(&namespace.shell(), &format!("ip address add {address}/30 dev mgmt"));
        line(&namespace.shell(), "ip link set mgmt up");
    }
}

fn write_keys(shell: &Shell, directory: &std::path::Path, near: &str) {
    let path = |name: &str| directory.join(name).display().to_string();
    for key in ["host", "user", "stranger"] {
        shell.run(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &path(key)]).expect("ssh-keygen (openssh-client)");
    }
    let write = |name: &str, content: String| fs::write(directory.join(name), content).expect("a file");
    let public = |key: &str| fs::read_to_string(path(&format!("{key}.pub"))).expect("a key");
    write("authorized", public("user"));
    write("known", format!("[{ADDRESS}]:{PORT} {}", public("host")));
    write("unknown", String::new());
    write("changed", format!("[{ADDRESS}]:{PORT} {}", public("stranger")));
    let (host, authorized) = (path("host"), path("authorized"));
    write(
        "sshd_config",
        format!(
            "Port {PORT}\nListenAddress {ADDRESS}\nHostKey {host}\nAuthorizedKeysFile {authorized}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        ),
    );
    let host = |name: &str, port: u16, key: &str, known: &str| {
        let (key, known) = (path(key), path(known));
        format!(
            "Host {name}\n  HostName {ADDRESS}\n  Port {port}\n  User root\n  IdentityFile {key}\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {known}\n  GlobalKnownHostsFile none\n"
        )
    };
    let hosts = [
        host("dut", PORT, "user", "known"),
        host("closed", PORT + 1, "user", "known"),
        host("refusing", PORT, "stranger", "known"),
        host("unknown", PORT, "user", "unknown"),
        host("changed", PORT, "user", "changed"),
    ]
    .concat();
    write("from_within", hosts.clone());
    // ssh ends it by a signal, and it must take its other half along.
    let relay = "trap : HUP; exec 3<>/dev/tcp/%h/%p || exit 1; cat <&3 & cat >&3; kill $!";
    let proxy = format!("Host *\n  ProxyCommand ip netns exec {near} bash -c '{relay}'\n");
    write("from_outside", hosts + &proxy);
}
