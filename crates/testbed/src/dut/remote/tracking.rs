//! The ssh connection kept out of the device's connection tracking table. Else it would be an entry that no flush removes for good: the
//! next command puts it back, and neither would the table ever be empty nor the device's count be that of the tester's connections.

use crate::exec::{Shell, TestbedError, Undo};

/// The name of the table of the rules, which is ours alone.
const TABLE: &str = "sixbench-ssh";

/// Leaves the connection by which `shell` runs its commands untracked.
///
/// # Errors
/// nft is not installed there, or the kernel does not know its `notrack`.
pub(super) fn exempt(shell: &Shell, undo: &Undo) -> Result<(), TestbedError> {
    let asked = shell.look(&["sh", "-c", "echo $SSH_CONNECTION"])?;
    let ends: Vec<&str> = asked.split_whitespace().collect();
    let [client, client_port, server, server_port] = ends[..] else {
        shell.transcript().comment("the ssh connection is left untracked, by nft");
        return Ok(());
    };
    let family = if client.contains(':') { "ip6" } else { "ip" };
    shell.run(&["nft", "add", "table", "inet", TABLE])?;
    undo.by_line(format!("nft delete table inet {TABLE}"))?;
    let ways = [("prerouting", "saddr", "daddr", "sport", "dport"), ("output", "daddr", "saddr", "dport", "sport")];
    for (hook, of_client, of_server, client_end, server_end) in ways {
        shell.line(&format!("nft add chain inet {TABLE} {hook} {{ type filter hook {hook} priority raw ; }}"))?;
        shell.line(&format!(
            "nft add rule inet {TABLE} {hook} {family} {of_client} {client} {family} {of_server} {server} tcp {client_end} \
             {client_port} tcp {server_end} {server_port} notrack"
        ))?;
    }
    Ok(())
}
