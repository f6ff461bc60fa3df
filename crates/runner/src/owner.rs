//! The owner of the results. Measuring needs root, so most people use sudo, but the results belong to them, not to root. Commands that do not
//! measure drop root before they read anything.

use sixbench_io::thread::{become_user, give_up_privileges};
use sixbench_testbed::doctor::is_root;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::path::Path;

/// The user and group that own no files, called nobody on most systems.
const NOBODY: (u32, u32) = (65_534, 65_534);

/// The way in which a process that drops its root privileges uses a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// Reads from it.
    Read,
    /// Writes to it, or creates files in it.
    Write,
}

/// Permanently drops root privileges, if this process has them. The process must not have a second thread yet. It becomes the user who called sudo,
/// if this user may use `path` or, if that does not exist, its nearest existing ancestor. Otherwise it becomes the owner of that, who may be root,
/// but without root's privileges. Without a path, it becomes the user who called sudo, or nobody.
///
/// # Errors
/// The kernel refuses the change.
pub fn give_up_root(path: Option<(&Path, FileUse)>) -> io::Result<()> {
    if !is_root() {
        return give_up_privileges();
    }
    let caller = caller(true, |name| std::env::var(name).ok());
    let existing = |path: &Path| match path.ancestors().find_map(|path| path.metadata().ok()) {
        Some(found) => Ok(found),
        // If none of its folders exist, a relative path is below the working directory.
        None => Path::new(".").metadata(),
    };
    let found = path.map(|(path, use_of)| Ok::<_, io::Error>((existing(path)?, use_of))).transpose()?;
    let (user, group) = user_for(found.as_ref().map(|(found, use_of)| (found, *use_of)), caller);
    become_user(user, group)
}

fn user_for(found: Option<(&Metadata, FileUse)>, caller: Option<(u32, u32)>) -> (u32, u32) {
    match (found, caller) {
        (None, caller) => caller.unwrap_or(NOBODY),
        (Some((found, use_of)), Some(caller)) if may(caller, found, use_of) => caller,
        (Some((found, _)), _) => (found.uid(), found.gid()),
    }
}

/// Returns true if a user may use a file or directory according to its mode. Access control lists are not considered.
fn may((user, group): (u32, u32), found: &Metadata, use_of: FileUse) -> bool {
    let bit = if use_of == FileUse::Write { 0o2 } else { 0o4 };
    let shift = match (found.uid() == user, found.gid() == group) {
        (true, _) => 6,
        (false, true) => 3,
        (false, false) => 0,
    };
    found.mode() & (bit << shift) != 0
}

/// Gives a file or directory created by this process to the user who called sudo. Does nothing without sudo.
///
/// # Errors
/// The file system refuses the change. If it does not support owners, as on a USB stick, that is not an error.
pub fn give(path: &Path) -> io::Result<()> {
    let Some((user, group)) = caller(is_root(), |name| std::env::var(name).ok()) else { return Ok(()) };
    match lchown(path, Some(user), Some(group)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || error.kind() == io::ErrorKind::Unsupported => Ok(()),
        given => given,
    }
}

/// Returns the user and group given by sudo, if this process may give files away.
fn caller(is_root: bool, variable: impl Fn(&str) -> Option<String>) -> Option<(u32, u32)> {
    let number = |name| variable(name)?.parse().ok();
    is_root.then(|| Some((number("SUDO_UID")?, number("SUDO_GID")?)))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_process_without_need_of_root_becomes_the_caller_where_that_is_enough_and_else_the_owner() {
        let path = std::env::temp_dir().join(format!("sixbench-owner-{}", std::process::id()));
        std::fs::write(&path, "").expect("a file");
        let with_mode = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("own");
            path.metadata().expect("metadata")
        };
        let (private, readable) = (with_mode(0o600), with_mode(0o644));
        std::fs::remove_file(&path).expect("removed");
        let own = (private.uid(), private.gid());
        let caller = (own.0 + 1, own.1 + 1);
        for (found, use_of, caller, expected) in [
            (&private, FileUse::Read, Some(caller), own),
            (&readable, FileUse::Read, Some(caller), caller),
            (&readable, FileUse::Write, Some(caller), own),
            (&private, FileUse::Write, Some(own), own),
            (&readable, FileUse::Read, None, own),
        ] {
            assert_eq!(user_for(Some((found, use_of)), caller), expected, "{use_of:?} by {caller:?}");
        }
        assert_eq!([user_for(None, Some(caller)), user_for(None, None)], [caller, NOBODY]);
    }

    #[test]
    fn only_root_gives_and_only_to_a_user_and_group_that_sudo_names() {
        let named = |user: &'static str, group: &'static str| {
            move |name: &str| Some(if name == "SUDO_UID" { user } else { group }.to_owned()).filter(|text| !text.is_empty())
        };
        assert_eq!(caller(true, named("1000", "100")), Some((1000, 100)));
        assert_eq!(caller(false, named("1000", "100")), None);
        assert_eq!(caller(true, named("1000", "")), None);
        assert_eq!(caller(true, named("root", "100")), None);
    }
}
