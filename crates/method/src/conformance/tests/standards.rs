//! Tests of the list of the texts that were read: what is cited stands in it, and what was not read is not judged.

use super::*;
use crate::clause::RFC_9693;

#[test]
fn every_clause_cites_a_section_that_was_read_or_is_not_judged() {
    let listed = |document| {
        standards()
            .iter()
            .any(|standard| standard.document == document)
    };
    let mut unread = Vec::new();
    for measure in every_measure() {
        let mut plan = plan_of(measure);
        plan.tests[0].stateful = Some(Stateful::new(1_000_000, FrameRate(100_000), SECOND_NS));
        for clause in clauses(&plan, &plan.tests[0]) {
            assert!(
                listed(parts(clause.clause).0),
                "{} is not in docs/standards.toml",
                clause.clause
            );
            let is_judged = clause.conformance != Conformance::Unchecked;
            assert_eq!(is_judged, is_read(clause.clause), "{}", clause.clause);
            unread.extend((!is_judged).then_some(clause.clause));
        }
    }
    unread.dedup();
    assert_eq!(
        unread,
        [RFC_9693],
        "the only document that could not be read"
    );
}

#[test]
fn what_the_sources_cite_was_read_and_says_where_and_when() {
    for standard in standards() {
        let Standard {
            document,
            title,
            text,
            read,
            sections,
        } = standard;
        assert!(!title.is_empty() && !text.is_empty(), "{document}");
        assert!(
            read.len() == 10 && read.starts_with("20"),
            "{document}: {read}"
        );
        let mut once = sections.clone();
        once.dedup();
        assert_eq!(&once, sections, "{document}");
    }
    for cited in citations() {
        assert!(
            is_read(&cited),
            "the sources cite {cited}, which docs/standards.toml does not list as read"
        );
    }
}

/// Returns the sections of RFCs that the sources of clauses, measures and the glossary of the report cite, comments included.
fn citations() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "src/clause",
        "src/conformance",
        "src/measures",
        "../report/src/glossary",
    ];
    let mut sources = Vec::new();
    for folder in &folders {
        add_sources(&root.join(folder), &mut sources);
    }
    let texts = sources
        .into_iter()
        .map(|path| std::fs::read_to_string(path).unwrap());
    texts.flat_map(|text| cited_in(&text)).collect()
}

/// Adds the sources in a folder and in those below it, except tests.
fn add_sources(folder: &std::path::Path, sources: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            add_sources(&path, sources);
        } else if path.extension().is_some_and(|name| name == "rs") && !path.ends_with("tests.rs") {
            sources.push(path);
        }
    }
}

/// Returns the sections that a text cites: one, as in `RFC 7597 section 5.1`, or several, as in `RFC 7597 sections 5 and 6` and
/// `RFC 8219 section 1.1 (double translation) and 4.1`.
fn cited_in(text: &str) -> Vec<String> {
    let starts = text.match_indices("RFC ").map(|(at, _)| &text[at + 4..]);
    let cited = starts.filter_map(|rest| {
        let (rfc, rest) = rest.split_once(" section")?;
        let is_number = rfc.len() == 4 && rfc.bytes().all(|digit| digit.is_ascii_digit());
        let sections = sections_of(rest.strip_prefix('s').unwrap_or(rest));
        is_number.then(|| {
            sections
                .into_iter()
                .map(move |section| format!("RFC {rfc} section {section}"))
        })
    });
    cited.flatten().collect()
}

/// Returns the numbers at the start of a text, which commas, `and`, line breaks and brackets may separate.
fn sections_of(text: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut rest = text;
    loop {
        let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '\\' | '/');
        rest = rest.trim_start_matches(is_between);
        rest = rest
            .strip_prefix("and ")
            .map_or(rest, |rest| rest.trim_start_matches(is_between));
        if let Some((_, after)) = rest
            .strip_prefix('(')
            .and_then(|inside| inside.split_once(')'))
            .filter(|_| !sections.is_empty())
        {
            rest = after;
            continue;
        }
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let section = rest[..end].trim_end_matches('.');
        if section.is_empty() {
            return sections;
        }
        sections.push(section);
        rest = &rest[end..];
    }
}

#[test]
fn citations_of_one_section_and_of_several_are_found() {
    let cited = |text| {
        cited_in(text)
            .iter()
            .map(|cited| cited["RFC 1234 section ".len()..].to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(cited("RFC 7597 section 5.1."), ["5.1"]);
    assert_eq!(cited("by RFC 7597 sections 5 and 6, and more"), ["5", "6"]);
    assert_eq!(
        cited("RFC 8219 sections 7.2 and 12; RFC 1242 section 3.8"),
        ["7.2", "12", "3.8"]
    );
    assert_eq!(
        cited("RFC 8219 section 1.1 (encapsulation technologies) and 4.1 (the tester)"),
        ["1.1", "4.1"]
    );
    assert_eq!(cited("RFC 6333, and the section after it"), [""; 0]);
}
