//! Events in words, for everything that shows a run in progress.

use crate::wording::requirements::requirements_in_words;
use sixbench_method::bottleneck::of_trial;
use sixbench_method::event::Event;
use sixbench_method::lists::by_key;
use sixbench_method::measures::{Measure, Noun, Outcome, Quantity, Unit, Value};
use sixbench_method::plan::Point;
use sixbench_method::record::TrialRecord;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::dns::{Answers, Certificate, DnsResult};
use sixbench_method::trial::tcp::TcpResult;
use sixbench_method::trial::{
    AnomalyKind, Connections, TrialKind, TrialResult, TrialSpec, Verdict,
};
use sixbench_method::units::{counted, show_ns, show_rate, show_rate_at_least, show_seconds};

/// Returns a line about a trial that answers a sceptical expert's questions: did the tester keep up, in both directions, and what was lost?
pub fn trial(result: &TrialResult, verdict: Verdict) -> String {
    if let Some(requirements) = result.requirements() {
        return format!("  {}", requirements_in_words(requirements));
    }
    let lost: Vec<String> = result
        .directions
        .iter()
        .map(|d| d.not_received().to_string())
        .collect();
    let lateness = result
        .directions
        .iter()
        .map(|d| d.sending.worst_lateness_ns)
        .max()
        .unwrap_or(0);
    let mut text = format!(
        "{:>9}/s  {:<7}  missing {}  tester late at most {}",
        show_rate(result.spec.rate),
        word(verdict),
        lost.join(" + "),
        show_lateness(lateness),
    );
    text += &result
        .dns()
        .map_or_else(String::new, |dns| failed_queries(&dns.answers));
    text += &strange_frames(result);
    text += &result.dns().map_or_else(String::new, network_errors);
    text += &result.tcp().map_or_else(String::new, resets);
    if let Some(mean_ns) = result
        .exchange()
        .and_then(|exchange| exchange.time()?.mean_ns())
    {
        text += &format!("  answered in {:.3} ms on average", mean_ns / 1e6);
    }
    if let Some(connections) = result.phase_one_result() {
        text += &opened(connections, &result.spec);
    }
    if verdict == Verdict::Invalid
        && let Some(fault) = result.faults.first()
    {
        text += &format!("  ({fault})");
    }
    text
}

fn strange_frames(result: &TrialResult) -> String {
    // Errors of the network that DNS queries met are told with what reported them.
    let is_told_apart = |kind: AnomalyKind| kind == AnomalyKind::Icmp && result.dns().is_some();
    let told = AnomalyKind::ALL
        .iter()
        .filter(|kind| !kind.is_plain_loss() && !is_told_apart(**kind));
    let kinds = told.map(|kind| (kind, kind.in_trial(result)));
    kinds
        .filter(|(_, frames)| *frames > 0)
        .map(|(kind, frames)| format!("  {frames} {}", kind.noun(frames)))
        .collect()
}

/// Returns what the device said most often of the frames that it did not deliver, unless it is about a small part of them.
fn refused(record: &TrialRecord) -> String {
    let first = of_trial(record)
        .into_iter()
        .find(|said| 2 * said.frames >= said.missing || said.direction.is_some());
    first.map_or_else(String::new, |said| format!("  {}", said.sentence))
}

/// Returns the numbers of queries without a correct answer in time, by outcome.
fn failed_queries(answers: &Answers) -> String {
    let failed = answers.failures().filter(|(_, queries)| *queries > 0);
    failed
        .map(|(what, queries)| format!("  {queries} {what}"))
        .collect()
}

fn network_errors(dns: &DnsResult) -> String {
    dns.network_errors()
        .iter()
        .map(|errors| format!("  ({errors})"))
        .collect()
}

fn resets(tcp: &TcpResult) -> String {
    tcp.resets_in_words()
        .iter()
        .map(|resets| format!("  ({resets})"))
        .collect()
}

