//! The chapters of a report, in the order of its subjects.

use crate::digest::Digest;
use crate::subject::{Chapter, SUBJECTS, Subject};

/// The chapters of one part of the page that a subject has.
type ChaptersOf = fn(&dyn Subject, &Digest) -> Vec<Chapter>;

pub(super) fn results(digest: &Digest) -> Vec<Chapter> {
    all(digest, |subject, digest| subject.results(digest))
}

/// Returns the chapters of the evidence behind the results.
pub(super) fn evidence(digest: &Digest) -> Vec<Chapter> {
    all(digest, |subject, digest| subject.evidence(digest))
}

/// Returns the chapters that compare devices, then those that only list, without those for which the run has no data.
fn all(digest: &Digest, chapters: ChaptersOf) -> Vec<Chapter> {
    let lists = SUBJECTS.into_iter().filter(|subject| subject.is_a_list());
    comparing(digest, chapters)
        .into_iter()
        .chain(lists.flat_map(|subject| chapters(subject, digest)))
        .filter(|chapter| !chapter.is_empty())
        .collect()
}

/// Returns the chapters of each group of devices as one list, in which each chapter has the tables and figures of all groups, none of them with devices of
/// two.
fn comparing(digest: &Digest, chapters: ChaptersOf) -> Vec<Chapter> {
    let mut all: Vec<Chapter> = Vec::new();
    let groups = digest.of_each_group(|digest| of_group(digest, chapters));
    for chapter in groups.into_iter().flat_map(|(group, chapters)| {
        chapters
            .into_iter()
            .map(move |chapter| chapter.of_group(group))
    }) {
        match all.iter_mut().find(|known| known.id == chapter.id) {
            Some(known) => {
                known.tables.extend(chapter.tables);
                known.figures.extend(chapter.figures);
            }
            None => all.push(chapter),
        }
    }
    all
}

fn of_group(digest: &Digest, chapters: ChaptersOf) -> Vec<Chapter> {
    SUBJECTS
        .into_iter()
        .filter(|subject| !subject.is_a_list())
        .flat_map(|subject| chapters(subject, digest))
        .filter(|chapter| !chapter.is_empty())
        .collect()
}
