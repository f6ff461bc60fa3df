//! The kernel lab: virtual routers with a Linux of their own, for devices that need kernel modules this machine has not got. Each is a
//! process (User-Mode Linux) whose root is this machine's own file system, read-only; so there is no image.
//!
//! What cannot be had as a package is built once and kept in a cache, under a name made of everything that went into it.

mod build;
mod device;
mod guest;
mod inputs;
mod machine;

pub use build::{Order, Progress, build};
pub(crate) use machine::VIRTUAL_CORES;
pub use machine::{Link, Machine, Wanted};

use crate::shell::TestbedError;
use inputs::Inputs;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where labs are kept, unless SIXBENCH_LAB names another directory.
const CACHE: &str = "/var/cache/sixbench/lab";

/// What a complete lab says of itself.
const MANIFEST: &str = "lab.toml";

/// Ends the name of a lab that is being built.
const UNFINISHED: &str = ".unfinished";

/// The directory labs are kept in.
pub fn cache() -> PathBuf {
    std::env::var_os("SIXBENCH_LAB").filter(|path| !path.is_empty()).map_or_else(|| CACHE.into(), PathBuf::from)
}

/// What is in a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// The release of the virtual machines' kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The version of Jool.
    pub jool: String,
    /// The modules that were built for it, beside the kernel's own.
    pub modules: Vec<String>,
}

/// A complete lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lab {
    directory: PathBuf,
    manifest: Manifest,
}

/// A directory of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The directory.
    pub path: PathBuf,
    /// `None` where the build did not come to its end.
    pub manifest: Option<Manifest>,
    /// Octets.
    pub size: u64,
    /// Whether it is of the packages this machine has now.
    pub is_current: bool,
}

impl Lab {
    /// The lab for the packages this machine has now, with all of `modules`.
    ///
    /// # Errors
    /// There is none: it was not built, or of other versions, or without such a module.
    pub fn find(cache: &Path, modules: &[String]) -> Result<Self, TestbedError> {
        let labs = Self::of_this_machine(cache);
        let has_all = |lab: &&Self| modules.iter().all(|module| lab.has(module));
        // That of Debian's Jool is the usual one; its name is the shortest.
        if let Some(lab) = labs.iter().filter(has_all).min_by_key(|lab| lab.directory.as_os_str().len()) {
            return Ok(lab.clone());
        }
        let missing = modules.iter().find(|module| !labs.iter().any(|lab| lab.has(module)));
        let text = match missing.filter(|_| !labs.is_empty()) {
            Some(module) => format!(
                "the kernel lab in {} has no module {module}: build it with a Jool that has (sixbench lab build --jool DIR|ARCHIVE)",
                cache.display()
            ),
            None => format!("there is no kernel lab for this machine in {}: build it (sixbench lab build)", cache.display()),
        };
        Err(TestbedError::Other(text))
    }

    fn of_this_machine(cache: &Path) -> Vec<Self> {
        let Ok(inputs) = Inputs::of_this_machine() else { return Vec::new() };
        let labs = entries(cache).into_iter().filter_map(|path| Self::open(&path));
        labs.filter(|lab| inputs.made(lab.directory())).collect()
    }

    /// `None` of what is no lab, or not yet one.
    fn open(directory: &Path) -> Option<Self> {
        let is_unfinished = directory.to_string_lossy().ends_with(UNFINISHED);
        let text = std::fs::read_to_string(directory.join(MANIFEST)).ok().filter(|_| !is_unfinished)?;
        Some(Self { directory: directory.to_owned(), manifest: toml::from_str(&text).ok()? })
    }

    /// Where it lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What is in it.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether it has a module, built for it or the kernel's own.
    fn has(&self, module: &str) -> bool {
        if self.manifest.modules.iter().any(|built| built == module) {
            return true;
        }
        let order = std::fs::read_to_string(module_tree(&self.directory, &self.manifest.kernel).join("modules.dep"));
        let file = format!("/{module}.ko");
        order.is_ok_and(|text| text.lines().any(|line| line.split_once(':').is_some_and(|(path, _)| path.ends_with(&file))))
    }

    /// The programs that go before the system's own in a virtual machine.
    pub(crate) fn programs(&self) -> PathBuf {
        self.directory.join("bin")
    }

