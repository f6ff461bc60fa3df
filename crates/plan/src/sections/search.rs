//! The `[search]` section: which rates are searched, how, and how close to each other the bounds must come.

use crate::defaults::standard_search;
use crate::reader::Section;
use crate::reader::words::{count, method, share_or_rate, start};
use sixbench_method::measures::Keys;
use sixbench_method::plan::Profile;
use sixbench_method::search::{SearchMethod, SearchSettings};
use sixbench_method::units;

/// Reads the section. A profile gives the values of keys that are not given.
pub(crate) fn read(section: Section<'_>, profile: Profile) -> SearchSettings {
    let standard = standard_search(profile);
    let goals = section
        .list("loss-goals", units::loss)
        .unwrap_or(standard.goals);
    // A plan with several goals means the search that takes several, without saying so.
    let several = if goals.len() > 1 {
        SearchMethod::Mlrsearch
    } else {
        standard.method
    };
    let maximum = section
        .value("maximum", units::rate)
        .unwrap_or(standard.maximum);
    // A rate counts as its share of the maximum, so that the bounds are never further apart than it.
    let search = SearchSettings {
        method: section.text("method", method).unwrap_or(several),
        minimum: section
            .value("minimum", units::rate)
            .unwrap_or(standard.minimum),
        maximum,
        width: section
            .value("width", share_or_rate)
            .map_or(standard.width, |width| {
                if width > 1.0 {
                    width / maximum.0 as f64
                } else {
                    width
                }
            }),
        goals,
        max_invalid: section
            .number("max-invalid", |text| {
                count(text, SearchSettings::MAX_INVALID)
            })
            .unwrap_or(standard.max_invalid),
        start: section.text("start", start).unwrap_or(standard.start),
    };
    check(&section, &search);
    section.finish();
    search
}

/// Reports values that do not fit each other.
pub(crate) fn check(section: &Section<'_>, search: &SearchSettings) {
    if search.minimum >= search.maximum {
        section.mistake("minimum", "the minimum rate must be below the maximum");
    }
    if !SearchSettings::WIDTH.contains(search.width) {
        section.mistake(
            "width",
            "the width must be between 0.001% and 50% (of the maximum, if it is a rate)",
        );
    }
    if search.goals.is_empty() {
        section.mistake("loss-goals", "at least one loss goal is needed");
    }
    if !search.method.info().takes_several_goals && search.goals.len() > 1 {
        let help = "use method = \"mlrsearch\" for several goals in one search";
        section.mistake_with_help(
            "method",
            format!("a {} has one loss goal", search.method.info().title),
            help,
        );
    }
}
