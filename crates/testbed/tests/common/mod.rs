//! Which recipes these tests can try on this machine.

use sixbench_testbed::{Library, Recipe};
use std::path::Path;

/// Recipes of programs that no Debian package has. Where they are not on the PATH, as in CI, these alone may stay untried.
const NOT_TRIED_HERE: [&str; 1] = ["map646"];

/// The recipes whose programs are here. Those that are not tried are told by name; one that could be installed, or that is not known
/// to be so rare, fails.
pub(crate) fn tried_here(library: &Library) -> Vec<&Recipe> {
    let (tried, untried): (Vec<_>, Vec<_>) = library.iter().partition(|recipe| recipe.missing().is_empty());
    for recipe in untried {
        let needs = recipe.missing();
        eprintln!("{}: not tried here: {}", recipe.name, needs[0].cure());
        assert!(NOT_TRIED_HERE.contains(&recipe.name.as_str()), "{} is not installed: {}", needs[0].program, needs[0].cure());
        assert!(needs.iter().all(|need| need.package.is_none()), "{}: its programs can be installed", recipe.name);
    }
    tried
}

/// The recipes that come with sixbench.
pub(crate) fn library() -> Library {
    Library::load::<&Path>(&[]).expect("recipes")
}
