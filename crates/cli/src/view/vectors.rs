//! The progress of vectors on a terminal: one line that changes. Elsewhere nothing is shown.

use super::has_color;
use crate::output::is_quiet;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sixbench_engine::conformance::VectorProgress;
use std::io::IsTerminal as _;
use std::time::Duration;

/// The line with the progress, which disappears when it is dropped.
pub(crate) struct VectorBar {
    bar: ProgressBar,
}

impl VectorBar {
    /// Returns the line of a device that is being brought up.
    pub(crate) fn new() -> Self {
        let target = if std::io::stderr().is_terminal() && has_color() && !is_quiet() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message("bringing the device up");
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar }
    }

    /// Returns what the attempts at vectors are told to.
    pub(crate) fn progress(&self) -> VectorProgress {
        let bar = self.bar.clone();
        Box::new(move |attempts, all| show(&bar, attempts, all))
    }
}

fn show(bar: &ProgressBar, attempts: usize, all: usize) {
    if attempts == 1 {
        let style = ProgressStyle::with_template("{bar:24.cyan/dim} {pos} of {len} attempts");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }
    bar.set_length(all as u64);
    bar.set_position(attempts as u64);
}

impl Drop for VectorBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
