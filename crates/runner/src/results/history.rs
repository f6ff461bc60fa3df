//! A history: the page about the results directories in a folder, ordered by time or by the values of a label.

use super::collection::{CollectedRun, Collection, collect};
use super::differences::changes_since;
use super::own_files::OwnFile;
use super::reporting::generated;
use super::store::{self, StoreError};
use crate::error::RunError;
use crate::version::VERSION;
use jiff::{Timestamp, tz::TimeZone};
use sixbench_method::record::Facts;
use sixbench_report::history::{HistoryDocument, HistoryInput, HistoryRun};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A request to write the history of a folder.
pub struct HistoryRequest<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// The file of the page, by default `history.html` in the folder.
    pub page: Option<&'a Path>,
    /// The label by which the runs are ordered and named. By default, they are ordered by time.
    pub label: Option<&'a str>,
}

/// A history that was written.
pub struct WrittenHistory {
    /// The page.
    pub page: PathBuf,
    /// The same content as JSON, next to the page.
    pub data: PathBuf,
    /// The directories that were left out, with the reasons.
    pub skipped: Vec<String>,
    /// A text about the changes.
    pub summary: String,
}

/// Writes the history of a folder.
///
/// # Errors
/// The folder has no readable results, or none with the label, or the page cannot be written.
pub fn write_history(request: &HistoryRequest<'_>) -> Result<WrittenHistory, RunError> {
    let Collection { runs, mut skipped } = collect(request.folder)?;
    let runs = match request.label {
        Some(key) => by_label(runs, key, &mut skipped),
        None => runs,
    };
    if runs.is_empty() {
        return Err(StoreError::NoneBelow {
            folder: request.folder.to_owned(),
            skipped,
        }
        .into());
    }
    let (page, data) = files_of(request)?;
    // The links of the page are relative to this folder.
    let pages = Path::new(".").join(store::make_folder_of(&page)?.path());
    let entries = entries(&runs, request.label, &pages);
    let input = HistoryInput {
        title: &title(request.folder),
        label: request.label,
        generated: &generated(),
        sixbench: VERSION,
        runs: &entries,
        skipped: &skipped,
    };
    let document = HistoryDocument::new(&input);
    let (html, json, summary) = (document.html()?, document.json(), document.summary());
    for (path, text) in [(&page, html), (&data, json)] {
        store::write_file(path, &text)?;
    }
    Ok(WrittenHistory {
        page,
        data,
        skipped,
        summary,
    })
}

/// Returns the paths of the page and of its data.
///
/// # Errors
/// Both would be the same file, or one of them is a file that no history has written.
fn files_of(request: &HistoryRequest<'_>) -> Result<(PathBuf, PathBuf), StoreError> {
    let page = request
        .page
        .map_or_else(|| request.folder.join("history.html"), Path::to_owned);
    let data = page.with_extension("json");
    if data == page {
        return Err(StoreError::PageIsData(page));
    }
    OwnFile::Page.check(&page)?;
    OwnFile::HistoryData.check(&data)?;
    Ok((page, data))
}

/// Returns the name of a folder, regardless of how its path is given.
fn title(folder: &Path) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(
        || folder.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Returns the runs that have a label, grouped by its value. If all values are versions or numbers, they determine the order; otherwise, as for
/// commit hashes, it is the order in which the values were first measured.
fn by_label(runs: Vec<CollectedRun>, key: &str, skipped: &mut Vec<String>) -> Vec<CollectedRun> {
    let value = |run: &CollectedRun| run.stored.facts.labels.get(key).cloned();
    let (mut with, without): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| value(run).is_some());
    skipped.extend(
        without
            .iter()
            .map(|run| format!("{}: no label {key}", run.directory.display())),
    );
    let mut first: BTreeMap<String, Timestamp> = BTreeMap::new();
    for run in &with {
        first
            .entry(value(run).unwrap_or_default())
            .or_insert(run.started);
    }
    let are_versions = first.keys().all(|value| version(value).is_some());
    with.sort_by_cached_key(|run| {
        let value = value(run).unwrap_or_default();
        let order = if are_versions { version(&value) } else { None };
        (order, first.get(&value).copied(), value, run.started)
    });
    with
}

/// The parts of a version by which it is ordered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    numbers: Vec<u32>,
    is_release: bool,
    suffix: Vec<SuffixPart>,
}

/// A part of what follows the numbers of a version: `-rc`, then 3.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SuffixPart {
    Number(u64),
    Text(String),
}

/// The beginnings of suffixes of versions that come before the release.
const BEFORE_RELEASE: [&str; 6] = ["~", "-alpha", "-beta", "-dev", "-pre", "-rc"];

