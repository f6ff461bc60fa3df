//! What a report says of trust in one place, it denies in no other: not in a note, a table, a status or another format. The statements are read from the
//! texts as a person reads them, so that it does not matter which code makes them.

use crate::formats::{html, json, markdown, methods, terminal};
use crate::sample::Sample;
use sixbench_method::terms::Direction;
use sixbench_method::trial::Fault;
use sixbench_stats::SplitMix64;

/// The number of random runs; each is rendered in four formats. `SIXBENCH_RUNS` makes it another.
const RANDOM_RUNS: u64 = 60;

/// Levels, from the best to the worst.
const LEVELS: [&str; 3] = ["high", "fair", "low"];

/// The statements of one text.
#[derive(Debug)]
struct Statements {
    /// The index of the level in [`LEVELS`].
    level: usize,
    /// The disturbed trials and all trials, of the line on trust.
    disturbed: Option<[u64; 2]>,
    /// The disturbed trials and all trials, of those that were not made again, of the note.
    not_made_again: Option<[u64; 2]>,
    /// Phrases that are at odds with trust better than a level, each with this level.
    phrases: Vec<(&'static str, usize)>,
}

/// Phrases of notes, statuses and warnings, with the best level that each is compatible with.
const PHRASES: [(&str, usize); 8] = [
    ("Run again on a quiet machine", 1),
    ("nothing is known about the spread", 1),
    (" drifts: by ", 1),
    (" is bimodal: ", 1),
    ("other work used the device's processors", 1),
    ("may have ended the search", 1),
    ("the tester fell short at every load", 2),
    ("every trial of the measurement was invalid", 2),
];

impl Statements {
    /// Reads them from a text without mark-up; `None` if it has no line on trust.
    fn of(text: &str) -> Option<Self> {
        let text = plain(text);
        let line = text.split("Trust: ").nth(1)?;
        let level = LEVELS
            .iter()
            .position(|level| line.starts_with(level))
            .expect("a level");
        let disturbed = numbers_after(&text, "ther work disturbed ", "");
        let not_made_again =
            numbers_after(&text, "device or the tester in ", " that were not repeated");
        let phrases = PHRASES
            .into_iter()
            .filter(|(phrase, _)| text.contains(phrase))
            .collect();
        Some(Self {
            level,
            disturbed,
            not_made_again,
            phrases,
        })
    }

