//! One event, one line of JSON on stdout.

use super::View;
use sixbench_method::event::Event;
use std::io::Write;

/// See the module.
pub(crate) struct Json;

impl View for Json {
    fn show(&mut self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            // A reader that went away must not end the measurement.
            let _ = writeln!(std::io::stdout().lock(), "{line}");
        }
    }
}
