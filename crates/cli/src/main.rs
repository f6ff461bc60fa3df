//! The binary: arguments, commands, and views of the events of a run.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod args;
#[cfg(test)]
mod args_tests;
mod command;
mod exit;
mod hints;
mod output;
mod view;

use args::{Arguments, Command};
use clap::Parser;
use exit::{Exit, Failed};
use output::tell;
use sixbench_method::text::is_control;
use sixbench_runner::owner::give_up_root;
use std::process::ExitCode;

/// A report on a million trials allocates and frees hundreds of millions of small blocks, on several threads: this allocator takes half the time of
/// glibc's, and less memory. No thread that sends or receives frames allocates.
#[cfg(target_env = "gnu")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let exit = match Arguments::try_parse_from(args::with_joined_address(std::env::args_os()))
        .map_or_else(told_by_clap, dispatch)
    {
        Ok(exit) => exit,
        Err(Failed { exit, error }) => {
            tell!("error: {}", exit::with_causes(&error));
            exit
        }
    };
    ExitCode::from(exit as u8)
}

/// Prints clap's message if there are no arguments to run with: help, the version, or what is wrong with the arguments. Returns the exit code.
fn told_by_clap(said: clap::Error) -> Result<Exit, Failed> {
    // clap repeats what it does not understand, and colours the rest.
    let is_hostile = || std::env::args_os().any(|word| word.to_string_lossy().contains(is_control));
    match said.use_stderr() {
        true if is_hostile() => tell!("{}", said.render().to_string().trim_end()),
        true => drop(said.print()),
        false => {
            return output::settled(said.print())
                .map(|()| Exit::Done)
                .map_err(Failed::from);
        }
    }
    Ok(Exit::Usage)
}

fn dispatch(arguments: Arguments) -> Result<Exit, Failed> {
    view::set_plain(arguments.plain);
    output::set_quiet(arguments.quiet);
    sixbench_runner::stop::survive_file_size_limit()?;
    command::own_recipes::read();
    if let Some(about) = arguments.command.without_root() {
        give_up_root(&about)?;
    }
    match arguments.command {
        Command::Quickstart(arguments) => command::run::quickstart(arguments),
        Command::Run(arguments) => command::run::run(arguments),
        Command::Plan(arguments) => command::plan::plan(&arguments),
        Command::Init { plan } => command::plan::init(&plan),
        Command::Check { plan, further } => command::plan::check(&plan, &further.recipes),
        Command::Doctor { json, bundle } => command::doctor::doctor(json, bundle.as_deref()),
        Command::Selftest(arguments) => command::selftest::selftest(&arguments),
        Command::Trial(arguments) => command::trial::trial(&arguments),
        Command::Find(arguments) => command::find::find(&arguments),
        Command::Conformance(arguments) => command::conformance::conformance(&arguments),
        Command::Compare(arguments) => command::compare::compare(&arguments),
        Command::History {
            folder,
            output,
            label,
        } => command::history::history(&folder, output.as_deref(), label.as_deref()),
        Command::Dns64(arguments) => command::dns64::dns64(arguments),
        Command::Authority(arguments) => command::authority::authority(arguments),
        Command::Import(arguments) => command::import::import(&arguments),
        Command::Merge { results, output } => command::report::merge(&results, &output),
        Command::Dimension { of, traffic, json } => {
            command::dimension::dimension(&of, &traffic, json)
        }
        Command::Report { results, style } => command::report::report(&results, style),
        Command::Export { results, formats } => command::report::export(&results, &formats),
        Command::Archive { results, output } => {
            command::archive::archive(&results, output.as_deref())
        }
        Command::Schema { text } => Ok(output::print(text).map(|()| Exit::Done)?),
        Command::List(arguments) => command::list::list(&arguments),
        Command::Explain { term } => command::explain::explain(&term),
        Command::Live { results, address } => command::live::live(&results, address),
        Command::Agent { silence_ns } => command::agent::agent(silence_ns),
        Command::Lab { what } => command::lab::lab(what),
        Command::Sweep => command::doctor::sweep(),
        Command::Testbed { what } => command::testbed::testbed(what),
        Command::Man { dir } => command::pages::man(dir.as_deref()),
        Command::Completions { shell } => command::pages::completions(shell),
    }
}
