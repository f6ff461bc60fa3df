//! Answers to questions, a line for each. A person at a terminal edits it with the usual keys; from a pipe or a file it is read as it is.

use crate::output;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};
use std::io::{self, BufRead as _, ErrorKind, IsTerminal as _, StdinLock};

/// Where answers are read.
pub(crate) enum AnswerReader {
    Terminal(Box<DefaultEditor>),
    Lines(StdinLock<'static>),
}

impl AnswerReader {
    /// Returns a line editor if standard input and output are a terminal, else the lines of standard input.
    pub(crate) fn new() -> Self {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        // Lines that are pasted answer one question each.
        let config = Config::builder().bracketed_paste(false).build();
        let editor = is_terminal.then(|| DefaultEditor::with_config(config));
        match editor {
            Some(Ok(editor)) => Self::Terminal(Box::new(editor)),
            Some(Err(_)) | None => Self::Lines(io::stdin().lock()),
        }
    }

    /// Prints a question, and returns the line that answers it.
    ///
    /// # Errors
    /// Of the kind `Interrupted` for Ctrl-C, which an edited line takes as a key; `UnexpectedEof` at the end of the input; others if it cannot be read.
    pub(crate) fn to(&mut self, question: &str) -> io::Result<String> {
        match self {
            Self::Terminal(editor) => editor.readline(question).map_err(|error| match error {
                ReadlineError::Interrupted => ErrorKind::Interrupted.into(),
                ReadlineError::Eof => ErrorKind::UnexpectedEof.into(),
                other => io::Error::other(other),
            }),
            Self::Lines(input) => {
                output::to_stderr(format_args!("{question}"));
                let mut line = String::new();
                let octets = input.read_line(&mut line);
                if !matches!(octets, Ok(1..)) {
                    // The next message must start on a new line, not after the question.
                    output::to_stderr(format_args!("\n"));
                }
                match octets? {
                    0 => Err(ErrorKind::UnexpectedEof.into()),
                    _ => Ok(line),
                }
            }
        }
    }
}
