//! The connections of a stateful device, seen and deleted by its recipe's own commands: counted, emptied between trials, torn down.

use crate::filling::Filling;
use crate::recipe::{State, Step};
use crate::shell::{Shell, TestbedError};
use std::time::{Duration, Instant};

/// How long a command on the table may take, and the table to be empty after it: of a hundred million connections it is minutes.
const PATIENCE: Duration = Duration::from_secs(600);
/// Between two looks at it: short beside what deleting a million connections takes.
const PAUSE: Duration = Duration::from_millis(2);

/// A handle to them; clones see the same device.
#[derive(Clone, Debug)]
pub struct ConnectionTable {
    state: State,
    shell: Shell,
    filling: Filling,
}

impl ConnectionTable {
    /// The connections of a device that the user set up: its recipe's commands run on this machine.
    pub fn of_a_manual_device(state: &State, shell: &Shell, table_size: Option<u64>) -> Self {
        let table_size = table_size.or(state.table_size);
        Self::new(state, shell.clone(), Filling { table_size, ..Filling::default() })
    }

    pub(crate) fn new(state: &State, shell: Shell, filling: Filling) -> Self {
        Self { state: state.clone(), shell: shell.with_patience(PATIENCE), filling }
    }

    /// Connections the device has now; `None` where the recipe does not say how to ask.
    pub fn count(&self) -> Result<Option<u64>, TestbedError> {
        // An entry beside those of whole connections is none too many to be seen.
        Ok(self.entries()?.map(|entries| entries.div_ceil(self.state.entries.max(1))))
    }

    fn entries(&self) -> Result<Option<u64>, TestbedError> {
        self.number(self.state.count.as_ref())
    }

    /// Connections the table can hold.
    pub fn limit(&self) -> Result<Option<u64>, TestbedError> {
        let entries = self.number(self.state.limit.as_ref())?;
        Ok(entries.map(|entries| entries / self.state.entries.max(1)))
    }

    /// For how long an idle connection is kept at least.
    pub fn timeout(&self) -> Result<Option<Duration>, TestbedError> {
        Ok(self.number(self.state.timeout.as_ref())?.map(Duration::from_secs))
    }

    /// Deletes all connections and waits until the device has none. Returns what it counts then.
    pub fn empty(&self) -> Result<Option<u64>, TestbedError> {
        self.run(&self.state.flush)?;
        self.wait_until_empty(&self.state.flush)
    }

    /// Deletes all connections by the implementation's own commands; returns how long it took until there were none.
    pub fn tear_down(&self) -> Result<Duration, TestbedError> {
        let steps = if self.state.tear_down.is_empty() { &self.state.flush } else { &self.state.tear_down };
        self.shell.transcript().comment("the tear-down that is measured");
        let start = Instant::now();
        self.run(steps)?;
        self.wait_until_empty(steps)?;
        Ok(start.elapsed())
    }

    fn wait_until_empty(&self, steps: &[Step]) -> Result<Option<u64>, TestbedError> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.entries()? {
                Some(left) if left > 0 && Instant::now() > end => {
                    let commands: Vec<_> = steps.iter().map(|step| self.filling.fill(&step.run)).collect();
                    return Err(TestbedError::Other(format!(
                        "the device still has {left} entries {} s after `{}`: nobody else may use it, and its recipe's \
                         [state] must name a command that empties its table",
                        PATIENCE.as_secs(),
                        commands.join("; ")
                    )));
                }
                Some(left) if left > 0 => std::thread::sleep(PAUSE),
                counted => return Ok(counted),
            }
        }
    }

    fn run(&self, steps: &[Step]) -> Result<(), TestbedError> {
        steps.iter().try_for_each(|step| self.shell.line(&self.filling.fill(&step.run)).map(drop))
    }

    /// The first number among the words a command prints.
    fn number(&self, step: Option<&Step>) -> Result<Option<u64>, TestbedError> {
        let Some(step) = step.filter(|_| !self.shell.is_rehearsal()) else { return Ok(None) };
        let line = self.filling.fill(&step.run);
        let printed = self.shell.look(&line.split_whitespace().collect::<Vec<_>>())?;
        let number = printed.split_whitespace().find_map(|word| word.parse().ok());
        let unread = || TestbedError::Other(format!("`{line}` should print a number, but printed: {}", printed.trim()));
        number.map(Some).ok_or_else(unread)
    }
}