    /// What is preloaded into User-Mode Linux.
    pub(crate) fn shim(&self) -> PathBuf {
        self.directory.join("shim.so")
    }
}

/// Where the modules for a kernel lie in a lab.
fn module_tree(lab: &Path, kernel: &str) -> PathBuf {
    lab.join("modules/lib/modules").join(kernel)
}

/// Everything in the cache that is of ours, complete or not.
pub fn list(cache: &Path) -> Vec<Entry> {
    let inputs = Inputs::of_this_machine().ok();
    let describe = |path: PathBuf| Entry {
        manifest: Lab::open(&path).map(|lab| lab.manifest),
        size: size_of(&path),
        is_current: inputs.as_ref().is_some_and(|inputs| inputs.made(&path)),
        path,
    };
    entries(cache).into_iter().map(describe).collect()
}

/// Removes everything in the cache that is of ours; returns what it was.
///
/// # Errors
/// A directory that cannot be removed; a lab that is being built just now.
pub fn clean(cache: &Path) -> Result<Vec<Entry>, TestbedError> {
    let entries = list(cache);
    if entries.is_empty() {
        return Ok(entries);
    }
    let _lock = build::lock(cache)?;
    for entry in &entries {
        let (what, path) = ("remove", entry.path.clone());
        std::fs::remove_dir_all(&entry.path).map_err(|source| TestbedError::File { what, path, source })?;
    }
    build::remove_lock(cache);
    // Where somebody keeps something else there, it stays.
    let _ = std::fs::remove_dir(cache);
    Ok(entries)
}

/// Directories whose names are those of labs, by name.
fn entries(cache: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(cache).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut labs: Vec<PathBuf> = all.filter(|path| path.is_dir() && is_ours(path)).collect();
    labs.sort();
    labs
}

fn is_ours(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(inputs::PREFIX))
}

/// Octets in all files below.
fn size_of(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache of this test's own, gone when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sixbench-lab-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).expect("a directory");
            Self(path)
        }

        fn add(&self, name: &str, manifest: Option<&str>) -> PathBuf {
            let path = self.0.join(name);
            std::fs::create_dir(&path).expect("a directory");
            if let Some(text) = manifest {
                std::fs::write(path.join(MANIFEST), text).expect("a file");
            }
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const GOOD: &str = "kernel = \"6.1.176\"\njool = \"4.1.9\"\nmodules = [\"jool_siit\"]\n";

    #[test]
    fn what_is_unfinished_is_no_lab_whatever_lies_in_it() {
        let cache = Scratch::new("unfinished");
        let whole = cache.add("linux-1", Some(GOOD));
        let half = cache.add("linux-2.unfinished", Some(GOOD));
        assert!(Lab::open(&whole).expect("a lab").has("jool_siit"));
        assert_eq!(Lab::open(&half), None);
        let manifests: Vec<bool> = list(&cache.0).iter().map(|entry| entry.manifest.is_some()).collect();
        assert_eq!(manifests, [true, false]);
    }

    #[test]
    fn cleaning_leaves_what_is_not_ours() {
        let cache = Scratch::new("clean");
        cache.add("linux-1", Some(GOOD));
        let theirs = cache.add("photographs", None);
        assert_eq!(clean(&cache.0).expect("cleaned").len(), 1);
        assert!(theirs.exists());
        assert_eq!(list(&cache.0), []);
        assert_eq!(clean(&cache.0).expect("nothing to do"), []);
    }

    #[test]
    fn a_missing_lab_says_how_to_build_it() {
        let cache = Scratch::new("missing");
        let error = Lab::find(&cache.0, &[]).expect_err("none").to_string();
        assert!(error.ends_with("build it (sixbench lab build)"), "{error}");
    }

    #[test]
    fn the_kernel_s_own_modules_count_as_well() {
        let cache = Scratch::new("modules");
        let path = cache.add("linux-1", Some(GOOD));
        let tree = module_tree(&path, "6.1.176");
        std::fs::create_dir_all(&tree).expect("a directory");
        std::fs::write(tree.join("modules.dep"), "kernel/net/ipv6/sit.ko: kernel/net/ipv6/ipv6.ko\n").expect("a file");
        let lab = Lab::open(&path).expect("a lab");
        assert!(lab.has("sit") && !lab.has("ipv6") && !lab.has("it"));
    }
}
