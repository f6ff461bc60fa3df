//! Plain lines on stderr, for logs and pipes: no colour, no bars.

use super::{View, words};
use crate::output::tell;
use sixbench_method::event::Event;

/// See the module.
pub(crate) struct Plain;

impl View for Plain {
    fn show(&mut self, event: &Event) {
        // A trial is told once, when it has ended.
        if matches!(event, Event::TrialStarted { .. } | Event::MeasurementStarted { .. }) {
            return;
        }
        if let Some(text) = words::event(event) {
            let indent = if matches!(event, Event::TrialEnded { .. }) { "  " } else { "" };
            tell!("{indent}{text}");
        }
    }
}
