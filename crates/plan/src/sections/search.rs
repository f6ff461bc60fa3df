//! The `[search]` section: which rates are searched, how, and how close to each other the bounds must come.

use crate::defaults::standard_search;
use crate::reader::Section;
use crate::reader::words::{count, method, share_or_rate, start};
use sixbench_method::measures::Keys;
use sixbench_method::plan::Profile;
use sixbench_method::search::{Certainty, SearchMethod, SearchSettings};
use sixbench_method::trial::TrialSettings;
use sixbench_method::units::{self, show_ns, show_percent};

/// Reads the section. A profile gives the values of keys that are not given; `trial` is that of the plan.
pub(crate) fn read(
    section: Section<'_>,
    profile: Profile,
    trial: &TrialSettings,
) -> SearchSettings {
    let standard = standard_search(profile);
    let certainty = read_certainty(&section, trial.duration_ns);
    let goals = section
        .list("loss-goals", units::loss)
        .unwrap_or(standard.goals);
    // A plan with several goals, or with attributes of goals, means the search that takes them, without saying so.
    let several = if goals.len() > 1 || certainty.is_some() {
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
        estimate: standard.estimate,
        certainty,
    };
    check(&section, &search);
    section.finish();
    search
}

const DURATION_SUM: &str = "duration-sum";
const EXCEED_RATIO: &str = "exceed-ratio";

/// Reads the trials that classify a load, with full trials of `duration_ns` nanoseconds; `None`: one trial, as the file has neither key.
fn read_certainty(section: &Section<'_>, duration_ns: u64) -> Option<Certainty> {
    let sum = section.value(DURATION_SUM, units::duration_ns);
    let ratio = section.value(EXCEED_RATIO, units::share);
    if sum.is_none() && ratio.is_none() {
        return None;
    }
    let certainty = Certainty {
        duration_sum_ns: sum.unwrap_or(duration_ns),
        exceed_ratio: ratio.unwrap_or(0.0),
    };
    check_certainty(section, certainty, duration_ns);
    Some(certainty)
}

fn check_certainty(section: &Section<'_>, certainty: Certainty, duration_ns: u64) {
    let Certainty {
        duration_sum_ns: sum,
        exceed_ratio,
    } = certainty;
    let trial = show_ns(duration_ns);
    if sum < duration_ns {
        section.mistake(
            DURATION_SUM,
            format!("the duration sum must be at least one trial, which lasts {trial}"),
        );
    } else if sum > duration_ns.saturating_mul(Certainty::MOST_TRIALS) {
        let most = Certainty::MOST_TRIALS;
        section.mistake(
            DURATION_SUM,
            format!("the duration sum must be at most {most} trials of {trial}"),
        );
    }
    let is_met_by_some_sum = exceed_ratio == 0.0 || exceed_ratio >= Certainty::LEAST_TOLERANT;
    if !Certainty::EXCEED_RATIO.contains(exceed_ratio) || !is_met_by_some_sum {
        section.mistake(
            EXCEED_RATIO,
            "the exceed ratio must be 0%, or between 1% and 99%",
        );
    } else if exceed_ratio > 0.0 && duration_ns > sum_that_may_be_lossy(certainty) {
        let least = show_ns(Certainty::least_tolerant_sum_ns(exceed_ratio, duration_ns));
        section.mistake_with_help(
            EXCEED_RATIO,
            format!(
                "one lossy trial of {trial} is already more than {} of {}",
                show_percent(exceed_ratio),
                show_ns(sum)
            ),
            format!("set duration-sum to at least {least}, so that a lossy trial is tolerated"),
        );
    }
}

/// Returns the total duration of the trials at a load that may be lossy, nanoseconds.
fn sum_that_may_be_lossy(certainty: Certainty) -> u64 {
    (certainty.duration_sum_ns as f64 * certainty.exceed_ratio).round() as u64
}

