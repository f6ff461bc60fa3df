//! What keeps a root user from being root of the machine: a user namespace, missing capabilities, and mounts that cannot be written to.

use std::path::Path;

/// The capabilities that a run needs: the bit in `CapEff` and the name.
const NEEDED: [(u32, &str); 3] = [
    (12, "CAP_NET_ADMIN"),
    (13, "CAP_NET_RAW"),
    (21, "CAP_SYS_ADMIN"),
];

/// What is known of the confinement of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Confinement {
    /// True if this is root of a user namespace, not of the machine.
    pub(super) is_in_user_namespace: bool,
    /// The needed capabilities that are missing.
    pub(super) missing: Vec<&'static str>,
    /// Sentences about the places that a run writes to and cannot, with the reason.
    pub(super) mounts: Vec<String>,
}

/// A place that a run uses.
struct NeededPlace<'p> {
    path: &'p Path,
    /// What a run does there.
    purpose: &'static str,
    /// True if files of recipes may be run there.
    runs_files: bool,
}

impl Confinement {
    /// Reads the confinement of this process.
    pub(super) fn read() -> Self {
        let read =
            |file: &str| std::fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
        Self::parse(
            &read("uid_map"),
            &read("status"),
            &read("mountinfo"),
            &std::env::temp_dir(),
        )
    }

    fn parse(uid_map: &str, status: &str, mounts: &str, temporary: &Path) -> Self {
        let places = [
            NeededPlace {
                path: Path::new("/proc/sys"),
                purpose: "sysctls of the device",
                runs_files: false,
            },
            NeededPlace {
                path: Path::new("/run"),
                purpose: "names of namespaces, and locks",
                runs_files: false,
            },
            NeededPlace {
                path: temporary,
                purpose: "files of the device",
                runs_files: true,
            },
        ];
        Self {
            is_in_user_namespace: is_partial(uid_map),
            missing: missing(status),
            mounts: places
                .iter()
                .filter_map(|place| obstacle(place, mounts))
                .collect(),
        }
    }

    /// Returns all of it in words; `None` if nothing confines this process.
    pub(super) fn describe(&self) -> Option<String> {
        let user = self
            .is_in_user_namespace
            .then(|| "this is root of a user namespace only".to_owned());
        let missing =
            (!self.missing.is_empty()).then(|| format!("without {}", self.missing.join(", ")));
        let all: Vec<String> = user
            .into_iter()
            .chain(missing)
            .chain(self.mounts.iter().cloned())
            .collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Returns what makes a run work in spite of it.
    pub(super) fn cure(&self) -> &'static str {
        match self {
            Self {
                is_in_user_namespace: true,
                ..
            } => {
                "run it with sudo outside of the user namespace; of containers, in one that root started with --privileged, not a rootless one"
            }
            Self {
                missing, mounts, ..
            } if !missing.is_empty()
                || mounts.iter().any(|mount| mount.starts_with("/proc/sys")) =>
            {
                "run it with sudo; in a container with --privileged, because capabilities alone leave /proc/sys read-only"
            }
            Self { mounts, .. } if !mounts.is_empty() => {
                "give it places to write to: mount a tmpfs there (docker run --tmpfs /run --tmpfs /tmp:exec), or set TMPDIR for temporary files"
            }
            _ => "run it with sudo; in a container with --privileged",
        }
    }
}

/// Returns whether a map of user numbers is not that of the machine's own namespace, in which all numbers are mapped to themselves.
fn is_partial(uid_map: &str) -> bool {
    let words: Vec<&str> = uid_map.split_whitespace().collect();
    !words.is_empty() && words != ["0", "0", "4294967295"]
}

fn missing(status: &str) -> Vec<&'static str> {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let Some(bits) = effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()) else {
        return Vec::new();
    };
    NEEDED
        .iter()
        .filter(|(bit, _)| bits >> bit & 1 == 0)
        .map(|(_, name)| *name)
        .collect()
}

/// Returns why a place cannot be used, according to the mount that it is on: `/proc/sys is mounted read-only (sysctls of the device)`.
fn obstacle(place: &NeededPlace<'_>, mountinfo: &str) -> Option<String> {
    let options = options_of(place.path, mountinfo)?;
    let has = |option: &str| options.split(',').any(|other| other == option);
    let how = if has("ro") {
        "read-only"
    } else if place.runs_files && has("noexec") {
        "noexec"
    } else {
        return None;
    };
    Some(format!(
        "{} is mounted {how} ({})",
        place.path.display(),
        place.purpose
    ))
}

/// Returns the options of the mount that a path is on: of the longest mount point before it, the last if there are several, because it covers the others.
fn options_of<'m>(path: &Path, mountinfo: &'m str) -> Option<&'m str> {
    let mounts = mountinfo.lines().filter_map(|line| {
        // The fifth field is the mount point, the sixth its options (proc(5)).
        let mut words = line.split(' ').skip(4);
        Some((words.next()?, words.next()?))
    });
    let above = mounts.filter(|(point, _)| path.starts_with(point));
    above
        .max_by_key(|(point, _)| point.len())
        .map(|(_, options)| options)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "         0          0 4294967295\n";
    const ALL: &str = "CapEff:\t000001ffffffffff\n";

    fn of(uid_map: &str, status: &str, mounts: &str) -> Confinement {
        Confinement::parse(uid_map, status, mounts, Path::new("/tmp"))
    }

    #[test]
    fn root_of_the_machine_is_not_confined() {
        let mounts =
            "21 1 8:1 / / rw,relatime - ext4 x rw\n22 21 0:5 / /tmp rw,nosuid - tmpfs x rw\n";
        assert_eq!(of(MACHINE, ALL, mounts).describe(), None);
    }

    #[test]
    fn root_of_a_user_namespace_is_told_and_where_to_run_instead() {
        let confined = of("0 1000 1\n", ALL, "");
        assert_eq!(
            confined.describe().as_deref(),
            Some("this is root of a user namespace only")
        );
        assert!(confined.cure().contains("outside of the user namespace"));
    }

    #[test]
    fn a_container_with_capabilities_only_has_a_proc_sys_that_cannot_be_written_to() {
        let mounts = "21 1 0:1 / / rw - overlay x rw\n22 21 0:4 / /proc rw - proc x rw\n23 22 0:4 /sys /proc/sys ro - proc x rw\n";
        let confined = of(MACHINE, "CapEff:\t00000000a80425fb\n", mounts);
        let words = "without CAP_NET_ADMIN, CAP_SYS_ADMIN; /proc/sys is mounted read-only (sysctls of the device)";
        assert_eq!(confined.describe().as_deref(), Some(words));
        assert!(confined.cure().contains("--privileged"));
    }

    #[test]
    fn the_last_mount_at_a_place_counts() {
        let mounts = "21 1 0:1 / / ro - overlay x rw\n22 21 0:4 / /tmp rw - tmpfs x rw\n23 21 0:4 / /tmp rw,noexec - tmpfs x rw\n";
        let words = of(MACHINE, ALL, mounts).describe().expect("confined");
        assert!(
            words.contains("/run is mounted read-only") && words.contains("/tmp is mounted noexec"),
            "{words}"
        );
    }
}
