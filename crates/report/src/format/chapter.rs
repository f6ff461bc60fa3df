//! The parts of a report, and their order. Parts for which a run has no data are left out.

use crate::digest::Digest;
use crate::findings::warning;
use crate::layout::table::Table;
use crate::plot::{self, Figure, IN_MEMORY};
use crate::tables::{
    burst, degradation, dns, loss, machines, mix, path, points, refusals, relative, repeated,
    resources, response, scaling, soak, stateful, tcp, throughput, trial,
};
use serde::Serialize;
use sixbench_method::plan::SeriesBy;
use sixbench_method::record::LinkKind;

/// Tables and figures under one heading.
#[derive(Serialize)]
pub(crate) struct Chapter {
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
    /// True if the clause asks for the graph first.
    pub(crate) is_graph_first: bool,
}

impl Chapter {
    fn new(
        id: &'static str,
        title: impl Into<String>,
        tables: Vec<Table>,
        figures: Vec<Figure>,
    ) -> Self {
        let tables = tables
            .into_iter()
            .filter(|table| !table.rows.is_empty())
            .collect();
        let figures = figures
            .into_iter()
            .filter(|figure| !figure.is_empty())
            .collect();
        Self {
            id,
            title: title.into(),
            tables,
            figures,
            is_graph_first: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.figures.is_empty()
    }

    /// Returns the chapter as the one of a group of devices, where there are several.
    fn of_group(self, group: LinkKind) -> Self {
        if group == LinkKind::Interfaces {
            return self;
        }
        let titled = |table: Table| Table {
            title: format!("{}{IN_MEMORY}", table.title),
            ..table
        };
        let figures = self
            .figures
            .into_iter()
            .map(|figure| figure.of_group(group))
            .collect();
        Self {
            tables: self.tables.into_iter().map(titled).collect(),
            figures,
            ..self
        }
    }
}

/// Returns the chapters of each group of devices as one list, in which each chapter has the tables and figures of all groups, none of them with devices of
/// two.
fn of_groups(digest: &Digest, chapters: fn(&Digest) -> Vec<Chapter>) -> Vec<Chapter> {
    let mut all: Vec<Chapter> = Vec::new();
    let of_groups = digest.of_each_group(chapters).into_iter();
    for chapter in of_groups.flat_map(|(group, chapters)| {
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

/// Returns the chapters of results.
pub(crate) fn results(digest: &Digest) -> Vec<Chapter> {
    let mut chapters = of_groups(digest, results_of_group);
    // These compare nothing: they list everything.
    chapters.extend([
        of_table("machines", machines::table(digest), vec![]),
        points(digest),
    ]);
    chapters.retain(|chapter| !chapter.is_empty());
    chapters
}

fn results_of_group(digest: &Digest) -> Vec<Chapter> {
    let mut chapters = vec![
        Chapter::new(
            "headline",
            "Results",
            vec![throughput::headline(digest), throughput::goals(digest)],
            vec![plot::throughput::figure(digest)],
        ),
        of_table("refusals", refusals::table(digest), vec![]),
        Chapter::new(
            "relative",
            "Relative performance",
            relative::tables(digest),
            vec![],
        ),
        Chapter::new(
            "stateful",
            "Stateful gateways (RFC 9693)",
            stateful::tables(digest),
            vec![
                plot::connections::figure(digest),
                plot::capacity::figure(digest),
            ],
        ),
        Chapter::new(
            "tcp",
            "TCP connections (RFC 3511)",
            tcp::tables(digest),
            vec![],
        ),
        Chapter::new(
            "dns",
            "DNS resolution performance (RFC 8219 section 9)",
            dns::results(digest),
            vec![
                plot::queries::figure(digest),
                plot::queries::servers(digest),
            ],
        ),
        Chapter::new(
            "dns-trials",
            "DNS queries in the trials that decided",
            dns::trials(digest),
            vec![],
        ),
        Chapter::new(
            "path",
            "Mappings, tunnels, and devices in a row",
            path::tables(digest),
            vec![],
        ),
        scalability(digest),
        Chapter {
            is_graph_first: true,
            ..of_table(
                "loss-rate",
                loss::table(digest),
                vec![plot::loss_rate::figure(digest)],
            )
        },
    ];
    chapters.extend(
        repeated::tables(digest)
            .into_iter()
            .map(|(id, table)| of_table(id, table, vec![])),
    );
    chapters.push(Chapter::new(
        "clients",
        "Response time over the number of clients (6to4 paper)",
        response::tables(digest),
        vec![plot::clients::figure(digest)],
    ));
    chapters.extend([
        of_table("back-to-back", burst::table(digest), vec![]),
        Chapter::new(
            "soak",
            "Soak",
            soak::tables(digest),
            vec![plot::soak::figure(digest)],
        ),
        Chapter::new(
            "overload",
            "Overload: more flows",
            degradation::tables(digest, SeriesBy::Flows),
            vec![plot::degradation::figure(digest)],
        ),
        Chapter::new(
            "mixed",
            "Mixed traffic",
            mix::mixed(digest),
            vec![plot::mix::mixed(digest)],
        ),
        Chapter::new(
            "cores",
            "Core scaling",
            scaling::tables(digest),
            vec![plot::cores::rates(digest), plot::cores::idle(digest)],
        ),
    ]);
    chapters.retain(|chapter| !chapter.is_empty());
    chapters
}

/// Returns the chapter on how a stateful gateway copes with many connections, large tables and many subscribers.
fn scalability(digest: &Digest) -> Chapter {
    let by = [
        SeriesBy::Connections,
        SeriesBy::TableSize,
        SeriesBy::Subscribers,
    ];
    let tables = by
        .into_iter()
        .flat_map(|by| degradation::tables(digest, by));
    let figures = vec![plot::scalability::figure(digest)];
    let chapter = Chapter::new(
        "scalability",
        "Scalability: connections, table size, subscribers",
        tables.collect(),
        figures,
    );
    Chapter {
        is_graph_first: true,
        ..chapter
    }
}

/// Returns a chapter whose heading is that of its only table.
fn of_table(id: &'static str, table: Table, figures: Vec<Figure>) -> Chapter {
    Chapter::new(id, table.title.clone(), vec![table], figures)
}

/// Returns the chapter that lists every point, and what its results are.
fn points(digest: &Digest) -> Chapter {
    let tables = vec![points::table(digest), points::meanings(digest)];
    Chapter::new("points", tables[0].title.clone(), tables, vec![])
}

/// Returns the chapter on anomalous frames, under the heading of its first table.
fn anomalies(digest: &Digest) -> Chapter {
    let anomalies = trial::anomalies(digest);
    Chapter::new(
        "anomalies",
        anomalies.title.clone(),
        vec![
            anomalies,
            warning::by_test(digest),
            trial::wrong_fields(digest),
        ],
        vec![],
    )
}

/// Returns the chapters of the evidence behind the results.
pub(crate) fn evidence(digest: &Digest) -> Vec<Chapter> {
    let mut chapters = of_groups(digest, evidence_of_group);
    chapters.extend(Some(anomalies(digest)).filter(|chapter| !chapter.is_empty()));
    chapters
}

fn evidence_of_group(digest: &Digest) -> Vec<Chapter> {
    let figures = plot::evidence(digest);
    let mut chapters = vec![
        Chapter::new(
            "by-size",
            "By frame size, in the reporting format of RFC 2544",
            throughput::by_size(digest),
            vec![],
        ),
        Chapter::new(
            "summaries",
            "Summaries by RFC 2330",
            vec![repeated::summaries(digest)],
            vec![],
        ),
        Chapter::new("evidence", "Behind the numbers", vec![], figures),
        Chapter::new(
            "resources",
            "Memory and drops of the devices",
            vec![resources::memory(digest), resources::drops(digest)],
            vec![],
        ),
        of_table("delays", trial::delays(digest), vec![]),
    ];
    chapters.retain(|chapter| !chapter.is_empty());
    chapters
}
