//! Emulates remote machines for tests: one, or two in a row. Each is an sshd in its own namespace, reached from the near one over a separate link.
//! The links under test lead from the near namespace through all machines and back. Keys are generated for the test. Dropping the room removes
//! everything.

use sixbench_testbed::Shell;
use sixbench_testbed::namespace::{Namespace, name};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The addresses of the far machines on their links for ssh.
const ADDRESSES: [&str; 2] = ["10.99.0.2", "10.99.0.6"];
pub(crate) const PORT: u16 = 2222;

/// The interfaces of each far machine that are under test. Their other ends are `left` and `right` in the near namespace. In a row, the right
/// interface of the first machine is cabled to the left one of the second.
pub(crate) const FAR: [&str; 2] = ["enp5s0f0", "enp5s0f1"];

/// Its cores are simulated, because a test must not take this machine's offline. It has its own /run, where sshd needs a directory, and its own
/// root home, because start-up files could take time.
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

/// Fields are dropped in the order of declaration.
pub(crate) struct Room {
    sshds: Vec<Child>,
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) near: Namespace,
    /// The far machine, or the first one in a row.
    pub(crate) far: Namespace,
    /// The second machine in a row.
    pub(crate) second: Option<Namespace>,
    /// Contains an ssh_config for processes in the near namespace, and one for others.
    pub(crate) directory: PathBuf,
}

