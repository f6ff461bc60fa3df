//! `sixbench man` and `sixbench completions`: both are generated from the definitions of the arguments.

use crate::args::Arguments;
use crate::exit::{Exit, Failed};
use crate::output;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use sixbench_runner::OwnFile;
use std::path::Path;

/// Returns the commands without the commit in the version, so that a page is the same for all builds of a version.
fn commands() -> Command {
    Arguments::command()
        .version(env!("CARGO_PKG_VERSION"))
        .long_version(None)
}

/// Writes the manual pages of all commands to a directory, or prints the page of `sixbench` itself.
pub(crate) fn man(directory: Option<&Path>) -> Result<Exit, Failed> {
    match directory {
        None => output::stream(|out| Man::new(commands()).render(out))?,
        Some(directory) => {
            let mut commands = commands().disable_help_subcommand(true);
            commands.build();
            let pages = pages(&commands);
            pages
                .iter()
                .try_for_each(|page| OwnFile::Manual.check(&directory.join(page.get_filename())))?;
            let write = |()| {
                pages
                    .iter()
                    .try_for_each(|page| page.generate_to(directory).map(drop))
            };
            std::fs::create_dir_all(directory)
                .and_then(write)
                .map_err(|error| {
                    Failed::usage(format!(
                        "cannot write to {}: {error}; choose another directory",
                        directory.display()
                    ))
                })?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the pages of a command and of all below it that are not hidden.
fn pages(command: &Command) -> Vec<Man> {
    let below = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    below
        .flat_map(pages)
        .chain([Man::new(command.clone())])
        .collect()
}

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut commands(), "sixbench", &mut script);
    output::print(String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_page_stays_as_it_was_reviewed() {
        let mut page = Vec::new();
        Man::new(commands()).render(&mut page).expect("a page");
        insta::assert_snapshot!(String::from_utf8(page).expect("text"));
    }
}
