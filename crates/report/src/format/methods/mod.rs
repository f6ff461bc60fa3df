//! The methods section of a paper about a run: paragraphs, and the tables they refer to.

mod latex;
mod markdown;
mod parameters;
mod tables;

pub(crate) use latex::latex;
pub(crate) use markdown::markdown;

use crate::digest::Digest;
use crate::findings::origin;
use crate::findings::trust;
use crate::findings::warning_kind::WarningKind;
use crate::format::bibliography::{TESTER_KEY, run_key};
use crate::layout::table::Table;
use crate::wording::numbers::{capitalised, enumerated, percentage, seconds, three_digits, whole};
use sixbench_method::conformance::{Clause, Conformance, of_plan};
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::measures::Noun;
use sixbench_method::plan::{Plan, Profile, Test};
use sixbench_method::record::{TrialRecord, Warning};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::SearchSettings;
use sixbench_method::trial::Verdict;
use sixbench_method::units::{agreeing, part_of, show_ns};
use std::collections::BTreeMap;

/// A part of a paragraph.
enum MethodsPart {
    Text(String),
    /// A reference to an entry of `run.bib`.
    Cite(String),
    /// A reference to a table of this section.
    Refer(&'static str),
}

struct Paragraph {
    title: &'static str,
    parts: Vec<MethodsPart>,
}

impl Paragraph {
    fn new(title: &'static str) -> Self {
        Self {
            title,
            parts: Vec::new(),
        }
    }

    fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(MethodsPart::Text(text.into()));
        self
    }

    fn cite(mut self, key: impl Into<String>) -> Self {
        self.parts.push(MethodsPart::Cite(key.into()));
        self
    }

    fn refer(mut self, table: &'static str) -> Self {
        self.parts.push(MethodsPart::Refer(table));
        self
    }
}

/// The methods section of a run.
struct Methods {
    paragraphs: Vec<Paragraph>,
    /// The tables with their names.
    tables: Vec<(&'static str, Table)>,
}

impl Methods {
    fn new(digest: &Digest<'_>) -> Self {
        let tables = [
            ("tests", tables::tests(digest)),
            ("parameters", parameters::table(digest.input)),
            ("devices", tables::devices(digest.input)),
            ("machine", tables::machine(digest.input)),
            ("deviations", tables::deviations(digest.input)),
        ];
        let tables: Vec<_> = tables
            .into_iter()
            .filter(|(_, table)| !table.rows.is_empty())
            .collect();
        let has = |name| tables.iter().any(|(of, _)| *of == name);
        let paragraphs = vec![
            tester(digest, has("machine")),
            devices(digest, has("devices")),
            procedure(digest.input.plan),
            validity(digest),
            deviations(digest.input.plan),
            data(digest),
        ];
        Self { paragraphs, tables }
    }
}

fn tester(digest: &Digest<'_>, has_machine: bool) -> Paragraph {
    let input = digest.input;
    let hosts = origin::hosts(input);
    let on = if hosts.is_empty() {
        String::new()
    } else {
        format!(", on {hosts}")
    };
    let when = digest
        .span
        .map(|span| format!(", {}", span.describe()))
        .unwrap_or_default();
    let machine = machine(&input.facts.host);
    // Some layouts begin with the name of a device, which must not be capitalised.
    let is_named = |text: &str| {
        input
            .facts
            .duts
            .keys()
            .any(|name| text.starts_with(name.as_str()))
    };
    let sentence = |text: &String| {
        format!(
            " {}.",
            if is_named(text) {
                text.clone()
            } else {
                capitalised(text)
            }
        )
    };
    let layout: String = input.facts.layouts().iter().map(sentence).collect();
    let version = if input.facts.sixbench.is_empty() {
        "of unknown version"
    } else {
        &input.facts.sixbench
    };
    let paragraph = Paragraph::new("Tester").text(format!(
        "The measurements were made with sixbench {version}"
    ));
    let rest = format!(", a tester in the sense of RFC 2544 and RFC 8219{on}{when}.{machine}");
    let paragraph = paragraph.cite(TESTER_KEY).text(rest);
    let paragraph = if has_machine {
        paragraph
            .text(" How the machine was set is in ")
            .refer("machine")
            .text(".")
    } else {
        paragraph
    };
    paragraph.text(layout)
}

/// Returns a sentence on the tester's machine: ` The tester's machine has an Intel Xeon (2 cores) and 23.5 GiB of memory, and runs Linux 6.12.`
fn machine(host: &BTreeMap<String, String>) -> String {
    let fact = |name: &str| host.get(name).filter(|value| !value.is_empty());
    let cores = fact("cores").map(|cores| format!("{cores} {}", agreeing(cores == "1", "core")));
    let processor = match (fact("processor"), cores) {
        (Some(processor), Some(cores)) => Some(format!("{processor} ({cores})")),
        (processor, cores) => processor.cloned().or(cores),
    };
    let memory = fact("memory").map(|memory| format!("{} of memory", readable_memory(memory)));
    let has: Vec<String> = processor.into_iter().chain(memory).collect();
    let has = (!has.is_empty()).then(|| format!("has {}", enumerated(&has)));
    let runs =
        fact("kernel").map(|kernel| format!("runs Linux {}", kernel.trim_start_matches("Linux ")));
    let parts: Vec<String> = has.into_iter().chain(runs).collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" The machine of the tester {}.", parts.join(", and "))
    }
}

