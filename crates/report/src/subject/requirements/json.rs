//! The requirements that a device meets and violates, with every vector.

use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::trial::{
    JudgedVector, RequirementLevel, RequirementLoad, RequirementResults, VectorResult,
};

/// The results of the vectors of a point, counted and one by one.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JsonRequirements<'a> {
    /// Requirements with a result.
    judged: usize,
    met: usize,
    violated: usize,
    /// Those among the violated ones whose text says MUST.
    musts_violated: usize,
    /// Those that neither the recipe nor the plan names, violated quietly or under load.
    new_violations: usize,
    /// Those that are violated under load and not quietly; absent where no load was offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    violated_under_load: Option<usize>,
    /// Vectors with another result under load than quietly; absent where no load was offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    differing_under_load: Option<usize>,
    /// Vectors around which control frames were lost, so that they have no result.
    unknown: usize,
    /// Vectors for which the recipe does not have what they need.
    not_applicable: usize,
    /// The load, with its counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<&'a RequirementLoad>,
    vectors: &'a [JudgedVector],
}

impl<'a> JsonRequirements<'a> {
    pub(super) fn new(results: &'a RequirementResults) -> Self {
        let offered = results.offered_load();
        Self {
            judged: results.judged(),
            met: results.met(),
            violated: results.violated(),
            musts_violated: results.violated_of(RequirementLevel::Must),
            new_violations: results.count(|vector| results.is_new_violation(vector)),
            violated_under_load: offered
                .map(|_| results.count(|vector| results.is_violated_under_load_alone(vector))),
            differing_under_load: offered
                .map(|_| results.count(|vector| results.differing(vector).is_some())),
            unknown: results.found(VectorResult::Unknown),
            not_applicable: results.found(VectorResult::NotApplicable),
            load: results.load.as_ref(),
            vectors: &results.vectors,
        }
    }
}
