//! What a trial counted beside the frames, connections or queries of each direction: one of four kinds, as its kind is.

use super::{
    Connections, DirectionResult, Fault, RequirementResults, TrialKind, TrialResult, TrialSpec,
    dns::DnsResult, tcp::TcpResult,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is counted besides, by what a trial sends. Each kind is `None` where nothing was sent, and a fault says why.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialOutcome {
    /// Frames; the result of phase 1 in a trial of a stateful gateway (RFC 9693).
    Frames(Option<Box<Connections>>),
    /// TCP connections (RFC 3511).
    Tcp(Option<Box<TcpResult>>),
    /// DNS queries (RFC 8219 section 9).
    Queries(Option<Box<DnsResult>>),
    /// Vectors of requirements.
    Requirements(Option<Box<RequirementResults>>),
}

impl TrialOutcome {
    /// Returns the outcome of a trial of this kind that has counted nothing yet.
    fn none_of(kind: TrialKind) -> Self {
        match kind {
            TrialKind::Queries => Self::Queries(None),
            TrialKind::Requirements => Self::Requirements(None),
            TrialKind::TcpRate | TrialKind::TcpCapacity { .. } => Self::Tcp(None),
            TrialKind::Constant
            | TrialKind::Burst
            | TrialKind::Drop { .. }
            | TrialKind::Ramp { .. }
            | TrialKind::Reset { .. }
            | TrialKind::Establish { .. }
            | TrialKind::TearDown { .. }
            | TrialKind::Response => Self::Frames(None),
        }
    }
}

impl TrialResult {
    /// Creates the result of a trial with nothing counted beside the directions.
    pub fn new(spec: TrialSpec, directions: Vec<DirectionResult>, faults: Vec<Fault>) -> Self {
        Self {
            spec,
            directions,
            outcome: TrialOutcome::none_of(spec.kind),
            faults,
        }
    }

    /// Returns the result of phase 1, in a trial of a stateful gateway.
    pub fn phase_one_result(&self) -> Option<&Connections> {
        match &self.outcome {
            TrialOutcome::Frames(connections) => connections.as_deref(),
            TrialOutcome::Tcp(_) | TrialOutcome::Queries(_) | TrialOutcome::Requirements(_) => None,
        }
    }

    /// Returns the result of phase 1, to complete it.
    pub fn phase_one_result_mut(&mut self) -> Option<&mut Connections> {
        match &mut self.outcome {
            TrialOutcome::Frames(connections) => connections.as_deref_mut(),
            TrialOutcome::Tcp(_) | TrialOutcome::Queries(_) | TrialOutcome::Requirements(_) => None,
        }
    }

    /// Returns the result of TCP connections, in a trial of those.
    pub fn tcp(&self) -> Option<&TcpResult> {
        match &self.outcome {
            TrialOutcome::Tcp(tcp) => tcp.as_deref(),
            TrialOutcome::Frames(_) | TrialOutcome::Queries(_) | TrialOutcome::Requirements(_) => {
                None
            }
        }
    }

    /// Returns the result of DNS queries, in a trial of those.
    pub fn dns(&self) -> Option<&DnsResult> {
        match &self.outcome {
            TrialOutcome::Queries(dns) => dns.as_deref(),
            TrialOutcome::Frames(_) | TrialOutcome::Tcp(_) | TrialOutcome::Requirements(_) => None,
        }
    }

    /// Returns the results of vectors, in a trial of those.
    pub fn requirements(&self) -> Option<&RequirementResults> {
        match &self.outcome {
            TrialOutcome::Requirements(requirements) => requirements.as_deref(),
            TrialOutcome::Frames(_) | TrialOutcome::Tcp(_) | TrialOutcome::Queries(_) => None,
        }
    }
}

/// A result as records have it: each kind of outcome is a key of its own.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct RecordedResult {
    spec: TrialSpec,
    directions: Vec<DirectionResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connections: Option<Box<Connections>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tcp: Option<Box<TcpResult>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dns: Option<Box<DnsResult>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requirements: Option<Box<RequirementResults>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Fault>,
}

