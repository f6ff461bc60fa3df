//! Checks for contradictions within a configuration and for missing keys. `endpoints` checks the addresses.

use super::findings::ImportFindings;
use super::options::Options;
use super::setting::Setting;
use super::siitperf::{Config, PortSettings, SenderSettings, SideSettings};

pub(super) fn check(config: &Config, options: &Options, findings: &mut ImportFindings) {
    directions(config, findings);
    for direction in config.directions() {
        for ports in [&direction.source, &direction.destination] {
            port_range(config, direction, ports, findings);
        }
    }
    let varying = config
        .sides()
        .into_iter()
        .filter(|side| side.part.vary.value != 0);
    for side in varying.clone() {
        address_range(config, side, findings);
        for version in [4, 6] {
            offset(config, options, side, version, findings);
        }
    }
    // One varying side is enough to contradict networks on either.
    if let Some(varying) = varying.clone().next() {
        networks(config, varying, findings);
    }
}

fn directions(config: &Config, findings: &mut ImportFindings) {
    let (forward, reverse) = (&config.forward.active, &config.reverse.active);
    // Phase 1 alone is a stateful test: it measures the connection establishment rate.
    if forward.value == 0 && reverse.value == 0 && config.roles().is_none() {
        let mistake = reverse.mistake(format!("{forward} and {reverse}: nothing is sent"));
        findings.mistake(
            mistake.help("set at least one direction to 1; RFC 8219 section 5.3 recommends both"),
        );
    }
}

/// Reports a range of ports whose ends are reversed: as a mistake if the range is used, else as a note, since siitperf's samples of stateful tests have
/// such ranges.
fn port_range(
    config: &Config,
    direction: &SenderSettings,
    ports: &PortSettings,
    findings: &mut ImportFindings,
) {
    if ports.min.value <= ports.max.value {
        return;
    }
    let title = format!("{} is above {}", ports.min, ports.max);
    let is_enumerated = config.enumerate_ports.value != 0 && config.roles().is_some();
    if config.has_own_ports(direction) && (is_enumerated || ports.vary.value != 0) {
        findings.mistake(
            later(&ports.min, &ports.max)
                .mistake(title)
                .help("a range goes from the minimum up to the maximum"),
        );
    } else {
        findings.note(
            later(&ports.min, &ports.max).line.unwrap_or(0),
            format!("{title}; the range is not used"),
        );
    }
}

/// Returns the later of two settings in the file, where a contradiction between them is shown.
fn later<'a, T>(first: &'a Setting<T>, second: &'a Setting<T>) -> &'a Setting<T> {
    if second.line > first.line {
        second
    } else {
        first
    }
}

fn address_range(config: &Config, side: &SideSettings, findings: &mut ImportFindings) {
    let part = &side.part;
    for (value, name) in [(&part.min, "min"), (&part.max, "max")] {
        needed(
            config,
            value,
            &format!("IP-{}-{name}", side.letter),
            side,
            findings,
        );
    }
    if let (Some(min), Some(max)) = (&part.min, &part.max)
        && min.value > max.value
    {
        let mistake = later(min, max).mistake(format!("{min} is above {max}"));
        findings.mistake(mistake.help("a range goes from the minimum up to the maximum"));
    }
}

/// Reports a missing value that varying addresses need, and for which siitperf has no default.
fn needed<T>(
    config: &Config,
    value: &Option<Setting<T>>,
    key: &str,
    side: &SideSettings,
    findings: &mut ImportFindings,
) {
    if value.is_none() && !config.is_misread(key) {
        findings.mistake(
            side.part
                .vary
                .mistake(format!("{} needs {key}", side.part.vary)),
        );
    }
}

fn offset(
    config: &Config,
    options: &Options,
    side: &SideSettings,
    version: u32,
    findings: &mut ImportFindings,
) {
    let (value, place) = match version {
        4 => (&side.part.ipv4_offset, "2, the last 16 bits"),
        _ => (&side.part.ipv6_offset, "an even number"),
    };
    let of_foreground = config
        .sides()
        .iter()
        .any(|side| side.version.value == version);
    let of_background = version == 6 && config.has_background(options);
    if !of_foreground && !of_background {
        return;
    }
    // For IPv4 only one value is possible, and siitperf's paper leaves the key out.
    if version == 6 {
        needed(
            config,
            value,
            &format!("IPv6-{}-offset", side.letter),
            side,
            findings,
        );
    }
    if let Some(offset) = value.as_ref().filter(|offset| offset.value % 2 == 1) {
        let title = format!(
            "{offset} is odd: the 16 bits that vary would lie across two words of the checksum"
        );
        findings.mistake(
            offset
                .mistake(title)
                .help(format!("{} must be {place}", offset.key)),
        );
    }
}

fn networks(config: &Config, varying: &SideSettings, findings: &mut ImportFindings) {
    for side in config.sides() {
        if side.networks.value > 1 {
            let title = format!(
                "{} and {} contradict each other",
                side.networks, varying.part.vary
            );
            let mistake = later(&side.networks, &varying.part.vary).mistake(title);
            findings.mistake(
                mistake.help("addresses vary within one network, or there are several networks"),
            );
        }
    }
}
