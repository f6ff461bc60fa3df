//! Captures the first frames of the tester's ports if the user wants them.

use crate::error::RunError;
use crate::request::Site;
use sixbench_io::Port;
use sixbench_io::pcap::tee;

/// The number of frames captured per port.
const TEE_FRAMES: usize = 10_000;

/// Wraps the port so that its first frames are written to `name.pcap` in the site's capture directory, if there is one.
///
/// # Errors
/// The file cannot be created.
pub(crate) fn captured(site: &Site<'_>, port: Port, name: &str) -> Result<Port, RunError> {
    let Some(directory) = site.pcap else {
        return Ok(port);
    };
    let path = directory.join(format!("{name}.pcap"));
    tee(port, &path, TEE_FRAMES).map_err(|error| RunError::Capture { path, error })
}
