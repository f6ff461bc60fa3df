//! `sixbench lab`.

use crate::args::LabCommand as Arguments;
use crate::exit::{Exit, Failed};
use crate::output::{self, is_quiet, tell, to_stderr};
use sixbench_testbed::TestbedError;
use sixbench_testbed::lab::{self, BuildOrder, BuildProgress, CachedLab};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Builds, shows or removes the lab.
pub(crate) fn lab(arguments: Arguments) -> Result<Exit, Failed> {
    match arguments {
        Arguments::Build { dir, jool, vpp } => build(
            BuildOrder {
                cache: cache(dir),
                jool,
            },
            vpp.as_deref(),
        ),
        Arguments::List { dir } => list(&cache(dir)),
        Arguments::Clean { dir } => clean(&cache(dir)),
    }
}

fn cache(named: Option<PathBuf>) -> PathBuf {
    named.unwrap_or_else(lab::cache)
}

/// The note that is printed before a lab is built.
const CAUTION: &str = "note: the lab's machines have root access to this machine's files. Their root file system is mounted \
                       read-only, but root inside can remount it writable. Run only recipes and modules in them that you trust";

fn build(order: BuildOrder, vpp: Option<&Path>) -> Result<Exit, Failed> {
    // The steps run in other directories, so the path must be absolute.
    let order = BuildOrder {
        cache: std::path::absolute(&order.cache)?,
        ..order
    };
    // The build starts by installing packages, so check first whether it can succeed.
    for (option, path) in [("--jool", order.jool.as_deref()), ("--vpp", vpp)] {
        if let Some(path) = path.filter(|path| !path.exists()).map(Path::display) {
            let text = format!(
                "{option} {path}: there is no such directory or archive; nothing was installed"
            );
            return Err(Failed::usage(text));
        }
    }
    let start = Instant::now();
    // clap refuses `--vpp` together with `--jool`.
    let built = if let Some(source) = vpp {
        lab::build_vpp(&order.cache, source, &mut show_step).map(|vpp| vpp.directory)
    } else {
        tell!("{CAUTION}");
        lab::build(&order, &mut show_step).map(|lab| lab.directory().to_owned())
    };
    let built = built.map_err(refused)?;
    // A lab that was just built is in the list.
    let size = lab::list(&order.cache)
        .into_iter()
        .find(|entry| entry.path == built)
        .map_or(0, |entry| entry.size);
    tell!(
        "{}, {}, {:.1} s",
        built.display(),
        megabytes(size),
        start.elapsed().as_secs_f64()
    );
    Ok(Exit::Done)
}

/// Returns an error of the lab, with what to do if this user may not write to its directory.
fn refused(error: TestbedError) -> Failed {
    match &error {
        TestbedError::File { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            let next = "this user may not write there: use sudo, or name a directory of your own with --dir DIR";
            Failed::new(Exit::Testbed, anyhow::anyhow!("{error}; {next}"))
        }
        _ => Failed::new(Exit::Testbed, error),
    }
}

/// Prints one line for each step, completed when the step ends.
fn show_step(progress: BuildProgress<'_>) {
    if is_quiet() {
        return;
    }
    match progress {
        BuildProgress::Present => tell!("it was built before"),
        BuildProgress::Waits => waits(),
        BuildProgress::Kept(step) => tell!("{step:<32} already done"),
        BuildProgress::Begins(step) => to_stderr(format_args!("{step:<32} ")),
        BuildProgress::Failed => tell!("failed"),
        BuildProgress::Ended(time) => tell!("{:.1} s", time.as_secs_f64()),
    }
}

fn waits() {
    tell!("another sixbench is building the lab; waiting");
}

fn list(cache: &Path) -> Result<Exit, Failed> {
    let entries = lab::list(cache);
    if entries.is_empty() {
        output::line(format_args!(
            "no kernel lab in {} (sixbench lab build)",
            cache.display()
        ))?;
    }
    entries
        .iter()
        .try_for_each(|entry| output::line(describe(entry)))?;
    Ok(Exit::Done)
}

fn describe(entry: &CachedLab) -> String {
    let (path, size) = (entry.path.display(), megabytes(entry.size));
    match &entry.contents {
        Some(contents) => {
            let outdated = if entry.is_current {
                ""
            } else {
                " (built for other versions than those installed: not used)"
            };
            format!("{contents}, {size}: {path}{outdated}")
        }
        None => format!("unfinished, {size}: {path} (sixbench lab build continues it)"),
    }
}

fn clean(cache: &Path) -> Result<Exit, Failed> {
    let removed = lab::clean(cache, &mut waits).map_err(refused)?;
    if removed.is_empty() {
        output::line(format_args!("no kernel lab in {}", cache.display()))?;
    }
    let tell = |entry: &CachedLab| {
        output::line(format_args!(
            "removed {} ({})",
            entry.path.display(),
            megabytes(entry.size)
        ))
    };
    removed.iter().try_for_each(tell)?;
    Ok(Exit::Done)
}

fn megabytes(octets: u64) -> String {
    format!("{:.1} MB", octets as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_is_described_in_a_line() {
        let contents = Some("Linux 6.1.176, Jool 4.1.9-1 (jool_common, jool)".to_owned());
        let whole = CachedLab {
            path: "/c/linux-1".into(),
            contents,
            size: 2_500_000,
            is_current: true,
        };
        assert_eq!(
            describe(&whole),
            "Linux 6.1.176, Jool 4.1.9-1 (jool_common, jool), 2.5 MB: /c/linux-1"
        );
        let outdated = CachedLab {
            is_current: false,
            ..whole.clone()
        };
        assert!(
            describe(&outdated).ends_with("not used)"),
            "{}",
            describe(&outdated)
        );
        let half = CachedLab {
            contents: None,
            ..whole
        };
        assert!(
            describe(&half).starts_with("unfinished, 2.5 MB: "),
            "{}",
            describe(&half)
        );
    }
}
