//! Counts, flushes and tears down the connections of a stateful device, using the commands in its recipe.

use crate::dut::template_vars::TemplateVars;
use crate::exec::{DeviceError, Shell, TestbedError, Wait};
use crate::recipe::{DeviceTimersSection, RecipeCommand, StateSection};
use std::time::{Duration, Instant};

/// The timeout for a command on the table, and for the table to become empty after it. With a hundred million connections this takes minutes.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The pause between two polls of the table. It is short compared with the time it takes to delete a million connections.
const PAUSE: Duration = Duration::from_millis(2);
/// The longest pause between polls that are not part of a measurement. The pause doubles up to this, because in a virtual machine each poll costs
/// milliseconds.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The times after which a flush is repeated or given up.
#[derive(Clone, Copy)]
struct Flushing {
    /// If the table has not shrunk for this long, the first flush is considered to have no further effect. The time doubles with each flush,
    first_stall: Duration,
    /// up to this: some flushes only shorten the timeouts, and the entries are collected much later.
    longest_stall: Duration,
    timeout: Duration,
}

const FLUSHING: Flushing = Flushing {
    first_stall: Duration::from_secs(1),
    longest_stall: Duration::from_secs(60),
    timeout: TIMEOUT,
};

/// A handle to the connections of a device; clones see the same device.
#[derive(Clone, Debug)]
pub struct ConnectionTable {
    name: String,
    state: StateSection,
    shell: Shell,
    vars: TemplateVars,
}

enum EntriesLeft {
    /// No entries, as far as can be determined, with the count.
    None(Option<u64>),
    /// This number of entries was left when the wait was given up.
    Entries(u64),
}

impl ConnectionTable {
    /// Returns the connections of a device that the user set up. The recipe's commands run on this machine.
    pub fn of_a_manual_device(
        name: &str,
        state: &StateSection,
        shell: &Shell,
        table_size: Option<u64>,
    ) -> Self {
        let table_size = table_size.or(state.table_size);
        Self::new(
            name,
            state,
            shell.clone(),
            TemplateVars {
                table_size,
                ..TemplateVars::default()
            },
        )
    }

    pub(crate) fn new(name: &str, state: &StateSection, shell: Shell, vars: TemplateVars) -> Self {
        Self {
            name: name.to_owned(),
            state: state.clone(),
            shell: shell.with_timeout(TIMEOUT),
            vars,
        }
    }

    /// Returns the current number of connections of the device, or `None` if the recipe has no command that counts them.
    ///
    /// # Errors
    /// If the recipe's command fails, or prints no number.
    pub fn count(&self) -> Result<Option<u64>, TestbedError> {
        // Rounded up, so that an entry that is not part of a complete connection is also counted.
        Ok(self
            .entries()?
            .map(|entries| entries.div_ceil(self.state.entries.max(1))))
    }

    fn entries(&self) -> Result<Option<u64>, TestbedError> {
        self.number(self.state.count.as_ref())
    }

    /// Returns the number of connections that the table can hold, or `None` if the recipe has no command for it.
    ///
    /// # Errors
    /// If the recipe's command fails, or prints no number.
    pub fn limit(&self) -> Result<Option<u64>, TestbedError> {
        let entries = self.number(self.state.limit.as_ref())?;
        // Rounded down, as a connection that lacks one of its entries has no room.
        Ok(entries.map(|entries| entries / self.state.entries.max(1)))
    }

    /// Returns the minimum time for which an idle connection is kept, or `None` if the recipe has no command for it.
    ///
    /// # Errors
    /// If the recipe's command fails, or prints no number.
    pub fn timeout(&self) -> Result<Option<Duration>, TestbedError> {
        Ok(self
            .number(self.state.timeout.as_ref())?
            .map(Duration::from_secs))
    }

    /// Deletes all connections, waits until the device has none, and returns its count then. After an overload, frames still queued in the device
    /// can open new connections after the flush, so the flush is repeated if the table does not shrink.
    ///
    /// # Errors
    /// A command fails, the table is not empty after ten minutes, or a stop was requested.
    pub fn empty(&self) -> Result<Option<u64>, TestbedError> {
        self.empty_by(FLUSHING)
    }

    fn empty_by(&self, flushing: Flushing) -> Result<Option<u64>, TestbedError> {
        let steps = &self.state.flush;
        self.run(steps)?;
        let (mut flushes, mut stall) = (1, flushing.first_stall);
        let mut wait = self
            .shell
            .wait(flushing.timeout, PAUSE)
            .backing_off(LONGEST_PAUSE);
        loop {
            match self.until_empty(&mut wait, stall)? {
                EntriesLeft::None(counted) => return Ok(counted),
                EntriesLeft::Entries(left) if wait.is_over() => {
                    return Err(self.not_empty(left, steps, flushes, &wait));
                }
                // With no command to repeat, waiting is all that can be done.
                EntriesLeft::Entries(_) if steps.is_empty() => {}
                EntriesLeft::Entries(left) => {
                    self.shell
                        .transcript()
                        .comment(&format!("again: {left} entries are left"));
                    self.run(steps)?;
                    flushes += 1;
                    stall = (stall * 2).min(flushing.longest_stall);
                }
            }
        }
    }

