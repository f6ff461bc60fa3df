//! `ro-crate-metadata.json`: what an archive contains, for the programs of data repositories, as RO-Crate 1.2 has it (<https://w3id.org/ro/crate/1.2>).

use super::files::{METADATA, PackedFile, README, SUMS};
use super::texts::{self, CONTENTS, ending};
use crate::results::store::StoredRun;
use jiff::Timestamp;
use serde_json::{Value, json};
use sixbench_method::lists::each_once;
use sixbench_method::text::visible_lines;

/// The version of RO-Crate.
const VERSION: &str = "https://w3id.org/ro/crate/1.2";

/// The identifier of the action that measured.
const RUN: &str = "#run";

/// The licence that every RO-Crate must state; only the owners of the data can grant one.
const LICENSE: &str = "Not stated: sixbench grants no licence for these results. Their authors state one where they publish the archive.";

/// Returns the text of the file.
pub(super) fn text(stored: &StoredRun, members: &[PackedFile]) -> String {
    let files: Vec<Value> = added_files()
        .into_iter()
        .chain(members.iter().map(member))
        .collect();
    let graph: Vec<Value> = [descriptor(), dataset(stored, &files)]
        .into_iter()
        .chain(files)
        .chain([action(stored), software(stored)])
        .collect();
    let document = json!({ "@context": format!("{VERSION}/context"), "@graph": graph });
    visible_lines(&format!("{document:#}\n")).into_owned()
}

fn descriptor() -> Value {
    json!({
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": { "@id": VERSION },
        "about": { "@id": "./" },
    })
}

fn dataset(stored: &StoredRun, files: &[Value]) -> Value {
    let parts: Vec<Value> = files
        .iter()
        .map(|file| json!({ "@id": file["@id"] }))
        .collect();
    json!({
        "@id": "./",
        "@type": "Dataset",
        "name": format!("{}: results of sixbench", stored.plan.name),
        "description": description(stored),
        // The same results give the same archive, so this is the day on which they were measured.
        "datePublished": end(stored).strftime("%F").to_string(),
        "license": LICENSE,
        "keywords": keywords(stored),
        "hasPart": parts,
        "mentions": { "@id": RUN },
    })
}

/// Returns what was measured, of which devices, and how the run ended.
fn description(stored: &StoredRun) -> String {
    let tests = &stored.plan.tests;
    let measures = each_once(tests.iter().map(|test| test.measure.info().term.name));
    let devices = each_once(tests.iter().map(|test| test.dut.as_str()));
    format!(
        "Measurements of IPv6 transition technologies by RFC 8219: {} of {}. {} trials. {}",
        measures.join(", "),
        devices.join(", "),
        stored.records.len(),
        ending(stored)
    )
}

/// Returns the words under which the data can be found: the measures, and the documents that define them.
fn keywords(stored: &StoredRun) -> Vec<&'static str> {
    let tests = &stored.plan.tests;
    let names = tests.iter().map(|test| test.measure.info().term.name);
    let clauses = tests.iter().map(|test| test.measure.info().term.clause);
    let documents = clauses.map(|clause| clause.split(" section ").next().unwrap_or_default());
    let common = ["IPv6", "benchmarking", "RFC 8219"];
    each_once(common.into_iter().chain(names).chain(documents))
}

/// Returns the files that only an archive has.
fn added_files() -> [Value; 2] {
    [
        file(README, "what the archive contains, for readers", None),
        file(SUMS, "the SHA-256 of every other file", None),
    ]
}

fn member(packed: &PackedFile) -> Value {
    let described = CONTENTS.iter().find(|row| row.name == packed.name);
    let description = described.map_or("", |row| row.description);
    file(&packed.name, description, Some(packed.octets))
}

/// Returns the entity of a file. Without a description, a known format or a known length, it has no such property.
fn file(name: &str, description: &str, octets: Option<u64>) -> Value {
    let mut entity = json!({ "@id": reference(name), "@type": "File", "name": name });
    let optional = [
        (
            "description",
            (!description.is_empty()).then(|| description.to_owned()),
        ),
        ("encodingFormat", media_type(name).map(str::to_owned)),
        ("contentSize", octets.map(|octets| octets.to_string())),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            entity[key] = value.into();
        }
    }
    entity
}

/// Returns the media type of a file by the end of its name; `None` for one that only its owner knows.
fn media_type(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.').map_or(name, |(_, end)| end) {
        README | SUMS => "text/plain",
        "html" => "text/html",
        "json" => "application/json",
        "jsonl" => "application/x-ndjson",
        "toml" => "application/toml",
        "sh" => "application/x-sh",
        "csv" => "text/csv",
        "md" => "text/markdown",
        "svg" => "image/svg+xml",
        "tex" | "bib" => "application/x-tex",
        "xml" => "application/xml",
        "pcap" => "application/vnd.tcpdump.pcap",
        _ => return None,
    })
}

/// Returns the path of a file as a relative reference (RFC 3986 section 4.2).
fn reference(path: &str) -> String {
    let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~/".contains(&octet);
    path.bytes()
        .map(|octet| {
            if is_plain(octet) {
                char::from(octet).to_string()
            } else {
                format!("%{octet:02X}")
            }
        })
        .collect()
}

/// Returns the action that made the data: with its command, its times, and the program.
fn action(stored: &StoredRun) -> Value {
    let first = stored.facts.runs.first();
    let command = first.map_or("", |part| part.command.as_str());
    let mut action = json!({
        "@id": RUN,
        "@type": "CreateAction",
        "name": format!("sixbench ran the plan {}", stored.plan.name),
        "description": command,
        "endTime": end(stored).to_string(),
        "instrument": { "@id": env!("CARGO_PKG_REPOSITORY") },
        "result": { "@id": "./" },
    });
    if let Some(part) = first {
        action["startTime"] = part.started.as_str().into();
    }
    action
}

fn software(stored: &StoredRun) -> Value {
    json!({
        "@id": env!("CARGO_PKG_REPOSITORY"),
        "@type": "SoftwareApplication",
        "name": "sixbench",
        "url": env!("CARGO_PKG_REPOSITORY"),
        "version": stored.facts.sixbench,
    })
}

/// Returns the end of the run, 1970 if it is not known.
fn end(stored: &StoredRun) -> Timestamp {
    i64::try_from(texts::end_s(stored))
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_reference_that_no_name_can_break() {
        assert_eq!(
            reference("exports/latex/tables/a-1.tex"),
            "exports/latex/tables/a-1.tex"
        );
        assert_eq!(reference("a b:c/ü%.txt"), "a%20b%3Ac/%C3%BC%25.txt");
    }

    #[test]
    fn a_file_has_the_properties_that_are_known_and_no_others() {
        let known = file("results.csv", "the searches as a table", Some(12));
        assert_eq!(
            known,
            json!({
                "@id": "results.csv",
                "@type": "File",
                "name": "results.csv",
                "description": "the searches as a table",
                "encodingFormat": "text/csv",
                "contentSize": "12",
            })
        );
        let unknown = file("notes", "", None);
        assert_eq!(
            unknown,
            json!({ "@id": "notes", "@type": "File", "name": "notes" })
        );
    }
}
