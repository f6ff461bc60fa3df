//! The default values of a plan file, by profile.

use crate::description::profile_name;
use crate::resolved;
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings};
use sixbench_method::terms::{FrameRate, LossRatio, SECOND_NS};
use sixbench_method::trial::TrialSettings;
use toml::de::DeTable;

/// The settings from the rest of the file that tests depend on.
pub(crate) struct PlanDefaults<'a> {
    pub(crate) profile: Profile,
    pub(crate) trial: TrialSettings,
    pub(crate) search: &'a SearchSettings,
    /// True if the file sets the search method.
    pub(crate) is_method_given: bool,
    pub(crate) link_rate: Option<u64>,
    pub(crate) duts: &'a [&'a str],
    /// The machines of `[testbed]`, by the names that ssh uses.
    pub(crate) machines: &'a [&'a str],
}

/// Returns the trial settings of a profile.
pub fn standard_trial(profile: Profile) -> TrialSettings {
    let settings = |duration_ns, residual_ns, rest_ns| TrialSettings {
        duration_ns,
        residual_ns,
        rest_ns,
        frame_timeout_ns: 0,
        stall_ns: SECOND_NS / 1000,
    };
    match profile {
        Profile::Smoke => settings(SECOND_NS * 3 / 4, SECOND_NS / 5, SECOND_NS / 20),
        Profile::Draft => settings(10 * SECOND_NS, 2 * SECOND_NS, SECOND_NS),
        // RFC 2544 section 24: at least 60 s; section 23: 2 s for residual frames, at least 5 s of rest.
        Profile::Rfc | Profile::Custom => settings(60 * SECOND_NS, 2 * SECOND_NS, 5 * SECOND_NS),
    }
}

/// Returns the number of repetitions of a profile. RFC 8219 section 7 asks for at least 20 wherever it gives a number.
pub(crate) fn standard_repetitions(profile: Profile) -> u32 {
    match profile {
        Profile::Smoke => 3,
        Profile::Draft => 7,
        Profile::Rfc | Profile::Custom => 20,
    }
}

/// Returns the search settings of a profile.
pub fn standard_search(profile: Profile) -> SearchSettings {
    let (method, width) = match profile {
        Profile::Smoke => (SearchMethod::Mlrsearch, 0.02),
        Profile::Draft => (SearchMethod::Mlrsearch, 0.005),
        Profile::Rfc | Profile::Custom => (SearchMethod::Binary, 0.005),
    };
    SearchSettings {
        method,
        minimum: FrameRate(1000),
        maximum: FrameRate(2_000_000),
        width,
        goals: vec![LossRatio::ZERO],
        max_invalid: 4,
        start: standard_start(profile),
        estimate: CapacityEstimate::Bounded,
        certainty: None,
    }
}

/// Returns how the searches of later repetitions start. According to the RFCs every repetition is an independent measurement.
fn standard_start(profile: Profile) -> RepetitionStart {
    match profile {
        Profile::Smoke | Profile::Draft => RepetitionStart::Dithered,
        Profile::Rfc | Profile::Custom => RepetitionStart::Cold,
    }
}

/// Changes a plan that was read from `source` to another profile. Durations and repetitions follow the profile even if the file sets them; settings of
/// `[search]` only if the file does not set them. A resolved plan sets everything, so all of it follows. Returns a sentence on the settings of the file
/// that are overridden; `None` if there are none.
pub fn apply_profile(plan: &mut Plan, source: &str, profile: Profile) -> Option<String> {
    let keys = GivenKeys::read(source);
    plan.profile = profile;
    let planned_ns = plan.trial.duration_ns;
    plan.trial = TrialSettings {
        frame_timeout_ns: plan.trial.frame_timeout_ns,
        ..standard_trial(profile)
    };
    // The number of trials at a load stays; each of them lasts as long as the profile says.
    let trial_ns = plan.trial.duration_ns;
    plan.search.certainty = plan
        .search
        .certainty
        .map(|certainty| certainty.with_trials_of(trial_ns, planned_ns));
    follow_search(plan, &keys, profile);
    follow_tests(plan, profile);
    let overridden = keys.overridden();
    let name = profile_name(profile);
    (!overridden.is_empty()).then(|| {
        format!(
            "the profile {name} takes the place of what the plan file sets: {}",
            overridden.join("; ")
        )
    })
}

/// Gives the search the settings of the profile that the file does not set.
fn follow_search(plan: &mut Plan, keys: &GivenKeys<'_>, profile: Profile) {
    let search = standard_search(profile);
    if !keys.has("search", "width") {
        plan.search.width = search.width;
    }
    if !keys.has("search", "start") {
        plan.search.start = search.start;
    }
    if !keys.has("search", "method") {
        // Binary search has one goal (`SearchInfo::takes_several_goals`), and no certainty.
        plan.search.method = if plan.search.goals.len() > 1 || plan.search.certainty.is_some() {
            SearchMethod::Mlrsearch
        } else {
            search.method
        };
    }
}

/// Gives the tests the repetitions and durations of the profile, which the plan's trials have already.
fn follow_tests(plan: &mut Plan, profile: Profile) {
    for test in &mut plan.tests {
        if test.measure.family().has_load() {
            test.repetitions = Repetition::Fixed(standard_repetitions(profile));
        }
        if let Some(stateful) = &mut test.stateful {
            stateful.timeout_ns = plan.trial.residual_ns;
        }
        // Durations that only this measure has get their defaults.
        if let Some(settings) = test.measure.settings_mut() {
            settings.follow(profile, plan.trial.duration_ns);
        }
    }
}

