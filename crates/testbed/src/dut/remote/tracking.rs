//! Keeps the ssh connection out of the device's connection tracking table. Otherwise the next command would restore its entry after each flush: the
//! table would never be empty, and the device's count would differ from that of the tester's connections.

use crate::exec::{Shell, TestbedError, Undo};
use crate::recipe::StateSection;

/// The name of our own table of rules.
const TABLE: &str = "sixbench-ssh";

/// Returns true if the device's connections are in the machine's own table. Jool has its own table, and a MAP-T CE that of a namespace.
pub(super) fn is_of_the_machine(state: &StateSection) -> bool {
    let commands = state.count.iter().chain(&state.flush);
    commands
        .into_iter()
        .any(|command| command.run.split_whitespace().next() == Some("conntrack"))
}

/// Exempts the connection through which `shell` runs its commands from tracking.
///
/// # Errors
/// nft is not installed there, or the kernel does not support `notrack`.
pub(super) fn exempt(shell: &Shell, undo: &Undo) -> Result<(), TestbedError> {
    let asked = shell.look(&["sh", "-c", "echo $SSH_CONNECTION"])?;
    let ends: Vec<&str> = asked.split_whitespace().collect();
    let [client, client_port, server, server_port] = ends[..] else {
        shell
            .transcript()
            .comment("the ssh connection is left untracked, by nft");
        return Ok(());
    };
    let family = if client.contains(':') { "ip6" } else { "ip" };
    shell.run(&["nft", "add", "table", "inet", TABLE])?;
    undo.by_line(format!("nft delete table inet {TABLE}"))?;
    let ways = [
        ("prerouting", "saddr", "daddr", "sport", "dport"),
        ("output", "daddr", "saddr", "dport", "sport"),
    ];
    for (hook, of_client, of_server, client_end, server_end) in ways {
        shell.line(&format!(
            "nft add chain inet {TABLE} {hook} {{ type filter hook {hook} priority raw ; }}"
        ))?;
        shell.line(&format!(
            "nft add rule inet {TABLE} {hook} {family} {of_client} {client} {family} {of_server} {server} tcp {client_end} \
             {client_port} tcp {server_end} {server_port} notrack"
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::recipe::Library;

    #[test]
    fn jool_has_a_table_of_its_own_and_nftables_that_of_the_machine() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let is_of_the_machine = |name: &str| {
            let recipe = library.get(name).expect("a recipe");
            super::is_of_the_machine(recipe.state.as_ref().expect("stateful"))
        };
        let names = ["nft-nat44", "tayga-plat", "jool-plat", "jool-mapt-ce"];
        assert_eq!(names.map(is_of_the_machine), [true, true, false, false]);
    }
}
