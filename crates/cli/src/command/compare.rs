//! `sixbench compare A B`: what B is to A, from results that are there or from a run in which the two take turns.

use super::{check_feasible, library, parse_plan, run};
use crate::args;
use crate::config::units::show_rate;
use crate::config::{Loaded, apply_profile};
use crate::exit::{Exit, Failed};
use crate::output;
use crate::run::store::load;
use serde::Serialize;
use sixbench_method::comparison::{Row, Subject, compare as rows_of};
use sixbench_method::measure::{Outcome, Unit};
use sixbench_method::plan::{Plan, Point, Test};
use sixbench_method::replay;
use sixbench_method::stats::Comparison;
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_testbed::Library;
use std::path::Path;

/// The repetitions of one side.
struct Side {
    name: String,
    plan: Plan,
    outcomes: Vec<Outcome>,
}

/// The rows of one test and frame size.
#[derive(Serialize)]
struct Compared {
    a: String,
    b: String,
    frame_size: FrameSize,
    rows: Vec<Row>,
}

/// Compares and says so with the exit code, too: 5 when B is shown to be worse.
pub(crate) fn compare(arguments: &args::Compare) -> Result<Exit, Failed> {
    let directories = [&arguments.a, &arguments.b].map(|name| Path::new(name).join("trials.jsonl").exists());
    let compared = match directories {
        [true, true] => of_directories(arguments)?,
        // No device has a name like a path.
        [false, false] if ![&arguments.a, &arguments.b].iter().any(|name| name.contains('/')) => of_a_run(arguments)?,
        [false, _] if directories[1] || arguments.a.contains('/') => return Err(no_results(&arguments.a)),
        _ => return Err(no_results(&arguments.b)),
    };
    if compared.iter().all(|compared| compared.rows.is_empty()) {
        return Err(Failed::usage(
            "the two have no measurement in common: the same measure, frame size, directions and traffic",
        ));
    }
    match arguments.output.json {
        true => output::line(serde_json::json!({ "comparison": compared }))?,
        false => output::print(compared.iter().map(describe).collect::<String>())?,
    }
    let is_worse = compared.iter().flat_map(|c| &c.rows).any(|row| row.verdict == Comparison::Worse);
    Ok(if is_worse { Exit::Missed } else { Exit::Done })
}

/// What is neither a device nor a directory with trials.
fn no_results(name: &str) -> Failed {
    Failed::usage(format!(
        "{name} holds no results (trials.jsonl); compare two results directories, or two devices (sixbench list duts)"
    ))
}

fn of_directories(arguments: &args::Compare) -> Result<Vec<Compared>, Failed> {
    let side = |name: &String| -> Result<Side, Failed> {
        let stored = load(Path::new(name))?;
        let outcomes = replay::outcomes(&stored.plan, &stored.records);
        Ok(Side { name: name.clone(), plan: stored.plan, outcomes })
    };
    let (a, b) = (side(&arguments.a)?, side(&arguments.b)?);
    are_alike(&a.plan, &b.plan)?;
    Ok(pairs(&a, &b, |_| true, |_| true, arguments.tolerance))
}

/// Runs that were made in different ways differ whatever the devices do.
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

/// Whether two tests ask the same of their devices.
fn ask_the_same(a: &Test, b: &Test) -> bool {
    let timeouts = a.frame_timeout_ns == b.frame_timeout_ns;
    let traffic = a.directions == b.directions && a.foreground == b.foreground && a.traffic == b.traffic;
    a.measure == b.measure && traffic && a.stateful == b.stateful && timeouts
}

/// Tests of the same name are compared; where each side has a single one, these, whatever their names.
fn pairs(a: &Side, b: &Side, of_a: impl Fn(&Test) -> bool, of_b: impl Fn(&Test) -> bool, tolerance: f64) -> Vec<Compared> {
    let tests = |side: &Side, wanted: &dyn Fn(&Test) -> bool| -> Vec<Test> {
        side.plan.tests.iter().filter(|test| wanted(test)).cloned().collect()
    };
    let (left, right) = (tests(a, &of_a), tests(b, &of_b));
    let are_single = left.len() == 1 && right.len() == 1;
    let matches = |x: &Test, y: &Test| ask_the_same(x, y) && (are_single || x.name == y.name);
    let couples = left.iter().flat_map(|x| right.iter().filter(move |y| matches(x, y)).map(move |y| (x, y)));
    let compared = couples.flat_map(|(x, y)| x.frame_sizes.iter().map(move |&size| (x, y, size)));
    let at = |side: &Side, test: &Test, size| {
        let point = Point { test: test.name.clone(), frame_size: size };
        side.outcomes.iter().filter(|outcome| outcome.point == point).cloned().collect::<Vec<_>>()
    };
    let name = |side: &Side, test: &Test| {
        if a.name == b.name { test.title.clone() } else { format!("{} ({})", test.title, side.name) }
    };
    let all = compared.map(|(x, y, size)| Compared {
        a: name(a, x),
        b: name(b, y),
        frame_size: size,
        rows: rows_of(&at(a, x, size), &at(b, y, size), tolerance)
            .into_iter()
            .map(|row| Row { subject: row.subject.of(&x.measure), ..row })
            .collect(),
    });
    all.filter(|compared| !compared.rows.is_empty()).collect()
}

