//! The text of the plan.

use super::findings::Note;
use super::options::Options;
use super::phases::Phases;
use super::siitperf::{
    AddressPartSettings, Config, PortSettings, SenderSettings, SideSettings, order,
};
use sixbench_method::lists::each_once;
use sixbench_method::plan::{AddressPart, Profile};
use sixbench_method::terms::FrameRate;
use sixbench_method::text::is_control;
use sixbench_method::units::show_ns;
use sixbench_plan::standard_search;

/// siitperf's fixed ports: those of the test frame of RFC 2544 appendix C.2.6.4, regardless of the ranges.
const FIXED_SOURCE: u32 = 0xc020;
const FIXED_DESTINATION: u32 = 7;

/// The measures that siitperf's programs and scripts have for stateless devices, and for phase 2 of stateful ones.
const MEASURES: [&str; 4] = ["throughput", "frame-loss-rate", "latency", "pdv"];

pub(super) fn text(path: &str, config: &Config, options: &Options, notes: &[Note]) -> String {
    let mut text = header(path, notes);
    text += &trial(options);
    text += &testbed(config);
    text += &search(options);
    let phases = Phases::new(config, options);
    if let Some(phases) = &phases {
        text += "\n";
        text += &test_head("establishment-rate", "establishment-rate");
        text += &(repetitions(options) + &traffic(config, options) + &phases.phase_1_keys());
    }
    if config.is_phase_1_alone() {
        return text;
    }
    let shared =
        common(config, options) + &phases.map_or(String::new(), |phases| phases.both_phases_keys());
    for measure in MEASURES {
        text += "\n";
        text += &(test_head(measure, measure) + &of_measure(measure, options) + &shared);
    }
    if let Some(timeout) = options.frame_timeout_ns.filter(|timeout| *timeout > 0) {
        text += "\n# siitperf-pdv with a frame timeout.\n";
        text += &test_head("throughput-frame-timeout", "throughput");
        text += &format!("frame-timeout = \"{}\"\n{shared}", show_ns(timeout));
    }
    text
}

/// Returns the beginning of the plan: where it comes from, the notes, and the keys before all tables.
fn header(path: &str, notes: &[Note]) -> String {
    let mut text = comment(&format!(
        "What siitperf measures with {path}, imported by sixbench."
    ));
    text += "#\n# Notes:\n";
    text += &notes
        .iter()
        .map(|note| comment(&note.to_string()))
        .collect::<String>();
    text + "\nname = \"siitperf\"\nprofile = \"rfc\"\nrecipes = [\"recipes\"]\n\n"
}

/// Returns the first keys of a test.
fn test_head(name: &str, measure: &str) -> String {
    format!("[[test]]\nname = \"{name}\"\ndut = \"siitperf\"\nmeasure = \"{measure}\"\n")
}

/// Returns `text` as a TOML comment, which must not contain control characters.
pub(super) fn comment(text: &str) -> String {
    format!("# {}\n", text.replace(is_control, " "))
}

/// Returns `text` as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn search(options: &Options) -> String {
    let scripts = &options.scripts;
    let maximum = scripts.maximum.map_or_else(
        || {
            let millions = standard_search(Profile::Rfc).maximum.0 / 1_000_000;
            format!("# siitperf's scripts have it as `max`; loads above {millions}M are not tried without it.\n# maximum = \"{millions}M\"\n")
        },
        |maximum| format!("maximum = \"{}\"\n", maximum.0),
    );
    let width = scripts.error.map(|error| {
        format!(
            "# `e` of the scripts: a rate counts as its share of the maximum.\nwidth = \"{}\"\n",
            error.0
        )
    });
    format!("[search]\n{maximum}{}", width.unwrap_or_default())
}

/// Returns the line of a key that may have a value, as TOML.
fn line(key: &str, value: Option<String>) -> String {
    value.map_or(String::new(), |value| format!("{key} = {value}\n"))
}

/// Returns the keys that siitperf's parameters of one measure become, as TOML.
fn of_measure(measure: &str, options: &Options) -> String {
    match measure {
        "latency" => {
            let delay = options
                .delay_ns
                .map(|delay_ns| format!("\"{}\"", show_ns(delay_ns)));
            line("tag-after", delay)
                + &line("tagged", options.timestamps.map(|tags| tags.to_string()))
        }
        "frame-loss-rate" => {
            // siitperf's script goes up; RFC 2544 section 26.3 goes down.
            line(
                "rates",
                options
                    .scripts
                    .rates
                    .map(|[start, end, step]: [FrameRate; 3]| {
                        let (highest, lowest) = (start.max(end).0, start.min(end).0);
                        format!(
                            "{{ from = \"{highest}\", to = \"{lowest}\", step = \"{}\" }}",
                            step.0
                        )
                    }),
            )
        }
        _ => String::new(),
    }
}

