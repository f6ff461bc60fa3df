//! Series of tests that ask more and more of a device (RFC 8219 section 10): more connections, larger tables, more subscribers, more flows.

mod overload_figure;
mod scalability_figure;
mod sentences;
mod tables;

use crate::digest::Digest;
use crate::subject::{Chapter, Subject};
use sixbench_method::plan::SeriesBy;

/// How a stateful gateway copes with many connections, large tables and many subscribers. [`Overload`] has its sentences, too.
pub(super) struct Scalability;

impl Subject for Scalability {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        let by = [
            SeriesBy::Connections,
            SeriesBy::TableSize,
            SeriesBy::Subscribers,
        ];
        let tables = by.into_iter().flat_map(|by| tables::tables(digest, by));
        let chapter = Chapter::new(
            "scalability",
            "Scalability: connections, table size, subscribers",
            tables.collect(),
            vec![scalability_figure::figure(digest)],
        );
        vec![chapter.with_graph_first()]
    }
}

/// How a device copes with more network flows. The sentences on all series of this folder are its own: they have one form, and those on flows come
/// first, although the chapter on flows is the later one.
pub(super) struct Overload;

impl Subject for Overload {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        vec![Chapter::new(
            "overload",
            "Overload: more flows",
            tables::tables(digest, SeriesBy::Flows),
            vec![overload_figure::figure(digest)],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        sentences::sentences(group)
    }
}