/// Returns the result of the tester's self-test, in words.
pub fn certified(certificate: &Certificate) -> String {
    let within_ms = certificate.timeout_ns / 4_000_000;
    let looped = show_rate(FrameRate(Certificate::looped(certificate.rate)));
    match certificate.rate {
        0 => "the tester failed its self-test (RFC 8219 section 9.2.1) at every rate, so no trial will be valid".to_owned(),
        rate => format!(
            "self-test (RFC 8219 section 9.2.1): {looped} queries/s looped back, all answered within {within_ms} ms; certified for {} queries/s",
            show_rate(FrameRate(rate))
        ),
    }
}

/// Returns the result of phase 1, as counted by the tester and by the DUT.
fn opened(connections: &Connections, spec: &TrialSpec) -> String {
    let Connections {
        established,
        offered,
        ..
    } = connections;
    let by_the_device = connections
        .opened_by_the_dut()
        .map(|counted| format!(", the device counts {counted}"))
        .unwrap_or_default();
    let at = if spec.phase_one.is_some() {
        format!(" at {}/s", show_rate(connections.rate))
    } else {
        String::new()
    };
    let example = connections
        .examples
        .first()
        .map(|example| format!(" ({example})"))
        .unwrap_or_default();
    format!(
        "  {established} of {}{at}{by_the_device}{example}",
        counted(*offered, "connection")
    )
}

fn show_lateness(ns: u64) -> String {
    match ns {
        n if n >= 1_000_000 => format!("{:.1} ms", n as f64 / 1e6),
        n => format!("{} us", n / 1000),
    }
}

/// Returns the verdict in one word.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Lost => "lost",
        Verdict::Invalid => "invalid",
    }
}

/// Returns the result of one repetition, in words.
pub fn outcome(measure: &str, outcome: &Outcome) -> String {
    let info = Measure::infos().find(|info| info.term.name == measure);
    let noun = info.map_or(Noun::Frames, |info| info.family.noun());
    let mut found: Vec<String> = outcome
        .brackets
        .iter()
        .map(|found| bracket(found, noun.per_second_and_direction()))
        .collect();
    found.extend(values(&outcome.values));
    let has_size = info.is_none_or(|info| info.family.has_frame_sizes());
    let label = if has_size {
        outcome.point.to_string()
    } else {
        outcome.point.test.clone()
    };
    if found.is_empty() {
        found.push("no result: the tester fell short".to_owned());
    }
    let repeated = match outcome.invalid {
        0 => String::new(),
        n => format!(", {n} of them invalid and repeated"),
    };
    let trials = counted(outcome.trials, "trial");
    format!(
        "{label}  #{}  {}  ({trials}{repeated})",
        outcome.repetition,
        found.join("; ")
    )
}

/// Returns the values, with both directions of a quantity side by side, in the order in which they were found.
fn values(values: &[Value]) -> Vec<String> {
    let described = |((quantity, load), numbers): ((Quantity, u64), Vec<String>)| {
        let is_at_a_load = matches!(
            quantity,
            Quantity::FrameLossRate | Quantity::ConnectionsHeld
        );
        let at = if is_at_a_load {
            format!(" at {}/s", show_rate(FrameRate(load)))
        } else {
            String::new()
        };
        format!("{} {}{at}", quantity.title(), numbers.join(" / "))
    };
    let numbers = by_key(
        values
            .iter()
            .map(|value| ((value.quantity, value.load.0), number(value))),
    );
    numbers.into_iter().map(described).collect()
}

fn number(value: &Value) -> String {
    let bound = match (value.is_at_least, value.is_at_most) {
        (true, false) => "at least ",
        (false, true) => "at most ",
        (false, false) => "",
        (true, true) => "about ",
    };
    let number = match value.quantity.unit() {
        Unit::Nanoseconds => format!("{:.3} ms", value.value / 1e6),
        Unit::Percent => format!("{:.4} %", value.value),
        Unit::Frames | Unit::Connections | Unit::Requirements => format!("{:.0}", value.value),
        Unit::ConnectionsPerSecond => format!("{}/s", show_rate(FrameRate(value.value as u64))),
        Unit::FramesPerSecond => format!("{:.0}/s", value.value),
        Unit::Octets => format!("{:.0} kB", value.value / 1e3),
        Unit::OctetsPerHour => format!("{:.0} kB/h", value.value / 1e3),
    };
    format!("{bound}{number}")
}

