//! The warnings of a run: conditions under which its results are less certain. Each kind has its data, and one sentence that is made of them.

use crate::units::show_seconds;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::mem::discriminant;

/// A condition of a run that was not as it should be; the run went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// Other work used the cores of a device during trials.
    DisturbedTrials {
        /// The name of the device's recipe.
        dut: String,
    },
    /// Other work kept a core busy before a device was set up.
    BusyBeforeSetUp {
        /// The name of the device's recipe.
        dut: String,
        /// The core and its load.
        load: CoreLoad,
    },
    /// A device changed between two of its set-ups within one run.
    DutChanged {
        /// The name of the device's recipe.
        dut: String,
        /// One text for each fact that changed: `kernel: 6.1 → 6.12`.
        changes: Vec<String>,
    },
    /// The system's clock was set during the run.
    ClockSet {
        /// The size of the step in seconds; negative if the clock was set back.
        step_s: i64,
        /// The time of the run at which the step was noticed, RFC 3339.
        noticed: String,
    },
    /// The system's clock was set back between two parts of a run.
    ClockSetBackBeforeResume {
        /// The least size of the step in seconds.
        at_least_s: u64,
    },
    /// The system does not provide a part of the layout of the tester's threads.
    TesterThreads {
        /// The machine on which the agent of a tester in two parts runs; `None` for the machine of the plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
        /// The part that is missing.
        lacking: ThreadAbility,
        /// The error of the system.
        error: String,
    },
    /// An interface of the tester chooses the queue of a received frame by its addresses alone, and tests vary ports alone.
    OneReceiveQueue {
        /// The interface.
        interface: String,
        /// The kinds of UDP, in the words of `ethtool -N`: `udp4`, `udp6`.
        flows: Vec<String>,
    },
    /// The parts of a merged run were measured on hosts that differ.
    HostsDiffer {
        /// The names of the hosts.
        hosts: Vec<String>,
        /// The names of the facts that differ.
        facts: Vec<String>,
    },
    /// The parts of a merged run measured different versions of a device.
    DutVersionsDiffer {
        /// The name of the device's recipe.
        dut: String,
        /// The versions.
        versions: Vec<String>,
    },
    /// The parts of a merged run were measured with different versions of sixbench.
    SixbenchVersionsDiffer {
        /// The versions.
        versions: Vec<String>,
    },
    /// A sentence: the facts of version 0.1 had nothing else.
    Text {
        /// The sentence, without a period.
        text: String,
    },
}

/// A core that other work keeps busy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreLoad {
    /// The number of the core.
    pub core: u32,
    /// The share of the time for which other work used it, percent.
    pub busy_percent: u64,
    /// The processes that used it, or the other cause, in words.
    pub by: String,
}

/// An ability of the tester's threads that the system may refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadAbility {
    /// To run on this core only.
    Core(u32),
    /// To run before other processes.
    Priority,
    /// To give up privileges that are not needed.
    FewPrivileges,
}

/// The importance of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarningLevel {
    /// Something to know.
    Note,
    /// A figure may not mean what it says.
    Doubt,
}

