//! The two phases of stateful tests (RFC 9693): siitperf's N, M, R, T, D and orders as keys of a plan.

use super::device::{FLUSH, ImportedDevice};
use super::findings::ImportFindings;
use super::options::{Options, Phase1};
use super::setting::Setting;
use super::siitperf::{Config, SenderSettings, order};
use super::stateful::{combinations, foreground_frames};

/// The value of N in siitperf's scripts.
const USUAL_CONNECTIONS: u128 = 4_000_000;

/// The phases of a test. `None` stands for sixbench's default.
pub(super) struct Phases {
    /// N without the background frames, which open no connections.
    connections: u64,
    phase_1: Option<Phase1>,
    enumerate: &'static str,
    responder: &'static str,
}

impl Phases {
    pub(super) fn new(config: &Config, options: &Options) -> Option<Self> {
        config.roles()?;
        let connections = match options.phase_1 {
            Some(phase_1) => foreground_frames(options, phase_1),
            None => combinations(config).min(USUAL_CONNECTIONS) as u64,
        };
        let enumerate = enumeration(config);
        let responder = order(config.responder_tuples.value);
        Some(Self {
            connections,
            phase_1: options.phase_1,
            enumerate,
            responder,
        })
    }

    /// Returns the keys of a test that searches for the rate of phase 1.
    pub(super) fn phase_1_keys(&self) -> String {
        let mut text = format!(
            "connections = {}\nenumerate = \"{}\"\n",
            self.connections, self.enumerate
        );
        if let Some(phase_1) = self.phase_1 {
            text += &format!("phase-1-timeout = \"{}ms\"\n", phase_1.timeout_ms);
            if u64::from(phase_1.state_table) != self.connections {
                text += &format!("state-table = {}\n", phase_1.state_table);
            }
        }
        text
    }

    /// Returns the keys of a test of phase 2.
    pub(super) fn both_phases_keys(&self) -> String {
        let mut text = self.phase_1_keys();
        if let Some(phase_1) = self.phase_1 {
            text += &format!(
                "phase-1-rate = {}\nphase-1-delay = \"{}ms\"\n",
                phase_1.rate,
                u64::from(phase_1.delay_ms).max(least(phase_1))
            );
        }
        text + &format!("responder-order = \"{}\"\n", self.responder)
    }
}

/// Returns the least D, N / R + T, milliseconds. siitperf rounds it down; sixbench does not.
fn least(phase_1: Phase1) -> u64 {
    (1000 * u64::from(phase_1.frames)).div_ceil(u64::from(phase_1.rate))
        + u64::from(phase_1.timeout_ms)
}

/// Returns siitperf's order of phase 1; by default siitperf draws at random for each frame.
fn enumeration(config: &Config) -> &'static str {
    // If both are given they are equal, so the larger one is the one that is given.
    match config.enumerate_ports.value.max(config.enumerate_ips.value) {
        // 3 is pseudorandom.
        0 => order(3),
        value => order(value),
    }
}

/// Notes the keys of stateful tests that the plan and the recipe do not take over unchanged.
pub(super) fn note_settings(
    config: &Config,
    options: &Options,
    device: &ImportedDevice,
    findings: &mut ImportFindings,
) {
    let (Some(phases), Some(state)) = (Phases::new(config, options), &device.state) else {
        not_used(config, options, findings);
        return;
    };
    let Some((_, responder, opens)) = config.roles() else {
        return;
    };
    let mut note = |setting: &Setting<u32>, text: String| setting.note_on_value(findings, text);
    note(
        &config.stateful,
        format!(
            "siitperf accepts any source at its Responder, but sixbench verifies it: the recipe's `pool` is guessed to be {}, \
             the device's address on the {}; correct it there, and its `pool-ports`",
            state.pool,
            responder.name()
        ),
    );
    note(
        &config.stateful,
        format!(
            "this file does not say how to empty the device's connection tracking table; replace `{FLUSH}` in the recipe with the command"
        ),
    );
    note(&config.stateful, parameters(&phases, options));
    if enumerations(config)
        .iter()
        .all(|enumerate| enumerate.value == 0)
    {
        let text = "without Enumerate-ports or Enumerate-ips phase 1 may open a connection twice; in the plan no two are the same";
        note(&config.stateful, text.to_owned());
    }
    note_ports(config, opens, &mut note);
    for side in config.sides() {
        if side.networks.value > 1 {
            let text = "no counterpart: a stateful device is tested with addresses that vary, not with networks";
            note(&side.networks, text.to_owned());
        }
    }
    if config.is_phase_1_alone() {
        let text = "phase 1 alone: the plan has the connection establishment rate only";
        note(&config.forward.active, text.to_owned());
    }
}

/// Notes the settings of ports from which the plan's connections differ; those of `opens` open the connections.
fn note_ports(
    config: &Config,
    opens: &SenderSettings,
    note: &mut impl FnMut(&Setting<u32>, String),
) {
    if config.enumerate_ports.value != 0 && opens.active.value == 1 {
        let text = "phase 2 would use connections other than those of phase 1; in the plan it only uses those of phase 1";
        for ports in [&opens.source, &opens.destination] {
            if ports.vary.value == 0 {
                note(&ports.vary, text.to_owned());
            }
        }
    }
    let text = "not used: the Responder takes four-tuples from its state table";
    for answers in config.directions() {
        if config.has_own_ports(answers) {
            continue;
        }
        for ports in [&answers.source, &answers.destination] {
            if ports.vary.value != 0 {
                note(&ports.vary, text.to_owned());
            }
        }
    }
}

fn enumerations(config: &Config) -> [&Setting<u32>; 2] {
    [&config.enumerate_ports, &config.enumerate_ips]
}

fn parameters(phases: &Phases, options: &Options) -> String {
    let connections = phases.connections;
    match options.phase_1 {
        None => format!(
            "siitperf takes N, M, R, T and D on its command line (here --phase-1 N,M,R,T,D); without them the plan opens {connections} \
             connections and has sixbench's own rate and times"
        ),
        Some(phase_1) if options.has_background() => format!(
            "N = {} frames of phase 1 include the background ones; `connections` is the rest, {connections}",
            phase_1.frames
        ),
        Some(_) => {
            "N, M, R, T and D are in the plan, but not R and D if R is what the search looks for"
                .to_owned()
        }
    }
}

fn not_used(config: &Config, options: &Options, findings: &mut ImportFindings) {
    let tuples = &config.responder_tuples;
    if tuples.value != 0 {
        tuples.note_on_value(findings, format_args!("not used: {}", config.stateful));
    }
    if options.phase_1.is_some() {
        findings.note(
            0,
            format!("N, M, R, T and D: not used: {}", config.stateful),
        );
    }
}
