//! The facts about a run as a whole: time, place and command, its labels, how it ended, and what was not run.

use crate::ends::cores::cores;
use crate::error::RunError;
use crate::request::{RunRequest, Site};
use crate::run_clock::in_facts;
use crate::version::VERSION;
use jiff::Timestamp;
use sixbench_method::lists::each_once;
use sixbench_method::plan::Test;
use sixbench_method::record::{CodeFile, Ending, Facts, RunPart, SkipReason, SkippedTest};
use sixbench_testbed::facts::{self, Machine};
use sixbench_testbed::quoted;
use std::collections::BTreeMap;

/// Parses a label, `key=value`.
///
/// # Errors
/// The expected format.
pub fn label(text: &str) -> Result<(String, String), String> {
    let is_key = |key: &str| {
        !key.is_empty()
            && key
                .chars()
                .all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'))
    };
    match text.split_once('=') {
        Some((key, value)) if is_key(key) && !value.contains(char::is_control) => {
            Ok((key.to_owned(), value.to_owned()))
        }
        _ => Err(format!(
            "expected KEY=VALUE with a key of a-z, 0-9 and -, such as kernel=6.12, not `{text}`"
        )),
    }
}

/// Returns the facts at the start of a run, which is `now`, or of a further part of one. `code` lists the files whose commands it executes.
pub(crate) fn begin(request: &RunRequest, code: Vec<CodeFile>, now: Timestamp) -> Facts {
    let earlier = request
        .earlier
        .as_ref()
        .map(|(facts, _)| facts.clone())
        .unwrap_or_default();
    let host = of_host(&request.site);
    let code = each_once(earlier.code.iter().cloned().chain(code));
    let mut facts = Facts {
        sixbench: VERSION.to_owned(),
        host,
        code,
        ..earlier
    };
    facts.labels.extend(request.labels.iter().cloned());
    if !request.selection.is_all() {
        facts.selection = request.selection.clone();
    }
    // A device that could not be set up earlier may work now.
    facts
        .not_run
        .retain(|skipped| matches!(skipped.reason, SkipReason::LeftOut { .. }));
    facts.not_run.extend(request.left_out.iter().cloned());
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let command = quoted(&words);
    facts.runs.push(RunPart {
        host: facts::host_name(),
        command,
        started: in_facts(now),
        ..RunPart::default()
    });
    facts
}

/// Returns the facts about this machine, the cores in use and the interfaces on which frames are sent.
pub(crate) fn of_host(site: &Site<'_>) -> BTreeMap<String, String> {
    let interfaces = site.links.own_interfaces();
    let used = cores(site.links)
        .map(|cores| [cores.tester, cores.dut].concat())
        .unwrap_or_default();
    let mut facts = Machine::read(&site.shell, &interfaces).facts(&used, &interfaces);
    // The number of cores that this process may use.
    facts.extend(
        std::thread::available_parallelism().map(|count| ("cores".to_owned(), count.to_string())),
    );
    facts
}

/// Records how the run ended `now`: with an error, whose text is also given, because its time of so many seconds was up, or normally.
pub(crate) fn end(
    facts: &mut Facts,
    now: Timestamp,
    cut_within_s: Option<u64>,
    error: Option<(&RunError, String)>,
) {
    let Some(part) = facts.runs.last_mut() else {
        return;
    };
    part.ended = Some(in_facts(now));
    part.ending = Some(match error {
        Some((error, _)) if matches!(error.root(), RunError::Interrupted) => Ending::Interrupted,
        Some((_, words)) => Ending::Failed { error: words },
        None => cut_within_s.map_or(Ending::Complete, |within_s| Ending::TimeUp { within_s }),
    });
}

pub(crate) fn set_up_failed<'t>(
    facts: &mut Facts,
    tests: impl Iterator<Item = &'t Test>,
    words: &str,
) {
    facts.not_run.extend(tests.map(|test| {
        let reason = SkipReason::SetUpFailed {
            dut: test.dut.clone(),
            error: words.to_owned(),
        };
        SkippedTest {
            test: test.name.clone(),
            reason,
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_a_plain_key_and_any_value() {
        let pair = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(label("rack=b4"), pair("rack", "b4"));
        assert_eq!(label("kernel-2=a = b, c"), pair("kernel-2", "a = b, c"));
        assert_eq!(label("empty="), pair("empty", ""));
        for wrong in ["rack", "=b4", "Rack=b4", "a b=c", "a_b=c", "a=b\nc"] {
            assert!(
                label(wrong).unwrap_err().contains("expected KEY=VALUE"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_facts_say_how_a_run_ended() {
        let ended_within = |cut_within_s, error: Option<RunError>| {
            let mut facts = Facts {
                runs: vec![RunPart::default()],
                ..Facts::default()
            };
            end(
                &mut facts,
                Timestamp::UNIX_EPOCH,
                cut_within_s,
                error.as_ref().map(|error| (error, error.to_string())),
            );
            facts.runs[0].ending.clone().expect("an ending")
        };
        let ended = |error| ended_within(None, error);
        let full = std::io::Error::other("the disk is full");
        assert_eq!(ended(None), Ending::Complete);
        assert_eq!(ended(Some(RunError::Interrupted)), Ending::Interrupted);
        assert_eq!(
            ended_within(Some(360), None),
            Ending::TimeUp { within_s: 360 }
        );
        assert_eq!(
            ended_within(Some(360), Some(RunError::Interrupted)),
            Ending::Interrupted
        );
        assert_eq!(
            ended(Some(RunError::System(full))),
            Ending::Failed {
                error: "the disk is full".to_owned()
            }
        );
    }
}