fn trial(options: &Options) -> String {
    let lines = [
        ("duration", options.duration_ns),
        ("residual", options.timeout_ns),
        ("rest", options.scripts.rest_ns),
    ];
    let lines: String = lines
        .iter()
        .filter_map(|(key, value)| Some(format!("{key} = \"{}\"\n", show_ns((*value)?))))
        .collect();
    if lines.is_empty() {
        lines
    } else {
        format!("[trial]\n{lines}\n")
    }
}

fn testbed(config: &Config) -> String {
    let directions = config
        .directions()
        .into_iter()
        .filter(|direction| config.is_used(direction));
    let cores = each_once(
        directions
            .flat_map(|direction| &direction.cores)
            .map(|core| core.value),
    );
    let mut text = "[testbed]\n# The interfaces cabled to the device.\n# left = \"LEFT\"\n# right = \"RIGHT\"\n".to_owned();
    if !cores.is_empty() {
        text += &format!("tester-cores = {cores:?}\n");
    }
    text + "\n"
}

/// Returns the settings common to all tests other than that of the establishment rate, as TOML.
fn common(config: &Config, options: &Options) -> String {
    let mut text = String::new();
    text += match config
        .directions()
        .map(|direction| config.is_used(direction))
    {
        [true, false] => "directions = \"forward\"\n",
        [false, true] => "directions = \"reverse\"\n",
        _ => "directions = \"both\"\n",
    };
    if config.has_background(options) {
        text += &format!("background = \"{}\"\n", percent(options));
    }
    text + &repetitions(options) + &traffic(config, options)
}

/// Returns `no_exp` of the scripts, which every script has, as TOML.
fn repetitions(options: &Options) -> String {
    options
        .scripts
        .repetitions
        .map_or(String::new(), |repetitions| {
            format!("repetitions = {repetitions}\n")
        })
}

fn traffic(config: &Config, options: &Options) -> String {
    let sizes: Vec<u16> = options.frame_sizes.iter().map(|size| size.0).collect();
    let mut text = String::new();
    if !sizes.is_empty() {
        text += &format!("frame-sizes = {sizes:?}\n");
    }
    // The range of an unused direction may be invalid.
    for (key, direction) in [
        ("forward-ports", &config.forward),
        ("reverse-ports", &config.reverse),
    ] {
        if config.has_own_ports(direction) {
            text += &ports(key, direction, config.enumerate_ports.value);
        }
    }
    for side in config.sides() {
        text += &addresses(side);
        if side.networks.value > 1 && config.roles().is_none() {
            text += &format!("{}-networks = {}\n", side.name(), side.networks.value);
        }
    }
    text
}

/// Returns the share of background frames among all, to a hundredth of a per cent, without trailing zeros. A share that is neither none nor all does not become
/// one of these by rounding.
fn percent(options: &Options) -> String {
    let share = options.share();
    let background = u64::from(share.of - share.foreground);
    let nearest = (background * 10_000 + u64::from(share.of) / 2) / u64::from(share.of);
    let hundredths = match share.foreground {
        0 => 10_000,
        all if all == share.of => 0,
        _ => nearest.clamp(1, 9_999),
    };
    format!("{}%", hundredths as f64 / 100.0)
}

/// Returns the plan's line for the ports of a direction. If phase 1 enumerates the ports, it does so regardless of whether they vary in phase 2.
fn ports(key: &str, direction: &SenderSettings, enumerate: u32) -> String {
    let vary = |ports: &PortSettings| {
        if enumerate == 0 {
            ports.vary.value
        } else {
            enumerate
        }
    };
    let range = |ports: &PortSettings, fixed: u32| match vary(ports) {
        0 => format!("{fixed}-{fixed}"),
        _ => format!("{}-{}", ports.min.value, ports.max.value),
    };
    let (source, destination) = (
        range(&direction.source, FIXED_SOURCE),
        range(&direction.destination, FIXED_DESTINATION),
    );
    let orders = (
        order(vary(&direction.source)),
        order(vary(&direction.destination)),
    );
    format!(
        "{key} = {{ source = \"{source}\", destination = \"{destination}\", source-order = \"{}\", destination-order = \"{}\" }}\n",
        orders.0, orders.1
    )
}

fn addresses(side: &SideSettings) -> String {
    let AddressPartSettings { vary, min, max, .. } = &side.part;
    let (Some(min), Some(max)) = (min, max) else {
        return String::new();
    };
    if vary.value == 0 {
        return String::new();
    }
    // The offset of a version that no frame has may be missing or odd, which a plan does not allow: the default does as well.
    let offset = |is_ipv4, usual| {
        side.part
            .offset(is_ipv4)
            .filter(|offset| offset % 2 == 0)
            .unwrap_or(usual)
    };
    format!(
        "{}-addresses = {{ range = \"{}-{}\", order = \"{}\", ipv4-offset = {}, ipv6-offset = {} }}\n",
        side.name(),
        min.value,
        max.value,
        order(vary.value),
        offset(true, AddressPart::IPV4_OFFSET.into()),
        offset(false, AddressPart::IPV6_OFFSET.into())
    )
}
