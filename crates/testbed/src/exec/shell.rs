//! Runs the system's tools in one place and records the commands.

use super::{
    Daemon, ExecTarget, TestbedError, Transcript, Wait, WaitContext, here_document, quoted,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The default timeout, after which a command is considered to hang.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The path of the running program, as provided by the kernel.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Runs commands in one place.
#[derive(Clone, Debug)]
pub struct Shell {
    transcript: Transcript,
    target: ExecTarget,
    is_rehearsal: bool,
    timeout: Duration,
    context: Arc<WaitContext>,
}

impl Shell {
    /// Returns a shell for this machine.
    pub fn new() -> Self {
        Self {
            transcript: Transcript::default(),
            target: ExecTarget::Here,
            is_rehearsal: false,
            timeout: TIMEOUT,
            context: Arc::default(),
        }
    }

    /// Returns a shell that only writes the transcript.
    pub fn rehearsal() -> Self {
        Self {
            is_rehearsal: true,
            ..Self::new()
        }
    }

    /// Returns a shell in a namespace, with the same transcript.
    pub fn within(&self, namespace: &str) -> Self {
        self.at(ExecTarget::Namespace(namespace.to_owned()))
    }

    pub(crate) fn at(&self, target: ExecTarget) -> Self {
        Self {
            target,
            ..self.clone()
        }
    }

    pub(crate) fn target(&self) -> &ExecTarget {
        &self.target
    }

    /// Returns a shell outside of our namespaces, with the same transcript.
    pub fn outside(&self) -> Self {
        self.at(ExecTarget::Here)
    }

    /// Returns the same shell with this timeout for each command.
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Returns the same shell with a flag that is set to request a stop; shells made from it share the flag. The running command then gets a moment
    /// to finish, waits end, and no further command starts: all of them return [`TestbedError::Interrupted`].
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        self.with_context(|context| context.stopped_by(stop))
    }

    /// Returns the same shell with a listener, shared by shells made from it, that gets a sentence about each wait of more than a few seconds.
    pub fn told_to(self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.with_context(|context| context.told_to(listener))
    }

    /// Returns the same shell. If `waits`, a sysctl that another run needs with a different value is waited for, and is not an error.
    pub fn waiting_for_other_runs(self, waits: bool) -> Self {
        self.with_context(|context| context.waiting_for_other_runs(waits))
    }

    /// Returns the same shell, whose long-running commands are reported as a wait for `purpose`.
    pub(crate) fn for_purpose(self, purpose: &str) -> Self {
        self.with_context(|context| context.for_purpose(purpose))
    }

    /// Returns the same shell, whose commands run even if a stop was requested, because the setup must be undone.
    pub(crate) fn for_undoing(&self) -> Self {
        self.clone().with_context(WaitContext::unstoppable)
    }

    fn with_context(self, change: impl FnOnce(WaitContext) -> WaitContext) -> Self {
        Self {
            context: Arc::new(change(WaitContext::clone(&self.context))),
            ..self
        }
    }

    pub(crate) fn context(&self) -> &WaitContext {
        &self.context
    }

    /// Starts a wait that is over after `timeout` and sleeps for `pause` between two polls.
    pub(crate) fn wait(&self, timeout: Duration, pause: Duration) -> Wait<'_> {
        self.context.wait(timeout, pause)
    }

    /// Returns the transcript of the commands run so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns true if commands are not actually run.
    pub fn is_rehearsal(&self) -> bool {
        self.is_rehearsal
    }

    /// Runs a command that may change something to its end, and returns its standard output.
    ///
    /// # Errors
    /// The command failed, or a stop was requested before it or, on this machine, while it ran. On another machine, a stop does not interrupt it:
    /// it would continue there, and its changes would not be undone.
    pub fn run<S: AsRef<str>>(&self, words: &[S]) -> Result<String, TestbedError> {
        self.run_heeding(&self.context_of_changes(), words)
    }

    /// Like [`Shell::run`], for a command whose changes need not be undone: a stop request interrupts it on another machine, too.
    pub(crate) fn run_stoppably(&self, words: &[String]) -> Result<String, TestbedError> {
        self.run_heeding(&self.context, words)
    }

    fn run_heeding<S: AsRef<str>>(
        &self,
        context: &WaitContext,
        words: &[S],
    ) -> Result<String, TestbedError> {
        self.context.check()?;
        self.transcript
            .line(&quoted(&self.target.command_line(words)));
        if self.is_rehearsal {
            Ok(String::new())
        } else {
            self.target.capture(words, self.timeout, context)
        }
    }

    /// Returns the context for waiting until a change is complete. On another machine, this ignores stop requests.
    fn context_of_changes(&self) -> WaitContext {
        let context = WaitContext::clone(&self.context);
        if self.target.commands_outlive_us() {
            context.unstoppable()
        } else {
            context
        }
    }

    /// Like [`Shell::run`], for a command that changes nothing: neither transcript nor rehearsal includes it.
    ///
    /// # Errors
    /// If the command cannot be run or fails, with what it wrote.
    pub fn look<S: AsRef<str>>(&self, words: &[S]) -> Result<String, TestbedError> {
        if self.is_rehearsal {
            return Ok(String::new());
        }
        self.context.check()?;
        self.target.capture(words, self.timeout, &self.context)
    }

    /// Checks that another machine still runs commands. Does nothing for any other place.
    ///
    /// # Errors
    /// The connection is lost, or there was no answer in time.
    pub(crate) fn check_answers(&self) -> Result<(), TestbedError> {
        match self.target() {
            ExecTarget::Ssh(remote) if !self.is_rehearsal => remote.check_answers(&self.context),
            _ => Ok(()),
        }
    }

    /// Runs the words of a line, separated by whitespace.
    ///
    /// # Errors
    /// If the command cannot be run or fails, with what it wrote.
    pub fn line(&self, line: &str) -> Result<String, TestbedError> {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Writes a small file such as a sysctl under /proc/sys or /sys, in this shell's namespace.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn set(&self, path: &str, value: &str) -> Result<(), TestbedError> {
        let [value, path] = [value, path].map(|word| quoted(&[word.to_owned()]));
        self.run(&["sh", "-c", &format!("echo {value} > {path}")])
            .map(drop)
    }

    /// Writes a configuration file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path, content: &str) -> Result<(), TestbedError> {
        self.write_shown(path, content, content)
    }

    fn write_shown(&self, path: &Path, content: &str, shown: &str) -> Result<(), TestbedError> {
        self.context.check()?;
        self.transcript.line(&format!(
            "{} {}",
            self.target.write_line(path),
            here_document(shown.trim_end())
        ));
        if self.is_rehearsal {
            Ok(())
        } else {
            self.target.write(path, content, &self.context_of_changes())
        }
    }

    /// Writes a file that may be too large for the transcript, which then has its first lines only.
    pub(crate) fn write_large(&self, path: &Path, content: &str) -> Result<(), TestbedError> {
        const LINES: usize = 20;
        if content.lines().nth(LINES).is_none() {
            return self.write(path, content);
        }
        let head: String = content
            .lines()
            .take(LINES)
            .map(|line| format!("{line}\n"))
            .collect();
        self.transcript.comment(&format!(
            "the first {LINES} lines of {} octets",
            content.len()
        ));
        self.write_shown(path, content, &head)
    }

    /// Copies the running program to a file on another machine that only its owner, root, can read and run.
    ///
    /// # Errors
    /// The connection is lost, there is not enough space, or this shell runs on this machine.
    pub(crate) fn copy_this_program(&self, to: &Path) -> Result<(), TestbedError> {
        self.context.check()?;
        let ExecTarget::Ssh(remote) = &self.target else {
            return Err(TestbedError::CopiedHere);
        };
        let shown = std::env::current_exe().unwrap_or_else(|_| Path::new(THIS_PROGRAM).to_owned());
        let line = format!(
            "umask 077; cat > {0} && chmod 700 {0}",
            quoted(&[to.display().to_string()])
        );
        self.transcript.line(&format!(
            "{} < {}",
            quoted(&remote.shown(line)),
            quoted(&[shown.display().to_string()])
        ));
        if self.is_rehearsal {
            Ok(())
        } else {
            // This path works even if the program was replaced meanwhile.
            remote.copy_program(Path::new(THIS_PROGRAM), to, &self.context_of_changes())
        }
    }

    /// Starts a daemon whose output goes to `log`. It dies with the thread that started it, even after kill -9; on another machine, with this
    /// process. Only in its first milliseconds, before setpriv has requested that, could it outlive us. The next sweep finds such a process.
    ///
    /// # Errors
    /// If the daemon cannot be started.
    pub fn start(
        &self,
        cores: &str,
        words: &[String],
        log: &Path,
    ) -> Result<Option<Daemon>, TestbedError> {
        self.context.check()?;
        self.transcript
            .line(&self.target.daemon_line(cores, words, log));
        if self.is_rehearsal {
            Ok(None)
        } else {
            self.target
                .spawn(cores, words, log, &self.context)
                .map(Some)
        }
    }

    /// Returns an error that names the package if a program is not installed in this shell's place: also in a rehearsal, whose transcript is of no use
    /// on a machine without the program.
    pub(crate) fn require(&self, program: &str) -> Result<(), TestbedError> {
        self.target.require(program, &self.context)
    }

    pub(crate) fn last_lines(&self, log: &Path, count: usize) -> Vec<String> {
        self.target.last_lines(log, count, &self.context)
    }
}

