//! `sixbench compare A B`: what B is to A, from results that are there or from a run in which the two take turns.

mod order;

use super::{isolation, library, parse_plan, run};
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use serde_json::Value;
use sixbench_method::comparison::{self, Compared, Comparison, RunOrder, Which};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Selection, Test};
use sixbench_method::repeat::Repetition;
use sixbench_method::replay;
use sixbench_plan::{Loaded, apply_profile};
use sixbench_report::comparison::{describe, json, reason};
use sixbench_runner::differences_of;
use sixbench_runner::store::{Stored, load};
use sixbench_testbed::Library;
use std::path::Path;

/// Compares two sides and prints the result. The exit code says the result, too: see [`crate::exit::TABLE`].
pub(crate) fn compare(arguments: &args::Compare) -> Result<Exit, Failed> {
    let directories = [&arguments.a, &arguments.b].map(|name| Path::new(name).join("trials.jsonl").exists());
    match directories {
        [true, true] => of_directories(arguments),
        // No device has a name like a path.
        [false, false] if ![&arguments.a, &arguments.b].iter().any(|name| name.contains('/')) => of_a_run(arguments),
        [false, _] if directories[1] || arguments.a.contains('/') => Err(no_results(&arguments.a)),
        _ => Err(no_results(&arguments.b)),
    }
}

/// Returns the error for a name that is neither a device nor a directory with trials.
fn no_results(name: &str) -> Failed {
    Failed::usage(format!(
        "{name} holds no results (trials.jsonl); compare two results directories, or two devices (sixbench list duts)"
    ))
}

/// The names of the two sides, and the warnings about the way they were measured.
struct ComparisonContext {
    names: [String; 2],
    warnings: Vec<String>,
}

/// Prints a comparison; the reason for the exit code is the last line.
fn conclude(compared: Option<Comparison<'_>>, context: &ComparisonContext, is_json: bool) -> Result<Exit, Failed> {
    let compared = compared.ok_or_else(|| {
        Failed::usage("the two have no measurement in common (with the same measure, frame timeout, directions and traffic)")
    })?;
    let exit = Exit::from(compared.gate());
    let explanation = exit.because(reason(&compared, " (sixbench doctor shows the cause)"));
    if is_json {
        let mut told = json(&compared, &context.names, &context.warnings);
        (told["exit_code"], told["explanation"]) = (Value::from(exit as u8), Value::from(explanation));
        output::line(told)?;
        return Ok(exit);
    }
    context.warnings.iter().for_each(|warning| tell!("{warning}"));
    output::print(describe(&compared, &context.names))?;
    output::line(explanation)?;
    Ok(exit)
}

fn of_directories(arguments: &args::Compare) -> Result<Exit, Failed> {
    let paths = [&arguments.a, &arguments.b].map(Path::new);
    let [a, b] = [stored(paths[0])?, stored(paths[1])?];
    are_alike(&a.0.plan, &b.0.plan)?;
    let (order, note) = order::of([&a.0.records, &b.0.records]);
    let warnings = differences_of(paths).into_iter().chain([note]).collect();
    let context = ComparisonContext { names: [arguments.a.clone(), arguments.b.clone()], warnings };
    let sides = [side(Which::A, &a.0.plan.tests, &a.1), side(Which::B, &b.0.plan.tests, &b.1)];
    conclude(comparison::compare(&sides[0], &sides[1], arguments.tolerance, order), &context, arguments.output.json)
}

fn side<'a>(which: Which, tests: impl IntoIterator<Item = &'a Test>, outcomes: &'a [Outcome]) -> Compared<'a> {
    Compared { which, tests: tests.into_iter().collect(), outcomes }
}

/// Loads a results directory and replays its records; returns both the directory and its outcomes. A directory with records
/// that its plan does not ask for is refused, as those would be left out silently.
fn stored(directory: &Path) -> Result<(Stored, Vec<Outcome>), Failed> {
    let stored = load(directory)?;
    let replayed = replay::replay(&stored.plan, &stored.records);
    match replayed.mismatches.first() {
        Some(mismatch) => Err(Failed::usage(format!("{}: {mismatch}", directory.display()))),
        None => Ok((stored, replayed.finished)),
    }
}

