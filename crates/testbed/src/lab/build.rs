//! Builds a lab: step by step, in a directory beside the one it will have. What is complete bears the lab's name; a build that failed
//! keeps its log, and the next one goes on behind the steps that were done.

mod jool;
mod source;
mod steps;
mod vpp;
mod work;

use super::BuiltVpp;
use super::cache::{KernelLab, UNFINISHED, lock, make_directories};
use super::inputs::Inputs;
use crate::exec::{Shell, TestbedError, is_root, quoted};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use steps::LabSources;
pub use work::BuildProgress;
use work::{BuildStep, BuildWork};

/// Knows which packages a lab is built of.
const INSTALLER: &str = include_str!("../../../../scripts/install-dependencies");

/// The longest time that an installation may take: a package may be large and the line slow.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// The order for a build of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOrder {
    /// The directory labs are kept in.
    pub cache: PathBuf,
    /// A source of Jool to be used instead of Debian's package: a directory or an archive.
    pub jool: Option<PathBuf>,
}

/// Builds the lab that is ordered, unless it is there.
///
/// # Errors
/// A package that cannot be had, a step that failed (with its last lines and where its log is).
pub fn build(order: &BuildOrder, tell: &mut dyn FnMut(BuildProgress<'_>)) -> Result<KernelLab, TestbedError> {
    let part = if order.jool.is_some() { "lab-jool" } else { "lab" };
    install(&order.cache, ("the kernel lab", part), tell)?;
    let inputs = Inputs::of_this_machine()?;
    let own_jool = order.jool.as_deref().map(jool::OwnJool::open).transpose()?;
    let directory = order.cache.join(inputs.name(own_jool.as_ref().map(jool::OwnJool::name).as_deref()));
    let begin = |directory: &Path| BuildWork::begin(directory, LabSources { inputs, own_jool });
    complete((&order.cache, &directory), KernelLab::open, begin, steps::STEPS, tell)
}

/// Builds VPP from its source, unless this very source was built already.
///
/// # Errors
/// No source of VPP, a package that cannot be had, a step that failed (with its last lines and where its log is).
pub fn build_vpp(cache: &Path, source: &Path, tell: &mut dyn FnMut(BuildProgress<'_>)) -> Result<BuiltVpp, TestbedError> {
    let source = vpp::VppSource::open(source)?;
    install(cache, ("VPP", "vpp"), tell)?;
    let directory = cache.join(source.name());
    let begin = |directory: &Path| BuildWork::begin(directory, source);
    complete((cache, &directory), BuiltVpp::open, begin, vpp::STEPS, tell)
}

/// Performs the steps of a build beside the `directory` that it will have, which then gets its name. Nothing is done where it is there already.
fn complete<C, T>(
    (cache, directory): (&Path, &Path),
    open: fn(&Path) -> Option<T>,
    begin: impl FnOnce(&Path) -> Result<BuildWork<C>, TestbedError>,
    steps: &[BuildStep<C>],
    tell: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<T, TestbedError> {
    let mut _lock = None;
    // Who was waited for may have built just this.
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
    std::fs::rename(unfinished(directory), directory).map_err(TestbedError::file("rename", directory))?;
    open(directory).ok_or_else(|| TestbedError::Other(format!("{} was built, but it is not complete", directory.display())))
}

fn unfinished(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

/// Installs what is missing for something that is built, by its part of the repository's installer, as that does.
fn install(cache: &Path, (what, part): (&str, &str), tell: &mut dyn FnMut(BuildProgress<'_>)) -> Result<(), TestbedError> {
    let shell = Shell::new().with_timeout(TIMEOUT);
    let missing = shell.look(&["sh", "-c", INSTALLER, "install-dependencies", "--list", part])?;
    let missing = missing.trim();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() {
        let cure = format!("apt-get install --no-install-recommends {missing}");
        return Err(TestbedError::Other(format!(
            "{what} needs packages that are missing: run this command with sudo, or {cure}"
        )));
    }
    let (start, log) = (Instant::now(), cache.join("install.log"));
    tell(BuildProgress::Begins(&format!("install {missing}")));
    make_directories(cache)?;
    // Into a file: what apt-get leaves running in the background would hold a pipe, and us with it (seen: six minutes).
    let script = format!("exec > {} 2>&1\n{INSTALLER}", quoted(&[log.display().to_string()]));
    if let Err(error) = shell.look(&["sh", "-c", &script, "install-dependencies", part]) {
        tell(BuildProgress::Failed);
        return Err(not_installed(missing, &log, &error));
    }
    tell(BuildProgress::Ended(start.elapsed()));
    // Of no use any more.
    let _ = std::fs::remove_file(&log);
    Ok(())
}

fn not_installed(missing: &str, log: &Path, error: &TestbedError) -> TestbedError {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let why = match (lines.is_empty(), error) {
        (false, TestbedError::Failed { status, .. }) => {
            format!("{status}: {}", lines[lines.len().saturating_sub(4)..].join("; "))
        }
        _ => error.to_string(),
    };
    TestbedError::Other(format!("cannot install {missing} ({why}); the whole log: {}", log.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn every_file_the_installer_looks_for_is_of_the_package_it_names() {
        let needs = INSTALLER.lines().filter_map(|line| line.trim().strip_prefix("need_file "));
        let needs: Vec<(String, &str)> =
            needs.filter_map(|words| words.split_once(' ')).map(|(file, package)| (file.replace('\'', ""), package)).collect();
        assert!(needs.iter().any(|(_, package)| *package == "libnl-genl-3-dev"), "{needs:?}");
        for (file, package) in needs {
            // Of a package that is not installed nothing is known.
            let owners = Shell::new().look(&["dpkg-query", "-S", &file]).unwrap_or_default();
            let mut named = owners.lines().filter_map(|line| line.split(':').next());
            assert!(owners.is_empty() || named.all(|owner| owner == package), "{file} is not {package}'s: {owners}");
        }
    }

    #[test]
    fn who_comes_second_says_once_that_it_waits_and_then_has_the_same_file() {
        let cache = std::env::temp_dir().join(format!("sixbench-lock-{}", std::process::id()));
        let first = lock(&cache, &mut || panic!("nobody holds it")).expect("a lock");
        let (tell, told) = mpsc::channel();
        let of_second = cache.clone();
        let second = std::thread::spawn(move || lock(&of_second, &mut || tell.send(()).expect("told")).map(drop));
        told.recv().expect("it waits");
        assert!(!second.is_finished());
        drop(first);
        second.join().expect("joined").expect("a lock");
        assert_eq!(told.try_iter().count(), 0);
        drop(lock(&cache, &mut || panic!("nobody holds it")).expect("a lock"));
        std::fs::remove_dir_all(cache).expect("removed");
    }
}
