//! Which of siitperf's eight addresses the frames carry, depending on the IP versions of both sides.
//!
//! A sender uses its `Real` address as the source. The destination is the other side's `Real` address if both sides have the same version, else the
//! other side's `Virt` address, which represents its `Real` address in the sender's version. Behind a stateful device the Initiator appears with an
//! address of the device.

use super::addresses::{conventional, in_network, prefix_length};
use super::findings::ImportFindings;
use super::setting::Setting;
use super::siitperf::{Config, SideSettings, specified};
use sixbench_plan::Diagnostic;
use std::net::{IpAddr, Ipv4Addr};

#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint {
    pub(super) real: IpAddr,
    /// The same address as the other side sees it. It only differs if the device translates, or is stateful and this is the Initiator.
    pub(super) alias: IpAddr,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoints {
    pub(super) left: Endpoint,
    pub(super) right: Endpoint,
}

impl Endpoints {
    /// Returns `None` if addresses are missing, or if it is unclear which are needed; this has then been reported.
    pub(super) fn read(config: &Config, findings: &mut ImportFindings) -> Option<Self> {
        if config
            .sides()
            .iter()
            .any(|side| config.is_misread(&side.version.key))
        {
            return None;
        }
        let [left, right] = config.sides().map(|side| real(config, side, findings));
        let mut other = |side: &SideSettings, real| match gateway(config, side) {
            Some(gateway) => Some(gateway),
            None if config.translates() => alias(config, side, findings),
            None => real,
        };
        let aliases = [other(&config.left, left), other(&config.right, right)];
        let mut end = |side: &SideSettings, real: Option<IpAddr>, alias: Option<IpAddr>| {
            let (real, alias) = (real?, alias?);
            tell_first_network(side, real, findings);
            if alias != real {
                tell_first_network(side, alias, findings);
            }
            Some(Endpoint {
                real: first_network(side, real),
                alias: first_network(side, alias),
            })
        };
        let (left, right) = (
            end(&config.left, left, aliases[0]),
            end(&config.right, right, aliases[1]),
        );
        let ends = Self {
            // Only now, so that the mistakes of both sides are reported at once.
            left: left?,
            right: right?,
        };
        ends.differ(config, findings).then_some(ends)
    }

    /// Returns whether no address is used for both ends, and reports a mistake if one is.
    fn differ(&self, config: &Config, findings: &mut ImportFindings) -> bool {
        let (left, right) = (self.left, self.right);
        let same = [
            (left.real, right.real),
            (left.real, right.alias),
            (left.alias, right.real),
        ]
        .into_iter()
        .find(|(l, r)| l == r);
        if let Some((address, _)) = same {
            let given = [4, 6]
                .map(|version| config.right.addresses(version))
                .into_iter()
                .flat_map(|a| [&a.real, &a.virt])
                .flatten();
            let mut here =
                given.filter(|setting| first_network(&config.right, setting.value) == address);
            let span = here
                .next_back()
                .map_or(&config.right.version.span, |setting| &setting.span)
                .clone();
            let mistake = Diagnostic::new(
                span,
                format!("{address} would be an address of both left and right"),
            );
            findings.mistake(mistake.help("the two ends need different addresses"));
        }
        same.is_none()
    }
}

fn real(config: &Config, side: &SideSettings, findings: &mut ImportFindings) -> Option<IpAddr> {
    let version = side.version.value;
    let key = format!("IPv{version}-{}-Real", side.letter);
    let setting = &side.addresses(version).real;
    if let Some(address) = specified(setting) {
        return Some(address);
    }
    if let Some(address) = embedded(config, side) {
        let line = config.stateful.line.unwrap_or(0);
        let text = format!(
            "{key} is not given: {address}, embedded in IPv6-{}-Virt as with a prefix of 96 bits",
            side.letter
        );
        findings.note(line, text);
        return Some(address);
    }
    if !config.is_misread(&key) {
        let title = format!("{} needs {key}", side.version);
        let help = format!("it is the tester's own address on the {}", side.name());
        findings.mistake(missing(setting, &side.version, title).help(help));
    }
    None
}

fn alias(config: &Config, side: &SideSettings, findings: &mut ImportFindings) -> Option<IpAddr> {
    let other = config.other(side);
    let key = format!("IPv{}-{}-Virt", other.version.value, side.letter);
    let setting = &side.addresses(other.version.value).virt;
    if let Some(address) = specified(setting) {
        return Some(address);
    }
    // A derived address does not need this key; if it is missing, the key it derives from has already been reported.
    if !config.is_misread(&key) && !config.is_initiator(side) {
        let title = format!("{} and {} need {key}", other.version, side.version);
        let help = format!(
            "it represents the tester's address on the {}, to which the {} sender sends; both directions need it, because \
             every frame is verified",
            side.name(),
            other.name()
        );
        let at = if other.version.line.is_some() {
            &other.version
        } else {
            &side.version
        };
        findings.mistake(missing(setting, at, title).help(help));
    }
    None
}

/// Returns the mistake for a missing address. It is shown at the unspecified address if there is one, else at the version that makes the address
/// necessary.
fn missing(setting: &Option<Setting<IpAddr>>, version: &Setting<u32>, title: String) -> Diagnostic {
    match setting {
        Some(unspecified) => unspecified.mistake(format!(
            "{title}, but `{}` is not an address that can be used",
            unspecified.value
        )),
        None => version.mistake(title),
    }
}

/// Returns the IPv4 address of a NAT64's Responder, which is embedded in its destination address (RFC 6052); siitperf's samples leave it out.
fn embedded(config: &Config, side: &SideSettings) -> Option<IpAddr> {
    let (initiator, responder, _) = config.roles()?;
    if responder.letter != side.letter || side.version.value != 4 || initiator.version.value != 6 {
        return None;
    }
    match specified(&side.addresses(6).virt)? {
        IpAddr::V6(address) => Some(IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() as u32))),
        IpAddr::V4(_) => None,
    }
}

/// Returns the address to which the Initiator's source address is translated: by convention, the device's address on the Responder's side. siitperf
/// learns it from the frames that arrive. `None` for any other end, or if the tester's address on that side is unknown.
fn gateway(config: &Config, side: &SideSettings) -> Option<IpAddr> {
    if !config.is_initiator(side) {
        return None;
    }
    let responder = config.other(side);
    let version = responder.version.value;
    let tester =
        specified(&responder.addresses(version).real).or_else(|| embedded(config, responder))?;
    let near = specified(&side.addresses(version).real).filter(|_| side.version.value == version);
    // If no length separates the two networks, the device's link reports it and nothing is written, so any length will do.
    let length = prefix_length(tester, near.as_ref()).unwrap_or(24);
    Some(first_network(responder, conventional(tester, length)))
}

/// Returns the address in the first network. siitperf counts networks from 0 regardless of the address in the file; sixbench counts from the recipe's.
pub(super) fn first_network(side: &SideSettings, address: IpAddr) -> IpAddr {
    if side.networks.value > 1 {
        in_network(address, 0)
    } else {
        address
    }
}

fn tell_first_network(side: &SideSettings, address: IpAddr, findings: &mut ImportFindings) {
    let first = first_network(side, address);
    if first != address {
        let text =
            format!("siitperf's networks begin with 0, so the recipe has {first} for {address}");
        side.networks.note(findings, text);
    }
}
