//! What happens in a run, as it happens: every view (progress line, JSON, web page) draws from these.

use crate::measures::Outcome;
use crate::plan::Point;
use crate::record::TrialRecord;
use crate::trial::dns::Certificate;
use crate::trial::{TrialSpec, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run begins.
    RunStarted {
        /// Name of the plan.
        plan: String,
        /// The location of the results.
        results: String,
        /// Measurements (points times repetitions) in all.
        measurements: u32,
        /// Estimated time, seconds.
        estimate_s: u64,
    },
    /// A DUT is set up and answers.
    DutReady {
        /// Name of the recipe.
        dut: String,
        /// The version as printed by the implementation.
        version: String,
    },
    /// The tester has tested itself for a DNS server (RFC 8219 section 9.2.1).
    SelfTested {
        /// Name of the recipe.
        dut: String,
        /// The certificate that states what the tester is fit for.
        certificate: Certificate,
    },
    /// One repetition of one point begins.
    MeasurementStarted {
        /// The test and frame size.
        point: Point,
        /// The number of the repetition, from 1.
        repetition: u32,
        /// Repetitions in all.
        of: u32,
        /// What is measured after it, as far as that is known: a device has no more points, or the repetitions may suffice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Point>,
    },
    /// A trial begins.
    TrialStarted {
        /// The test and frame size.
        point: Point,
        /// The specification of the trial.
        spec: TrialSpec,
    },
    /// A trial ended and is on disk.
    TrialEnded {
        /// The trial as recorded.
        record: Box<TrialRecord>,
        /// The verdict for the first goal.
        verdict: Verdict,
    },
    /// One repetition of one point ended.
    MeasurementEnded {
        /// The measure, as plans name it.
        measure: String,
        /// The result of the measurement.
        outcome: Outcome,
    },
    /// The progress of the run, reported after each trial.
    Progress {
        /// Time since the run began, seconds.
        elapsed_s: u64,
        /// Time the rest is expected to take, seconds, from what trials and set-ups have taken so far.
        remaining_s: u64,
    },
    /// The testbed has waited for something for more than a few seconds. Sent once for each wait, which goes on.
    Waiting {
        /// The subject of the wait, in words.
        text: String,
    },
    /// Something is not as it should be; the run goes on.
    Warning {
        /// The place, the problem and the next step.
        text: String,
    },
    /// The run ended.
    RunEnded {
        /// The location of the results.
        results: String,
        /// True if the run was cut short, and may be resumed.
        interrupted: bool,
    },
}
