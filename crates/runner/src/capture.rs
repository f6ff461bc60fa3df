//! Keeps the first frames of the tester's ports, where the user wants them.

use super::error::RunError;
use super::request::Site;
use sixbench_io::Port;
use sixbench_io::pcap::tee;

/// The number of frames that are kept of each port.
const TEE_FRAMES: usize = 10_000;

/// Returns the port, whose first frames go to the file `name.pcap` of the site's directory, if it has one.
///
/// # Errors
/// The file cannot be made.
pub(crate) fn captured(site: &Site<'_>, port: Port, name: &str) -> Result<Port, RunError> {
    let Some(directory) = site.pcap else { return Ok(port) };
    let path = directory.join(format!("{name}.pcap"));
    tee(port, &path, TEE_FRAMES).map_err(|error| RunError::Capture { path, error })
}
