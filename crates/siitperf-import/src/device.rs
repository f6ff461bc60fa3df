//! What the tester must know about the device: its addresses on both links, its routes, the frames, and the translation.

use super::addresses::{conventional, in_network, last_16_bits, prefix, prefix_length, with_part};
use super::endpoints::{Endpoint, Endpoints, first_network};
use super::findings::ImportFindings;
use super::options::Options;
use super::siitperf::{Config, SideSettings, specified};
use sixbench_plan::Diagnostic;
use std::net::IpAddr;

/// A device that the user has set up.
pub(super) struct ImportedDevice {
    /// The technology as recipes name it.
    pub(super) technology: &'static str,
    pub(super) left: DutLink,
    pub(super) right: DutLink,
    pub(super) foreground: Endpoints,
    /// Source and destination of native IPv6 traffic.
    pub(super) background: Option<(IpAddr, IpAddr)>,
    pub(super) translation: ImportedTranslation,
    pub(super) state: Option<ImportedState>,
}

/// The translation of addresses other than those of the Initiator of a stateful test.
pub(super) enum ImportedTranslation {
    /// Addresses stay as they are.
    None,
    /// Pairs of IPv4 and IPv6 prefixes (RFC 7757).
    Explicit(Vec<(String, String)>),
    /// IPv4 addresses are embedded in this IPv6 prefix (RFC 6052).
    Prefix(String),
}

pub(super) struct ImportedState {
    /// The side of the Initiator: `left` or `right`.
    pub(super) initiator: &'static str,
    /// The address that the Initiator's addresses are translated to.
    pub(super) pool: IpAddr,
}

/// A guess at the command that flushes the device's connections; only the user can know the right one.
pub(super) const FLUSH: &str = "ssh -o BatchMode=yes DUT conntrack -F";

pub(super) struct DutLink {
    /// The device's addresses, with prefix lengths.
    pub(super) dut: Vec<String>,
    pub(super) tester: Vec<IpAddr>,
    /// Prefixes that the device reaches through the tester.
    pub(super) routes: Vec<String>,
}

impl ImportedDevice {
    /// Returns `None` if something is missing or contradictory; it has then been reported.
    pub(super) fn new(
        config: &Config,
        options: &Options,
        findings: &mut ImportFindings,
    ) -> Option<Self> {
        let foreground = Endpoints::read(config, findings);
        let background = config
            .has_background(options)
            .then(|| background(config, options, findings));
        let (foreground, background) = (
            foreground?,
            background.map_or(Some(None), |found| found.map(Some))?,
        );
        let of_both = |foreground: IpAddr, background: Option<IpAddr>| {
            let mut own = vec![foreground];
            own.extend(background.filter(|address| *address != foreground));
            own
        };
        let lefts = of_both(foreground.left.real, background.map(|ends| ends.0));
        let rights = of_both(foreground.right.real, background.map(|ends| ends.1));
        Some(Self {
            technology: technology(config),
            left: DutLink::new(&config.left, &lefts, &rights)
                .map_err(|near| findings.mistake(too_near(config, near)))
                .ok()?,
            right: DutLink::new(&config.right, &rights, &lefts)
                .map_err(|near| findings.mistake(too_near(config, near)))
                .ok()?,
            foreground,
            background,
            translation: ImportedTranslation::new(config, foreground),
            state: ImportedState::new(config, foreground),
        })
    }
}

/// Two addresses too close to each other to be in different networks.
struct AddressesTooNear(IpAddr, IpAddr);

