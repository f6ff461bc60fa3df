//! Notes on the keys that are not taken over unchanged.

use super::device::{ImportedDevice, translates_all};
use super::findings::ImportFindings;
use super::options::Options;
use super::phases;
use super::setting::Setting;
use super::siitperf::{Config, specified};

pub(super) fn note_all(
    config: &Config,
    options: &Options,
    device: &ImportedDevice,
    findings: &mut ImportFindings,
) {
    missing_in_siitperf(config, device, findings);
    for mac in &config.macs {
        let text = if mac.key.ends_with("Tester") {
            "the interface's own address is used"
        } else {
            "not needed: the device is asked for it by ARP or neighbour discovery"
        };
        mac.note(findings, text);
    }
    cores(config, findings);
    if let Some(promisc) = &config.promisc {
        let text = "no counterpart: frames addressed to the interface are received, and other frames are not test frames";
        promisc.note_on_value(findings, text);
    }
    if let Some(channels) = &config.memory_channels {
        channels.note(
            findings,
            "no counterpart: there is no DPDK whose memory it would describe",
        );
    }
    unused_addresses(config, options, findings);
    variable_addresses(config, device, findings);
    background(config, options, findings);
    phases::note_settings(config, options, device, findings);
}

/// Adds notes on what a plan and a recipe need, but siitperf has elsewhere or not at all.
fn missing_in_siitperf(config: &Config, device: &ImportedDevice, findings: &mut ImportFindings) {
    for side in config
        .sides()
        .iter()
        .filter(|side| side.version.line.is_none())
    {
        findings.note(
            0,
            format!(
                "{} is not given: {}, siitperf's default",
                side.version.key, side.version.value
            ),
        );
    }
    findings.note(0, "siitperf takes the ports in DPDK's order: name the interfaces, left and right, in [testbed]");
    let dut = [&device.left.dut[..], &device.right.dut[..]]
        .concat()
        .join(", ");
    findings.note(
        0,
        format!(
            "siitperf knows the device by its MAC addresses only: its IP addresses are assumed to be {dut} (RFC 2544 appendix \
             C); correct them in recipes/siitperf.toml"
        ),
    );
    findings.note(
        0,
        "siitperf does not check the hop limit: the recipe's `hops = 1` is a router's or an in-kernel translator's; one in \
         user space lowers it by more, often 3",
    );
    if let Some(key) = device.translation.key() {
        let text = format!(
            "siitperf does not check the translation: the recipe's `{key}` says what the device must make of the addresses"
        );
        findings.note(0, text);
    }
}

fn cores(config: &Config, findings: &mut ImportFindings) {
    let mut taken: Vec<&Setting<u32>> = Vec::new();
    for direction in config.directions() {
        for core in &direction.cores {
            let earlier = taken.iter().find(|earlier| earlier.value == core.value);
            let text = match earlier {
                _ if !config.is_used(direction) => format!("not used: {}", direction.active),
                Some(earlier) => format!(
                    "wrong: {earlier} already uses that core; tester-cores in [testbed] lists it once"
                ),
                None => "is in tester-cores in [testbed]".to_owned(),
            };
            core.note_on_value(findings, text);
            if config.is_used(direction) {
                taken.push(core);
            }
        }
    }
}

fn unused_addresses(config: &Config, options: &Options, findings: &mut ImportFindings) {
    for side in config.sides() {
        for version in [4, 6] {
            let addresses = side.addresses(version);
            let is_own =
                side.version.value == version || (version == 6 && config.has_background(options));
            let is_alias = config.translates()
                && config.other(side).version.value == version
                && !config.is_initiator(side);
            let unused = [(&addresses.real, is_own), (&addresses.virt, is_alias)]
                .into_iter()
                .filter(|(_, is_used)| !is_used);
            for setting in unused
                .filter(|(setting, _)| specified(setting).is_some())
                .filter_map(|(setting, _)| setting.as_ref())
            {
                let versions = match config.roles() {
                    Some(_) if config.is_initiator(side) && setting.key.ends_with("Virt") => {
                        config.stateful.to_string()
                    }
                    _ => format!("{} and {}", config.left.version, config.right.version),
                };
                let only = if setting.key == format!("IPv6-{}-Real", side.letter) {
                    " and no background traffic"
                } else {
                    ""
                };
                setting.note(findings, format_args!("not used with {versions}{only}"));
            }
        }
    }
}

fn variable_addresses(config: &Config, device: &ImportedDevice, findings: &mut ImportFindings) {
    for side in config
        .sides()
        .into_iter()
        .filter(|side| side.part.vary.value != 0)
    {
        let vary = &side.part.vary;
        let text = "siitperf varies addresses for throughput and frame loss rate only; the plan does for latency and PDV as well";
        vary.note(findings, text);
        let text = "the recipe's `routes` name the addresses: the device must reach them through the tester, by such routes or \
                    by the static ARP and neighbour entries it has for siitperf";
        vary.note(findings, text);
        if let Some(key) = device
            .translation
            .key()
            .filter(|_| !translates_all(config, side, device))
        {
            let text = format!(
                "the recipe's `{key}` has the first address only: the device must translate all of them"
            );
            vary.note(findings, text);
        }
    }
}

fn background(config: &Config, options: &Options, findings: &mut ImportFindings) {
    let share = options.share();
    let text = format!("{} foreground frames of {}", share.foreground, share.of);
    if options.has_background() && !config.has_background(options) {
        findings
            .note(0, format!("{text}: with IPv6 on both sides background frames are like the others, so all are foreground"));
    } else if !(u64::from(share.of - share.foreground) * 10_000).is_multiple_of(u64::from(share.of))
    {
        findings.note(
            0,
            format!(
                "{text}: the plan has the nearest hundredth of a per cent of background traffic"
            ),
        );
    }
}