    /// Deletes all connections with the implementation's own commands and returns how long it took until none were left. Neither are the commands
    /// repeated nor do the pauses grow, so that this is the time of a single tear-down. It starts after the residual time of a trial without loss,
    /// when no frames are queued any more.
    ///
    /// # Errors
    /// If a command fails, or connections are left when the time for it is over.
    pub fn tear_down(&self) -> Result<Duration, TestbedError> {
        let steps = if self.state.tear_down.is_empty() {
            &self.state.flush
        } else {
            &self.state.tear_down
        };
        self.shell
            .transcript()
            .comment("the tear-down that is measured");
        let start = Instant::now();
        self.run(steps)?;
        let mut wait = self.shell.wait(TIMEOUT, PAUSE);
        match self.until_empty(&mut wait, TIMEOUT)? {
            EntriesLeft::None(_) => Ok(start.elapsed()),
            EntriesLeft::Entries(left) => Err(self.not_empty(left, steps, 1, &wait)),
        }
    }

    /// Sets the short timers of the recipe, and returns them; `None` if it has none.
    ///
    /// # Errors
    /// If a command fails.
    pub fn set_short_timers(&self) -> Result<Option<DeviceTimersSection>, TestbedError> {
        let timers = self.state.timers.clone();
        if let Some(timers) = &timers {
            self.run(&timers.short)?;
        }
        Ok(timers)
    }

    /// Gives the device the timers that it has by itself, and returns false if the recipe does not say how.
    ///
    /// # Errors
    /// If a command fails.
    pub fn set_own_timers(&self) -> Result<bool, TestbedError> {
        let own = self.state.timers.as_ref().map(|timers| &timers.own);
        let Some(own) = own.filter(|own| !own.is_empty()) else {
            return Ok(false);
        };
        self.run(own).map(|()| true)
    }

    /// Empties the table and gives the device a small pool. Returns false if the recipe does not say how.
    ///
    /// # Errors
    /// If a command fails.
    pub fn set_small_pool(&self) -> Result<bool, TestbedError> {
        self.run(&self.state.small_pool)?;
        Ok(!self.state.small_pool.is_empty())
    }

    /// Polls the table until it is empty. Gives up when the wait is over or the count has not fallen for `stall`.
    fn until_empty(
        &self,
        wait: &mut Wait<'_>,
        stall: Duration,
    ) -> Result<EntriesLeft, TestbedError> {
        let (mut least, mut fell) = (u64::MAX, Instant::now());
        loop {
            let left = match self.entries()? {
                Some(left) if left > 0 => left,
                counted => return Ok(EntriesLeft::None(counted)),
            };
            if left < least {
                (least, fell) = (left, Instant::now());
            }
            if wait.is_over() || fell.elapsed() > stall {
                return Ok(EntriesLeft::Entries(left));
            }
            wait.rest(|| format!("{} to be empty: {left} entries left", self.name))?;
        }
    }

    fn not_empty(
        &self,
        left: u64,
        steps: &[RecipeCommand],
        flushes: u32,
        wait: &Wait<'_>,
    ) -> TestbedError {
        let commands: Vec<_> = steps.iter().map(|step| self.vars.fill(&step.run)).collect();
        let (commands, seconds) = (commands.join("; "), wait.elapsed().as_secs());
        let after = match flushes {
            _ if steps.is_empty() => format!("{seconds} s after its restart"),
            1 => format!("{seconds} s after `{commands}`"),
            _ => format!("after `{commands}` was run {flushes} times in {seconds} s"),
        };
        DeviceError::NotEmptied {
            title: self.name.clone(),
            left,
            after,
        }
        .into()
    }

    fn run(&self, steps: &[RecipeCommand]) -> Result<(), TestbedError> {
        steps.iter().try_for_each(|step| {
            self.shell
                .run_stoppably(&self.vars.command_words(&step.run))
                .map(drop)
        })
    }

