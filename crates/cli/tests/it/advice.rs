//! Every command that the program advises users to run must exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the commands that `sixbench --help` lists.
fn commands() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_sixbench"))
        .arg("--help")
        .output()
        .expect("sixbench");
    let help = String::from_utf8(output.stdout).expect("text");
    let lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with(' '));
    // Continuation lines are indented further.
    let listed = lines
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '));
    listed
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect()
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "md")
        {
            found.push(entry);
        }
    }
}

/// Returns the words after `sixbench` in commands: in backquotes or in brackets.
fn advised(text: &str) -> impl Iterator<Item = &str> {
    let places = ["(sixbench ", "`sixbench "]
        .into_iter()
        .flat_map(|mark| text.split(mark).skip(1));
    places.map(|rest| {
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .next()
            .unwrap_or_default()
    })
}

#[test]
fn every_command_that_is_advised_exists() {
    let mut known = commands();
    assert!(
        known.contains("run") && known.contains("doctor"),
        "{known:?}"
    );
    // The command that plans start on another machine is not for users, and is not in the list.
    known.insert("agent".to_owned());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    sources(&root.join("crates"), &mut files);
    sources(&root.join("docs"), &mut files);
    let mut unknown = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("advice.rs")) {
        let text = fs::read_to_string(file).expect("text");
        // `sixbench --help` and the like are options, not commands.
        let wrong = advised(&text)
            .filter(|word| !word.is_empty() && !word.starts_with('-') && !known.contains(*word));
        unknown.extend(wrong.map(|word| format!("{}: sixbench {word}", file.display())));
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Libraries whose errors must not advise commands. Those of `testbed` explain how the kernel lab is built.
const LIBRARIES: [&str; 8] = [
    "wire",
    "io",
    "method",
    "engine",
    "report",
    "plan",
    "siitperf-import",
    "runner",
];

/// Texts of libraries that are not errors: comments in `resolved.toml`, `run.bib` and `results.tex`, an explanation, the caveats of an estimate, and files in
/// an archive.
const NO_ERRORS: [&str; 8] = [
    "plan/src/resolved.rs",
    "report/src/format/bibliography.rs",
    "report/src/format/latex/style.rs",
    "report/src/page/dimension/caveats.rs",
    "report/src/findings/warning.rs",
    "report/src/subject/requirements/tables.rs",
    "report/src/glossary/technologies.rs",
    "runner/src/results/archive/texts.rs",
];

#[test]
fn no_error_of_a_library_advises_a_command() {
    let (known, crates) = (commands(), Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let mut files = Vec::new();
    for library in &LIBRARIES {
        sources(&crates.join(library).join("src"), &mut files);
    }
    assert!(files.len() > 300, "{}", files.len());
    let mut advising = Vec::new();
    for file in files
        .iter()
        .filter(|file| !NO_ERRORS.iter().any(|allowed| file.ends_with(allowed)))
    {
        let text = fs::read_to_string(file).expect("text");
        let production = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let code = production
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let word = |rest: &str| {
            rest.split(|c: char| !c.is_ascii_alphanumeric())
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        let words = code
            .flat_map(|line| line.split("sixbench ").skip(1))
            .map(word);
        advising.extend(
            words
                .filter(|word| known.contains(word))
                .map(|word| format!("{}: sixbench {word}", file.display())),
        );
    }
    assert!(advising.is_empty(), "{advising:#?}");
}

#[test]
fn the_readme_names_the_oldest_rust_that_builds_it() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"))
        .expect("README.md");
    let rust = env!("CARGO_PKG_RUST_VERSION");
    assert!(
        readme.contains(&format!("Rust {rust} or later")) && readme.contains("https://rustup.rs"),
        "Rust {rust}"
    );
}