/// Returns the parts of a version such as `v6.1.12`, `6.12-rc3` or `6.1.0-18-amd64`, or `None` for other text.
fn version(text: &str) -> Option<Version> {
    const LONGEST_NUMBER: usize = 6;
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let is_suffix = rest.is_empty() || rest.starts_with(['-', '~', '+']);
    let numbers: Option<Vec<u32>> = numbers
        .split('.')
        .map(|n| n.parse().ok().filter(|_| n.len() <= LONGEST_NUMBER))
        .collect();
    numbers.filter(|_| is_suffix).map(|numbers| Version {
        numbers,
        is_release: !is_before_release(rest),
        suffix: suffix_parts(rest),
    })
}

/// Returns whether a suffix is one of a version before the release, and not a word that begins like one, such as `-preempt`.
fn is_before_release(suffix: &str) -> bool {
    let is_whole = |after: &str| !after.starts_with(|c: char| c.is_ascii_alphabetic());
    BEFORE_RELEASE.iter().any(|mark| {
        suffix
            .strip_prefix(mark)
            .is_some_and(|after| *mark == "~" || is_whole(after))
    })
}

/// Returns the parts of a suffix, its numbers as such: `-9` comes before `-18`.
fn suffix_parts(suffix: &str) -> Vec<SuffixPart> {
    let mut parts = Vec::new();
    let mut rest = suffix;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != is_number)
            .unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        // A number with more digits than 64 bits hold is compared as text.
        parts.push(match part.parse() {
            Ok(number) if is_number => SuffixPart::Number(number),
            _ => SuffixPart::Text(part.to_owned()),
        });
        rest = behind;
    }
    parts
}

/// Returns the runs as entries of the page, each compared with the previous one.
fn entries<'r>(runs: &'r [CollectedRun], label: Option<&str>, pages: &Path) -> Vec<HistoryRun<'r>> {
    let mut before: Option<&Facts> = None;
    let mut entry = |run: &'r CollectedRun| {
        let facts = &run.stored.facts;
        let started = run.started.to_zoned(TimeZone::UTC);
        let of_label = label.and_then(|key| facts.labels.get(key)).cloned();
        let report = run.directory.join("report.html");
        HistoryRun {
            name: of_label.unwrap_or_else(|| started.strftime("%Y-%m-%d %H:%M").to_string()),
            started: started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
            directory: run.directory.display().to_string(),
            link: report.exists().then(|| link(pages, &report)).flatten(),
            plan: &run.stored.plan,
            outcomes: &run.outcomes,
            records: &run.stored.records,
            facts,
            changed: before
                .replace(facts)
                .map(|before| changes_since(before, facts))
                .unwrap_or_default(),
        }
    };
    runs.iter().map(&mut entry).collect()
}

/// Returns the relative URL of a file for pages in a folder.
fn link(pages: &Path, file: &Path) -> Option<String> {
    let (from, to) = (pages.canonicalize().ok()?, file.canonicalize().ok()?);
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(common).map(|_| "..".to_owned());
    let down = to.components().skip(common).map(|part| encoded(&part));
    Some(up.chain(down).collect::<Vec<_>>().join("/"))
}

/// Returns a component of a path, encoded for a URL.
fn encoded(part: &Component<'_>) -> String {
    let octets = part.as_os_str().as_encoded_bytes();
    let is_plain = |octet: &u8| octet.is_ascii_alphanumeric() || b"-._~".contains(octet);
    octets
        .iter()
        .map(|octet| {
            if is_plain(octet) {
                char::from(*octet).to_string()
            } else {
                format!("%{octet:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers_and_hashes_are_none() {
        for ordered in [
            &["4.9", "v4.10-rc2", "v4.10-rc10", "4.10", "4.10.1", "12"][..],
            &["6.1.0-9-amd64", "6.1.0-18-amd64", "6.1.0-18-cloud-amd64"],
            &["5.15.0", "5.15.0-preempt"],
            &["2.0-alpha", "2.0-beta1", "2.0-rc1", "2.0", "2.0-1"],
        ] {
            let parts: Vec<Version> = ordered
                .iter()
                .map(|text| version(text).expect("a version"))
                .collect();
            assert!(parts.is_sorted(), "{ordered:?}");
        }
        for other in ["3f2a1c9", "main", "", "1234567", "6.1.x"] {
            assert_eq!(version(other), None, "{other}");
        }
    }

    #[test]
    fn a_link_is_relative_to_the_page_and_its_odd_characters_are_encoded() {
        let folder = std::env::temp_dir().join(format!("sixbench-link-{}", std::process::id()));
        let (run, pages) = (folder.join("a b#1"), folder.join("pages"));
        for directory in [&run, &pages] {
            std::fs::create_dir_all(directory).expect("a directory");
        }
        let report = run.join("report.html");
        std::fs::write(&report, "").expect("a file");
        assert_eq!(
            link(&folder, &report).as_deref(),
            Some("a%20b%231/report.html")
        );
        assert_eq!(
            link(&pages, &report).as_deref(),
            Some("../a%20b%231/report.html")
        );
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