/// Returns an amount of memory as `/proc/meminfo` gives it in a readable unit: `24683656 kB` becomes `23.5 GiB`. Anything else stays as it is.
fn readable_memory(text: &str) -> String {
    let kibibytes = text
        .strip_suffix(" kB")
        .and_then(|number| number.parse::<u32>().ok());
    kibibytes.map_or_else(
        || text.to_owned(),
        |kibibytes| {
            format!(
                "{}\u{a0}GiB",
                three_digits(f64::from(kibibytes) / 1_048_576.0)
            )
        },
    )
}

fn devices(digest: &Digest<'_>, has_versions: bool) -> Paragraph {
    let paragraph = Paragraph::new("Devices and tests")
        .text("The tests, with the device under test and the measurement of each, are in ");
    let paragraph = paragraph
        .refer("tests")
        .text(", their parameters in ")
        .refer("parameters")
        .text(".");
    let paragraph = if has_versions {
        paragraph
            .text(" The versions of the devices are in ")
            .refer("devices")
            .text("; their configuration files are part of the data")
    } else {
        paragraph.text(" The plan is part of the data")
    };
    paragraph
        .cite(run_key(digest))
        .text(format!(".{}", sizes(digest.input.plan)))
}

/// The meaning of a frame size, as the end of a sentence.
const SIZE_IS: &str = "those of the IPv6 frame with its FCS; the IPv4 frame of the same size is 20 octets shorter (RFC 8219 section 5.1.1).";

/// Returns the sentence on frame sizes; empty for a plan without frames.
fn sizes(plan: &Plan) -> String {
    let of_frames = plan
        .tests
        .iter()
        .filter(|test| test.measure.family().has_frame_sizes());
    let (mixed, single): (Vec<&Test>, Vec<&Test>) =
        of_frames.partition(|test| test.traffic.size_mix.is_some());
    let sizes = each_once(
        single
            .iter()
            .flat_map(|test| test.frame_sizes.iter().map(|size| size.0)),
    );
    let of_mixes = each_once(mixed.iter().map(|test| test.sizes_in_words()));
    let of_mixes = (!of_mixes.is_empty()).then(|| {
        format!(
            " Frames of several sizes are mixed in each trial of some tests ({}).",
            of_mixes.join("; ")
        )
    });
    let of_single = match (&sizes[..], &of_mixes) {
        ([], None) => String::new(),
        ([], Some(_)) => format!(" Frame sizes are {SIZE_IS}"),
        (sizes, _) => format!(" Frame sizes ({} octets) are {SIZE_IS}", enumerated(sizes)),
    };
    of_single + &of_mixes.unwrap_or_default()
}

fn procedure(plan: &Plan) -> Paragraph {
    let trial = &plan.trial;
    let what = if plan.has_others_than_queries() {
        "residual frames"
    } else {
        "late answers"
    };
    let profile = match plan.profile {
        Profile::Rfc => " These are the durations and repetitions of RFC 2544 and RFC 8219.",
        Profile::Draft | Profile::Smoke => {
            " The durations are shorter than those of RFC 2544 and RFC 8219."
        }
        Profile::Custom => "",
    };
    let trials = format!(
        "Unless a test says otherwise, a trial sent for {}, waited for {what} for up to {}, and was followed by a rest of {}.{}{profile}",
        seconds(trial.duration_ns),
        seconds(trial.residual_ns),
        seconds(trial.rest_ns),
        match trial.frame_timeout_ns {
            0 => String::new(),
            timeout => format!(
                " What arrived more than {} after its sending did not count as received.",
                parameters::time(timeout)
            ),
        },
    );
    let text = [trials, search(plan), repetitions(plan), randomness(plan)].concat();
    Paragraph::new("Procedure").text(text)
}

