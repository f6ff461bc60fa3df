//! The recipes that can be tested on this machine, and the kernel lab that some of them need.

// Each test uses its own part.
#![allow(dead_code)]

pub(crate) mod directories;

use sixbench_testbed::lab::{self, BuildOrder, KernelLab};
use sixbench_testbed::recipe::{DeviceHost, Technology};
use sixbench_testbed::{Library, Recipe};
use std::fs;
use std::path::Path;

/// Recipes with programs or modules that are not in any Debian package. If these are missing, as in CI, only these recipes and those with programs
/// built into the lab may remain untested.
const NOT_TRIED_HERE: [&str; 6] = [
    "jool-mapt",
    "jool-mapt-br",
    "jool-mapt-br-offset",
    "jool-mapt-ce",
    "map646",
    "map646-46",
];

/// Returns the kernel lab. Building it, if it does not exist, takes a minute.
pub(crate) fn the_lab() -> KernelLab {
    let order = BuildOrder {
        cache: lab::cache(),
        jool: None,
    };
    lab::build(&order, &mut |_| {}).expect("a lab (these tests need root)")
}

/// Asserts that this process has left nothing of a testbed of this run: no namespace, no directory, and no process that names one. Without a run it is
/// about all of its testbeds.
pub(crate) fn assert_nothing_left(run: &str) {
    let process = std::process::id();
    let begins = format!("sb-{process}-{run}");
    let namespaces = entries("/run/netns").filter(|name| name.starts_with(&begins));
    let programs = entries("/proc").filter(|process| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&begins)
    });
    let left: Vec<String> = namespaces
        .chain(programs.map(|number| format!("process {number}")))
        .chain(
            directories::of_process(process, |role| role.starts_with(run))
                .into_iter()
                .map(|directory| directory.display().to_string()),
        )
        .collect();
    assert!(left.is_empty(), "{run}: {left:?}");
}

/// Returns the names in a directory; none if it does not exist.
fn entries(directory: &str) -> impl Iterator<Item = String> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
}

/// Returns the recipes whose programs are available, and prints the others. Fails if one of those could be installed or is not known to be
/// unavailable.
pub(crate) fn tried_here(library: &Library) -> Vec<&Recipe> {
    the_lab();
    // Other systems need machines of their own. Some recipes are marked as untested or only describe the traffic that a device accepts.
    let is_here =
        |recipe: &&Recipe| recipe.is_for_namespaces() && recipe.host != DeviceHost::Manual;
    let here = library
        .iter()
        .filter(is_here)
        .filter(|recipe| !recipe.untested);
    let (tried, untried): (Vec<_>, Vec<_>) = here.partition(|recipe| obstacle(recipe).is_none());
    for (recipe, why) in untried
        .into_iter()
        .filter_map(|recipe| Some((recipe, obstacle(recipe)?)))
    {
        eprintln!("{}: not tried here: {why}", recipe.name);
        let may_be_absent =
            NOT_TRIED_HERE.contains(&recipe.name.as_str()) || !recipe.built.is_empty();
        assert!(may_be_absent, "{}: {why}", recipe.name);
        assert!(
            recipe.missing().iter().all(|need| need.package.is_none()),
            "{}: its programs can be installed",
            recipe.name
        );
    }
    tried
}

/// Returns the reason why a recipe cannot be tested.
fn obstacle(recipe: &Recipe) -> Option<String> {
    let missing = recipe
        .missing()
        .first()
        .map(|need| format!("{} is not installed: {}", need.program, need.cure()));
    missing.or_else(|| lab::check_for(recipe).err().map(|error| error.to_string()))
}

/// Returns the recipes that come with sixbench.
pub(crate) fn library() -> Library {
    Library::load::<&Path>(&[]).expect("recipes")
}

/// Returns true if datagrams have the hosts' own addresses and are not encapsulated, as traffic.rs sends them with the kernel. Servers answer
/// queries and forward nothing: see dns.rs.
pub(crate) fn is_for_hosts(recipe: &Recipe) -> bool {
    let (left, right) = (
        recipe.foreground.left.source,
        recipe.foreground.right.destination,
    );
    let are_their_own = recipe.left.tester.contains(&left) && recipe.right.tester.contains(&right);
    // A CLAT only translates datagrams from a PLAT, whose sources are in its prefix.
    let takes_any_source = recipe.technology != Technology::Clat;
    let has_interfaces = recipe.host != DeviceHost::Memif;
    has_interfaces
        && !recipe.technology.is_dns()
        && !recipe.is_tunnel()
        && !has_subscribers(recipe)
        && are_their_own
        && takes_any_source
}

/// Returns true if the recipe needs the tester's own frames: tunnels, subscribers behind the tester, a CLAT's half of a translation, several
/// devices in a row, shared memory, or a wire. The tests of `runner` send these.
pub(crate) fn is_for_the_tester(recipe: &Recipe) -> bool {
    let is_row = !recipe.parts.is_empty();
    is_row
        || recipe.host == DeviceHost::Memif
        || recipe.is_tunnel()
        || has_subscribers(recipe)
        || matches!(recipe.technology, Technology::Clat | Technology::Wire)
}

fn has_subscribers(recipe: &Recipe) -> bool {
    std::iter::once(recipe)
        .chain(&recipe.parts)
        .any(|part| part.subscribers.is_some())
}
