//! Determines whether a device can run on this machine.

use crate::exec::{Shell, has_program};
use crate::lab::{self, LabPart};
use crate::recipe::{DeviceHost, Recipe, RequiredProgram};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// Where a device runs or, if something is missing here, what it is. The order is that of lists: what is nearest to running comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    tag = "state"
)]
pub enum Availability {
    /// Nothing is missing.
    Installed,
    /// Programs are missing, all of which are in Debian packages.
    Installable {
        /// The programs.
        programs: Vec<String>,
        /// The packages that have them.
        packages: Vec<String>,
    },
    /// A program is missing that no package has.
    NotPackaged {
        /// The program.
        program: String,
        /// Where to get it.
        fix: String,
    },
    /// The kernel of this machine lacks a module.
    NeedsModule {
        /// The module.
        module: String,
        /// How to get it.
        fix: String,
    },
    /// A part of the kernel lab has not been built, or lacks something.
    NeedsLab {
        /// The part.
        part: LabPart,
        /// What is missing, and how to build it.
        fix: String,
    },
    /// It runs on another operating system, on a machine that is reached by ssh.
    OverSsh {
        /// The operating system.
        system: &'static str,
    },
    /// It is set up by hand, cabled to two interfaces.
    ByHand,
}

impl Availability {
    /// Determines the availability of a device on this machine.
    pub fn here(recipe: &Recipe) -> Self {
        match recipe.host {
            DeviceHost::Manual => Self::ByHand,
            _ if !recipe.is_for_namespaces() => Self::OverSsh {
                system: recipe.system.title(),
            },
            _ => missing_here(recipe).unwrap_or(Self::Installed),
        }
    }

    /// Returns the heading of a list of devices with this availability. Where it does not say all, [`Availability::fix`] says the rest.
    pub fn heading(&self) -> &'static str {
        match self {
            Self::Installed => "runs here",
            Self::Installable { .. } => "needs a Debian package",
            Self::NotPackaged { .. } => "needs a program that is in no Debian package",
            Self::NeedsModule { .. } => "needs a module of this machine's kernel",
            Self::NeedsLab {
                part: LabPart::Kernel,
                ..
            } => "needs the kernel lab: sixbench lab build, once, 1 to 2 minutes",
            Self::NeedsLab {
                part: LabPart::Vpp, ..
            } => "needs VPP: sixbench lab build --vpp DIR|ARCHIVE, once",
            Self::OverSsh { .. } => "runs on a machine of its own, over ssh",
            Self::ByHand => "is set up by hand, cabled to two interfaces",
        }
    }

    /// Returns what this device needs beyond its heading.
    pub fn fix(&self) -> Option<String> {
        match self {
            Self::Installed | Self::ByHand | Self::NeedsLab { .. } => None,
            Self::Installable { packages, .. } => {
                Some(format!("apt-get install {}", packages.join(" ")))
            }
            Self::NotPackaged { fix, .. } | Self::NeedsModule { fix, .. } => Some(fix.clone()),
            Self::OverSsh { system } => Some((*system).to_owned()),
        }
    }
}

impl fmt::Display for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed => f.write_str("runs here"),
            Self::Installable { programs, packages } => {
                let verb = if programs.len() == 1 { "is" } else { "are" };
                write!(
                    f,
                    "{} {verb} not installed: apt-get install {}",
                    programs.join(", "),
                    packages.join(" ")
                )
            }
            Self::NotPackaged { program, fix } => write!(f, "{program} is not installed: {fix}"),
            Self::NeedsModule { module, fix } => {
                write!(f, "this machine's kernel has no module {module} ({fix})")
            }
            Self::NeedsLab { fix, .. } => f.write_str(fix),
            Self::OverSsh { system } => write!(f, "runs on {system}, over ssh"),
            Self::ByHand => f.write_str("set up by hand, cabled to two interfaces"),
        }
    }
}

