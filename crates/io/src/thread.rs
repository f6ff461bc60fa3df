//! Where and how a thread runs: core, priority, network namespace.

use crate::sys::check;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// The cores this process may run on, ascending.
pub fn allowed_cores() -> io::Result<Vec<u32>> {
    // SAFETY: cpu_set_t is a C bit set, for which all zeroes is a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most the size passed.
    check(unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) })?;
    // SAFETY: CPU_ISSET only reads the set, and the number is below CPU_SETSIZE.
    Ok((0..libc::CPU_SETSIZE as u32).filter(|&core| unsafe { libc::CPU_ISSET(core as usize, &set) }).collect())
}

/// Pins the calling thread to one core.
pub fn pin_to(core: u32) -> io::Result<()> {
    keep_to(&[core])
}

/// Keeps the calling thread to these cores, and what it starts from now on.
pub fn keep_to(cores: &[u32]) -> io::Result<()> {
    // SAFETY: as in `allowed_cores`; CPU_SET writes inside the set and asserts its bound.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cores.iter().for_each(|core| libc::CPU_SET(*core as usize, &mut set));
        check(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set))?;
    }
    Ok(())
}

/// Raises the calling thread above all ordinary ones (nice -20). Never a real-time class: at its default throttle that costs
/// a pause of 50 ms in every second.
pub fn raise_priority() -> io::Result<()> {
    // SAFETY: no pointers are passed. On Linux `who` 0 is the calling thread.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) })?;
    Ok(())
}

/// Runs `work` inside the named network namespace, on a thread of its own so that the caller stays where it is. Sockets opened
/// there keep working afterwards.
pub fn in_namespace<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let namespace = File::open(Path::new("/run/netns").join(name))?;
    let result = std::thread::scope(|scope| {
        let visitor = scope.spawn(move || {
            // SAFETY: no pointers are passed; only this short-lived thread changes its namespace.
            check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })?;
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
    fn a_namespace_that_does_not_exist_is_an_error() {
        assert_eq!(in_namespace("sb-none", || ()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