    /// Returns the first number in the output of a command, or `None` if there is no command or this is a rehearsal.
    fn number(&self, step: Option<&RecipeCommand>) -> Result<Option<u64>, TestbedError> {
        let Some(step) = step.filter(|_| !self.shell.is_rehearsal()) else {
            return Ok(None);
        };
        let printed = self.shell.look(&self.vars.command_words(&step.run))?;
        let number = printed
            .split_whitespace()
            .find_map(|word| word.parse().ok());
        if number.is_none() {
            return Err(DeviceError::NoNumber {
                command: self.vars.fill(&step.run),
                printed: printed.trim().to_owned(),
            }
            .into());
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// A table in files: `count` has the number of entries, `flushes` one line per flush.
    struct Rigged(PathBuf);

    impl Rigged {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sb-{}-table-{name}", std::process::id()));
            std::fs::create_dir_all(&path).expect("a directory");
            std::fs::write(path.join("count"), "5343\n").expect("a file");
            Self(path)
        }

        /// Returns a device whose flush runs `script` in the directory.
        fn table(&self, script: &str, shell: &Shell) -> ConnectionTable {
            let directory = self.0.display();
            std::fs::write(
                self.0.join("flush"),
                format!("cd {directory}\necho >> flushes\n{script}\n"),
            )
            .expect("a file");
            let text = format!(
                "pool = [\"198.19.0.1\"]\ncount = {{ run = \"cat {directory}/count\" }}\n\
                 flush = [{{ run = \"sh {directory}/flush\" }}]\n"
            );
            ConnectionTable::of_a_manual_device(
                "rigged",
                &toml::from_str(&text).expect("a state"),
                shell,
                None,
            )
        }

        fn flushes(&self) -> usize {
            std::fs::read_to_string(self.0.join("flushes")).map_or(0, |text| text.lines().count())
        }
    }

    impl Drop for Rigged {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const ONLY_THE_SECOND: &str = "[ $(wc -l < flushes) -ge 2 ] && echo 0 > count; true";

    #[test]
    fn a_table_that_late_frames_have_filled_again_is_flushed_again() {
        let rigged = Rigged::new("late");
        let shell = Shell::new();
        assert_eq!(
            rigged
                .table(ONLY_THE_SECOND, &shell)
                .empty()
                .expect("empty"),
            Some(0)
        );
        assert_eq!(rigged.flushes(), 2);
        assert!(
            shell
                .transcript()
                .text()
                .contains("# again: 5343 entries are left\nsh "),
            "{}",
            shell.transcript().text()
        );
    }

    #[test]
    fn a_table_that_becomes_smaller_by_itself_is_flushed_once() {
        let rigged = Rigged::new("slow");
        let slowly = "(for left in $(seq 15 -1 0); do sleep 0.1; echo $left > new; mv new count; done) > /dev/null 2>&1 &";
        assert_eq!(
            rigged.table(slowly, &Shell::new()).empty().expect("empty"),
            Some(0)
        );
        assert_eq!(rigged.flushes(), 1);
    }

    /// The times used for a real device, divided by 50.
    const FAST: Flushing = Flushing {
        first_stall: Duration::from_millis(20),
        longest_stall: Duration::from_millis(1200),
        timeout: Duration::from_secs(12),
    };

    #[test]
    fn a_flush_that_only_shortens_the_timeouts_of_entries_is_waited_for() {
        let rigged = Rigged::new("timeouts");
        // The first flush starts 150 s of a real device, during which the count does not change.
        let much_later = "[ $(wc -l < flushes) -gt 1 ] || (sleep 3; echo 0 > new; mv new count) > /dev/null 2>&1 &";
        assert_eq!(
            rigged
                .table(much_later, &Shell::new())
                .empty_by(FAST)
                .expect("empty"),
            Some(0)
        );
        let flushes = rigged.flushes();
        assert!(
            (3..=10).contains(&flushes),
            "stalls of 20, 40, 80, 160, 320, 640 and 1200 ms and more: {flushes} flushes"
        );
    }

    #[test]
    fn a_table_that_never_gets_empty_is_told_with_its_last_count() {
        let rigged = Rigged::new("never");
        let start = Instant::now();
        let short = Flushing {
            timeout: Duration::from_secs(2),
            ..FAST
        };
        let error = rigged
            .table("true", &Shell::new())
            .empty_by(short)
            .expect_err("never empty")
            .to_string();
        assert!(start.elapsed() >= short.timeout);
        assert!(
            error.starts_with("the device rigged still has 5343 entries after `sh /"),
            "{error}"
        );
        assert!(
            error.contains(&format!(
                "/flush` was run {} times in 2 s; no other host may use it",
                rigged.flushes()
            )),
            "{error}"
        );
    }

    #[test]
    fn a_request_to_stop_ends_the_wait_for_an_empty_table() {
        let rigged = Rigged::new("stop");
        let stop = Arc::new(AtomicBool::new(false));
        let table = rigged.table("true", &Shell::new().stopped_by(stop.clone()));
        let start = Instant::now();
        for wait in [
            |table: &ConnectionTable| table.empty().map(drop),
            |table: &ConnectionTable| table.tear_down().map(drop),
        ] {
            stop.store(false, std::sync::atomic::Ordering::Relaxed);
            let before = rigged.flushes();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| wait(&table));
                while rigged.flushes() == before && !waiting.is_finished() {
                    std::thread::yield_now();
                }
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
                let error = waiting.join().expect("no panic").expect_err("interrupted");
                assert!(matches!(error, TestbedError::Interrupted), "{error}");
            });
        }
        assert!(start.elapsed() < TIMEOUT / 2, "{:?}", start.elapsed());
    }

    #[test]
    fn a_tear_down_is_made_once_since_it_is_measured() {
        let rigged = Rigged::new("tear-down");
        let late = "(sleep 1.5; echo 0 > new; mv new count) > /dev/null 2>&1 &";
        let took = rigged
            .table(late, &Shell::new())
            .tear_down()
            .expect("torn down");
        assert_eq!(rigged.flushes(), 1);
        assert!(took >= Duration::from_millis(1500), "{took:?}");
    }
}
