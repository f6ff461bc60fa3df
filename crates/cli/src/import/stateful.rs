//! What belongs to stateful tests (RFC 9693): checked like everything else, and kept as notes.

use super::Findings;
use super::options::{Options, Phase1};
use super::setting::Setting;
use super::siitperf::{Config, Direction, Ports, Side, order};

pub(super) fn check(config: &Config, options: &Options, findings: &mut Findings) {
    match config.roles() {
        None => stateless(config, findings),
        Some((initiator, responder, opens)) => {
            versions(config, responder, findings);
            networks(config, responder, findings);
            enumerations(config, findings);
            if let Some(phase_1) = options.phase_1 {
                times(config, phase_1, findings);
                state_table(config, options, phase_1, findings);
                combinations(config, options, (initiator, responder, opens), phase_1, findings);
            }
        }
    }
}

fn stateless(config: &Config, findings: &mut Findings) {
    for enumerate in [&config.enumerate_ports, &config.enumerate_ips] {
        if enumerate.value != 0 {
            let mistake = enumerate.mistake(format!("{enumerate} needs Stateful 1 or 2, but there is {}", config.stateful));
            findings.mistake(mistake.help("combinations are enumerated in phase 1 of stateful tests only"));
        }
    }
}

fn versions(config: &Config, responder: &Side, findings: &mut Findings) {
    if responder.version.value == 6 {
        let title =
            format!("{} makes the {} side the Responder, which {}", config.stateful, responder.name(), "must send IPv4");
        let mistake = config.stateful.mistake(format!("{title}, but there is {}", responder.version));
        findings.mistake(
            mistake.help("siitperf's stateful tests are those of NAT64 and NAT44: its state table holds IPv4 four-tuples"),
        );
    }
}

fn networks(config: &Config, responder: &Side, findings: &mut Findings) {
    if config.enumerate_ports.value != 0 && responder.networks.value > 1 {
        let title = format!("{} needs one destination network, but there is {}", config.enumerate_ports, responder.networks);
        findings.mistake(config.enumerate_ports.mistake(title));
    }
}

/// In phase 1 every combination occurs once: all that varies must be enumerated, and in the same order.
fn enumerations(config: &Config, findings: &mut Findings) {
    let (ports, ips) = (&config.enumerate_ports, &config.enumerate_ips);
    let varying = config.sides().map(|side| &side.part.vary).into_iter().find(|vary| vary.value != 0);
    let varying_ports =
        config.directions().into_iter().flat_map(|d| [&d.source.vary, &d.destination.vary]).find(|v| v.value != 0);
    if ports.value != 0 && ips.value != 0 && ports.value != ips.value {
        let mistake = ips.mistake(format!("{ports} and {ips} differ"));
        findings.mistake(mistake.help("if neither is 0 they must be equal"));
    }
    if let Some(varying) = varying.filter(|_| ports.value != 0 && ips.value == 0) {
        let mistake = ports.mistake(format!("{ports} and {varying} need Enumerate-ips {}", ports.value));
        findings.mistake(mistake.help("all that varies must be enumerated: else there would be new connections in phase 2"));
    }
    if let Some(varying) = varying_ports.filter(|_| ips.value != 0 && ports.value == 0) {
        let mistake = ips.mistake(format!("{ips} and {varying} need Enumerate-ports {}", ips.value));
        findings.mistake(mistake.help("all that varies must be enumerated: else there would be new connections in phase 2"));
    }
    for side in config.sides().iter().filter(|side| ips.value != 0 && side.part.vary.value == 0) {
        let title = format!("{ips} needs addresses that vary on both sides, but there is {}", side.part.vary);
        let mistake = if side.part.vary.line.is_some() { side.part.vary.mistake(title) } else { ips.mistake(title) };
        findings.mistake(mistake.help(format!("give IP-{}-var 1, 2 or 3", side.letter)));
    }
}

fn times(config: &Config, phase_1: Phase1, findings: &mut Findings) {
    let needed = 1000 * u64::from(phase_1.frames) / u64::from(phase_1.rate) + u64::from(phase_1.timeout_ms);
    if needed > u64::from(phase_1.delay_ms) {
        let title = format!("phase 1 takes 1000 N / R + T = {needed} ms, longer than D = {} ms", phase_1.delay_ms);
        findings.mistake(config.stateful.mistake(title).help("a safe choice is D = 1000 N / R + 2 T"));
    }
}

/// Frames of phase 1 that open connections: all but the background ones, rounded as siitperf does.
fn foreground_frames(options: &Options, phase_1: Phase1) -> u64 {
    let (share, frames) = (options.share(), u64::from(phase_1.frames));
    frames - frames * u64::from(share.of - share.foreground) / u64::from(share.of)
}

