//! The requirements of RFCs on the device, vector by vector. What is sent and what must come is data (`conformance/`), which the methodology does not
//! know: it counts what was found.

use super::keys::{Keys, MeasureDefaults};
use super::procedure::{Reading, SingleTrial};
use super::{
    Family, Info, Loads, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements, Value,
};
use crate::clause::Clause;
use crate::plan::{Profile, Stateful};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{Direction, FrameRate};
use crate::trial::{
    JudgedVector, RequirementLevel, RequirementResults, TrialKind, TrialResult, TrialSpec,
    VectorResult, Verdict,
};
use crate::units::{self, ValueError, expected};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The vectors that a test sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RequirementTest {
    /// The RFCs whose vectors are sent, by number; empty: all that apply to the device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<u32>,
    /// The names of the vectors that are sent; empty: all of those RFCs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vectors: Vec<String>,
    /// The names of the vectors that the device is known to violate, beside those that its recipe names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_violations: Vec<String>,
    /// The load at which the vectors are sent once more, frames per second in each direction; absent: they are sent quietly alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_load: Option<FrameRate>,
}

/// The numbers of RFCs.
const RFC: NumberBound = NumberBound::new(1.0, 99_999.0);
/// The time that all vectors of a stateless translator take, nanoseconds: 322 on TAYGA take 28 s. It is an estimate for the plan's duration and bounds
/// nothing.
const ALL_NS: u64 = 30_000_000_000;
/// The time that the vectors take under load as a multiple of the time that they take quietly: nothing is sent between two trials of the load.
const LOADED_FACTOR: u64 = 2;
/// The time of a single vector with a second attempt, nanoseconds.
const EACH_NS: u64 = 1_000_000_000;

impl Bounded for RequirementTest {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[("only", RFC), ("under-load", FrameRate::BOUND)],
        ..TableBounds::NONE
    };
}

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "conformance",
        definition: "Whether a device does what the RFCs of its technology require: each requirement is met or violated.",
        clause: "the RFCs of the device's technology, such as RFC 7915",
        here: "The device is brought up for the test alone and sent one vector after the other, each between two control \
               frames; what comes is compared with what the clause requires, field by field. Silence counts only if the \
               control frames came. Nothing is timed, and nothing is sent at a rate, unless the vectors are sent once more under \
               the load `under-load`; what differs then is told beside what was found quietly.",
        unit: "requirements",
    },
    summary: "the requirements of RFCs that the device meets and violates, vector by vector",
    family: Family::Vectors,
    traffic: TrafficRequirements::None,
    demand: None,
    is_steady: false,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 1,
    searched: None,
    quantities: &[
        Quantity::MustsViolated,
        Quantity::RequirementsViolated,
        Quantity::NewViolations,
        Quantity::ViolatedUnderLoad,
        Quantity::RequirementsMet,
    ],
    headline: Some(Quantity::MustsViolated),
    is_averaged: false,
    axis: "MUSTs violated",
    open_end: "vectors without a result may be violated as well",
}];

impl RequirementTest {
    /// Returns the settings that the keys of a test ask for. Whether there are such vectors is checked by the reader of plan files, since the
    /// methodology does not know them.
    pub(super) fn read(keys: &impl Keys, _: &MeasureDefaults) -> Self {
        Self {
            only: keys.list("only", rfc).unwrap_or_default(),
            vectors: keys.list("vectors", vector_name).unwrap_or_default(),
            known_violations: keys
                .list("known-violations", vector_name)
                .unwrap_or_default(),
            under_load: keys.value("under-load", units::rate),
        }
    }

    /// Returns whether both send the same vectors to the same device. What is found quietly does not depend on whether they are sent once more.
    pub(super) fn selects_as(&self, other: &Self) -> bool {
        (&self.only, &self.vectors) == (&other.only, &other.vectors)
    }

    /// Returns the time that the vectors are expected to take, nanoseconds.
    fn estimate_ns(&self) -> u64 {
        let quietly_ns = if self.vectors.is_empty() {
            ALL_NS
        } else {
            ALL_NS.min(EACH_NS.saturating_mul(self.vectors.len() as u64))
        };
        match self.under_load {
            Some(_) => quietly_ns.saturating_add(quietly_ns.saturating_mul(LOADED_FACTOR)),
            None => quietly_ns,
        }
    }
}

/// Reads the number of an RFC: `rfc7915`.
fn rfc(text: &str) -> Result<u32, ValueError> {
    let digits = text.trim().to_ascii_lowercase();
    let digits = digits.strip_prefix("rfc").unwrap_or(&digits);
    let number = digits
        .trim()
        .parse()
        .ok()
        .filter(|number: &u32| RFC.contains(f64::from(*number)));
    number.ok_or_else(|| expected("an RFC such as `rfc7915`", text))
}

