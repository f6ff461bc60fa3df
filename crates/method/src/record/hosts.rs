//! The hosts on which the repetitions of a run were measured: results from two machines cannot be compared.

use super::{Facts, TrialRecord};
use crate::plan::Point;
use std::collections::{BTreeMap, BTreeSet};

/// The hosts of each repetition, by name; several if a run was resumed on another host in the middle of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepetitionHosts<'f> {
    of: BTreeMap<(&'f Point, u32), BTreeSet<&'f str>>,
    /// The names of all hosts.
    all: BTreeSet<&'f str>,
}

impl<'f> RepetitionHosts<'f> {
    /// Returns the hosts of these records, which belong to one results directory. The host of a record made by an earlier version is unknown.
    pub fn new(facts: &'f Facts, records: &'f [TrialRecord]) -> Self {
        let mut hosts: BTreeMap<(&Point, u32), BTreeSet<&str>> = BTreeMap::new();
        for of_repetition in
            records.chunk_by(|a, b| (&a.point, a.repetition) == (&b.point, b.repetition))
        {
            let TrialRecord {
                point, repetition, ..
            } = &of_repetition[0];
            let found = of_repetition
                .iter()
                .flat_map(|record| hosts_of(facts, record));
            hosts.entry((point, *repetition)).or_default().extend(found);
        }
        let all = hosts.values().flatten().copied().collect();
        Self { of: hosts, all }
    }

    /// Returns the names of all hosts.
    pub fn all(&self) -> BTreeSet<&'f str> {
        self.all.clone()
    }

    /// Returns whether there is more than one host.
    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Returns the hosts of a repetition.
    pub fn hosts(&self, point: &Point, repetition: u32) -> Vec<String> {
        self.of
            .get(&(point, repetition))
            .into_iter()
            .flatten()
            .map(|host| (*host).to_owned())
            .collect()
    }

    /// Returns the repetitions with their hosts, in the order of their points.
    pub fn iter(&self) -> impl Iterator<Item = (&'f Point, u32, &BTreeSet<&'f str>)> {
        self.of
            .iter()
            .map(|((point, repetition), hosts)| (*point, *repetition, hosts))
    }

    /// Returns whether a repetition was measured on this host alone.
    pub fn is_only_on(&self, host: &str, point: &Point, repetition: u32) -> bool {
        self.of
            .get(&(point, repetition))
            .is_some_and(|hosts| hosts.iter().eq([&host]))
    }

    /// Returns whether all measurements of these points were made on one host.
    pub fn are_on_one<'p>(&self, points: impl IntoIterator<Item = &'p Point>) -> bool {
        self.of_points(points).len() <= 1
    }

    /// Returns the hosts of all measurements of these points.
    pub fn of_points<'p>(&self, points: impl IntoIterator<Item = &'p Point>) -> BTreeSet<&'f str> {
        let of_points = points
            .into_iter()
            .flat_map(|point| self.of.range((point, 0)..=(point, u32::MAX)));
        of_points.flat_map(|(_, hosts)| hosts).copied().collect()
    }
}

/// Returns the hosts of a record. Merged results state them for each repetition; otherwise they follow from the consecutive parts of the run.
fn hosts_of<'f>(facts: &'f Facts, record: &TrialRecord) -> Vec<&'f str> {
    if !facts.measured_on.is_empty() {
        let has = facts
            .measured_on
            .iter()
            .filter(|(_, selection)| selection.contains(&record.point, record.repetition));
        return has.map(|(host, _)| host.as_str()).collect();
    }
    // The start of a run part is in whole seconds, that of a record is more precise.
    let has_begun = |started: &str| started.trim_end_matches('Z') <= record.started.as_str();
    let part = facts
        .runs
        .iter()
        .rev()
        .find(|part| has_begun(&part.started))
        .or(facts.runs.first());
    part.map(|part| part.host.as_str())
        .filter(|host| !host.is_empty())
        .into_iter()
        .collect()
}