fn state_table(config: &Config, options: &Options, phase_1: Phase1, findings: &mut Findings) {
    let frames = foreground_frames(options, phase_1);
    if frames < u64::from(phase_1.state_table) {
        let title = format!("{frames} foreground frames in phase 1 cannot fill a state table of M = {}", phase_1.state_table);
        findings.mistake(config.stateful.mistake(title).help("raise N or lower M"));
    }
    if config.responder_tuples.value != 0 && phase_1.state_table == 1 {
        let mistake = config.responder_tuples.mistake(format!("{} needs more than M = 1 entry", config.responder_tuples));
        findings.mistake(mistake.help("a state table of one entry is read with Responder-tuples 0"));
    }
}

/// In pseudorandom enumeration every frame needs a combination of its own.
fn combinations(
    config: &Config,
    options: &Options,
    (initiator, responder, opens): (&Side, &Side, &Direction),
    phase_1: Phase1,
    findings: &mut Findings,
) {
    let ports = |ports: &Ports| count(Some(&ports.min), Some(&ports.max));
    let addresses = |side: &Side| count(side.part.min.as_ref(), side.part.max.as_ref());
    let of_ports = ports(&opens.source) * ports(&opens.destination);
    let of_addresses = addresses(initiator) * addresses(responder);
    let (available, enumerate) = match (config.enumerate_ports.value, config.enumerate_ips.value) {
        (3, 3) => (of_ports * of_addresses, &config.enumerate_ips),
        (3, _) => (of_ports, &config.enumerate_ports),
        (_, 3) => (of_addresses, &config.enumerate_ips),
        _ => return,
    };
    let frames = foreground_frames(options, phase_1);
    if available < u128::from(frames) {
        let title = format!("{enumerate} has {available} combinations for {frames} foreground frames of phase 1");
        findings.mistake(enumerate.mistake(title).help("widen the ranges or lower N"));
    }
}

fn count(min: Option<&Setting<u32>>, max: Option<&Setting<u32>>) -> u128 {
    let (Some(min), Some(max)) = (min, max) else { return 1 };
    u128::from(max.value.saturating_sub(min.value)) + 1
}

/// What the keys of stateful tests mean, each as a note: the tests themselves have no counterpart yet.
pub(super) fn tell(config: &Config, options: &Options, findings: &mut Findings) {
    let Some((initiator, responder, _)) = config.roles() else {
        not_used(config, options, findings);
        return;
    };
    let mut keep = |setting: &Setting<u32>, meaning: String| {
        let text = format!("{} {}: no counterpart yet: {meaning}", setting.key, setting.value);
        findings.note(setting.line.unwrap_or(0), text);
    };
    let (opens, answers) = (initiator.name(), responder.name());
    let plainly = "the plan has the stateless tests only and does not fit a stateful gateway";
    keep(&config.stateful, format!("a stateful test, Initiator on the {opens}, Responder on the {answers}; {plainly}"));
    if config.enumerate_ports.line.is_some() {
        keep(&config.enumerate_ports, enumeration("port numbers", config.enumerate_ports.value));
    }
    if config.enumerate_ips.line.is_some() {
        keep(&config.enumerate_ips, enumeration("IP addresses", config.enumerate_ips.value));
    }
    keep(&config.responder_tuples, responder_order(config.responder_tuples.value));
    if let Some(phase_1) = options.phase_1 {
        keep(&config.stateful, meaning(phase_1));
    }
    if config.directions().iter().all(|direction| direction.active.value == 0) {
        keep(&config.forward.active, "phase 1 alone, a connection establishment rate; the plan has both directions".to_owned());
    }
}

fn not_used(config: &Config, options: &Options, findings: &mut Findings) {
    let tuples = &config.responder_tuples;
    if tuples.value != 0 {
        findings.note(tuples.line.unwrap_or(0), format!("{} {}: not used: {}", tuples.key, tuples.value, config.stateful));
    }
    if options.phase_1.is_some() {
        findings.note(0, format!("N, M, R, T and D: not used: {}", config.stateful));
    }
}

fn enumeration(what: &str, value: u32) -> String {
    match value {
        0 => format!("phase 1 does not enumerate the combinations of {what}"),
        _ => format!("phase 1 enumerates the combinations of {what} in {} order", order(value)),
    }
}

fn responder_order(value: u32) -> String {
    match value {
        0 => "the Responder uses one four-tuple of its state table".to_owned(),
        _ => format!("the Responder reads its state table in {} order", order(value)),
    }
}

fn meaning(phase_1: Phase1) -> String {
    let Phase1 { frames, state_table, rate, timeout_ms, delay_ms } = phase_1;
    format!(
        "phase 1 sends N = {frames} frames at R = {rate} frames/s with a timeout of T = {timeout_ms} ms into a state table of \
         M = {state_table} entries, and phase 2 begins after D = {delay_ms} ms"
    )
}
