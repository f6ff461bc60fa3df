//! Words quoted for a POSIX shell, so that every command that is printed can be pasted.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the words as a line that a shell parses into the same words.
pub fn quoted(words: &[String]) -> String {
    words
        .iter()
        .map(|word| quoted_word(OsStr::new(word)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns a word as a shell reads it. A word with octets that a terminal does not show, such as a line end or what is not UTF-8, is written by
/// `printf`, so that the command stays on one line.
pub fn quoted_word(word: &OsStr) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_plain) => text.to_owned(),
        Some(text) if !text.chars().any(sixbench_method::text::is_control) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => printed_by_printf(word.as_bytes()),
    }
}

/// Returns a path as a shell reads it, so that no program takes it for an option.
pub fn quoted_path(path: &Path) -> String {
    match path.as_os_str().as_bytes().first() {
        Some(b'-') => quoted_word(Path::new(".").join(path).as_os_str()),
        _ => quoted_word(path.as_os_str()),
    }
}

/// Returns a word whose octets `printf` writes. A command substitution drops line ends at the end of what it reads, so these are quoted after it.
fn printed_by_printf(octets: &[u8]) -> String {
    let ends = octets
        .iter()
        .rev()
        .take_while(|octet| **octet == b'\n')
        .count();
    let (body, ends) = octets.split_at(octets.len() - ends);
    let escaped: String = body.iter().map(|&octet| escaped(octet)).collect();
    let ends = if ends.is_empty() {
        String::new()
    } else {
        format!("'{}'", "\n".repeat(ends.len()))
    };
    format!("\"$(printf '{escaped}')\"{ends}")
}

/// Returns an octet in a format of `printf`; a leading `-` is escaped, too, so that it begins no option.
fn escaped(octet: u8) -> String {
    match octet {
        // Some shells read the escapes of a format first, so that `\045` would begin a conversion.
        b'%' => "%%".to_owned(),
        b if b.is_ascii_alphanumeric() || b"_./:=,@+ ".contains(&b) => char::from(b).to_string(),
        b => format!("\\{b:03o}"),
    }
}

/// A command, as a person types it.
///
/// ```
/// use sixbench_testbed::ProgramCommand;
/// let command = ProgramCommand::new("sixbench").args("run --resume").path("my results".as_ref());
/// assert_eq!(command.to_string(), "sixbench run --resume 'my results'");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCommand(String);

impl ProgramCommand {
    /// Returns the command without arguments, by the name that this process was called by: a path if it was not looked up in PATH.
    pub fn called() -> Self {
        Self::new(
            std::env::args_os()
                .next()
                .unwrap_or_else(|| OsString::from("sixbench")),
        )
    }

    /// Returns the command without arguments of a program of this name.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self(quoted_word(program.as_ref()))
    }

    /// Adds words that no shell changes, separated by spaces.
    #[must_use]
    pub fn args(self, words: &str) -> Self {
        Self(format!("{} {words}", self.0))
    }

    /// Adds a path.
    #[must_use]
    pub fn path(self, path: &Path) -> Self {
        Self(format!("{} {}", self.0, quoted_path(path)))
    }

    /// Adds any other word.
    #[must_use]
    pub fn word(self, word: impl AsRef<OsStr>) -> Self {
        Self(format!("{} {}", self.0, quoted_word(word.as_ref())))
    }
}

impl fmt::Display for ProgramCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::process::Command;

    /// Returns the words that a shell makes of a line.
    pub(in crate::exec) fn read_by_a_shell(line: &str) -> Vec<u8> {
        let script = format!("for word in {line}; do printf '%s\\0' \"$word\"; done");
        Command::new("sh")
            .args(["-c", &script])
            .output()
            .expect("a shell")
            .stdout
    }

    #[test]
    fn a_shell_reads_every_quoted_word_as_it_was() {
        let words: [&[u8]; 14] = [
            b"plain",
            b"",
            b"two words",
            b"it's",
            b"a\"b",
            b"$HOME `id` $(id)",
            b"*?[a]",
            b"line\nend",
            b"end\n",
            b"\xff\xfe",
            b"r\xc3\xa9 s",
            b"\\0 %d\x1b[31m",
            b"-x",
            b"~",
        ];
        for word in words {
            let (quoted, expected) = (quoted_word(OsStr::from_bytes(word)), [word, b"\0"].concat());
            assert_eq!(read_by_a_shell(&quoted), expected, "{quoted}");
        }
    }

    #[test]
    fn a_path_is_no_option_and_stays_the_same_path() {
        assert_eq!(quoted_path(Path::new("-o x")), "'./-o x'");
        assert_eq!(quoted_path(Path::new("results/a")), "results/a");
        assert_eq!(quoted_path(Path::new("")), "''");
    }
}