/// Reports values that do not fit each other.
pub(crate) fn check(section: &Section<'_>, search: &SearchSettings) {
    let takes_attributes = search.method.info().takes_several_goals;
    if let Some(key) = [DURATION_SUM, EXCEED_RATIO]
        .into_iter()
        .find(|key| !takes_attributes && section.is_given(key))
    {
        let title = search.method.info().title;
        section.mistake_with_help(
            key,
            format!("a {title} makes one trial at a load, so it has no {key}"),
            "use method = \"mlrsearch\", or leave the method out",
        );
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests::SMALLEST;
    use crate::plan_file::parse;
    use crate::reader::diagnostic::Diagnostic;
    use crate::resolved;

    const DUTS: [&str; 1] = ["linux-ipv4"];

    fn plan(keys: &str) -> String {
        format!(
            "{SMALLEST}[trial]
duration = \"60s\"
[search]
{keys}
"
        )
    }

    fn certainty_of(keys: &str) -> Result<Option<Certainty>, Vec<Diagnostic>> {
        let loaded = parse(&plan(keys), &DUTS)?;
        assert_eq!(loaded.plan.search.method, SearchMethod::Mlrsearch);
        Ok(loaded.plan.search.certainty)
    }

    #[test]
    fn attributes_of_goals_are_read_and_mean_mlrsearch() {
        let tst009 = Certainty::tst009(60_000_000_000);
        let keys = "duration-sum = \"120s\"\nexceed-ratio = \"50%\"";
        assert_eq!(certainty_of(keys).ok(), Some(Some(tst009)));
        assert_eq!(
            certainty_of("loss-goals = [\"0%\", \"1%\"]").ok(),
            Some(None)
        );
        let twice = Certainty {
            exceed_ratio: 0.0,
            ..tst009
        };
        assert_eq!(
            certainty_of("duration-sum = \"120s\"").ok(),
            Some(Some(twice))
        );
        let rfc = Certainty::one_trial(60_000_000_000);
        assert_eq!(certainty_of("exceed-ratio = \"0%\"").ok(), Some(Some(rfc)));
    }

    #[test]
    fn attributes_that_no_search_could_keep_are_mistakes_at_their_lines() {
        for (keys, title) in [
            (
                "duration-sum = \"59s\"",
                "the duration sum must be at least one trial, which lasts 60s",
            ),
            (
                "duration-sum = \"6001s\"",
                "the duration sum must be at most 100 trials of 60s",
            ),
            (
                "exceed-ratio = \"100%\"",
                "the exceed ratio must be 0%, or between 1% and 99%",
            ),
            (
                "exceed-ratio = \"0.5%\"",
                "the exceed ratio must be 0%, or between 1% and 99%",
            ),
            (
                "exceed-ratio = \"50%\"",
                "one lossy trial of 60s is already more than 50 % of 60s",
            ),
            (
                "method = \"binary\"\nduration-sum = \"120s\"",
                "a binary search makes one trial at a load, so it has no duration-sum",
            ),
        ] {
            let mistakes = certainty_of(keys).expect_err(keys);
            let titles: Vec<&str> = mistakes.iter().map(|m| m.title.as_str()).collect();
            assert_eq!(titles, [title], "{keys}");
        }
    }

    #[test]
    fn a_resolved_plan_keeps_the_attributes_of_goals() {
        let text = plan("duration-sum = \"3min\"\nexceed-ratio = \"40%\"");
        let plan = parse(&text, &DUTS).expect("a plan").plan;
        let written = resolved::write(&plan, &text, "recipes").expect("text");
        let read = resolved::plan_of(&written).expect("a resolved plan");
        assert_eq!(read.search, plan.search);
        let other = written.replace("exceed-ratio = 0.4", "exceed-ratio = 1.5");
        let mistake = resolved::plan_of(&other).expect_err("beyond its bound");
        assert!(
            mistake
                .title
                .starts_with("`exceed-ratio` must be between 0 and 0.99"),
            "{}",
            mistake.title
        );
    }
}