/// Returns what is missing on this machine for a device that sixbench sets up here.
fn missing_here(recipe: &Recipe) -> Option<Availability> {
    if let Some((part, error)) = lab::lacking(recipe) {
        return Some(Availability::NeedsLab {
            part,
            fix: error.to_string(),
        });
    }
    without_programs(&recipe.missing()).or_else(|| {
        let module = recipe
            .kernel_modules()
            .into_iter()
            .find(|module| !has_module(module))?;
        Some(Availability::NeedsModule {
            fix: module_cure(&module),
            module,
        })
    })
}

/// Returns the availability of a device for which these programs are missing: a program that is in no package takes the longest to get.
fn without_programs(missing: &[&RequiredProgram]) -> Option<Availability> {
    if let Some(need) = missing.iter().find(|need| need.package.is_none()) {
        return Some(Availability::NotPackaged {
            program: need.program.clone(),
            fix: need.cure(),
        });
    }
    let mut packages: Vec<String> = missing
        .iter()
        .filter_map(|need| need.package.clone())
        .collect();
    packages.sort();
    packages.dedup();
    let programs: Vec<String> = missing.iter().map(|need| need.program.clone()).collect();
    if packages.is_empty() {
        None
    } else {
        Some(Availability::Installable { programs, packages })
    }
}

/// Returns what is missing on this machine for a device that sixbench sets up here, and how to fix it, or `None` if nothing is missing.
pub fn why_missing(recipe: &Recipe) -> Option<String> {
    missing_here(recipe).map(|missing| missing.to_string())
}

/// Returns true if this machine's own kernel has a module or can load it.
pub(crate) fn has_module(name: &str) -> bool {
    let loaded = Path::new("/sys/module").join(name.replace('-', "_"));
    loaded.exists()
        || (has_program("modprobe") && Shell::new().look(&["modprobe", "-n", "-q", name]).is_ok())
}

/// Returns what to do if the kernel lacks a module.
pub(crate) fn module_cure(name: &str) -> String {
    if name.starts_with("jool") {
        "apt-get install jool-dkms linux-headers-$(uname -r), then modprobe jool; or use the kernel lab, sixbench lab build"
                .to_owned()
    } else {
        format!("modprobe {name}; or use the kernel lab, sixbench lab build")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the recipe of a router that needs these programs.
    fn router(needs: &str) -> Recipe {
        let text = include_str!("../../../recipes/linux-ipv4.toml");
        toml::from_str(&text.replacen("technology", &format!("needs = [{needs}]\ntechnology"), 1))
            .expect("a recipe")
    }

    const PACKAGED: &str = "{ program = \"no-such-program\", package = \"some-package\" }";

    #[test]
    fn a_missing_program_is_told_with_its_package() {
        let recipe = router(PACKAGED);
        let found = Availability::here(&recipe);
        assert!(
            matches!(&found, Availability::Installable { packages, .. } if packages == &["some-package"]),
            "{found:?}"
        );
        assert_eq!(
            found.to_string(),
            "no-such-program is not installed: apt-get install some-package"
        );
        assert_eq!(why_missing(&recipe), Some(found.to_string()));
        assert_eq!(Availability::here(&router("")), Availability::Installed);
    }

    #[test]
    fn a_program_without_a_package_outweighs_one_that_has_a_package() {
        let source = "{ program = \"no-such-source\", source = \"https://example.org/x\" }";
        let found = Availability::here(&router(&format!("{PACKAGED}, {source}")));
        assert!(
            matches!(&found, Availability::NotPackaged { program, .. } if program == "no-such-source"),
            "{found:?}"
        );
        assert!(
            found.to_string().contains("https://example.org/x"),
            "{found}"
        );
    }

    #[test]
    fn a_device_for_another_system_is_not_missing_here() {
        let recipe = toml::from_str(include_str!("../../../recipes/openbsd-pf-nat64.toml"))
            .expect("a recipe");
        assert_eq!(
            Availability::here(&recipe).to_string(),
            "runs on OpenBSD, over ssh"
        );
    }
}