fn search(plan: &Plan) -> String {
    if !plan
        .tests
        .iter()
        .any(|test| test.measure.is_searched_rate() || test.measure.is_at_throughput())
    {
        return String::new();
    }
    let search = &plan.search;
    let units = each_once(
        plan.tests
            .iter()
            .filter(|test| test.measure.is_searched_rate())
            .map(|test| test.measure.family().noun()),
    );
    let unit = if let [noun] = units[..] {
        noun
    } else {
        Noun::Frames
    }
    .per_second_and_direction();
    let goals: Vec<String> = search
        .goals
        .iter()
        .map(|goal| goal.to_string().replace(' ', "\u{a0}"))
        .collect();
    format!(
        " Rates were searched for by {} between {} and {} {unit}, until the bounds were no further apart than {}\u{a0}% of the upper \
         one; the accepted loss was {}; {}.{} A load at which {} trials in a row were invalid counted as beyond the tester.",
        search.method.info().title,
        whole(search.minimum.0),
        whole(search.maximum.0),
        parameters::percent_of(search.width),
        enumerated(&goals),
        search.start.phrase(),
        certainty(search),
        search.max_invalid
    )
}

/// Returns the sentence on the attributes of search goals, if the plan sets them.
fn certainty(search: &SearchSettings) -> String {
    search.certainty.map_or_else(String::new, |certainty| {
        format!(
            " By the search goals of RFC 9971, {} of trials of full length decided on a load, of which {}\u{a0}% might lose more than was \
             accepted.",
            show_ns(certainty.duration_sum_ns),
            parameters::percent_of(certainty.exceed_ratio)
        )
    })
}

fn repetitions(plan: &Plan) -> String {
    let rules = each_once(plan.tests.iter().map(|test| test.repetitions));
    let rules: Vec<String> = rules
        .iter()
        .map(|rule| match *rule {
            Repetition::Fixed(1) => "once".to_owned(),
            Repetition::Fixed(count) => format!("{count} times"),
            Repetition::Adaptive { least, most, within } => format!(
                "{least} to {most} times, until the 95\u{a0}% interval of the median was within {}\u{a0}% of it",
                parameters::percent_of(within)
            ),
        })
        .collect();
    let order = if plan.interleave {
        "Repetitions went round all devices, every second round backwards."
    } else {
        "The devices were measured one after the other; the repetitions of each went round its points, every second round backwards."
    };
    let how = if rules.len() > 1 {
        " (which test how often is in the table of parameters)"
    } else {
        ""
    };
    format!(
        " Each point was measured {}{how}. {order}",
        rules.join(", or ")
    )
}

fn randomness(plan: &Plan) -> String {
    let medium = plan.link_rate.map(|rate| {
        format!(
            " The rate of the medium was {}.",
            parameters::bit_rate(rate)
        )
    });
    format!(
        " Pseudorandom sequences followed from the seed {}.{}",
        plan.seed,
        medium.unwrap_or_default()
    )
}

fn validity(digest: &Digest<'_>) -> Paragraph {
    let (input, records) = (digest.input, digest.input.records);
    let count = |verdict| {
        records
            .iter()
            .filter(|record| digest.verdict(record) == verdict)
            .count()
    };
    let invalid = count(Verdict::Invalid);
    let share = percentage(100.0 * invalid as f64 / records.len().max(1) as f64);
    let trials = part_of(invalid, records.len(), "trial");
    let made = match (invalid, records.len()) {
        (_, 0) => "No trial was made.".to_owned(),
        (0, _) => format!("{} was invalid.", capitalised(&trials)),
        (1, _) => format!("{trials} was invalid ({share}\u{a0}%)."),
        _ => format!("{trials} were invalid ({share}\u{a0}%)."),
    };
    let rule = format!(
        "Every received frame or answer was compared with the expected one. A trial was invalid, and decided nothing, where the tester sent too \
         slowly, stalled for more than {}, or was disturbed; disturbed trials were repeated, for up to {} for each point. ",
        parameters::time(input.plan.trial.stall_ns),
        parameters::time(input.plan.patience_ns)
    );
    let trust = trust::sentence(digest).map(|sentence| {
        format!(
            " {}",
            sentence.replacen("Trust:", "How far the figures may be trusted:", 1)
        )
    });
    let by_slices = digest
        .judged_by_slices()
        .map(|sentence| sentence.trim_end_matches('.').to_owned());
    let sentences = disturbed(digest)
        .into_iter()
        .chain(by_slices)
        .chain(recorded(&input.facts.warnings))
        .chain(digest.anomalies_in_brief());
    let warnings: String = sentences.map(|text| format!(" {text}.")).collect();
    Paragraph::new("Validity").text(rule + &made + &trust.unwrap_or_default() + &warnings)
}

