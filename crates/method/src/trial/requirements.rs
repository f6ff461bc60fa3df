//! The results of the vectors of requirements that a device was sent: what each asks for, and what came. They are recorded in words, so that a report
//! needs neither the vectors nor the frames.

use crate::terms::{Direction, FrameRate, FrameSize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The results of a device, vector by vector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementResults {
    /// The load under which the vectors were sent once more, with its counts; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<RequirementLoad>,
    /// The vectors, in the order in which they were sent.
    pub vectors: Vec<JudgedVector>,
}

/// The result of one vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedVector {
    /// The name of the vector, unique among all.
    pub name: String,
    /// The RFC whose requirement it is.
    pub rfc: u32,
    /// The section of that RFC, or the clause of another one, which is written out.
    pub clause: String,
    /// The word by which the text asks for it.
    pub level: RequirementLevel,
    /// The requirement in one sentence.
    pub sentence: String,
    /// The finding.
    pub result: VectorResult,
    /// The name of the choice that the device made, where the text allows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The reason for the result, where the frames do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The frames that were sent, in the notation of vectors.
    pub sent: Vec<String>,
    /// The frames that are required and those that came. Empty if nothing is required and nothing came, and of an exchange, whose steps have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<JudgedFrame>,
    /// The steps of an exchange, up to the first that is not right; none of another vector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<JudgedStep>,
    /// The number of attempts.
    pub attempts: u32,
    /// True if the device's recipe or the plan names the vector as one that the device violates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_known: bool,
    /// The path of the capture with the frames of the last attempt, if one was written; in a results directory, the path within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
    /// The SHA-256 of that file, by which a later `sixbench conformance` knows it as its own to replace; a plan's run replaces nothing and has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture_sha256: Option<String>,
    /// The finding under load, where it is another one; absent where it is the same, or there was no load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_load: Option<Box<LoadedFinding>>,
}

/// What was found of a vector that was sent once more under load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadedFinding {
    /// The finding.
    pub result: VectorResult,
    /// The name of the choice that the device made, where the text allows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The reason for the result, where the frames do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The frames that are required and those that came, as of the vector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<JudgedFrame>,
    /// The steps of an exchange, as of the vector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<JudgedStep>,
    /// The number of attempts.
    pub attempts: u32,
    /// The path of the capture with the frames of the last attempt, if one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
    /// The SHA-256 of that file, by which a later run knows it as its own to replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture_sha256: Option<String>,
}

/// The violations that a recipe or a plan names, by what became of them. Each has the names of its vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownViolations<'v> {
    /// Those that the device shows, quietly or under load.
    pub there: Vec<&'v str>,
    /// Those that it does not show.
    pub gone: Vec<&'v str>,
    /// Those of which nothing is known: control frames were lost, or the device cannot be asked.
    pub unknown: Vec<&'v str>,
}

/// The line of reports: `2 still there (a, b), 1 gone (c)`.
impl fmt::Display for KnownViolations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = [
            (&self.there, "still there"),
            (&self.gone, "gone"),
            (&self.unknown, "without a result"),
        ];
        let groups = groups.into_iter().filter(|(names, _)| !names.is_empty());
        let words: Vec<String> = groups
            .map(|(names, word)| format!("{} {word} ({})", names.len(), names.join(", ")))
            .collect();
        f.write_str(&words.join(", "))
    }
}

/// The load beside vectors: what was asked for, and what became of its frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementLoad {
    /// The intended load: frames per second in each direction.
    pub rate: FrameRate,
    /// The frame size, octets of the IPv6 frame with FCS.
    pub frame_size: FrameSize,
    /// The number of trials that made the load, one after the other.
    pub trials: u32,
    /// The number of those in which the tester did not offer the intended load.
    pub invalid_trials: u32,
    /// The counts of each direction, over all trials.
    pub directions: Vec<LoadedDirection>,
}

/// The frames of the load in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadedDirection {
    /// The direction.
    pub direction: Direction,
    /// Frames that left the tester.
    pub offered: u64,
    /// Frames that came back right.
    pub received: u64,
    /// Frames that came back wrong: not the translation of what was sent, or damaged.
    pub wrong: u64,
}

