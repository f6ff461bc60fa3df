//! `sixbench list`.

use super::library;
use crate::args::Listed;
use crate::exit::{Exit, Failed};

/// Plans that come with sixbench, with what they do.
const PLANS: [(&str, &str); 2] = [
    ("plans/quickstart.toml", "four devices, two frame sizes, short trials; also built in: sixbench quickstart"),
    ("plans/kernel-forwarding.toml", "Linux forwarding, one direction: what this machine and the tester can do at all"),
];

/// Prints one of the lists.
pub(crate) fn list(what: Listed) -> Result<Exit, Failed> {
    match what {
        Listed::Duts => duts()?,
        Listed::Measures => {
            println!("{:<12} the highest rate without loss (RFC 2544 section 26.1, RFC 8219 section 7.1)", "throughput")
        }
        Listed::Plans => PLANS.iter().for_each(|(name, what)| println!("{name:<30} {what}")),
    }
    Ok(Exit::Done)
}

fn duts() -> Result<(), Failed> {
    for recipe in library(&[])?.iter() {
        let missing = recipe.missing();
        let state = match missing.first() {
            None => "runs here".to_owned(),
            Some(need) => format!("needs {}: apt-get install {}", need.program, need.package),
        };
        println!("{:<14} {:<12} {:<32} {state}", recipe.name, recipe.technology.title(), recipe.title);
    }
    Ok(())
}
