//! What the results are based on: how much was measured, for how long, how often, and what the numbers do not say.

use crate::Input;
use crate::digest::Digest;
use crate::findings::status;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{count, seconds, stretch};
use sixbench_method::lists::each_once;
use sixbench_method::measures::SendingTime;
use sixbench_method::plan::{Measure, Plan, Profile, Test};
use sixbench_method::record::{Cable, CableEnd, DutFacts, Facts, LinkKind};
use sixbench_method::repeat::Repetition;
use sixbench_method::throughput::saved;
use sixbench_method::trial::Verdict;
use sixbench_method::units::part_of;
use std::collections::BTreeSet;

/// Returns how many of the planned points have a result, how many of their repetitions were made if not all, and why points were not run.
pub(crate) fn results(digest: &Digest) -> Vec<String> {
    let (made, planned) = digest.repetitions();
    let repetitions = if made < planned {
        format!(
            ", {} made",
            part_of(made as usize, planned as usize, "repetition")
        )
    } else {
        String::new()
    };
    std::iter::once(format!("{}{repetitions}.", status::counted(digest)))
        .chain(status::not_run(digest))
        .collect()
}

/// Returns the number of trials by verdict.
pub(crate) fn trials(digest: &Digest) -> String {
    format!(
        "{}: {} passed, {} {}, {} invalid",
        count(digest.input.records.len() as u64, "trial"),
        digest.counted(Verdict::Passed),
        digest.counted(Verdict::Lost),
        digest.lost_word("lost frames"),
        digest.counted(Verdict::Invalid),
    )
}

/// Returns the sentences on what the numbers mean and what they do not.
pub(crate) fn notice(digest: &Digest) -> Vec<String> {
    let plan = digest.input.plan;
    let repetitions: BTreeSet<String> = plan
        .tests
        .iter()
        .filter(|test| test.measure.family().has_load())
        .map(|t| repetitions(t.repetitions))
        .collect();
    let repetitions: Vec<String> = repetitions.into_iter().collect();
    let mut notice = vec![links(digest.input.facts).to_owned()];
    if !repetitions.is_empty() {
        notice.push(format!(
            "A trial lasted {} (RFC 2544 section 24: at least 60 s){} and each measurement was made {} times (RFC 8219: at \
             least 20).{}",
            seconds(plan.trial.duration_ns),
            own_durations(plan),
            repetitions.join(" or "),
            if digest.has_queries_and_others().1 { " All frame rates are per direction." } else { "" },
        ));
    }
    notice.extend(shared_searches(digest));
    notice.extend(digest.judged_by_slices());
    notice
}

const VIRTUAL: &str = "Tester and devices share one machine and are joined by virtual links (veth): the numbers rank these devices on this machine. They \
                       do not show the performance over a wire and must not be compared with those of other machines.";
const IN_MEMORY: &str = "Tester and devices share one machine and its memory: the numbers rank these devices on this machine. They do not show the \
                         performance over a wire and must not be compared with those of other machines.";
const CABLED: &str = "Frames left the tester by its own interfaces, which the plan names. The numbers hold for the machines, ports and settings below: compare \
                      them with those of the same machines.";
const ONE_MACHINE: &str = "Tester and devices share one machine. Some devices were joined to the tester by virtual links (veth), others by shared memory; the \
                           layout below says which. The numbers rank the devices of each kind on this machine. They do not show the performance over a wire \
                           and must not be compared with those of other machines, nor the ones with the others.";
const MIXED: &str = "Some devices were joined to the tester by virtual links (veth) or shared memory, others by interfaces that the plan names; the layout \
                     below says which. Do not compare the ones with the others.";
const UNKNOWN: &str = "Tester and devices share one machine and are joined by virtual links (veth) unless the layout below says otherwise: the \
                       numbers rank these devices on this machine. They do not show the performance over a wire and must not be compared with \
                       those of other machines.";