impl DutLink {
    /// Returns the link with the tester's addresses `tester`; those on the other link are `others`.
    fn new(
        side: &SideSettings,
        tester: &[IpAddr],
        others: &[IpAddr],
    ) -> Result<Self, AddressesTooNear> {
        let mut link = Self {
            dut: Vec::new(),
            tester: tester.to_vec(),
            routes: Vec::new(),
        };
        for own in tester {
            let other = others.iter().find(|other| other.is_ipv4() == own.is_ipv4());
            let length = prefix_length(*own, other)
                .ok_or_else(|| AddressesTooNear(*own, *other.unwrap_or(own)))?;
            link.dut
                .push(format!("{}/{length}", conventional(*own, length)));
            link.routes.extend(route(side, *own));
        }
        Ok(link)
    }
}

impl ImportedState {
    fn new(config: &Config, ends: Endpoints) -> Option<Self> {
        let (initiator, ..) = config.roles()?;
        let pool = if initiator.letter == 'L' {
            ends.left.alias
        } else {
            ends.right.alias
        };
        Some(Self {
            initiator: initiator.name(),
            pool,
        })
    }
}

impl ImportedTranslation {
    pub(super) fn key(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Explicit(_) => Some("eam"),
            Self::Prefix(_) => Some("prefix"),
        }
    }

    fn new(config: &Config, ends: Endpoints) -> Self {
        let both = [(&config.left, ends.left), (&config.right, ends.right)];
        if !config.translates() {
            return Self::None;
        }
        let translated = both
            .into_iter()
            .filter(|(side, _)| !config.is_initiator(side));
        let prefix = |(_, end): (&SideSettings, Endpoint)| embedding(end);
        match translated
            .clone()
            .find_map(prefix)
            .filter(|_| config.roles().is_some())
        {
            Some(prefix) => Self::Prefix(prefix),
            None => Self::Explicit(
                translated
                    .flat_map(|(side, end)| mappings(config, side, end, ends))
                    .collect(),
            ),
        }
    }
}

/// Returns the /96 prefix that embeds the end's IPv4 address, if its IPv6 address has one.
fn embedding(end: Endpoint) -> Option<String> {
    match both_versions(end) {
        (IpAddr::V4(ipv4), IpAddr::V6(ipv6)) if ipv6.to_bits() as u32 == ipv4.to_bits() => {
            Some(prefix(ipv6.into(), 96))
        }
        _ => None,
    }
}

fn technology(config: &Config) -> &'static str {
    match (
        config.roles().is_some(),
        config.translates(),
        config.left.version.value,
    ) {
        (true, true, _) => "nat64",
        (true, false, _) => "nat44",
        (false, true, _) => "siit",
        (false, false, 4) => "ipv4-router",
        (false, false, _) => "ipv6-router",
    }
}

fn background(
    config: &Config,
    options: &Options,
    findings: &mut ImportFindings,
) -> Option<(IpAddr, IpAddr)> {
    let share = options.share();
    let [left, right] = config.sides().map(|side| {
        let key = format!("IPv6-{}-Real", side.letter);
        let setting = &side.addresses(6).real;
        let address = specified(setting).map(|address| first_network(side, address));
        // On an IPv6 side the foreground needs the address too, so it is reported there.
        if address.is_none() && !config.is_misread(&key) && side.version.value == 4 {
            let title = format!(
                "{} foreground frames of {}: background traffic needs {key}",
                share.foreground, share.of
            );
            let at = setting
                .as_ref()
                .map_or(&side.version.span, |unspecified| &unspecified.span);
            let mistake = Diagnostic::new(at.clone(), title);
            findings.mistake(
                mistake.help("background traffic is native IPv6 from Real to Real address"),
            );
        }
        address
    });
    left.zip(right)
}

fn too_near(config: &Config, AddressesTooNear(one, other): AddressesTooNear) -> Diagnostic {
    let version = if one.is_ipv4() { 4 } else { 6 };
    let title = format!("{one} and {other} cannot be in two different networks");
    let at = config
        .right
        .addresses(version)
        .real
        .as_ref()
        .map_or(&config.right.version.span, |real| &real.span);
    let help = "the device forwards from one network to another: choose addresses for the two sides that are further apart";
    Diagnostic::new(at.clone(), title).help(help)
}

