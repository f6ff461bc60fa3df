//! The outcome of a device: what was found of each vector, quietly and under load.

use super::LoadedConformance;
use sixbench_conformance::{Vector, judged_vector, loaded_finding};
use sixbench_engine::conformance::VectorRecord;
use sixbench_method::record::DutFacts;
use sixbench_method::trial::{JudgedVector, RequirementResults};

/// A vector with the number of its RFC.
#[derive(Clone, Copy, Debug)]
pub struct RfcVector<'f> {
    /// The number of the RFC.
    pub rfc: u32,
    /// The vector.
    pub vector: &'f Vector,
}

/// The outcome of a device.
pub struct DeviceConformance {
    /// The facts of the device, with its version as its recipe prints it.
    pub facts: DutFacts,
    /// The outcomes of the vectors, in their order.
    pub records: Vec<VectorRecord>,
    /// The outcomes of the same vectors under load, if there was one.
    pub under_load: Option<LoadedConformance>,
    /// True if a stop was requested before all vectors were sent: those that were not have an unknown result.
    pub is_interrupted: bool,
}

impl DeviceConformance {
    /// Returns what was found of the vectors that were sent, in their order, with what differs under load and the counts of the load.
    pub fn results(&self, vectors: &[RfcVector<'_>]) -> RequirementResults {
        let mut judged: Vec<JudgedVector> = vectors
            .iter()
            .zip(&self.records)
            .map(|(sent, record)| {
                let judgement = record.judgement.clone();
                judged_vector(sent.rfc, sent.vector, judgement, record.attempts)
            })
            .collect();
        for (vector, record) in judged.iter_mut().zip(self.loaded_records()) {
            vector.under_load = loaded_finding(vector, record.judgement.clone(), record.attempts);
        }
        RequirementResults {
            load: self.under_load.as_ref().map(|loaded| loaded.load.clone()),
            vectors: judged,
        }
    }

    /// Returns the outcomes under load, in the order of the vectors; none if there was no load.
    pub fn loaded_records(&self) -> &[VectorRecord] {
        let loaded = self.under_load.as_ref();
        loaded.map_or(&[], |loaded| &loaded.records)
    }
}
