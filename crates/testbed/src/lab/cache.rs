//! The cache of labs that have been built.

use super::inputs::{self, Inputs};
use crate::exec::{LabError, TestbedError};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const CACHE: &str = "/var/cache/sixbench/lab";

pub(super) const MANIFEST: &str = "lab.toml";

/// The prefix of the name of each cache directory with a build of VPP.
pub(super) const VPP_PREFIX: &str = "vpp-";

/// The file in a complete build of VPP that contains its version as recipes print it.
pub(super) const VPP_VERSION: &str = "version";

/// The suffix of the name of a lab that is being built.
pub(super) const UNFINISHED: &str = ".unfinished";

/// Returns the directory of the labs, absolute because commands run in other directories.
pub fn cache() -> PathBuf {
    cache_named(
        std::env::var_os("SIXBENCH_LAB")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from),
    )
}

fn cache_named(named: Option<PathBuf>) -> PathBuf {
    let path = named.unwrap_or_else(|| CACHE.into());
    // Fails only if the working directory is gone, and with it the meaning of a relative path.
    std::path::absolute(&path).unwrap_or(path)
}

/// The contents of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// The release of the virtual machines' kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The version of Jool.
    pub jool: String,
    /// The modules built for it, in addition to the kernel's own.
    pub modules: Vec<String>,
}

/// A complete lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLab {
    pub(super) directory: PathBuf,
    pub(super) manifest: Manifest,
}

/// A directory of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedLab {
    /// The directory.
    pub path: PathBuf,
    /// A description of what was built, or `None` if the build is unfinished.
    pub contents: Option<String>,
    /// The total size of its files in octets.
    pub size: u64,
    /// True if it was built from the packages that this machine has now.
    pub is_current: bool,
}

impl KernelLab {
    /// Returns the lab for this machine's current packages that has all of `modules`. Of several, prefers the one with the newest Jool, and then
    /// the most recently built one.
    ///
    /// # Errors
    /// There is no such lab: none was built, or only of other versions or without such a module.
    pub fn find(cache: &Path, modules: &[String]) -> Result<Self, TestbedError> {
        let labs = Self::of_this_machine(cache);
        if let Some(lab) = labs
            .iter()
            .filter(|lab| modules.iter().all(|module| lab.has(module)))
            .max_by_key(|lab| (numbers(&lab.manifest.jool), lab.built()))
        {
            return Ok(lab.clone());
        }
        let missing = modules
            .iter()
            .find(|module| !labs.iter().any(|lab| lab.has(module)));
        let cache = cache.to_owned();
        let error = match missing.filter(|_| !labs.is_empty()).cloned() {
            Some(module) => LabError::NoModule { cache, module },
            None => LabError::Absent { cache },
        };
        Err(error.into())
    }

    fn of_this_machine(cache: &Path) -> Vec<Self> {
        let Ok(inputs) = Inputs::of_this_machine() else {
            return Vec::new();
        };
        let labs = entries(cache)
            .into_iter()
            .filter_map(|path| Self::open(&path));
        labs.filter(|lab| inputs.made(lab.directory())).collect()
    }

    fn built(&self) -> Option<SystemTime> {
        built_at(&self.directory.join(MANIFEST))
    }

    /// Opens a lab. Returns `None` if the directory is not a complete lab.
    pub(super) fn open(directory: &Path) -> Option<Self> {
        let is_unfinished = directory.to_string_lossy().ends_with(UNFINISHED);
        let text = std::fs::read_to_string(directory.join(MANIFEST))
            .ok()
            .filter(|_| !is_unfinished)?;
        Some(Self {
            directory: directory.to_owned(),
            manifest: toml::from_str(&text).ok()?,
        })
    }

