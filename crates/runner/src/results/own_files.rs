//! Which files at a place that the user named may be replaced: those that sixbench has written before, which their content shows, and empty ones. All
//! others may be the user's own.

use super::owner;
use crate::error::store::{Result, StoreError};
use sixbench_engine::dns::RECORDS_HEADING;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// The number of octets from the beginning of a file in which its marks must be.
const HEAD: u64 = 1 << 18;

/// A kind of file that sixbench writes at a place that the user named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFile {
    /// A page: of a comparison or of a history.
    Page,
    /// A comparison in Markdown.
    Markdown,
    /// The data of a history, as JSON.
    HistoryData,
    /// A line for each query of a trial, as CSV.
    Queries,
    /// A manual page.
    Manual,
    /// The results of a device against the RFCs, as JSON.
    DeviceResults,
    /// The result of a device under malformed frames, as JSON.
    Robustness,
    /// The frames of a port. They look like those of any other program, so none are replaced.
    Capture,
}

impl OwnFile {
    /// Returns texts that are all in each file of this kind; none if nothing shows that a file is ours.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Page => &["<!DOCTYPE html>", " – sixbench</title>"],
            Self::Markdown => &["### ", "| B to A [95 % interval] | verdict |"],
            Self::HistoryData => &["\"format\":", "\"runs\":", "\"sixbench\":"],
            Self::Queries => &[RECORDS_HEADING],
            Self::Manual => &[".TH sixbench"],
            Self::DeviceResults => &["\"sixbench\":", "\"device\":", "\"vectors\":"],
            Self::Robustness => &["\"sixbench\":", "\"device\":", "\"robustness\":"],
            Self::Capture => &[],
        }
    }

    /// Returns the kind of the file in which a comparison is written at a path: Markdown if its name ends with `.md`.
    pub fn of_comparison(path: &Path) -> Self {
        if path.extension().is_some_and(|ending| ending == "md") {
            Self::Markdown
        } else {
            Self::Page
        }
    }

    /// Refuses a path at which there is anything but a file of this kind.
    ///
    /// # Errors
    /// Something else is there, or cannot be read.
    pub fn check(self, path: &Path) -> Result<()> {
        if self.is_free(path) {
            Ok(())
        } else {
            Err(StoreError::Foreign(path.to_owned()))
        }
    }

    fn is_free(self, path: &Path) -> bool {
        let found = match path.symlink_metadata() {
            Err(error) => {
                return matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
            }
            Ok(found) => found,
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut head = Vec::new();
        let opened = owner::open(folder)
            .and_then(|folder| folder.read(path.file_name().unwrap_or_default()));
        let is_read = opened
            .and_then(|file| file.take(HEAD).read_to_end(&mut head))
            .is_ok();
        let head = String::from_utf8_lossy(&head);
        let has_marks =
            !self.marks().is_empty() && self.marks().iter().all(|mark| head.contains(mark));
        found.is_file() && (found.len() == 0 || is_read && has_marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// What an editor or another program may have written under the name of each kind.
    const FOREIGN: [(OwnFile, &str); 8] = [
        (
            OwnFile::Page,
            "<!DOCTYPE html>\n<title>My page about sixbench</title>\n",
        ),
        (OwnFile::Markdown, "### Notes\n\n| a | verdict |\n"),
        (OwnFile::HistoryData, "{\"format\": 1}\n"),
        (OwnFile::Queries, "query,name\n1,a\n"),
        (OwnFile::Manual, ".TH tayga 8\n"),
        (
            OwnFile::DeviceResults,
            "{\"device\": \"tayga\", \"vectors\": []}\n",
        ),
        (
            OwnFile::Robustness,
            "{\"device\": \"tayga\", \"robustness\": \"good\"}\n",
        ),
        (OwnFile::Capture, "\u{4d}<\u{b2}\u{a1}"),
    ];

    #[test]
    fn only_files_of_ours_and_empty_ones_are_replaced() {
        let directory =
            std::env::temp_dir().join(format!("sixbench-own-files-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("file");
        let is_free = |kind: OwnFile, text: &str| {
            fs::write(&path, text).expect("a file");
            kind.check(&path).is_ok()
        };
        for (kind, foreign) in FOREIGN {
            let own = kind.marks().join("\n");
            assert!(!is_free(kind, foreign), "{kind:?}");
            assert!(is_free(kind, &own) && is_free(kind, ""), "{kind:?}");
            assert!(
                kind.check(&directory.join("none")).is_ok() && kind.check(&directory).is_err(),
                "{kind:?}"
            );
        }
        let link = directory.join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert!(
            OwnFile::Page.check(&link).is_err(),
            "what is written replaces the link"
        );
        fs::remove_dir_all(&directory).expect("removed");
    }
}
