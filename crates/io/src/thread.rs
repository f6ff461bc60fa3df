//! A thread's environment: cores, priority, privileges, network namespace.

use rustix::process::setpriority_process;
use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, CpuSet, LinkNameSpaceType, clear_ambient_capability_set,
    move_into_link_name_space, sched_getaffinity, sched_setaffinity, set_capabilities,
    set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Returns the cores this process may run on, ascending.
///
/// # Errors
/// If the kernel does not tell it.
pub fn allowed_cores() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU as u32)
        .filter(|&core| set.is_set(core as usize))
        .collect())
}

/// Pins the calling thread to one core.
///
/// # Errors
/// If this process may not run on that core.
pub fn pin_to(core: u32) -> io::Result<()> {
    keep_to(&[core])
}

/// Restricts the calling thread, and any process or thread it starts from now on, to these cores.
///
/// # Errors
/// If this process may run on none of them.
pub fn keep_to(cores: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(*core as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Raises the calling thread above all ordinary ones (nice -20). A real-time class is never used: its default throttling costs a pause of 50 ms
/// in every second.
///
/// # Errors
/// Without CAP_SYS_NICE.
pub fn raise_priority() -> io::Result<()> {
    // On Linux `None` means the calling thread, not its process.
    Ok(setpriority_process(None, -20)?)
}

/// Permanently gives up all privileges of the calling thread, and of any thread or process it starts from now on. Open sockets and memory stay
/// open, but the thread can no longer open any that need root, or change the machine. Each thread of a process has its own privileges.
///
/// # Errors
/// The kernel refuses it. (An ordinary user's thread has nothing to give up.)
pub fn give_up_privileges() -> io::Result<()> {
    keep_privileges(CapabilitySet::empty())
}

/// Does the same as [`give_up_privileges`], except that sockets can still be bound to ports below 1024.
///
/// # Errors
/// The kernel refuses it.
pub fn keep_low_ports_only() -> io::Result<()> {
    keep_privileges(CapabilitySet::NET_BIND_SERVICE)
}

fn keep_privileges(kept: CapabilitySet) -> io::Result<()> {
    // This also applies to a program that the thread starts as root.
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    let own = rustix::thread::capabilities(None)?.permitted & kept;
    Ok(set_capabilities(
        None,
        CapabilitySets {
            effective: own,
            permitted: own,
            inheritable: CapabilitySet::empty(),
        },
    )?)
}

/// Permanently changes the calling thread, and any thread or process it starts from now on, to this user and group without any privileges. If the
/// process has no other thread yet, this changes the whole process.
///
/// # Errors
/// The kernel refuses it: the caller is neither root nor this user.
pub fn become_user(user: u32, group: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    set_thread_groups(&[group])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    give_up_privileges()
}

/// Makes the calling thread, and any thread or process it starts from now on, disturb others as little as possible: it stays on these cores, if
/// there are any, and runs only while they are otherwise idle.
///
/// # Errors
/// If this process may run on none of the cores, or the kernel refuses the scheduling class.
pub fn give_way(cores: &[u32]) -> io::Result<()> {
    if !cores.is_empty() {
        keep_to(cores)?;
    }
    crate::sys::run_when_idle()
}

/// Returns the total time in nanoseconds for which the calling thread has been ready to run without a core; 0 if the kernel does not report it.
pub fn waited_ns() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    schedstat
        .split_whitespace()
        .nth(1)
        .and_then(|waited| waited.parse().ok())
        .unwrap_or(0)
}

/// Runs `work` inside the named network namespace, on a separate thread so that the caller stays in its own. Sockets opened there keep working
/// afterwards.
///
/// # Errors
/// If there is no such namespace, or this process may not enter it.
pub fn in_namespace<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let namespace = File::open(Path::new("/run/netns").join(name))?;
    let result = std::thread::scope(|scope| {
        let visitor = scope.spawn(move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok(work())
        });
        visitor.join()
    });
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_be_pinned_to_an_allowed_core() {
        let cores = allowed_cores().expect("affinity");
        std::thread::spawn(move || {
            pin_to(cores[0]).expect("pin");
            assert_eq!(allowed_cores().expect("affinity"), vec![cores[0]]);
        })
        .join()
        .expect("thread");
    }

    #[test]
    fn a_thread_that_shares_its_core_with_another_has_waited() {
        let core = allowed_cores().expect("affinity")[0];
        let busy = move || {
            pin_to(core).expect("pin");
            let before_ns = waited_ns();
            let end = std::time::Instant::now() + std::time::Duration::from_millis(300);
            while std::time::Instant::now() < end {}
            waited_ns() - before_ns
        };
        let waits = [std::thread::spawn(busy), std::thread::spawn(busy)]
            .map(|thread| thread.join().expect("a time"));
        assert!(waits.iter().sum::<u64>() > 50_000_000, "{waits:?}");
    }

    #[test]
    fn a_thread_that_gives_way_is_scheduled_only_when_a_core_is_idle() {
        let policy = std::thread::spawn(|| {
            let cores = allowed_cores().expect("affinity");
            give_way(&cores[..1]).expect("any thread may");
            assert_eq!(allowed_cores().expect("affinity"), cores[..1]);
            let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("stat");
            // The name in parentheses may contain spaces; the policy is field 41.
            stat.rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().nth(38).map(str::to_owned))
        });
        assert_eq!(
            policy.join().expect("thread").as_deref(),
            Some("5"),
            "SCHED_IDLE"
        );
    }

    /// Returns a line from the status of the calling thread.
    fn status(name: &str) -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("a status");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .expect("a line");
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    const NONE: &str = "0000000000000000";

    #[test]
    fn privileges_are_given_up_by_one_thread_and_for_good() {
        let before = status("CapEff");
        std::thread::spawn(|| {
            keep_low_ports_only().expect("any thread may");
            assert!(
                [NONE, "0000000000000400"].contains(&status("CapEff").as_str()),
                "{}",
                status("CapEff")
            );
            give_up_privileges().expect("any thread may");
            assert_eq!(
                ["CapEff", "CapPrm", "CapInh", "CapAmb"].map(status),
                [NONE; 4]
            );
            assert!(raise_priority().is_err() && in_namespace("sb-none", || ()).is_err());
            // Not even a program that it starts as root regains them.
            let child = std::process::Command::new("sh")
                .args(["-c", "grep CapEff /proc/self/status"])
                .output()
                .expect("sh");
            assert!(
                String::from_utf8_lossy(&child.stdout).contains(NONE),
                "{child:?}"
            );
        })
        .join()
        .expect("a thread");
        assert_eq!(
            status("CapEff"),
            before,
            "of other threads nothing is taken"
        );
    }

    #[test]
    fn a_thread_that_becomes_another_user_is_that_user_in_every_way() {
        let told = std::thread::spawn(|| {
            become_user(65_534, 65_534).map(|()| (status("Uid"), status("Gid"), status("Groups")))
        });
        match told.join().expect("a thread") {
            Ok((user, group, groups)) => {
                assert_eq!([user, group], ["65534 65534 65534 65534"; 2]);
                assert_eq!(groups, "65534");
            }
            Err(error) => assert_eq!(
                error.kind(),
                io::ErrorKind::PermissionDenied,
                "only root may"
            ),
        }
        assert_ne!(status("Uid"), "65534 65534 65534 65534");
    }

    #[test]
    fn a_namespace_that_does_not_exist_is_an_error() {
        assert_eq!(
            in_namespace("sb-none", || ()).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
