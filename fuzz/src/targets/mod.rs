//! The targets, one file for each thing that is read.

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

/// Checks that mistakes can be shown: each is at a place of the file.
fn check_mistakes(source: &str, mistakes: &[Diagnostic]) {
    assert!(!mistakes.is_empty(), "refused without a reason");
    assert!(mistakes.iter().all(|mistake| mistake.span.start <= mistake.span.end && !mistake.title.is_empty()), "{mistakes:?}");
    if is_sampled(source) {
        // To show all of them takes longer than to find them: mostly it is a few, from anywhere among them.
        let first = source.len() / 16 % mistakes.len();
        let few = &mistakes[first..mistakes.len().min(first + 4)];
        let shown = if source.len().is_multiple_of(256) { mistakes } else { few };
        assert!(sixbench_plan::render("a file", source, shown, false).contains("error"));
    }
}

/// Returns whether what takes long is done with a text: with one of sixteen, so that more texts are read in the same time.
fn is_sampled(source: &str) -> bool {
    source.len().is_multiple_of(16)
}
