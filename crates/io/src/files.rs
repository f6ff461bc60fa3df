//! Result files, which may be in a directory that other users can write to: a file that is opened for writing is never the target of a symbolic link.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The flag that makes opening a file fail if its name is that of a symbolic link.
pub const NO_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// Creates a file, or truncates the existing one.
///
/// # Errors
/// Those of [`File::create`]; or the name is that of a symbolic link.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).custom_flags(NO_LINK).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_emptied_and_what_a_link_leads_to_is_not() {
        let path = std::env::temp_dir().join(format!("sixbench-files-{}", std::process::id()));
        let link = path.with_extension("link");
        std::fs::write(&path, "kept").expect("a file");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        let refused = create(&link).map(drop);
        let kept = std::fs::read_to_string(&path).expect("the file");
        let emptied = create(&path).map(drop);
        let left = std::fs::read_to_string(&path).expect("the file");
        [&path, &link].into_iter().for_each(|file| std::fs::remove_file(file).expect("removed"));
        assert!(refused.is_err() && emptied.is_ok());
        assert_eq!([kept, left], ["kept", ""]);
    }
}
