//! Whose the results are. Measuring needs root, so most people call sudo; what it leaves belongs to them and not to root.

use sixbench_testbed::doctor::is_root;
use std::io;
use std::os::unix::fs::lchown;
use std::path::Path;

/// Gives a file or directory that this process has made to the user who called sudo. Without sudo nothing changes.
///
/// # Errors
/// The file system refuses it. One that knows no owners, as on a USB stick, is no error.
pub fn give(path: &Path) -> io::Result<()> {
    let Some((user, group)) = caller(is_root(), |name| std::env::var(name).ok()) else { return Ok(()) };
    match lchown(path, Some(user), Some(group)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || error.kind() == io::ErrorKind::Unsupported => Ok(()),
        given => given,
    }
}

/// Returns user and group that sudo names, where this process may give files away.
fn caller(is_root: bool, variable: impl Fn(&str) -> Option<String>) -> Option<(u32, u32)> {
    let number = |name| variable(name)?.parse().ok();
    is_root.then(|| Some((number("SUDO_UID")?, number("SUDO_GID")?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

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
