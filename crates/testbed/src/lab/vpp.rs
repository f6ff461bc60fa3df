//! VPP builds in the cache: programs and plugins. Recipes use the newest build.

use super::cache::{UNFINISHED, VPP_PREFIX, VPP_VERSION, built_at, entries};
use crate::exec::{LabError, TestbedError};
use std::path::{Path, PathBuf};

/// A build of VPP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltVpp {
    /// The directory with `bin`, `lib` and `version`.
    pub directory: PathBuf,
    /// The version according to VPP's source.
    pub version: String,
}

impl BuiltVpp {
    /// Returns the most recent build of VPP.
    ///
    /// # Errors
    /// There is no build. The error names the command for it.
    pub fn find(cache: &Path) -> Result<Self, TestbedError> {
        let all = entries(cache)
            .into_iter()
            .filter_map(|path| Self::open(&path));
        all.max_by_key(|vpp| built_at(&vpp.directory.join(VPP_VERSION)))
            .ok_or_else(|| {
                let cache = cache.to_owned();
                LabError::NoVpp { cache }.into()
            })
    }

    /// Opens a build. Returns `None` if the directory is not a complete one.
    pub(super) fn open(directory: &Path) -> Option<Self> {
        let name = directory.file_name()?.to_str()?;
        let is_whole = name.starts_with(VPP_PREFIX) && !name.ends_with(UNFINISHED);
        let version = std::fs::read_to_string(directory.join(VPP_VERSION))
            .ok()
            .filter(|_| is_whole)?;
        Some(Self {
            directory: directory.to_owned(),
            version: version.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_none_was_built_the_command_is_named() {
        let error = BuiltVpp::find(Path::new("/nosuch"))
            .expect_err("none")
            .to_string();
        assert!(
            error.starts_with("there is no VPP in /nosuch")
                && error.ends_with("(sixbench lab build --vpp DIR|ARCHIVE)"),
            "{error}"
        );
    }

    #[test]
    fn what_is_unfinished_is_no_vpp_and_the_last_build_is_taken() {
        let cache = std::env::temp_dir().join(format!("sixbench-vpp-{}", std::process::id()));
        let add = |name: &str, seconds: u64| {
            let directory = cache.join(name);
            std::fs::create_dir_all(&directory).expect("a directory");
            let file = std::fs::File::create(directory.join(VPP_VERSION)).expect("a file");
            let time = std::time::SystemTime::now() + std::time::Duration::from_secs(seconds);
            file.set_modified(time).expect("a time");
        };
        add("vpp-1.unfinished", 90);
        assert!(BuiltVpp::find(&cache).is_err());
        add("vpp-9", 0);
        add("vpp-10", 60);
        assert_eq!(
            BuiltVpp::find(&cache).expect("one").directory,
            cache.join("vpp-10")
        );
        std::fs::remove_dir_all(&cache).expect("removed");
    }
}
