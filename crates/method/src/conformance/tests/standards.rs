//! Tests of the list of the texts that were read: what is cited stands in it, and what was not read is not judged.

use super::*;

#[test]
fn every_clause_cites_a_section_that_was_read_or_is_not_judged() {
    let listed = |document| standards().iter().any(|standard| standard.document == document);
    let mut unread = Vec::new();
    for measure in every_measure() {
        let mut plan = plan_of(measure);
        plan.tests[0].stateful = Some(Stateful::new(1_000_000, FrameRate(100_000), SECOND));
        for clause in clauses(&plan, &plan.tests[0]) {
            assert!(listed(parts(clause.clause).0), "{} is not in docs/standards.toml", clause.clause);
            let is_judged = clause.conformance != Conformance::Unchecked;
            assert_eq!(is_judged, is_read(clause.clause), "{}", clause.clause);
            unread.extend((!is_judged).then_some(clause.clause));
        }
    }
    unread.dedup();
    assert_eq!(unread, [RFC_9693], "the only document that could not be read");
}

#[test]
fn what_the_sources_cite_was_read_and_says_where_and_when() {
    for standard in standards() {
        let Standard { document, title, text, read, sections } = standard;
        assert!(!title.is_empty() && !text.is_empty(), "{document}");
        assert!(read.len() == 10 && read.starts_with("20"), "{document}: {read}");
        let mut once = sections.clone();
        once.dedup();
        assert_eq!(&once, sections, "{document}");
    }
    for cited in citations() {
        assert!(is_read(&cited), "the sources cite {cited}, which docs/standards.toml does not list as read");
    }
}

/// Returns the sections of RFCs that the sources of clauses and measures cite, comments included.
fn citations() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = ["conformance", "measures"].iter().flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap());
    let sources = files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|name| name == "rs"));
    let texts = sources.filter(|path| !path.ends_with("tests.rs")).map(|path| std::fs::read_to_string(path).unwrap());
    texts.flat_map(|text| cited_in(&text)).collect()
}

fn cited_in(text: &str) -> Vec<String> {
    let starts = text.match_indices("RFC ").map(|(at, _)| &text[at..]);
    let cited = starts.filter_map(|rest| {
        let (rfc, rest) = rest[4..].split_once(" section ")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let is_number = rfc.len() == 4 && rfc.bytes().all(|digit| digit.is_ascii_digit());
        (is_number && end > 0).then(|| format!("RFC {rfc} section {}", rest[..end].trim_end_matches('.')))
    });
    cited.collect()
}
