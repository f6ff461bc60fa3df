//! Plan files and traffic profiles. A mistake has a position; a plan is unchanged after it is resolved, written and parsed again, and can be described.

use sixbench_plan::{links_of, load, recipe_directories, resolved, traffic_profile};
use sixbench_testbed::Library;
use std::path::Path;
use std::sync::LazyLock;

pub(super) static LIBRARY: LazyLock<Library> =
    LazyLock::new(|| Library::load::<&Path>(&[]).expect("the recipes of sixbench"));

/// Takes the text of a plan file.
pub(crate) fn run(octets: &[u8]) {
    let Ok(source) = std::str::from_utf8(octets) else {
        return;
    };
    let is_sampled = super::is_sampled(source);
    let result = load(source, &LIBRARY);
    // Each of these parses the whole text again, which takes as long as finding that it is not a plan.
    if is_sampled || result.is_ok() {
        recipe_directories(source);
        let links = links_of(source);
        assert!(
            result.as_ref().map_or(true, |loaded| loaded.links == links),
            "the links of the same plan"
        );
    }
    match result {
        Err(mistakes) => super::check_mistakes(source, &mistakes),
        Ok(loaded) => {
            // This simulates whole searches.
            if is_sampled {
                assert!(
                    !sixbench_plan::description::describe(
                        &loaded.plan,
                        sixbench_plan::description::ShownClauses::All
                    )
                    .is_empty()
                );
            }
            // TOML has no numbers above 2^63 - 1; a run with such a number does not start.
            if let Ok(text) = resolved::write(&loaded.plan, source, "recipes") {
                assert_eq!(load(&text, &LIBRARY).as_ref(), Ok(&loaded), "{text}");
            }
        }
    }
}

/// Takes the text of a traffic profile.
pub(crate) fn run_traffic_profile(octets: &[u8]) {
    let Ok(source) = std::str::from_utf8(octets) else {
        return;
    };
    match traffic_profile::read(source) {
        Err(mistakes) => super::check_mistakes(source, &mistakes),
        Ok(traffic) => assert!(
            (0.0..=1.0).contains(&traffic.native_ipv6.value) && !traffic.title.is_empty(),
            "{traffic:?}"
        ),
    }
}
