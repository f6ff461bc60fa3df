//! A results directory as a single file for a data repository such as Zenodo: a tar archive compressed with Zstandard. The same directory always
//! gives the same octets: names are sorted, all files have the same owner, mode and time (the end of the run), and the compression has no options.
//!
//! # Dependencies
//!
//! `runner::results::archive` packs a directory with crates written only in Rust (`tar`, `ruzstd`, `sha2`), because the static program
//! is built without a C compiler.

mod error;
mod files;
mod held_io;
mod metadata;
mod pack;
mod texts;

pub use error::ArchiveError;

use crate::results::owner;
use crate::results::store;
use crate::results::unfinished::UnfinishedFile;
use files::{METADATA, README, SUMS, members, summed};
use jiff::Timestamp;
use pack::ArchiveContents;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes the archive of a results directory to `output`, by default to `NAME.tar.zst` next to the directory. Returns its path and its SHA-256.
///
/// Files whose names begin with a dot are left out, such as the token of the live page.
///
/// # Errors
/// There is no results directory, its run is still going on, the archive exists, or a file cannot be read or written.
pub fn write(directory: &Path, output: Option<&Path>) -> Result<(PathBuf, String), ArchiveError> {
    let results = store::folder(directory)?;
    let directory = fs::canonicalize(directory).map_err(ArchiveError::reading(directory))?;
    // No run begins to write to the directory as long as this lock is held.
    let Some(_lock) = store::lock_to_read(&results) else {
        return Err(ArchiveError::Running(directory));
    };
    let stored = store::load_from(&results)?;
    let name = directory.file_name().map_or_else(
        || "results".into(),
        |name| name.to_string_lossy().into_owned(),
    );
    let output = output.map_or_else(
        || directory.with_file_name(format!("{name}.tar.zst")),
        Path::to_owned,
    );
    refuse_place(&directory, &output)?;
    let members = members(&results)?;
    let mut texts = vec![
        (README, texts::readme(&stored)),
        (METADATA, metadata::text(&stored, &members)),
    ];
    texts.push((SUMS, texts::sums(&texts, &members)));
    write_new(
        &ArchiveContents {
            name: &name,
            texts: &texts,
            members: &members,
            time_s: texts::end_s(&stored),
        },
        &output,
    )?;
    let archive = fs::File::open(&output).map_err(ArchiveError::reading(&output))?;
    let (_, sum) = summed(archive).map_err(ArchiveError::reading(&output))?;
    Ok((output, sum))
}

/// Refuses a place of [`write_texts`] at which something is already, or in a folder that is not there.
///
/// # Errors
/// The place is refused.
pub fn check_place(output: &Path) -> Result<(), ArchiveError> {
    folder_of_new(output).map(drop)
}

/// Writes texts, by their names, to a new archive at `output`, in a folder of this name.
///
/// # Errors
/// The place is refused as by [`check_place`], or the archive cannot be written.
pub fn write_texts(
    output: &Path,
    name: &str,
    texts: &[(&'static str, String)],
) -> Result<(), ArchiveError> {
    check_place(output)?;
    let contents = ArchiveContents {
        name,
        texts,
        members: &[],
        time_s: Timestamp::now().as_second().unsigned_abs(),
    };
    write_new(&contents, output)
}

/// Returns the existing folder of a file that does not exist yet.
fn folder_of_new(output: &Path) -> Result<PathBuf, ArchiveError> {
    // A link is one, too, also if it leads nowhere.
    if output.symlink_metadata().is_ok() {
        return Err(ArchiveError::Exists(output.to_owned()));
    }
    let parent = output
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let folder = fs::canonicalize(parent).map_err(ArchiveError::writing(output))?;
    if folder.is_dir() {
        Ok(folder)
    } else {
        Err(ArchiveError::writing(output)(
            io::ErrorKind::NotADirectory.into(),
        ))
    }
}

fn refuse_place(directory: &Path, output: &Path) -> Result<(), ArchiveError> {
    if folder_of_new(output)?.starts_with(directory) {
        Err(ArchiveError::Inside(output.to_owned()))
    } else {
        Ok(())
    }
}

/// Writes the archive under another name until it is whole.
fn write_new(folder: &ArchiveContents<'_>, output: &Path) -> Result<(), ArchiveError> {
    let failed = ArchiveError::writing(output);
    let (place, name) = (
        store::make_folder_of(output)?,
        output.file_name().unwrap_or_default(),
    );
    let unfinished = UnfinishedFile::create(&place, name).map_err(&failed)?;
    owner::give(unfinished.file()).map_err(&failed)?;
    pack::write(folder, unfinished.file(), output)?;
    unfinished
        .finish_new(name)
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Exists(output.to_owned()),
            _ => failed(error),
        })
}
