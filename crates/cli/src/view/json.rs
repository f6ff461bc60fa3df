//! Each event as one line of JSON on stdout.

use super::View;
use crate::output::{self, tell};
use sixbench_method::event::Event;
use std::io;

/// The view that writes each event as one line of JSON.
#[derive(Default)]
pub(crate) struct Json {
    /// The first error in writing: neither a full disk nor a closed pipe may end the measurement.
    failure: Option<io::Error>,
}

impl View for Json {
    fn show(&mut self, event: &Event) {
        if self.failure.is_some() {
            return;
        }
        let line = serde_json::to_string(event).map_err(io::Error::from);
        self.failure = line.and_then(output::line).err();
        if let Some(failure) = &self.failure {
            tell!("warning: {failure}; no further event is written, and the run goes on");
        }
    }

    fn close(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
