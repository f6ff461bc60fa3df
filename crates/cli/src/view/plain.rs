//! Plain lines on stderr, for logs and pipes: no colour, no bars.

use super::View;
use crate::output::tell;
use sixbench_method::event::Event;
use sixbench_report::event_words as words;

/// The view with plain lines, for logs and pipes.
#[derive(Default)]
pub(crate) struct Plain {
    /// The run's total duration as last printed, seconds.
    told_s: u64,
}

impl Plain {
    /// Returns whether the total duration differs by more than a quarter from the one last printed: a log does not need a line after each trial.
    fn is_news(&mut self, whole_s: u64) -> bool {
        let is_news = 4 * whole_s.abs_diff(self.told_s) > self.told_s;
        if is_news {
            self.told_s = whole_s;
        }
        is_news
    }
}

impl View for Plain {
    fn show(&mut self, event: &Event) {
        match event {
            Event::RunStarted { estimate_s, .. } => self.told_s = *estimate_s,
            Event::Progress {
                elapsed_s,
                remaining_s,
            } if !self.is_news(elapsed_s + remaining_s) => return,
            _ => {}
        }
        // A trial gets one line, when it has ended.
        if matches!(
            event,
            Event::TrialStarted { .. } | Event::MeasurementStarted { .. }
        ) {
            return;
        }
        if let Some(text) = words::event(event) {
            let indent = if matches!(event, Event::TrialEnded { .. }) {
                "  "
            } else {
                ""
            };
            tell!("{indent}{text}");
        }
    }
}

/// The view that tells only of warnings, for scripts that read what a run has found when it is over.
pub(crate) struct QuietView;

impl View for QuietView {
    fn show(&mut self, event: &Event) {
        if !matches!(event, Event::Warning { .. }) {
            return;
        }
        if let Some(text) = words::event(event) {
            tell!("{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_told_when_the_whole_is_a_quarter_off() {
        let mut plain = Plain { told_s: 100 };
        assert_eq!(
            [110, 125, 126, 140, 170].map(|whole_s| plain.is_news(whole_s)),
            [false, false, true, false, true]
        );
        assert!(plain.is_news(100), "also when it gets shorter");
    }
}
