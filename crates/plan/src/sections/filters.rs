//! The filters of the device, under which a test is repeated (RFC 2544 section 11.4).

use crate::reader::Section;
use crate::reader::diagnostic::Diagnostic;
use crate::reader::tests_of;
use crate::reader::words::count;
use sixbench_method::measures::Keys;
use sixbench_method::plan::{ConditionedTrials, FilterConflict, Test};
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{Library, Recipe};
use toml::de::DeTable;

/// The key of the filter conditions.
const FILTERS: &str = "filters";

/// The reason why a device cannot have filters.
#[derive(Debug, thiserror::Error)]
pub enum FilterRefusal {
    /// The recipe does not say where it filters.
    #[error("the recipe of {0} does not say where it filters frames (`filters`)")]
    NoPlace(String),
    /// The user sets the device up.
    #[error("{0} is set up by hand, so sixbench can give it no filters")]
    ByHand(String),
}

/// Reads the numbers of filter conditions, each a step of a series.
pub(crate) fn read_filters(section: &Section<'_>) -> Vec<u32> {
    if section.is_empty_list(FILTERS) {
        section.mistake(FILTERS, "at least one number of filters is needed");
    }
    section
        .numbers(FILTERS, |text| count(text, Test::FILTERS))
        .unwrap_or_default()
}

/// Reports filters of a test whose frames they would not meet, or would not let pass.
pub(crate) fn check_filters(
    section: &Section<'_>,
    filters: &[u32],
    trials: &ConditionedTrials<'_>,
) {
    let family = trials.measure.family();
    // Queries and vectors are told elsewhere.
    if filters.iter().all(|count| *count == 0) || !family.has_load() || family.is_answered() {
        return;
    }
    let (title, help) = match trials.filter_conflict() {
        Some(FilterConflict::State) => (
            format!("`{FILTERS}` does not apply to tests of connections"),
            "leave it out: a filter permits the addresses of frames as they arrive, which state changes on the way",
        ),
        Some(FilterConflict::Addresses) => (
            format!("`{FILTERS}` contradicts varying addresses"),
            "leave one of them out: a filter permits one pair of addresses (RFC 2544 section 11.4)",
        ),
        None => return,
    };
    section.mistake_with_help(FILTERS, title, help);
}

/// Refuses filters of a device that cannot have them, because of its recipe, or because the user sets it up.
///
/// # Errors
/// The reason.
pub fn check_filtering(recipe: &Recipe, is_set_up_by_hand: bool) -> Result<(), FilterRefusal> {
    if is_set_up_by_hand || recipe.host == DeviceHost::Manual {
        return Err(FilterRefusal::ByHand(recipe.name.clone()));
    }
    match recipe.filters {
        Some(_) => Ok(()),
        None => Err(FilterRefusal::NoPlace(recipe.name.clone())),
    }
}

/// Returns the mistake of each test of a plan file whose device cannot have the filters that it asks for. Other mistakes are left to the reader.
pub(crate) fn unfit_filters(
    source: &str,
    library: &Library,
    is_set_up_by_hand: bool,
) -> Vec<Diagnostic> {
    let (table, _) = DeTable::parse_recoverable(source);
    tests_of(table.get_ref())
        .filter_map(|test| unfit(test, library, is_set_up_by_hand))
        .collect()
}

fn unfit(test: &DeTable<'_>, library: &Library, is_set_up_by_hand: bool) -> Option<Diagnostic> {
    let (filters, dut) = (test.get(FILTERS)?, test.get("dut")?);
    let recipe = library.get(dut.get_ref().as_str()?)?;
    let number = filters.get_ref().as_integer();
    if number.is_some_and(|number| number.as_str() == "0") {
        return None;
    }
    let refusal = check_filtering(recipe, is_set_up_by_hand).err()?;
    let help = match refusal {
        FilterRefusal::NoPlace(_) => {
            let able = library
                .iter()
                .filter(|recipe| recipe.filters.is_some())
                .map(|recipe| recipe.name.as_str());
            format!(
                "leave `{FILTERS}` out, or name a device whose recipe has it: {}",
                able.collect::<Vec<_>>().join(", ")
            )
        }
        FilterRefusal::ByHand(_) => format!(
            "leave `{FILTERS}` out and set filters by hand, or name the machine of the device with `host` in [testbed]"
        ),
    };
    Some(Diagnostic::new(filters.span(), refusal.to_string()).help(help))
}

