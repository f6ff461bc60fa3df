//! A plan is data, a recipe is code. This finds the files whose commands a run would execute, and those that need the user's consent. Files that
//! came with sixbench or were named on the command line need none. Those that a plan brings run only if the caller agrees to their digests.

use crate::error::{PlanError, RunError, Untrusted};
use crate::profile;
use sixbench_method::plan::Plan;
use sixbench_method::record::{CodeFile, CodeOrigin};
use sixbench_method::text::visible;
use sixbench_plan::{Links, LoadedPlan};
use sixbench_testbed::recipe::sha256;
use sixbench_testbed::{AuthorityMachine, Library, Recipe, RemoteMachine, SshConfig};
use std::collections::BTreeSet;
use std::io::{self, BufRead};

/// The name under which an ssh configuration is listed among the recipes.
const SSH: &str = "ssh";

/// The SHA-256 digests of files that the user trusts, in addition to those that come with sixbench or were named on the command line.
pub type Trusted = BTreeSet<String>;

/// Returns the files whose commands a run of the plan would execute, grouped by recipe.
///
/// # Errors
/// A recipe is not an authority's, or an ssh configuration cannot be read.
pub fn of_plan(plan: &Plan, links: &Links, library: &Library) -> Result<Vec<CodeFile>, RunError> {
    let files = of_recipes(plan, library)?;
    Ok(files
        .into_iter()
        .chain(of_ssh_configs(links)?)
        .chain(of_agent_program(links))
        .chain(of_authority_program(links))
        .chain(of_ports(links))
        .collect())
}

/// Returns the configurations of ssh, each once for all machines.
fn of_ssh_configs(links: &Links) -> Result<Vec<CodeFile>, RunError> {
    let of_machines = links.machines.iter().filter_map(RemoteMachine::ssh_config);
    let of_agent = links.agent.iter().filter_map(|agent| agent.remote.config());
    let of_authority = links
        .authority
        .iter()
        .filter_map(AuthorityMachine::ssh_config);
    let mut files = Vec::new();
    for config in of_machines.chain(of_agent).chain(of_authority) {
        let file = of_ssh(config)?;
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

fn of_agent_program(links: &Links) -> Option<CodeFile> {
    let agent = links
        .agent
        .as_ref()
        .filter(|agent| agent.has_own_program())?;
    Some(of_program(
        "agent-program",
        &agent.program,
        agent.remote.destination(),
    ))
}

fn of_authority_program(links: &Links) -> Option<CodeFile> {
    let machine = links.authority.as_ref()?;
    let program = machine.program()?.to_str()?;
    Some(of_program("authority", program, machine.name()))
}

fn of_ports(links: &Links) -> Vec<CodeFile> {
    let ports = links.ports.iter().flatten().map(ToString::to_string);
    ports
        .filter(|port| names_files(port))
        .map(of_port)
        .collect()
}

/// Returns the files of the recipes of a plan's devices and authorities whose commands a run would execute.
fn of_recipes(plan: &Plan, library: &Library) -> Result<Vec<CodeFile>, RunError> {
    let mut recipes: Vec<&Recipe> = Vec::new();
    for test in &plan.tests {
        let authority = profile::dns::authority(library, test)?;
        for recipe in library.get(&test.dut).into_iter().chain(authority) {
            if recipe.runs_commands() && !recipes.iter().any(|known| known.name == recipe.name) {
                recipes.push(recipe);
            }
        }
    }
    let mut files = Vec::new();
    for recipe in recipes {
        for file in library.files_of(&recipe.name) {
            files.push(CodeFile {
                of: recipe.name.clone(),
                path: file.path.clone(),
                sha256: file.sha256(),
                origin: file.origin,
            });
        }
    }
    Ok(files)
}

/// Represents a program named by a plan, which runs as root on another machine. It cannot be read here, so its name stands for it.
fn of_program(of: &str, program: &str, machine: &str) -> CodeFile {
    let path = format!("{program} on {machine}");
    CodeFile {
        of: of.to_owned(),
        sha256: sha256(&path),
        path,
        origin: CodeOrigin::Plan,
    }
}

/// Returns true if a port is a DPDK device with options, because these may name files and sockets that some drivers write to.
fn names_files(port: &str) -> bool {
    port.starts_with("dpdk:") && port.contains(',')
}

fn of_port(port: String) -> CodeFile {
    CodeFile {
        of: "dpdk".to_owned(),
        sha256: sha256(&port),
        path: port,
        origin: CodeOrigin::Plan,
    }
}

/// Returns the configuration of ssh as a file to agree to, because ssh runs commands that are in it, such as a `ProxyCommand`, on this machine.
///
/// # Errors
/// It cannot be read, or has an `Include`, whose files would not be part of the digest.
fn of_ssh(config: &SshConfig) -> Result<CodeFile, RunError> {
    let path = config.path().display().to_string();
    let unread = |error| {
        PlanError(format!(
            "cannot read {}, the `ssh-config` of [testbed]: {error}",
            visible(&path)
        ))
    };
    let text = config.text().map_err(unread)?;
    if let Some(line) = text.lines().position(includes) {
        let why = "`Include` names files that are not part of what is agreed to; put their lines in its place";
        return Err(PlanError(format!(
            "{}:{}: in the `ssh-config` of [testbed], {why}",
            visible(&path),
            line + 1
        ))
        .into());
    }
    Ok(CodeFile {
        of: SSH.to_owned(),
        sha256: sha256(text),
        path,
        origin: CodeOrigin::Plan,
    })
}

/// Returns whether a line of a configuration of ssh includes files. ssh skips space, `=` and an empty pair of quotes before the keyword, and takes
/// quotes off it.
fn includes(line: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '=' | '\u{feff}');
    let line = line.replace('"', "");
    line.split(is_between)
        .find(|word| !word.is_empty())
        .is_some_and(|keyword| keyword.eq_ignore_ascii_case("include"))
}

/// Refuses files of a plan that are not trusted.
///
/// # Errors
/// The untrusted files.
pub(crate) fn check(files: &[CodeFile], trusted: &Trusted) -> Result<(), RunError> {
    let is_unknown =
        |file: &&CodeFile| file.origin == CodeOrigin::Plan && !trusted.contains(&file.sha256);
    let unknown: Vec<CodeFile> = files.iter().filter(is_unknown).cloned().collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(Untrusted(unknown).into())
    }
}

