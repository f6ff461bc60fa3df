//! DPDK's environment (EAL), which is started once per process, with the first port, and shared by all ports. It creates no files, so a killed
//! process leaves nothing behind.

use super::error::DpdkError;
use super::hugepages;
use super::shim::{self, ShimTable};
use crate::thread::allowed_cores;
use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Memory in MiB where there are no hugepages. Unused parts of it are never touched.
const ORDINARY_MIB: u32 = 1024;
/// Octets of DPDK's messages that an error quotes.
const LOG_OCTETS: usize = 2048;

/// The running environment.
#[derive(Clone, Copy)]
pub(super) struct Environment {
    pub(super) shim: &'static ShimTable,
    pub(super) has_hugepages: bool,
}

/// The environment of this process, or the reason why it could not start: DPDK allows only one attempt.
static STARTED: Mutex<Option<Result<Environment, String>>> = Mutex::new(None);

/// Returns the environment, and starts it if it is not running yet. It uses hugepages if there are any.
///
/// # Errors
/// The shim is missing, DPDK does not start, or there are no hugepages for a device that needs them.
pub(super) fn environment(needs_hugepages: bool) -> Result<Environment, DpdkError> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if started.is_none() {
        let (shim, hugepages) = (shim::load()?, hugepages::check());
        let has_hugepages = hugepages.is_ok();
        if needs_hugepages {
            hugepages?;
        }
        *started = Some(start(shim, has_hugepages).map(|()| Environment {
            shim,
            has_hugepages,
        }));
    }
    match &*started {
        Some(Ok(environment)) if needs_hugepages && !environment.has_hugepages => Err(DpdkError::Start(
            "a virtual device was opened before, in ordinary memory, and a NIC needs hugepages: reserve them and begin again"
                .to_owned(),
        )),
        Some(Ok(environment)) => Ok(*environment),
        Some(Err(why)) => Err(DpdkError::Start(why.clone())),
        None => unreachable!("it was started above"),
    }
}

impl Environment {
    /// Returns the version of DPDK as text.
    pub(super) fn version(&self) -> String {
        // SAFETY: the shim returns a constant string of DPDK.
        unsafe { CStr::from_ptr((self.shim.version)()) }
            .to_string_lossy()
            .into_owned()
    }

    /// Turns the result of a call into an error with the messages that DPDK logged meanwhile. After a success they are discarded.
    pub(super) fn check(
        &self,
        result: c_int,
        what: impl FnOnce() -> String,
    ) -> Result<c_int, DpdkError> {
        if result < 0 {
            return Err(DpdkError::Call {
                what: what(),
                why: reason(self.shim, result),
            });
        }
        told(self.shim);
        Ok(result)
    }
}

/// Starts the environment on a separate thread, as it restricts the calling thread to its cores.
fn start(shim: &'static ShimTable, has_hugepages: bool) -> Result<(), String> {
    let cores = allowed_cores()
        .map_err(|error| format!("cannot read the cores of this process: {error}"))?;
    let arguments = arguments(&cores, has_hugepages, std::process::id());
    let starting = std::thread::spawn(move || {
        let mut pointers: Vec<*mut c_char> = arguments.into_iter().map(CString::into_raw).collect();
        let count = pointers.len() as c_int;
        pointers.push(std::ptr::null_mut());
        // SAFETY: the pointers are to C strings that are never freed, as DPDK keeps some of them; the list ends with a null pointer.
        let result = unsafe { (shim.start)(count, pointers.as_mut_ptr()) };
        if result < 0 {
            Err(reason(shim, result))
        } else {
            Ok(())
        }
    });
    starting
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn arguments(cores: &[u32], has_hugepages: bool, pid: u32) -> Vec<CString> {
    let cores = cores
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(",");
    let memory = if has_hugepages {
        "--in-memory".to_owned()
    } else {
        format!("--no-huge --no-shconf -m {ORDINARY_MIB}")
    };
    // Only explicitly named devices may be opened, so the only allowed address is one that no device has.
    let text = format!(
        "sixbench --lcores 0@({cores}) --no-telemetry --file-prefix sb-{pid} -a 0000:00:00.0 {memory}"
    );
    text.split(' ')
        .map(|word| CString::new(word).expect("no zero octet"))
        .collect()
}

/// Returns an error as text: the meaning of the number, and the messages that DPDK has logged since the last call.
fn reason(shim: &ShimTable, result: c_int) -> String {
    let error = io::Error::from_raw_os_error(-result).to_string();
    match told(shim) {
        told if told.is_empty() => error,
        // Drivers return -1 for any kind of failure; that is not an error number.
        told if result == -1 => told,
        told => format!("{told} ({error})"),
    }
}

/// Returns the errors that DPDK has logged since the last call, on one line.
fn told(shim: &ShimTable) -> String {
    let mut text = [0; LOG_OCTETS];
    // SAFETY: the shim writes at most as many octets as the array has; the last of them is zero.
    unsafe { (shim.take_log)(text.as_mut_ptr(), text.len()) };
    // SAFETY: the text ends with a zero within the array.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(has_hugepages: bool) -> String {
        let words = arguments(&[0, 3], has_hugepages, 7)
            .into_iter()
            .map(|word| word.into_string().expect("text"));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn no_file_is_kept_and_no_device_is_opened_that_was_not_named() {
        let always = "sixbench --lcores 0@(0,3) --no-telemetry --file-prefix sb-7 -a 0000:00:00.0";
        assert_eq!(line(true), format!("{always} --in-memory"));
        assert_eq!(
            line(false),
            format!("{always} --no-huge --no-shconf -m 1024")
        );
    }
}
