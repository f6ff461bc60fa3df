//! One file for each command, or for a few that belong together.

pub(crate) mod accuracy;
pub(crate) mod authority;
pub(crate) mod compare;
pub(crate) mod dns64;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod lab;
pub(crate) mod list;
mod memory;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod trial;

use crate::config::{self, Diagnostic, Loaded};
use crate::exit::{Exit, Failed};
use crate::output::tell;
use crate::plans;
use crate::run::check_cores;
use crate::view::has_color;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::Plan;
use sixbench_method::record::{SkipReason, SkippedTest};
use sixbench_method::terms::FrameSize;
use sixbench_testbed::recipe::{DeviceHost, check_reference};
use sixbench_testbed::{Library, Recipe, Shell, doctor as examination, existing, interfaces};
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

/// Returns whether standard output takes colours.
pub(crate) fn stdout_color() -> bool {
    has_color() && std::io::stdout().is_terminal()
}

/// Returns the built-in recipes and those of further directories.
pub(crate) fn library(directories: &[PathBuf]) -> Result<Library, Failed> {
    Library::load(directories).map_err(|error| Failed::new(Exit::Usage, error))
}

/// A plan file and the plan read from it.
pub(crate) struct PlanFile {
    /// The path of the plan file, or that of the ready plan.
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) loaded: Loaded,
    /// The built-in recipes, those the plan names and those of the command line.
    pub(crate) library: Library,
}

/// Reads a plan file; all mistakes are shown at their lines. `recipes` are further directories of recipes.
pub(crate) fn read_plan(path: &Path, recipes: &[PathBuf]) -> Result<PlanFile, Failed> {
    let source = match std::fs::read_to_string(path) {
        Ok(source) => source,
        Err(error) => match plans::find(path).filter(|_| error.kind() == ErrorKind::NotFound) {
            Some(ready) => return read_ready(&ready, path, recipes),
            None => return Err(unreadable(path, &error)),
        },
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut directories: Vec<PathBuf> = config::recipe_directories(&source).iter().map(|name| folder.join(name)).collect();
    directories.extend_from_slice(recipes);
    let library = library(&directories)?;
    let name = path.display().to_string();
    let loaded = parse_plan(&name, &source, &library)?;
    Ok(PlanFile { name, source, loaded, library })
}

/// Reads a plan that comes with sixbench, and tells the user that it is not a file.
fn read_ready(ready: &plans::Ready, path: &Path, recipes: &[PathBuf]) -> Result<PlanFile, Failed> {
    tell!("note: there is no file {}: this is {} as it comes with sixbench", path.display(), ready.path());
    let broken = |error| Failed::new(Exit::Usage, error);
    let mut library = library(&[])?;
    if !config::recipe_directories(ready.text).is_empty() {
        library = library.with_texts(plans::devices()).map_err(broken)?;
    }
    for directory in recipes {
        library = library.with_directory(directory).map_err(broken)?;
    }
    let loaded = parse_plan(&ready.path(), ready.text, &library)?;
    Ok(PlanFile { name: ready.path(), source: ready.text.to_owned(), loaded, library })
}

/// Returns the error for a path without a plan, with the plan that was perhaps meant.
fn unreadable(path: &Path, error: &std::io::Error) -> Failed {
    let name = path.display();
    let hint = if path.join("resolved.toml").exists() {
        format!("; it is a results directory: repeat its run with {name}/resolved.toml, or go on with --resume {name}")
    } else {
        let word = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let names: Vec<&str> = plans::ready().map(|plan| plan.name).collect();
        config::nearest(word, &names).map_or(String::new(), |near| format!("; did you mean `{near}`? (sixbench list plans)"))
    };
    Failed::usage(format!("cannot read the plan {name}: {error}{hint}"))
}

/// Does the same as [`read_plan`] for a text that was read already.
pub(crate) fn parse_plan(name: &str, source: &str, library: &Library) -> Result<Loaded, Failed> {
    let mut loaded = config::parse(source, &library.names()).map_err(|mistakes| refused(name, source, &mistakes))?;
    for test in &mut loaded.plan.tests {
        let traffic = library.get(&test.dut).map(|recipe| &recipe.foreground);
        let is_ipv4 = traffic.is_some_and(|t| t.left.source.is_ipv4() && t.right.source.is_ipv4());
        test.ipv4_only = is_ipv4 && test.foreground.background_percent() == 0.0;
    }
    Ok(loaded)
}

/// Returns the recipe with the name given on the command line.
pub(crate) fn find_recipe<'l>(library: &'l Library, name: &str) -> Result<&'l Recipe, Failed> {
    check_reference(name).map_err(Failed::usage)?;
    library.get(name).ok_or_else(|| {
        let names = library.names();
        let hint = config::nearest(name, &names)
            .map_or("`sixbench list duts` names all".to_owned(), |near| format!("did you mean `{near}`?"));
        Failed::usage(format!("{}; {hint}", unknown(name)))
    })
}

