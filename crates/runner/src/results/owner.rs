//! The owner of the results. Measuring needs root, so most people use sudo, but the results belong to them, not to root. Commands that do not
//! measure drop root before they read anything.

use sixbench_io::files::Folder;
use sixbench_io::thread::{become_user, give_up_privileges};
use sixbench_testbed::doctor::is_root;
use std::fs::Metadata;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

/// The numbers of a user and of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Account {
    user: u32,
    group: u32,
}

/// The user and group that own no files, called nobody on most systems.
const NOBODY: Account = Account {
    user: 65_534,
    group: 65_534,
};

/// The way in which a process that drops its root privileges uses a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// Reads from it.
    Read,
    /// Writes to it, or creates files in it.
    Write,
}

/// The files and directories that a command is about cannot be used by one user.
#[derive(Debug, thiserror::Error)]
#[error(
    "no user may use all of these at once: {}; run it for those of one user at a time, as this user, or copy them first",
    .0.iter().map(|(path, user)| format!("{} of user {user}", path.display())).collect::<Vec<_>>().join(", ")
)]
struct SeveralOwners(Vec<(PathBuf, u32)>);

/// Gives up root for good if this process has it. The process must not have a second thread yet. It becomes the first of these users who may use
/// all `paths` (the files or directories that a command is about, or the nearest existing ones above them):
///
/// 1. the user who called sudo,
/// 2. the owner of one of the paths,
/// 3. root without its privileges.
///
/// If one user owns all paths and none of these may use them, it becomes the owner. Without a path it becomes the user who called sudo, or nobody.
///
/// # Errors
/// The kernel refuses it; the paths belong to several users, and none of them may use all.
pub fn give_up_root(paths: &[(&Path, FileUse)]) -> io::Result<()> {
    if !is_root() {
        return give_up_privileges();
    }
    let existing = |path: &Path| match path.ancestors().find_map(|path| path.metadata().ok()) {
        Some(found) => Ok(found),
        // If none of its folders exist, a relative path is below the working directory.
        None => Path::new(".").metadata(),
    };
    let found = paths
        .iter()
        .map(|(path, use_of)| Ok((existing(path)?, *use_of)))
        .collect::<io::Result<Vec<_>>>()?;
    let owned = || {
        paths
            .iter()
            .zip(&found)
            .map(|((path, _), (found, _))| (path.to_path_buf(), found.uid()))
            .collect()
    };
    let caller = caller(true, |name| std::env::var(name).ok());
    let account =
        user_for(&found, caller).ok_or_else(|| io::Error::other(SeveralOwners(owned())))?;
    become_user(account.user, account.group)
}

fn user_for(found: &[(Metadata, FileUse)], caller: Option<Account>) -> Option<Account> {
    let mut owners: Vec<Account> = found
        .iter()
        .map(|(found, _)| Account {
            user: found.uid(),
            group: found.gid(),
        })
        .collect();
    let Some(first) = owners.first().copied() else {
        return Some(caller.unwrap_or(NOBODY));
    };
    let is_only_owner = owners.iter().all(|owner| owner.user == first.user);
    // Root comes last. It is among the owners only if it owns one of the paths.
    owners.sort_by_key(|owner| owner.user == 0);
    let may_all = |account: &Account| {
        found
            .iter()
            .all(|(found, use_of)| may(*account, found, *use_of))
    };
    caller
        .into_iter()
        .chain(owners)
        .find(may_all)
        .or_else(|| is_only_owner.then_some(first))
}

/// Returns whether a user may use a file or directory, by its mode. ACLs are ignored. Root does not write to other users' files.
fn may(account: Account, found: &Metadata, use_of: FileUse) -> bool {
    let Account { user, group } = account;
    let bit = if use_of == FileUse::Write { 0o2 } else { 0o4 };
    let shift = match (found.uid() == user, found.gid() == group) {
        (true, _) => 6,
        (false, true) => 3,
        (false, false) => 0,
    };
    found.mode() & (bit << shift) != 0 && (user != 0 || found.uid() == 0 || use_of == FileUse::Read)
}

/// Opens a directory. Root follows a link on the way only if it belongs to root, to the user who called sudo or to the directory's owner: another user
/// could lead it to a directory that is none of theirs.
///
/// # Errors
/// There is no such directory, or such a link.
pub fn open(path: &Path) -> io::Result<Folder> {
    let folder = Folder::open(path)?;
    let (owner, caller) = (
        folder.metadata()?.st_uid,
        caller(is_root(), |name| std::env::var(name).ok()),
    );
    let is_own =
        |user: &u32| [0, owner].contains(user) || caller.is_some_and(|caller| caller.user == *user);
    match folder
        .link_owners()
        .iter()
        .find(|user| is_root() && !is_own(user))
    {
        Some(user) => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "a link of user {user} leads to a directory of user {owner}; name the directory itself"
            ),
        )),
        None => Ok(folder),
    }
}

/// Returns whether others than its owner may write to a file or directory with these numbers and this mode.
fn is_open_to_others(user: u32, group: u32, mode: u32) -> bool {
    // A group with the number of its user has nobody else.
    let others = if group == user { 0o002 } else { 0o022 };
    mode & others != 0
}

/// Returns whether somebody else than the user of this process can change a file or directory. What cannot be looked at is taken to be somebody else's.
pub fn can_others_change(path: &Path) -> bool {
    let (Ok(found), Ok(own)) = (path.metadata(), Path::new("/proc/self").metadata()) else {
        return true;
    };
    found.uid() != own.uid() || is_open_to_others(found.uid(), found.gid(), found.mode())
}

