//! Views of the event stream. stdout is for results; progress and messages go to stderr, except with `--json`.

mod answers;
mod json;
mod plain;
mod progress;
mod vectors;

use crate::output::is_quiet;
pub(crate) use answers::AnswerReader;
use sixbench_live::LiveFeed;
use sixbench_method::event::Event;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use vectors::VectorBar;

/// Shows events as they come.
pub(crate) trait View {
    fn show(&mut self, event: &Event);

    /// Ends the view when the run has ended; returns the error, if any, that prevented events from being shown.
    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The kind of view that a command uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A progress line on a terminal, or plain lines elsewhere; with `--quiet`, only warnings.
    People,
    /// One JSON object per line on stdout.
    Json,
}

/// Returns the view for this output, and for a live page if there is one.
pub(crate) fn open(choice: Choice, page: Option<LiveFeed>) -> SharedView {
    let view: Box<dyn View + Send> = match choice {
        Choice::Json => Box::new(json::Json::default()),
        Choice::People if is_quiet() => Box::new(plain::QuietView),
        Choice::People if std::io::stderr().is_terminal() && has_color() => {
            Box::new(progress::ProgressView::new())
        }
        Choice::People => Box::new(plain::Plain::default()),
    };
    SharedView(Arc::new(Mutex::new(view)), page)
}

/// A view that other threads share with the command through listeners. The view ends when this value is dropped.
pub(crate) struct SharedView(Arc<Mutex<Box<dyn View + Send>>>, Option<LiveFeed>);

impl SharedView {
    /// Returns a listener that shows each message about a wait as an event, as long as the view exists.
    pub(crate) fn listener(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let (view, page) = (Arc::downgrade(&self.0), self.1.clone());
        move |text| {
            let event = Event::Waiting {
                text: text.to_owned(),
            };
            if let Some(page) = &page {
                page.note(&event);
            }
            view.upgrade().iter().for_each(|view| {
                view.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .show(&event);
            });
        }
    }
}

impl View for SharedView {
    fn show(&mut self, event: &Event) {
        self.1.iter().for_each(|page| page.note(event));
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .show(event);
    }

    fn close(&mut self) -> io::Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .close()
    }
}

/// True if the user asked for plain sentences.
static IS_PLAIN: AtomicBool = AtomicBool::new(false);

/// The width at which a summary consists of sentences instead of tables, columns.
const SENTENCES: usize = 70;

/// Sets whether all output consists of plain sentences.
pub(crate) fn set_plain(is_plain: bool) {
    IS_PLAIN.store(is_plain, Ordering::Relaxed);
}

/// Returns the width of the output in columns: `COLUMNS` if it is set, else that of the terminal; 100 if the output is not a terminal.
pub(crate) fn columns() -> usize {
    if IS_PLAIN.load(Ordering::Relaxed) {
        return SENTENCES;
    }
    let named = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    named
        .or_else(|| Some(usize::from(terminal_size::terminal_size()?.0.0)))
        .unwrap_or(100)
}

/// Returns the width of a list on standard output: unlimited where a program reads it and `COLUMNS` is not set, so that each row is one line.
pub(crate) fn list_columns() -> usize {
    let is_read_by_people =
        std::io::stdout().is_terminal() || std::env::var_os("COLUMNS").is_some();
    if is_read_by_people || IS_PLAIN.load(Ordering::Relaxed) {
        columns()
    } else {
        usize::MAX
    }
}

/// Returns whether the user wants colours and bars (no-color.org).
pub(crate) fn has_color() -> bool {
    let is_plain = IS_PLAIN.load(Ordering::Relaxed);
    !is_plain
        && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}
