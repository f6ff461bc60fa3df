//! A source of Jool that somebody brings along, since Debian's is too old for MAP-T.

use crate::shell::{Shell, TestbedError};
use std::path::{Path, PathBuf};

/// The file that says the version.
const VERSIONED: &str = "src/common/xlat.h";

/// Somebody's own Jool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Own {
    /// Directory or archive.
    pub(super) path: PathBuf,
    pub(super) is_archive: bool,
    /// `4.2.0.3`, as its modules say it.
    pub(super) version: String,
}

impl Own {
    /// Looks at it.
    ///
    /// # Errors
    /// It is no source of Jool.
    pub(super) fn open(path: &Path) -> Result<Self, TestbedError> {
        let no_jool = |why: &str| TestbedError::Other(format!("{} is no source of Jool: {why}", path.display()));
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
        let version = version(&text).ok_or_else(|| no_jool(&format!("{VERSIONED} says no version")))?;
        Ok(Self { path, is_archive, version })
    }
}

/// Four numbers that the preprocessor reads, joined by dots.
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
        let error = Own::open(Path::new("/usr/include")).expect_err("no Jool").to_string();
        assert!(error.starts_with("/usr/include is no source of Jool: src/common/xlat.h: No such file"), "{error}");
    }
}
