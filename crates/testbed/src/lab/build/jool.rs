//! A source of Jool that the user provides, since Debian's is too old for MAP-T.

use crate::exec::{Shell, TestbedError};
use crate::lab::inputs::{FNV_START, fnv_of_more};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

const VERSIONED: &str = "src/common/xlat.h";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnJool {
    /// Directory or archive.
    pub(super) path: PathBuf,
    pub(super) is_archive: bool,
    /// `4.2.0.3`, as its modules say it.
    pub(super) version: String,
    /// A hash of the whole content, since a patched source keeps its old version.
    hash: u64,
}

impl OwnJool {
    pub(super) fn open(path: &Path) -> Result<Self, TestbedError> {
        let no_jool = |why: &str| TestbedError::Other(format!("{} is not a source of Jool: {why}", path.display()));
        let path = path.canonicalize().map_err(|error| no_jool(&error.to_string()))?;
        let is_archive = path.is_file();
        let text = match is_archive {
            true => {
                let words = ["tar", "-xOf", &path.display().to_string(), "--wildcards", &format!("*{VERSIONED}")];
                Shell::new().look(&words).map_err(|error| no_jool(&error.to_string()))?
            }
            false => {
                std::fs::read_to_string(path.join(VERSIONED)).map_err(|error| no_jool(&format!("{VERSIONED}: {error}")))?
            }
        };
        let version = version(&text).ok_or_else(|| no_jool(&format!("{VERSIONED} does not name a version")))?;
        let hash = hash_of(&path).map_err(|error| no_jool(&error.to_string()))?;
        Ok(Self { path, is_archive, version, hash })
    }

    /// Returns a name that distinguishes it from every other Jool, as part of a file name.
    pub(super) fn name(&self) -> String {
        format!("{}-{:016x}", self.version, self.hash)
    }
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

/// Returns the version: four numbers that the preprocessor reads, joined by dots.
fn version(header: &str) -> Option<String> {
    let number = |part: &str| {
        let name = format!("JOOL_VERSION_{part} ");
        let line = header.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(&name))?;
        line.trim().parse::<u32>().ok().map(|number| number.to_string())
    };
    Some([number("MAJOR")?, number("MINOR")?, number("REV")?, number("DEV")?].join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_as_the_modules_print_it() {
        let header = "#ifndef X\n#define JOOL_VERSION_MAJOR 4\n#define JOOL_VERSION_MINOR 1\n#define JOOL_VERSION_REV 9\n\
                      #define JOOL_VERSION_DEV 0\n/** Version */\n#define JOOL_VERSION_STR \\\n";
        assert_eq!(version(header).as_deref(), Some("4.1.9.0"));
        assert_eq!(version("#define JOOL_VERSION_MAJOR 4\n"), None);
    }

    #[test]
    fn what_is_no_source_of_jool_is_refused() {
        let error = OwnJool::open(Path::new("/usr/include")).expect_err("no Jool").to_string();
        assert!(error.starts_with("/usr/include is not a source of Jool: src/common/xlat.h: No such file"), "{error}");
    }

    /// A source of a version, in a directory of this test's own.
    fn source(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("sixbench-jool-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("src/common")).expect("a directory");
        let parts = ["MAJOR 4", "MINOR 2", "REV 0", "DEV 0"].map(|part| format!("#define JOOL_VERSION_{part}\n"));
        std::fs::write(path.join(VERSIONED), parts.concat()).expect("a file");
        std::fs::write(path.join("a.c"), "int a;\n").expect("a file");
        path
    }

    #[test]
    fn a_patched_source_has_another_name_though_its_version_is_the_same() {
        let [here, there] = ["here", "there"].map(source);
        let name = |path: &Path| OwnJool::open(path).expect("Jool").name();
        let before = name(&here);
        assert!(before.starts_with("4.2.0.0-"), "{before}");
        assert_eq!(name(&there), before, "wherever it lies");
        std::fs::create_dir(here.join(".git")).expect("a directory");
        std::fs::write(here.join(".git/index"), "changes with every look").expect("a file");
        assert_eq!(name(&here), before);
        std::fs::write(here.join("a.c"), "int b;\n").expect("a file");
        assert_ne!(name(&here), before);
        std::fs::rename(there.join("a.c"), there.join("b.c")).expect("renamed");
        assert_ne!(name(&there), before);
        [here, there].iter().for_each(|path| std::fs::remove_dir_all(path).expect("removed"));
    }
}