impl Default for Shell {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_is_run() {
        let path = std::env::temp_dir().join(format!("sb-{}-set it's", std::process::id()));
        let touched = std::env::temp_dir().join(format!("sb-{}-touched", std::process::id()));
        let value = format!("1; touch {}", touched.display());
        Shell::new()
            .set(&path.display().to_string(), &value)
            .expect("written");
        assert_eq!(
            std::fs::read_to_string(&path).expect("a file"),
            format!("{value}\n")
        );
        assert!(!touched.exists());
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn neither_a_comment_nor_a_file_ends_early_in_the_transcript() {
        let shell = Shell::rehearsal();
        shell.transcript().comment("a title\nrm -rf x");
        shell
            .write(Path::new("/x y"), "one\nEND\nrm -rf x\n")
            .expect("rehearsed");
        assert_eq!(
            shell.transcript().text(),
            "# a title\n# rm -rf x\ncat > '/x y' <<'END_'\none\nEND\nrm -rf x\nEND_\n"
        );
    }

    #[test]
    fn a_program_missing_in_a_namespace_names_its_package_too() {
        let error = Shell::new()
            .within("sb-none")
            .line("sb-no-such-program -x")
            .unwrap_err();
        assert!(matches!(error, TestbedError::Missing { .. }), "{error}");
    }

