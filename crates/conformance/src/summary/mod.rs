//! The results of a device as text and as data, and what a vector found as plans and reports keep it.

mod loaded;
mod text;

use crate::judge::VectorJudgement;
use crate::notation::Vector;
pub use loaded::loaded_finding;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::trial::{JudgedVector, RequirementLevel, RequirementResults, VectorResult};

/// The version of the data's format.
const FORMAT: u32 = 1;

/// Returns the result of a vector of an RFC, with what the vector asks for. Nobody has named it as known, and it has no capture yet.
pub fn judged_vector(
    rfc: u32,
    vector: &Vector,
    judgement: VectorJudgement,
    attempts: u32,
) -> JudgedVector {
    let VectorJudgement {
        result,
        alternative,
        reason,
        frames,
        steps,
    } = judgement;
    JudgedVector {
        name: vector.name.clone(),
        rfc,
        clause: vector.clause.clone(),
        level: vector.level,
        sentence: vector.sentence.clone(),
        result,
        choice: alternative,
        reason,
        sent: vector.sent_lines(),
        // The steps of an exchange have those of the last one as well.
        frames: if steps.is_empty() { frames } else { Vec::new() },
        steps,
        attempts,
        is_known: false,
        capture: None,
        capture_sha256: None,
        under_load: None,
    }
}

/// The results of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The results of the vectors, in the order of the files, and the load under which they were sent once more.
    #[serde(flatten)]
    pub requirements: RequirementResults,
    /// The options with which the device was asked, for the command that asks it once more; empty or with a space before them.
    #[serde(skip)]
    pub options: String,
}

impl DeviceResults {
    /// Returns the results of a device.
    pub fn new(device: &str, title: &str, version: &str, requirements: RequirementResults) -> Self {
        Self {
            format: FORMAT,
            sixbench: env!("CARGO_PKG_VERSION").to_owned(),
            device: device.to_owned(),
            title: title.to_owned(),
            version: version.to_owned(),
            requirements,
            options: String::new(),
        }
    }

    /// Returns the results of a device that was asked with these options of the command line.
    pub fn with_options(self, options: String) -> Self {
        Self { options, ..self }
    }

    /// Returns the results, with these vectors marked as showing known defects.
    pub fn with_known_defects(mut self, names: &[String]) -> Self {
        for vector in &mut self.requirements.vectors {
            vector.is_known = names.contains(&vector.name);
        }
        self
    }

    /// Returns true if a vector has this result, quietly or under load.
    pub fn has_any(&self, is_it: impl Fn(RequirementLevel, VectorResult) -> bool) -> bool {
        self.requirements.vectors.iter().any(|vector| {
            let loaded = self.requirements.result_under_load(vector);
            let mut results = [vector.result].into_iter().chain(loaded);
            results.any(|result| is_it(vector.level, result))
        })
    }
}