/// Refuses as root a directory of another user than root and the one who called sudo, in which others than its owner may write.
///
/// # Errors
/// It is one.
pub(crate) fn check_writers(folder: &Folder) -> io::Result<()> {
    let found = folder.metadata()?;
    let caller = caller(is_root(), |name| std::env::var(name).ok());
    let is_own =
        !is_root() || found.st_uid == 0 || caller.is_some_and(|caller| caller.user == found.st_uid);
    if is_own || !is_open_to_others(found.st_uid, found.st_gid, found.st_mode) {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "users other than {}, its owner, can write to this directory: chmod go-w, or choose another",
                found.st_uid
            ),
        ))
    }
}

/// Gives an open file or directory that this process has made to the user who called sudo. Without sudo nothing changes.
///
/// # Errors
/// The file system refuses it. A file system without owners, as on a USB stick, is not an error.
pub fn give(file: impl AsFd) -> io::Result<()> {
    let Some(caller) = caller(is_root(), |name| std::env::var(name).ok()) else {
        return Ok(());
    };
    match fchown(file, Some(caller.user), Some(caller.group)) {
        Err(error)
            if error.kind() == io::ErrorKind::PermissionDenied
                || error.kind() == io::ErrorKind::Unsupported =>
        {
            Ok(())
        }
        given => given,
    }
}

/// Gives the file at a path to the user who called sudo.
///
/// # Errors
/// There is no such file; those of [`give`].
pub fn give_at(path: &Path) -> io::Result<()> {
    let folder = open(path.parent().unwrap_or(path))?;
    give(folder.read(path.file_name().unwrap_or_default())?)
}

/// Returns user and group that sudo names, where this process may give files away.
fn caller(is_root: bool, variable: impl Fn(&str) -> Option<String>) -> Option<Account> {
    if !is_root {
        return None;
    }
    let number = |name| variable(name)?.parse().ok();
    Some(Account {
        user: number("SUDO_UID")?,
        group: number("SUDO_GID")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, chown};

    const CALLER: Account = Account {
        user: 1000,
        group: 100,
    };

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
        let own = Account {
            user: private.uid(),
            group: private.gid(),
        };
        let caller = Account {
            user: own.user + 1,
            group: own.group + 1,
        };
        for (found, use_of, caller, expected) in [
            (&private, FileUse::Read, Some(caller), own),
            (&readable, FileUse::Read, Some(caller), caller),
            (&readable, FileUse::Write, Some(caller), own),
            (&private, FileUse::Write, Some(own), own),
            (&readable, FileUse::Read, None, own),
        ] {
            assert_eq!(
                user_for(&[(found.clone(), use_of)], caller),
                Some(expected),
                "{use_of:?} by {caller:?}"
            );
        }
        assert_eq!(
            [user_for(&[], Some(caller)), user_for(&[], None)],
            [Some(caller), Some(NOBODY)]
        );
    }

    #[test]
    fn directories_of_several_users_are_used_by_one_who_may_use_all_or_by_nobody() {
        let directory = |name: &str, user, mode| {
            let path =
                std::env::temp_dir().join(format!("sixbench-owners-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).expect("a directory");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("own");
            chown(&path, Some(user), Some(user)).expect("root");
            let found = path.metadata().expect("metadata");
            std::fs::remove_dir(&path).expect("removed");
            found
        };
        let [of_root, of_a, of_b] = [("root", 0), ("a", 1001), ("b", 1002)]
            .map(|(name, user)| directory(name, user, 0o755));
        let [secret, open] =
            [("secret", 0o700), ("open", 0o777)].map(|(name, mode)| directory(name, 1001, mode));
        let (read, write) = (FileUse::Read, FileUse::Write);
        for (all, caller, expected) in [
            (&[(&of_a, write), (&of_a, write)][..], None, Some(1001)),
            (&[(&of_root, write), (&of_a, write)], None, None),
            (&[(&of_root, write), (&open, write)], None, None),
            (&[(&of_a, write), (&of_b, write)], Some(CALLER), None),
            (
                &[(&of_root, write), (&of_a, read), (&of_b, read)],
                None,
                Some(0),
            ),
            (&[(&of_root, write), (&secret, read)], None, None),
            (&[(&of_a, read), (&of_b, read)], None, Some(1001)),
            (&[(&of_root, read), (&of_b, read)], None, Some(1002)),
            (&[(&of_a, read), (&of_b, read)], Some(CALLER), Some(1000)),
        ] {
            let found: Vec<(Metadata, FileUse)> = all
                .iter()
                .map(|(found, use_of)| ((*found).clone(), *use_of))
                .collect();
            assert_eq!(
                user_for(&found, caller).map(|account| account.user),
                expected,
                "{all:?}"
            );
        }
    }

    #[test]
    fn only_root_gives_and_only_to_a_user_and_group_that_sudo_names() {
        let named = |user: &'static str, group: &'static str| {
            move |name: &str| {
                Some(if name == "SUDO_UID" { user } else { group }.to_owned())
                    .filter(|text| !text.is_empty())
            }
        };
        assert_eq!(caller(true, named("1000", "100")), Some(CALLER));
        assert_eq!(caller(false, named("1000", "100")), None);
        assert_eq!(caller(true, named("1000", "")), None);
        assert_eq!(caller(true, named("root", "100")), None);
    }
}
