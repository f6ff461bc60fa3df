//! Which test of two sides is their reference: that of a device that did not change, so that it shows whether the machine did.

use super::SetError;
use crate::results::collection::CollectedRun;
use sixbench_analysis::comparison::ComparedSide;
use sixbench_method::plan::Plan;
use std::collections::BTreeSet;

/// The reference of both sides.
#[derive(Default)]
pub(super) struct AgreedReference {
    /// The name of its test; `None` if there is none.
    pub(super) test: Option<String>,
    /// A text on why a reference that a plan names is not used.
    pub(super) warning: Option<String>,
}

/// Returns the reference: the test that the user named, otherwise the one that the plans name.
pub(super) fn agreed(
    sides: [&[CollectedRun]; 2],
    named: Option<&str>,
) -> Result<AgreedReference, SetError> {
    // All runs of a side have the same plan (head of `sets`), so the first stands for them.
    let plans = sides.map(|runs| &runs[0].stored.plan);
    match named {
        Some(name) => check(plans, name).map(|()| AgreedReference {
            test: Some(name.to_owned()),
            warning: None,
        }),
        None => Ok(of_plans(sides.map(names), plans)),
    }
}

/// Returns the names of the references in the plans of a side.
fn names(runs: &[CollectedRun]) -> BTreeSet<&str> {
    runs.iter()
        .filter_map(|run| run.stored.plan.reference.as_deref())
        .collect()
}

/// Returns the reference that the plans name. The plans of older results name none, but may have its test.
fn of_plans([of_a, of_b]: [BTreeSet<&str>; 2], plans: [&Plan; 2]) -> AgreedReference {
    let mut all = of_a.union(&of_b);
    let (Some(name), other) = (all.next(), all.next()) else {
        return AgreedReference::default();
    };
    let refused = if other.is_some() {
        Some(different(&of_a, &of_b))
    } else {
        check(plans, name).err().map(|error| error.to_string())
    };
    match refused {
        None => AgreedReference {
            test: Some((*name).to_owned()),
            warning: None,
        },
        Some(why) => AgreedReference {
            test: None,
            warning: Some(format!(
                "warning: {why}; A and B are compared without a reference"
            )),
        },
    }
}

fn different(of_a: &BTreeSet<&str>, of_b: &BTreeSet<&str>) -> String {
    let (a, b) = (listed(of_a), listed(of_b));
    format!(
        "the plans name different references (A {a}, B {b}); choose a test that both have with --reference TEST"
    )
}

fn listed(names: &BTreeSet<&str>) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.iter().copied().collect::<Vec<_>>().join(" and ")
    }
}

/// Checks that both plans have a test of this name, which measures the same device in the same way.
fn check(plans: [&Plan; 2], name: &str) -> Result<(), SetError> {
    for (which, plan) in [ComparedSide::A, ComparedSide::B].into_iter().zip(plans) {
        if plan.test(name).is_none() {
            let tests = plan
                .tests
                .iter()
                .map(|test| test.name.as_str())
                .collect::<Vec<_>>()
                .join(", ");
            return Err(SetError::NoReference {
                which,
                test: name.to_owned(),
                tests,
            });
        }
    }
    let [a, b] = plans.map(|plan| plan.test(name));
    let is_same = a
        .zip(b)
        .is_some_and(|(a, b)| a.dut == b.dut && a.asks_the_same_as(b));
    if is_same {
        Ok(())
    } else {
        Err(SetError::OtherReference {
            test: name.to_owned(),
        })
    }
}
