//! A progress display on a terminal: one line that moves for the trial under way, one line that stays for each measurement.

use super::{View, words};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sixbench_method::event::Event;
use sixbench_method::units::show_seconds;
use std::time::Duration;

/// The view with a progress display on a terminal.
pub(crate) struct ProgressView {
    bar: ProgressBar,
    now: String,
    last: String,
}

impl ProgressView {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(
            "{bar:24.cyan/dim} {pos}/{len} measurements, {elapsed} elapsed, {prefix}\n  now   {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, now: String::new(), last: String::new() }
    }

    fn refresh(&self) {
        self.bar.set_message(format!("{}\n  last  {}", self.now, self.last));
    }
}

impl View for ProgressView {
    fn show(&mut self, event: &Event) {
        let text = words::event(event).unwrap_or_default();
        match event {
            Event::RunStarted { measurements, estimate_s, .. } => {
                self.bar.println(text);
                self.bar.set_length(u64::from(*measurements));
                self.bar.set_prefix(format!("about {} left", show_seconds(*estimate_s)));
            }
            Event::Progress { .. } => self.bar.set_prefix(text),
            Event::TrialStarted { .. } | Event::MeasurementStarted { .. } => self.now = text,
            Event::TrialEnded { .. } => self.last = text,
            Event::MeasurementEnded { .. } => {
                self.bar.println(text);
                self.bar.inc(1);
            }
            Event::DutReady { .. } | Event::SelfTested { .. } | Event::Waiting { .. } | Event::Warning { .. } => {
                self.bar.println(text);
            }
            Event::RunEnded { .. } => self.bar.finish_and_clear(),
        }
        self.refresh();
    }
}

impl Drop for ProgressView {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