impl From<RecordedResult> for TrialResult {
    fn from(recorded: RecordedResult) -> Self {
        let RecordedResult {
            spec,
            directions,
            connections,
            tcp,
            dns,
            requirements,
            faults,
        } = recorded;
        let outcome = match TrialOutcome::none_of(spec.kind) {
            TrialOutcome::Frames(_) => TrialOutcome::Frames(connections),
            TrialOutcome::Tcp(_) => TrialOutcome::Tcp(tcp),
            TrialOutcome::Queries(_) => TrialOutcome::Queries(dns),
            TrialOutcome::Requirements(_) => TrialOutcome::Requirements(requirements),
        };
        Self {
            spec,
            directions,
            outcome,
            faults,
        }
    }
}

impl From<TrialResult> for RecordedResult {
    fn from(result: TrialResult) -> Self {
        let TrialResult {
            spec,
            directions,
            outcome,
            faults,
        } = result;
        let recorded = Self {
            spec,
            directions,
            connections: None,
            tcp: None,
            dns: None,
            requirements: None,
            faults,
        };
        match outcome {
            TrialOutcome::Frames(connections) => Self {
                connections,
                ..recorded
            },
            TrialOutcome::Tcp(tcp) => Self { tcp, ..recorded },
            TrialOutcome::Queries(dns) => Self { dns, ..recorded },
            TrialOutcome::Requirements(requirements) => Self {
                requirements,
                ..recorded
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{judged_vector, requirement_load};
    use crate::terms::{Direction, FrameRate};
    use crate::trial::{RequirementLevel, VectorResult};

    fn read_again(result: &TrialResult) -> TrialResult {
        serde_json::from_str(&serde_json::to_string(result).expect("text")).expect("a result")
    }

    #[test]
    fn every_kind_of_outcome_is_read_as_it_was_written() {
        let of = |kind, outcome| {
            let spec = TrialSpec {
                kind,
                ..TrialSpec::constant(FrameRate(1000), 1_000_000_000)
            };
            let directions = vec![DirectionResult::counted(Direction::Forward, 1000, 999)];
            TrialResult {
                outcome,
                ..TrialResult::new(spec, directions, vec![])
            }
        };
        let dns = DnsResult {
            timeout_ns: 7,
            ..DnsResult::default()
        };
        let results = [
            of(TrialKind::Constant, TrialOutcome::Frames(None)),
            of(
                TrialKind::Constant,
                TrialOutcome::Frames(Some(Box::new(Connections {
                    established: 7,
                    ..Connections::default()
                }))),
            ),
            of(TrialKind::TcpRate, TrialOutcome::Tcp(None)),
            of(
                TrialKind::Queries,
                TrialOutcome::Queries(Some(Box::new(dns))),
            ),
            of(
                TrialKind::Requirements,
                TrialOutcome::Requirements(Some(Box::new(RequirementResults {
                    load: Some(requirement_load()),
                    vectors: VectorResult::ALL
                        .map(|finding| judged_vector("v", RequirementLevel::Stated, finding))
                        .to_vec(),
                }))),
            ),
        ];
        for result in &results {
            assert_eq!(&read_again(result), result);
        }
    }

    #[test]
    fn records_have_a_key_for_each_kind_of_outcome() {
        let spec = TrialSpec {
            kind: TrialKind::Queries,
            ..TrialSpec::constant(FrameRate(1), 1_000_000_000)
        };
        let outcome = TrialOutcome::Queries(Some(Box::default()));
        let result = TrialResult {
            outcome,
            ..TrialResult::new(spec, vec![], vec![])
        };
        let value = serde_json::to_value(result).expect("a value");
        let keys: Vec<_> = value
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, ["directions", "dns", "spec"]);
    }
}
