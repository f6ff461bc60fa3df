//! The files of a results directory, each with its length and its SHA-256.

use super::error::ArchiveError;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The file that describes the archive.
pub(super) const README: &str = "README";

/// The file of checksums in the format of `sha256sum -c`.
pub(super) const SUMS: &str = "SHA256SUMS";

/// A file of the archive.
pub(super) struct PackedFile {
    /// Its path in the archive, relative to the folder of the run.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) octets: u64,
    /// The SHA-256 in hexadecimal.
    pub(super) sum: String,
}

/// Returns the files of a results directory, sorted by name. Files that an archive adds are left out, so that an unpacked archive gives the same
/// one again.
pub(super) fn members(directory: &Path) -> Result<Vec<PackedFile>, ArchiveError> {
    let mut paths = Vec::new();
    add_files(directory, &mut paths)?;
    let named = paths.into_iter().map(|path| {
        let name = path.strip_prefix(directory).unwrap_or(&path).to_string_lossy().into_owned();
        (name, path)
    });
    let mut named: Vec<_> = named.filter(|(name, _)| ![README, SUMS].contains(&name.as_str())).collect();
    named.sort();
    let member = |(name, path): (String, PathBuf)| {
        let (octets, sum) = summed(&path)?;
        Ok(PackedFile { name, path, octets, sum })
    };
    named.into_iter().map(member).collect()
}

fn add_files(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<(), ArchiveError> {
    let failed = ArchiveError::reading(directory);
    for entry in fs::read_dir(directory).map_err(&failed)? {
        let entry = entry.map_err(&failed)?;
        let kind = entry.file_type().map_err(&failed)?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match kind.is_dir() {
            true => add_files(&entry.path(), paths)?,
            // A symbolic link could point outside the directory.
            false if kind.is_file() => paths.push(entry.path()),
            false => {}
        }
    }
    Ok(())
}

/// Returns the length and the SHA-256 of a file.
pub(super) fn summed(path: &Path) -> Result<(u64, String), ArchiveError> {
    let failed = ArchiveError::reading(path);
    let mut file = File::open(path).map_err(&failed)?;
    let mut hash = Sha256::new();
    let mut octets = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(&failed)? {
            0 => return Ok((octets, hexadecimal(hash))),
            length => {
                hash.update(&buffer[..length]);
                octets += length as u64;
            }
        }
    }
}

/// Returns the SHA-256 of a text in hexadecimal.
pub(super) fn sum_of(octets: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(octets))
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|octet| format!("{octet:02x}")).collect()
}
