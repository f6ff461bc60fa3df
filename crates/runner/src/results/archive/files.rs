//! The files of a results directory, each with its length and its SHA-256.

use super::error::ArchiveError;
use sha2::{Digest as _, Sha256};
use sixbench_io::files::Folder;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};

/// The file that describes the archive.
pub(super) const README: &str = "README";

/// The file of checksums in the format of `sha256sum -c`.
pub(super) const SUMS: &str = "SHA256SUMS";

/// The file that describes the archive to programs.
pub(super) const METADATA: &str = "ro-crate-metadata.json";

/// A file of the archive.
pub(super) struct PackedFile {
    /// Its path in the archive, relative to the folder of the run.
    pub(super) name: String,
    pub(super) folder: Folder,
    /// Its name in this folder.
    pub(super) in_folder: OsString,
    pub(super) octets: u64,
    /// The SHA-256 in hexadecimal.
    pub(super) sum: String,
}

/// The files of a results directory, by name. What an archive adds is left out, so that a directory that came from one gives the same again.
pub(super) fn members(results: &Folder) -> Result<Vec<PackedFile>, ArchiveError> {
    let mut all = Vec::new();
    add_files(results, "", &mut all)?;
    all.retain(|file| ![README, METADATA, SUMS].contains(&file.name.as_str()));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Adds the files of a folder, whose names in the archive begin with `above`. Links are none of them: they could lead out of the directory.
fn add_files(folder: &Folder, above: &str, all: &mut Vec<PackedFile>) -> Result<(), ArchiveError> {
    let failed = ArchiveError::reading(folder.path());
    let is_shown = |name: &OsString| !name.to_string_lossy().starts_with('.');
    for name in folder
        .folders()
        .map_err(&failed)?
        .iter()
        .filter(|name| is_shown(name))
    {
        add_files(
            &folder.folder(name).map_err(&failed)?,
            &format!("{above}{}/", name.to_string_lossy()),
            all,
        )?;
    }
    for in_folder in folder
        .files()
        .map_err(&failed)?
        .into_iter()
        .filter(is_shown)
    {
        let path = folder.path().join(&in_folder);
        let (octets, sum) = folder
            .read(&in_folder)
            .and_then(summed)
            .map_err(ArchiveError::reading(&path))?;
        let name = format!("{above}{}", in_folder.to_string_lossy());
        all.push(PackedFile {
            name,
            folder: folder.clone(),
            in_folder,
            octets,
            sum,
        });
    }
    Ok(())
}

/// The length and the SHA-256 of a file.
pub(super) fn summed(mut file: File) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut octets = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
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
    hash.finalize()
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}
