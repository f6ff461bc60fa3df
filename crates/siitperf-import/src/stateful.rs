//! Checks of the settings of stateful tests (RFC 9693).

use super::findings::ImportFindings;
use super::options::{Options, Phase1};
use super::setting::Setting;
use super::siitperf::{Config, PortSettings, SideSettings};
use sixbench_method::terms::bounds::NumberBound;
use sixbench_plan::MOST_COMBINATIONS;

pub(super) fn check(config: &Config, options: &Options, findings: &mut ImportFindings) {
    match config.roles() {
        None => stateless(config, findings),
        Some((_, responder, _)) => {
            versions(config, responder, findings);
            networks(config, responder, findings);
            enumerations(config, findings);
            if let Some(phase_1) = options.phase_1 {
                limits(config, phase_1, findings);
                times(config, phase_1, findings);
                state_table(config, options, phase_1, findings);
            }
            enough(config, options, findings);
        }
    }
}

fn stateless(config: &Config, findings: &mut ImportFindings) {
    for enumerate in [&config.enumerate_ports, &config.enumerate_ips] {
        if enumerate.value != 0 {
            let mistake = enumerate.mistake(format!(
                "{enumerate} needs Stateful 1 or 2, but there is {}",
                config.stateful
            ));
            findings.mistake(
                mistake.help("combinations are enumerated in phase 1 of stateful tests only"),
            );
        }
    }
}

fn versions(config: &Config, responder: &SideSettings, findings: &mut ImportFindings) {
    if responder.version.value == 6 {
        let title = format!(
            "{} makes the {} side the Responder, which must send IPv4",
            config.stateful,
            responder.name()
        );
        let mistake = config
            .stateful
            .mistake(format!("{title}, but there is {}", responder.version));
        findings.mistake(
            mistake.help("siitperf's stateful tests are those of NAT64 and NAT44: its state table holds IPv4 four-tuples"),
        );
    }
}

fn networks(config: &Config, responder: &SideSettings, findings: &mut ImportFindings) {
    if config.enumerate_ports.value != 0 && responder.networks.value > 1 {
        let title = format!(
            "{} needs one destination network, but there is {}",
            config.enumerate_ports, responder.networks
        );
        findings.mistake(config.enumerate_ports.mistake(title));
    }
}

/// Checks that every combination occurs once in phase 1: all that varies must be enumerated, and in the same order.
fn enumerations(config: &Config, findings: &mut ImportFindings) {
    let (ports, ips) = (&config.enumerate_ports, &config.enumerate_ips);
    let varying = config
        .sides()
        .map(|side| &side.part.vary)
        .into_iter()
        .find(|vary| vary.value != 0);
    let varying_ports = config
        .directions()
        .into_iter()
        .flat_map(|d| [&d.source.vary, &d.destination.vary])
        .find(|v| v.value != 0);
    if ports.value != 0 && ips.value != 0 && ports.value != ips.value {
        let mistake = ips.mistake(format!("{ports} and {ips} differ"));
        findings.mistake(mistake.help("if neither is 0 they must be equal"));
    }
    enumerated_alone(ports, ips, varying, findings);
    enumerated_alone(ips, ports, varying_ports, findings);
    for side in config
        .sides()
        .iter()
        .filter(|side| ips.value != 0 && side.part.vary.value == 0)
    {
        let title = format!(
            "{ips} needs addresses that vary on both sides, but there is {}",
            side.part.vary
        );
        let mistake = if side.part.vary.line.is_some() {
            side.part.vary.mistake(title)
        } else {
            ips.mistake(title)
        };
        findings.mistake(mistake.help(format!("give IP-{}-var 1, 2 or 3", side.letter)));
    }
}

/// Reports that only one of ports and addresses is enumerated although something of the other kind varies.
fn enumerated_alone(
    given: &Setting<u32>,
    missing: &Setting<u32>,
    varying: Option<&Setting<u32>>,
    findings: &mut ImportFindings,
) {
    if let Some(varying) = varying.filter(|_| given.value != 0 && missing.value == 0) {
        let mistake = given.mistake(format!(
            "{given} and {varying} need {} {}",
            missing.key, given.value
        ));
        findings.mistake(
            mistake.help("all that varies must be enumerated, because otherwise there would be new connections in phase 2"),
        );
    }
}

