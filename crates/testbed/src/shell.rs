//! Runs the system's own tools, and keeps a transcript: what a run did can be read, and done again by hand.

use crate::process::{command, wait};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A command that takes longer than this hangs, where nothing else is said.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why the testbed is not as it should be: where, what, and what next.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// A program is not installed.
    #[error("cannot run {program}: not installed ({cure})")]
    Missing {
        /// The program.
        program: String,
        /// How to come by it: a command, or its source.
        cure: String,
    },
    /// A command ended with an error.
    #[error("`{command}` failed ({status}): {output}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines it printed.
        output: String,
    },
    /// A file or directory cannot be used.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

/// Every command that was run, in order, as lines of a shell script.
#[derive(Clone, Debug, Default)]
pub struct Transcript(Arc<Mutex<String>>);

impl Transcript {
    /// The script so far.
    pub fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a comment.
    pub fn comment(&self, text: &str) {
        self.line(&format!("# {text}"));
    }

    /// Adds a line as it stands.
    pub(crate) fn line(&self, text: &str) {
        let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        script.push_str(text);
        script.push('\n');
    }
}

/// Runs commands in one place: here, or in a network namespace.
#[derive(Clone, Debug)]
pub struct Shell {
    transcript: Transcript,
    namespace: Option<String>,
    is_rehearsal: bool,
    patience: Duration,
}

impl Shell {
    /// Runs commands here.
    pub fn new() -> Self {
        Self { transcript: Transcript::default(), namespace: None, is_rehearsal: false, patience: PATIENCE }
    }

    /// Runs nothing: only the transcript is written.
    pub fn rehearsal() -> Self {
        Self { is_rehearsal: true, ..Self::new() }
    }

    /// A shell in a namespace, with the same transcript.
    pub fn within(&self, namespace: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..self.clone() }
    }

    /// A shell outside of every namespace of ours, with the same transcript.
    pub fn outside(&self) -> Self {
        Self { namespace: None, ..self.clone() }
    }

    /// The same shell, whose commands may take so long.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// What was run so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Whether nothing is really run.
    pub fn is_rehearsal(&self) -> bool {
        self.is_rehearsal
    }

    /// Runs a command to its end; returns what it printed on standard output.
    pub fn run<S: AsRef<str>>(&self, words: &[S]) -> Result<String, TestbedError> {
        self.transcript.line(&quoted(&self.full(words)));
        self.look(words)
    }

    /// As [`Shell::run`], for a command that only looks: it is left out of the transcript, and of a rehearsal.
    pub fn look<S: AsRef<str>>(&self, words: &[S]) -> Result<String, TestbedError> {
        if self.is_rehearsal {
            return Ok(String::new());
        }
        // Asked here: `ip netns exec` would only say that it cannot.
        require(words[0].as_ref())?;
        capture(&self.full(words), self.patience)
    }

    /// Runs the words of a line, separated by white space.
    pub fn line(&self, line: &str) -> Result<String, TestbedError> {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Writes a small file such as a switch under /proc/sys or /sys, in this shell's namespace.
    pub fn set(&self, path: &str, value: &str) -> Result<(), TestbedError> {
        self.run(&["sh", "-c", &format!("echo {value} > {path}")]).map(drop)
    }

    /// Writes a configuration file.
    pub fn write(&self, path: &Path, content: &str) -> Result<(), TestbedError> {
        self.transcript.line(&format!("cat > {} <<'END'\n{}\nEND", path.display(), content.trim_end()));
        if self.is_rehearsal {
            return Ok(());
        }
        write(path, content)
    }

    /// Writes a file that may be too large to be repeated: then the transcript has its first lines.
    pub(crate) fn write_large(&self, path: &Path, content: &str) -> Result<(), TestbedError> {
        const LINES: usize = 20;
        if content.lines().nth(LINES).is_none() {
            return self.write(path, content);
        }
        let head: String = content.lines().take(LINES).map(|line| format!("{line}\n")).collect();
        self.transcript.comment(&format!("the first {LINES} lines of {} octets", content.len()));
        self.transcript.line(&format!("cat > {} <<'END'\n{head}END", path.display()));
        if self.is_rehearsal { Ok(()) } else { write(path, content) }
    }

    /// Starts a command that is to stay; its output goes to `log`. It dies with the thread that started it, also by kill -9.
    /// Only in its first milliseconds, before setpriv has asked for that, it would outlive us; then the next sweep finds it.
    pub fn start(&self, cores: &str, words: &[String], log: &Path) -> Result<Option<Child>, TestbedError> {
        // Pinned first of all: in the middle of a trial even the way to the program must not cross the tester's core.
        let prefix = ["taskset", "-c", cores, "setpriv", "--pdeathsig", "KILL"];
        let mut full: Vec<String> = prefix.into_iter().map(str::to_owned).collect();
        full.extend(self.full(words));
        self.transcript.line(&format!("{} > {} 2>&1 &", quoted(&full), log.display()));
        if self.is_rehearsal {
            return Ok(None);
        }
        let open = || std::fs::File::create(log);
        let what = "write";
        let file = |source| TestbedError::File { what, path: log.to_owned(), source };
        let (out, err) = (open().map_err(file)?, std::fs::File::options().append(true).open(log).map_err(file)?);
        let mut command = command(&full);
        command.stdout(out).stderr(err);
        command.spawn().map(Some).map_err(|error| missing(&full[0], &error))
    }

    fn full<S: AsRef<str>>(&self, words: &[S]) -> Vec<String> {
        let prefix = match &self.namespace {
            Some(name) => vec!["ip", "netns", "exec", name],
            None => vec![],
        };
        prefix.into_iter().chain(words.iter().map(AsRef::as_ref)).map(str::to_owned).collect()
    }
}

