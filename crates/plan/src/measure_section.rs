//! What a `[[test]]` measures, with the settings of that measure.

use super::dns_section::read_dns;
use super::reader::Section;
use super::test_section::PlanDefaults;
use super::units::{self, connections, range, word};
use sixbench_method::measures::Keys;
use sixbench_method::plan::{
    BackToBack, Capacity, DnsRole, IpdvStream, Latency, Load, LossScan, Measure, PdvStream, Profile, Recovery, Reset,
    ResponseTime, Tcp, TcpCapacity,
};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::tcp::Close;

/// The default number of tagged frames: the RFC's 500 would make the 99.9th percentile a maximum.
const TAGGED: u64 = 50_000;
/// The default number of frames to which a back-to-back search is exact.
const STEP: u64 = 16;
/// The default length of the longest burst, nanoseconds: a longer one has met no limit.
const LONGEST_BURST_NS: u64 = 2_000_000_000;
/// The default time before the DUT is reset in the profile `rfc`, nanoseconds. RFC 6201 section 4: the DUT forwards for at
/// least 15 s before that.
const BEFORE_RESET_NS: u64 = 15_000_000_000;

#[derive(Clone, Copy)]
enum MeasureKind {
    Throughput,
    FrameLossRate,
    Latency,
    Pdv,
    Ipdv,
    BackToBack,
    Recovery,
    Reset,
    EstablishmentRate,
    TearDownRate,
    TableCapacity,
    TcpEstablishmentRate,
    TcpCapacity,
    Dns(DnsRole),
    ResponseTime,
}

const KINDS: [(&str, MeasureKind); 17] = [
    ("throughput", MeasureKind::Throughput),
    ("frame-loss-rate", MeasureKind::FrameLossRate),
    ("latency", MeasureKind::Latency),
    ("pdv", MeasureKind::Pdv),
    ("ipdv", MeasureKind::Ipdv),
    ("back-to-back", MeasureKind::BackToBack),
    ("recovery", MeasureKind::Recovery),
    ("reset", MeasureKind::Reset),
    ("establishment-rate", MeasureKind::EstablishmentRate),
    ("tear-down-rate", MeasureKind::TearDownRate),
    ("table-capacity", MeasureKind::TableCapacity),
    ("tcp-establishment-rate", MeasureKind::TcpEstablishmentRate),
    ("tcp-capacity", MeasureKind::TcpCapacity),
    ("dns64", MeasureKind::Dns(DnsRole::Dns64)),
    ("dns-authority", MeasureKind::Dns(DnsRole::Authority)),
    ("dns-queries", MeasureKind::Dns(DnsRole::Through)),
    ("response-time", MeasureKind::ResponseTime),
];

/// Reads `measure` and the keys that belong to it; those of other measures stay unknown.
pub(super) fn read_measure(section: &Section<'_>, around: &PlanDefaults<'_>) -> Measure {
    let trial_ns = around.trial.duration_ns;
    match section.text("measure", |text| word(text, "what to measure", &KINDS)).unwrap_or(MeasureKind::Throughput) {
        MeasureKind::Throughput => Measure::Throughput,
        MeasureKind::FrameLossRate => Measure::FrameLossRate(read_scan(section)),
        MeasureKind::Latency => Measure::Latency(read_latency(section, trial_ns)),
        MeasureKind::Pdv => Measure::Pdv(read_pdv(section, trial_ns)),
        MeasureKind::Ipdv => Measure::Ipdv(read_ipdv(section, trial_ns)),
        MeasureKind::BackToBack => Measure::BackToBack(read_back_to_back(section, around)),
        MeasureKind::Recovery => Measure::Recovery(read_recovery(section, trial_ns)),
        MeasureKind::Reset => Measure::Reset(read_reset(section, around)),
        MeasureKind::EstablishmentRate => Measure::EstablishmentRate,
        MeasureKind::TearDownRate => Measure::TearDownRate,
        MeasureKind::TableCapacity => Measure::TableCapacity(read_capacity(section)),
        MeasureKind::TcpEstablishmentRate => Measure::TcpEstablishmentRate(read_tcp(section)),
        MeasureKind::TcpCapacity => Measure::TcpCapacity(read_tcp_capacity(section)),
        MeasureKind::Dns(role) => Measure::Dns(read_dns(section, around, role)),
        MeasureKind::ResponseTime => Measure::ResponseTime(read_response_time(section, trial_ns)),
    }
}

fn time(section: &Section<'_>, key: &'static str, otherwise: u64) -> u64 {
    let time_ns = section.value(key, units::duration_ns).unwrap_or(otherwise);
    if time_ns == 0 {
        section.mistake(key, format!("`{key}` must be longer than nothing"));
    }
    time_ns
}

fn read_load(section: &Section<'_>) -> Load {
    section.value("rate", load).unwrap_or(Load::OfThroughput(1.0))
}

