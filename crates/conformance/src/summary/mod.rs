//! The results of a device, counted by RFC and level, as text and as data.

mod text;

use crate::judge::{VectorJudgement, VectorResult};
use crate::notation::{RequirementLevel, Vector};
use serde::Serialize;

/// The version of the data's format.
const FORMAT: u32 = 1;

/// The outcome of one vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VectorOutcome {
    /// The RFC.
    pub rfc: u32,
    /// The section of the RFC.
    pub clause: String,
    /// The level of the requirement.
    pub level: RequirementLevel,
    /// The name of the vector.
    pub name: String,
    /// The requirement in one sentence.
    pub sentence: String,
    /// The frames that are sent, in the notation; of a vector for DNS servers, the lines of its zone and its query.
    pub send: Vec<String>,
    /// The number of attempts.
    pub attempts: u32,
    /// True if the recipe names the vector as one that shows a known defect.
    pub is_known_defect: bool,
    /// The name of the file with the frames of the last attempt, if one was written.
    pub capture: Option<String>,
    /// The SHA-256 of that file, by which a later run knows it as its own to replace.
    pub capture_sha256: Option<String>,
    /// The result, with its reasons.
    pub judgement: VectorJudgement,
}

impl VectorOutcome {
    /// Returns the outcome of a vector of an RFC.
    pub fn new(rfc: u32, vector: &Vector, judgement: VectorJudgement, attempts: u32) -> Self {
        Self {
            rfc,
            clause: vector.clause.clone(),
            level: vector.level,
            name: vector.name.clone(),
            sentence: vector.sentence.clone(),
            send: vector.sent_lines(),
            attempts,
            is_known_defect: false,
            capture: None,
            capture_sha256: None,
            judgement,
        }
    }
}

/// The results of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceResults {
    /// The version of this format.
    pub format: u32,
    /// The version of sixbench that sent the vectors.
    pub sixbench: String,
    /// The name of the device's recipe.
    pub device: String,
    /// The name of the device in reports.
    pub title: String,
    /// The version of the device.
    pub version: String,
    /// The outcomes, in the order of the files.
    pub vectors: Vec<VectorOutcome>,
}

impl DeviceResults {
    /// Returns the results of a device.
    pub fn new(device: &str, title: &str, version: &str, vectors: Vec<VectorOutcome>) -> Self {
        Self {
            format: FORMAT,
            sixbench: env!("CARGO_PKG_VERSION").to_owned(),
            device: device.to_owned(),
            title: title.to_owned(),
            version: version.to_owned(),
            vectors,
        }
    }

    /// Returns the results, with these vectors marked as showing known defects.
    pub fn with_known_defects(mut self, names: &[String]) -> Self {
        for vector in &mut self.vectors {
            vector.is_known_defect = names.contains(&vector.name);
        }
        self
    }

    /// Returns the number of vectors with a result.
    pub fn count(&self, result: VectorResult) -> usize {
        self.vectors
            .iter()
            .filter(|vector| vector.judgement.result == result)
            .count()
    }

    /// Returns the number of violated requirements of a level.
    pub fn violations(&self, level: RequirementLevel) -> usize {
        self.vectors
            .iter()
            .filter(|vector| vector.level == level && vector.judgement.result.is_violation())
            .count()
    }
}
