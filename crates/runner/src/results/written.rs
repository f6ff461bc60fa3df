//! Files as they are written: whole or not at all, through no link, and as those of the user who called sudo.

use super::owner;
use super::unfinished::UnfinishedFile;
use crate::error::store::{Result, StoreError, cannot_write};
use sixbench_io::files::Folder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file of a results directory, in a folder of it that is made where there is none. It goes through a temporary file, so that a reader never
/// sees half of it ([`super::unfinished`]).
pub(crate) fn write(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> Result<()> {
    write_with(folder, name, |file| file.write_all(content.as_ref()))
}

/// Writes a file as of [`write`], with what `print` writes to it, part by part.
pub(crate) fn write_with(
    folder: &Folder,
    name: &str,
    print: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    let place = match name.split_once('/') {
        Some((below, name)) => make_folder(folder, below).map(|below| (below, name)),
        None => Ok((folder.clone(), name)),
    };
    let written = place.and_then(|(folder, name)| {
        let unfinished = UnfinishedFile::create(&folder, format!(".{name}"))?;
        fill(unfinished.file(), print)?;
        unfinished.replace(name)
    });
    written.map_err(cannot_write(&folder.path().join(name)))
}

fn fill(
    file: &File,
    print: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    print(&mut buffered)?;
    buffered.flush()?;
    owner::give(file)
}

/// Opens a folder of a directory, which is made where there is none.
///
/// # Errors
/// It cannot be made, or is a link.
pub(crate) fn make_folder(folder: &Folder, name: impl AsRef<Path>) -> io::Result<Folder> {
    let (folder, is_new) = folder.make_folder(name)?;
    if is_new {
        owner::give(folder.readable()?)?;
    }
    Ok(folder)
}

/// Writes files that must not exist yet, and the directories above them. Nothing is written if one of them exists.
///
/// # Errors
/// A file that exists, or that cannot be written.
pub fn write_new(files: &[(&Path, &str)]) -> Result<()> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(StoreError::Exists(path.to_path_buf()));
    }
    files.iter().try_for_each(|(path, text)| {
        let (folder, name) = (make_folder_of(path)?, path.file_name().unwrap_or_default());
        let created = folder.create_new(name);
        created
            .and_then(|mut file| {
                file.write_all(text.as_bytes())
                    .and_then(|()| owner::give(file))
            })
            .map_err(cannot_write(path))
    })
}

/// Writes a file at a path that the user named, in a directory that is made where there is none.
///
/// # Errors
/// It cannot be written.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(cannot_write(path)(io::ErrorKind::InvalidFilename.into()));
    };
    write(&make_folder_of(path)?, name, text)
}

/// Makes the folder of a file at a path that the user named, where there is none; returns it.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_folder_of(path: &Path) -> Result<Folder> {
    make_directory(path.parent().unwrap_or(path)).map_err(cannot_write(path))
}

/// Opens a directory; it and those above it are made where there are none, as those of the user who called sudo.
///
/// # Errors
/// It cannot be made, or root would reach it by a link of another user.
pub fn make_directory(directory: &Path) -> io::Result<Folder> {
    match (
        owner::open(directory),
        directory.parent().zip(directory.file_name()),
    ) {
        (Err(error), Some((above, name))) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(&make_directory(above)?, name)
        }
        (opened, _) => opened,
    }
}
