//! Arguments that several commands have in common: recipes, isolation, output, and the links to a device.

use crate::exit::Failed;
use clap::Args;
use sixbench_io::{Backend, PortSpec};
use sixbench_plan::{Links, backend_word};
use sixbench_testbed::{quoted_path, quoted_word};
use std::path::PathBuf;

/// The choice between waiting and refusing, where another run uses the same cores, interfaces or device.
#[derive(Debug, Args)]
pub(crate) struct WaitOption {
    /// Wait until no other run uses the same cores, interfaces or device, instead of refusing
    #[arg(long)]
    pub(crate) wait: bool,
}

/// Recipes that do not come with sixbench.
#[derive(Debug, Args)]
pub(crate) struct RecipesOption {
    /// Further recipes: a directory of TOML files
    #[arg(long, value_name = "DIR")]
    pub(crate) recipes: Vec<PathBuf>,
}

/// The declaration that test traffic cannot leave the environment.
#[derive(Debug, Args)]
pub(crate) struct ForceOption {
    /// Send to any destination. RFC 6815: only in an isolated test environment
    #[arg(long)]
    pub(crate) force: bool,
}

/// The options of a command that asks a single device.
#[derive(Debug, Args)]
pub(crate) struct DeviceOptions {
    #[arg(long, help = io_help(), default_value = "auto", value_parser = sixbench_plan::backend)]
    pub(crate) io: Backend,
    /// Interfaces of the tester, instead of namespaces: LEFT,RIGHT
    #[arg(long, value_name = "LEFT,RIGHT")]
    interfaces: Option<String>,
    #[command(flatten)]
    pub(crate) further: RecipesOption,
    #[command(flatten)]
    pub(crate) isolation: ForceOption,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) waiting: WaitOption,
}

impl DeviceOptions {
    /// Returns the links to the device.
    ///
    /// # Errors
    /// The interfaces are not two.
    pub(crate) fn links(&self) -> Result<Links, Failed> {
        let pair = |list| {
            PortSpec::parse_pair(list)
                .ok_or_else(|| Failed::usage("--interfaces takes two names: LEFT,RIGHT"))
        };
        let ports = self.interfaces.as_deref().map(pair).transpose()?;
        Ok(Links {
            ports,
            io: self.io,
            ..Links::default()
        })
    }

    /// Returns the options that decide which device is asked, and over which links, as a shell reads them: each with a space before it.
    pub(crate) fn for_repetition(&self) -> String {
        let mut words = Vec::new();
        if self.io != Backend::Auto {
            words.push(format!(" --io {}", backend_word(self.io)));
        }
        if let Some(pair) = &self.interfaces {
            words.push(format!(" --interfaces {}", quoted_word(pair.as_ref())));
        }
        let recipes = self.further.recipes.iter();
        words.extend(recipes.map(|directory| format!(" --recipes {}", quoted_path(directory))));
        if self.isolation.force {
            words.push(" --force".to_owned());
        }
        words.concat()
    }
}

/// Returns the help of `--io`.
pub(crate) fn io_help() -> String {
    let mut words: Vec<&str> = Backend::words().map(|(word, _)| word).collect();
    let last = words.pop().unwrap_or_default();
    format!("Backend: {} or {last}", words.join(", "))
}
