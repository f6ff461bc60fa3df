//! The results of the vectors of requirements that a device was sent: what each asks for, and what came. They are recorded in words, so that a report
//! needs neither the vectors nor the frames.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The results of a device, vector by vector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementResults {
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
    /// The frames that are required and those that came. Empty if nothing is required and nothing came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<JudgedFrame>,
    /// The number of attempts.
    pub attempts: u32,
    /// True if the device's recipe or the plan names the vector as one that the device violates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_known: bool,
    /// The path of the capture with the frames of the last attempt within the results directory, if one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
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
    /// The differences, a field each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
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

    /// Returns whether the device violates the requirement although nobody names it as known.
    pub fn is_new_violation(&self) -> bool {
        self.result.is_violation() && !self.is_known
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
    use crate::fixtures::judged_vector;

    #[test]
    fn a_clause_of_another_rfc_is_cited_as_it_is_written() {
        let mut vector = judged_vector("v", RequirementLevel::Must, VectorResult::Right);
        assert_eq!(vector.citation(), "RFC 7915 section 4.1");
        vector.clause = "RFC 1812 section 5.2.2".to_owned();
        assert_eq!(vector.citation(), vector.clause);
    }

    #[test]
    fn every_finding_is_met_or_violated_or_says_nothing() {
        let vectors = VectorResult::ALL
            .map(|finding| judged_vector(finding.title(), RequirementLevel::Must, finding));
        let results = RequirementResults {
            vectors: vectors.to_vec(),
        };
        assert_eq!(
            (results.met(), results.violated(), results.judged()),
            (2, 2, 4)
        );
        assert_eq!(results.violated_of(RequirementLevel::Must), 2);
        assert_eq!(results.violated_of(RequirementLevel::Should), 0);
    }
}
