//! The inputs of a lab, which determine its name: another kernel, another Jool or another shim makes another lab.

use crate::exec::{LabError, Shell, TestbedError};
use sixbench_method::fnv;
use std::path::{Path, PathBuf};

pub(super) const PREFIX: &str = "linux-";

/// The source of the library that is preloaded into User-Mode Linux.
pub(super) const SHIM: &str = include_str!("shim.c");

/// The version of the build process, which is incremented when the same inputs lead to a different result.
const FORM: u64 = 1;

/// The versions of this machine's packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inputs {
    /// The version of Debian's source package of the virtual machines' kernel, such as `6.1.176-1`.
    pub(super) kernel_package: String,
    /// The version of Debian's Jool package. Its modules and tools must have the same version.
    pub(super) jool_package: String,
}

impl Inputs {
    pub(super) fn of_this_machine() -> Result<Self, TestbedError> {
        let built_using = query("user-mode-linux", "${Built-Using}")?;
        let Some(kernel) = kernel_version(&built_using) else {
            return Err(LabError::NoKernel { built_using }.into());
        };
        Ok(Self {
            kernel_package: kernel.to_owned(),
            jool_package: query("jool-tools", "${Version}")?,
        })
    }

    /// Returns the release of the kernel, such as `6.1.176`.
    pub(super) fn kernel(&self) -> &str {
        self.kernel_package
            .rsplit_once('-')
            .map_or(&self.kernel_package, |(upstream, _)| upstream)
    }

    /// Returns the binary package with the source: `linux-source-6.1`.
    pub(super) fn source_package(&self) -> String {
        let series: Vec<&str> = self.kernel().splitn(3, '.').take(2).collect();
        format!("linux-source-{}", series.join("."))
    }

    /// Returns the name of the lab with Debian's Jool, or with the user's own Jool, called `own_jool`.
    pub(super) fn name(&self, own_jool: Option<&str>) -> String {
        match own_jool {
            None => self.base(),
            Some(jool) => format!("{}-own-jool-{jool}", self.base()),
        }
    }

    fn base(&self) -> String {
        let shim = fnv::hash(SHIM.as_bytes()) ^ FORM;
        format!(
            "{PREFIX}{}-jool-{}-{shim:016x}",
            self.kernel_package, self.jool_package
        )
    }

    pub(super) fn made(&self, lab: &Path) -> bool {
        let name = lab
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let base = self.base();
        name == base
            || name
                .strip_prefix(&base)
                .is_some_and(|rest| rest.starts_with("-own-jool-"))
    }

    pub(super) fn kernel_modules(&self) -> PathBuf {
        Path::new("/usr/lib/uml/modules").join(self.kernel())
    }
}

/// Returns the version in `linux (= 6.1.176-1)`, the form in which a package names the sources it was built from.
fn kernel_version(built_using: &str) -> Option<&str> {
    let sources = built_using.split(',').map(str::trim);
    sources
        .into_iter()
        .find_map(|source| source.strip_prefix("linux (= ")?.strip_suffix(')'))
}

fn query(package: &str, field: &str) -> Result<String, TestbedError> {
    let printed = Shell::new().look(&["dpkg-query", "-W", "-f", field, package]);
    match printed.map(|text| text.trim().to_owned()) {
        Ok(text) if !text.is_empty() => Ok(text),
        _ => Err(TestbedError::Missing {
            program: package.to_owned(),
            cure: Some("sixbench lab build".to_owned()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> Inputs {
        Inputs {
            kernel_package: "6.1.176-1".to_owned(),
            jool_package: "4.1.9-1".to_owned(),
        }
    }

    #[test]
    fn the_kernel_is_the_one_that_the_package_was_built_of() {
        assert_eq!(
            kernel_version("gcc-12 (= 12.2.0-14), linux (= 6.1.176-1)"),
            Some("6.1.176-1")
        );
        assert_eq!(kernel_version(""), None);
        assert_eq!(
            (inputs().kernel(), inputs().source_package().as_str()),
            ("6.1.176", "linux-source-6.1")
        );
    }

    #[test]
    fn another_version_makes_another_lab() {
        let other = Inputs {
            jool_package: "4.1.15-1".to_owned(),
            ..inputs()
        };
        let (name, own) = (inputs().name(None), inputs().name(Some("4.2.0")));
        assert!(name.starts_with("linux-6.1.176-1-jool-4.1.9-1-"), "{name}");
        assert!(
            inputs().made(Path::new("/c").join(&name).as_path()) && inputs().made(Path::new(&own))
        );
        assert!(!other.made(Path::new(&name)));
        assert!(!inputs().made(Path::new(&format!("{name}.unfinished"))));
    }
}
