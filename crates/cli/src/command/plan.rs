//! `sixbench plan` and `sixbench check`: what would happen, before anything does.

use super::{library, read_plan};
use crate::args;
use crate::config::apply_profile;
use crate::config::units::{show_ns, show_rate, show_seconds};
use crate::exit::{Exit, Failed};
use sixbench_method::budget::{self, Budget};
use sixbench_method::plan::{Plan, Profile, SearchMethod};
use sixbench_testbed::{Cores, Dut, Library, Shell, Topology};
use std::path::Path;

/// Validates a plan file.
pub(crate) fn check(path: &Path) -> Result<Exit, Failed> {
    let library = library(&[])?;
    let (_, loaded) = read_plan(path, &library)?;
    let points: usize = loaded.plan.tests.iter().map(|test| test.frame_sizes.len()).sum();
    println!("{}: good ({} tests, {points} points)", path.display(), loaded.plan.tests.len());
    Ok(Exit::Done)
}

/// Shows trials, hours and clauses, or the testbed's commands.
pub(crate) fn plan(arguments: &args::Plan) -> Result<Exit, Failed> {
    let library = library(&arguments.recipes)?;
    let (_, mut loaded) = read_plan(&arguments.plan, &library)?;
    if let Some(profile) = arguments.profile {
        apply_profile(&mut loaded.plan, profile);
    }
    if arguments.shell {
        return shell(&loaded.plan, &library);
    }
    print!("{}", describe(&loaded.plan));
    Ok(Exit::Done)
}

/// The plan in words.
fn describe(plan: &Plan) -> String {
    let mut text = format!("{} (profile {})\n\n", plan.name, profile_name(plan.profile));
    for test in &plan.tests {
        let sizes: Vec<String> = test.frame_sizes.iter().map(ToString::to_string).collect();
        let background = match test.foreground.background_percent() {
            0.0 => String::new(),
            percent => format!(", {percent} % native IPv6"),
        };
        text += &format!(
            "  {:<20} {}: {}-byte frames{background}, {} repetitions\n",
            test.name,
            test.dut,
            sizes.join(", "),
            test.repetitions
        );
    }
    text += &format!(
        "\n  trials    {} each, up to {} for residual frames, {} of rest\n",
        show_ns(plan.trial.duration_ns),
        show_ns(plan.trial.residual_ns),
        show_ns(plan.trial.rest_ns)
    );
    text += &format!(
        "  search    {} between {} and {} frames/s per direction, to {} %; loss goals {}\n",
        match plan.search.method {
            SearchMethod::Binary => "binary",
            SearchMethod::Mlrsearch => "MLRsearch",
        },
        show_rate(plan.search.minimum),
        show_rate(plan.search.maximum),
        plan.search.width * 100.0,
        plan.search.goals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    );
    text += &format!("  seed      {}\n\n", plan.seed);
    text += &cost("this plan", budget::estimate(plan));
    if plan.profile != Profile::Rfc {
        text += &cost("conformant", budget::estimate_rfc(plan));
    }
    text + "\n" + &clauses(plan)
}

fn cost(name: &str, budget: Budget) -> String {
    format!(
        "  {name:<11} about {}: {} measurements, {} trials\n",
        show_seconds(budget.seconds),
        budget.measurements,
        budget.trials
    )
}

fn clauses(plan: &Plan) -> String {
    let clauses = sixbench_method::conformance::clauses(plan);
    let line = |c: &sixbench_method::conformance::Clause| {
        let standing = if c.is_met { "met " } else { "bent" };
        format!("  {standing}  {:<22} {}: {}\n", c.clause, c.asks, c.here)
    };
    clauses.iter().map(line).collect()
}

fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Smoke => "smoke",
        Profile::Draft => "draft",
        Profile::Rfc => "rfc",
        Profile::Custom => "custom: durations of its own",
    }
}

/// Rehearses every device of the plan and prints what would be run.
fn shell(plan: &Plan, library: &Library) -> Result<Exit, Failed> {
    let rehearsal = Shell::rehearsal();
    let cores = Cores::divide(&sixbench_io::thread::allowed_cores()?);
    let mut seen: Vec<&str> = Vec::new();
    for test in &plan.tests {
        let Some(recipe) = library.get(&test.dut).filter(|_| !seen.contains(&test.dut.as_str())) else { continue };
        seen.push(&test.dut);
        let broken = |e| Failed::new(Exit::Testbed, e);
        let topology = Topology::build(&rehearsal, "", cores.clone(), 1500).map_err(broken)?;
        let dut = Dut::bring_up(recipe, &topology).map_err(broken)?;
        drop((dut, topology));
    }
    print!("{}", rehearsal.transcript().text());
    Ok(Exit::Done)
}