/// Refuses runs that were made in different ways: their results differ whatever the devices do.
fn are_alike(a: &Plan, b: &Plan) -> Result<(), Failed> {
    let different = [
        ("trial settings", a.trial != b.trial),
        ("search settings", a.search != b.search),
        ("link rate", a.link_rate != b.link_rate),
    ];
    let different: Vec<&str> = different.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what).collect();
    if different.is_empty() {
        return Ok(());
    }
    Err(Failed::usage(format!("the two runs cannot be compared: they differ in their {}", different.join(" and "))))
}

/// Measures both, turn by turn, and compares.
fn of_a_run(arguments: &args::Compare) -> Result<Exit, Failed> {
    let (source, loaded, library) = plan_of(arguments)?;
    let isolation = isolation(arguments.force);
    sixbench_runner::check(&loaded, &library, isolation)?;
    let results = run::measure((&loaded, &source, Selection::default()), &library, &arguments.output, isolation)?;
    if !matches!(results.exit, Exit::Done | Exit::TesterUnfit | Exit::Missed | Exit::Missing) {
        let text = format!("nothing to compare: the run did not finish; its results are in {}", results.directory.display());
        return Err(Failed::new(results.exit, anyhow::anyhow!(text)));
    }
    let (stored, outcomes) = stored(&results.directory)?;
    let tests = &stored.plan.tests;
    let sides = [side(Which::A, &tests[..1], &outcomes), side(Which::B, &tests[1..2], &outcomes)];
    let context = ComparisonContext { names: [String::new(), String::new()], warnings: Vec::new() };
    conclude(comparison::compare(&sides[0], &sides[1], arguments.tolerance, RunOrder::InTurns), &context, arguments.output.json)
}

/// Returns the plan of the comparison, with its source: two tests of a plan file, or two devices in a plan of their own.
fn plan_of(arguments: &args::Compare) -> Result<(String, Loaded, Library), Failed> {
    if let Some(path) = &arguments.plan {
        let super::PlanFile { source, mut loaded, library, .. } = super::read_plan(path, &arguments.recipes)?;
        loaded.plan.tests =
            [&arguments.a, &arguments.b].map(|name| test_named(&loaded.plan, name)).into_iter().collect::<Result<_, _>>()?;
        arguments.profile.inspect(|profile| apply_profile(&mut loaded.plan, *profile));
        loaded.plan.interleave = true;
        return Ok((source, loaded, library));
    }
    let library = library(&arguments.recipes)?;
    let source = plan_text(arguments);
    let mut loaded = parse_plan("compare", &source, &library)?;
    arguments.profile.inspect(|profile| apply_profile(&mut loaded.plan, *profile));
    if let Some(repetitions) = arguments.repetitions {
        loaded.plan.tests.iter_mut().for_each(|test| test.repetitions = Repetition::Fixed(repetitions));
    }
    Ok((source, loaded, library))
}

fn test_named(plan: &Plan, name: &str) -> Result<Test, Failed> {
    plan.test(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = plan.tests.iter().map(|test| test.name.as_str()).collect();
        Failed::usage(format!("the plan has no test named {name}; it has {}", names.join(", ")))
    })
}

/// Returns the text of a plan that compares two devices. Seven repetitions are the fewest that give a meaningful interval; each
/// repetition measures both devices in turn, every second one in reverse order.
fn plan_text(arguments: &args::Compare) -> String {
    let mut text = "name = \"compare\"\ninterleave = true\n".to_owned();
    for (name, dut) in [("a", &arguments.a), ("b", &arguments.b)] {
        text += &format!(
            "\n[[test]]\nname = \"{name}\"\ntitle = \"{dut}\"\ndut = \"{dut}\"\nmeasure = \"{}\"\nframe-sizes = [{}]\nrepetitions = 7\n",
            arguments.measure, arguments.size
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_of_a_comparison_has_both_devices_up_at_once() {
        let library = library(&[]).expect("recipes");
        let arguments = args::Compare::of("linux-ipv4", "linux-ipv6");
        let (_, loaded, _) = plan_of(&arguments).expect("a plan");
        assert!(loaded.plan.interleave);
        assert_eq!(loaded.plan.tests.len(), 2);
        assert!(library.get(&loaded.plan.tests[1].dut).is_some());
    }

    #[test]
    fn an_unknown_device_is_a_mistake() {
        assert!(plan_of(&args::Compare::of("linux-ipv4", "linux-ipv5")).is_err());
    }
}