/// Reads a load: `throughput`, `90% of throughput`, `50k`.
fn load(text: &str) -> Result<Load, String> {
    let share = match text.trim().strip_suffix("throughput") {
        None => return units::rate(text).map(Load::Rate).map_err(|wrong| format!("{wrong}; or `90% of throughput`")),
        Some("") => 1.0,
        Some(share) => {
            let share = share.trim().strip_suffix("of").ok_or_else(|| format!("expected `90% of throughput`, not `{text}`"))?;
            units::ratio(share.trim())?
        }
    };
    if share > 0.0 { Ok(Load::OfThroughput(share)) } else { Err("a load must be above nothing".to_owned()) }
}

fn read_pdv(section: &Section<'_>, trial_ns: u64) -> PdvStream {
    PdvStream { load: read_load(section), duration_ns: time(section, "duration", trial_ns) }
}

fn read_ipdv(section: &Section<'_>, trial_ns: u64) -> IpdvStream {
    IpdvStream { load: read_load(section), duration_ns: time(section, "duration", trial_ns) }
}

fn read_latency(section: &Section<'_>, trial_ns: u64) -> Latency {
    let (load, duration_ns) = (read_load(section), time(section, "duration", 2 * trial_ns));
    let tag_after_ns = section.value("tag-after", units::duration_ns).unwrap_or(duration_ns / 2);
    if tag_after_ns >= duration_ns {
        section.mistake("tag-after", "no frame would be tagged: `tag-after` must be shorter than `duration`");
    }
    let tagged = section.number("tagged", frames).unwrap_or(TAGGED);
    Latency { load, duration_ns, tag_after_ns, tagged }
}

fn frames(text: &str) -> Result<u64, String> {
    let frames = text.replace('_', "").parse().ok().filter(|frames| *frames > 0);
    frames.ok_or_else(|| format!("expected a number of frames, not `{text}`"))
}

fn read_scan(section: &Section<'_>) -> LossScan {
    if let Some(range) = section.table("rates", "rates") {
        let rate = |key| range.required(key, units::rate).map_or(0, |rate| rate.0);
        let (from, to, step) = (rate("from"), rate("to"), rate("step").max(1));
        let (high, low) = (from.max(to), from.min(to));
        let count = (high - low) / step;
        if count > 1000 {
            range.mistake("step", format!("{count} rates are too many: choose a larger step"));
            return LossScan { rates: Vec::new(), until_lossless: false };
        }
        range.finish();
        let rates = (0..=count).map(|i| FrameRate(high - i * step)).collect();
        return LossScan { rates, until_lossless: false };
    }
    if let Some(mut rates) = section.list("rates", units::rate) {
        rates.sort_by(|a, b| b.cmp(a));
        rates.dedup();
        return LossScan { rates, until_lossless: false };
    }
    LossScan::RFC_2544
}

fn read_back_to_back(section: &Section<'_>, around: &PlanDefaults<'_>) -> BackToBack {
    // Where the medium is known its maximum is the rate, size by size, and caps this one.
    let otherwise = if around.link_rate.is_some() { FrameRate(1_000_000_000) } else { around.search.maximum };
    let longest_ns = time(section, "longest-burst", LONGEST_BURST_NS);
    if longest_ns > 60_000_000_000 {
        section.mistake("longest-burst", "RFC 9004 asks for bursts of up to 30 s; more than 60 s is refused");
    }
    BackToBack {
        rate: section.value("burst-rate", units::rate).unwrap_or(otherwise),
        longest_ns,
        step_frames: section.number("step", frames).unwrap_or(STEP),
    }
}

fn read_recovery(section: &Section<'_>, trial_ns: u64) -> Recovery {
    let overload = section.value("overload", overload).unwrap_or(1.1);
    Recovery { overload, duration_ns: time(section, "duration", trial_ns), after_ns: time(section, "after", trial_ns / 2) }
}

fn overload(text: &str) -> Result<f64, String> {
    let share = text.trim().strip_suffix('%').and_then(|percent| percent.trim().parse::<f64>().ok()).map(|p| p / 100.0);
    let share = share.filter(|share| (1.0..=10.0).contains(share));
    share.ok_or_else(|| format!("expected a share of the throughput from 100% to 1000%, not `{text}`"))
}

fn read_reset(section: &Section<'_>, around: &PlanDefaults<'_>) -> Reset {
    let trial_ns = around.trial.duration_ns;
    let otherwise = if around.profile == Profile::Rfc { BEFORE_RESET_NS } else { trial_ns };
    Reset {
        load: read_load(section),
        before_ns: time(section, "before", otherwise),
        after_ns: time(section, "after", otherwise.max(2_000_000_000)),
    }
}

/// Reads the keys of a search for the capacity. RFC 9693: from 1 M connections on, doubling; up to the number that a provider's
/// gateway holds.
fn read_capacity(section: &Section<'_>) -> Capacity {
    let start = section.value("start", connections).unwrap_or(1_000_000);
    let capacity = Capacity {
        start,
        most: section.value("most", connections).unwrap_or(64_000_000.max(start)),
        exponential_share: section.value("beta", units::ratio).unwrap_or(0.1),
        binary_share: section.value("gamma", units::ratio).unwrap_or(0.5),
        error: section.value("error", connections).unwrap_or((start / 100).max(1)),
    };
    if capacity.most < capacity.start {
        section.mistake("most", "`most` connections are fewer than those of `start`");
    }
    for (key, share) in [("beta", capacity.exponential_share), ("gamma", capacity.binary_share)] {
        if share <= 0.0 || share >= 1.0 {
            section.mistake(key, format!("`{key}` is a share between 0% and 100%"));
        }
    }
    capacity
}

