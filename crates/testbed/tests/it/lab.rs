//! Tests virtual machines of the kernel lab in real namespaces. These tests need root, and build the lab if it does not exist. Without either, they
//! fail rather than skip.

use crate::common::the_lab;
use sixbench_testbed::lab::{GuestLink, KernelLab, MachineSpec, VirtualMachine};
use sixbench_testbed::namespace::{self, Namespace};
use sixbench_testbed::{Shell, TestbedError};
use std::path::{Path, PathBuf};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(20);

/// A namespace with a machine in it. Fields are dropped in the order of declaration.
struct Box {
    machine: VirtualMachine,
    namespace: Namespace,
    directory: PathBuf,
}

impl Box {
    /// Boots a machine in a namespace that already has the interface `near`.
    fn boot(lab: &KernelLab, namespace: Namespace, number: u8) -> Result<Self, TestbedError> {
        let directory = std::env::temp_dir().join(namespace.name());
        std::fs::create_dir(&directory).expect("a directory");
        let near = GuestLink {
            name: "near".to_owned(),
            mac: format!("02:73:62:01:00:{number:02x}"),
            local: format!("fe80::{number}").parse().expect("an address"),
        };
        let modules = vec!["jool_siit".to_owned()];
        let wanted = MachineSpec {
            directory: directory.clone(),
            links: vec![near],
            cores: "0,1".to_owned(),
            mtu: 1500,
            memory_mib: 192,
            modules,
        };
        let machine = VirtualMachine::boot(lab, &wanted, &namespace.shell());
        machine.map(|machine| Self {
            machine,
            namespace,
            directory,
        })
    }

    fn shell(&self, timeout: Duration) -> Shell {
        self.machine.shell().with_timeout(timeout)
    }

    fn run(&self, line: &str) -> Result<String, TestbedError> {
        self.shell(TIMEOUT)
            .run(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Sends a datagram to a closed port of another machine, and checks that machine's kernel counter `name` in `file`.
    fn asks(&self, address: &str, other: &Self, file: &str, name: &str) {
        let sending = format!("echo test > /dev/udp/{address}/4000");
        self.shell(TIMEOUT)
            .run(&["bash", "-c", &sending])
            .expect("sent");
        let counts = other.run(&format!("cat {file}")).expect("counters");
        assert_eq!(counter(&counts, name), Some(1), "{counts}");
    }

    /// Ends the machine, and returns the names that nothing may have afterwards.
    fn end(self) -> [PathBuf; 2] {
        let Self {
            machine,
            namespace,
            directory,
        } = self;
        let names = [
            directory.clone(),
            Path::new("/run/netns").join(namespace.name()),
        ];
        drop((machine, namespace));
        std::fs::remove_dir_all(&directory).expect("removed");
        names
    }
}

/// Returns a counter from lines `name number`, or from a line of names above one of numbers.
fn counter(text: &str, name: &str) -> Option<u64> {
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let at = lines.iter().position(|words| words.contains(&name))?;
    let column = lines[at].iter().position(|word| *word == name)?;
    let (beside, below) = (
        lines[at].get(1),
        lines.get(at + 1).and_then(|numbers| numbers.get(column)),
    );
    [beside, below]
        .into_iter()
        .flatten()
        .find_map(|word| word.parse().ok())
}

/// Creates two namespaces joined by a link whose ends are both called `near`.
fn pair(run: &str) -> [Namespace; 2] {
    let shell = Shell::new();
    let ends = ["one", "two"].map(|role| {
        Namespace::new(&shell, &namespace::name(run, role))
            .expect("a namespace (these tests need root)")
    });
    let [one, two] = [ends[0].name(), ends[1].name()];
    shell
        .line(&format!(
            "ip link add near netns {one} type veth peer name near netns {two}"
        ))
        .expect("a link");
    for end in &ends {
        end.shell()
            .line("ethtool -K near tx off rx off gro off gso off tso off")
            .expect("no offloads");
        end.shell()
            .set("/proc/sys/net/ipv6/conf/near/disable_ipv6", "1")
            .expect("a switch");
        end.shell()
            .line("ip link set near promisc on up")
            .expect("up");
    }
    ends
}

/// Returns the number of processes with `name` in their command line.
fn processes(name: &Path) -> usize {
    let bears_it = |process: &std::fs::DirEntry| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&*name.to_string_lossy())
    };
    std::fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(Result::ok)
        .filter(bears_it)
        .count()
}

