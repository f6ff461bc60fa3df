//! Errors about the kernel lab, its builds and its virtual machines.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The reason why the lab cannot be used or built.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum LabError {
    /// No lab was built for this machine.
    #[error(
        "there is no kernel lab for this machine in {}; to build one, run `sixbench lab build` once (1 to 2 minutes)",
        cache.display()
    )]
    Absent { cache: PathBuf },
    /// No lab has a module that the device needs.
    #[error(
        "the kernel lab in {} has no module {module}: build it with a version of Jool that has it (sixbench lab build --jool DIR|ARCHIVE)",
        cache.display()
    )]
    NoModule { cache: PathBuf, module: String },
    /// VPP was not built.
    #[error(
        "there is no VPP in {}, and no Debian package has it: build it from its source (sixbench lab build --vpp DIR|ARCHIVE)",
        cache.display()
    )]
    NoVpp { cache: PathBuf },
    /// The package with the virtual machines' kernel does not say which kernel that is.
    #[error("the package user-mode-linux does not say which kernel it contains: `{built_using}`")]
    NoKernel { built_using: String },
    /// Packages are missing, and this user cannot install them; `what` needs them.
    #[error(
        "{what} needs packages that are missing: run this command with sudo, or apt-get install --no-install-recommends {packages}"
    )]
    PackagesMissing { what: String, packages: String },
    /// Packages cannot be installed.
    #[error("cannot install {packages} ({why}); the whole log: {}", log.display())]
    NotInstalled {
        packages: String,
        why: String,
        log: PathBuf,
    },
    /// A package is not offered in the version that is needed. Its `archive` in the sources would do.
    #[error(
        "{cause}\n{package} is needed in version {version}, to match this machine's packages user-mode-linux and jool-tools; \
         available are: {offered}. Upgrade those packages, or add a suite that has it (snapshot.debian.org has all), or put {} into \
         {}",
        shown(archive.file_name()),
        shown(archive.parent().map(Path::as_os_str))
    )]
    NotOffered {
        cause: String,
        package: String,
        version: String,
        offered: String,
        archive: PathBuf,
    },
    /// A directory or archive is not the source of a program.
    #[error("{} is not a source of {program}: {why}", path.display())]
    NoSource {
        path: PathBuf,
        program: &'static str,
        why: String,
    },
    /// The source of VPP has no version.
    #[error(
        "{cause}; it is there in an archive made by `make dist`, elsewhere write a line such as v26.06-0-g0 into it"
    )]
    NoVersionOfVpp { cause: String },
    /// The source of the kernel is of another version than the kernel of the virtual machines.
    #[error(
        "the source is of Linux {found}, but the virtual machines run {wanted}: modules would not load"
    )]
    OtherKernel { found: String, wanted: String },
    /// A command of a build cannot be started.
    #[error("cannot run `{command}`: {error}")]
    NotStarted {
        command: String,
        error: std::io::Error,
    },
    /// A step of a build fails.
    #[error(
        "cannot {step}: {cause}\nthe whole log: {}; the same command continues with this step",
        log.display()
    )]
    Step {
        step: String,
        cause: String,
        log: PathBuf,
    },
    /// The description of a lab cannot be written.
    #[error("cannot describe the lab: {error}")]
    Manifest { error: toml::ser::Error },
    /// A build ended well, but files are missing.
    #[error("{} was built, but it is not complete", directory.display())]
    Incomplete { directory: PathBuf },
    /// A virtual machine does not come up in time.
    #[error("the virtual machine does not run commands after {seconds} s: {console} ({cause})")]
    NoCommands {
        seconds: u64,
        console: String,
        cause: String,
    },
    /// A virtual machine has ended.
    #[error("the virtual machine has ended ({status}); its console says: {console}")]
    Ended { status: String, console: String },
}

fn shown(part: Option<&OsStr>) -> String {
    part.unwrap_or_default().to_string_lossy().into_owned()
}