    /// Returns the directory of the lab.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the description of the lab's contents.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn has(&self, module: &str) -> bool {
        if self.manifest.modules.iter().any(|built| built == module) {
            return true;
        }
        let order = std::fs::read_to_string(
            module_tree(&self.directory, &self.manifest.kernel).join("modules.dep"),
        );
        let file = format!("/{module}.ko");
        order.is_ok_and(|text| {
            text.lines().any(|line| {
                line.split_once(':')
                    .is_some_and(|(path, _)| path.ends_with(&file))
            })
        })
    }

    /// Returns the directory of the programs that take precedence over the system's own in a virtual machine.
    pub(crate) fn programs(&self) -> PathBuf {
        self.directory.join("bin")
    }

    /// Returns the path of the library that is preloaded into User-Mode Linux.
    pub(crate) fn shim(&self) -> PathBuf {
        self.directory.join("shim.so")
    }
}

/// Returns the modification time of a file: the time of a build if it completes one.
pub(super) fn built_at(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file)
        .and_then(|metadata| metadata.modified())
        .ok()
}

/// Returns the numbers of an upstream version, without Debian's revision: 4, 1 and 9 for `4.1.9-1`.
fn numbers(version: &str) -> Vec<u32> {
    let upstream = version
        .split_once('-')
        .map_or(version, |(upstream, _)| upstream);
    upstream
        .split('.')
        .map_while(|number| number.parse().ok())
        .collect()
}

pub(super) fn module_tree(lab: &Path, kernel: &str) -> PathBuf {
    lab.join("modules/lib/modules").join(kernel)
}

/// Returns all directories in the cache that belong to sixbench, complete or not.
pub fn list(cache: &Path) -> Vec<CachedLab> {
    let inputs = Inputs::of_this_machine().ok();
    entries(cache)
        .into_iter()
        .map(|path| CachedLab {
            contents: contents_of(&path),
            size: size_of(&path),
            is_current: is_vpp(&path) || inputs.as_ref().is_some_and(|inputs| inputs.made(&path)),
            path,
        })
        .collect()
}

fn contents_of(directory: &Path) -> Option<String> {
    let is_whole = !directory.to_string_lossy().ends_with(UNFINISHED);
    if is_vpp(directory) {
        return std::fs::read_to_string(directory.join(VPP_VERSION))
            .ok()
            .filter(|_| is_whole)
            .map(|text| text.trim().to_owned());
    }
    let Manifest {
        kernel,
        jool,
        modules,
    } = KernelLab::open(directory)?.manifest;
    Some(format!(
        "Linux {kernel}, Jool {jool} ({})",
        modules.join(", ")
    ))
}

fn is_vpp(path: &Path) -> bool {
    has_prefix(path, VPP_PREFIX)
}

/// Removes everything in the cache that belongs to sixbench, except the lock file, and returns what it was. If another process is building there,
/// calls `waits` once and waits for it.
///
/// # Errors
/// A directory cannot be removed.
pub fn clean(cache: &Path, waits: &mut dyn FnMut()) -> Result<Vec<CachedLab>, TestbedError> {
    if entries(cache).is_empty() {
        return Ok(vec![]);
    }
    let _lock = lock(cache, waits)?;
    // Listed again, because the process we waited for has finished something.
    let entries = list(cache);
    for entry in &entries {
        std::fs::remove_dir_all(&entry.path).map_err(TestbedError::file("remove", &entry.path))?;
    }
    Ok(entries)
}

/// Takes the lock for building or removing in the cache. Calls `waits` once if another process holds it.
///
/// The lock file is never removed: a process waiting for it would then lock a file that no other process can open.
pub(super) fn lock(cache: &Path, waits: &mut dyn FnMut()) -> Result<File, TestbedError> {
    let path = cache.join("lock");
    make_directories(cache)?;
    // A file of the user's that has this name is left as it is.
    let opened = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path);
    let file = opened.map_err(TestbedError::file("write", &path))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => waits(),
        Err(TryLockError::Error(source)) => return Err(TestbedError::file("lock", &path)(source)),
    }
    file.lock().map_err(TestbedError::file("lock", &path))?;
    Ok(file)
}

pub(super) fn make_directories(path: &Path) -> Result<(), TestbedError> {
    std::fs::create_dir_all(path).map_err(TestbedError::file("make the directory", path))
}

/// Returns the directories with the names of labs or of programs built next to them, sorted by name.
pub(super) fn entries(cache: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(cache)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    let mut labs: Vec<PathBuf> = all.filter(|path| path.is_dir() && is_ours(path)).collect();
    labs.sort();
    labs
}

