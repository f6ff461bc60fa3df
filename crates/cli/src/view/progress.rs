//! A progress display on a terminal: one changing line for the trial under way, and one permanent line for each measurement.

use super::View;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sixbench_method::event::Event;
use sixbench_method::text::visible_lines;
use sixbench_method::units::counted;
use sixbench_report::event_words::{self as words, Narrowing};
use std::time::Duration;

/// The view with a progress display on a terminal.
pub(crate) struct ProgressView {
    bar: ProgressBar,
    measurements: [u32; 2],
    narrowing: Narrowing,
    now: String,
    last: String,
}

impl ProgressView {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:24.cyan/dim} {percent} %, {prefix}\n  now   {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self {
            bar,
            measurements: [0, 0],
            narrowing: Narrowing::default(),
            now: String::new(),
            last: String::new(),
        }
    }

    /// Shows the progress of the run by time, since measurements take very different times.
    fn progress(&self, elapsed_s: u64, remaining_s: u64) {
        self.bar.set_length((elapsed_s + remaining_s).max(1));
        self.bar.set_position(elapsed_s);
        let [ended, all] = self.measurements;
        let end =
            jiff::Zoned::now().saturating_add(jiff::SignedDuration::from_secs(remaining_s as i64));
        let left = words::left(remaining_s);
        self.bar.set_prefix(format!(
            "{ended} of {}, {left}, until {}",
            counted(all, "measurement"),
            end.strftime("%H:%M")
        ));
    }

    fn refresh(&self) {
        self.bar
            .set_message(format!("{}\n  last  {}", self.now, self.last));
    }
}

impl View for ProgressView {
    fn show(&mut self, event: &Event) {
        let text = visible_lines(&words::event(event).unwrap_or_default()).into_owned();
        self.narrowing.note(event);
        match event {
            Event::RunStarted {
                measurements,
                estimate_s,
                ..
            } => {
                self.bar.println(text);
                self.measurements[1] = *measurements;
                self.progress(0, *estimate_s);
            }
            Event::Progress {
                elapsed_s,
                remaining_s,
            } => self.progress(*elapsed_s, *remaining_s),
            Event::TrialStarted { .. } => {
                self.now = format!("{text}; {}", self.narrowing.describe());
            }
            Event::MeasurementStarted { .. } => self.now = text,
            Event::TrialEnded { .. } => self.last = text,
            Event::MeasurementEnded { .. } => {
                self.bar.println(text);
                // The view starts from 0, so the repeated events of a resumed run bring it to the right number.
                self.measurements[0] += 1;
            }
            Event::DutReady { .. }
            | Event::SelfTested { .. }
            | Event::Waiting { .. }
            | Event::Warning { .. } => {
                self.bar.println(text);
            }
            // Any later update would draw the bar again.
            Event::RunEnded { .. } => return self.bar.finish_and_clear(),
        }
        self.refresh();
    }
}

impl Drop for ProgressView {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
