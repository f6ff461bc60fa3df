//! The commands, with a file for each one or for a group of related ones: it takes the arguments, calls the other crates, and prints what they return.

pub(crate) mod agent;
pub(crate) mod archive;
pub(crate) mod authority;
pub(crate) mod compare;
pub(crate) mod conformance;
pub(crate) mod dimension;
pub(crate) mod dns64;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod find;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod lab;
pub(crate) mod list;
pub(crate) mod live;
mod one_device;
pub(crate) mod own_recipes;
pub(crate) mod pages;
pub(crate) mod plan;
mod plan_text;
mod query_file;
pub(crate) mod report;
mod robustness;
pub(crate) mod run;
mod search_words;
pub(crate) mod selftest;
pub(crate) mod testbed;
pub(crate) mod trial;

use crate::args::WaitOption;
use crate::exit::{Exit, Failed, advice};
use crate::hints;
use crate::output::{self, tell};
use crate::view::has_color;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::record::CodeOrigin;
use sixbench_plan::plans;
use sixbench_plan::{Diagnostic, Links, LoadedPlan, apply_profile};
use sixbench_runner::code::{self, Trusted};
use sixbench_runner::locks::{self, LockRequest, ResourceLocks};
use sixbench_runner::{RunError, stop};
use sixbench_testbed::recipe::check_reference;
use sixbench_testbed::{Library, Recipe};
use std::io::{BufRead, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

/// Returns whether standard output may be coloured.
pub(crate) fn stdout_color() -> bool {
    has_color() && std::io::stdout().is_terminal()
}

/// Returns the built-in recipes, the user's own, and those in the directories named on the command line.
pub(crate) fn library(directories: &[PathBuf]) -> Result<Library, Failed> {
    let further = RecipeLayers {
        named: directories,
        ..RecipeLayers::default()
    };
    further.library()
}

/// The recipes that there are beside the built-in ones and the user's own.
#[derive(Default)]
struct RecipeLayers<'a> {
    /// The paths and texts of devices that come with ready plans.
    of_ready_plans: Vec<(String, String)>,
    /// The directories that the plan names.
    of_plan: &'a [PathBuf],
    /// The directories named on the command line.
    named: &'a [PathBuf],
}

impl RecipeLayers<'_> {
    /// Returns the built-in recipes, the devices of ready plans, the user's own recipes, those in the directories that the plan names, and those in the
    /// directories named on the command line. Each may replace those before it.
    fn library(self) -> Result<Library, Failed> {
        let mut directories = self.of_plan.iter().chain(self.named);
        if let Some(missing) = directories.find(|directory| !directory.is_dir()) {
            let name = missing.display();
            let what = "name one with recipes in TOML (--recipes DIR, or `recipes` in the plan)";
            return Err(Failed::usage(format!(
                "cannot read the recipes in {name}: there is no such directory; {what}"
            )));
        }
        let own = own_recipes::texts().map_err(|error| Failed::new(Exit::Usage, error))?;
        let of_plan = self.of_plan.iter().map(|path| (path, CodeOrigin::Plan));
        let named = self
            .named
            .iter()
            .map(|path| (path, CodeOrigin::CommandLine));
        let library = Library::load::<&Path>(&[])
            .and_then(|library| library.with_texts(self.of_ready_plans, CodeOrigin::BuiltIn))
            .and_then(|library| library.with_texts(own, CodeOrigin::CommandLine));
        let library = library.and_then(|library| {
            of_plan
                .chain(named)
                .try_fold(library, |library, (directory, origin)| {
                    library.with_directory(directory, origin)
                })
        });
        library.map_err(|error| Failed::new(Exit::Usage, error))
    }
}

/// The permissions that the user gives a run.
pub(crate) struct Permission {
    /// The isolation that the user declares: whether test traffic can leave the environment.
    pub(crate) isolation: Isolation,
    /// The files of the plan whose commands the run may execute.
    pub(crate) trusted: Trusted,
}

