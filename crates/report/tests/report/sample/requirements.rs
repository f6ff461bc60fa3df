//! A run that measures the rates of two devices and asks one of them, or both, for requirements.

use super::Sample;
use sixbench_method::fixtures::{
    judged_vector, loaded_finding, requirement_load, requirement_record_under, requirement_test,
};
use sixbench_method::plan::{Measure, RequirementTest, Test};
use sixbench_method::record::DutFacts;
use sixbench_method::replay::outcomes;
use sixbench_method::trial::{
    FieldDifference, JudgedFrame, JudgedVector, LoadedFinding, RequirementLevel,
    RequirementResults, VectorResult,
};

impl Sample {
    /// Returns a complete run in which these vectors were sent to TAYGA, beside its rates.
    pub(crate) fn with_requirements(vectors: Vec<JudgedVector>) -> Self {
        Self::complete().asked("tayga-right", "TAYGA", vectors)
    }

    /// Returns the run with one more test, of the requirements of the device `tayga`.
    pub(crate) fn asked(self, name: &str, title: &str, vectors: Vec<JudgedVector>) -> Self {
        self.asked_of("tayga", name, title, vectors)
    }

    /// Returns the same sample of any device.
    pub(crate) fn asked_of(
        self,
        dut: &str,
        name: &str,
        title: &str,
        results: impl Into<RequirementResults>,
    ) -> Self {
        let test = Test {
            title: title.to_owned(),
            ..requirement_test(name, dut)
        };
        self.with_vectors_of(test, results.into())
    }

    /// Returns a complete run in which TAYGA was asked under load as well, beside its rates.
    pub(crate) fn under_load(vectors: Vec<JudgedVector>) -> Self {
        let load = requirement_load();
        let selection = RequirementTest {
            under_load: Some(load.rate),
            ..RequirementTest::default()
        };
        let test = Test {
            title: "TAYGA".to_owned(),
            measure: Measure::Requirements(selection),
            ..requirement_test("tayga-busy", "tayga")
        };
        let results = RequirementResults {
            load: Some(load),
            vectors,
        };
        Self::complete().with_vectors_of(test, results)
    }

    /// Returns the run with one more test, and what its vectors found.
    fn with_vectors_of(mut self, test: Test, results: RequirementResults) -> Self {
        let (name, dut, title) = (test.name.clone(), test.dut.clone(), test.title.clone());
        let RequirementResults { load, vectors } = results;
        self.records
            .push(requirement_record_under(load, &test, vectors));
        self.plan.tests.push(test);
        let device = || DutFacts {
            title,
            ..DutFacts::default()
        };
        let facts = &mut self.facts.duts;
        facts.entry(dut).or_insert_with(device);
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
            differences: vec![FieldDifference::new("ipv6.len", 40, 39)],
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

/// Returns the same vectors as they are under load: one that is right quietly is not answered, and one that is wrong is lost.
pub(crate) fn every_finding_under_load() -> Vec<JudgedVector> {
    let mut vectors = every_finding();
    let mut set = |name: &str, loaded: LoadedFinding| {
        let vector = vectors.iter_mut().find(|vector| vector.name == name);
        vector.expect("the vector").under_load = Some(Box::new(loaded));
    };
    let expected = "6: ipv6(src=host4, dst=host6) / udp / payload(32)";
    let lost = JudgedFrame {
        expected: Some(expected.to_owned()),
        came: None,
        differences: vec![],
    };
    let silent = LoadedFinding {
        frames: vec![lost],
        capture: Some("vectors/tayga-busy-r1-t1-46-udp-under-load.pcap".to_owned()),
        ..loaded_finding(VectorResult::NoAnswer)
    };
    set("46-udp", silent);
    set("46-short", loaded_finding(VectorResult::Unknown));
    vectors
}

#[allow(dead_code, reason = "the tests of pages use it")]
/// Returns as many vectors as a translator may be sent, of which the device violates every `nth`.
pub(crate) fn many(nth: usize) -> Vec<JudgedVector> {
    (0..120)
        .map(|number| {
            let level = RequirementLevel::ALL[number % 3];
            let result = match number % nth {
                0 if number % 2 == 0 => VectorResult::NoAnswer,
                0 => VectorResult::Wrong,
                _ => VectorResult::Right,
            };
            judged_vector(&format!("46-vector-with-a-name-{number}"), level, result)
        })
        .collect()
}
