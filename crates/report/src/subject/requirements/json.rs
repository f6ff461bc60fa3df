//! The requirements that a device meets and violates, with every vector.

use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::trial::{JudgedVector, RequirementLevel, RequirementResults, VectorResult};

/// The results of the vectors of a point, counted and one by one.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JsonRequirements<'a> {
    /// Requirements with a result.
    judged: usize,
    met: usize,
    violated: usize,
    /// Those among the violated ones whose text says MUST.
    musts_violated: usize,
    /// Those among the violated ones that neither the recipe nor the plan names.
    new_violations: usize,
    /// Vectors around which control frames were lost, so that they have no result.
    unknown: usize,
    /// Vectors for which the recipe does not have what they need.
    not_applicable: usize,
    vectors: &'a [JudgedVector],
}

impl<'a> JsonRequirements<'a> {
    pub(super) fn new(results: &'a RequirementResults) -> Self {
        Self {
            judged: results.judged(),
            met: results.met(),
            violated: results.violated(),
            musts_violated: results.violated_of(RequirementLevel::Must),
            new_violations: results.count(JudgedVector::is_new_violation),
            unknown: results.found(VectorResult::Unknown),
            not_applicable: results.found(VectorResult::NotApplicable),
            vectors: &results.vectors,
        }
    }
}