impl Default for Shell {
    fn default() -> Self {
        Self::new()
    }
}

fn write(path: &Path, content: &str) -> Result<(), TestbedError> {
    let what = "write";
    std::fs::write(path, content).map_err(|source| TestbedError::File { what, path: path.to_owned(), source })
}

/// Runs a command to its end; returns what it printed.
fn capture(words: &[String], patience: Duration) -> Result<String, TestbedError> {
    let mut command = command(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| missing(&words[0], &error))?;
    let output = wait(child, patience).map_err(|why| failed(words, "given up", &why))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let printed = [output.stderr, output.stdout].concat();
    Err(failed(words, &output.status.to_string(), &String::from_utf8_lossy(&printed)))
}

fn failed(words: &[String], status: &str, printed: &str) -> TestbedError {
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(4)..].join("; ");
    TestbedError::Failed { command: quoted(words), status: status.to_owned(), output: last }
}

fn missing(program: &str, error: &std::io::Error) -> TestbedError {
    if error.kind() != std::io::ErrorKind::NotFound {
        return TestbedError::Other(format!("cannot run {program}: {error}"));
    }
    not_installed(program)
}

/// An error that names the package, when a program is not installed.
pub(crate) fn require(program: &str) -> Result<(), TestbedError> {
    if has_program(program) {
        return Ok(());
    }
    Err(not_installed(program))
}

/// Of a program of the system's own, as every Debian has them.
fn not_installed(program: &str) -> TestbedError {
    TestbedError::Missing { program: program.to_owned(), cure: format!("apt-get install {}", package_of(program)) }
}

/// The Debian package of a program that is named otherwise.
fn package_of(program: &str) -> &str {
    match program {
        "ip" | "tc" => "iproute2",
        "nft" => "nftables",
        "setpriv" | "taskset" | "unshare" => "util-linux",
        "sysctl" => "procps",
        other => other,
    }
}

/// Whether a program can be found.
pub fn has_program(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    path.split(':').any(|directory| Path::new(directory).join(program).is_file())
}

/// The words as a line that a shell reads back as the same words.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Tells of something that could not be undone: nobody is left to return an error to.
pub(crate) fn complain(what: &str, error: &TestbedError) {
    let _ = writeln!(std::io::stderr(), "warning: {what}: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_names_its_package() {
        let error = Shell::new().line("sb-no-such-program -x").unwrap_err();
        assert_eq!(error.to_string(), "cannot run sb-no-such-program: not installed (apt-get install sb-no-such-program)");
    }

    #[test]
    fn a_program_missing_in_a_namespace_names_its_package_too() {
        let error = Shell::new().within("sb-none").line("sb-no-such-program -x").unwrap_err();
        assert!(matches!(error, TestbedError::Missing { .. }), "{error}");
    }

    #[test]
    fn a_failure_tells_the_command_and_what_it_printed() {
        let error = Shell::new().run(&["sh", "-c", "echo cannot >&2; exit 3"]).unwrap_err().to_string();
        assert_eq!(error, "`sh -c 'echo cannot >&2; exit 3'` failed (exit status: 3): cannot");
    }

    #[test]
    fn the_transcript_can_be_run_again() {
        let shell = Shell::rehearsal();
        shell.within("sb-x").run(&["echo", "it's", "a b"]).expect("rehearsed");
        assert_eq!(shell.transcript().text(), "ip netns exec sb-x echo 'it'\\''s' 'a b'\n");
    }

    #[test]
    fn of_a_large_file_the_transcript_has_the_first_lines() {
        let shell = Shell::rehearsal();
        let content: String = (0..100).map(|line| format!("line {line}\n")).collect();
        shell.write_large(Path::new("/x"), &content).expect("rehearsed");
        let text = shell.transcript().text();
        assert!(text.starts_with("# the first 20 lines of 790 octets\ncat > /x <<'END'\nline 0\n"), "{text}");
        assert!(text.ends_with("line 19\nEND\n"), "{text}");
    }

    #[test]
    fn much_output_does_not_block_a_command() {
        let printed = Shell::new().run(&["sh", "-c", "yes | head -c 1000000"]).expect("output");
        assert_eq!(printed.len(), 1_000_000);
    }
}
