//! The text of the recipe.

use super::device::{DutLink, FLUSH, ImportedDevice, ImportedState, ImportedTranslation};
use super::plan::{comment, quoted};
use std::net::IpAddr;

pub(super) fn text(path: &str, device: &ImportedDevice) -> String {
    let mut text = comment(&format!(
        "The device for which {path} was written, imported by sixbench."
    ));
    text += "name = \"siitperf\"\n";
    text += "title = \"Device of an imported siitperf configuration\"\n";
    text += &format!("technology = \"{}\"\n", device.technology);
    text += &format!("source = {}\n", quoted(path));
    text += "host = \"manual\"\n\n";
    text += "# The device's addresses are guessed: siitperf does not know them. Correct what is wrong.\n";
    text += &link("left", &device.left);
    text += &link("right", &device.right);
    text += &foreground(device);
    text += &background(device);
    text += &translation(&device.translation);
    text += &device.state.as_ref().map_or(String::new(), state);
    text += "# RFC 2544 section 7: the report needs the exact version. Put a command here that prints it, e.g. `ssh dut uname -sr`.\n";
    text += "[version]\nrun = \"true\"\n";
    text
}

fn link(name: &str, link: &DutLink) -> String {
    let list = |items: Vec<String>| items.join(", ");
    let dut = list(link.dut.iter().map(|address| quoted(address)).collect());
    let tester = list(
        link.tester
            .iter()
            .map(|address| quoted(&address.to_string()))
            .collect(),
    );
    let mut text = format!("[{name}]\ndut = [{dut}]\ntester = [{tester}]\n");
    if !link.routes.is_empty() {
        text += "# Through the tester's first address.\n";
        text += &format!(
            "routes = [{}]\n",
            list(link.routes.iter().map(|route| quoted(route)).collect())
        );
    }
    text + "\n"
}

fn ends(side: &str, source: IpAddr, destination: IpAddr) -> String {
    format!("{side} = {{ source = \"{source}\", destination = \"{destination}\" }}\n")
}

fn foreground(device: &ImportedDevice) -> String {
    let (left, right) = (device.foreground.left, device.foreground.right);
    let mut text =
        "# One datagram from left to right, as it looks on either link.\n[foreground]\n".to_owned();
    text += &ends("left", left.real, right.alias);
    text += &ends("right", left.alias, right.real);
    text += "# A router or a translator in the kernel lowers the hop limit by 1, one in user space by more: measure it.\n";
    text + "hops = 1\n\n"
}

fn background(device: &ImportedDevice) -> String {
    device
        .background
        .map_or(String::new(), |(source, destination)| {
            let (left, right) = (
                ends("left", source, destination),
                ends("right", source, destination),
            );
            format!("[background]\n{left}{right}\n")
        })
}

fn translation(translation: &ImportedTranslation) -> String {
    match translation {
        ImportedTranslation::None => String::new(),
        ImportedTranslation::Prefix(prefix) => format!("[translation]\nprefix = \"{prefix}\"\n\n"),
        ImportedTranslation::Explicit(pairs) => {
            format!(
                "[translation]\neam = [\n{}]\n\n",
                pairs
                    .iter()
                    .map(|(ipv4, ipv6)| format!("    [\"{ipv4}\", \"{ipv6}\"],\n"))
                    .collect::<String>()
            )
        }
    }
}

fn state(state: &ImportedState) -> String {
    let ImportedState { initiator, pool } = state;
    format!(
        "\
# The translated sources are guessed: siitperf accepts any. Correct the addresses, and the ports if the device has fewer.
[state]
initiator = \"{initiator}\"
pool = [\"{pool}\"]
pool-ports = \"1-65535\"
# Empties the device's connection tracking table before every trial; siitperf's scripts have it as `startcmd` and `stopcmd`. It runs on
# this machine. Replace DUT with the device's name, and the command if it is not a Linux with conntrack-tools; until then every run stops
# at this line.
flush = [{{ run = \"{FLUSH}\" }}]
# With these every trial is checked: phase 1 opened all connections and phase 2 none, the table has room for them, and keeps them.
# count = {{ run = \"ssh -o BatchMode=yes DUT conntrack -C\" }}
# limit = {{ run = \"ssh -o BatchMode=yes DUT cat /proc/sys/net/netfilter/nf_conntrack_max\" }}
# timeout = {{ run = \"ssh -o BatchMode=yes DUT cat /proc/sys/net/netfilter/nf_conntrack_udp_timeout\" }}

"
    )
}