/// Reports values above sixbench's limits: more connections than its state table holds, or a delay of more than a day.
fn limits(config: &Config, phase_1: Phase1, findings: &mut ImportFindings) {
    let most = NumberBound::COUNT.most();
    if f64::from(phase_1.frames) > most {
        let title = format!(
            "N = {} connections are more than sixbench keeps: {most}",
            phase_1.frames
        );
        findings.mistake(config.stateful.mistake(title).help("lower N"));
    }
    if !NumberBound::STATED_TIME_NS.contains(f64::from(phase_1.delay_ms) * 1e6) {
        let title = format!("D = {} ms is more than a day", phase_1.delay_ms);
        findings.mistake(
            config
                .stateful
                .mistake(title)
                .help("a safe choice is D = 1000 N / R + 2 T"),
        );
    }
}

fn times(config: &Config, phase_1: Phase1, findings: &mut ImportFindings) {
    // Rounded down, as siitperf does: a D that it accepts is accepted here.
    let needed =
        1000 * u64::from(phase_1.frames) / u64::from(phase_1.rate) + u64::from(phase_1.timeout_ms);
    if needed > u64::from(phase_1.delay_ms) {
        let title = format!(
            "phase 1 takes 1000 N / R + T = {needed} ms, longer than D = {} ms",
            phase_1.delay_ms
        );
        findings.mistake(
            config
                .stateful
                .mistake(title)
                .help("a safe choice is D = 1000 N / R + 2 T"),
        );
    }
}

/// Returns the number of frames of phase 1 that open connections: all but the background ones, rounded as siitperf does.
pub(super) fn foreground_frames(options: &Options, phase_1: Phase1) -> u64 {
    let (share, frames) = (options.share(), u64::from(phase_1.frames));
    frames - frames * u64::from(share.of - share.foreground) / u64::from(share.of)
}

fn state_table(config: &Config, options: &Options, phase_1: Phase1, findings: &mut ImportFindings) {
    let frames = foreground_frames(options, phase_1);
    if frames < u64::from(phase_1.state_table) {
        let title = format!(
            "{frames} foreground frames in phase 1 cannot fill a state table of M = {}",
            phase_1.state_table
        );
        findings.mistake(config.stateful.mistake(title).help("raise N or lower M"));
    }
    if config.responder_tuples.value != 0 && phase_1.state_table == 1 {
        let mistake = config.responder_tuples.mistake(format!(
            "{} needs more than M = 1 entry",
            config.responder_tuples
        ));
        findings
            .mistake(mistake.help("a state table of one entry is read with Responder-tuples 0"));
    }
}

/// Checks that there is a separate combination for every frame of phase 1.
fn enough(config: &Config, options: &Options, findings: &mut ImportFindings) {
    let available = combinations(config);
    let enumerate = [
        &config.enumerate_ips,
        &config.enumerate_ports,
        &config.stateful,
    ]
    .into_iter()
    .find(|key| key.value != 0);
    // `stateful` is 1 or 2 here, so one is found.
    let enumerate = enumerate.unwrap_or(&config.stateful);
    if available >= u128::from(MOST_COMBINATIONS) {
        let title = format!("{enumerate} has {available} combinations, which cannot be enumerated");
        findings.mistake(
            enumerate
                .mistake(title)
                .help("narrow the ranges: connection tracking tables hold far fewer"),
        );
    }
    let frames = options
        .phase_1
        .map_or(0, |phase_1| foreground_frames(options, phase_1));
    if available < u128::from(frames) {
        let title = format!(
            "{enumerate} has {available} combinations for {frames} foreground frames of phase 1"
        );
        findings.mistake(enumerate.mistake(title).help("widen the ranges or lower N"));
    }
}

/// Returns the number of four-tuples available to the Initiator; 0 for a stateless test.
pub(super) fn combinations(config: &Config) -> u128 {
    let Some((_, _, opens)) = config.roles() else {
        return 0;
    };
    let ports = |ports: &PortSettings| match config.enumerate_ports.value.max(ports.vary.value) {
        0 => 1,
        _ => count(Some(&ports.min), Some(&ports.max)),
    };
    let addresses = |side: &SideSettings| match side.part.vary.value {
        0 => 1,
        _ => count(side.part.min.as_ref(), side.part.max.as_ref()),
    };
    let of_addresses: u128 = config.sides().map(addresses).into_iter().product();
    ports(&opens.source) * ports(&opens.destination) * of_addresses
}

fn count(min: Option<&Setting<u32>>, max: Option<&Setting<u32>>) -> u128 {
    let (Some(min), Some(max)) = (min, max) else {
        return 1;
    };
    u128::from(max.value.saturating_sub(min.value)) + 1
}
