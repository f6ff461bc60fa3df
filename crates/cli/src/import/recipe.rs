//! The text of the recipe.

use super::device::{Device, Link};
use super::plan::{comment, quoted};
use std::net::IpAddr;

/// The recipe of a device that somebody else has set up.
pub(super) fn text(path: &str, device: &Device) -> String {
    let mut text = comment(&format!("What the device that {path} was written for understands, imported by sixbench."));
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
    text += &translation(device);
    text += "# RFC 2544 section 7: the report needs the exact version. Put a command here that prints it, e.g. `ssh dut uname -sr`.\n";
    text += "[version]\nrun = \"true\"\n";
    text
}

fn link(name: &str, link: &Link) -> String {
    let list = |items: Vec<String>| items.join(", ");
    let dut = list(link.dut.iter().map(|address| quoted(address)).collect());
    let tester = list(link.tester.iter().map(|address| quoted(&address.to_string())).collect());
    let mut text = format!("[{name}]\ndut = [{dut}]\ntester = [{tester}]\n");
    if !link.routes.is_empty() {
        text += "# By way of the tester's first address.\n";
        text += &format!("routes = [{}]\n", list(link.routes.iter().map(|route| quoted(route)).collect()));
    }
    text + "\n"
}

fn ends(side: &str, source: IpAddr, destination: IpAddr) -> String {
    format!("{side} = {{ source = \"{source}\", destination = \"{destination}\" }}\n")
}

fn foreground(device: &Device) -> String {
    let (left, right) = (device.foreground.left, device.foreground.right);
    let mut text = "# One datagram from left to right, as it looks on either link.\n[foreground]\n".to_owned();
    text += &ends("left", left.real, right.alias);
    text += &ends("right", left.alias, right.real);
    text += "# A router or a translator in the kernel lowers the hop limit by 1, one in user space by more: measure it.\n";
    text + "hops = 1\n\n"
}

fn background(device: &Device) -> String {
    device.background.map_or(String::new(), |(source, destination)| {
        let (left, right) = (ends("left", source, destination), ends("right", source, destination));
        format!("[background]\n{left}{right}\n")
    })
}

fn translation(device: &Device) -> String {
    if device.mappings.is_empty() {
        return String::new();
    }
    let pair = |(ipv4, ipv6): &(String, String)| format!("    [\"{ipv4}\", \"{ipv6}\"],\n");
    let pairs: String = device.mappings.iter().map(pair).collect();
    format!("[translation]\neam = [\n{pairs}]\n\n")
}