/// The subject of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningSubject<'w> {
    /// A device, by the name of its recipe.
    Dut(&'w str),
    /// A machine other than that of the plan, by its name.
    Machine(&'w str),
    /// The machine of the plan.
    Host,
    /// The run as a whole.
    Run,
}

impl Warning {
    /// Returns the importance of the warning; `None` if it is only a text.
    pub fn level(&self) -> Option<WarningLevel> {
        match self {
            Self::TesterThreads { .. } | Self::OneReceiveQueue { .. } => Some(WarningLevel::Note),
            Self::Text { .. } => None,
            _ => Some(WarningLevel::Doubt),
        }
    }

    /// Returns the subject of the warning.
    pub fn subject(&self) -> WarningSubject<'_> {
        match self {
            Self::DisturbedTrials { dut }
            | Self::DutChanged { dut, .. }
            | Self::DutVersionsDiffer { dut, .. } => WarningSubject::Dut(dut),
            Self::TesterThreads {
                machine: Some(machine),
                ..
            } => WarningSubject::Machine(machine),
            Self::TesterThreads { machine: None, .. }
            | Self::BusyBeforeSetUp { .. }
            | Self::OneReceiveQueue { .. } => WarningSubject::Host,
            Self::ClockSet { .. } | Self::ClockSetBackBeforeResume { .. } => WarningSubject::Host,
            Self::HostsDiffer { .. } | Self::SixbenchVersionsDiffer { .. } | Self::Text { .. } => {
                WarningSubject::Run
            }
        }
    }

    /// Returns what the operator can do about it, if there is something.
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            Self::DisturbedTrials { .. } => Some("end the other work (see top)"),
            Self::BusyBeforeSetUp { .. } => Some(CoreLoad::FIX),
            Self::OneReceiveQueue { .. } => Some(
                "`rss-hash = \"sdfn\"` in [testbed] adds the ports for a run (ethtool -N INTERFACE rx-flow-hash udp4 sdfn)",
            ),
            _ => None,
        }
    }

    /// Returns whether the other warning is of the same kind, so that a reader is told both at once. Texts are of the same kind if they are equal.
    pub fn is_of_the_kind_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text { text }, Self::Text { text: other }) => text == other,
            (
                Self::TesterThreads {
                    machine, lacking, ..
                },
                Self::TesterThreads {
                    machine: other_machine,
                    lacking: other_lacking,
                    ..
                },
            ) => machine == other_machine && discriminant(lacking) == discriminant(other_lacking),
            _ => discriminant(self) == discriminant(other),
        }
    }

    /// Returns what the warning states, as a sentence without a period and without the fix.
    pub fn condition(&self) -> String {
        WarningCondition(self).to_string()
    }

    /// Returns the sentence for all warnings of its kind, with an ellipsis for what differs among them; `None` if each must be read by itself.
    pub fn pattern(&self) -> Option<String> {
        match self {
            Self::DisturbedTrials { .. } => Some(
                Self::DisturbedTrials {
                    dut: "…".to_owned(),
                }
                .to_string(),
            ),
            Self::BusyBeforeSetUp { .. } => Some(format!(
                "before … was set up: a core was busy with other work; {}",
                CoreLoad::FIX
            )),
            _ => None,
        }
    }

    /// Returns what stands in place of the ellipsis of [`Self::pattern`].
    pub fn particulars(&self) -> Option<String> {
        match self {
            Self::DisturbedTrials { dut } => Some(dut.clone()),
            Self::BusyBeforeSetUp {
                dut,
                load:
                    CoreLoad {
                        core,
                        busy_percent,
                        by,
                    },
            } => Some(format!("{dut} (core {core}: {busy_percent} %, {by})")),
            _ => None,
        }
    }

    /// Returns the same warning about another machine than that of the plan. Warnings that have no machine stay as they are.
    #[must_use]
    pub fn on_machine(self, name: &str) -> Self {
        match self {
            Self::TesterThreads { lacking, error, .. } => Self::TesterThreads {
                machine: Some(name.to_owned()),
                lacking,
                error,
            },
            other => other,
        }
    }
}

impl CoreLoad {
    /// The action that removes the cause of the load.
    pub const FIX: &'static str = "stop it, or expect stalls and invalid trials";
}

impl fmt::Display for CoreLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            core,
            busy_percent,
            by,
        } = self;
        write!(
            f,
            "core {core} is {busy_percent} % busy with other work ({by})"
        )
    }
}

impl fmt::Display for Warning {
    /// Writes the warning as a sentence without a period, followed by the fix, if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WarningCondition(self).fmt(f)?;
        self.fix().map_or(Ok(()), |fix| write!(f, "; {fix}"))
    }
}

/// Writes what a warning states, without the fix.
struct WarningCondition<'w>(&'w Warning);

impl fmt::Display for WarningCondition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Warning::DisturbedTrials { dut } => write_disturbed(f, dut),
            Warning::BusyBeforeSetUp { dut, load } => write!(f, "before {dut} was set up: {load}"),
            Warning::DutChanged { dut, changes } => {
                write!(
                    f,
                    "{dut} changed during the run: {}; earlier trials measured the previous state",
                    changes.join("; ")
                )
            }
            Warning::ClockSet { step_s, noticed } => write_clock_set(f, *step_s, noticed),
            Warning::ClockSetBackBeforeResume { at_least_s } => {
                write_clock_set_back(f, *at_least_s)
            }
            Warning::TesterThreads {
                machine,
                lacking,
                error,
            } => {
                machine
                    .iter()
                    .try_for_each(|machine| write!(f, "{machine}: "))?;
                lacking.write_refused(f, error)
            }
            Warning::OneReceiveQueue { interface, flows } => write_one_queue(f, interface, flows),
            Warning::HostsDiffer { hosts, facts } => write_hosts_differ(f, hosts, facts),
            Warning::DutVersionsDiffer { dut, versions } => {
                write_versions(f, &format!("{dut} was measured in"), "", versions)
            }
            Warning::SixbenchVersionsDiffer { versions } => {
                write_versions(f, "measured with", " of sixbench", versions)
            }
            Warning::Text { text } => f.write_str(text),
        }
    }
}