/// Returns a sentence that says why there is no recipe of this name.
fn unknown(name: &str) -> String {
    match name.split_once('@') {
        Some((name, host)) => {
            format!(
                "recipe {name} cannot run on the host `{host}`, or does so anyway: leave out `@{host}` (sixbench list duts)"
            )
        }
        None => format!("no recipe is named `{name}`"),
    }
}

/// Leaves out optional tests whose devices are not available, and notes them with the reason in the plan's `left_out`. Returns
/// one sentence for each.
pub(crate) fn leave_out_missing(loaded: &mut Loaded, library: &Library) -> Vec<String> {
    let mut left_out = Vec::new();
    if loaded.links.interfaces.is_some() {
        return Vec::new();
    }
    loaded.plan.tests.retain(|test| {
        let Some(recipe) = library.get(&test.dut).filter(|_| test.optional) else { return true };
        let why = sixbench_testbed::lab::check_for(recipe).err().map(|error| error.to_string());
        let why =
            why.or_else(|| recipe.missing().first().map(|need| format!("{} is not installed: {}", need.program, need.cure())));
        left_out.extend(why.clone().map(|why| (test.clone(), why)));
        why.is_none()
    });
    let texts = left_out.iter().map(|(test, why)| format!("test {} is left out: {why}", test.name)).collect();
    loaded.left_out.extend(left_out.into_iter().map(|(test, why)| {
        let name = test.name.clone();
        SkippedTest { test: name, reason: SkipReason::LeftOut { why, planned: Box::new(test) } }
    }));
    texts
}

/// Shows the mistakes of a file, each at its line.
pub(crate) fn refused(name: &str, source: &str, mistakes: &[Diagnostic]) -> Failed {
    let color = has_color() && std::io::stderr().is_terminal();
    tell!("{}\n", config::render(name, source, mistakes, color));
    let count = if mistakes.len() == 1 { "a mistake".to_owned() } else { format!("{} mistakes", mistakes.len()) };
    Failed::usage(format!("{name} has {count}; nothing was touched"))
}

/// Refuses what no machine could run: traffic that its device does not understand, or that is none of a test's.
pub(crate) fn check_traffic(plan: &Plan, library: &Library, isolation: Isolation) -> Result<(), Failed> {
    // All of them at once, and what is wrong at every frame size once.
    let (mut mistakes, mut forbidden) = (Vec::<String>::new(), None::<Failed>);
    for test in &plan.tests {
        let recipe =
            library.get(&test.dut).ok_or_else(|| Failed::usage(format!("test {}: {}", test.name, unknown(&test.dut))))?;
        // Also what the tester itself does not send to: the device may, such as a DNS64 server to its authority.
        let of_recipe = || recipe.forbidden_destinations().into_iter().next().filter(|_| isolation == Isolation::Unknown);
        forbidden = forbidden.or_else(|| of_recipe().map(|why| Failed::usage(format!("{why}; use --force if it cannot"))));
        let job = |size: &FrameSize| crate::profile::job(recipe, test, *size, plan.seed, plan.trial);
        match test.frame_sizes.iter().map(job).collect::<Result<Vec<_>, _>>() {
            // The addresses are the same at every size.
            Ok(jobs) => forbidden = forbidden.or_else(|| jobs.into_iter().next()?.admit(isolation).err()),
            Err(mistake) => mistakes.push(mistake),
        }
        mistakes.extend(crate::profile::dns::authority(library, test).err());
    }
    if !mistakes.is_empty() {
        return Err(Failed::usage(mistakes.join("\n")));
    }
    forbidden.map_or(Ok(()), Err)
}

