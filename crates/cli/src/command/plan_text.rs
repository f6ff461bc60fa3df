//! The text of a plan file, and mistakes in it that only appear with recipes, this machine's files or its cores: shown at their lines as well.

use super::refused;
use crate::exit::{Failed, advised, of_run};
use sixbench_method::isolation::Isolation;
use sixbench_plan::{Diagnostic, LoadedPlan, span_in};
use sixbench_runner::{RunError, check_named_here, check_settings, check_traffic};
use sixbench_testbed::Library;
use std::path::Path;

/// Returns the text of a plan file, given its octets.
///
/// # Errors
/// It is in another encoding than UTF-8, shown at the first line that is not UTF-8.
pub(super) fn decoded(name: &str, octets: Vec<u8>) -> Result<String, Failed> {
    let named = |encoding: &str| format!("save it as UTF-8: iconv -f {encoding} -t UTF-8 {name}");
    if octets.starts_with(&[0xff, 0xfe]) || octets.starts_with(&[0xfe, 0xff]) {
        return Err(Failed::usage(format!(
            "cannot read the plan {name}: it is in UTF-16; {}",
            named("UTF-16")
        )));
    }
    String::from_utf8(octets).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let octet = error.as_bytes()[place];
        let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
        // The text up to the place is the same, and the octet is shown as a replacement character.
        let span = place..place + char::REPLACEMENT_CHARACTER.len_utf8();
        let title = format!("a plan is in UTF-8, in which 0x{octet:02x} is no letter");
        refused(
            name,
            &shown,
            &[Diagnostic::new(span, title).help(named("LATIN1"))],
        )
    })
}

/// Refuses a plan whose tests do not fit their recipes, at the lines of these tests.
pub(super) fn check_tests(
    name: &str,
    source: &str,
    loaded: &LoadedPlan,
    library: &Library,
) -> Result<(), Failed> {
    // Whether the traffic may go where it would go is decided when the plan is run, where the user can force it.
    match check_traffic(&loaded.plan, library, Isolation::Declared) {
        Err(RunError::Plan(mistakes)) => {
            let text = mistakes.to_string();
            let placed: Option<Vec<Diagnostic>> =
                text.lines().map(|line| at_its_test(source, line)).collect();
            Err(placed.map_or_else(
                || RunError::Plan(mistakes).into(),
                |placed| refused(name, source, &placed),
            ))
        }
        checked => Ok(checked?),
    }
}

/// Refuses a plan whose values do not fit this machine, at the lines of these values.
pub(super) fn check_here(
    name: &str,
    source: &str,
    loaded: &LoadedPlan,
    library: &Library,
) -> Result<(), Failed> {
    let here = mistakes_here(source, loaded);
    if !here.is_empty() {
        return Err(refused(name, source, &here));
    }
    check_settings(loaded, library).map_err(|error| {
        let exit = of_run(&error);
        let placed = at_its_test(source, &advised(&error));
        placed.map_or_else(
            || error.into(),
            |placed| Failed {
                exit,
                ..refused(name, source, &[placed])
            },
        )
    })
}

/// Returns a mistake about a test, `test NAME: ...`, at the key that it names, of the test or of every trial and search, or at the device of the test.
fn at_its_test(source: &str, mistake: &str) -> Option<Diagnostic> {
    let (test, _) = mistake.strip_prefix("test ")?.split_once(": ")?;
    let keys = mistake
        .split('`')
        .skip(1)
        .step_by(2)
        .chain(mistake.split(' ').filter(|word| *word == "measure"))
        .chain(["dut"]);
    let span = keys.into_iter().find_map(|key| {
        span_in(source, &["test", test, key])
            .or_else(|| span_in(source, &["search", key]))
            .or_else(|| span_in(source, &["trial", key]))
    })?;
    Some(Diagnostic::new(span, mistake))
}

/// Returns the mistakes in what a plan names of this machine.
pub(super) fn mistakes_here(source: &str, loaded: &LoadedPlan) -> Vec<Diagnostic> {
    let placed = |(key, text): (&str, String)| {
        Diagnostic::new(span_in(source, &["testbed", key]).unwrap_or(0..0), text)
    };
    check_named_here(&loaded.links)
        .into_iter()
        .map(placed)
        .collect()
}

/// Returns the mistake of a directory of recipes that a plan names and that is not there.
pub(super) fn missing_recipes(source: &str, directory: &Path) -> Diagnostic {
    let title = format!("there is no directory {}", directory.display());
    let help = "`recipes` names directories with recipes in TOML, relative to the plan file";
    Diagnostic::new(span_in(source, &["recipes"]).unwrap_or(0..0), title).help(help)
}
