//! Which recipes these tests can try on this machine, and the kernel lab that some need.

// Each test uses its own part.
#![allow(dead_code)]

use sixbench_testbed::lab::{self, BuildOrder, KernelLab};
use sixbench_testbed::recipe::{DeviceHost, Technology};
use sixbench_testbed::{Library, Recipe};
use std::path::Path;

/// Recipes of programs or modules that no Debian package has. Where they are not there, as in CI, these alone may stay untried, and those of what is
/// built into the lab from a source.
const NOT_TRIED_HERE: [&str; 5] = ["jool-mapt", "jool-mapt-br", "jool-mapt-ce", "map646", "map646-46"];

/// The kernel lab, built if it is not there: that takes a minute, once.
pub(crate) fn the_lab() -> KernelLab {
    let order = BuildOrder { cache: lab::cache(), jool: None };
    lab::build(&order, &mut |_| {}).expect("a lab (these tests need root)")
}

/// The recipes whose programs are here. Those that are not tried are told by name; one that could be installed, or that is not known
/// to be so rare, fails.
pub(crate) fn tried_here(library: &Library) -> Vec<&Recipe> {
    the_lab();
    // Other systems need machines of their own, and some recipes are marked as untested, or only say what traffic a device takes.
    let is_here = |recipe: &&Recipe| recipe.is_for_namespaces() && recipe.host != DeviceHost::Manual;
    let here = library.iter().filter(is_here).filter(|recipe| !recipe.untested);
    let (tried, untried): (Vec<_>, Vec<_>) = here.partition(|recipe| obstacle(recipe).is_none());
    for (recipe, why) in untried.into_iter().filter_map(|recipe| Some((recipe, obstacle(recipe)?))) {
        eprintln!("{}: not tried here: {why}", recipe.name);
        let may_be_absent = NOT_TRIED_HERE.contains(&recipe.name.as_str()) || !recipe.built.is_empty();
        assert!(may_be_absent, "{}: {why}", recipe.name);
        assert!(recipe.missing().iter().all(|need| need.package.is_none()), "{}: its programs can be installed", recipe.name);
    }
    tried
}

/// Why a recipe cannot be tried.
fn obstacle(recipe: &Recipe) -> Option<String> {
    let missing = recipe.missing().first().map(|need| format!("{} is not installed: {}", need.program, need.cure()));
    missing.or_else(|| lab::check_for(recipe).err().map(|error| error.to_string()))
}

/// The recipes that come with sixbench.
pub(crate) fn library() -> Library {
    Library::load::<&Path>(&[]).expect("recipes")
}

/// Whether the hosts' own addresses are those of its datagrams, and nothing is around these: traffic.rs sends the kernel's own. Servers
/// answer, and pass nothing: see dns.rs.
pub(crate) fn is_for_hosts(recipe: &Recipe) -> bool {
    let (left, right) = (recipe.foreground.left.source, recipe.foreground.right.destination);
    let are_their_own = recipe.left.tester.contains(&left) && recipe.right.tester.contains(&right);
    // A CLAT translates only what a PLAT sends, out of its prefix.
    let takes_any_source = recipe.technology != Technology::Clat;
    let has_interfaces = recipe.host != DeviceHost::Memif;
    has_interfaces
        && !recipe.technology.is_dns()
        && !recipe.is_tunnel()
        && !has_subscribers(recipe)
        && are_their_own
        && takes_any_source
}

/// Whether it takes the tester's own frames: what goes through tunnels, belongs to subscribers behind the tester, is a CLAT's half of a
/// translation, or passes several devices in a row, shared memory, or a wire. The tests of `runner` send these.
pub(crate) fn is_for_the_tester(recipe: &Recipe) -> bool {
    let is_row = !recipe.parts.is_empty();
    is_row
        || recipe.host == DeviceHost::Memif
        || recipe.is_tunnel()
        || has_subscribers(recipe)
        || matches!(recipe.technology, Technology::Clat | Technology::Wire)
}

fn has_subscribers(recipe: &Recipe) -> bool {
    std::iter::once(recipe).chain(&recipe.parts).any(|part| part.subscribers.is_some())
}
