//! Which recipes these tests can try on this machine, and the kernel lab that some need.

// Each test uses its own part.
#![allow(dead_code)]

use sixbench_testbed::lab::{self, Lab, Order};
use sixbench_testbed::{Library, Recipe};
use std::path::Path;

/// Recipes of programs or modules that no Debian package has. Where they are not there, as in CI, these alone may stay untried.
const NOT_TRIED_HERE: [&str; 4] = ["jool-mapt", "jool-mapt-br", "jool-mapt-ce", "map646"];

/// The kernel lab, built if it is not there: that takes a minute, once.
pub(crate) fn the_lab() -> Lab {
    let order = Order { cache: lab::cache(), jool: None };
    lab::build(&order, &mut |_| {}).expect("a lab (these tests need root)")
}

/// The recipes whose programs are here. Those that are not tried are told by name; one that could be installed, or that is not known
/// to be so rare, fails.
pub(crate) fn tried_here(library: &Library) -> Vec<&Recipe> {
    the_lab();
    // Other systems need machines of their own, and some recipes say themselves that nobody has tried them.
    let here = library.iter().filter(|recipe| recipe.is_for_namespaces() && !recipe.untested);
    let (tried, untried): (Vec<_>, Vec<_>) = here.partition(|recipe| obstacle(recipe).is_none());
    for (recipe, why) in untried.into_iter().filter_map(|recipe| Some((recipe, obstacle(recipe)?))) {
        eprintln!("{}: not tried here: {why}", recipe.name);
        assert!(NOT_TRIED_HERE.contains(&recipe.name.as_str()), "{}: {why}", recipe.name);
        assert!(recipe.missing().iter().all(|need| need.package.is_none()), "{}: its programs can be installed", recipe.name);
    }
    tried
}

/// Why a recipe cannot be tried.
fn obstacle(recipe: &Recipe) -> Option<String> {
    let missing = recipe.missing().first().map(|need| format!("{} is not installed: {}", need.program, need.cure()));
    missing.or_else(|| recipe.check_lab().err().map(|error| error.to_string()))
}

/// The recipes that come with sixbench.
pub(crate) fn library() -> Library {
    Library::load::<&Path>(&[]).expect("recipes")
}
