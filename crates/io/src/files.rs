//! Files of results, which may be in a directory that belongs to anybody: what is opened there to be written is never what a link leads to.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The flag with which a file is not opened where its name is that of a link.
pub const NO_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// Creates a file, or empties the one that is there.
///
/// # Errors
/// Those of [`File::create`]; there is a link of this name.
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