/// The consent that the options of a command give.
#[derive(Clone, Copy, Default)]
pub(crate) struct Consent {
    /// `--force`: test traffic may leave the environment.
    pub(crate) force: bool,
    /// `--trust-recipes`: the commands of the plan's own files may be executed.
    pub(crate) trust_recipes: bool,
}

impl Permission {
    /// Returns what the options of a command allow. A person at the terminal is asked about the files of a plan. A plan whose traffic
    /// must not leave is refused here already: no socket is opened for it, not even to ask another machine whether it is free.
    pub(crate) fn granted(
        consent: Consent,
        loaded: &LoadedPlan,
        library: &Library,
    ) -> Result<Self, Failed> {
        let isolation = isolation(consent.force);
        sixbench_runner::check_traffic(&loaded.plan, library, isolation)?;
        let mut input = std::io::stdin().lock();
        let terminal = (input.is_terminal() && std::io::stderr().is_terminal())
            .then_some(&mut input as &mut dyn BufRead);
        let is_given = consent.trust_recipes;
        let trusted = code::agreed(loaded, library, is_given, terminal, |text| tell!("{text}"))?;
        Ok(Self { isolation, trusted })
    }
}

/// A plan file and the plan read from it.
pub(crate) struct PlanFile {
    /// The path of the plan file, in the repository if the plan comes with sixbench.
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) loaded: LoadedPlan,
    /// The built-in recipes, those of the plan and those of the command line.
    pub(crate) library: Library,
}

/// Reads a plan file and shows each mistake at its line. `recipes` are further directories of recipes.
pub(crate) fn read_plan(path: &Path, recipes: &[PathBuf]) -> Result<PlanFile, Failed> {
    let name = path.display().to_string();
    let source = match std::fs::read(path) {
        Ok(octets) => plan_text::decoded(&name, octets)?,
        Err(error) => match plans::find(path).filter(|_| error.kind() == ErrorKind::NotFound) {
            Some(ready) => return read_ready(&ready, path, recipes),
            None => return Err(unreadable(path, &error)),
        },
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let of_plan: Vec<PathBuf> = sixbench_plan::recipe_directories(&source)
        .iter()
        .map(|name| folder.join(name))
        .collect();
    if let Some(missing) = of_plan.iter().find(|directory| !directory.is_dir()) {
        return Err(refused(
            &name,
            &source,
            &[plan_text::missing_recipes(&source, missing)],
        ));
    }
    let further = RecipeLayers {
        of_plan: &of_plan,
        named: recipes,
        ..RecipeLayers::default()
    };
    let library = further.library()?;
    let mut loaded = parse_plan(&name, &source, &library)?;
    query_file::read_of_plan(folder, (&name, &source), &mut loaded)?;
    plan_text::check_tests(&name, &source, &loaded, &library)?;
    Ok(PlanFile {
        name,
        source,
        loaded,
        library,
    })
}

/// Reads a plan that comes with sixbench, and tells the user that it was not read from a file.
fn read_ready(ready: &plans::Ready, path: &Path, recipes: &[PathBuf]) -> Result<PlanFile, Failed> {
    tell!(
        "note: there is no file {}; using {} as it comes with sixbench",
        path.display(),
        ready.path()
    );
    let uses_devices_of_plans = !sixbench_plan::recipe_directories(ready.text).is_empty();
    let further = RecipeLayers {
        of_ready_plans: if uses_devices_of_plans {
            plans::devices()
        } else {
            Vec::new()
        },
        named: recipes,
        ..RecipeLayers::default()
    };
    let library = further.library()?;
    let loaded = parse_plan(&ready.path(), ready.text, &library)?;
    Ok(PlanFile {
        name: ready.path(),
        source: ready.text.to_owned(),
        loaded,
        library,
    })
}

/// Returns the error for a path at which there is no plan, with a suggestion of the plan that was probably meant.
fn unreadable(path: &Path, error: &std::io::Error) -> Failed {
    let name = path.display();
    let hint = if path.join("resolved.toml").exists() {
        let (again, resume) = (hints::run(&path.join("resolved.toml")), hints::resume(path));
        format!(
            "; it is a results directory: repeat its run with {again}, or continue it with {resume}"
        )
    } else if error.kind() == ErrorKind::IsADirectory {
        "; a plan is a TOML file: name one, or write one with sixbench init NAME.toml".to_owned()
    } else {
        let word = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        if library(&[]).is_ok_and(|library| path == Path::new(word) && library.get(word).is_some())
        {
            return Failed::usage(format!(
                "{name} is a device, not a plan: measure it once with `sixbench trial {word} --rate 10k`, or write a plan with `sixbench init`"
            ));
        }
        let names: Vec<&str> = plans::ready().map(|plan| plan.name).collect();
        sixbench_plan::nearest(word, &names)
            .map_or("; ready plans: sixbench list plans".to_owned(), |near| {
                format!("; did you mean `{near}`? (sixbench list plans)")
            })
    };
    Failed::usage(format!("cannot read the plan {name}: {error}{hint}"))
}

/// Does the same as [`read_plan`] for a text that has already been read.
pub(crate) fn parse_plan(
    name: &str,
    source: &str,
    library: &Library,
) -> Result<LoadedPlan, Failed> {
    sixbench_plan::load(source, library).map_err(|mistakes| refused(name, source, &mistakes))
}

/// Applies the profile of the command line, if there is one, to a plan, and notes which settings of the plan file it overrides.
pub(crate) fn follow(profile: Option<Profile>, plan: &mut Plan, source: &str) {
    profile
        .and_then(|profile| apply_profile(plan, source, profile))
        .into_iter()
        .for_each(|text| tell!("note: {text}"));
}

/// Returns the recipe with the name given on the command line.
pub(crate) fn find_recipe<'l>(library: &'l Library, name: &str) -> Result<&'l Recipe, Failed> {
    check_reference(name).map_err(Failed::usage)?;
    library.get(name).ok_or_else(|| {
        let names = library.names();
        let hint = sixbench_plan::nearest(name, &names)
            .map_or("`sixbench list duts` lists all".to_owned(), |near| {
                format!("did you mean `{near}`?")
            });
        let unknown = RunError::UnknownRecipe(name.to_owned());
        Failed::usage(format!("{unknown}{}; {hint}", advice(&unknown)))
    })
}