/// Refuses, before anything is touched, what cannot work here: no root, a missing program or core, a forbidden destination.
pub(crate) fn check_feasible(loaded: &Loaded, library: &Library, isolation: Isolation) -> Result<(), Failed> {
    check_traffic(&loaded.plan, library, isolation)?;
    check_devices(loaded, library)?;
    check_cores(&loaded.links, &loaded.plan, library)?;
    check_interleaving(loaded)?;
    memory::check_plan(&loaded.plan, library)?;
    if !examination::is_root() {
        return Err(Failed::new(
            Exit::Testbed,
            anyhow::anyhow!("namespaces and raw sockets need root: run it with sudo (sixbench doctor tells more)"),
        ));
    }
    if let Some((left, right)) = &loaded.links.interfaces {
        let shell = Shell::new();
        interfaces::give_back_stale(&shell);
        let checked = existing::check(&shell, left).and_then(|()| existing::check(&shell, right));
        checked.map_err(|error| Failed::new(Exit::Testbed, error))?;
    }
    check_machine(loaded, library)
}

/// Checks that the DUT's own machine can be reached and has what every test needs, before the first test begins.
fn check_machine(loaded: &Loaded, library: &Library) -> Result<(), Failed> {
    let Some(machine) = &loaded.links.machine else { return Ok(()) };
    let broken = |error| Failed::new(Exit::Testbed, error);
    let shell = Shell::new();
    let machine = machine.reach(&shell).map_err(broken)?;
    let tests = loaded.plan.tests.iter().filter_map(|test| Some((test, library.get(&test.dut)?)));
    for (test, recipe) in tests {
        let of_test = |failed: Failed| Failed::new(failed.exit, failed.error.context(format!("test {}", test.name)));
        machine.check(recipe, test.cores, &shell).map_err(broken).map_err(of_test)?;
    }
    Ok(())
}

/// Checks that devices of this machine have their programs, and that devices set up by hand have interfaces they are cabled to.
fn check_devices(loaded: &Loaded, library: &Library) -> Result<(), Failed> {
    if loaded.links.interfaces.is_some() {
        return Ok(());
    }
    for test in &loaded.plan.tests {
        let Some(recipe) = library.get(&test.dut) else { continue };
        if recipe.host == DeviceHost::Manual {
            let name = &recipe.name;
            return Err(Failed::usage(format!(
                "test {}: the device {name} is set up by hand: say to which interfaces it is cabled ([testbed] left and right, or \
                 --interfaces LEFT,RIGHT)",
                test.name
            )));
        }
        let lab = sixbench_testbed::lab::check_for(recipe);
        lab.map_err(|error| Failed::new(Exit::Testbed, anyhow::anyhow!("test {}: {error}", test.name)))?;
        if let Some(cores) = test.cores.filter(|cores| *cores > 1 && recipe.is_in_lab()) {
            return Err(Failed::new(
                Exit::Testbed,
                anyhow::anyhow!(
                    "test {}: the plan wants {cores} cores for the DUT, and a virtual machine of the lab has one; {}",
                    test.name,
                    more_cores(recipe)
                ),
            ));
        }
        if !recipe.is_for_namespaces() {
            let (name, system) = (&recipe.name, recipe.system.title());
            let hint = "say which ([testbed] host = \"ssh:NAME\", see docs/PLANS.md)";
            return Err(Failed::usage(format!(
                "test {}: {name} needs a machine of its own that runs {system}: {hint}",
                test.name
            )));
        }
        let authority = crate::profile::dns::authority(library, test).map_err(Failed::usage)?;
        let mut missing = [Some(recipe), authority].into_iter().flatten().flat_map(Recipe::missing);
        if let Some(need) = missing.next() {
            let message = format!("test {}: {} is not installed: {}", test.name, need.program, need.cure());
            return Err(Failed::new(Exit::Testbed, anyhow::anyhow!(message)));
        }
    }
    Ok(())
}

/// Returns advice on how a device of the lab can have more cores.
fn more_cores(recipe: &Recipe) -> &'static str {
    match recipe.parts.is_empty() {
        true => "use a namespace, or a machine over ssh",
        // A machine over ssh is one device.
        false => "use namespaces (NAME@netns), where the devices in the row can do without modules",
    }
}

/// Refuses to interleave several devices on the same interfaces: only one of them can be cabled at a time.
fn check_interleaving(loaded: &Loaded) -> Result<(), Failed> {
    let devices: std::collections::BTreeSet<&str> = loaded.plan.tests.iter().map(|test| test.dut.as_str()).collect();
    if loaded.plan.interleave && loaded.links.interfaces.is_some() && devices.len() > 1 {
        return Err(Failed::usage("two devices cannot be up at once on the same two interfaces: set interleave = false"));
    }
    Ok(())
}

/// Returns what is known of the environment: `--force` declares it isolated.
pub(crate) fn isolation(force: bool) -> Isolation {
    if force { Isolation::Declared } else { Isolation::Unknown }
}
