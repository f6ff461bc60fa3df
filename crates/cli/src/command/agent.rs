//! `sixbench agent`: one end of a tester whose other end runs on another machine, which also has the plan.

use crate::exit::{Exit, Failed};
use sixbench_runner::{agent, stop};
use std::io;
use std::time::Duration;

/// Serves the machine that started this process, over standard input and output, until the input ends.
pub(crate) fn agent(silence_ns: u64) -> Result<Exit, Failed> {
    let stop = stop::install()?;
    agent::serve(
        io::stdin(),
        io::stdout(),
        Duration::from_nanos(silence_ns),
        &stop,
    )?;
    Ok(Exit::Done)
}