    /// Fails if two of them contradict each other.
    fn check(&self, context: &str) {
        for (phrase, best) in &self.phrases {
            assert!(
                self.level >= *best,
                "trust is {} beside \"{phrase}\": {context}",
                LEVELS[self.level]
            );
        }
        let Some([disturbed, all]) = self.disturbed else {
            assert_eq!(
                self.not_made_again, None,
                "only the note tells of disturbed trials: {context}"
            );
            return;
        };
        assert!(
            disturbed <= all && (10 * disturbed <= all || self.level > 0),
            "{self:?}: {context}"
        );
        if let Some([part, of]) = self.not_made_again {
            assert!(
                0 < part && part <= disturbed && of <= all,
                "{self:?}: {context}"
            );
            assert_eq!(
                disturbed - part,
                all - of,
                "both count the trials that were made again: {self:?}: {context}"
            );
        }
    }
}

/// Returns the text of a page, of Markdown or of a terminal in one line, without tags and marks.
fn plain(text: &str) -> String {
    let outside_of_tags = |part: &str| {
        part.split_once('>')
            .map_or(part.to_owned(), |(_, rest)| rest.to_owned())
    };
    let text = if text.starts_with("<!DOCTYPE") {
        text.split('<')
            .map(outside_of_tags)
            .collect::<Vec<_>>()
            .join(" ")
    } else {
        text.to_owned()
    };
    let text = text
        .replace("&#x27;", "'")
        .replace("&#39;", "'")
        .replace(['\\', '*'], "");
    text.replace('\u{a0}', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the two numbers of `START 3 of 7 [trials]END`; `none` is zero.
fn numbers_after(text: &str, start: &str, end: &str) -> Option<[u64; 2]> {
    text.split(start).skip(1).find_map(|rest| {
        let (phrase, after) = rest.split_once(" trial")?;
        let (part, of) = phrase.split_once(" of ")?;
        let part = if part == "none" { "0" } else { part };
        after
            .trim_start_matches('s')
            .starts_with(end)
            .then_some([part.parse().ok()?, of.parse().ok()?])
    })
}

/// Fails if statements of this run contradict each other, within a format or between two.
fn check(sample: &Sample, name: &str) {
    let input = sample.input();
    let json: serde_json::Value = serde_json::from_str(&json(&input)).expect("JSON");
    let texts = [
        ("terminal", terminal(&input, 100, false)),
        ("page", html(&input).expect("a page")),
        ("Markdown", markdown(&input)),
    ];
    for (format, text) in texts {
        let context = format!("{format} of {name}");
        let Some(said) = Statements::of(&text) else {
            assert!(json["trust"].is_null(), "{context}");
            continue;
        };
        said.check(&context);
        assert_eq!(json["trust"]["level"], LEVELS[said.level], "{context}");
        check_against_data(&json, &said, &context);
    }
}

/// Fails if the data of the run are at odds with what a text says of trust.
fn check_against_data(json: &serde_json::Value, said: &Statements, context: &str) {
    let reasons = json["trust"]["reasons"].as_array().expect("reasons");
    let counts = reasons
        .iter()
        .map(|reason| &reason["found"])
        .find(|found| found["finding"] == "disturbed-trials");
    let count = |key: &str| {
        counts
            .and_then(|counts| counts[key].as_u64())
            .expect("a count")
    };
    let of_data = ["made-again", "passed", "lost", "invalid"]
        .map(count)
        .iter()
        .sum::<u64>();
    if let Some(said) = said.disturbed {
        assert_eq!(said, [of_data, count("trials")], "{context}");
    }
    for point in json["points"].as_array().expect("points") {
        let best = match (point["status"].as_str(), point["reason"].as_str()) {
            (Some("no-result"), _) => 2,
            (_, Some("machine-disturbed")) => 1,
            _ => 0,
        };
        assert!(
            said.level >= best,
            "trust is {} beside {}: {context}",
            LEVELS[said.level],
            point["status"]
        );
        for quantity in point["quantities"].as_array().into_iter().flatten() {
            assert!(
                said.level >= best_for(quantity),
                "trust is {} beside {quantity}: {context}",
                LEVELS[said.level]
            );
        }
    }
}

/// Returns the best level that the printed repetitions of a quantity allow.
fn best_for(quantity: &serde_json::Value) -> usize {
    const DELAYS: [&str; 6] = [
        "typical-latency",
        "worst-case-latency",
        "pdv",
        "minimum-delay",
        "high-delay",
        "recovery-time",
    ];
    let name = quantity["quantity"].as_str().unwrap_or_default();
    let number = |key: &str| quantity["summary"][key].as_f64().unwrap_or_default();
    let spread = (number("max") - number("min")) / number("median");
    match spread {
        _ if number("n") == 1.0 => 1,
        spread if DELAYS.contains(&name) && spread > 0.301 => 2,
        spread if DELAYS.contains(&name) && spread > 0.101 => 1,
        _ => 0,
    }
}

/// Spoils random trials: others took the processors from the device or the tester, the tester stalled, trials were made again, or few repetitions are
/// left.
fn spoil(mut sample: Sample, seed: u64) -> Sample {
    let mut random = SplitMix64::new(seed);
    let share = [0.0, 0.03, 0.2, 0.7, 1.0][(random.next_u64() % 5) as usize];
    let most = [1, 2, 3][(random.next_u64() % 3) as usize];
    sample.records.retain(|record| record.repetition <= most);
    for record in &mut sample.records {
        if random.uniform() >= share {
            continue;
        }
        let milliseconds = record.result.spec.duration_ns
            / 1_000_000
            / [2, 5, 100][(random.next_u64() % 3) as usize];
        let stall = Fault::SenderStalled {
            direction: Direction::Forward,
            worst_lateness_ns: 4_000_000,
            frames: 900,
        };
        match random.next_u64() % 6 {
            0 | 1 => record.result.faults.push(Fault::CpuTaken { milliseconds }),
            2 => record.result.faults.push(Fault::CpuStolen { milliseconds }),
            3 => record.result.faults.push(stall),
            4 => record.result.faults.extend([
                stall,
                Fault::TesterKeptOff {
                    microseconds: 4_000,
                },
            ]),
            _ => record.result.faults.extend([
                Fault::CpuTaken { milliseconds },
                Fault::MadeAgain { as_accident: false },
            ]),
        }
    }
    sample.replayed()
}

#[test]
fn trust_contradicts_no_statement_of_the_sample_runs() {
    let samples = [
        ("a complete run", Sample::complete()),
        ("a run of every measure", Sample::of_every_measure()),
        ("a run with every status", Sample::of_every_status()),
        ("DNS servers", Sample::of_dns_servers()),
        ("clients of relays", Sample::of_clients()),
        ("chains", Sample::of_chains()),
        ("repeated chains", Sample::of_repeated_chains()),
        ("a soak", Sample::of_a_soak()),
        ("new connections", Sample::of_new_connections()),
        ("stateful gateways", Sample::of_stateful_gateways()),
        ("an empty run", Sample::empty()),
    ];
    for (name, sample) in &samples {
        check(sample, name);
    }
}

#[test]
fn trust_contradicts_no_statement_of_random_runs() {
    let runs = std::env::var("SIXBENCH_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(RANDOM_RUNS);
    for seed in 0..runs {
        check(
            &spoil(Sample::of_chance(seed), seed ^ 0x5eed),
            &format!("the run of seed {seed}"),
        );
    }
}

#[test]
fn trials_that_pass_while_others_have_the_processors_are_in_the_line_on_trust() {
    let mut sample = Sample::of_every_measure().only(&["latency"]);
    for record in &mut sample.records {
        record.result.faults.push(Fault::CpuTaken {
            milliseconds: record.result.spec.duration_ns / 2_000_000,
        });
    }
    let said = plain(&terminal(&sample.input(), 100, false));
    let all = sample.records.len();
    assert!(
        said.starts_with(&format!(
            "Trust: low. Other work disturbed {all} of {all} trials (100 %): "
        )),
        "{said}"
    );
    assert!(
        said.contains(&format!(
            "device or the tester in {all} of {all} trials that were not repeated."
        )),
        "{said}"
    );
}

#[test]
fn a_disturbed_trial_that_is_judged_by_its_undisturbed_loss_is_told_on_the_page_and_in_the_methods()
{
    let mut sample = Sample::complete();
    let says = |sample: &Sample| {
        [
            plain(&html(&sample.input()).expect("a page")),
            plain(&methods(&sample.input())[0]),
        ]
        .map(|text| text.contains("One disturbed trial was not repeated: what was lost"))
    };
    let lost = sample
        .records
        .iter_mut()
        .find(|record| record.result.not_received() > 100)
        .expect("a trial with loss");
    lost.result
        .faults
        .push(Fault::CpuTaken { milliseconds: 100 });
    assert_eq!(says(&sample), [false; 2]);
    let record = sample
        .records
        .iter_mut()
        .find(|record| !record.result.faults.is_empty())
        .expect("the same");
    let lost = record.result.directions.iter().map(|way| way.lost());
    let lost = lost.collect();
    record.result.set_lost_undisturbed(lost);
    assert_eq!(says(&sample), [true; 2]);
}

#[test]
fn a_wide_spread_of_the_worst_case_latency_alone_costs_trust() {
    use sixbench_method::measures::Quantity;
    let mut sample = Sample::of_every_measure().only(&["latency"]);
    assert!(terminal(&sample.input(), 100, false).starts_with("Trust: high."));
    let worst = sample.outcomes[0]
        .values
        .iter_mut()
        .filter(|value| value.quantity == Quantity::WorstCaseLatency);
    worst.for_each(|value| value.value *= 50.0);
    let said = plain(&terminal(&sample.input(), 100, false));
    assert!(
        said.starts_with("Trust: low.") && said.contains("Worst-case latency, n = 3)"),
        "{said}"
    );
}