/// Returns the digests of the plan's files that may be executed: all of them if `is_given` is true or if the user at `terminal` agrees. `tell`
/// receives the text shown to the user.
///
/// # Errors
/// Those of [`of_plan`], or files that are not trusted.
pub fn agreed(
    loaded: &LoadedPlan,
    library: &Library,
    is_given: bool,
    terminal: Option<&mut dyn BufRead>,
    tell: impl Fn(&str),
) -> Result<Trusted, RunError> {
    let files = of_plan(&loaded.plan, &loaded.links, library)?;
    let Err(RunError::Untrusted(unknown)) = check(&files, &Trusted::new()) else {
        return Ok(Trusted::new());
    };
    let is_agreed = match terminal {
        _ if is_given => {
            tell(&unknown.to_string());
            true
        }
        Some(terminal) => {
            tell(&format!("{unknown}\nread them first; run them? [y/N] "));
            is_yes(terminal)?
        }
        None => false,
    };
    if is_agreed {
        Ok(unknown.0.into_iter().map(|file| file.sha256).collect())
    } else {
        Err(unknown.into())
    }
}

/// Returns the digests of the files that may be run where somebody has agreed to them before, and this process has read the files again.
///
/// # Errors
/// Those of [`of_plan`]; files of a plan with other digests.
pub fn agreed_before(
    loaded: &LoadedPlan,
    library: &Library,
    digests: &[String],
) -> Result<Trusted, RunError> {
    let trusted = digests.iter().cloned().collect::<Trusted>();
    let files = of_plan(&loaded.plan, &loaded.links, library)?;
    check(&files, &trusted)?;
    Ok(trusted)
}

