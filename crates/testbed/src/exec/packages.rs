//! Finds the Debian package that contains a program.

use super::{TestbedError, search_path};
use std::path::Path;

pub(crate) fn missing(program: &str, error: std::io::Error) -> TestbedError {
    if error.kind() != std::io::ErrorKind::NotFound {
        return TestbedError::NotStarted {
            program: program.to_owned(),
            error,
        };
    }
    not_installed(program)
}

/// Returns an error that names the package if a program is not installed.
pub(crate) fn require(program: &str) -> Result<(), TestbedError> {
    if has_program(program) {
        return Ok(());
    }
    Err(not_installed(program))
}

fn not_installed(program: &str) -> TestbedError {
    let package = package_of(program).filter(|package| !ESSENTIAL.contains(package));
    let cure = package.map(|package| format!("apt-get install {package}"));
    TestbedError::Missing {
        program: program.to_owned(),
        cure,
    }
}

/// Packages that every Debian system has: if one of their programs is not found, the PATH is wrong.
const ESSENTIAL: [&str; 3] = ["coreutils", "dash", "dpkg"];

/// The Debian packages of the tools that the testbed and the recipes run. (A recipe names the packages of its device.)
const PACKAGES: [(&str, &[&str]); 24] = [
    ("apt", &["apt-get"]),
    ("bind9-dnsutils", &["dig"]),
    ("binutils", &["ar", "ld"]),
    ("conntrack", &["conntrack"]),
    (
        "coreutils",
        &[
            "cat", "chmod", "cp", "cut", "echo", "env", "head", "id", "ls", "mkdir", "mv", "nproc",
            "rm", "sleep", "sort", "stat", "tail", "tee", "touch", "true", "tr", "uname", "wc",
        ],
    ),
    ("dash", &["sh"]),
    ("dpkg", &["dpkg", "dpkg-deb", "dpkg-query"]),
    ("ethtool", &["ethtool"]),
    ("findutils", &["find", "xargs"]),
    ("gcc", &["cc", "gcc"]),
    ("grep", &["grep"]),
    ("gzip", &["gzip", "zcat"]),
    ("iproute2", &["bridge", "ip", "ss", "tc"]),
    ("iptables", &["ip6tables-legacy", "iptables-legacy"]),
    ("jool-tools", &["jool", "jool_siit"]),
    ("kmod", &["depmod", "lsmod", "modprobe"]),
    ("make", &["make"]),
    ("mount", &["mount", "umount"]),
    ("nftables", &["nft"]),
    ("openssh-client", &["ssh"]),
    ("procps", &["pgrep", "sysctl"]),
    ("sed", &["sed"]),
    ("tar", &["tar"]),
    (
        "util-linux",
        &["lscpu", "nsenter", "setpriv", "taskset", "unshare"],
    ),
];

fn package_of(program: &str) -> Option<&'static str> {
    PACKAGES
        .iter()
        .find(|(_, programs)| programs.contains(&program))
        .map(|(package, _)| *package)
}

pub(crate) fn has_program(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    search_path()
        .split(':')
        .any(|directory| Path::new(directory).join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Shell;

    #[test]
    fn a_missing_program_names_its_package_where_it_has_one() {
        let told = |program| not_installed(program).to_string();
        assert_eq!(
            told("conntrack"),
            "cannot run conntrack: not installed (apt-get install conntrack)"
        );
        assert_eq!(
            told("mkdir"),
            "cannot run mkdir: it is not on the PATH",
            "no Debian system lacks it"
        );
        assert_eq!(told("sh"), "cannot run sh: it is not on the PATH");
        let error = Shell::new().line("sb-no-such-program -x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot run sb-no-such-program: it is not on the PATH"
        );
    }

    #[test]
    fn every_program_is_in_the_package_that_is_named() {
        let owner = |program: &str| {
            Shell::new()
                .look(&["dpkg-query", "-S", &format!("*bin/{program}")])
                .unwrap_or_default()
        };
        for (package, programs) in PACKAGES {
            for program in programs {
                // dpkg only knows installed packages, and no package owns an alternative.
                let owners = owner(program);
                let is_whole = |line: &&str| line.ends_with(&format!("bin/{program}"));
                let named = || {
                    owners
                        .lines()
                        .filter(is_whole)
                        .map(|line| line.split(':').next().unwrap_or_default())
                };
                let diverted = |owner: &str| owner.starts_with("diversion by");
                assert!(
                    named().next().is_none() || named().any(|owner| owner.split(", ").any(|o| o == package) || diverted(owner)),
                    "{program} is in {:?}, not {package}",
                    named().collect::<Vec<_>>()
                );
            }
        }
    }
}