/// Measures both, turn by turn, and compares.
fn of_a_run(arguments: &args::Compare) -> Result<Vec<Compared>, Failed> {
    let (source, loaded, library) = plan_of(arguments)?;
    check_feasible(&loaded, &library, arguments.force)?;
    let results = run::measure(&loaded, &source, &library, &arguments.output)?;
    if !matches!(results.exit, Exit::Done | Exit::TesterUnfit | Exit::Missed) {
        let text =
            format!("nothing to compare: the run did not come to its end; its results are in {}", results.directory.display());
        return Err(Failed::new(results.exit, anyhow::anyhow!(text)));
    }
    let stored = load(&results.directory)?;
    let outcomes = replay::outcomes(&stored.plan, &stored.records);
    let side = Side { name: String::new(), plan: stored.plan, outcomes };
    let (a, b) = (&side.plan.tests[0].name.clone(), &side.plan.tests[1].name.clone());
    Ok(pairs(&side, &side, |test| test.name == *a, |test| test.name == *b, arguments.tolerance))
}

/// Two tests of a plan file, or two devices in a plan of their own.
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
        loaded
            .plan
            .tests
            .iter_mut()
            .for_each(|test| test.repetitions = sixbench_method::repeat::Repetition::Fixed(repetitions));
    }
    Ok((source, loaded, library))
}

fn test_named(plan: &Plan, name: &str) -> Result<Test, Failed> {
    plan.test(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = plan.tests.iter().map(|test| test.name.as_str()).collect();
        Failed::usage(format!("the plan has no test named {name}; it has {}", names.join(", ")))
    })
}

/// Seven repetitions are the fewest that leave an interval worth the name; each has both devices in turn, every second one backwards.
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

fn describe(compared: &Compared) -> String {
    let mut text = format!("{} bytes: A = {}, B = {}\n", compared.frame_size, compared.a, compared.b);
    for row in &compared.rows {
        let shown = |value: f64| show(&row.subject, value);
        text += &format!(
            "  {}: A {} (n = {}), B {} (n = {}): {}\n",
            row.subject,
            shown(row.a.median),
            row.a.n,
            shown(row.b.median),
            row.b.n,
            in_words(row)
        );
    }
    text
}

fn show(subject: &Subject, value: f64) -> String {
    match subject {
        Subject::Rate(_) => format!("{} frames/s", show_rate(FrameRate(value as u64))),
        Subject::ConnectionRate(_) => format!("{} connections/s", show_rate(FrameRate(value as u64))),
        Subject::Value(quantity, ..) => match quantity.unit() {
            Unit::Nanoseconds => format!("{:.3} ms", value / 1e6),
            Unit::Percent => format!("{value:.4} %"),
            Unit::Frames => format!("{value:.0} frames"),
            Unit::Connections => format!("{value:.0} connections"),
            Unit::ConnectionsPerSecond => format!("{value:.0} connections/s"),
            Unit::FramesPerSecond => format!("{value:.0} frames/s of both directions"),
            Unit::Octets => format!("{:.0} kB", value / 1e3),
        },
    }
}

fn in_words(row: &Row) -> String {
    let Some(shift) = row.shift else {
        return match row.verdict {
            Comparison::Better => "B is better at 95 % (by differences: there are zeroes)".to_owned(),
            Comparison::Worse => "B is worse at 95 % (by differences: there are zeroes)".to_owned(),
            Comparison::NoDifferenceShown => "no difference shown (four repetitions each are the fewest that could)".to_owned(),
        };
    };
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    let verdict = match row.verdict {
        Comparison::Better => "B is better",
        Comparison::Worse => "B is worse",
        Comparison::NoDifferenceShown => "no difference shown",
    };
    format!("{} [{}, {}] at 95 %: {verdict}", percent(shift.ratio), percent(shift.low), percent(shift.high))
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