/// Returns the sentence on what the numbers say, by the links between tester and devices.
fn links(facts: &Facts) -> &'static str {
    let kinds: BTreeSet<LinkKind> = facts.duts.values().map(DutFacts::link_kind).collect();
    let kinds: Vec<LinkKind> = kinds.into_iter().collect();
    match kinds[..] {
        [] => UNKNOWN,
        _ if kinds.contains(&LinkKind::Unknown) => UNKNOWN,
        [LinkKind::Virtual] => VIRTUAL,
        [LinkKind::SharedMemory] => IN_MEMORY,
        [LinkKind::Interfaces] => CABLED,
        _ if kinds.contains(&LinkKind::Interfaces) => MIXED,
        _ => ONE_MACHINE,
    }
}

/// A cable, and the devices whose testbed has it.
struct DrawnCable<'a> {
    devices: Vec<&'a str>,
    cable: &'a Cable,
}

/// Returns the cables of the testbed as a table, from the tester's left port to its right one. It has no rows without interfaces.
pub(crate) fn cables(facts: &Facts) -> Table {
    let mut drawn: Vec<DrawnCable<'_>> = Vec::new();
    for (name, dut) in &facts.duts {
        for cable in &dut.cables {
            match drawn.iter_mut().find(|known| known.cable == cable) {
                Some(known) => known.devices.push(name),
                None => drawn.push(DrawnCable {
                    devices: vec![name],
                    cable,
                }),
            }
        }
    }
    let columns = [
        Column::text("From", |row: &DrawnCable<'_>| place(&row.cable.left)),
        Column::text("Driver", |row: &DrawnCable<'_>| driver(&row.cable.left)),
        Column::text("Speed", |row: &DrawnCable<'_>| speed(&row.cable.left)),
        Column::text("To", |row: &DrawnCable<'_>| place(&row.cable.right)),
        Column::text("Driver", |row: &DrawnCable<'_>| driver(&row.cable.right)),
        Column::text("Speed", |row: &DrawnCable<'_>| speed(&row.cable.right)),
        Column::text("Devices", |row: &DrawnCable<'_>| row.devices.join(", ")),
    ];
    Table::new("Cables", columns, drawn)
}

fn place(end: &CableEnd) -> String {
    match &end.port {
        Some(port) => format!("{} {port}", end.machine),
        None => end.machine.clone(),
    }
}

fn driver(end: &CableEnd) -> String {
    end.driver.clone().unwrap_or_default()
}

fn speed(end: &CableEnd) -> String {
    end.speed_in_words().unwrap_or_default()
}

/// Returns a sentence about what was saved by searching for each throughput only once, or `None` if nothing was.
fn shared_searches(digest: &Digest) -> Option<String> {
    let saved = saved(digest.input.plan, digest.input.outcomes);
    (saved.points > 0).then(|| {
        format!(
            "Every throughput was searched for in one test only, and measurements at the throughput use the median of those \
             searches: for {}, this saved searches of {} in total, {} or more.",
            count(saved.points.into(), "point"),
            count(saved.trials.into(), "trial"),
            stretch(saved.time_ns / 1_000_000_000),
        )
    })
}

/// Returns the durations of measures that set their own: `, of latency 120 s`.
fn own_durations(plan: &Plan) -> String {
    let duration = |measure: &Measure| match measure.sending() {
        _ if !measure.family().has_load() => None,
        SendingTime::For(ns) => Some(ns),
        SendingTime::AsPlanned | SendingTime::AtMost(_) | SendingTime::UntilConnected => None,
    };
    let phrase = |t: &Test| {
        duration(&t.measure).map(|ns| format!(", of {} {}", t.measure.name(), seconds(ns)))
    };
    each_once(plan.tests.iter().filter_map(phrase)).concat()
}

/// Returns the planned repetitions: `20`, or `6 to 20`; the tables have the actual number.
fn repetitions(repetition: Repetition) -> String {
    match repetition {
        Repetition::Fixed(count) => count.to_string(),
        Repetition::Adaptive { least, most, .. } => format!("{least} to {most}"),
    }
}

/// Returns a sentence on what a conformant run would take; `None` if the plan has the profile `rfc` or the cost is unknown.
pub(crate) fn conformant_run(input: &Input) -> Option<String> {
    let budget = input
        .rfc_budget
        .filter(|_| input.plan.profile != Profile::Rfc)?;
    let (trials, time) = (
        count(budget.trials.into(), "trial"),
        stretch(budget.seconds),
    );
    Some(format!("The conformant run would need {trials}, {time}:"))
}
