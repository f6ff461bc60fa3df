//! The broadcast frames in the load of a test (RFC 2544 section 11.1).

use crate::reader::Section;
use sixbench_method::measures::Keys;
use sixbench_method::plan::{BroadcastConflict, ConditionedTrials, TrafficSettings};
use sixbench_method::units::{self, ValueError, expected};

/// The key of the share of broadcast frames.
const BROADCAST: &str = "broadcast";

/// The share of broadcast frames: one of so many frames, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BroadcastShare {
    pub(crate) every: Option<u32>,
}

impl BroadcastShare {
    /// Returns the per cent of the frames that are broadcast.
    pub(crate) fn percent(self) -> f64 {
        self.every.map_or(0.0, |every| 100.0 / f64::from(every))
    }
}

/// Reads the shares of broadcast frames, each a step of a series.
pub(crate) fn read_broadcasts(section: &Section<'_>) -> Vec<BroadcastShare> {
    if section.is_empty_list(BROADCAST) {
        section.mistake(BROADCAST, "at least one share is needed");
    }
    section.list(BROADCAST, broadcast_share).unwrap_or_default()
}

fn broadcast_share(text: &str) -> Result<BroadcastShare, ValueError> {
    let share = units::share(text)?;
    if share == 0.0 {
        return Ok(BroadcastShare { every: None });
    }
    let every = (1.0 / share).round();
    let is_even = (1.0 / every - share).abs() < 1e-9;
    if is_even && TrafficSettings::BROADCAST_EVERY.contains(every) {
        return Ok(BroadcastShare {
            every: Some(every as u32),
        });
    }
    Err(expected(
        "0% or the share of one in 2 to 1000 frames, such as \"1%\" or \"0.5%\"",
        text,
    ))
}

/// Reports broadcast frames in trials that cannot have them.
pub(crate) fn check_broadcasts(
    section: &Section<'_>,
    shares: &[BroadcastShare],
    trials: &ConditionedTrials<'_>,
) {
    const ALONE: &str = "leave it out: broadcast frames are for a constant load whose loss is counted (throughput, frame-loss-rate, soak) without state";
    let family = trials.measure.family();
    let asks_for_some = shares.iter().any(|share| share.every.is_some());
    // Queries and vectors are told elsewhere.
    if !asks_for_some || !family.has_load() || family.is_answered() {
        return;
    }
    let (title, help) = match trials.broadcast_conflict() {
        Some(BroadcastConflict::State) => (
            format!("`{BROADCAST}` does not apply to a stateful test"),
            ALONE,
        ),
        Some(BroadcastConflict::Measure) => (
            format!("`{BROADCAST}` does not apply to {}", trials.measure.name()),
            ALONE,
        ),
        Some(BroadcastConflict::Mix) => (
            format!("`{BROADCAST}` contradicts another mix of frames"),
            "leave `background` and mixed frame sizes out: RFC 2544 section 11 repeats a test under each condition separately",
        ),
        None => return,
    };
    section.mistake_with_help(BROADCAST, title, help);
}

#[cfg(test)]
mod tests {
    use crate::{fixture_tests, parse};

    #[test]
    fn a_share_of_broadcast_frames_is_one_in_a_whole_number_and_is_kept_in_the_resolved_plan() {
        let source = fixture_tests::plan(|_| "relay", &["broadcast = [\"0%\", \"1%\", \"0.5%\"]"]);
        let plan = parse(&source, &["relay"]).expect("a plan").plan;
        let steps: Vec<(&str, Option<u32>)> = plan
            .tests
            .iter()
            .map(|test| (test.name.as_str(), test.traffic.broadcast_every))
            .collect();
        assert_eq!(
            steps,
            [
                ("t0.broadcast0", None),
                ("t0.broadcast1", Some(100)),
                ("t0.broadcast0.5", Some(200))
            ]
        );
        let resolved = crate::resolved::write(&plan, &source, "").expect("text");
        let again = parse(&resolved, &["relay"]).expect("a resolved plan").plan;
        assert_eq!(again, plan);
        let spoilt = resolved.replace("broadcast-every = 100\n", "broadcast-every = 1\n");
        let mistakes = fixture_tests::mistakes(&spoilt, &["relay"]);
        assert!(mistakes.contains("broadcast-every"), "{mistakes}");
    }

    #[test]
    fn broadcast_frames_that_make_no_sense_are_told_each_at_its_line() {
        let tests = [
            "broadcast = \"3%\"",
            "broadcast = \"100%\"",
            "broadcast = []",
            "broadcast = \"1%\"\nmeasure = \"latency\"",
            "broadcast = \"1%\"\nmeasure = \"back-to-back\"",
            "broadcast = \"1%\"\nconnections = \"1k\"",
            "broadcast = \"1%\"\nbackground = \"50%\"",
            "broadcast = \"1%\"\nframe-sizes = \"imix\"",
            "broadcast = [\"0%\", \"1%\"]\nfilters = [0, 1]",
        ];
        insta::assert_snapshot!(fixture_tests::mistakes(
            &fixture_tests::plan(|_| "relay", &tests),
            &["relay"]
        ));
    }
}