/// The keys that a plan file sets explicitly.
struct GivenKeys<'s>(DeTable<'s>);

/// Keys of `[trial]` and of a `[[test]]` that a profile on the command line overrides. A key whose setting `follow_tests` changes belongs here.
const OF_TRIAL: [&str; 4] = ["duration", "residual", "rest", "stall"];
const OF_TEST: [&str; 7] = [
    "repetitions",
    "duration",
    "before",
    "after",
    "tag-after",
    "warm-up",
    "phase-1-timeout",
];

impl<'s> GivenKeys<'s> {
    /// Returns the keys of a file; none for a resolved plan, which contains all keys, including defaults.
    fn read(source: &'s str) -> Self {
        let (table, _) = DeTable::parse_recoverable(source);
        let is_resolved = resolved::is_resolved(table.get_ref());
        Self(if is_resolved {
            DeTable::default()
        } else {
            table.into_inner()
        })
    }

    fn has(&self, section: &str, key: &str) -> bool {
        let table = self
            .0
            .get(section)
            .and_then(|value| value.get_ref().as_table());
        table.is_some_and(|table| table.contains_key(key))
    }

    /// Returns the keys that are overridden, section by section: `[trial] duration, rest` and `repetitions of v4, v6`.
    fn overridden(&self) -> Vec<String> {
        let of_trial: Vec<&str> = OF_TRIAL
            .into_iter()
            .filter(|key| self.has("trial", key))
            .collect();
        let of_trial = (!of_trial.is_empty()).then(|| format!("[trial] {}", of_trial.join(", ")));
        let of_tests = OF_TEST.into_iter().filter_map(|key| {
            let tests = self.tests_with(key);
            (!tests.is_empty()).then(|| format!("{key} of {}", tests.join(", ")))
        });
        of_trial.into_iter().chain(of_tests).collect()
    }

    /// Returns the names of the tests that set a key.
    fn tests_with(&self, key: &str) -> Vec<&str> {
        let tests = self
            .0
            .get("test")
            .and_then(|value| value.get_ref().as_array())
            .into_iter()
            .flatten();
        let tables = tests
            .filter_map(|test| test.get_ref().as_table())
            .filter(|table| table.contains_key(key));
        tables
            .filter_map(|table| table.get("name")?.get_ref().as_str())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests::SMALLEST;
    use crate::{load, parse};
    use sixbench_testbed::Library;
    use std::path::Path;

    #[test]
    fn repetitions_of_rfc_begin_cold_and_those_of_shorter_profiles_dithered() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let plan = |profile| {
            load(&format!("profile = \"{profile}\"\n{SMALLEST}"), &library)
                .expect("a plan")
                .plan
        };
        let starts = [
            ("rfc", Profile::Rfc, RepetitionStart::Cold),
            ("draft", Profile::Draft, RepetitionStart::Dithered),
            ("smoke", Profile::Smoke, RepetitionStart::Dithered),
        ];
        for (name, profile, start) in starts {
            assert_eq!(plan(name).search.start, start, "{name}");
            for other in ["rfc", "draft", "smoke"] {
                let mut plan = plan(other);
                apply_profile(&mut plan, "", profile);
                assert_eq!(plan.search.start, start, "{other} as {name}");
            }
        }
    }

    #[test]
    fn a_profile_keeps_the_search_that_the_plan_sets_and_tells_which_durations_and_repetitions_it_overrides()
     {
        let search = "[search]\nmethod = \"binary\"\nwidth = \"7%\"\nstart = \"cold\"\n";
        let test = "repetitions = 11\n[[test]]\nname = \"d\"\ndut = \"linux-ipv4\"\nmeasure = \"pdv\"\nduration = \"3s\"\nrepetitions = 4\n";
        let source =
            format!("{SMALLEST}{test}[trial]\nduration = \"5s\"\nframe-timeout = \"1s\"\n{search}");
        let mut plan = parse(&source, &["linux-ipv4"]).expect("a plan").plan;
        let told = apply_profile(&mut plan, &source, Profile::Draft).expect("a sentence");
        assert_eq!(
            told,
            "the profile draft takes the place of what the plan file sets: [trial] duration; repetitions of t, d; duration of d"
        );
        let SearchSettings {
            method,
            width,
            start,
            ..
        } = plan.search;
        assert_eq!(
            (method, width, start),
            (SearchMethod::Binary, 0.07, RepetitionStart::Cold)
        );
        assert_eq!(
            (plan.trial.duration_ns, plan.trial.frame_timeout_ns),
            (10 * SECOND_NS, SECOND_NS)
        );
        assert_eq!(plan.tests[1].repetitions, Repetition::Fixed(7));
    }

    #[test]
    fn a_profile_fills_in_what_a_plan_does_not_set_and_all_of_a_resolved_plan() {
        let mut plan = parse(SMALLEST, &["linux-ipv4"]).expect("a plan").plan;
        let resolved = resolved::write(&plan, SMALLEST, "recipes").expect("text");
        for source in [SMALLEST, &resolved] {
            assert_eq!(apply_profile(&mut plan, source, Profile::Rfc), None);
            assert_eq!(
                (plan.search.method, plan.search.width),
                (SearchMethod::Binary, 0.005)
            );
            assert_eq!(apply_profile(&mut plan, source, Profile::Smoke), None);
            assert_eq!(
                (plan.search.method, plan.search.width),
                (SearchMethod::Mlrsearch, 0.02)
            );
        }
    }
}