/// Reads the name of a vector: letters, digits and hyphens.
fn vector_name(text: &str) -> Result<String, ValueError> {
    let mut letters = text.chars();
    if text.is_empty() || !letters.all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(expected("the name of a vector such as `64-df-1261`", text));
    }
    Ok(text.to_owned())
}

impl Measurement for RequirementTest {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::None
    }

    fn sending(&self) -> SendingTime {
        SendingTime::For(self.estimate_ns())
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Requirements
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, _test: &TestContext<'_>) -> Vec<Clause> {
        Vec::new()
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(SingleTrial::new(
            TrialSpec::requirements(self.estimate_ns()),
            context.tries(),
            read,
        ))
    }
}

/// Requirements that were counted.
struct RequirementCount {
    quantity: Quantity,
    count: usize,
    /// The number of vectors without a result: each would be one more.
    unknown: usize,
}

/// Counts what the vectors found. A trial in which control frames were lost around every vector says nothing of the device, and a load that was not offered
/// says nothing of the device under it.
fn read(result: &TrialResult) -> Reading {
    let Some(results) = result
        .requirements()
        .filter(|results| says_anything(results))
    else {
        return Reading::new(Verdict::Invalid, Vec::new());
    };
    let offered = results.offered_load();
    let counts = counts(results)
        .into_iter()
        .chain(offered.map(|_| count_under_load(results)));
    let values = counts.map(|counted| Value {
        quantity: counted.quantity,
        // Values of the whole device are stored with the forward direction.
        direction: Direction::Forward,
        load: result.spec.rate,
        value: counted.count as f64,
        is_at_least: counted.unknown > 0,
        is_at_most: false,
    });
    Reading {
        is_whole: results.load.is_none() || offered.is_some(),
        ..Reading::new(Verdict::Passed, values.collect())
    }
}

fn counts(results: &RequirementResults) -> [RequirementCount; 4] {
    let unknown = results.found(VectorResult::Unknown);
    let unknown_musts =
        results.count(|vector| vector.is_unknown() && vector.level == RequirementLevel::Must);
    let may_be_new = results.count(|vector| {
        is_unknown_at_all(results, vector)
            && !vector.is_known
            && !results.is_violated_at_all(vector)
    });
    [
        RequirementCount {
            quantity: Quantity::MustsViolated,
            count: results.violated_of(RequirementLevel::Must),
            unknown: unknown_musts,
        },
        RequirementCount {
            quantity: Quantity::RequirementsViolated,
            count: results.violated(),
            unknown,
        },
        RequirementCount {
            quantity: Quantity::NewViolations,
            count: results.count(|vector| results.is_new_violation(vector)),
            unknown: may_be_new,
        },
        RequirementCount {
            quantity: Quantity::RequirementsMet,
            count: results.met(),
            unknown,
        },
    ]
}

fn count_under_load(results: &RequirementResults) -> RequirementCount {
    RequirementCount {
        quantity: Quantity::ViolatedUnderLoad,
        count: results.count(|vector| results.is_violated_under_load_alone(vector)),
        // What is violated quietly cannot be violated under load alone.
        unknown: results.count(|vector| {
            is_unknown_under_load(results, vector) && !vector.result.is_violation()
        }),
    }
}

/// Returns whether nothing is known of a vector, quietly or under load.
fn is_unknown_at_all(results: &RequirementResults, vector: &JudgedVector) -> bool {
    vector.is_unknown() || is_unknown_under_load(results, vector)
}

fn is_unknown_under_load(results: &RequirementResults, vector: &JudgedVector) -> bool {
    results.result_under_load(vector) == Some(VectorResult::Unknown)
}

