//! When, where and by which command a run was made, how it ended, and which of its tests were never run.

use crate::plan::Test;
use serde::{Deserialize, Serialize};

/// One part of a run: the whole of it, unless it was resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The way it ended; `None` as for `ended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
}

/// The way a part of a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ending {
    /// Every measurement of the plan was made.
    Complete,
    /// The user interrupted it.
    Interrupted,
    /// An error ended it.
    Failed {
        /// The error in words.
        error: String,
    },
}

/// A test that was not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkippedTest {
    /// Name of the test.
    pub test: String,
    /// The reason.
    pub reason: SkipReason,
}

/// The reason why a test was not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Facts;

    #[test]
    fn facts_of_an_earlier_version_are_still_read() {
        let facts = "sixbench = \"0.1.0\"\nlayout = []\nwarnings = []\n[host]\n[duts]\n";
        let facts: Facts = toml::from_str(facts).expect("facts");
        assert!(facts.runs.is_empty() && facts.not_run.is_empty() && facts.labels.is_empty());
    }

    #[test]
    fn a_test_that_was_left_out_is_read_back_as_planned() {
        let planned = Box::new(Test::of("jool", "jool-siit"));
        let reason = SkipReason::LeftOut { why: "no lab".to_owned(), planned };
        let facts = Facts { not_run: vec![SkippedTest { test: "jool".to_owned(), reason }], ..Facts::default() };
        let text = toml::to_string(&facts).expect("text");
        assert_eq!(toml::from_str::<Facts>(&text).expect("facts"), facts);
    }
}
