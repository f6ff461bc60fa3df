//! A description of what a plan would do: first hours and trials, then how far it conforms, then its tests. The terminal sets it.

use sixbench_method::budget::{self, Budget};
use sixbench_method::conformance::{self, Clause, Compliance, Conformance};
use sixbench_method::plan::{Plan, Profile, Test};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::Certainty;
use sixbench_method::units::{counted, show_ns, show_percent, show_rate, show_seconds};

/// A part of a description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DescriptionPart {
    /// The line above it; empty for most.
    pub heading: String,
    /// Rows of two cells: a name, and what is said of it.
    pub rows: Vec<Vec<String>>,
}

/// The clauses that a description includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownClauses {
    /// Only how many there are.
    Counts,
    /// All but those that are met.
    NotMet,
    /// All.
    All,
}

/// Returns the description of a plan, the most important section first.
pub fn describe(plan: &Plan, shown: ShownClauses) -> Vec<DescriptionPart> {
    let heading = format!("{} (profile {})", plan.name, profile_name(plan.profile));
    let mut costs = vec![cost("this plan", budget::estimate(plan))];
    if plan.profile != Profile::Rfc {
        costs.push(cost("conformant", budget::estimate_rfc(plan)));
    }
    let tests = plan.tests.iter().map(test).collect();
    let clauses = if shown == ShownClauses::Counts {
        Vec::new()
    } else {
        clauses(plan, shown)
    };
    let sections = [
        DescriptionPart {
            heading,
            rows: costs,
        },
        compliance(plan),
        DescriptionPart {
            heading: String::new(),
            rows: tests,
        },
        DescriptionPart {
            heading: String::new(),
            rows: settings(plan),
        },
        DescriptionPart {
            heading: "Clauses:".to_owned(),
            rows: clauses,
        },
    ];
    sections
        .into_iter()
        .filter(|section| !section.rows.is_empty())
        .collect()
}

fn row(name: &str, text: String) -> Vec<String> {
    vec![name.to_owned(), text]
}

fn test(test: &Test) -> Vec<String> {
    let (measure, traffic) = (test.measure.name(), traffic(test));
    row(
        &test.name,
        format!(
            "{measure} of {}: {traffic}, {}",
            test.dut,
            repetitions(test.repetitions)
        ),
    )
}

/// Returns the settings that all tests of the plan share.
fn settings(plan: &Plan) -> Vec<Vec<String>> {
    let (what, unit) = if plan.has_others_than_queries() {
        ("residual frames", "frames/s per direction")
    } else {
        ("late answers", "queries/s")
    };
    let (trial, search) = (&plan.trial, &plan.search);
    let [duration, residual, rest] =
        [trial.duration_ns, trial.residual_ns, trial.rest_ns].map(show_ns);
    let (least, most, width) = (
        show_rate(search.minimum),
        show_rate(search.maximum),
        show_percent(search.width),
    );
    let goals = search
        .goals
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    let method = search.method.info().name;
    let reference = plan.reference.as_ref().map(|name| {
        row(
            "reference",
            format!("{name}, which shows `compare` whether the machine changed between two runs"),
        )
    });
    let rows = [
        row(
            "trials",
            format!("{duration} each, up to {residual} for {what}, {rest} of rest"),
        ),
        row(
            "search",
            format!(
                "{method} between {least} and {most} {unit}, to within {width}; loss goals {goals}{}",
                certainty(search.certainty)
            ),
        ),
        row("seed", plan.seed.to_string()),
    ];
    rows.into_iter().chain(reference).collect()
}

/// Returns what the trials at one load must add up to, as the end of a sentence; nothing if one trial decides.
fn certainty(certainty: Option<Certainty>) -> String {
    certainty.map_or_else(String::new, |certainty| {
        format!(
            "; {} of trials at a load, {} of which may lose more",
            show_ns(certainty.duration_sum_ns),
            show_percent(certainty.exceed_ratio)
        )
    })
}

/// Returns a description of the traffic of a test: the names that a DNS test queries, or the frame sizes.
fn traffic(test: &Test) -> String {
    if let Some(dns) = test.measure.dns() {
        let cached = if dns.cached > 0 {
            format!(", {} % cached", dns.cached)
        } else {
            String::new()
        };
        return format!("names of {}{cached}", dns.names);
    }
    let background = match test.foreground.background_percent() {
        0.0 => String::new(),
        percent => format!(", {percent} % native IPv6"),
    };
    let maximum = test.maximum.map_or(String::new(), |maximum| {
        format!(", up to {}/s", show_rate(maximum))
    });
    let sizes = test.sizes_in_words();
    let frames = match test.traffic.size_mix {
        Some(_) => format!("frames of mixed sizes ({sizes})"),
        None => format!("{sizes}-byte frames"),
    };
    format!("{frames}{background}{maximum}")
}

