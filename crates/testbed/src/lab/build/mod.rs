//! Builds a lab step by step, in a directory next to its final one. Only a complete lab gets the final name. A failed build keeps its log, and the
//! next build resumes after the completed steps.

mod jool;
mod source;
mod steps;
mod vpp;
mod work;

use super::BuiltVpp;
use super::cache::{KernelLab, UNFINISHED, lock, make_directories};
use super::inputs::Inputs;
use crate::exec::{LabError, Shell, TestbedError, is_root, quoted};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use steps::LabSources;
pub use work::BuildProgress;
use work::{BuildStep, BuildWork};

/// The script that knows the packages needed to build a lab.
const INSTALLER: &str = include_str!("../../../../../scripts/install-dependencies");

/// The timeout for an installation, because a package may be large and the network slow.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// The parameters of a lab build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOrder {
    /// The directory that contains the labs.
    pub cache: PathBuf,
    /// A source of Jool to use instead of Debian's package: a directory or an archive.
    pub jool: Option<PathBuf>,
}

/// Builds a lab, unless it exists.
///
/// # Errors
/// A package is not available, or a step failed (with its last lines and the location of its log).
pub fn build(
    order: &BuildOrder,
    tell: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<KernelLab, TestbedError> {
    let part = if order.jool.is_some() {
        "lab-jool"
    } else {
        "lab"
    };
    install(&order.cache, "the kernel lab", part, tell)?;
    let inputs = Inputs::of_this_machine()?;
    let own_jool = order.jool.as_deref().map(jool::OwnJool::open).transpose()?;
    let directory = order
        .cache
        .join(inputs.name(own_jool.as_ref().map(jool::OwnJool::name).as_deref()));
    let begin = |directory: &Path| BuildWork::begin(directory, LabSources { inputs, own_jool });
    complete(
        &order.cache,
        &directory,
        KernelLab::open,
        begin,
        steps::STEPS,
        tell,
    )
}

/// Builds VPP from its source, unless this exact source has already been built.
///
/// # Errors
/// The source is not VPP's, a package is not available, or a step failed (with its last lines and the location of its log).
pub fn build_vpp(
    cache: &Path,
    source: &Path,
    tell: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<BuiltVpp, TestbedError> {
    let source = vpp::VppSource::open(source)?;
    install(cache, "VPP", "vpp", tell)?;
    let directory = cache.join(source.name());
    let begin = |directory: &Path| BuildWork::begin(directory, source);
    complete(cache, &directory, BuiltVpp::open, begin, vpp::STEPS, tell)
}

/// Runs the steps of a build next to the final `directory`, then renames the result to it. Does nothing if it exists already.
fn complete<C, T>(
    cache: &Path,
    directory: &Path,
    open: fn(&Path) -> Option<T>,
    begin: impl FnOnce(&Path) -> Result<BuildWork<C>, TestbedError>,
    steps: &[BuildStep<C>],
    tell: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<T, TestbedError> {
    let mut _lock = None;
    // The process that held the lock may have built exactly this.
    for is_locked in [false, true] {
        if is_locked {
            _lock = Some(lock(cache, &mut || tell(BuildProgress::Waits))?);
        }
        if let Some(built) = open(directory) {
            tell(BuildProgress::Present);
            return Ok(built);
        }
    }
    begin(&unfinished(directory))?.perform(steps, tell)?;
    std::fs::rename(unfinished(directory), directory)
        .map_err(TestbedError::file("rename", directory))?;
    open(directory).ok_or_else(|| {
        let directory = directory.to_owned();
        LabError::Incomplete { directory }.into()
    })
}

fn unfinished(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

/// Installs the missing packages of a part of the repository's installer, using that script.
fn install(
    cache: &Path,
    what: &str,
    part: &str,
    tell: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<(), TestbedError> {
    let shell = Shell::new().with_timeout(TIMEOUT);
    let missing = shell.look(&[
        "sh",
        "-c",
        INSTALLER,
        "install-dependencies",
        "--list",
        part,
    ])?;
    let missing = missing.trim();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() {
        return Err(LabError::PackagesMissing {
            what: what.to_owned(),
            packages: missing.to_owned(),
        }
        .into());
    }
    let (start, log) = (Instant::now(), cache.join("install.log"));
    tell(BuildProgress::Begins(&format!("install {missing}")));
    make_directories(cache)?;
    // Output goes to a file, because background processes left by apt-get would hold a pipe open and block us (observed: six minutes).
    let script = format!(
        "exec > {} 2>&1\n{INSTALLER}",
        quoted(&[log.display().to_string()])
    );
    if let Err(error) = shell.look(&["sh", "-c", &script, "install-dependencies", part]) {
        tell(BuildProgress::Failed);
        return Err(not_installed(missing, log, &error).into());
    }
    tell(BuildProgress::Ended(start.elapsed()));
    // The log is no longer needed.
    let _ = std::fs::remove_file(&log);
    Ok(())
}

fn not_installed(missing: &str, log: PathBuf, error: &TestbedError) -> LabError {
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let why = match (lines.is_empty(), error) {
        (false, TestbedError::Failed { status, .. }) => {
            format!(
                "{status}: {}",
                lines[lines.len().saturating_sub(4)..].join("; ")
            )
        }
        _ => error.to_string(),
    };
    LabError::NotInstalled {
        packages: missing.to_owned(),
        why,
        log,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn every_file_the_installer_looks_for_is_of_the_package_it_names() {
        let needs = INSTALLER
            .lines()
            .filter_map(|line| line.trim().strip_prefix("need_file "));
        let needs: Vec<(String, &str)> = needs
            .filter_map(|words| words.split_once(' '))
            .map(|(file, package)| (file.replace('\'', ""), package))
            .collect();
        assert!(
            needs
                .iter()
                .any(|(_, package)| *package == "libnl-genl-3-dev"),
            "{needs:?}"
        );
        for (file, package) in needs {
            // dpkg does not know the files of packages that are not installed.
            let owners = Shell::new()
                .look(&["dpkg-query", "-S", &file])
                .unwrap_or_default();
            let mut named = owners.lines().filter_map(|line| line.split(':').next());
            assert!(
                owners.is_empty() || named.all(|owner| owner == package),
                "{file} is not {package}'s: {owners}"
            );
        }
    }

    #[test]
    fn who_comes_second_says_once_that_it_waits_and_then_has_the_same_file() {
        let cache = std::env::temp_dir().join(format!("sixbench-lock-{}", std::process::id()));
        let first = lock(&cache, &mut || panic!("nobody holds it")).expect("a lock");
        let (tell, told) = mpsc::channel();
        let of_second = cache.clone();
        let second = std::thread::spawn(move || {
            lock(&of_second, &mut || tell.send(()).expect("told")).map(drop)
        });
        told.recv().expect("it waits");
        assert!(!second.is_finished());
        drop(first);
        second.join().expect("joined").expect("a lock");
        assert_eq!(told.try_iter().count(), 0);
        drop(lock(&cache, &mut || panic!("nobody holds it")).expect("a lock"));
        std::fs::remove_dir_all(cache).expect("removed");
    }
}
