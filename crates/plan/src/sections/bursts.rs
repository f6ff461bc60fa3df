//! The bursts in which the frames of a test are sent (RFC 2544 section 21).

use crate::defaults::PlanDefaults;
use crate::reader::Section;
use crate::reader::words::count;
use sixbench_method::measures::Keys;
use sixbench_method::plan::{BurstConflict, ConditionedTrials, Measure, TrafficSettings};
use sixbench_method::terms::FrameRate;
use sixbench_method::terms::bounds::NumberBound;
use sixbench_method::units::show_ns;
use std::num::NonZeroU32;

/// The key of the frames of a burst.
const BURST: &str = "burst";

/// The frames of a burst; 1 is a frame at its own time.
const FRAMES: NumberBound = NumberBound::new(1.0, TrafficSettings::MOST_BURST);

/// Reads the numbers of frames of a burst, each a step of a series. Those of queries belong to their measure.
pub(crate) fn read_bursts(section: &Section<'_>, measure: &Measure) -> Vec<u32> {
    if measure.family().is_answered() {
        return Vec::new();
    }
    if section.is_empty_list(BURST) {
        section.mistake(BURST, "at least one number of frames is needed");
    }
    section
        .numbers(BURST, |text| count(text, FRAMES))
        .unwrap_or_default()
}

/// Returns the frames of a burst, as a test has them; `None` for frames at their own times.
pub(crate) fn burst_of(frames: u32) -> Option<NonZeroU32> {
    NonZeroU32::new(frames).filter(|frames| frames.get() > 1)
}

/// Reports bursts that the trials of the test cannot have.
pub(crate) fn check_bursts(section: &Section<'_>, bursts: &[u32], trials: &ConditionedTrials<'_>) {
    let is_asked_for = bursts.iter().any(|frames| burst_of(*frames).is_some());
    // Vectors are told elsewhere.
    if !is_asked_for || !trials.measure.family().has_load() {
        return;
    }
    let (title, help) = match trials.burst_conflict() {
        Some(BurstConflict::Measure) => (
            format!("`{BURST}` does not apply to {}", trials.measure.name()),
            "leave it out: bursts are for a load of frames that is held from the first to the last frame",
        ),
        Some(BurstConflict::FlowStep) => (
            format!("`{BURST}` contradicts `flow-step`"),
            "leave one of them out: with `flow-step`, the rate rises with each flow that starts",
        ),
        None => return,
    };
    section.mistake_with_help(BURST, title, help);
}

/// Reports bursts that are longer than every trial of a search up to the rate `highest`.
pub(crate) fn check_length(
    section: &Section<'_>,
    bursts: &[u32],
    measure: &Measure,
    highest: FrameRate,
    defaults: &PlanDefaults<'_>,
) {
    let longest = bursts.iter().copied().max().unwrap_or(1);
    let duration_ns = defaults.trial.duration_ns;
    let most = highest.frames_in(duration_ns);
    if !measure.is_searched_rate() || u64::from(longest) <= most {
        return;
    }
    section.mistake_with_help(
        BURST,
        format!("a trial at the highest rate is shorter than a burst of {longest} frames"),
        format!(
            "at {} frames/s for {} it has {most} frames: raise `maximum`, or `duration` in [trial]",
            highest.0,
            show_ns(duration_ns),
        ),
    );
}

#[cfg(test)]
mod tests {
    use crate::{fixture_tests, parse};
    use sixbench_method::plan::SeriesBy;

    #[test]
    fn the_frames_of_a_burst_are_the_steps_of_a_series_and_are_kept_in_the_resolved_plan() {
        let source = fixture_tests::plan(|_| "relay", &["burst = [1, 16, 64, 256, 1024]"]);
        let plan = parse(&source, &["relay"]).expect("a plan").plan;
        let steps: Vec<(&str, &str, Option<u32>)> = plan
            .tests
            .iter()
            .map(|test| {
                let burst = test.traffic.burst.map(|frames| frames.get());
                (test.name.as_str(), test.title.as_str(), burst)
            })
            .collect();
        assert_eq!(
            steps,
            [
                ("t0.burst1", "t0, single frames", None),
                ("t0.burst16", "t0, bursts of 16", Some(16)),
                ("t0.burst64", "t0, bursts of 64", Some(64)),
                ("t0.burst256", "t0, bursts of 256", Some(256)),
                ("t0.burst1024", "t0, bursts of 1024", Some(1024)),
            ]
        );
        let series = plan.tests[2].series.as_ref();
        assert_eq!(
            series.map(|of| (of.by, of.at)),
            Some((SeriesBy::Burst, 64.0))
        );
        let resolved = crate::resolved::write(&plan, &source, "").expect("text");
        let again = parse(&resolved, &["relay"]).expect("a resolved plan").plan;
        assert_eq!(again, plan);
        let spoilt = resolved.replace("burst = 64\n", "burst = 1\n");
        let mistakes = fixture_tests::mistakes(&spoilt, &["relay"]);
        assert!(mistakes.contains("burst"), "{mistakes}");
    }

    #[test]
    fn bursts_that_make_no_sense_are_told_each_at_its_line() {
        let tests = [
            "burst = 0",
            "burst = 65537",
            "burst = []",
            "burst = 16\nmeasure = \"back-to-back\"",
            "burst = 16\nmeasure = \"response-time\"\nclients = 2",
            "burst = 16\nmeasure = \"tcp-establishment-rate\"",
            "burst = 16\nmeasure = \"conformance\"",
            "burst = 16\nflows = 4\nflow-step = \"100ms\"",
            "burst = [1, 16]\nfilters = [0, 1]",
        ];
        insta::assert_snapshot!(fixture_tests::mistakes(
            &fixture_tests::plan(|_| "relay", &tests),
            &["relay"]
        ));
        let short = "[search]\nminimum = 10\nmaximum = 100\n[trial]\nduration = \"1s\"\n";
        let source = format!(
            "name = \"p\"\n{short}[[test]]\nname = \"t\"\ndut = \"relay\"\nburst = [64, 256]\n"
        );
        let with_own_maximum = format!("{source}maximum = \"1k\"\n");
        assert!(parse(&with_own_maximum, &["relay"]).is_ok());
        let mistakes = fixture_tests::mistakes(&source, &["relay"]);
        assert!(
            mistakes.contains("a trial at the highest rate is shorter than a burst of 256 frames"),
            "{mistakes}"
        );
    }
}
