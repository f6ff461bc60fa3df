//! The commands that are offered to a user with a path or a name in them. Each can be pasted into a shell; no other file prints such a command.

use sixbench_testbed::ProgramCommand;
use std::path::{Path, PathBuf};

fn with_path(words: &str, path: &Path) -> ProgramCommand {
    ProgramCommand::called().args(words).path(path)
}

/// Continues a run.
pub(crate) fn resume(directory: &Path) -> ProgramCommand {
    with_path("run --resume", directory)
}

/// Runs a plan.
pub(crate) fn run(plan: &Path) -> ProgramCommand {
    with_path("run", plan)
}

/// Runs the resolved plan of a results directory as the RFCs ask.
pub(crate) fn run_conformant(directory: &Path) -> ProgramCommand {
    run(&directory.join("resolved.toml")).args("--profile rfc")
}

/// Shows what a plan would do.
pub(crate) fn plan(path: &Path) -> ProgramCommand {
    with_path("plan", path)
}

/// Writes the report of a results directory.
pub(crate) fn report(directory: &Path) -> ProgramCommand {
    with_path("report", directory)
}

/// Sets up a testbed.
pub(crate) fn testbed_up(plan: &Path) -> ProgramCommand {
    with_path("testbed up", plan)
}

/// Takes a testbed down.
pub(crate) fn testbed_down(plan: &Path) -> ProgramCommand {
    with_path("testbed down", plan)
}

/// Runs a command in a testbed, on the tester or on one of its devices.
pub(crate) fn testbed_exec(plan: &Path, device: Option<&str>, command: &str) -> ProgramCommand {
    let exec = with_path("testbed exec", plan);
    let exec = device.map_or(exec.clone(), |device| exec.args("--device").word(device));
    exec.args("--").args(command)
}

/// Sends a device the malformed frames of a crash once more.
pub(crate) fn replay(device: &str, recipes: &[PathBuf], file: &Path) -> ProgramCommand {
    let command = with_path("conformance --replay", file).word(device);
    recipes.iter().fold(command, |command, directory| {
        command.args("--recipes").path(directory)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    type Hint = fn(&Path) -> ProgramCommand;

    /// Every function above, with the number of words between the program and the path.
    const HINTS: [(Hint, usize); 9] = [
        (resume, 2),
        (run, 1),
        (plan, 1),
        (report, 1),
        (testbed_up, 2),
        (testbed_down, 2),
        (|path| replay("a device", &[], path), 2),
        (|path| testbed_exec(path, None, "ip address"), 2),
        (|path| testbed_exec(path, Some("a device"), "ip route"), 2),
    ];

    /// Returns the words that a shell makes of a command.
    fn read_by_a_shell(command: &ProgramCommand) -> Vec<Vec<u8>> {
        let script = format!("for word in {command}; do printf '%s\\0' \"$word\"; done");
        let output = Command::new("sh")
            .args(["-c", &script])
            .output()
            .expect("a shell")
            .stdout;
        output
            .split(|octet| *octet == 0)
            .map(<[u8]>::to_vec)
            .collect()
    }

    #[test]
    fn every_command_can_be_pasted_whatever_the_path_is() {
        let paths: [&[u8]; 8] = [
            b"r\xc3\xa9 sults/a",
            b"it's",
            b"a\"b",
            b"two\nlines",
            b"end\n",
            b"\xff\xfe",
            b"-o x",
            b"$(id) `id` %d \\0 *",
        ];
        for (path, (hint, index)) in paths
            .iter()
            .flat_map(|path| HINTS.iter().map(move |hint| (path, hint)))
        {
            let command = hint(Path::new(OsStr::from_bytes(path)));
            let expected = if path.starts_with(b"-") {
                [b"./", *path].concat()
            } else {
                path.to_vec()
            };
            assert_eq!(read_by_a_shell(&command)[index + 1], expected, "{command}");
            assert!(
                !command
                    .to_string()
                    .trim_end_matches("'\n'")
                    .trim_end()
                    .contains('\u{1b}'),
                "{command}"
            );
        }
        let conformant = read_by_a_shell(&run_conformant(Path::new("r\u{e9} sults")));
        assert_eq!(
            &conformant[1..5],
            ["run", "r\u{e9} sults/resolved.toml", "--profile", "rfc"]
                .map(|word| word.as_bytes().to_vec())
        );
    }

    /// Returns the lines of a file of source code in which a command of this program is followed by something that is put in.
    fn commands_of_its_own(source: &str) -> Vec<&str> {
        let names = [
            "run",
            "report",
            "plan",
            "testbed",
            "compare",
            "merge",
            "archive",
            "history",
            "check",
            "dimension",
            "live",
        ];
        let is_command = |line: &&str| {
            let after = line.split("sixbench ").skip(1);
            let mut of_program = after.filter(|rest| {
                names
                    .iter()
                    .any(|name| rest.starts_with(&format!("{name} ")))
            });
            of_program.any(|rest| {
                rest.split(['"', '`', ';', ')'])
                    .next()
                    .is_some_and(|command| command.contains('{'))
            })
        };
        source
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .filter(is_command)
            .collect()
    }

    /// Returns the lines of a file of source code that advise a command of another program with something that is put in.
    fn advised_commands(source: &str) -> Vec<&str> {
        let programs = ["ssh ", "ssh-copy-id ", "scp ", "ip link "];
        let starts: Vec<String> = ["(", "`", ": "]
            .iter()
            .flat_map(|before| {
                programs
                    .iter()
                    .map(move |program| format!("{before}{program}"))
            })
            .collect();
        let is_filled = |rest: &str| {
            rest.split(['"', '`', ';', ')'])
                .next()
                .is_some_and(|command| command.contains('{'))
        };
        let is_advice = |line: &&str| {
            starts
                .iter()
                .any(|start| line.split(start.as_str()).skip(1).any(is_filled))
        };
        source
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .filter(is_advice)
            .collect()
    }

    #[test]
    fn no_other_file_puts_a_path_into_a_command() {
        assert_eq!(
            commands_of_its_own("format!(\"continue with: sixbench run --resume {}\", x)").len(),
            1
        );
        assert_eq!(
            advised_commands("format!(\"copy it there (scp {own} {machine}:{target})\")").len(),
            1
        );
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut directories: Vec<_> = [
            "cli", "runner", "report", "testbed", "plan", "method", "live",
        ]
        .map(|name| crates.join(name).join("src"))
        .into();
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(&directory)
                .expect("a directory")
                .map(|entry| entry.expect("an entry").path())
            {
                let is_source = entry.extension().is_some_and(|extension| extension == "rs")
                    && !entry.ends_with("hints.rs");
                if entry.is_dir() {
                    directories.push(entry);
                } else if is_source {
                    let source = std::fs::read_to_string(&entry).expect("a source file");
                    assert_eq!(
                        commands_of_its_own(&source),
                        Vec::<&str>::new(),
                        "{}: use hints.rs",
                        entry.display()
                    );
                    assert_eq!(
                        advised_commands(&source),
                        Vec::<&str>::new(),
                        "{}: use exec/advised.rs",
                        entry.display()
                    );
                }
            }
        }
    }
}
