//! A file that ssh reads in place of its usual configuration. Its text is read once: what a person has agreed to is what every ssh of this process gets,
//! as a copy that no other user can change, also where the file has been changed in the meantime.

use super::directory::{COPY, make_directory};
use crate::exec::TestbedError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A configuration of ssh; clones share its text and its copy.
#[derive(Clone, Debug)]
pub struct SshConfig(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    path: PathBuf,
    text: OnceLock<String>,
    /// The directory of the copy, once there is one.
    directory: Mutex<Option<PathBuf>>,
}

impl PartialEq for SshConfig {
    fn eq(&self, other: &Self) -> bool {
        self.path() == other.path()
    }
}

impl Eq for SshConfig {}

impl SshConfig {
    /// The configuration in a file, which is not read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Contents {
            path: path.into(),
            text: OnceLock::new(),
            directory: Mutex::default(),
        }))
    }

    /// Returns the path by which it was named.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns its text. The file is read when this is called first, and never again.
    ///
    /// # Errors
    /// The file cannot be read, or is no UTF-8.
    pub fn text(&self) -> std::io::Result<&str> {
        if self.0.text.get().is_none() {
            let text = std::fs::read_to_string(self.path())?;
            // Another thread may have been faster: then its text counts.
            let _ = self.0.text.set(text);
        }
        Ok(self.0.text.get().map_or("", String::as_str))
    }

    /// Returns the path of the copy, which is made when this is called first.
    pub(super) fn copy(&self) -> Result<PathBuf, TestbedError> {
        let text = self
            .text()
            .map_err(TestbedError::file("read", self.path()))?;
        let mut directory = self.directory();
        if directory.is_none() {
            let made = directory.insert(make_directory()?).join(COPY);
            std::fs::write(&made, text).map_err(TestbedError::file("write", &made))?;
        }
        Ok(directory
            .iter()
            .map(|directory| directory.join(COPY))
            .collect())
    }

    /// Returns the path of what ssh reads now: the copy, or the file itself before there is one.
    pub(super) fn in_use(&self) -> PathBuf {
        self.directory()
            .as_ref()
            .map_or_else(|| self.path().to_owned(), |directory| directory.join(COPY))
    }

    fn directory(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.0
            .directory
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        if let Some(directory) = self
            .directory
            .get_mut()
            .ok()
            .and_then(|directory| directory.take())
        {
            let _ = std::fs::remove_file(directory.join(COPY));
            let _ = std::fs::remove_dir(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn ssh_gets_the_text_that_was_read_first_from_where_nobody_else_can_change_it() {
        let path = std::env::temp_dir().join(format!("sixbench-config-{}", std::process::id()));
        std::fs::write(&path, "Host dut\n").expect("a file");
        let config = SshConfig::new(&path);
        assert_eq!(
            (config.text().expect("a text"), config.in_use()),
            ("Host dut\n", path.clone())
        );
        std::fs::write(&path, "Host dut\n  ProxyCommand touch /x\n").expect("a file");
        let copy = config.clone().copy().expect("a copy");
        assert_eq!(
            std::fs::read_to_string(&copy).expect("the copy"),
            "Host dut\n"
        );
        assert_eq!(
            (config.in_use(), config.copy().expect("the same")),
            (copy.clone(), copy.clone())
        );
        let directory = copy.parent().expect("a directory").to_owned();
        assert_eq!(
            std::fs::metadata(&directory)
                .expect("made")
                .permissions()
                .mode()
                & 0o777,
            0o700
        );
        drop(config);
        assert!(!directory.exists(), "it goes with the last clone");
        std::fs::remove_file(path).expect("removed");
    }
}