#[test]
fn two_machines_reach_each_other_and_leave_nothing() {
    let lab = the_lab();
    let [one, two] = pair("lab");
    let (one, two) = (
        Box::boot(&lab, one, 1).expect("a machine"),
        Box::boot(&lab, two, 2).expect("a machine"),
    );
    assert_eq!(
        one.run("uname -r").expect("a release").trim(),
        lab.manifest().kernel
    );
    for module in ["sit", "ip6_tunnel"] {
        one.run(&format!("modprobe {module}")).expect("a module");
    }
    let modules = one.run("cat /proc/modules").expect("modules");
    assert!(
        ["jool_siit ", "sit ", "ip6_tunnel "]
            .iter()
            .all(|module| modules.contains(module)),
        "{modules}"
    );
    let offloads = one.run("ethtool -k near").expect("offloads");
    assert!(
        offloads.contains("tx-scatter-gather-fraglist: off"),
        "{offloads}"
    );
    one.run("ip address add 198.18.0.1/24 dev near")
        .expect("an address");
    two.run("ip address add 198.18.0.2/24 dev near")
        .expect("an address");
    one.asks("198.18.0.2", &two, "/proc/net/snmp", "NoPorts");
    one.asks("fe80::2%near", &two, "/proc/net/snmp6", "Udp6NoPorts");
    // The other machine has replied that the port is closed.
    let told = one.run("cat /proc/net/snmp6").expect("counters");
    assert_eq!(counter(&told, "Icmp6InDestUnreachs"), Some(1), "{told}");
    assert!(processes(&one.directory) > 0);
    for name in one.end().into_iter().chain(two.end()) {
        assert!(
            !name.exists() && processes(&name) == 0,
            "{}",
            name.display()
        );
    }
}

#[test]
fn a_command_inside_gives_its_output_and_its_status_as_one_outside() {
    let lab = the_lab();
    let [one, _two] = pair("labrun");
    let machine = Box::boot(&lab, one, 1).expect("a machine");
    let error = machine
        .run("ls /no/such/file")
        .expect_err("a failure")
        .to_string();
    assert!(
        error.contains("(exit status: 2)") && error.contains("/no/such/file': No such file"),
        "{error}"
    );
    let words = [
        "printf",
        "%s|",
        "it's",
        "a b",
        "",
        "$HOME",
        "two\nlines",
        "\\",
    ];
    assert_eq!(
        machine.shell(TIMEOUT).run(&words).expect("words"),
        "it's|a b||$HOME|two\nlines|\\|"
    );
    let much = machine
        .shell(TIMEOUT)
        .run(&["sh", "-c", "yes | head -c 300000; echo no >&2"])
        .expect("output");
    assert_eq!(much.len(), 300_000);
    let error = machine
        .shell(Duration::from_millis(700))
        .run(&["sleep", "60"])
        .expect_err("too long")
        .to_string();
    assert!(error.contains("did not end within 0.7 s"), "{error}");
    // This command does not delay the next one, and two at once do not get mixed up.
    let both = ["1", "2"].map(|number| {
        let shell = machine.machine.shell();
        std::thread::spawn(move || shell.run(&["echo", number]))
    });
    let both = both.map(|thread| thread.join().expect("joined").expect("output"));
    assert_eq!(both, ["1\n", "2\n"]);
    // No files remain of the commands that ended. The one that was killed could not clean up.
    let names = |folder: &str| {
        std::fs::read_dir(machine.directory.join("machine").join(folder))
            .expect("a folder")
            .count()
    };
    assert_eq!(
        (names("jobs"), names("out")),
        (1, 3),
        "one job, its output and errors so far, and that the machine is ready"
    );
    // The machine can only write to this one folder of its host.
    let error = machine
        .run("touch /etc/sixbench")
        .expect_err("read-only")
        .to_string();
    assert!(error.contains("Read-only file system"), "{error}");
    machine.end();
}

#[test]
fn a_machine_that_panics_is_noticed_with_its_last_words() {
    let lab = the_lab();
    let [one, _two] = pair("labdead");
    let mut machine = Box::boot(&lab, one, 1).expect("a machine");
    machine.machine.check_alive().expect("alive");
    let error = machine
        .shell(TIMEOUT)
        .run(&["sh", "-c", "echo c > /proc/sysrq-trigger"])
        .expect_err("dead")
        .to_string();
    assert!(
        error.contains("the virtual machine has ended") && error.contains("Kernel panic"),
        "{error}"
    );
    let error = machine.machine.check_alive().expect_err("dead").to_string();
    assert!(
        error.contains("Kernel panic - not syncing: sysrq triggered crash"),
        "{error}"
    );
    machine.end();
}

#[test]
fn a_machine_that_does_not_come_up_says_why() {
    let lab = the_lab();
    let [one, _two] = pair("labno");
    one.shell().line("ip link del near").expect("gone");
    let directory = std::env::temp_dir().join(one.name());
    let error = Box::boot(&lab, one, 1)
        .map(|_| ())
        .expect_err("no link")
        .to_string();
    std::fs::remove_dir_all(&directory).expect("removed");
    assert!(
        error.contains("has ended") && error.contains("near: vector_open: failed"),
        "{error}"
    );
}