#[cfg(test)]
mod tests {
    use crate::{fixture_tests, load, parse, render};
    use sixbench_method::plan::{Series, SeriesBy};
    use sixbench_testbed::Library;
    use std::path::Path;

    #[test]
    fn numbers_of_filters_are_the_steps_of_a_series_and_are_kept_in_the_resolved_plan() {
        let source = fixture_tests::plan(|_| "linux-ipv4", &["filters = [0, 1, 25]"]);
        let plan = parse(&source, &["linux-ipv4"]).expect("a plan").plan;
        let steps: Vec<(&str, &str, u32)> = plan
            .tests
            .iter()
            .map(|test| (test.name.as_str(), test.title.as_str(), test.filters))
            .collect();
        assert_eq!(
            steps,
            [
                ("t0.filters0", "t0, 0 filters", 0),
                ("t0.filters1", "t0, 1 filter", 1),
                ("t0.filters25", "t0, 25 filters", 25)
            ]
        );
        let series = Series {
            name: "t0".to_owned(),
            by: SeriesBy::Filters,
            at: 25.0,
            device: None,
        };
        assert_eq!(plan.tests[2].series, Some(series));
        let resolved = crate::resolved::write(&plan, &source, "").expect("text");
        let again = parse(&resolved, &["linux-ipv4"])
            .expect("a resolved plan")
            .plan;
        assert_eq!(again, plan);
        let spoilt = resolved.replace("filters = 25\n", "filters = 250\n");
        let mistakes = fixture_tests::mistakes(&spoilt, &["linux-ipv4"]);
        assert!(mistakes.contains("filters"), "{mistakes}");
    }

    #[test]
    fn filters_that_make_no_sense_are_told_each_at_its_line() {
        let tests = [
            "filters = 101",
            "filters = []",
            "filters = 1\nright-networks = 256",
            "filters = 1\nsubscribers = 2",
            "filters = 25\nconnections = \"1k\"",
            "filters = 25\nmeasure = \"tcp-establishment-rate\"",
            "filters = 25\nmeasure = \"conformance\"",
            "filters = [0, 1]\ncores = [1, 2]",
        ];
        insta::assert_snapshot!(fixture_tests::mistakes(
            &fixture_tests::plan(|_| "relay", &tests),
            &["relay"]
        ));
    }

    #[test]
    fn a_device_that_cannot_have_filters_is_told_at_the_line_that_asks_for_them() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let mistakes = |testbed: &str, dut: &str, filters: &str| {
            let source = format!(
                "name = \"p\"\n{testbed}[[test]]\nname = \"t\"\ndut = \"{dut}\"\nfilters = {filters}\n"
            );
            load(&source, &library).map_or_else(
                |mistakes| render("plan.toml", &source, &mistakes, false),
                |_| String::new(),
            )
        };
        assert_eq!(mistakes("", "tayga-siit", "[0, 25]"), "");
        assert_eq!(mistakes("", "vpp-ipv4", "0"), "");
        let cabled = "[testbed]\nleft = \"e0\"\nright = \"e1\"\n";
        let by_hand = mistakes(cabled, "linux-ipv4", "25");
        assert!(
            by_hand.contains("plan.toml:8:") && by_hand.contains("is set up by hand"),
            "{by_hand}"
        );
        let unable = mistakes("", "vpp-ipv4", "25");
        assert!(
            unable.contains("plan.toml:5:")
                && unable.contains("the recipe of vpp-ipv4 does not say where"),
            "{unable}"
        );
    }
}
