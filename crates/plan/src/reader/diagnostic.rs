//! Mistakes in a plan file, shown at their lines.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use sixbench_method::text::{for_terminal, visible, visible_lines};
use std::ops::Range;

/// One mistake: the error, its place, and advice on what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The mistake in one line.
    pub title: String,
    /// The octets of the source that the mistake is about.
    pub span: Range<usize>,
    /// A description of the text at the span, in a few words.
    pub label: String,
    /// The advice on what to do next.
    pub help: Option<String>,
    /// True if the title ends with the names of all recipes, so that the caller may add another way of listing them.
    pub lists_recipes: bool,
}

impl Diagnostic {
    /// Returns a mistake without a label or advice. `span` gives the octets of the source that it is about.
    pub fn new(span: Range<usize>, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            span,
            label: String::new(),
            help: None,
            lists_recipes: false,
        }
    }

    /// Adds advice on what to do next.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// Returns the same with its control characters shown; those of the source are by the renderer.
    fn shown(&self) -> Self {
        let lines = |text: &String| visible_lines(text).into_owned();
        Self {
            title: lines(&self.title),
            label: lines(&self.label),
            help: self.help.as_ref().map(lines),
            ..self.clone()
        }
    }
}

/// The number of mistakes that are shown. Those after them are only counted: a user does not correct more of them in one go.
const SHOWN: usize = 100;

/// Returns the first mistakes as text, in the order of the file, with the number of those not shown.
pub fn render(path: &str, source: &str, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let (path, diagnostics) = (
        &visible(path),
        diagnostics
            .iter()
            .map(Diagnostic::shown)
            .collect::<Vec<_>>(),
    );
    let mut ordered: Vec<_> = diagnostics.iter().collect();
    ordered.sort_by_key(|d| d.span.start);
    let mut rendered = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for diagnostic in ordered.iter().take(SHOWN) {
        let excerpt = lines_of(source, &diagnostic.span);
        // Passing the whole source for each mistake would take time quadratic in its length.
        line += source[counted..excerpt.start].matches('\n').count();
        counted = excerpt.start;
        rendered.push(renderer.render(&[show(path, source, diagnostic, &excerpt, line)]));
    }
    let more = diagnostics.len() - rendered.len();
    if more > 0 {
        rendered.push(format!("and {more} more"));
    }
    // The renderer shows the control characters of ASCII in a source, but no others.
    for_terminal(&rendered.join("\n\n")).into_owned()
}

/// Returns a mistake, shown above the lines it is about; the first of them has the number `line`.
fn show<'a>(
    path: &'a str,
    source: &'a str,
    diagnostic: &'a Diagnostic,
    excerpt: &Range<usize>,
    line: usize,
) -> Group<'a> {
    let span = &diagnostic.span;
    let span = span.start.clamp(excerpt.start, excerpt.end) - excerpt.start
        ..span.end.clamp(excerpt.start, excerpt.end) - excerpt.start;
    let annotation = AnnotationKind::Primary
        .span(span)
        .label(diagnostic.label.as_str());
    let snippet = Snippet::source(&source[excerpt.clone()])
        .path(path)
        .line_start(line)
        .annotation(annotation);
    let group = Level::ERROR
        .primary_title(diagnostic.title.as_str())
        .element(snippet);
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// Returns the lines of a span, which does not end behind a newline: that of a table ends at its last value.
fn lines_of(source: &str, span: &Range<usize>) -> Range<usize> {
    let (first, last) = (span.start.min(source.len()), span.end.min(source.len()));
    let start = source[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = source[last..]
        .find('\n')
        .map_or(source.len(), |at| last + at);
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn of_fifty_thousand_mistakes_the_first_hundred_are_shown_and_the_others_counted() {
        let keys: String = (1..=50_000)
            .map(|number| format!("unknown-{number} = 1\n"))
            .collect();
        let source = format!("name = \"p\"\n{keys}[[test]]\nname = \"t\"\ndut = \"d\"\n");
        let mistakes = parse(&source, &["d"]).expect_err("mistakes");
        let text = render("plan.toml", &source, &mistakes, false);
        assert_eq!(text.matches("unknown key").count(), 100);
        assert!(
            text.contains("plan.toml:101:1") && text.contains("unknown-100 = 1"),
            "{text}"
        );
        assert!(text.ends_with("\n\nand 49900 more"), "{text}");
    }

    #[test]
    fn commands_to_a_terminal_are_shown_in_names_sources_and_messages() {
        let source = "name = \"p\"\n\"a\u{1b}[30mb\u{202e}\" = 1\n# \u{1b}]0;x\u{7}\u{9b}2J\nx";
        let mistakes = parse(source, &[]).expect_err("mistakes");
        let told = [
            &mistakes[..],
            &[Diagnostic::new(11..12, "a\u{1b}[30mb").help("c\u{7}")],
        ]
        .concat();
        let text = render("plan\u{1b}[2J.toml", source, &told, false);
        assert_eq!(
            text.find(|c| sixbench_method::text::is_control(c) && c != '\n'),
            None,
            "{text:?}"
        );
        assert!(
            text.contains("plan\\u001b[2J.toml") && text.contains("a\\u001b[30mb"),
            "{text}"
        );
        let colored = render("plan.toml", source, &told, true);
        assert!(
            !colored.contains("\u{1b}[30m") && colored.contains("\u{1b}["),
            "{colored:?}"
        );
    }

    #[test]
    fn a_mistake_at_the_end_of_a_file_without_a_last_line_end_is_shown() {
        for source in ["name = ", "name = \"p\"\n[[test]", "\u{e9} = 1", ""] {
            let mistakes = parse(source, &[]).expect_err("mistakes");
            assert!(
                render("plan.toml", source, &mistakes, false).contains("error: "),
                "{source}"
            );
        }
    }
}
