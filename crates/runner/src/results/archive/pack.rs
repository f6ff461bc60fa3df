//! Packs the files of an archive with tar and compresses them with Zstandard.

use super::error::ArchiveError;
use super::files::PackedFile;
use super::held_io::ErrorHolder;
use ruzstd::encoding::{CompressionLevel, compress};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use tar::{Builder, EntryType, Header};

pub(super) struct ArchiveContents<'a> {
    /// The folder that all files are in.
    pub(super) name: &'a str,
    /// Texts generated for the archive, by name.
    pub(super) texts: &'a [(&'static str, String)],
    pub(super) members: &'a [PackedFile],
    /// The modification time of all files, in seconds since 1970.
    pub(super) time_s: u64,
}

/// Writes the folder to `file`, which is at `path`: one thread packs, the other compresses, since the compressor reads from a stream and the packer
/// writes to one.
pub(super) fn write(
    folder: &ArchiveContents<'_>,
    file: &File,
    path: &Path,
) -> Result<(), ArchiveError> {
    let failed = ArchiveError::writing(path);
    let (unpacked, packed) = io::pipe().map_err(&failed)?;
    let (mut source, mut drain) = (
        ErrorHolder::new(BufReader::new(unpacked)),
        ErrorHolder::new(BufWriter::new(file)),
    );
    std::thread::scope(|scope| {
        let packing = scope.spawn(|| pack(folder, BufWriter::new(packed), path));
        compress(&mut source, &mut drain, CompressionLevel::Fastest);
        let written = source
            .into_inner()
            .and_then(|_| drain.into_inner())
            .and_then(|mut file| file.flush());
        let packed = packing
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        packed.and(written.map_err(&failed))
    })
}

/// Packs texts and files. Owner, group and mode are the same for all, so that they say nothing of the machine.
fn pack(folder: &ArchiveContents<'_>, output: impl Write, path: &Path) -> Result<(), ArchiveError> {
    let mut archive = Builder::new(output);
    let mut add = |name: &str, octets: u64, content: &mut dyn Read| {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(octets);
        header.set_mode(0o644);
        header.set_mtime(folder.time_s);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, format!("{}/{name}", folder.name), content)
    };
    for (name, text) in folder.texts {
        add(name, text.len() as u64, &mut text.as_bytes()).map_err(ArchiveError::writing(path))?;
    }
    for PackedFile {
        name,
        folder,
        in_folder,
        octets,
        ..
    } in folder.members
    {
        let path = &folder.path().join(in_folder);
        let file = folder
            .read(in_folder)
            .map_err(ArchiveError::reading(path))?;
        // Octets that are written to a file meanwhile are left out: its header states a size, and its digest in the archive is of the octets before.
        let mut content = file.take(*octets);
        add(name, *octets, &mut content).map_err(ArchiveError::reading(path))?;
        // The rest of the archive would be read from a wrong place.
        if content.limit() > 0 {
            let text = "it became shorter while it was read, as when a report is written again";
            return Err(ArchiveError::reading(path)(io::Error::other(text)));
        }
    }
    archive
        .into_inner()
        .and_then(|mut output| output.flush())
        .map_err(ArchiveError::writing(path))
}