/// A frame that was required, or that came, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedFrame {
    /// The required frame, in the notation of vectors; `None` of a frame that is not required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The frame that came; `None` if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<String>,
    /// The fields in which they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<FieldDifference>,
}

/// A field that has another value than the required one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldDifference {
    /// The field with its layer, such as `ipv6.tc`.
    pub field: String,
    /// The required value, in the notation of vectors.
    pub expected: String,
    /// The value that came.
    pub came: String,
}

/// One step of an exchange, as it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedStep {
    /// The wait before it, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// The frames that were sent, in the notation of vectors.
    pub sent: Vec<String>,
    /// The frames that are required and those that came.
    pub frames: Vec<JudgedFrame>,
    /// The values that got a name in this step, such as `$port=4096`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// The word by which the text of an RFC asks for something.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum RequirementLevel {
    /// An absolute requirement of BCP 14.
    #[serde(rename = "MUST")]
    Must,
    /// A rule that the text states without a word of BCP 14.
    #[serde(rename = "stated")]
    Stated,
    /// A requirement with exceptions.
    #[serde(rename = "SHOULD")]
    Should,
    /// A choice of the device.
    #[serde(rename = "MAY")]
    May,
}

/// The finding of a vector on a device.
// The order is from the worst to the best; comparisons rely on it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum VectorResult {
    /// Something else came than the clause requires.
    Wrong,
    /// A frame is required and none came, although the control frames did.
    NoAnswer,
    /// Control frames were lost, so silence says nothing.
    Unknown,
    /// What the clause requires came, and nothing else.
    Right,
    /// The device made a choice that the text allows.
    Allowed,
    /// The recipe does not have what the vector needs.
    NotApplicable,
}

impl RequirementLevel {
    /// All of them, the strongest first.
    pub const ALL: [Self; 4] = [Self::Must, Self::Stated, Self::Should, Self::May];

    /// Returns the word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Stated => "stated",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }
}

impl VectorResult {
    /// All of them, in the order of reports: what is wrong first.
    pub const ALL: [Self; 6] = [
        Self::Wrong,
        Self::NoAnswer,
        Self::Unknown,
        Self::Right,
        Self::Allowed,
        Self::NotApplicable,
    ];

    /// Returns its name in reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::NoAnswer => "no answer",
            Self::Unknown => "unknown",
            Self::Right => "right",
            Self::Allowed => "allowed",
            Self::NotApplicable => "not applicable",
        }
    }

    /// Returns whether the device does not do what the clause requires.
    pub fn is_violation(self) -> bool {
        match self {
            Self::Wrong | Self::NoAnswer => true,
            Self::Unknown | Self::Right | Self::Allowed | Self::NotApplicable => false,
        }
    }

    /// Returns whether the device does what the clause requires.
    pub fn is_met(self) -> bool {
        match self {
            Self::Right | Self::Allowed => true,
            Self::Wrong | Self::NoAnswer | Self::Unknown | Self::NotApplicable => false,
        }
    }
}

impl JudgedVector {
    /// Returns the clause with its RFC: `RFC 7915 section 4.1`. A clause of another RFC than the vector's is written out in it.
    pub fn citation(&self) -> String {
        if self.clause.starts_with("RFC ") {
            self.clause.clone()
        } else {
            format!("RFC {} section {}", self.rfc, self.clause)
        }
    }

    /// Returns whether nothing is known, because control frames were lost.
    pub fn is_unknown(&self) -> bool {
        self.result == VectorResult::Unknown
    }

    /// Returns whether a stop came before the vector was sent.
    pub fn was_not_sent(&self) -> bool {
        self.is_unknown() && self.attempts == 0
    }
}

impl FieldDifference {
    /// Returns the difference of a field.
    pub fn new(
        field: impl Into<String>,
        expected: impl fmt::Display,
        came: impl fmt::Display,
    ) -> Self {
        Self {
            field: field.into(),
            expected: expected.to_string(),
            came: came.to_string(),
        }
    }
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected {}, came {}",
            self.field, self.expected, self.came
        )
    }
}

