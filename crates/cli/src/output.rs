//! Standard output and standard error. Nothing else in this crate writes to either: `println!` and `eprintln!` panic when the reader has gone
//! away or the disk is full, and clippy refuses them (`main.rs`). Control characters in texts, whoever wrote them, are shown and not obeyed; colours are
//! kept only in what [`print_colored`] and [`tell_colored`] are given.

use sixbench_method::text::{for_terminal, visible_lines};
use std::fmt::{Arguments, Display};
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes `text` to standard output, with its control characters shown.
///
/// # Errors
/// The text could not be written. A reader that has closed the pipe is not an error: it has read enough, as in `sixbench list duts | head`.
pub(crate) fn print(text: impl Display) -> io::Result<()> {
    stream(|out| out.write_all(visible_lines(&text.to_string()).as_bytes()))
}

/// Writes a text to standard output in which every colour is one of ours, as in the summary of a run.
///
/// # Errors
/// Those of [`print`].
pub(crate) fn print_colored(text: &str) -> io::Result<()> {
    stream(|out| out.write_all(for_terminal(text).as_bytes()))
}

/// Writes `text` and a newline to standard output.
///
/// # Errors
/// Those of [`print`].
pub(crate) fn line(text: impl Display) -> io::Result<()> {
    print(format_args!("{text}\n"))
}

/// Streams text that sixbench itself produces to standard output, through a buffer; stops early when the reader has closed the pipe.
///
/// # Errors
/// Those of [`print`].
pub(crate) fn stream(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'_>>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    settled(write(&mut out).and_then(|()| out.flush()))
}

/// Treats the result of writing to standard output elsewhere as [`print`] does its own: a reader that has gone away is not an error.
pub(crate) fn settled(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!("cannot write to standard output: {error}"),
        )),
        Ok(()) => Ok(()),
    }
}

/// Writes to standard error. A failure is ignored: it cannot be reported, and must not end a run.
pub(crate) fn to_stderr(text: Arguments<'_>) {
    write_to_stderr(&visible_lines(&text.to_string()));
}

/// Writes a text to standard error in which every colour is one of ours, as in the mistakes of a plan.
pub(crate) fn tell_colored(text: &str) {
    write_to_stderr(&for_terminal(text));
}

fn write_to_stderr(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// True if the user asked for no progress.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Sets whether progress is left out.
pub(crate) fn set_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Returns whether progress is left out.
pub(crate) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Prints a line on standard error about the progress, unless the user asked for none.
pub(crate) fn tell_progress(text: impl Display) {
    if !is_quiet() {
        to_stderr(format_args!("{text}\n"));
    }
}

/// Prints a line on standard error.
macro_rules! tell {
    ($($text:tt)*) => { $crate::output::to_stderr(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use tell;
