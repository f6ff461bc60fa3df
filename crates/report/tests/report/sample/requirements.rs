//! A run that measures the rates of two devices and asks one of them, or both, for requirements.

use super::Sample;
use sixbench_method::fixtures::judged_vector;
use sixbench_method::plan::{Measure, Point, RequirementTest, Test};
use sixbench_method::record::{FORMAT, TrialRecord};
use sixbench_method::replay::outcomes;
use sixbench_method::trial::{
    JudgedFrame, JudgedVector, RequirementLevel, RequirementResults, TrialOutcome, TrialResult,
    TrialSpec, VectorResult,
};

impl Sample {
    /// Returns a complete run in which these vectors were sent to TAYGA, beside its rates.
    pub(crate) fn with_requirements(vectors: Vec<JudgedVector>) -> Self {
        Self::complete().asked("tayga-right", "TAYGA", vectors)
    }

    /// Returns the run with one more test, of the requirements of the device `tayga`.
    pub(crate) fn asked(mut self, name: &str, title: &str, vectors: Vec<JudgedVector>) -> Self {
        let test = Test {
            title: title.to_owned(),
            measure: Measure::Requirements(RequirementTest::default()),
            ..Test::of(name, "tayga")
        };
        let point: Point = test.points().next().expect("a point");
        // All vectors of a translator: what the measure plans for them.
        let spec = TrialSpec::requirements(30_000_000_000);
        self.plan.tests.push(test);
        self.records.push(TrialRecord {
            format: FORMAT,
            point,
            repetition: 1,
            trial: 1,
            load: None,
            started: "2026-11-21T09:30:00Z".to_owned(),
            result: TrialResult {
                outcome: TrialOutcome::Requirements(Some(Box::new(RequirementResults { vectors }))),
                ..TrialResult::new(spec, vec![], vec![])
            },
            watch: None,
        });
        self.outcomes = [
            self.outcomes,
            outcomes(&self.plan, &self.records)
                .into_iter()
                .filter(|outcome| outcome.point.test == name)
                .collect(),
        ]
        .concat();
        self
    }
}

/// Returns vectors with every finding: a MUST and a SHOULD are violated, the latter known.
pub(crate) fn every_finding() -> Vec<JudgedVector> {
    use RequirementLevel::{Must, Should};
    let wrong = JudgedVector {
        frames: vec![JudgedFrame {
            expected: Some("6: ipv6(src=host4, dst=host6) / udp / payload(32)".to_owned()),
            came: Some("6: ipv6(src=host4, dst=host6) / udp / payload(31)".to_owned()),
            differences: vec!["ipv6.len: 40 required, 39 came".to_owned()],
        }],
        capture: Some("vectors/tayga-right-r1-t1-46-short.pcap".to_owned()),
        ..judged_vector("46-short", Must, VectorResult::Wrong)
    };
    let silent = JudgedVector {
        frames: vec![JudgedFrame {
            expected: Some("4: icmp(type=3, code=4, mtu=1260)".to_owned()),
            came: None,
            differences: vec![],
        }],
        is_known: true,
        ..judged_vector("64-too-big", Should, VectorResult::NoAnswer)
    };
    let chosen = JudgedVector {
        choice: Some("copied".to_owned()),
        ..judged_vector("46-tos", Should, VectorResult::Allowed)
    };
    vec![
        judged_vector("46-udp", Must, VectorResult::Right),
        silent,
        wrong,
        chosen,
        judged_vector("46-lost", Must, VectorResult::Unknown),
        judged_vector("46-unmapped", Must, VectorResult::NotApplicable),
    ]
}
