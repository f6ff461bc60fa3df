//! `sixbench compare A B`: compares B with A, from existing results or from a run in which the two take turns.

use super::{Consent, Permission, library, parse_plan, run};
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use crate::view::columns;
use serde_json::Value;
use sixbench_analysis::comparison::{self, Compared, ComparedSide, Comparison, RunOrder};
use sixbench_method::plan::{Selection, Test};
use sixbench_method::record::LinkKind;
use sixbench_method::repeat::Repetition;
use sixbench_method::replay;
use sixbench_plan::{LoadedPlan, plans};
use sixbench_report::comparison::{ComparisonWords, describe, json, reason, table};
use sixbench_runner::OwnFile;
use sixbench_runner::reporting::write_comparison;
use sixbench_runner::sets::{TwoSets, is_set};
use sixbench_runner::store::load;
use sixbench_testbed::Library;
use std::path::{Path, PathBuf};

/// Compares two sides and prints the result, which also determines the exit code: see [`crate::exit::TABLE`].
pub(crate) fn compare(arguments: &args::Compare) -> Result<Exit, Failed> {
    // A page that cannot be written is refused now, and not after hours of measuring.
    arguments
        .page
        .iter()
        .try_for_each(|page| OwnFile::of_comparison(page).check(page))?;
    let paths = [&arguments.a, &arguments.b].map(Path::new);
    match paths.map(is_set) {
        [true, true] => {
            let sets =
                TwoSets::read(paths, arguments.reference.as_deref()).map_err(Failed::usage)?;
            check_different(paths)?;
            let names = [arguments.a.clone(), arguments.b.clone()];
            conclude(
                sets.compare(arguments.margin),
                names,
                &sets.warnings,
                &arguments.page,
                arguments,
            )
        }
        // A name with a slash is a path, because no device name has one.
        [false, false]
            if ![&arguments.a, &arguments.b]
                .iter()
                .any(|name| name.contains('/')) =>
        {
            of_a_run(arguments)
        }
        [false, has_b] if has_b || arguments.a.contains('/') => Err(no_results(&arguments.a)),
        _ => Err(no_results(&arguments.b)),
    }
}

/// Refuses to compare a directory with itself, by whatever paths it was named.
fn check_different(paths: [&Path; 2]) -> Result<(), Failed> {
    match paths.map(Path::canonicalize) {
        [Ok(a), Ok(b)] if a == b => Err(Failed::usage(format!(
            "A and B are the same directory: {}",
            a.display()
        ))),
        _ => Ok(()),
    }
}

/// Returns the error for a name that is neither a device nor a directory with trials.
fn no_results(name: &str) -> Failed {
    Failed::usage(format!(
        "{name} holds no results (trials.jsonl); compare two results directories, two folders of them, or two devices (sixbench list duts)"
    ))
}

/// Prints a comparison and writes its pages; the last line gives the reason for the exit code.
fn conclude(
    compared: Option<Comparison<'_>>,
    names: [String; 2],
    warnings: &[String],
    pages: &[PathBuf],
    arguments: &args::Compare,
) -> Result<Exit, Failed> {
    let compared = compared.ok_or_else(|| {
        Failed::usage("the two have no measurement in common (with the same measure, frame timeout, directions and traffic)")
    })?;
    let exit = Exit::from(compared.gate());
    let explanation = exit.because(reason(&compared, " (sixbench doctor shows the cause)"));
    let words = ComparisonWords {
        names: &names,
        explanation: &explanation,
        warnings,
        margin: arguments.margin,
    };
    for page in pages {
        write_comparison(page, &compared, &words)?;
    }
    if arguments.output.json {
        let mut told = json(&compared, &names, warnings);
        (told["exit_code"], told["explanation"]) =
            (Value::from(exit as u8), Value::from(explanation));
        output::line(told)?;
        return Ok(exit);
    }
    for warning in warnings {
        tell!("{warning}");
    }
    output::print(
        table(&compared, &names, columns()).unwrap_or_else(|| describe(&compared, &names)),
    )?;
    pages
        .iter()
        .try_for_each(|page| output::line(format_args!("page: {}", page.display())))?;
    output::line(explanation)?;
    Ok(exit)
}