fn bracket(bracket: &Bracket, unit: &str) -> String {
    let goal = match bracket.goal.0 {
        0.0 => String::new(),
        _ => format!(" at {}", bracket.goal),
    };
    let limit = match bracket.limit {
        Limit::Dut => "",
        Limit::Tester => "; the tester could not go further",
        Limit::Disturbed => "; other work disturbed the trials",
        Limit::Maximum => ", the plan's maximum",
    };
    match bracket.lower {
        Some(lower) if bracket.is_not_found() => {
            let upper = bracket.upper.unwrap_or(lower);
            let why = if bracket.limit == Limit::Disturbed {
                "other work disturbed the trials"
            } else {
                "the tester fell short"
            };
            format!(
                "not found{goal}: between {} and {} {unit}, because {why} between them",
                show_rate(lower),
                show_rate(upper)
            )
        }
        Some(rate) if bracket.upper == Some(rate) => {
            format!("passed at {} {unit}{goal}", show_rate(rate))
        }
        Some(rate) if bracket.limit == Limit::Dut => format!("{} {unit}{goal}", show_rate(rate)),
        Some(rate) => format!("at least {} {unit}{goal}{limit}", show_rate_at_least(rate)),
        None if bracket.value().is_none() => {
            format!("no result{goal}: no trial gave information about the device")
        }
        None => format!("nothing passed{goal}"),
    }
}

/// Returns the line for an event; `None` if it has none.
pub fn event(event: &Event) -> Option<String> {
    Some(match event {
        Event::RunStarted {
            plan,
            results,
            measurements,
            estimate_s,
        } => {
            let measurements = counted(*measurements, "measurement");
            format!(
                "{plan}: {measurements}, about {}; results in {results}",
                show_seconds(*estimate_s)
            )
        }
        Event::DutReady { dut, version } => format!("{dut}: up ({version})"),
        Event::SelfTested { dut, certificate } => format!("{dut}: {}", certified(certificate)),
        Event::MeasurementStarted {
            point,
            repetition,
            of,
            ..
        } => format!("{point}: repetition {repetition} of {of}"),
        Event::TrialStarted { point, spec } => started(point, spec),
        Event::TrialEnded { record, verdict } => trial(&record.result, *verdict) + &refused(record),
        Event::MeasurementEnded { measure, outcome } => self::outcome(measure, outcome),
        Event::Waiting { text } => text.clone(),
        Event::Warning { text } => format!("warning: {text}"),
        Event::Progress { remaining_s, .. } => left(*remaining_s),
        Event::RunEnded { .. } => return None,
    })
}

fn started(point: &Point, spec: &TrialSpec) -> String {
    if spec.kind == TrialKind::Requirements {
        return format!("{}: the requirements of its RFCs, one by one", point.test);
    }
    format!(
        "{point}: {} {} for {}",
        show_rate(spec.rate),
        spec.kind.rate_unit(),
        show_ns(in_milliseconds(spec.duration_ns))
    )
}

/// Returns a time without its microseconds, which the time of phase 1 often has; one below 10 ms is left as it is.
fn in_milliseconds(ns: u64) -> u64 {
    if ns < 10_000_000 {
        ns
    } else {
        ns - ns % 1_000_000
    }
}

/// Returns the remaining time of a run, in words.
pub fn left(remaining_s: u64) -> String {
    format!("about {} left", show_seconds(remaining_s))
}

/// The loads between which the result of the current measurement lies, according to its trials so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Narrowing {
    trials: u32,
    /// The highest load that passed and the lowest one that was lost.
    passed: Option<FrameRate>,
    lost: Option<FrameRate>,
}

