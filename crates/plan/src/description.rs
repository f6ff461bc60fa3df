//! A description of what a plan would do: tests, trials, hours, and the clauses that are met, bent or broken.

use sixbench_method::budget::{self, Budget};
use sixbench_method::conformance::{self, Clause, Conformance};
use sixbench_method::plan::{Plan, Profile, Test};
use sixbench_method::repeat::Repetition;
use sixbench_method::units::{counted, show_ns, show_rate, show_seconds};

/// Returns the description of a plan, including the clauses that are met if `all` is set.
pub fn describe(plan: &Plan, all: bool) -> String {
    let mut text = format!("{} (profile {})\n\n", plan.name, profile_name(plan.profile));
    for test in &plan.tests {
        text += &format!(
            "  {:<20} {} of {}: {}, {}\n",
            test.name,
            test.measure.name(),
            test.dut,
            traffic(test),
            repetitions(test.repetitions)
        );
    }
    let is_of_queries = plan.tests.iter().all(|test| test.measure.dns().is_some());
    let (what, unit) =
        if is_of_queries { ("late answers", "queries/s") } else { ("residual frames", "frames/s per direction") };
    text += &format!(
        "\n  trials    {} each, up to {} for {what}, {} of rest\n",
        show_ns(plan.trial.duration_ns),
        show_ns(plan.trial.residual_ns),
        show_ns(plan.trial.rest_ns)
    );
    text += &format!(
        "  search    {} between {} and {} {unit}, to within {} %; loss goals {}\n",
        plan.search.method.info().name,
        show_rate(plan.search.minimum),
        show_rate(plan.search.maximum),
        plan.search.width * 100.0,
        plan.search.goals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    );
    text += &format!("  seed      {}\n", plan.seed);
    let reference = plan
        .reference
        .as_ref()
        .map(|name| format!("  reference {name}, which shows `compare` whether the machine changed between two runs\n"));
    text += &format!("{}\n", reference.unwrap_or_default());
    text += &cost("this plan", budget::estimate(plan));
    if plan.profile != Profile::Rfc {
        text += &cost("conformant", budget::estimate_rfc(plan));
    }
    text + "\n" + &clauses(plan, all)
}

/// Returns a description of the traffic of a test: the names that a DNS test queries, or the frame sizes.
fn traffic(test: &Test) -> String {
    if let Some(dns) = test.measure.dns() {
        let cached = if dns.cached > 0 { format!(", {} % cached", dns.cached) } else { String::new() };
        return format!("names of {}{cached}", dns.names);
    }
    let sizes: Vec<String> = test.frame_sizes.iter().map(ToString::to_string).collect();
    let background = match test.foreground.background_percent() {
        0.0 => String::new(),
        percent => format!(", {percent} % native IPv6"),
    };
    let maximum = test.maximum.map_or(String::new(), |maximum| format!(", up to {}/s", show_rate(maximum)));
    format!("{}-byte frames{background}{maximum}", sizes.join(", "))
}

fn repetitions(repetitions: Repetition) -> String {
    match repetitions {
        Repetition::Fixed(count) => counted(count, "repetition"),
        Repetition::Adaptive { least, most, .. } => format!("{least} to {most} repetitions"),
    }
}

fn cost(name: &str, budget: Budget) -> String {
    format!(
        "  {name:<11} about {}: {}, {}\n",
        show_seconds(budget.seconds),
        counted(budget.measurements, "measurement"),
        counted(budget.trials, "trial")
    )
}

/// Returns the compliance of each test with the RFCs, then the individual clauses, with those that no plan can change last.
fn clauses(plan: &Plan, all: bool) -> String {
    let compliance = |test: &Test| {
        let compliance = conformance::compliance(&conformance::of_the_test(plan, test));
        format!("  {:<20} {compliance} (RFC 2544 section 5), not counting the tester's own deviations below\n", test.name)
    };
    let mut text: String = plan.tests.iter().map(compliance).collect();
    text.push('\n');
    let mut met = 0;
    for (clause, tests) in conformance::of_plan(plan) {
        met += u32::from(clause.conformance == Conformance::Met);
        if all || clause.conformance != Conformance::Met {
            let about = if tests.len() == plan.tests.len() { String::new() } else { format!(" [{}]", tests.join(", ")) };
            let Clause { clause, level, requirement, actual, conformance } = clause;
            let requirement = requirement.trim_end_matches('.');
            text += &format!("  {conformance:<9} {clause} ({level}): {requirement}. Here: {actual}{about}\n");
        }
    }
    if !all {
        text += &format!("  and {met} clauses met (--all shows them)\n");
    }
    text
}

pub(super) fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Smoke => "smoke",
        Profile::Draft => "draft",
        Profile::Rfc => "rfc",
        Profile::Custom => "custom: its own durations",
    }
}
