//! When, where and by which command a run was made, how it ended, and which of its tests were never run.

use crate::plan::Test;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One part of a run: the whole of it, unless it was resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunPart {
    /// Name of the host.
    pub host: String,
    /// The command line, quoted for a shell.
    pub command: String,
    /// The time it began, RFC 3339.
    pub started: String,
    /// The time it ended, RFC 3339; `None` for a part that was killed or is still under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The time that it was expected to take when it began, seconds; `None` where that is not on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_s: Option<u64>,
    /// The way it ended; `None` as for `ended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
}

/// The way a part of a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ending {
    /// Every measurement of the plan was made.
    Complete,
    /// The user interrupted it.
    Interrupted,
    /// The time that the user gave it was up before everything was measured.
    TimeUp {
        /// That time, seconds.
        within_s: u64,
    },
    /// An error ended it.
    Failed {
        /// The error in words.
        error: String,
    },
}

/// A file whose commands a run has run: a recipe of one of its devices, or a configuration of ssh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeFile {
    /// The name of the recipe that it is part of; `ssh` of a configuration of ssh.
    pub of: String,
    /// The path as it was read; the name of the file where it came with sixbench.
    pub path: String,
    /// The SHA-256 of its octets, hexadecimal.
    pub sha256: String,
    /// The place that it came from.
    pub origin: CodeOrigin,
}

/// The place that a file with commands came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodeOrigin {
    /// It came with sixbench.
    BuiltIn,
    /// The command line named its directory, or it is one of the user's own for all plans.
    CommandLine,
    /// The plan brought it along, or the results directory of a run that is resumed.
    Plan,
}

/// A test that was not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedTest {
    /// Name of the test.
    pub test: String,
    /// The reason.
    pub reason: SkipReason,
}

/// The reason why a test was not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SkipReason {
    /// It is optional and what it needs is missing on this host. The resolved plan does not have it.
    LeftOut {
        /// A description of what is missing.
        why: String,
        /// The test as planned.
        planned: Box<Test>,
    },
    /// Its device could not be set up.
    SetUpFailed {
        /// Name of the device's recipe.
        dut: String,
        /// The error in words.
        error: String,
    },
}

/// Another user of a core that a trial needed: the run waited for it before it went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disturber {
    /// The process or the host.
    pub who: String,
    /// The cores that it was found on: `core 1`, or `core 1 of jool` for one of a device elsewhere.
    pub cores: Vec<String>,
    /// The time at which the run first found it, RFC 3339.
    pub first: String,
    /// The time at which the run last found it, RFC 3339.
    pub last: String,
    /// The time that was spent waiting for it, milliseconds.
    pub waited_ms: u64,
}

impl Disturber {
    /// Returns who it is, and the cores: `rustc (process 41) on core 0 and core 1`.
    pub fn describe(&self) -> String {
        format!("{} on {}", self.who, self.cores.join(" and "))
    }

    /// Adds what was seen of disturbers to those `known`, so that each has one entry.
    pub fn add(known: &mut Vec<Self>, seen: Vec<Self>) {
        for seen in seen {
            match known.iter_mut().find(|known| known.who == seen.who) {
                Some(known) => {
                    known.waited_ms += seen.waited_ms;
                    known.last = seen.last;
                    let new: Vec<String> = seen
                        .cores
                        .into_iter()
                        .filter(|core| !known.cores.contains(core))
                        .collect();
                    known.cores.extend(new);
                }
                None => known.push(seen),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Facts;

    #[test]
    fn a_disturber_that_comes_back_has_one_entry() {
        let seen = |who: &str, at: &str| {
            vec![Disturber {
                who: who.into(),
                cores: vec![format!("core {}", &at[4..])],
                first: at.into(),
                last: at.into(),
                waited_ms: 220,
            }]
        };
        let mut known = Vec::new();
        for (who, at) in [
            ("rustc", "06:10"),
            ("the host", "06:11"),
            ("rustc", "06:12"),
        ] {
            Disturber::add(&mut known, seen(who, at));
        }
        let told: Vec<_> = known
            .iter()
            .map(|d| {
                (
                    d.who.as_str(),
                    d.first.as_str(),
                    d.last.as_str(),
                    d.waited_ms,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("rustc", "06:10", "06:12", 440),
                ("the host", "06:11", "06:11", 220)
            ]
        );
        assert_eq!(known[0].describe(), "rustc on core 0 and core 2");
    }

    #[test]
    fn facts_of_an_earlier_version_are_still_read() {
        let facts = "sixbench = \"0.1.0\"\nlayout = []\nwarnings = []\n[host]\n[duts]\n";
        let facts: Facts = toml::from_str(facts).expect("facts");
        assert!(facts.runs.is_empty() && facts.not_run.is_empty() && facts.labels.is_empty());
    }

    #[test]
    fn a_test_that_was_left_out_is_read_back_as_planned() {
        let planned = Box::new(Test::new("jool", "jool-siit"));
        let reason = SkipReason::LeftOut {
            why: "no lab".to_owned(),
            planned,
        };
        let facts = Facts {
            not_run: vec![SkippedTest {
                test: "jool".to_owned(),
                reason,
            }],
            ..Facts::default()
        };
        let text = toml::to_string(&facts).expect("text");
        assert_eq!(toml::from_str::<Facts>(&text).expect("facts"), facts);
    }
}