fn write_disturbed(f: &mut fmt::Formatter<'_>, dut: &str) -> fmt::Result {
    write!(
        f,
        "other work used the cores of {dut} during trials, so a rate that one of them decided is a lower bound"
    )
}

fn write_one_queue(f: &mut fmt::Formatter<'_>, interface: &str, flows: &[String]) -> fmt::Result {
    write!(
        f,
        "{interface} chooses the queue of a received frame by its addresses alone ({}), and there are tests that vary ports alone: one queue, and the core \
         that serves it, receive all their frames",
        flows.join(", ")
    )
}

fn write_versions(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    of: &str,
    versions: &[String],
) -> fmt::Result {
    write!(f, "{what} different versions{of}: {}", versions.join(" / "))
}

fn write_clock_set_back(f: &mut fmt::Formatter<'_>, at_least_s: u64) -> fmt::Result {
    write!(
        f,
        "the system's clock was set back by at least {} before the run was resumed: the time between its parts is not known",
        show_seconds(at_least_s)
    )
}

fn write_hosts_differ(
    f: &mut fmt::Formatter<'_>,
    hosts: &[String],
    facts: &[String],
) -> fmt::Result {
    write!(
        f,
        "measured on hosts that differ ({}) in {}: numbers of one host say nothing against those of another",
        hosts.join(", "),
        facts.join(", ")
    )
}

/// Reads the warnings of facts: objects, or sentences as version 0.1 wrote them.
///
/// # Errors
/// An item is neither.
pub(super) fn read_all<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Warning>, D::Error> {
    let stored = Vec::<StoredWarning>::deserialize(deserializer)?;
    Ok(stored
        .into_iter()
        .map(|StoredWarning(warning)| warning)
        .collect())
}

/// A warning as facts may have it.
struct StoredWarning(Warning);

impl<'de> Deserialize<'de> for StoredWarning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StoredWarningVisitor).map(Self)
    }
}

struct StoredWarningVisitor;