/// Reads the keys of TCP connections. RFC 3511: a small object, closed as most connections of HTTP are. Linux repeats a lost
/// SYN after one second: a connection that needs that was lost.
fn read_tcp(section: &Section<'_>) -> Tcp {
    let closes = [("server-first", Close::ServerFirst), ("client-first", Close::ClientFirst), ("reset", Close::Reset)];
    Tcp {
        object_octets: section.number("object-size", object_octets).unwrap_or(64),
        time_limit_ns: time(section, "time-limit", 900_000_000),
        close: section.text("close", |text| word(text, "who closes", &closes)).unwrap_or_default(),
        server_ports: section.value("server-ports", range).unwrap_or((80, 80)),
    }
}

fn object_octets(text: &str) -> Result<u32, String> {
    let octets = text.replace('_', "").parse().ok().filter(|octets| (1..=1_000_000).contains(octets));
    octets.ok_or_else(|| format!("expected octets from 1 to 1000000, not `{text}`"))
}

fn read_tcp_capacity(section: &Section<'_>) -> TcpCapacity {
    let start = section.value("start", connections).unwrap_or(1_000);
    let most = section.value("most", connections).unwrap_or(1_000_000.max(start));
    if most < start {
        section.mistake("most", "`most` connections are fewer than those of `start`");
    }
    TcpCapacity {
        tcp: read_tcp(section),
        start,
        most,
        error: section.value("error", connections).unwrap_or((start / 100).max(1)),
        rate: section.value("rate", units::rate).unwrap_or(FrameRate(1_000)),
    }
}

/// Reads the keys of a response time, and reports those that contradict it: requests go from left to right, and every one has a
/// reply of its own.
fn read_response_time(section: &Section<'_>, trial_ns: u64) -> ResponseTime {
    for (key, why) in [
        ("directions", "requests go from left to right and their replies back: there is no direction to choose"),
        ("connections", "every request has a reply of its own, and the connections of a stateful test are drawn anew each way"),
        ("flow-step", "the clients are there from the first frame on: their number is `subscribers`"),
    ] {
        if section.is_given(key) {
            section.mistake_with_help(
                key,
                format!("`{key}` does not go with response-time: {why}"),
                format!("leave `{key}` out"),
            );
        }
    }
    let rate_per_client = section.required("rate-per-client", units::rate).unwrap_or(FrameRate(1));
    ResponseTime { rate_per_client, duration_ns: time(section, "duration", trial_ns) }
}

#[cfg(test)]
mod tests {
    use crate::{parse, render};
    use sixbench_method::plan::{Measure, Payload, Plan, ResponseTime, SeriesBy};
    use sixbench_method::terms::FrameRate;

    /// A plan with a test for each of these texts.
    fn source(tests: &[&str]) -> String {
        let test = |(index, keys): (usize, &&str)| format!("[[test]]\nname = \"t{index}\"\ndut = \"relay\"\n{keys}\n");
        "name = \"p\"\n".to_owned() + &tests.iter().enumerate().map(test).collect::<String>()
    }

    fn plan_with(test: &str) -> Plan {
        parse(&source(&[test]), &["relay"]).expect("a plan").plan
    }

    fn mistakes(tests: &[&str]) -> String {
        let source = source(tests);
        render("plan.toml", &source, &parse(&source, &["relay"]).expect_err("mistakes"), false)
    }

    #[test]
    fn ten_numbers_of_clients_are_ten_tests_of_the_response_time() {
        let plan = plan_with(
            "measure = \"response-time\"\nrate-per-client = \"15k\"\nduration = \"30s\"\npayload = \"echo\"\n\
                              subscribers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
        );
        assert_eq!(plan.tests.len(), 10);
        let (first, last) = (&plan.tests[0], &plan.tests[9]);
        let response = ResponseTime { rate_per_client: FrameRate(15_000), duration_ns: 30_000_000_000 };
        assert_eq!(first.measure, Measure::ResponseTime(response));
        assert_eq!((first.clients(), last.clients(), last.traffic.payload), (1, 10, Payload::Echo));
        assert_eq!(last.series.as_ref().map(|series| (series.by, series.at)), Some((SeriesBy::Subscribers, 10.0)));
    }

    #[test]
    fn what_a_response_time_lacks_or_cannot_have_is_told_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "measure = \"response-time\"",
            "measure = \"response-time\"\nrate-per-client = \"15k\"\ndirections = \"forward\"\nconnections = \"10k\"",
            "measure = \"throughput\"\nrate-per-client = \"15k\"",
        ]));
    }
}