/// Returns how many trials of each device other work disturbed, without those that were repeated, which decided nothing; `None` if there are none.
fn disturbed(digest: &Digest<'_>) -> Option<String> {
    let (plan, records) = (digest.input.plan, digest.input.records);
    let deciding = records
        .iter()
        .filter(|record| !record.result.was_made_again());
    let of_device = |record: &TrialRecord| {
        Some((
            digest.dut_title(plan.test(&record.point.test)?),
            record.is_disturbed(),
        ))
    };
    let devices = by_key(deciding.filter_map(of_device))
        .into_iter()
        .filter_map(|(device, trials)| {
            let disturbed = trials.iter().filter(|is_disturbed| **is_disturbed).count();
            (disturbed > 0)
                .then(|| format!("{device} in {}", part_of(disturbed, trials.len(), "trial")))
        });
    let devices: Vec<String> = devices.collect();
    (!devices.is_empty()).then(|| {
        format!(
            "Other work used the cores of {} that were not repeated",
            enumerated(&devices)
        )
    })
}

/// Returns what the warnings of a run state, each kind once and without the advice to its operator, which is no part of a paper. The counts of
/// [`disturbed`] replace the warnings of disturbed trials.
fn recorded(warnings: &[Warning]) -> Vec<String> {
    let stated = warnings
        .iter()
        .filter(|warning| !matches!(warning, Warning::DisturbedTrials { .. }));
    WarningKind::all_of(stated)
        .iter()
        .map(|kind| capitalised(&kind.in_brief(Warning::condition)))
        .collect()
}

fn deviations(plan: &Plan) -> Paragraph {
    let clauses: Vec<Clause> = of_plan(plan)
        .into_iter()
        .map(|(clause, _)| clause)
        .collect();
    let with_conformance = |conformance| -> Vec<&Clause> {
        clauses
            .iter()
            .filter(|clause| clause.conformance == conformance)
            .collect()
    };
    let (met, bent, broken) = (
        with_conformance(Conformance::Met),
        with_conformance(Conformance::Partial),
        with_conformance(Conformance::Violated),
    );
    let sections =
        |clauses: &[&Clause]| sections(&each_once(clauses.iter().map(|clause| clause.clause)));
    let named = |word: &str, clauses: &[&Clause]| match clauses {
        [] => format!("none is {word}"),
        [one] => format!("1 is {word} ({})", one.clause),
        clauses => format!("{} are {word} ({})", clauses.len(), sections(clauses)),
    };
    let text = format!(
        "Of the {} requirements of the RFCs that concern these tests, {} are met; {} (a SHOULD that is not met, or a requirement met in part); \
         and {} (a MUST that is not met).{}",
        clauses.len(),
        met.len(),
        named("bent", &bent),
        named("broken", &broken),
        unchecked(&with_conformance(Conformance::Unchecked))
    );
    let paragraph = Paragraph::new("Deviations from the RFCs").text(text);
    match bent.len() + broken.len() {
        0 => paragraph,
        _ => paragraph
            .text(" Each of these is in ")
            .refer("deviations")
            .text(", with what was done instead."),
    }
}

/// Returns a sentence on the clauses that were not judged; empty if there are none.
fn unchecked(clauses: &[&Clause]) -> String {
    match clauses {
        [] => String::new(),
        [one] => format!(
            " 1 was not checked against the text of the RFC, which was not read ({}).",
            one.clause
        ),
        several => {
            let cited = sections(&each_once(several.iter().map(|clause| clause.clause)));
            format!(
                " {} were not checked against the text of the RFC, which was not read ({cited}).",
                several.len()
            )
        }
    }
}

/// Returns the clauses grouped by document: `RFC 2544 sections 9 and 26.4; RFC 9693`.
fn sections(clauses: &[&'static str]) -> String {
    let parts = clauses
        .iter()
        .map(|clause| clause.split_once(" section ").unwrap_or((*clause, "")));
    let documents = by_key(parts)
        .into_iter()
        .map(|(document, sections)| match &sections[..] {
            [""] => document.to_owned(),
            [one] => format!("{document} section {one}"),
            several => format!("{document} sections {}", enumerated(several)),
        });
    documents.collect::<Vec<_>>().join("; ")
}

fn data(digest: &Digest<'_>) -> Paragraph {
    let input = digest.input;
    let command = match origin::command(input) {
        "" => String::new(),
        command => format!(" The run was started by the command: {command}."),
    };
    let labels = match origin::labels(input) {
        labels if labels.is_empty() => labels,
        labels => format!(" Its labels: {labels}."),
    };
    let paragraph = Paragraph::new("Data").text(
        "The record of every trial, the plan, the facts of the machine and the configuration of the devices are in the data set",
    );
    paragraph.cite(run_key(digest)).text(format!(
        "; every figure can be derived from them again.{command}{labels}"
    ))
}