    #[test]
    fn a_failure_tells_the_command_and_what_it_printed() {
        let error = Shell::new()
            .run(&["sh", "-c", "echo cannot >&2; exit 3"])
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "`sh -c 'echo cannot >&2; exit 3'` failed (exit status: 3): cannot"
        );
    }

    #[test]
    fn the_transcript_can_be_run_again() {
        let shell = Shell::rehearsal();
        shell
            .within("sb-x")
            .run(&["echo", "it's", "a b"])
            .expect("rehearsed");
        assert_eq!(
            shell.transcript().text(),
            "ip netns exec sb-x echo 'it'\\''s' 'a b'\n"
        );
    }

    #[test]
    fn of_a_large_file_the_transcript_has_the_first_lines() {
        let shell = Shell::rehearsal();
        let content: String = (0..100).map(|line| format!("line {line}\n")).collect();
        shell
            .write_large(Path::new("/x"), &content)
            .expect("rehearsed");
        let text = shell.transcript().text();
        assert!(
            text.starts_with("# the first 20 lines of 790 octets\ncat > /x <<'END'\nline 0\n"),
            "{text}"
        );
        assert!(text.ends_with("line 19\nEND\n"), "{text}");
    }

    #[test]
    fn much_output_does_not_block_a_command() {
        let printed = Shell::new()
            .run(&["sh", "-c", "yes | head -c 1000000"])
            .expect("output");
        assert_eq!(printed.len(), 1_000_000);
    }
}
