//! Sysctls of another machine that runs Linux: written if their values differ, and restored when everything is undone.

use crate::exec::{Shell, TestbedError, Undo, quoted};
use crate::recipe::Recipe;
use std::net::IpAddr;

/// Sets the sysctls that our own namespaces have from the start: the device forwards, and neither filters reverse paths nor performs duplicate
/// address detection. Sets only those that the recipe's addresses need, because with IPv6 forwarding a Linux host forgets routes learned from
/// router advertisements.
pub(super) fn forward(
    recipe: &Recipe,
    interfaces: &[String; 2],
    shell: &Shell,
    undo: &Undo,
) -> Result<(), TestbedError> {
    let mut sysctls = Vec::new();
    if uses(recipe, IpAddr::is_ipv4) {
        sysctls.push(("ipv4/ip_forward".to_owned(), "1"));
        sysctls
            .extend(["all", "default"].map(|which| (format!("ipv4/conf/{which}/rp_filter"), "0")));
        sysctls.extend(
            interfaces
                .iter()
                .map(|interface| (format!("ipv4/conf/{interface}/rp_filter"), "0")),
        );
    }
    if uses(recipe, IpAddr::is_ipv6) {
        sysctls.push(("ipv6/conf/all/forwarding".to_owned(), "1"));
        for interface in interfaces {
            sysctls.push((format!("ipv6/conf/{interface}/disable_ipv6"), "0"));
            sysctls.push((format!("ipv6/conf/{interface}/accept_dad"), "0"));
        }
    }
    sysctls
        .iter()
        .try_for_each(|(key, value)| write(&format!("/proc/sys/net/{key}"), value, shell, undo))
}

fn uses(recipe: &Recipe, family: fn(&IpAddr) -> bool) -> bool {
    [&recipe.left, &recipe.right]
        .into_iter()
        .flat_map(|link| &link.dut)
        .any(|address| family(&address.addr()))
}

pub(super) fn write(
    file: &str,
    value: &str,
    shell: &Shell,
    undo: &Undo,
) -> Result<(), TestbedError> {
    let before = shell.look(&["cat", file])?.trim().to_owned();
    if before == value {
        return Ok(());
    }
    // In a rehearsal, the value is unknown.
    let before = if shell.is_rehearsal() {
        "BEFORE".to_owned()
    } else {
        before
    };
    // Recorded first, because a command may have taken effect even if we did not see it finish.
    undo.by_line(format!(
        "echo {} > {}",
        quoted(&[before]),
        quoted(&[file.to_owned()])
    ))?;
    shell.set(file, value)
}
