//! The targets, one file for each kind of input.

pub(crate) mod agent;
mod checksums;
pub(crate) mod dns_answers;
pub(crate) mod dns_queries;
pub(crate) mod frames;
pub(crate) mod http;
pub(crate) mod live_page;
pub(crate) mod memif;
pub(crate) mod neighbours;
pub(crate) mod plan;
pub(crate) mod recipe;
pub(crate) mod records;
pub(crate) mod report;
pub(crate) mod siitperf;
pub(crate) mod words;

use sixbench_plan::Diagnostic;

/// Checks that mistakes can be displayed: each has a position in the file.
fn check_mistakes(source: &str, mistakes: &[Diagnostic]) {
    assert!(!mistakes.is_empty(), "refused without a reason");
    assert!(
        mistakes
            .iter()
            .all(|mistake| mistake.span.start <= mistake.span.end && !mistake.title.is_empty()),
        "{mistakes:?}"
    );
    if is_sampled(source) {
        // Displaying all mistakes takes longer than finding them, so usually only a few are displayed, from anywhere among them.
        let first = source.len() / 16 % mistakes.len();
        let few = &mistakes[first..mistakes.len().min(first + 4)];
        let shown = if source.len().is_multiple_of(256) {
            mistakes
        } else {
            few
        };
        assert!(sixbench_plan::render("a file", source, shown, false).contains("error"));
    }
}

/// Returns whether slow checks are done on a text. One text in sixteen is selected, so that more texts are parsed in the same time.
fn is_sampled(source: &str) -> bool {
    source.len().is_multiple_of(16)
}
