//! The source of a program provided by the user: a directory or an archive, identified by its entire content.

use super::work::BuildWork;
use crate::exec::{LabError, Shell, TestbedError};
use sixbench_method::fnv;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnSource {
    /// The directory or archive.
    path: PathBuf,
    is_archive: bool,
    /// A hash of the entire content, because a patched source keeps its old version.
    hash: u64,
    /// The program that this must be the source of.
    program: &'static str,
}

impl OwnSource {
    /// Opens the source of `program`. Also returns the content of the file with its version, whose path below the top directory is `versioned`.
    ///
    /// # Errors
    /// The source cannot be read, or it has no such file and is therefore not the source of that program.
    pub(super) fn open(
        path: &Path,
        program: &'static str,
        versioned: &str,
    ) -> Result<(Self, String), TestbedError> {
        let wrong = |error: std::io::Error| not_of(program, path, error.to_string());
        let own = path.canonicalize().map_err(wrong)?;
        let mut source = Self {
            is_archive: own.is_file(),
            path: own,
            hash: 0,
            program,
        };
        // Before hashing, because the path may be anything.
        let version = source.read(versioned)?;
        source.hash = hash_of(&source.path).map_err(wrong)?;
        Ok((source, version))
    }

    fn read(&self, file: &str) -> Result<String, TestbedError> {
        if !self.is_archive {
            return std::fs::read_to_string(self.path.join(file))
                .map_err(|error| self.wrong(format!("{file}: {error}")));
        }
        let words = [
            "tar",
            "-xOf",
            &self.path.display().to_string(),
            "--wildcards",
            &format!("*{file}"),
        ];
        Shell::new()
            .look(&words)
            .map_err(|error| self.wrong(error.to_string()))
    }

    /// Returns an error explaining why this is not the source of its program.
    pub(super) fn wrong(&self, why: String) -> TestbedError {
        not_of(self.program, &self.path, why)
    }

    /// Returns a name that distinguishes this version of the source from all other sources of the program, for use in file names.
    pub(super) fn name(&self, version: &str) -> String {
        format!("{version}-{:016x}", self.hash)
    }

    /// Copies the source into the directory `folder` among the sources of a build.
    pub(super) fn unpack<C>(
        &self,
        work: &mut BuildWork<C>,
        folder: &str,
    ) -> Result<(), TestbedError> {
        let path = self.path.display().to_string();
        work.run(&["sh", "-c", &format!("rm -rf {folder} && mkdir {folder}")])?;
        if self.is_archive {
            work.run(&["tar", "xf", &path, "-C", folder, "--strip-components=1"])
        } else {
            work.run(&["cp", "-r", &format!("{path}/."), folder])
        }
    }
}

fn not_of(program: &'static str, path: &Path, why: String) -> TestbedError {
    let path = path.to_owned();
    LabError::NoSource { path, program, why }.into()
}

/// Returns a hash of the content of an archive, or of all names, sizes and contents below a directory. The location of the directory does not
/// matter.
fn hash_of(path: &Path) -> std::io::Result<u64> {
    if path.is_file() {
        return Ok(fnv::hash(&std::fs::read(path)?));
    }
    let mut files = Vec::new();
    collect(path, &mut files)?;
    files.sort();
    files.iter().try_fold(fnv::START, |hash, file| {
        // A symbolic link is hashed by its target, as it is copied as a link.
        let content = if file.is_symlink() {
            file.read_link()?.into_os_string().into_encoded_bytes()
        } else {
            std::fs::read(file)?
        };
        let name = file
            .strip_prefix(path)
            .unwrap_or(file)
            .as_os_str()
            .as_bytes();
        let parts = [name, &[0], &content.len().to_le_bytes(), &content];
        Ok(parts
            .iter()
            .fold(hash, |hash, part| fnv::extended(hash, part)))
    })
}

/// Collects all files below a directory, except git's own.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true if entry.file_name() == ".git" => {}
            true => collect(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}