impl<'de> Visitor<'de> for StoredWarningVisitor {
    type Value = Warning;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a warning, or the sentence of one")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Warning, E> {
        Ok(Warning::Text {
            text: text.to_owned(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Warning, A::Error> {
        Warning::deserialize(MapAccessDeserializer::new(map))
    }
}

impl ThreadAbility {
    fn write_refused(self, f: &mut fmt::Formatter<'_>, error: &str) -> fmt::Result {
        match self {
            Self::Core(core) => {
                write!(
                    f,
                    "cannot pin a tester thread to core {core}: {error}; it runs on any core that the system chooses"
                )
            }
            Self::Priority => write!(
                f,
                "cannot raise the priority of the tester's threads: {error}; other load on their cores may stall them"
            ),
            Self::FewPrivileges => {
                write!(
                    f,
                    "the tester's threads cannot give up the privileges that they do not need: {error}; they keep them"
                )
            }
        }
    }
}

fn write_clock_set(f: &mut fmt::Formatter<'_>, step_s: i64, noticed: &str) -> fmt::Result {
    // A machine that sleeps stops its monotonic clock, which looks like a step forward.
    let (way, cause) = if step_s < 0 {
        ("back", "")
    } else {
        ("forward", ", or the machine slept")
    };
    write!(
        f,
        "the system's clock was set {way} by {} during the run, at {noticed}{cause}: the times of trials go on as if it had not been, and so do \
         all durations",
        show_seconds(step_s.unsigned_abs())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(lacking: ThreadAbility) -> Warning {
        Warning::TesterThreads {
            machine: None,
            lacking,
            error: "not permitted".to_owned(),
        }
    }

    #[test]
    fn each_kind_has_its_sentence() {
        let dut = "tayga".to_owned();
        let load = CoreLoad {
            core: 1,
            busy_percent: 97,
            by: "by \"make\"".to_owned(),
        };
        let versions = vec!["1".to_owned(), "2".to_owned()];
        let cases = [
            (
                Warning::DisturbedTrials { dut: dut.clone() },
                "other work used the cores of tayga during trials, so a rate that one of them decided is a lower bound; end the other work (see top)",
            ),
            (
                Warning::BusyBeforeSetUp {
                    dut: dut.clone(),
                    load,
                },
                "before tayga was set up: core 1 is 97 % busy with other work (by \"make\"); stop it, or expect stalls and invalid trials",
            ),
            (
                Warning::DutChanged {
                    dut: dut.clone(),
                    changes: versions.clone(),
                },
                "tayga changed during the run: 1; 2; earlier trials measured the previous state",
            ),
            (
                Warning::ClockSet {
                    step_s: 86_400,
                    noticed: "T".to_owned(),
                },
                "the system's clock was set forward by 24.0 h during the run, at T, or the machine slept: the times of trials go on as if it had \
                 not been, and so do all durations",
            ),
            (
                threads(ThreadAbility::Core(3)).on_machine("lab"),
                "lab: cannot pin a tester thread to core 3: not permitted; it runs on any core that the system chooses",
            ),
            (
                Warning::OneReceiveQueue {
                    interface: "e0".to_owned(),
                    flows: vec!["udp4".to_owned()],
                },
                "e0 chooses the queue of a received frame by its addresses alone (udp4), and there are tests that vary ports alone: one queue, and the core \
                 that serves it, receive all their frames; `rss-hash = \"sdfn\"` in [testbed] adds the ports for a run (ethtool -N INTERFACE rx-flow-hash \
                 udp4 sdfn)",
            ),
            (
                threads(ThreadAbility::Priority),
                "cannot raise the priority of the tester's threads: not permitted; other load on their cores may stall them",
            ),
            (
                threads(ThreadAbility::FewPrivileges),
                "the tester's threads cannot give up the privileges that they do not need: not permitted; they keep them",
            ),
            (
                Warning::HostsDiffer {
                    hosts: versions.clone(),
                    facts: vec!["kernel".to_owned()],
                },
                "measured on hosts that differ (1, 2) in kernel: numbers of one host say nothing against those of another",
            ),
            (
                Warning::DutVersionsDiffer {
                    dut,
                    versions: versions.clone(),
                },
                "tayga was measured in different versions: 1 / 2",
            ),
            (
                Warning::SixbenchVersionsDiffer { versions },
                "measured with different versions of sixbench: 1 / 2",
            ),
        ];
        for (warning, sentence) in cases {
            assert_eq!(warning.to_string(), sentence);
        }
    }

    #[test]
    fn a_warning_about_threads_is_of_their_machine_and_casts_no_doubt_on_results() {
        let here = threads(ThreadAbility::Priority);
        assert_eq!(
            (here.subject(), here.level()),
            (WarningSubject::Host, Some(WarningLevel::Note))
        );
        assert_eq!(
            here.on_machine("lab").subject(),
            WarningSubject::Machine("lab")
        );
        let disturbed = Warning::DisturbedTrials {
            dut: "jool".to_owned(),
        };
        assert_eq!(
            (disturbed.subject(), disturbed.level()),
            (WarningSubject::Dut("jool"), Some(WarningLevel::Doubt))
        );
    }

    #[test]
    fn facts_have_warnings_as_data_and_those_of_version_0_1_had_sentences() {
        #[derive(Deserialize)]
        struct Stored(#[serde(deserialize_with = "read_all")] Vec<Warning>);
        let written = [
            Warning::ClockSetBackBeforeResume { at_least_s: 7 },
            Warning::Text {
                text: "old".to_owned(),
            },
        ];
        let text = serde_json::to_string(&written).expect("JSON");
        assert!(
            text.contains(r#"{"kind":"clock-set-back-before-resume","at_least_s":7}"#),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<Stored>(&text).expect("warnings").0,
            written
        );
        let old: Stored = serde_json::from_str(r#"["the machine is virtual"]"#).expect("warnings");
        assert_eq!(
            old.0,
            [Warning::Text {
                text: "the machine is virtual".to_owned()
            }]
        );
        for wrong in [r#"[{"kind":"unheard-of"}]"#, "[7]"] {
            assert!(serde_json::from_str::<Stored>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn warnings_of_a_kind_have_a_pattern_and_texts_only_when_they_are_equal() {
        let disturbed = |dut: &str| Warning::DisturbedTrials {
            dut: dut.to_owned(),
        };
        assert!(disturbed("tayga").is_of_the_kind_of(&disturbed("jool")));
        assert_eq!(disturbed("tayga").pattern(), disturbed("jool").pattern());
        assert_eq!(disturbed("tayga").particulars().as_deref(), Some("tayga"));
        let text = |text: &str| Warning::Text {
            text: text.to_owned(),
        };
        assert!(
            text("a").is_of_the_kind_of(&text("a")) && !text("a").is_of_the_kind_of(&text("b"))
        );
        assert!(
            !threads(ThreadAbility::Priority)
                .on_machine("lab")
                .is_of_the_kind_of(&threads(ThreadAbility::Priority))
        );
        let core = |core| threads(ThreadAbility::Core(core));
        assert!(core(1).is_of_the_kind_of(&core(2)));
        assert!(
            !core(1).is_of_the_kind_of(&threads(ThreadAbility::Priority)),
            "no part that is missing hides another"
        );
        assert!(
            disturbed("jool").condition().ends_with("is a lower bound"),
            "without the fix"
        );
    }
}
