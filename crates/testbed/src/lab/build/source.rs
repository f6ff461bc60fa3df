//! The source of a program that the user provides: a directory or an archive, known by its whole content.

use super::work::BuildWork;
use crate::exec::{Shell, TestbedError};
use crate::lab::inputs::{FNV_START, fnv_of_more};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnSource {
    /// Directory or archive.
    path: PathBuf,
    is_archive: bool,
    /// A hash of the whole content, since a patched source keeps its old version.
    hash: u64,
    /// The program whose source it must be.
    program: &'static str,
}

impl OwnSource {
    /// Opens the source of `program`. Returns with it the content of the file that tells its version, whose path is that below its top directory.
    ///
    /// # Errors
    /// It cannot be read, or has no such file, so it is not the source of that program.
    pub(super) fn open(path: &Path, program: &'static str, versioned: &str) -> Result<(Self, String), TestbedError> {
        let wrong = |error: std::io::Error| not_of(program, path, &error.to_string());
        let own = path.canonicalize().map_err(wrong)?;
        let mut source = Self { is_archive: own.is_file(), path: own, hash: 0, program };
        // Before all of it is read, which may be of anything.
        let version = source.read(versioned)?;
        source.hash = hash_of(&source.path).map_err(wrong)?;
        Ok((source, version))
    }

    fn read(&self, file: &str) -> Result<String, TestbedError> {
        if !self.is_archive {
            return std::fs::read_to_string(self.path.join(file)).map_err(|error| self.wrong(&format!("{file}: {error}")));
        }
        let words = ["tar", "-xOf", &self.path.display().to_string(), "--wildcards", &format!("*{file}")];
        Shell::new().look(&words).map_err(|error| self.wrong(&error.to_string()))
    }

    /// Returns an error that says why it is not the source of its program.
    pub(super) fn wrong(&self, why: &str) -> TestbedError {
        not_of(self.program, &self.path, why)
    }

    /// Returns a name that tells it, as of this version, from every other source of the same program, as part of a file name.
    pub(super) fn name(&self, version: &str) -> String {
        format!("{version}-{:016x}", self.hash)
    }

    /// Puts a copy of it into the directory `folder` among the sources of a build.
    pub(super) fn unpack<C>(&self, work: &mut BuildWork<C>, folder: &str) -> Result<(), TestbedError> {
        let path = self.path.display().to_string();
        work.run(&["sh", "-c", &format!("rm -rf {folder} && mkdir {folder}")])?;
        match self.is_archive {
            true => work.run(&["tar", "xf", &path, "-C", folder, "--strip-components=1"]),
            false => work.run(&["cp", "-r", &format!("{path}/."), folder]),
        }
    }
}

fn not_of(program: &str, path: &Path, why: &str) -> TestbedError {
    TestbedError::Other(format!("{} is not a source of {program}: {why}", path.display()))
}

/// Returns a hash of the octets of an archive, or of all names, sizes and contents below a directory. The location of the
/// directory does not matter.
fn hash_of(path: &Path) -> std::io::Result<u64> {
    if path.is_file() {
        return Ok(fnv_of_more(FNV_START, &std::fs::read(path)?));
    }
    let mut files = Vec::new();
    collect(path, &mut files)?;
    files.sort();
    files.iter().try_fold(FNV_START, |hash, file| {
        // No file: a symbolic link, which is copied as such.
        let content =
            if file.is_symlink() { file.read_link()?.into_os_string().into_encoded_bytes() } else { std::fs::read(file)? };
        let name = file.strip_prefix(path).unwrap_or(file).as_os_str().as_bytes();
        let parts = [name, &[0], &content.len().to_le_bytes(), &content];
        Ok(parts.iter().fold(hash, |hash, part| fnv_of_more(hash, part)))
    })
}

/// All files below a directory, without what git keeps for itself.
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
