//! The names of directories for temporary files and sockets. Their parent is world-writable, so no other user may be able to guess them.

use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Returns the path of a directory of this process, given the name of what it belongs to.
pub(crate) fn own_directory(name: &str) -> PathBuf {
    std::env::temp_dir().join(unguessable(name))
}

/// Returns `sb-7.NUMBER-dut` for `sb-7-dut`, with a number that no other user can guess and so cannot create first in a world-writable directory.
pub(crate) fn unguessable(name: &str) -> String {
    static NUMBER: OnceLock<u64> = OnceLock::new();
    // The hash keys are random numbers of the kernel.
    let number = NUMBER.get_or_init(|| RandomState::new().hash_one(std::process::id()));
    match name
        .strip_prefix("sb-")
        .and_then(|rest| rest.split_once('-'))
    {
        Some((process, role)) => format!("sb-{process}.{number}-{role}"),
        None => name.to_owned(),
    }
}

/// Returns the name from which [`own_directory`] made the name of a directory.
pub(crate) fn guessable(directory: &str) -> String {
    let parts = directory
        .split_once('-')
        .and_then(|(sb, rest)| Some((sb, rest.split_once('-')?)));
    parts.map_or(directory.to_owned(), |(sb, (process, role))| {
        format!(
            "{sb}-{}-{role}",
            process.split('.').next().unwrap_or_default()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_says_what_it_belongs_to_and_its_name_cannot_be_guessed() {
        for name in ["sb-7-dut", "sb-7-t1-memif", "sb-7-ssh-0"] {
            let own = unguessable(name);
            assert_eq!(guessable(&own), name);
            let number = own
                .strip_prefix("sb-7.")
                .and_then(|rest| rest.split_once('-'))
                .expect("a number")
                .0;
            assert!(
                number.parse::<u64>().is_ok_and(|number| number > 1 << 32),
                "{own}"
            );
        }
        assert_eq!([guessable("other"), guessable("sb-x")], ["other", "sb-x"]);
    }
}