fn is_yes(terminal: &mut dyn BufRead) -> io::Result<bool> {
    let mut line = String::new();
    terminal.read_line(&mut line)?;
    Ok(["y", "yes"].contains(&line.trim().to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_io::PortSpec;
    use std::cell::RefCell;
    use std::path::Path;

    const NAME: &str = "name = \"tayga-siit\"";

    /// Returns a library with a changed built-in recipe as a file of a plan.
    fn library(changes: &[(&str, &str)], origin: CodeOrigin) -> Library {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let recipe = library
            .get("tayga-siit")
            .expect("a recipe")
            .to_files()
            .expect("files")
            .remove(0)
            .1;
        let text = changes.iter().fold(recipe, |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        library
            .with_texts(vec![("own/x.toml".to_owned(), text)], origin)
            .expect("a recipe")
    }

    fn plan(dut: &str) -> Plan {
        let text = format!("name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"{dut}\"\n");
        sixbench_plan::parse(&text, &[dut]).expect("a plan").plan
    }

    fn agreed_by(
        library: &Library,
        dut: &str,
        is_given: bool,
        typed: Option<&str>,
    ) -> (Result<Trusted, RunError>, String) {
        let told = RefCell::new(String::new());
        let mut typed = typed.map(str::as_bytes);
        let terminal = typed.as_mut().map(|typed| typed as &mut dyn BufRead);
        let loaded = LoadedPlan {
            plan: plan(dut),
            links: Links::default(),
            left_out: Vec::new(),
        };
        let trusted = agreed(&loaded, library, is_given, terminal, |text| {
            told.borrow_mut().push_str(text);
        });
        (trusted, told.into_inner())
    }

    #[test]
    fn a_recipe_of_the_plan_is_named_with_its_digest_and_needs_a_word() {
        let library = library(&[(NAME, "name = \"x\"")], CodeOrigin::Plan);
        let digest = library.files_of("x")[0].sha256();
        let (refused, told) = agreed_by(&library, "x", false, None);
        let error = refused.expect_err("refused").to_string();
        assert!(
            error.contains(&format!("own/x.toml (of x, SHA-256 {digest})")),
            "{error}"
        );
        assert!(told.is_empty(), "{told}");
        let (trusted, told) = agreed_by(&library, "x", true, None);
        assert_eq!(trusted.expect("agreed"), Trusted::from([digest.clone()]));
        assert!(told.contains(&digest), "{told}");
        for (typed, is_agreed) in [
            ("y\n", true),
            ("YES\n", true),
            ("\n", false),
            ("", false),
            ("n\n", false),
            ("yeah\n", false),
        ] {
            let (trusted, told) = agreed_by(&library, "x", false, Some(typed));
            assert_eq!(trusted.is_ok(), is_agreed, "{typed:?}");
            assert!(
                told.contains(&digest) && told.ends_with("run them? [y/N] "),
                "{told}"
            );
        }
    }

    #[test]
    fn what_came_with_sixbench_or_was_named_on_the_command_line_needs_no_word() {
        for library in [
            library(&[], CodeOrigin::Plan),
            library(&[(NAME, "name = \"x\"")], CodeOrigin::CommandLine),
            library(&[(NAME, "name = \"x\"")], CodeOrigin::Plan),
        ] {
            assert_eq!(
                agreed_by(&library, "tayga-siit", false, None)
                    .0
                    .expect("agreed"),
                Trusted::new()
            );
        }
        let library = library(&[(NAME, "name = \"x\"")], CodeOrigin::CommandLine);
        assert_eq!(
            agreed_by(&library, "x", false, None).0.expect("agreed"),
            Trusted::new()
        );
    }

    #[test]
    fn a_copy_of_a_built_in_recipe_is_that_and_one_that_replaces_it_is_not() {
        let copy = library(&[], CodeOrigin::Plan);
        assert_eq!(copy.files_of("tayga-siit")[0].origin, CodeOrigin::BuiltIn);
        let replaced = library(&[("TAYGA", "TAYGO")], CodeOrigin::Plan);
        assert!(agreed_by(&replaced, "tayga-siit", false, None).0.is_err());
        // A recipe that builds on it is code of the plan as a whole; a recipe with another name is unaffected.
        let made = "name = \"made\"\ntitle = \"m\"\nbase = \"tayga-siit\"\n".to_owned();
        let made = replaced
            .with_texts(
                vec![("made.toml".to_owned(), made)],
                CodeOrigin::CommandLine,
            )
            .expect("a recipe");
        let error = agreed_by(&made, "made", false, None)
            .0
            .expect_err("refused")
            .to_string();
        assert!(
            error.contains("own/x.toml") && !error.contains("made.toml"),
            "{error}"
        );
        assert!(agreed_by(&made, "linux-ipv4", false, None).0.is_ok());
    }

    #[test]
    fn a_recipe_without_commands_is_data() {
        let by_hand = [
            (NAME, "name = \"x\""),
            ("host = \"netns\"", "host = \"manual\""),
        ];
        let library = library(&by_hand, CodeOrigin::Plan);
        assert!(agreed_by(&library, "x", false, None).0.is_ok());
    }

    #[test]
    fn a_program_that_a_plan_names_for_its_agent_is_code_as_well() {
        let links = |program: &str| {
            let testbed = format!(
                "[testbed]\nleft = \"e0\"\nagent = \"ssh:far\"\nagent-right = \"e1\"\nagent-program = \"{program}\"\n"
            );
            let text =
                format!("name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\n{testbed}");
            sixbench_plan::parse(&text, &["linux-ipv4"])
                .expect("a plan")
                .links
        };
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let of =
            |program: &str| of_plan(&plan("linux-ipv4"), &links(program), &library).expect("files");
        assert!(check(&of("sixbench"), &Trusted::new()).is_ok());
        let error = check(&of("/sbin/poweroff"), &Trusted::new())
            .expect_err("refused")
            .to_string();
        assert!(
            error.contains("/sbin/poweroff on far (of agent-program, SHA-256 "),
            "{error}"
        );
    }

    #[test]
    fn a_device_of_dpdk_with_options_may_write_files_and_needs_a_word() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let files = |ports: &str| {
            let links = Links {
                ports: PortSpec::parse_pair(ports),
                ..Links::default()
            };
            let of_plan = of_plan(&plan("linux-ipv4"), &links, &library).expect("files");
            of_plan
                .into_iter()
                .filter(|file| file.of == "dpdk")
                .map(|file| file.path)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            files("dpdk:net_pcap0,tx_pcap=/etc/x,dpdk:0000:3b:00.0"),
            ["dpdk:net_pcap0,tx_pcap=/etc/x"]
        );
        assert!(files("memif:/run/a,memif:/run/b").is_empty() && files("e0,e1").is_empty());
    }

    #[test]
    fn a_configuration_of_ssh_is_code_as_well() {
        let config =
            std::env::temp_dir().join(format!("sixbench-ssh-config-{}", std::process::id()));
        std::fs::write(&config, "ProxyCommand touch /x\n").expect("a file");
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let machine = RemoteMachine::new(
            "dut",
            Some(&SshConfig::new(&config)),
            ["e0", "e1"].map(str::to_owned),
        );
        let links = Links {
            machines: vec![machine],
            ..Links::default()
        };
        let files = of_plan(&plan("linux-ipv4"), &links, &library).expect("files");
        // What is read is what was agreed to, whatever the file is by then.
        std::fs::write(&config, "ProxyCommand touch /y\n").expect("a file");
        assert_eq!(
            of_plan(&plan("linux-ipv4"), &links, &library).expect("files"),
            files
        );
        std::fs::remove_file(&config).expect("removed");
        let told: Vec<_> = files
            .iter()
            .map(|file| (file.of.as_str(), file.origin))
            .collect();
        assert_eq!(
            told,
            [
                ("linux-ipv4", CodeOrigin::BuiltIn),
                ("ssh", CodeOrigin::Plan)
            ]
        );
        assert!(check(&files, &Trusted::new()).is_err());
    }

    #[test]
    fn a_configuration_of_ssh_that_includes_files_is_refused_at_its_line() {
        for line in [
            "Include /x",
            "\t iNCLUDE=/x",
            "\"Include\" /x",
            "Inc\"lude\" /x",
            "=Include /x",
            "\"\"Include /x",
            "\u{c}Include /x",
            "Include",
        ] {
            assert!(includes(line), "{line:?}");
        }
        for line in [
            "",
            "# Include /x",
            "Host include",
            "IncludeX /x",
            "HostName=include",
            "ProxyCommand nc include 1",
        ] {
            assert!(!includes(line), "{line:?}");
        }
        let path =
            std::env::temp_dir().join(format!("sixbench-ssh-include-{}", std::process::id()));
        std::fs::write(&path, "Host dut\n  Include /x\n").expect("a file");
        let error = of_ssh(&SshConfig::new(&path))
            .expect_err("refused")
            .to_string();
        std::fs::remove_file(&path).expect("removed");
        assert!(
            error.starts_with(&format!(
                "{}:2: in the `ssh-config` of [testbed], `Include`",
                path.display()
            )),
            "{error}"
        );
    }

    #[test]
    fn no_path_changes_what_the_person_who_is_asked_reads() {
        for hostile in [
            "evil\u{1b}[30m",
            "a\nno commands will be run",
            "a\u{202e}b",
            "a\u{2028}b",
        ] {
            let file = CodeFile {
                path: hostile.to_owned(),
                ..of_port(hostile.to_owned())
            };
            let file = CodeFile {
                of: hostile.to_owned(),
                ..file
            };
            let error = check(&[file], &Trusted::new())
                .expect_err("refused")
                .to_string();
            assert_eq!(error.lines().count(), 2, "{error}");
            assert_eq!(error.matches(&*visible(hostile)).count(), 2, "{error}");
            assert!(
                !error
                    .replace('\n', "")
                    .contains(sixbench_method::text::is_control),
                "{error:?}"
            );
        }
    }
}
