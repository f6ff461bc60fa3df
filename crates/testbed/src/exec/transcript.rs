//! The transcript of a run, to read and to repeat by hand.

use std::sync::{Arc, Mutex, PoisonError};

/// The commands that were run, in order, as lines of a shell script.
#[derive(Clone, Debug, Default)]
pub struct Transcript(Arc<Mutex<String>>);

impl Transcript {
    /// Returns the script so far.
    pub fn text(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Adds a comment.
    pub fn comment(&self, text: &str) {
        // Without its own `#`, a second line would be a command.
        text.lines()
            .for_each(|line| self.line(&format!("# {line}")));
    }

    pub(crate) fn line(&self, text: &str) {
        let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        script.push_str(text);
        script.push('\n');
    }
}

/// Returns `text` as a here-document, with a delimiter that is not a line of it.
pub(super) fn here_document(text: &str) -> String {
    let mut end = "END".to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    format!("<<'{end}'\n{text}\n{end}")
}