impl Room {
    /// Builds a room with one machine, named `dut` for ssh. `run` distinguishes the rooms of one process.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn build(run: &str) -> Self {
        Self::of(run, false)
    }

    /// Builds a room with two machines in a row, named `dut` and `second` for ssh.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn build_row(run: &str) -> Self {
        Self::of(run, true)
    }

    fn of(run: &str, is_row: bool) -> Self {
        let shell = Shell::new();
        let make = |role| {
            Namespace::new(&shell, &name(run, role)).expect("a namespace (these tests need root)")
        };
        let [near, far] = ["near", "far"].map(make);
        let second = is_row.then(|| make("second"));
        let machines: Vec<&Namespace> = [&far].into_iter().chain(&second).collect();
        join(&shell, &near, &machines);
        let directory = std::env::temp_dir().join(name(run, "keys"));
        fs::create_dir(&directory).expect("a directory");
        write_keys(&shell, &directory, near.name());
        let mut room = Self {
            sshds: Vec::new(),
            near,
            far,
            second,
            directory,
        };
        (0..if is_row { 2 } else { 1 }).for_each(|index| room.start_sshd(index));
        room
    }

    /// Starts the sshd of the machine with this index in the row, and waits until it listens.
    pub(crate) fn start_sshd(&mut self, index: usize) {
        let path = self.directory.join(format!("sshd{index}.log"));
        let log = fs::File::create(&path).expect("a log");
        let config = self.directory.join(format!("sshd{index}_config"));
        let sshd = Command::new("ip")
            .args([
                "netns",
                "exec",
                self.machines()[index].name(),
                "sh",
                "-c",
                START,
                "sh",
            ])
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("sshd");
        self.sshds.push(sshd);
        let end = Instant::now() + Duration::from_secs(60);
        let log = || fs::read_to_string(&path).expect("a log");
        while !log().contains("Server listening") {
            assert!(
                Instant::now() < end,
                "sshd (openssh-server) does not start: {}",
                log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the far machines, from left to right.
    pub(crate) fn machines(&self) -> Vec<&Namespace> {
        [&self.far].into_iter().chain(&self.second).collect()
    }

    /// Returns the ssh_config for processes outside of the near namespace.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn config(&self) -> PathBuf {
        self.directory.join("from_outside")
    }

    /// Returns the ssh_config for processes in the near namespace.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn config_within(&self) -> PathBuf {
        self.directory.join("from_within")
    }

    /// Returns everything on the far machines that a device could leave behind.
    pub(crate) fn state(&self) -> String {
        self.machines().into_iter().map(Self::state_of).collect()
    }

    fn state_of(machine: &Namespace) -> String {
        let shell = machine.shell();
        let look = |line: &str| {
            shell
                .look(&line.split_whitespace().collect::<Vec<_>>())
                .expect("an answer")
        };
        // Link-local addresses are created by the kernel, after some time.
        let lasting = |text: String| {
            text.lines()
                .filter(|line| !line.contains("fe80::"))
                .map(|line| format!("{line}\n"))
                .collect()
        };
        // Carriers come and go by themselves.
        let settled = |line: &str| {
            line.split(" qdisc ")
                .next()
                .unwrap_or(line)
                .replace("NO-CARRIER,", "")
                .replace(",LOWER_UP", "")
                + "\n"
        };
        let links: String = look("ip -o link").lines().map(settled).collect();
        let addresses: String = lasting(look("ip -o address"));
        let routes: String =
            lasting(look("ip -4 route show table all") + &look("ip -6 route show table main"));
        let switches: String = SWITCHES
            .iter()
            .map(|switch| format!("{switch} {}", look(&format!("cat /proc/sys/net/{switch}"))))
            .collect();
        format!(
            "{links}{addresses}{routes}{switches}{}",
            look("nft list ruleset")
        )
    }

    /// Returns the names of the processes on the far machines, except sshd's own.
    pub(crate) fn processes(&self) -> Vec<String> {
        let name = |pid: &String| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
        let names = self
            .machines()
            .into_iter()
            .flat_map(Self::pids_of)
            .filter_map(|pid| name(&pid));
        names
            .map(|name| name.trim().to_owned())
            .filter(|name| name != "sshd")
            .collect()
    }

    /// Returns the IDs of the processes on a machine.
    pub(crate) fn pids_of(machine: &Namespace) -> Vec<String> {
        let pids = Shell::new()
            .look(&["ip", "netns", "pids", machine.name()])
            .expect("processes");
        pids.split_whitespace().map(str::to_owned).collect()
    }

    /// Kills the sessions of a machine's sshd but not its listener, as if the machine had restarted. Returns the number of sessions.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn end_sessions(machine: &Namespace) -> usize {
        Self::signal_sessions(machine, "KILL")
    }

    /// Sends a signal to the sessions of a machine's sshd. Returns the number of sessions.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn signal_sessions(machine: &Namespace, signal: &str) -> usize {
        let command_line =
            |pid: &String| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_session = |line: String| line.starts_with("sshd: ") && !line.contains("[listener]");
        let sessions: Vec<String> = Self::pids_of(machine)
            .into_iter()
            .filter(|pid| is_session(command_line(pid)))
            .collect();
        // Some may have ended together with others.
        let line = format!(
            "kill -s {signal} {} 2>/dev/null || true",
            sessions.join(" ")
        );
        Shell::new().run(&["sh", "-c", &line]).expect("a shell");
        sessions.len()
    }

    /// Waits until the near machine has these interfaces again, and fails if that does not happen.
    #[allow(dead_code, reason = "each test binary has its own copy of this file")]
    pub(crate) fn assert_near_has(&self, interfaces: &[&str]) {
        let end = Instant::now() + Duration::from_secs(60);
        let is_here = |interface: &&str| {
            self.near
                .shell()
                .look(&["ip", "link", "show", "dev", interface])
                .is_ok()
        };
        while !interfaces.iter().all(is_here) {
            assert!(Instant::now() < end, "{interfaces:?} are not given back");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the far machines are back in their original state, and fails if that does not happen.
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
        for sshd in &mut self.sshds {
            let _ = sshd.kill();
            let _ = sshd.wait();
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Creates a link for ssh to each machine, and the links under test, on which the near kernel sends nothing.
fn join(shell: &Shell, near: &Namespace, machines: &[&Namespace]) {
    let line = |shell: &Shell, text: &str| drop(shell.line(text).expect("a link"));
    let pair = |(one, end): (&str, &Namespace), (other, to): (&str, &Namespace)| {
        line(
            shell,
            &format!(
                "ip link add {one} netns {} type veth peer name {other} netns {}",
                end.name(),
                to.name()
            ),
        );
    };
    let (first, last) = (machines[0], machines[machines.len() - 1]);
    pair(("left", near), (FAR[0], first));
    machines
        .windows(2)
        .for_each(|two| pair((FAR[1], two[0]), (FAR[0], two[1])));
    pair(("right", near), (FAR[1], last));
    for link in ["left", "right"] {
        near.shell()
            .set(&format!("/proc/sys/net/ipv6/conf/{link}/disable_ipv6"), "1")
            .expect("a switch");
        line(
            &near.shell(),
            &format!("ethtool -K {link} tx off rx off tso off gso off gro off"),
        );
        line(&near.shell(), &format!("ip link set {link} arp off up"));
    }
    for ((index, machine), address) in machines.iter().enumerate().zip(ADDRESSES) {
        let ours = if index == 0 {
            "mgmt".to_owned()
        } else {
            format!("mgmt{index}")
        };
        pair((&ours, near), ("mgmt", machine));
        let near_address = format!("10.99.0.{}", 4 * index + 1);
        for (namespace, link, address) in [
            (near, ours.as_str(), near_address.as_str()),
            (machine, "mgmt", address),
        ] {
            line(
                &namespace.shell(),
                &format!("ip address add {address}/30 dev {link}"),
            );
            line(&namespace.shell(), &format!("ip link set {link} up"));
        }
    }
}

fn write_keys(shell: &Shell, directory: &std::path::Path, near: &str) {
    let path = |name: &str| directory.join(name).display().to_string();
    for key in ["host", "user", "stranger"] {
        shell
            .run(&[
                "ssh-keygen",
                "-q",
                "-t",
                "ed25519",
                "-N",
                "",
                "-f",
                &path(key),
            ])
            .expect("ssh-keygen (openssh-client)");
    }
    let write =
        |name: &str, content: String| fs::write(directory.join(name), content).expect("a file");
    let public = |key: &str| fs::read_to_string(path(&format!("{key}.pub"))).expect("a key");
    write("authorized", public("user"));
    let known = |key: &str| {
        ADDRESSES
            .map(|address| format!("[{address}]:{PORT} {}", public(key)))
            .concat()
    };
    write("known", known("host"));
    write("unknown", String::new());
    write("changed", known("stranger"));
    let (host, authorized) = (path("host"), path("authorized"));
    for (index, address) in ADDRESSES.into_iter().enumerate() {
        write(
            &format!("sshd{index}_config"),
            format!(
                "Port {PORT}\nListenAddress {address}\nHostKey {host}\nAuthorizedKeysFile {authorized}\nPidFile none\nUsePAM no\n\
                 StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
                 ClientAliveInterval 5\n"
            ),
        );
    }
    let host = |name: &str, (address, port): (&str, u16), key: &str, known: &str| {
        let (key, known) = (path(key), path(known));
        format!(
            "Host {name}\n  HostName {address}\n  Port {port}\n  User root\n  IdentityFile {key}\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {known}\n  GlobalKnownHostsFile none\n"
        )
    };
    let [first, second] = ADDRESSES;
    let hosts = [
        host("dut", (first, PORT), "user", "known"),
        host("second", (second, PORT), "user", "known"),
        host(first, (first, PORT), "user", "known"),
        host("closed", (first, PORT + 1), "user", "known"),
        host("refusing", (first, PORT), "stranger", "known"),
        host("unknown", (first, PORT), "user", "unknown"),
        host("changed", (first, PORT), "user", "changed"),
    ]
    .concat();
    write("from_within", hosts.clone());
    // ssh ends the proxy with a signal, and the proxy must then end its other half.
    let relay = "trap : HUP; exec 3<>/dev/tcp/%h/%p || exit 1; cat <&3 & cat >&3; kill $!";
    let proxy = format!("Host *\n  ProxyCommand ip netns exec {near} bash -c '{relay}'\n");
    write("from_outside", hosts + &proxy);
}
