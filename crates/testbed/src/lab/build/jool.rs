//! A Jool source provided by the user, because Debian's Jool is too old for MAP-T.

use super::source::OwnSource;
use crate::exec::TestbedError;
use std::path::Path;

const VERSIONED: &str = "src/common/xlat.h";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnJool {
    pub(super) source: OwnSource,
    /// The modules' version, such as `4.2.0.3`.
    pub(super) version: String,
}

impl OwnJool {
    pub(super) fn open(path: &Path) -> Result<Self, TestbedError> {
        let (source, text) = OwnSource::open(path, "Jool", VERSIONED)?;
        let version = version(&text)
            .ok_or_else(|| source.wrong(format!("{VERSIONED} does not name a version")))?;
        Ok(Self { source, version })
    }

    /// Returns a name that distinguishes it from every other Jool, for use in file names.
    pub(super) fn name(&self) -> String {
        self.source.name(&self.version)
    }
}

/// Returns the version: four numbers from preprocessor definitions, joined by dots.
fn version(header: &str) -> Option<String> {
    let number = |part: &str| {
        let name = format!("JOOL_VERSION_{part} ");
        let line = header
            .lines()
            .find_map(|line| line.strip_prefix("#define ")?.strip_prefix(&name))?;
        line.trim()
            .parse::<u32>()
            .ok()
            .map(|number| number.to_string())
    };
    Some(
        [
            number("MAJOR")?,
            number("MINOR")?,
            number("REV")?,
            number("DEV")?,
        ]
        .join("."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_version_is_read_as_the_modules_print_it() {
        let header = "#ifndef X\n#define JOOL_VERSION_MAJOR 4\n#define JOOL_VERSION_MINOR 1\n#define JOOL_VERSION_REV 9\n\
                      #define JOOL_VERSION_DEV 0\n/** Version */\n#define JOOL_VERSION_STR \\\n";
        assert_eq!(version(header).as_deref(), Some("4.1.9.0"));
        assert_eq!(version("#define JOOL_VERSION_MAJOR 4\n"), None);
    }

    #[test]
    fn what_is_no_source_of_jool_is_refused() {
        let error = OwnJool::open(Path::new("/usr/include"))
            .expect_err("no Jool")
            .to_string();
        assert!(
            error.starts_with(
                "/usr/include is not a source of Jool: src/common/xlat.h: No such file"
            ),
            "{error}"
        );
    }

    /// Creates a source with a version, in a directory of this test.
    fn source(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("sixbench-jool-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("src/common")).expect("a directory");
        let parts = ["MAJOR 4", "MINOR 2", "REV 0", "DEV 0"]
            .map(|part| format!("#define JOOL_VERSION_{part}\n"));
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
        for path in &[here, there] {
            std::fs::remove_dir_all(path).expect("removed");
        }
    }
}