impl From<Vec<JudgedVector>> for RequirementResults {
    /// Returns the results of vectors that were sent without a load.
    fn from(vectors: Vec<JudgedVector>) -> Self {
        Self {
            load: None,
            vectors,
        }
    }
}

impl RequirementResults {
    /// Returns the number of requirements that are met.
    pub fn met(&self) -> usize {
        self.count(|vector| vector.result.is_met())
    }

    /// Returns the number of requirements that are violated.
    pub fn violated(&self) -> usize {
        self.count(|vector| vector.result.is_violation())
    }

    /// Returns which of the violations that the recipe or the plan names are there, and which are gone; `None` if it names none of the vectors.
    pub fn known_violations(&self) -> Option<KnownViolations<'_>> {
        let mut known = KnownViolations::default();
        for vector in self.vectors.iter().filter(|vector| vector.is_known) {
            let names = if self.is_violated_at_all(vector) {
                &mut known.there
            } else if self.is_known_violation_gone(vector) {
                &mut known.gone
            } else {
                &mut known.unknown
            };
            names.push(&vector.name);
        }
        (known != KnownViolations::default()).then_some(known)
    }

    /// Returns the load, if the tester offered it in every trial. What was found beside a load that it did not offer says nothing of the device under it.
    pub fn offered_load(&self) -> Option<&RequirementLoad> {
        let load = self.load.as_ref();
        load.filter(|load| load.invalid_trials == 0)
    }

    /// Returns what was found of a vector under the load, where it is another finding than the quiet one; `None` if it is the same, or if the load was not
    /// offered.
    pub fn differing<'v>(&self, vector: &'v JudgedVector) -> Option<&'v LoadedFinding> {
        self.offered_load().and(vector.under_load.as_deref())
    }

    /// Returns the result of a vector under the load; `None` if the load was not offered, or if there was none.
    pub fn result_under_load(&self, vector: &JudgedVector) -> Option<VectorResult> {
        self.offered_load()?;
        let loaded = self.differing(vector);
        Some(loaded.map_or(vector.result, |loaded| loaded.result))
    }

    /// Returns whether the device violates the requirement under the load and not quietly.
    pub fn is_violated_under_load_alone(&self, vector: &JudgedVector) -> bool {
        !vector.result.is_violation() && self.is_violated_at_all(vector)
    }

    /// Returns whether the device violates the requirement, quietly or under the load, although nobody names it as known.
    pub fn is_new_violation(&self, vector: &JudgedVector) -> bool {
        self.is_violated_at_all(vector) && !vector.is_known
    }

    /// Returns whether the recipe or the plan names a violation that the device no longer shows, neither quietly nor under the load: nothing should excuse
    /// it any more.
    pub fn is_known_violation_gone(&self, vector: &JudgedVector) -> bool {
        vector.is_known && self.worst(vector).is_met()
    }

    /// Returns whether the device violates the requirement, quietly or under the load.
    pub fn is_violated_at_all(&self, vector: &JudgedVector) -> bool {
        self.worst(vector).is_violation()
    }

    /// Returns the worse result of a vector: the quiet one, or that under the load.
    pub fn worst(&self, vector: &JudgedVector) -> VectorResult {
        let loaded = self.result_under_load(vector).unwrap_or(vector.result);
        loaded.min(vector.result)
    }

    /// Returns the number of requirements with a result: those that are met and those that are violated.
    pub fn judged(&self) -> usize {
        self.met() + self.violated()
    }

    /// Returns the number of requirements of a level that are violated.
    pub fn violated_of(&self, level: RequirementLevel) -> usize {
        self.count(|vector| vector.level == level && vector.result.is_violation())
    }

    /// Returns the number of vectors with this finding.
    pub fn found(&self, finding: VectorResult) -> usize {
        self.count(|vector| vector.result == finding)
    }

    /// Returns the number of vectors that meet a condition.
    pub fn count(&self, condition: impl Fn(&JudgedVector) -> bool) -> usize {
        self.vectors
            .iter()
            .filter(|vector| condition(vector))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{judged_vector, loaded_finding, requirement_load};

    #[test]
    fn a_clause_of_another_rfc_is_cited_as_it_is_written() {
        let mut vector = judged_vector("v", RequirementLevel::Must, VectorResult::Right);
        assert_eq!(vector.citation(), "RFC 7915 section 4.1");
        vector.clause = "RFC 1812 section 5.2.2".to_owned();
        assert_eq!(vector.citation(), vector.clause);
    }

    #[test]
    fn a_violation_under_load_alone_is_new_unless_it_is_named_and_keeps_a_known_one() {
        use VectorResult::{NoAnswer, Right, Unknown, Wrong};
        let loaded = |result, under_load, is_known| JudgedVector {
            is_known,
            under_load: Some(Box::new(loaded_finding(under_load))),
            ..judged_vector("v", RequirementLevel::Must, result)
        };
        let results = RequirementResults {
            load: Some(requirement_load()),
            vectors: Vec::new(),
        };
        let broken = loaded(Right, NoAnswer, false);
        assert!(results.is_violated_under_load_alone(&broken));
        assert!(results.is_new_violation(&broken));
        let named = loaded(Right, NoAnswer, true);
        assert!(!results.is_new_violation(&named) && !results.is_known_violation_gone(&named));
        assert!(!results.is_violated_under_load_alone(&loaded(Wrong, NoAnswer, false)));
        assert!(!results.is_known_violation_gone(&loaded(Right, Unknown, true)));
        let mut same = loaded(Right, NoAnswer, true);
        same.under_load = None;
        assert!(results.is_known_violation_gone(&same));
        assert_eq!(results.result_under_load(&same), Some(Right));
    }

    #[test]
    fn what_was_found_beside_a_load_that_the_tester_did_not_offer_decides_nothing() {
        let vector = JudgedVector {
            under_load: Some(Box::new(loaded_finding(VectorResult::NoAnswer))),
            ..judged_vector("v", RequirementLevel::Must, VectorResult::Right)
        };
        let not_offered = RequirementLoad {
            invalid_trials: 1,
            ..requirement_load()
        };
        for load in [Some(not_offered), None] {
            let results = RequirementResults {
                load,
                vectors: Vec::new(),
            };
            assert!(!results.is_violated_under_load_alone(&vector));
            assert!(!results.is_new_violation(&vector));
            assert_eq!(results.result_under_load(&vector), None);
            assert_eq!(results.differing(&vector), None);
        }
    }

    #[test]
    fn known_violations_are_named_by_what_became_of_them() {
        use VectorResult::{Allowed, NoAnswer, NotApplicable, Right, Wrong};
        let vector = |name, result, is_known| JudgedVector {
            is_known,
            ..judged_vector(name, RequirementLevel::Should, result)
        };
        let results = RequirementResults::from(vec![
            vector("a", Wrong, true),
            vector("b", NoAnswer, true),
            vector("c", Allowed, true),
            vector("d", NotApplicable, true),
            vector("new", Wrong, false),
        ]);
        let known = results.known_violations().map(|known| known.to_string());
        let line = "2 still there (a, b), 1 gone (c), 1 without a result (d)";
        assert_eq!(known.as_deref(), Some(line));
        let nothing_named = RequirementResults::from(vec![vector("e", Right, false)]);
        assert_eq!(nothing_named.known_violations(), None);
    }

    #[test]
    fn every_finding_is_met_or_violated_or_says_nothing() {
        let vectors = VectorResult::ALL
            .map(|finding| judged_vector(finding.title(), RequirementLevel::Must, finding));
        let results = RequirementResults::from(vectors.to_vec());
        assert_eq!(
            (results.met(), results.violated(), results.judged()),
            (2, 2, 4)
        );
        assert_eq!(results.violated_of(RequirementLevel::Must), 2);
        assert_eq!(results.violated_of(RequirementLevel::Should), 0);
    }
}
