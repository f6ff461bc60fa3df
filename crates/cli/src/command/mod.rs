//! One file for each command, or for a few that belong together.

pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod trial;

use crate::config::{self, Loaded};
use crate::exit::{Exit, Failed};
use crate::view::has_color;
use sixbench_testbed::{Library, Shell, doctor as examination, existing};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Whether standard output takes colours.
pub(crate) fn stdout_color() -> bool {
    has_color() && std::io::stdout().is_terminal()
}

/// The built-in recipes and those of further directories.
pub(crate) fn library(directories: &[PathBuf]) -> Result<Library, Failed> {
    Library::load(directories).map_err(|error| Failed::new(Exit::Usage, error))
}

/// A plan file's text and what it means; all mistakes are told at their lines.
pub(crate) fn read_plan(path: &Path, library: &Library) -> Result<(String, Loaded), Failed> {
    let source = std::fs::read_to_string(path)
        .map_err(|error| Failed::usage(format!("cannot read the plan {}: {error}", path.display())))?;
    let loaded = parse_plan(&path.display().to_string(), &source, library)?;
    Ok((source, loaded))
}

/// As [`read_plan`], for text that is at hand.
pub(crate) fn parse_plan(name: &str, source: &str, library: &Library) -> Result<Loaded, Failed> {
    config::parse(source, &library.names()).map_err(|mistakes| {
        let color = has_color() && std::io::stderr().is_terminal();
        eprintln!("{}\n", config::render(name, source, &mistakes, color));
        let count = if mistakes.len() == 1 { "a mistake".to_owned() } else { format!("{} mistakes", mistakes.len()) };
        Failed::usage(format!("{name} has {count}; nothing was touched"))
    })
}

/// Refuses, before anything is touched, what cannot work: no root, a missing program, a forbidden destination.
pub(crate) fn check_feasible(loaded: &Loaded, library: &Library, force: bool) -> Result<(), Failed> {
    let recipes: Vec<_> = loaded.plan.tests.iter().filter_map(|test| library.get(&test.dut)).collect();
    for test in &loaded.plan.tests {
        let recipe = library.get(&test.dut).ok_or_else(|| Failed::usage(format!("no recipe is named {}", test.dut)))?;
        for size in &test.frame_sizes {
            crate::profile::of(recipe, test, *size, loaded.plan.seed).map_err(Failed::usage)?;
        }
    }
    if !force && let Some(problem) = recipes.iter().find_map(|r| r.forbidden_destinations().into_iter().next()) {
        return Err(Failed::usage(problem));
    }
    if !examination::is_root() {
        return Err(Failed::new(
            Exit::Testbed,
            anyhow::anyhow!("namespaces and raw sockets need root: run it with sudo (sixbench doctor tells more)"),
        ));
    }
    if let Some((left, right)) = &loaded.links.interfaces {
        let shell = Shell::new();
        let checked = existing::check(&shell, left).and_then(|()| existing::check(&shell, right));
        checked.map_err(|error| Failed::new(Exit::Testbed, error))?;
    }
    if loaded.links.interfaces.is_none()
        && let Some(need) = recipes.iter().find_map(|r| r.missing().into_iter().next())
    {
        let message = format!("{} is not installed: apt-get install {}", need.program, need.package);
        return Err(Failed::new(Exit::Testbed, anyhow::anyhow!(message)));
    }
    Ok(())
}
