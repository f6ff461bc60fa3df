//! The program that the workflows build in the tests: everything but measuring is done by the real program, whose path is in SIXBENCH_PROGRAM. What would be
//! measured is copied from the folders of simulated runs in SIMULATED, or, of the base branch in turns, in SIMULATED_BASE.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, exit};

fn environment(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn real(arguments: &[String]) -> Command {
    let mut command = Command::new(environment("SIXBENCH_PROGRAM"));
    command.args(arguments);
    command
}

fn required(mut command: Command) {
    if !command.status().expect("started").success() {
        exit(2);
    }
}

/// Returns an option with its value.
fn option(arguments: &[String], name: &str) -> Vec<String> {
    let found = arguments.iter().position(|each| each == name);
    found.map_or_else(Vec::new, |at| arguments[at..arguments.len().min(at + 2)].to_vec())
}

/// Checks the plan with its recipes, and copies the simulated run of the same number.
fn run(arguments: &[String]) {
    let recipes = option(arguments, "--recipes");
    required(real(&[&["check".to_owned(), arguments[1].clone()], &recipes[..]].concat()));
    let output = option(arguments, "-o")[1].clone();
    let number = output.rsplit('-').next().expect("a number");
    let (parent, _) = output.rsplit_once('/').expect("a folder");
    required({
        let mut make = Command::new("mkdir");
        make.args(["-p", parent]);
        make
    });
    let mut copy = Command::new("cp");
    copy.args(["-r", &format!("{}/run-{number}", environment("SIMULATED")), &output]);
    required(copy);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("run") => run(&arguments),
        Some("lab") => assert!(std::path::Path::new(&option(&arguments, "--jool")[1]).is_dir(), "no sources of Jool"),
        Some("compare") if !std::path::Path::new(&arguments[1]).is_dir() => {
            let sides = [environment("SIMULATED_BASE"), environment("SIMULATED")];
            let mut told = vec!["compare".to_owned()];
            told.extend(sides);
            told.extend([option(&arguments, "--margin"), option(&arguments, "--page")].concat());
            told.extend(arguments.iter().filter(|each| *each == "--json").cloned());
            panic!("{}", real(&told).exec());
        }
        _ => panic!("{}", real(&arguments).exec()),
    }
}
