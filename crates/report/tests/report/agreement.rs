//! Numbers and the nouns and verbs behind them, in everything that is written about the sample runs and in every reviewed output.

use crate::formats::{html, latex, markdown, methods, terminal};
use crate::sample::Sample;
use std::path::{Path, PathBuf};

/// Plurals that a report counts.
const PLURALS: &str = "addresses answers changes clauses connections cores deviations devices disturbances expectations files findings flows frames \
    hosts machines measurements messages names panels parts points processors queries repetitions requests requirements results rows runs samples \
    searches seconds servers sizes steps subscribers tables tests threads trials values warnings";

/// Verbs that do not follow a single thing.
const PLURAL_VERBS: [&str; 5] = ["are", "were", "have", "do", "drift"];

/// Returns the phrases of a text in which a number and the words behind it do not agree, or that say `0 of` rather than `none of`.
fn disagreements(text: &str) -> Vec<String> {
    let text = text.replace(['\u{a0}', '~'], " ").replace("&nbsp;", " ");
    let lines = text
        .lines()
        .flat_map(|line| line.split(['|', '&', '<', '>', '"']));
    lines
        .flat_map(|cell| of_cell(&cell.split(' ').collect::<Vec<_>>()))
        .collect()
}

fn of_cell(words: &[&str]) -> Vec<String> {
    let at = |index: usize| {
        words
            .get(index)
            .copied()
            .unwrap_or_default()
            .trim_end_matches(|c: char| !c.is_alphanumeric())
    };
    let is_plural = |index: usize| PLURALS.split_whitespace().any(|plural| plural == at(index));
    let has_verb = |index: usize| PLURAL_VERBS.contains(&at(index));
    let is_number = |index: usize| {
        !at(index).is_empty() && at(index).chars().all(|c| c.is_ascii_digit() || c == ',')
    };
    let is_wrong = |index: usize| {
        let number = words[index].trim_start_matches(['(', '*']);
        let of_some = at(index + 1) == "of" && is_number(index + 2);
        match number {
            "0" => of_some && !at(index + 3).is_empty(),
            "1" if of_some => (at(index + 2) == "1" && is_plural(index + 3)) || has_verb(index + 4),
            "1" => is_plural(index + 1) || (at(index + 1) == "more" && is_plural(index + 2)),
            _ => false,
        }
    };
    let phrase =
        |index: usize| words[index.saturating_sub(2)..words.len().min(index + 6)].join(" ");
    (0..words.len())
        .filter(|index| is_wrong(*index))
        .map(phrase)
        .collect()
}

#[test]
fn a_number_that_does_not_agree_is_found() {
    let wrong = [
        "1 measurements",
        "in (1 trials)",
        "1 of 10 points have",
        "1 of 1 points",
        "1\u{a0}more panels",
        "0 of 3 trials",
    ];
    for text in &wrong {
        assert!(!disagreements(text).is_empty(), "{text}");
    }
    let right = "1 measurement, 21 trials, 1.1 frames, 1 of 10 points has, 1 of 1 point, 1 more panel, none of 3 trials | 0 of 3 |";
    assert_eq!(disagreements(right), Vec::<String>::new());
}

/// Returns the sample runs, with names.
fn samples() -> Vec<(&'static str, Sample)> {
    vec![
        ("complete", Sample::complete()),
        ("empty", Sample::empty()),
        ("dns", Sample::of_dns_servers()),
        ("repeated queries", Sample::of_repeated_queries(|_| true)),
        ("every measure", Sample::of_every_measure()),
        ("clients", Sample::of_clients()),
        ("chains", Sample::of_chains()),
        ("every status", Sample::of_every_status()),
        ("soak", Sample::of_a_soak()),
        ("new connections", Sample::of_new_connections()),
        ("stateful", Sample::of_stateful_gateways()),
    ]
}

#[test]
fn what_is_written_about_the_sample_runs_counts_in_words_that_agree() {
    for (name, sample) in samples() {
        let input = sample.input();
        let texts = [
            html(&input).expect("a page"),
            markdown(&input),
            latex(&input),
            terminal(&input, 100, false),
        ];
        for text in texts.into_iter().chain(methods(&input)) {
            assert_eq!(disagreements(&text), Vec::<String>::new(), "{name}");
        }
    }
}

/// Returns the reviewed outputs of all crates.
fn reviewed(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path());
    let (directories, files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.partition(|path| path.is_dir());
    let is_reviewed = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "snap")
    };
    let below = directories.iter().flat_map(|directory| reviewed(directory));
    files.into_iter().filter(is_reviewed).chain(below).collect()
}

#[test]
fn every_reviewed_output_counts_in_words_that_agree() {
    let files = reviewed(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    assert!(files.len() > 50, "{} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a reviewed output");
        assert_eq!(
            disagreements(&text),
            Vec::<String>::new(),
            "{}",
            file.display()
        );
    }
}
