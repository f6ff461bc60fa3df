//! The shared object that is compiled against DPDK: where it is, and its table of functions. `shim.c` declares the same structs; any change to
//! them requires a new [`SHIM_ABI`].

use super::error::DpdkError;
use crate::BATCH;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::error::Error;
use std::ffi::{OsString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

/// The file name of the shim.
const SHIM_FILE: &str = "libsixbench-dpdk.so";
/// The environment variable with the path of the shim.
const SHIM_VARIABLE: &str = "SIXBENCH_DPDK";
/// The directory into which packages install the shim.
const SHIM_DIRECTORY: &str = "/usr/lib/sixbench";
/// The version of the interface between the shim and this crate.
const SHIM_ABI: u32 = 1;

/// The properties and capabilities of a port.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ShimDescription {
    pub(super) driver: [u8; 64],
    /// The hardware address, in the first six octets.
    pub(super) mac: [u8; 8],
    /// The NUMA node, or -1 if it is unknown.
    pub(super) node: i32,
    pub(super) most_rx_queues: u32,
    pub(super) most_tx_queues: u32,
    /// Octets of the longest frame, without FCS.
    pub(super) most_octets: u32,
    /// 1 if frames can be spread over several queues by their addresses and ports.
    pub(super) can_spread: u32,
}

/// The settings for a port. Opening it changes `rx_ring` and `tx_ring` to the actual sizes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ShimSettings {
    pub(super) queues: u32,
    /// Octets of the longest frame to be sent, without FCS.
    pub(super) longest_sent: u32,
    /// Octets of the longest frame to be received, without FCS.
    pub(super) longest_received: u32,
    /// Octets of a buffer for received frames.
    pub(super) receive_room: u32,
    /// Frames that a ring holds.
    pub(super) rx_ring: u32,
    pub(super) tx_ring: u32,
    /// 1 if frames for other hardware addresses are also wanted.
    pub(super) is_promiscuous: u32,
}

/// Frames on their way to or from a queue.
#[repr(C)]
pub(super) struct ShimBatch {
    pub(super) buffers: [*mut c_void; BATCH],
    pub(super) data: [*mut u8; BATCH],
    pub(super) octets: [u32; BATCH],
    pub(super) slots: [u32; BATCH],
}

/// A port of the shim, which is opaque to this crate.
pub(super) type ShimPort = c_void;

/// The functions of the shim. Those that return an `int` return 0 or a negative error number, unless noted otherwise.
#[repr(C)]
pub(super) struct ShimTable {
    pub(super) abi: u32,
    pub(super) batch: u32,
    pub(super) version: extern "C" fn() -> *const c_char,
    pub(super) take_log: unsafe extern "C" fn(*mut c_char, usize),
    pub(super) start: unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int,
    pub(super) probe: unsafe extern "C" fn(*const c_char, *mut u16) -> c_int,
    pub(super) remove: unsafe extern "C" fn(u16) -> c_int,
    pub(super) describe: unsafe extern "C" fn(u16, *mut ShimDescription) -> c_int,
    pub(super) open: unsafe extern "C" fn(u16, *mut ShimSettings, *mut *mut ShimPort) -> c_int,
    pub(super) close: unsafe extern "C" fn(*mut ShimPort),
    /// Returns 1 if the link is up and 0 if it is down.
    pub(super) link: unsafe extern "C" fn(*const ShimPort) -> c_int,
    pub(super) missed: unsafe extern "C" fn(*const ShimPort, *mut u64) -> c_int,
    pub(super) slots: unsafe extern "C" fn(*const ShimPort, c_uint) -> c_uint,
    /// Returns 1 if the thread must leave when it ends.
    pub(super) join_thread: unsafe extern "C" fn() -> c_int,
    pub(super) leave_thread: unsafe extern "C" fn(),
    pub(super) take:
        unsafe extern "C" fn(*const ShimPort, c_uint, *mut ShimBatch, c_uint) -> c_uint,
    pub(super) send:
        unsafe extern "C" fn(*const ShimPort, c_uint, *mut ShimBatch, c_uint, c_uint) -> c_uint,
    pub(super) answer: unsafe extern "C" fn(*const ShimPort, c_uint, *const u8, u32) -> c_int,
    pub(super) receive: unsafe extern "C" fn(*const ShimPort, c_uint, *mut ShimBatch) -> c_uint,
    pub(super) gather: unsafe extern "C" fn(*const ShimBatch, c_uint, *mut u8, u32) -> u32,
    pub(super) release: unsafe extern "C" fn(*mut ShimBatch, c_uint, c_uint),
}