fn is_ours(path: &Path) -> bool {
    has_prefix(path, inputs::PREFIX) || is_vpp(path)
}

fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(prefix))
}

fn size_of(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache for this test, removed when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("sixbench-lab-{name}-{}", std::process::id()));
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
        assert!(KernelLab::open(&whole).expect("a lab").has("jool_siit"));
        assert_eq!(KernelLab::open(&half), None);
        let vpp = cache.add("vpp-1", None);
        std::fs::write(vpp.join(VPP_VERSION), "VPP v1\n").expect("a file");
        let contents: Vec<Option<String>> = list(&cache.0)
            .into_iter()
            .map(|entry| entry.contents)
            .collect();
        assert_eq!(
            contents,
            [
                Some("Linux 6.1.176, Jool 4.1.9 (jool_siit)".to_owned()),
                None,
                Some("VPP v1".to_owned())
            ]
        );
    }

    #[test]
    fn cleaning_leaves_what_is_not_ours() {
        let cache = Scratch::new("clean");
        cache.add("linux-1", Some(GOOD));
        let theirs = cache.add("photographs", None);
        assert_eq!(clean(&cache.0, &mut || {}).expect("cleaned").len(), 1);
        assert!(theirs.exists());
        assert_eq!(list(&cache.0), []);
        assert_eq!(clean(&cache.0, &mut || {}).expect("nothing to do"), []);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(numbers("4.1.9-1"), [4, 1, 9]);
        assert!(
            numbers("4.1.15-1") > numbers("4.1.9-1") && numbers("4.1.255.5") > numbers("4.1.15-1")
        );
        assert!(numbers("4.2.0") > numbers("4.1.255.5") && numbers("10.0") > numbers("9.9.9"));
    }

    #[test]
    fn of_several_labs_the_newest_jool_is_taken_and_of_one_jool_the_last_build() {
        let cache = Scratch::new("newest");
        let base = Inputs::of_this_machine().expect("packages").name(None);
        let add = |name: &str, jool: &str| {
            cache.add(&format!("{base}{name}"), Some(&GOOD.replace("4.1.9", jool)))
        };
        let found = || {
            KernelLab::find(&cache.0, &["jool_siit".to_owned()])
                .expect("a lab")
                .directory
        };
        let debian = add("", "4.1.9-1");
        add("-own-jool-4.1.8.0-1", "4.1.8.0");
        assert_eq!(found(), debian);
        let first = add("-own-jool-4.1.15.0-2", "4.1.15.0");
        assert_eq!(found(), first);
        let second = add("-own-jool-4.1.15.0-1", "4.1.15.0");
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        std::fs::File::options()
            .append(true)
            .open(second.join(MANIFEST))
            .and_then(|file| file.set_modified(later))
            .expect("a time");
        assert_eq!(found(), second);
    }

    #[test]
    fn the_cache_s_path_is_absolute_however_it_was_named() {
        let here = std::env::current_dir().expect("a directory");
        assert_eq!(cache_named(Some("my/labs".into())), here.join("my/labs"));
        assert_eq!(cache_named(None), Path::new(CACHE));
    }

    #[test]
    fn a_missing_lab_says_how_to_build_it() {
        let cache = Scratch::new("missing");
        let error = KernelLab::find(&cache.0, &[])
            .expect_err("none")
            .to_string();
        assert!(error.contains("run `sixbench lab build` once"), "{error}");
    }

    #[test]
    fn the_kernel_s_own_modules_count_as_well() {
        let cache = Scratch::new("modules");
        let path = cache.add("linux-1", Some(GOOD));
        let tree = module_tree(&path, "6.1.176");
        std::fs::create_dir_all(&tree).expect("a directory");
        std::fs::write(
            tree.join("modules.dep"),
            "kernel/net/ipv6/sit.ko: kernel/net/ipv6/ipv6.ko\n",
        )
        .expect("a file");
        let lab = KernelLab::open(&path).expect("a lab");
        assert!(lab.has("sit") && !lab.has("ipv6") && !lab.has("it"));
    }
}