impl Narrowing {
    /// Updates the loads with an event.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::MeasurementStarted { .. } => *self = Self::default(),
            Event::TrialEnded { record, verdict } => {
                self.trials += 1;
                let rate = record.result.spec.rate;
                match verdict {
                    _ if record.result.was_made_again() => {}
                    Verdict::Passed => self.passed = self.passed.max(Some(rate)),
                    Verdict::Lost => {
                        self.lost = Some(self.lost.map_or(rate, |lost| lost.min(rate)));
                    }
                    Verdict::Invalid => {}
                }
            }
            _ => {}
        }
    }

    /// Returns the number of the current trial and the loads: `trial 7, between 22.0k and 26.0k`.
    pub fn describe(&self) -> String {
        let loads = match (self.passed, self.lost) {
            // In a measurement that is not a search, a higher load may pass than one that was lost.
            (Some(passed), Some(lost)) if passed < lost => {
                format!(", between {} and {}", show_rate(passed), show_rate(lost))
            }
            (Some(passed), None) => format!(", {} or more", show_rate_at_least(passed)),
            (None, Some(lost)) => format!(", below {}", show_rate(lost)),
            _ => String::new(),
        };
        format!("trial {}{loads}", self.trials + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::plan::Point;
    use sixbench_method::record::FORMAT;
    use sixbench_method::terms::{FrameRate, FrameSize};
    use sixbench_method::trial::{Measurer, TrialKind};

    #[test]
    fn a_search_tells_how_far_it_has_narrowed() {
        let point = Point {
            test: "t".to_owned(),
            frame_size: FrameSize(84),
        };
        let mut narrowing = Narrowing::default();
        narrowing.note(&Event::MeasurementStarted {
            point: point.clone(),
            repetition: 1,
            of: 3,
            next: None,
        });
        let mut words = vec![narrowing.describe()];
        for (rate, verdict) in [
            (1_000_000, Verdict::Lost),
            (1_000, Verdict::Passed),
            (30_000, Verdict::Invalid),
            (22_000, Verdict::Passed),
        ] {
            let result = TrialResult::new(TrialSpec::constant(FrameRate(rate), 1), vec![], vec![]);
            let (point, started) = (point.clone(), String::new());
            let record = TrialRecord {
                format: FORMAT,
                point,
                repetition: 1,
                trial: 1,
                load: None,
                started,
                result,
                watch: None,
            };
            narrowing.note(&Event::TrialEnded {
                record: Box::new(record),
                verdict,
            });
            words.push(narrowing.describe());
        }
        let between = "between 1.0k and 1.000M";
        assert_eq!(
            words[..3],
            [
                "trial 1".to_owned(),
                "trial 2, below 1.000M".to_owned(),
                format!("trial 3, {between}")
            ]
        );
        assert_eq!(
            words[3..],
            [
                format!("trial 4, {between}"),
                "trial 5, between 22.0k and 1.000M".to_owned()
            ]
        );
    }

    #[test]
    fn a_trial_of_tcp_makes_connections_and_sends_no_frames() {
        let spec = TrialSpec {
            kind: TrialKind::TcpRate,
            ..TrialSpec::constant(FrameRate(500), 1_000_000_000)
        };
        let line = event(&Event::TrialStarted {
            point: Point {
                test: "tcp".to_owned(),
                frame_size: FrameSize(84),
            },
            spec,
        });
        assert!(
            line.as_ref()
                .is_some_and(|line| line.ends_with(": 500 connections/s for 1s")),
            "{line:?}"
        );
    }

    #[test]
    fn a_trial_of_requests_tells_how_long_their_replies_took() {
        let mut relay = sixbench_method::simulated::SimulatedRelay::new(FrameRate(1_000), 10)
            .with_link(500_000);
        let Ok(result) = relay.measure(&TrialSpec::response(FrameRate(100), 1_000_000_000));
        let line = trial(&result, Verdict::Passed);
        assert!(
            line.ends_with(
                "missing 0 + 0  tester late at most 0 us  answered in 3.000 ms on average"
            ),
            "{line}"
        );
    }
}
