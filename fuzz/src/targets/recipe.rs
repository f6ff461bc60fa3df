//! Recipes. An accepted recipe is unchanged after it is written and parsed again, names no file outside its directory, and its frames are judged right.

use super::plan::LIBRARY;
use sixbench_engine::fuzzing::FrameJudge;
use sixbench_method::record::CodeOrigin;
use sixbench_runner::profile::{Job, job};
use sixbench_testbed::recipe::check_reference;
use sixbench_testbed::{Library, Recipe};
use std::sync::LazyLock;

/// Recipes from which others can be made: a row with its two devices, two more that fit together, and devices that provide the set-up or the
/// traffic. Copying all recipes of sixbench would take longer than parsing a text.
static OTHERS: LazyLock<Library> = LazyLock::new(|| {
    let names = [
        "tayga-464xlat",
        "linux-ipv4-first",
        "linux-ipv4-second",
        "vpp-ipv4",
        "linux-ip6tnl-map-e",
        "tayga-siit-46",
    ];
    let files = names.map(|name| LIBRARY.get(name).expect(name).to_files().expect("files"));
    Library::default()
        .with_texts(files.concat(), CodeOrigin::BuiltIn)
        .expect("recipes")
});

static NO_OTHERS: LazyLock<Library> = LazyLock::new(Library::default);

/// Takes the text of a recipe.
pub(crate) fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    // Only a recipe that is made from others needs them.
    let is_made = ["base", "chain", "traffic-of"]
        .iter()
        .any(|key| text.contains(key));
    let others = if is_made { &OTHERS } else { &NO_OTHERS };
    match Library::clone(others).with_texts(
        vec![("r.toml".to_owned(), text.to_owned())],
        CodeOrigin::Plan,
    ) {
        Err(error) => check_error(&error.to_string()),
        Ok(library) => library
            .iter()
            .filter(|recipe| others.get(&recipe.name) != Some(recipe))
            .for_each(|recipe| check(recipe, &library, others)),
    }
}

/// Checks that an error names the file, or the row in which a replaced device no longer fits.
fn check_error(said: &str) {
    assert!(
        said.contains("r.toml") || said.contains("a device of this row was replaced"),
        "{said}"
    );
}

fn check(recipe: &Recipe, library: &Library, others: &Library) {
    assert_eq!(check_reference(&recipe.name), Ok(()));
    assert!(
        recipe
            .files
            .iter()
            .all(|file| !file.path.starts_with('/')
                && !file.path.split('/').any(|part| part == ".."))
    );
    let files = recipe.to_files().expect("a recipe can be written");
    let again = others
        .clone()
        .with_texts(files, CodeOrigin::Plan)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.get(&recipe.name), Some(recipe));
    recipe.forbidden_destinations();
    assert!(!recipe.honest_title().is_empty());
    check_frames(recipe, library);
}

/// Checks that the frames in a test of the recipe, if one is possible, are those that the tester expects.
fn check_frames(recipe: &Recipe, library: &Library) {
    let plan = format!(
        "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"{}\"\nmeasure = \"throughput\"\nframe-sizes = [84]\n",
        recipe.name
    );
    let Ok(loaded) = sixbench_plan::load(&plan, library) else {
        return;
    };
    let test = &loaded.plan.tests[0];
    let Ok(Job::Frames(profile, _)) = job(recipe, test, test.frame_sizes[0], 42, loaded.plan.trial)
    else {
        return;
    };
    for mut judge in FrameJudge::all(&profile) {
        let frame = judge.frame(5, 1_000_000_000);
        assert!(
            judge.judge(&frame).is_some(),
            "its own frame is not right: {frame:02x?}"
        );
    }
}