fn repetitions(repetitions: Repetition) -> String {
    match repetitions {
        Repetition::Fixed(count) => counted(count, "repetition"),
        Repetition::Adaptive { least, most, .. } => format!("{least} to {most} repetitions"),
    }
}

fn cost(name: &str, budget: Budget) -> Vec<String> {
    let (time, measurements) = (
        show_seconds(budget.seconds),
        counted(budget.measurements, "measurement"),
    );
    row(
        name,
        format!(
            "about {time}: {measurements}, {}",
            counted(budget.trials, "trial")
        ),
    )
}

/// Returns which tests comply with the RFCs, and the number of clauses by how they are met.
fn compliance(plan: &Plan) -> DescriptionPart {
    let of_tests = plan.tests.iter().map(|test| {
        (
            conformance::compliance(&conformance::of_the_test(plan, test)),
            &test.name,
        )
    });
    let mut groups: Vec<(Compliance, Vec<&str>)> = Vec::new();
    for (compliance, name) in of_tests {
        match groups.iter_mut().find(|(other, _)| *other == compliance) {
            Some((_, names)) => names.push(name),
            None => groups.push((compliance, vec![name])),
        }
    }
    let mut rows: Vec<Vec<String>> = groups
        .iter()
        .map(|(compliance, names)| complying(*compliance, names, plan))
        .collect();
    rows.push(row("clauses", counts(plan)));
    DescriptionPart {
        heading: "Compliance (RFC 2544 section 5), not counting the tester's own deviations:"
            .to_owned(),
        rows,
    }
}

fn complying(compliance: Compliance, names: &[&str], plan: &Plan) -> Vec<String> {
    let tests = if names.len() == plan.tests.len() {
        String::new()
    } else {
        format!(" ({})", names.join(", "))
    };
    row(
        &counted(names.len() as u64, "test"),
        format!("{compliance}{tests}"),
    )
}

/// Returns the number of clauses that are broken, bent, not checked and met.
fn counts(plan: &Plan) -> String {
    let clauses = conformance::of_plan(plan);
    let number = |wanted: Conformance| {
        clauses
            .iter()
            .filter(|(clause, _)| clause.conformance == wanted)
            .count()
    };
    let kinds = [
        Conformance::Violated,
        Conformance::Partial,
        Conformance::Unchecked,
        Conformance::Met,
    ];
    let counts = kinds
        .into_iter()
        .map(|kind| (number(kind), label(kind)))
        .filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts
        .map(|(number, label)| format!("{number} {label}"))
        .collect();
    format!(
        "{}; --clauses shows those that are not met",
        counts.join(", ")
    )
}

fn label(conformance: Conformance) -> String {
    match conformance {
        Conformance::Unchecked => "unchecked".to_owned(),
        Conformance::Met | Conformance::Partial | Conformance::Violated => conformance.to_string(),
    }
}

/// Returns the individual clauses, with those that no plan can change last.
fn clauses(plan: &Plan, shown: ShownClauses) -> Vec<Vec<String>> {
    let rows = conformance::of_plan(plan).into_iter();
    let is_shown =
        |clause: &Clause| shown == ShownClauses::All || clause.conformance != Conformance::Met;
    rows.filter(|(clause, _)| is_shown(clause))
        .map(|(clause, tests)| clause_row(&clause, &tests, plan))
        .collect()
}

fn clause_row(clause: &Clause, tests: &[String], plan: &Plan) -> Vec<String> {
    let about = if tests.len() == plan.tests.len() {
        String::new()
    } else {
        format!(" [{}]", tests.join(", "))
    };
    let Clause {
        clause,
        level,
        requirement,
        actual,
        conformance,
    } = clause;
    let requirement = requirement.trim_end_matches('.');
    row(
        &label(*conformance),
        format!("{clause} ({level}): {requirement}. Here: {actual}{about}"),
    )
}

pub(crate) fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Smoke => "smoke",
        Profile::Draft => "draft",
        Profile::Rfc => "rfc",
        Profile::Custom => "custom: its own durations",
    }
}