/// Measures both sides in turn and compares them.
fn of_a_run(arguments: &args::Compare) -> Result<Exit, Failed> {
    let (source, loaded, library) = plan_of(arguments)?;
    check_joined_alike(&loaded, &library)?;
    let consent = Consent {
        force: arguments.isolation.force,
        trust_recipes: arguments.further.trust_recipes,
    };
    let permission = Permission::granted(consent, &loaded, &library)?;
    let planned = run::PlannedRun {
        loaded,
        source: &source,
        selection: Selection::default(),
    };
    let results = run::measure(planned, &library, &arguments.output, &permission)?;
    if !matches!(
        results.exit,
        Exit::Done | Exit::TesterUnfit | Exit::Missed | Exit::Missing
    ) {
        let text = format!(
            "nothing to compare: the run did not finish; its results are in {}",
            results.directory.display()
        );
        return Err(Failed::new(results.exit, anyhow::anyhow!(text)));
    }
    let stored = load(&results.directory)?;
    let outcomes = replay::outcomes(&stored.plan, &stored.records);
    let side = |which, index: usize| Compared {
        which,
        tests: vec![&stored.plan.tests[index]],
        runs: vec![&outcomes],
    };
    let compared = comparison::compare(
        &side(ComparedSide::A, 0),
        &side(ComparedSide::B, 1),
        arguments.margin,
        RunOrder::InTurns,
    );
    let records = [&stored.records[..]];
    let compared = compared.map(|compared| {
        compared
            .with_anomalies([&records, &records])
            .with_requirements([&records, &records])
    });
    let pages = [
        vec![results.directory.join("comparison.html")],
        arguments.page.clone(),
    ]
    .concat();
    conclude(compared, Default::default(), &[], &pages, arguments)
}

/// Refuses two devices of which only one would share memory with the tester: what that saves would count as the device's.
fn check_joined_alike(loaded: &LoadedPlan, library: &Library) -> Result<(), Failed> {
    let group = |test: &Test| {
        library
            .get(&test.dut)
            .map(|recipe| recipe.host.links().group())
    };
    match (&loaded.links.ports, &loaded.plan.tests[..]) {
        (None, [a, b]) if group(a) != group(b) => {
            let in_memory = if group(a) == Some(LinkKind::SharedMemory) {
                &a.dut
            } else {
                &b.dut
            };
            Err(Failed::usage(format!(
                "{} and {} cannot be compared: {in_memory} shares memory with the tester, so that no frame passes a kernel, and the other is at veth pairs; \
                 compare devices that are joined alike (sixbench list duts)",
                a.dut, b.dut
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the plan of the comparison and its source: two tests of a plan file, or a plan written for two devices.
fn plan_of(arguments: &args::Compare) -> Result<(String, LoadedPlan, Library), Failed> {
    if let Some(path) = &arguments.plan {
        let super::PlanFile {
            source,
            mut loaded,
            library,
            ..
        } = super::read_plan(path, &arguments.further.named.recipes)?;
        loaded.plan.tests = [&arguments.a, &arguments.b]
            .map(|name| plans::test_named(&loaded.plan, name).map_err(Failed::usage))
            .into_iter()
            .collect::<Result<_, _>>()?;
        super::follow(arguments.profile, &mut loaded.plan, &source);
        // The machine influences tests that take turns alike, so a reference device would tell nothing more.
        (loaded.plan.interleave, loaded.plan.reference) = (true, None);
        return Ok((source, loaded, library));
    }
    let library = library(&arguments.further.named.recipes)?;
    let source = plans::of_two(
        [&arguments.a, &arguments.b],
        &arguments.measure,
        arguments.size,
    );
    let mut loaded = parse_plan("compare", &source, &library)?;
    super::follow(arguments.profile, &mut loaded.plan, &source);
    if let Some(repetitions) = arguments.repetitions {
        loaded
            .plan
            .tests
            .iter_mut()
            .for_each(|test| test.repetitions = Repetition::Fixed(repetitions));
    }
    Ok((source, loaded, library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_of_a_comparison_has_both_devices_up_at_once() {
        let library = library(&[]).expect("recipes");
        let arguments = args::Compare::parse_sides("linux-ipv4", "linux-ipv6");
        let (_, loaded, _) = plan_of(&arguments).expect("a plan");
        assert!(loaded.plan.interleave);
        assert_eq!(loaded.plan.tests.len(), 2);
        assert!(library.get(&loaded.plan.tests[1].dut).is_some());
    }

    #[test]
    fn devices_in_shared_memory_are_not_measured_beside_those_at_veth_pairs() {
        let refused = |a: &str, b: &str| {
            let (_, loaded, library) = plan_of(&args::Compare::parse_sides(a, b)).expect("a plan");
            check_joined_alike(&loaded, &library)
                .err()
                .map(|failed| failed.error.to_string())
        };
        let why = refused("linux-ipv4", "testpmd-io").expect("refused");
        assert!(
            why.starts_with(
                "linux-ipv4 and testpmd-io cannot be compared: testpmd-io shares memory"
            ),
            "{why}"
        );
        assert!(
            refused("vpp-ipv4", "linux-ipv4")
                .expect("refused")
                .contains(": vpp-ipv4 shares memory")
        );
        assert_eq!(refused("vpp-ipv4", "testpmd-io"), None);
        assert_eq!(refused("linux-ipv4", "linux-ipv6"), None);
    }

    #[test]
    fn a_directory_is_not_compared_with_itself() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let again = here.join("src/..");
        assert!(
            check_different([here, &again])
                .is_err_and(|failed| failed.error.to_string().starts_with("A and B are the same"))
        );
        assert!(check_different([here, &here.join("src")]).is_ok());
    }

    #[test]
    fn an_unknown_device_is_a_mistake() {
        assert!(plan_of(&args::Compare::parse_sides("linux-ipv4", "linux-ipv5")).is_err());
    }
}
