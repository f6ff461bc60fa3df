//! The files that boot a virtual machine and run commands inside it. They are plain shell scripts, so that the transcript of a run can boot the
//! same machine by hand.

use super::KernelLab;
use crate::exec::quoted;
use crate::net::topology::ROUTER_SYSCTLS;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

/// Runs a command inside: `sh DIRECTORY/inside WORD...`.
pub(super) const INSIDE: &str = include_str!("inside.sh");

/// The specification of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineSpec {
    /// A directory of the caller, which the machine sees under the same name and cannot write to. The machine's own files are in a folder there.
    pub directory: PathBuf,
    /// Interfaces of the namespace that become the machine's. They must be up, and nothing else may use them.
    pub links: Vec<GuestLink>,
    /// The cores that the machine may use, as a list for `taskset -c`. It has a single virtual core.
    pub cores: String,
    /// The layer 3 MTU of all its links, in octets.
    pub mtu: u32,
    /// The memory that the machine may use, in MiB.
    pub memory_mib: u32,
    /// Kernel modules that are loaded at boot.
    pub modules: Vec<String>,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestLink {
    /// The interface's name, both in the namespace and in the machine.
    pub name: String,
    /// The interface's hardware address in the machine. The interface in the namespace must have a different one.
    pub mac: String,
    /// The machine's link-local address on the interface, from which its kernel can solicit neighbours.
    pub local: Ipv6Addr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files(PathBuf);

impl Files {
    pub(super) fn new(directory: &Path) -> Self {
        Self(directory.join("machine"))
    }

    pub(super) fn directory(&self) -> &Path {
        &self.0
    }

    pub(super) fn boot(&self) -> PathBuf {
        self.0.join("boot")
    }

    pub(super) fn init(&self) -> PathBuf {
        self.0.join("init")
    }

    pub(crate) fn inside(&self) -> PathBuf {
        self.0.join("inside")
    }

    pub(super) fn console_log(&self) -> PathBuf {
        self.0.join("console.log")
    }

    /// Returns the path of the file with the machine's process ID on this host.
    pub(super) fn pid(&self) -> PathBuf {
        self.0.join("pid")
    }

    /// Returns the directories that must exist before the machine boots: for numbered commands, their output, and the kernel's own files.
    pub(super) fn folders(&self) -> [PathBuf; 3] {
        ["jobs", "out", "uml"].map(|name| self.0.join(name))
    }

    pub(super) fn console(&self) -> PathBuf {
        self.0.join("console")
    }
}

/// Returns the script that starts the machine in the network namespace of its interfaces.
pub(super) fn boot(lab: &KernelLab, wanted: &MachineSpec, files: &Files) -> String {
    // The machine gets a PID namespace, so that all its processes end with its first one.
    let before = [
        "exec",
        "unshare",
        "--pid",
        "--fork",
        "--kill-child=KILL",
        "env",
    ]
    .map(str::to_owned);
    let shim = format!("LD_PRELOAD={}", lab.shim().display());
    let words: Vec<String> = before
        .into_iter()
        .chain([shim, "linux.uml".to_owned()])
        .chain(kernel(wanted, files))
        .collect();
    format!(
        "echo $$ > {}\n{} <> {}\n",
        word(&files.pid()),
        quoted(&words),
        word(&files.console())
    )
}

fn word(path: &Path) -> String {
    quoted(&[path.display().to_string()])
}

fn kernel(wanted: &MachineSpec, files: &Files) -> Vec<String> {
    let mut words = vec![
        format!("mem={}M", wanted.memory_mib),
        format!("uml_dir={}/uml", files.directory().display()),
    ];
    words.extend(
        [
            "rootfstype=hostfs",
            "ro",
            "quiet",
            "con=null",
            "con0=fd:0,fd:1",
            "con1=null",
            // It would measure for almost a second, half of the time to boot, which method is the fastest for arrays of disks.
            "initcall_blacklist=raid6_select_algo",
        ]
        .map(str::to_owned),
    );
    words.push(format!("init={}", files.init().display()));
    for (number, link) in wanted.links.iter().enumerate() {
        let (name, mac, mtu) = (&link.name, &link.mac, wanted.mtu);
        words.push(format!(
            "vec{number}:transport=raw,depth=128,ifname={name},mac={mac},mtu={mtu}"
        ));
    }
    words
}

/// Returns the script of the first process: a router with its links up, then commands read from the console.
pub(super) fn init(lab: &KernelLab, wanted: &MachineSpec) -> String {
    let programs = word(&lab.programs());
    let mut script = format!(
        "#!/bin/sh\nset -e\nhere=${{0%/*}}\nexport PATH={programs}:/usr/sbin:/usr/bin:/sbin:/bin\n"
    );
    script += "export LC_ALL=C HOME=/run TMPDIR=/run\n";
    script += "mount -t proc proc /proc\nmount -t sysfs sysfs /sys\nmount -t tmpfs tmpfs /run\n";
    script += "# The only place of its host that it may write to.\nmount -t hostfs -o \"$here/out\" none \"$here/out\"\n";
    script += &format!(
        "echo {programs}/modprobe > /proc/sys/kernel/modprobe\nmodprobe -a ipv6 {}\n",
        quoted(&wanted.modules)
    );
    for (sysctl, value) in &ROUTER_SYSCTLS {
        script += &format!("echo {value} > /proc/sys/net/{sysctl}\n");
    }
    script += &format!(
        "ip -batch - <<'LINKS'\nlink set lo up\n{}LINKS\n",
        links(wanted)
    );
    for link in &wanted.links {
        script += &format!("ethtool -K {} {NO_FRAGMENT_LISTS}\n", link.name);
    }
    script += "echo ready > \"$here/out/ready\"\nset +e\n";
    script + SERVE
}

/// The driver `vector` of User-mode Linux says that it sends datagrams which are kept as a list of fragments, as they are after reassembly, and sends
/// other memory instead of all but the first (seen in Linux 6.1.176: whatever translated them was blamed).
const NO_FRAGMENT_LISTS: &str = "tx-scatter-gather-fraglist off";

/// The loop in which the first process runs commands. An empty line only wakes it.
const SERVE: &str = r#"while read -r job; do
    [ -n "$job" ] || continue
    {
        (. "$here/jobs/$job") > "$here/out/$job.out" 2> "$here/out/$job.err" < /dev/null
        echo $? > "$here/out/$job.status"
    } &
done
"#;

/// Returns the commands that set up the machine's links like those of a device in a namespace.
fn links(wanted: &MachineSpec) -> String {
    wanted
        .links
        .iter()
        .enumerate()
        .map(|(number, link)| {
            let (name, mtu) = (&link.name, wanted.mtu);
            format!(
                "link set vec{number} name {name} mtu {mtu} addrgenmode none\nlink set {name} up\n\
             address add {}/64 dev {name} nodad\n",
                link.local
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Manifest;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// Paths that a shell would split.
    const DIRECTORY: &str = "/tmp/it's a $HOME; b";
    const LAB: &str = "/cache of mine/linux-1";

    fn scripts() -> [String; 2] {
        let manifest = Manifest {
            kernel: "6.1.176".to_owned(),
            jool: "4.1.9".to_owned(),
            modules: vec![],
        };
        let lab = KernelLab {
            directory: LAB.into(),
            manifest,
        };
        let wanted = MachineSpec {
            directory: DIRECTORY.into(),
            links: vec![],
            cores: "0".to_owned(),
            mtu: 1500,
            memory_mib: 192,
            modules: vec![],
        };
        let files = Files::new(&wanted.directory);
        [boot(&lab, &wanted, &files), init(&lab, &wanted)]
    }

    /// Returns the words of a line as a shell parses them.
    fn read_by_a_shell(line: &str) -> Vec<String> {
        let output = Command::new("sh")
            .args(["-c", &format!("printf '%s\\n' {line}")])
            .output()
            .expect("sh");
        String::from_utf8(output.stdout)
            .expect("text")
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn paths_in_the_scripts_stay_whole_whatever_their_names_are() {
        let [boot, init] = scripts();
        let number = boot
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("echo $$ > "))
            .expect("the number's file");
        assert_eq!(
            read_by_a_shell(number),
            [format!("{DIRECTORY}/machine/pid")]
        );
        let started = boot
            .lines()
            .nth(1)
            .and_then(|line| line.strip_prefix("exec "))
            .expect("the kernel");
        let (words, console) = started.split_once(" <> ").expect("its console");
        assert_eq!(
            read_by_a_shell(console),
            [format!("{DIRECTORY}/machine/console")]
        );
        assert!(
            read_by_a_shell(words).contains(&format!("init={DIRECTORY}/machine/init")),
            "{words}"
        );
        assert!(
            read_by_a_shell(words).contains(&format!("LD_PRELOAD={LAB}/shim.so")),
            "{words}"
        );
        let path = init
            .lines()
            .find_map(|line| line.strip_prefix("export "))
            .expect("a search path");
        assert_eq!(
            read_by_a_shell(path),
            [format!("PATH={LAB}/bin:/usr/sbin:/usr/bin:/sbin:/bin")]
        );
    }
    /// Emulates a machine that did not read its console for minutes: it reads each line only when the next one arrives.
    const LATE: &str = "while read -r line; do printf '%s\\n' \"$held\"; held=$line; done <> \"$here/console\" | (\n";

    #[test]
    fn a_machine_that_missed_its_console_is_woken() {
        let directory =
            std::env::temp_dir().join(format!("sb-{}-late machine", std::process::id()));
        let files = Files::new(&directory);
        files
            .folders()
            .iter()
            .for_each(|folder| std::fs::create_dir_all(folder).expect("a folder"));
        assert!(
            Command::new("mkfifo")
                .arg(files.console())
                .status()
                .expect("mkfifo")
                .success()
        );
        std::fs::write(files.inside(), INSIDE).expect("a script");
        let ready = files.directory().join("out/ready");
        std::fs::write(ready, "ready").expect("a file");
        let here = format!("here={}\n", word(files.directory()));
        let mut machine = Command::new("sh")
            .args(["-c", &format!("{here}{LATE}{SERVE})")])
            .process_group(0)
            .spawn()
            .expect("a machine");
        std::fs::write(files.pid(), format!("{}\n", machine.id())).expect("a file");
        // Without `timeout`, a failure would make the test hang.
        let inside = files.inside();
        let asked = Command::new("timeout")
            .args(["60", "sh"])
            .arg(inside)
            .args(["echo", "it's awake"])
            .output()
            .expect("sh");
        let group = format!("-{}", machine.id());
        assert!(
            Command::new("kill")
                .args(["-KILL", "--", &group])
                .status()
                .expect("kill")
                .success()
        );
        machine.wait().expect("its end");
        std::fs::remove_dir_all(&directory).expect("no directory");
        assert_eq!(
            String::from_utf8_lossy(&asked.stdout),
            "it's awake\n",
            "{asked:?}"
        );
    }
}