/// Returns whether at least one vector has a result, or none was sent.
fn says_anything(results: &RequirementResults) -> bool {
    results.judged() > 0 || results.found(VectorResult::Unknown) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{judged_vector, loaded_finding, requirement_load};
    use crate::trial::{RequirementLoad, TrialOutcome};

    fn reading(load: Option<RequirementLoad>, vectors: Vec<JudgedVector>) -> Reading {
        let mut result = TrialResult::new(TrialSpec::requirements(1), Vec::new(), Vec::new());
        let results = RequirementResults { load, vectors };
        result.outcome = TrialOutcome::Requirements(Some(Box::new(results)));
        read(&result)
    }

    fn values(vectors: Vec<JudgedVector>) -> Option<Vec<(Quantity, f64, bool)>> {
        let reading = reading(None, vectors);
        let values = reading.values.into_iter();
        (reading.verdict == Verdict::Passed).then(|| {
            values
                .map(|value| (value.quantity, value.value, value.is_at_least))
                .collect()
        })
    }

    #[test]
    fn requirements_are_counted_by_what_was_found_and_by_who_knew_it() {
        use RequirementLevel::{Must, Should};
        use VectorResult::{Allowed, NoAnswer, NotApplicable, Right, Wrong};
        let known = JudgedVector {
            is_known: true,
            ..judged_vector("known", Must, Wrong)
        };
        let found = values(vec![
            judged_vector("a", Must, Wrong),
            judged_vector("b", Should, NoAnswer),
            judged_vector("c", Must, Right),
            judged_vector("d", Should, Allowed),
            judged_vector("e", Must, NotApplicable),
            known,
        ]);
        let expected = [
            (Quantity::MustsViolated, 2.0, false),
            (Quantity::RequirementsViolated, 3.0, false),
            (Quantity::NewViolations, 2.0, false),
            (Quantity::RequirementsMet, 2.0, false),
        ];
        assert_eq!(found.as_deref(), Some(&expected[..]));
    }

    #[test]
    fn a_vector_whose_control_frames_were_lost_may_be_one_more_and_all_of_them_are_no_result() {
        let unknown = || judged_vector("u", RequirementLevel::Must, VectorResult::Unknown);
        let right = judged_vector("r", RequirementLevel::Must, VectorResult::Right);
        let found = values(vec![unknown(), right]).expect("a result");
        assert_eq!(found[0], (Quantity::MustsViolated, 0.0, true));
        assert_eq!(found[3], (Quantity::RequirementsMet, 1.0, true));
        assert_eq!(values(vec![unknown()]), None);
    }

    #[test]
    fn under_a_load_what_breaks_there_alone_is_counted_and_one_that_was_not_offered_is_made_again()
    {
        use VectorResult::{NoAnswer, Right, Unknown, Wrong};
        let loaded = |name, result, under_load| JudgedVector {
            under_load: Some(Box::new(loaded_finding(under_load))),
            ..judged_vector(name, RequirementLevel::Must, result)
        };
        let vectors = || {
            vec![
                loaded("broken", Right, NoAnswer),
                loaded("wrong", Wrong, NoAnswer),
                loaded("lost", Right, Unknown),
                judged_vector("same", RequirementLevel::Must, Right),
            ]
        };
        let count = |reading: &Reading, quantity| {
            let mut values = reading.values.iter();
            let found = values.find(|value| value.quantity == quantity);
            found.map(|value| (value.value, value.is_at_least))
        };
        let offered = reading(Some(requirement_load()), vectors());
        assert!(offered.is_whole);
        let broken = count(&offered, Quantity::ViolatedUnderLoad);
        assert_eq!(broken, Some((1.0, true)), "nothing is known of one more");
        let violated = count(&offered, Quantity::RequirementsViolated);
        assert_eq!(violated, Some((1.0, false)), "what was found quietly");
        assert_eq!(count(&offered, Quantity::NewViolations), Some((2.0, true)));
        let settled = vec![
            loaded("wrong", Wrong, Unknown),
            loaded("lost", Unknown, NoAnswer),
        ];
        let settled = reading(Some(requirement_load()), settled);
        let broken = count(&settled, Quantity::ViolatedUnderLoad);
        assert_eq!(broken, Some((1.0, false)), "it is violated quietly");
        let new = count(&settled, Quantity::NewViolations);
        assert_eq!(new, Some((2.0, false)), "both are violations already");
        let unfit = RequirementLoad {
            invalid_trials: 1,
            ..requirement_load()
        };
        let not_offered = reading(Some(unfit), vectors());
        assert!(!not_offered.is_whole);
        assert_eq!(count(&not_offered, Quantity::ViolatedUnderLoad), None);
        let new = count(&not_offered, Quantity::NewViolations);
        assert_eq!(new, Some((1.0, false)), "what was found quietly");
    }

    #[test]
    fn an_rfc_has_a_number_and_a_vector_a_plain_name() {
        assert_eq!(rfc("rfc7915").ok(), Some(7915));
        assert_eq!(rfc("RFC 6052").ok(), Some(6052));
        assert_eq!(rfc("7757").ok(), Some(7757));
        assert!(rfc("bcp14").is_err() && rfc("rfc0").is_err() && rfc("rfc123456").is_err());
        assert_eq!(vector_name("64-df-1261").as_deref(), Ok("64-df-1261"));
        assert!(vector_name("../x").is_err() && vector_name("").is_err());
    }
}
