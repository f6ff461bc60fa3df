//! What runs that were killed have left: interfaces, sysctls, connections of ssh, namespaces.

use super::namespace::{remove, stale};
use super::{interfaces, sysctls};
use crate::exec::{self, Shell, TestbedError, own_directory};

/// Removes what [`super::namespace::stale`] finds, with the devices' directories; returns the names.
pub fn sweep(shell: &Shell) -> Result<Vec<String>, TestbedError> {
    // What is in their namespaces would be destroyed with these, unless it is a NIC.
    interfaces::give_back_stale(shell);
    let found = stale();
    sysctls::sweep(shell);
    exec::sweep();
    for name in &found {
        shell.context().check()?;
        match remove(shell, name) {
            // Another run that begins at the same time sweeps, too, and was faster.
            Err(_) if !stale().contains(name) => {}
            removed => removed?,
        }
        // Most have none.
        let _ = std::fs::remove_dir_all(own_directory(name));
    }
    Ok(found)
}