/// Shows the mistakes of a file, each at its line, and returns the error.
pub(crate) fn refused(name: &str, source: &str, mistakes: &[Diagnostic]) -> Failed {
    let color = has_color() && std::io::stderr().is_terminal();
    let advised: Vec<Diagnostic> = mistakes.iter().cloned().map(with_advice).collect();
    output::tell_colored(&(sixbench_plan::render(name, source, &advised, color) + "\n\n"));
    let count = if mistakes.len() == 1 {
        "a mistake".to_owned()
    } else {
        format!("{} mistakes", mistakes.len())
    };
    Failed::usage(format!("{name} has {count}; nothing was touched"))
}

/// Adds to a mistake that lists recipes the command that lists them.
fn with_advice(mistake: Diagnostic) -> Diagnostic {
    let command = if mistake.lists_recipes {
        " (sixbench list duts)"
    } else {
        ""
    };
    Diagnostic {
        title: mistake.title + command,
        ..mistake
    }
}

/// Takes the locks on everything a command measures with. If it is to wait for another run, says for which. `name` is that of the plan or of the
/// command.
pub(crate) fn locked(
    links: &Links,
    name: &str,
    directory: Option<&Path>,
    waiting: &WaitOption,
) -> Result<ResourceLocks, Failed> {
    let (stop, request) = (
        stop::install()?,
        LockRequest {
            links,
            name,
            directory,
            waits: waiting.wait,
        },
    );
    Ok(locks::lock(&request, &stop, |text| tell!("{text}"))?)
}

/// Returns whether the environment is known to be isolated: `--force` declares it so.
pub(crate) fn isolation(force: bool) -> Isolation {
    if force {
        Isolation::Declared
    } else {
        Isolation::Unknown
    }
}
