//! What stands where a plan file says nothing, by profile.

use sixbench_method::plan::{Plan, Profile};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{RepetitionStart, SearchMethod, SearchSettings};
use sixbench_method::terms::{FrameRate, LossRatio};
use sixbench_method::trial::TrialSettings;

/// The settings of the rest of the file that matter to tests.
pub(super) struct PlanDefaults<'a> {
    pub(super) profile: Profile,
    pub(super) trial: TrialSettings,
    pub(super) search: &'a SearchSettings,
    /// True if the file names the method of the search.
    pub(super) is_method_given: bool,
    pub(super) link_rate: Option<u64>,
    pub(super) duts: &'a [&'a str],
    /// The machines of `[testbed]`, by the names that ssh knows.
    pub(super) machines: &'a [&'a str],
}

const SECOND: u64 = 1_000_000_000;

/// Returns the trial settings of a profile.
pub fn standard_trial(profile: Profile) -> TrialSettings {
    let of = |duration_ns, residual_ns, rest_ns| TrialSettings {
        duration_ns,
        residual_ns,
        rest_ns,
        frame_timeout_ns: 0,
        stall_ns: SECOND / 1000,
    };
    match profile {
        Profile::Smoke => of(SECOND * 3 / 4, SECOND / 5, SECOND / 20),
        Profile::Draft => of(10 * SECOND, 2 * SECOND, SECOND),
        // RFC 2544 section 24: at least 60 s; section 23: 2 s for residual frames, at least 5 s of rest.
        Profile::Rfc | Profile::Custom => of(60 * SECOND, 2 * SECOND, 5 * SECOND),
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
    }
}

/// Returns how the searches of later repetitions begin. By the RFCs every repetition is a measurement of its own.
fn standard_start(profile: Profile) -> RepetitionStart {
    match profile {
        Profile::Smoke | Profile::Draft => RepetitionStart::Dithered,
        Profile::Rfc | Profile::Custom => RepetitionStart::Cold,
    }
}

/// Turns a resolved plan into one of another profile: durations, repetitions and width follow the profile.
pub fn apply_profile(plan: &mut Plan, profile: Profile) {
    let search = standard_search(profile);
    plan.profile = profile;
    plan.trial = TrialSettings { frame_timeout_ns: plan.trial.frame_timeout_ns, ..standard_trial(profile) };
    plan.search.width = search.width;
    plan.search.start = search.start;
    plan.search.method = if plan.search.goals.len() > 1 { SearchMethod::Mlrsearch } else { search.method };
    for test in &mut plan.tests {
        test.repetitions = Repetition::Fixed(standard_repetitions(profile));
        if let Some(stateful) = &mut test.stateful {
            stateful.timeout_ns = plan.trial.residual_ns;
        }
        // Durations that are a measure's own are those of a plan that says nothing of them.
        if let Some(settings) = test.measure.settings_mut() {
            settings.follow(profile, plan.trial.duration_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests::SMALLEST;
    use crate::load;
    use sixbench_testbed::Library;
    use std::path::Path;

    #[test]
    fn repetitions_of_rfc_begin_cold_and_those_of_shorter_profiles_dithered() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let plan = |profile| load(&format!("profile = \"{profile}\"\n{SMALLEST}"), &library).expect("a plan").plan;
        let starts = [
            ("rfc", Profile::Rfc, RepetitionStart::Cold),
            ("draft", Profile::Draft, RepetitionStart::Dithered),
            ("smoke", Profile::Smoke, RepetitionStart::Dithered),
        ];
        for (name, profile, start) in starts {
            assert_eq!(plan(name).search.start, start, "{name}");
            for other in ["rfc", "draft", "smoke"] {
                let mut plan = plan(other);
                apply_profile(&mut plan, profile);
                assert_eq!(plan.search.start, start, "{other} as {name}");
            }
        }
    }
}