/// Finds and loads the shim. It stays loaded until the process ends, because DPDK has its own threads that run in it.
///
/// # Errors
/// It was not found, cannot be loaded, or has another version.
pub(super) fn load() -> Result<&'static ShimTable, DpdkError> {
    load_from(&find(named(), std::env::current_exe().ok())?)
}

/// Returns whether the user has set a path for the shim, which is a sign that DPDK is wanted.
pub(super) fn is_named() -> bool {
    named().is_some()
}

fn named() -> Option<OsString> {
    std::env::var_os(SHIM_VARIABLE).filter(|path| !path.is_empty())
}

/// Returns the path of the shim: the one the user has set, or else in the program's directory, or else in that of a package.
fn find(named: Option<OsString>, program: Option<PathBuf>) -> Result<PathBuf, DpdkError> {
    let beside = || {
        program
            .as_deref()
            .and_then(Path::parent)
            .map(|directory| directory.join(SHIM_FILE))
    };
    let places = match named {
        Some(path) => vec![PathBuf::from(path)],
        None => beside()
            .into_iter()
            .chain([Path::new(SHIM_DIRECTORY).join(SHIM_FILE)])
            .collect(),
    };
    let found = places.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| missing(&places))
}

fn missing(places: &[PathBuf]) -> DpdkError {
    let paths: Vec<String> = places
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let what = format!("there is no {}", paths.join(" or "));
    let cure = "`make build` builds it beside the binary if DPDK's development files are there (apt-get install libdpdk-dev pkg-config), and \
                SIXBENCH_DPDK names another path";
    DpdkError::Lacking {
        what,
        cure: cure.to_owned(),
    }
}

fn load_from(path: &Path) -> Result<&'static ShimTable, DpdkError> {
    let fail = |error: libloading::Error| {
        DpdkError::Lacking {
        what: format!("{SHIM_FILE} cannot be loaded ({})", answer(&error)),
        cure: "install the libraries of the DPDK that it was built with (apt-get install dpdk-dev), or build it for those that are there (make build)"
            .to_owned(),
    }
    };
    // SAFETY: loading runs the constructors of DPDK's libraries, which register drivers and do not touch our memory. The file is next to our own
    // binary, in a directory that belongs to root, or was named by the user who runs us.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(fail)?;
    // SAFETY: the symbol is a table; only its first field is read before anything else is relied upon.
    let table: *const ShimTable =
        *unsafe { library.get::<*const ShimTable>(b"sixbench_dpdk") }.map_err(fail)?;
    std::mem::forget(library);
    // SAFETY: every version of the table begins with its version number, aligned like the table itself.
    let found = unsafe { table.cast::<u32>().read() };
    check_version(found, path)?;
    // SAFETY: a table of this version has these fields. It is constant, and its library is never unloaded.
    let table = unsafe { &*table };
    assert!(
        table.batch as usize == BATCH,
        "the shim was built for batches of {} frames",
        table.batch
    );
    Ok(table)
}

/// Refuses a shim whose table has another version than this crate needs.
fn check_version(found: u32, path: &Path) -> Result<(), DpdkError> {
    if found == SHIM_ABI {
        return Ok(());
    }
    let what = format!(
        "{} is of another version of sixbench ({found}, and {SHIM_ABI} is needed)",
        path.display()
    );
    Err(DpdkError::Lacking {
        what,
        cure: "build it again (make build)".to_owned(),
    })
}

/// Returns the loader's own message, which the crate's message precedes.
fn answer(error: &libloading::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_named_is_the_only_one_and_an_error_says_where_was_looked() {
        let program = || Some(PathBuf::from("/opt/none/sixbench"));
        let told = find(None, program()).expect_err("no shim").to_string();
        assert!(
            told.starts_with(
                "there is no /opt/none/libsixbench-dpdk.so or /usr/lib/sixbench/libsixbench-dpdk.so: `make build`"
            ),
            "{told}"
        );
        let told = find(Some("/elsewhere/x.so".into()), program())
            .expect_err("no shim")
            .to_string();
        assert!(told.starts_with("there is no /elsewhere/x.so: "), "{told}");
        let here = std::env::current_exe().expect("a path");
        assert_eq!(
            find(Some(here.clone().into()), program()).expect("a file"),
            here
        );
    }

    #[test]
    fn what_cannot_be_loaded_is_named_with_the_answer_of_the_loader() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let told = load_from(&here).err().expect("no library").to_string();
        assert!(
            told.contains("cannot be loaded (")
                && told.contains("Cargo.toml")
                && told.contains("install dpdk-dev"),
            "{told}"
        );
    }
}
