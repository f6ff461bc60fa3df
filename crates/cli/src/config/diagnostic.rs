//! Mistakes in a plan file, shown at their line.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::ops::Range;

/// One mistake: what is wrong, where, and what next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// What is wrong, in one line.
    pub(crate) title: String,
    /// Octets of the source it is about.
    pub(crate) span: Range<usize>,
    /// What stands there, in a few words.
    pub(crate) label: String,
    /// What next.
    pub(crate) help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(span: Range<usize>, title: impl Into<String>) -> Self {
        Self { title: title.into(), span, label: String::new(), help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// All mistakes as text, in the order of the file.
pub(crate) fn render(path: &str, source: &str, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut ordered: Vec<_> = diagnostics.iter().collect();
    ordered.sort_by_key(|d| d.span.start);
    let rendered: Vec<String> = ordered
        .into_iter()
        .map(|diagnostic| {
            let annotation = AnnotationKind::Primary.span(diagnostic.span.clone()).label(diagnostic.label.as_str());
            let snippet = Snippet::source(source).path(path).annotation(annotation);
            let mut group = Level::ERROR.primary_title(diagnostic.title.as_str()).element(snippet);
            if let Some(help) = &diagnostic.help {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            renderer.render(&[group]).to_string()
        })
        .collect();
    rendered.join("\n\n")
}