/// Returns the prefix of all the addresses on this side that differ from `own` by network or by their variable part.
fn route(side: &SideSettings, own: IpAddr) -> Option<String> {
    let part = &side.part;
    if side.networks.value > 1 {
        // The networks have the numbers from 0 on: so many bits does the highest number have.
        let bits = (side.networks.value - 1)
            .checked_ilog2()
            .map_or(0, |bits| bits as u8 + 1);
        // The number is in the octet that ends at bit 24 of an IPv4 address, and at bit 64 of an IPv6 address.
        return Some(prefix(
            own,
            if own.is_ipv4() { 24 - bits } else { 64 - bits },
        ));
    }
    let (offset, min, max) = (
        part.offset(own.is_ipv4())?,
        part.min.as_ref()?.value,
        part.max.as_ref()?.value,
    );
    // The number of leading bits that all values of the variable part have in common.
    let common = ((min ^ max) as u16).leading_zeros();
    let own = with_part(own, offset as usize, min as u16);
    (part.vary.value != 0).then(|| prefix(own, (offset * 8 + common) as u8))
}

/// Returns the explicit address mappings (RFC 7757) the device must have: one host for each network, or all values of the
/// variable part.
fn mappings(
    config: &Config,
    side: &SideSettings,
    end: Endpoint,
    ends: Endpoints,
) -> Vec<(String, String)> {
    let (ipv4, ipv6) = both_versions(end);
    if has_one_mapping(config, side, ends) {
        // Both prefixes end where the 16 bits that vary begin.
        return vec![(prefix(ipv4, 16), prefix(ipv6, 112))];
    }
    let hosts = |ipv4, ipv6| (format!("{ipv4}/32"), format!("{ipv6}/128"));
    if side.networks.value == 1 {
        return vec![hosts(ipv4, ipv6)];
    }
    let last = (side.networks.value - 1) as u8;
    (0..=last)
        .map(|number| hosts(in_network(ipv4, number), in_network(ipv6, number)))
        .collect()
}

/// Returns the IPv4 and the IPv6 address of an end, assuming that the device translates.
fn both_versions(end: Endpoint) -> (IpAddr, IpAddr) {
    if end.real.is_ipv4() {
        (end.real, end.alias)
    } else {
        (end.alias, end.real)
    }
}

/// Returns whether the recipe covers all the addresses that vary on this side, as far as it must specify their translation.
pub(super) fn translates_all(
    config: &Config,
    side: &SideSettings,
    device: &ImportedDevice,
) -> bool {
    match device.translation {
        _ if config.is_initiator(side) => true,
        ImportedTranslation::None => true,
        ImportedTranslation::Prefix(_) => varies_at_the_end(side),
        ImportedTranslation::Explicit(_) => has_one_mapping(config, side, device.foreground),
    }
}

/// Returns whether the last 16 bits are the ones that vary, in both versions.
fn varies_at_the_end(side: &SideSettings) -> bool {
    [true, false].map(|is_ipv4| side.part.offset(is_ipv4)) == [Some(2), Some(14)]
}

/// Returns whether one mapping applies to all the addresses that vary on this side and to none on the other side: the last 16 bits vary, and are the
/// same in both versions.
fn has_one_mapping(config: &Config, side: &SideSettings, ends: Endpoints) -> bool {
    let (end, other) = if side.letter == 'L' {
        (ends.left, ends.right)
    } else {
        (ends.right, ends.left)
    };
    let ((ipv4, ipv6), (other4, other6)) = (both_versions(end), both_versions(other));
    let is_apart =
        prefix(ipv4, 16) != prefix(other4, 16) && prefix(ipv6, 112) != prefix(other6, 112);
    config.translates()
        && side.part.vary.value != 0
        && varies_at_the_end(side)
        && is_apart
        && last_16_bits(ipv4) == last_16_bits(ipv6)
}
