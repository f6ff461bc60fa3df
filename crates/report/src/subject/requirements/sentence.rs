//! The sentence on all devices that were asked for requirements: how many violate a MUST, and the worst of them.

use crate::digest::{Digest, PointDigest};
use crate::wording::requirements::{loaded_beside, met_in_words, requirements_in_words};
use sixbench_method::lists::by_key;
use sixbench_method::trial::{JudgedVector, LoadedFinding, RequirementLevel, RequirementResults};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The findings of all tests of one device.
struct AskedDevice<'d> {
    title: &'d str,
    results: RequirementResults,
}

impl AskedDevice<'_> {
    /// Returns the number of MUSTs that are violated, quietly or under load.
    fn musts(&self) -> usize {
        self.results.count(|vector| {
            vector.level == RequirementLevel::Must && self.results.is_violated_at_all(vector)
        })
    }

    /// Returns the number of requirements that are violated, quietly or under load.
    fn violated(&self) -> usize {
        let results = &self.results;
        results.count(|vector| results.is_violated_at_all(vector))
    }
}

/// Returns the sentence; `None` if no device was asked, or only one, by a single test, about which there is a sentence of its own.
pub(crate) fn sentence(digest: &Digest) -> Option<String> {
    let points: Vec<&PointDigest> = digest
        .points
        .iter()
        .filter(|point| point.requirements().is_some())
        .collect();
    if points.len() < 2 {
        return None;
    }
    let of_devices = by_key(points.iter().map(|point| (&*point.test.dut, *point)));
    let mut devices: Vec<AskedDevice> = of_devices
        .iter()
        .map(|(_, points)| device(digest, points))
        .collect();
    // The order of the plan decides between equals.
    devices.sort_by_key(|device| Reverse((device.musts(), device.violated())));
    Some(match devices.as_slice() {
        [only] => format!("{}: {}.", only.title, requirements_in_words(&only.results)),
        several => of_several(several),
    })
}

fn device<'d>(digest: &Digest<'d>, points: &[&PointDigest<'d>]) -> AskedDevice<'d> {
    let of_tests = points.iter().filter_map(|point| point.requirements());
    AskedDevice {
        title: digest.dut_title(points[0].test),
        results: worst_of(of_tests.collect()),
    }
}

/// Returns the worst that several tests of a device found of each vector: quietly, and under the load of those that had one.
fn worst_of(of_tests: Vec<&RequirementResults>) -> RequirementResults {
    let mut worst: BTreeMap<&str, JudgedVector> = BTreeMap::new();
    for (results, vector) in of_tests
        .iter()
        .flat_map(|results| results.vectors.iter().map(move |vector| (results, vector)))
    {
        let known = worst.entry(&vector.name).or_insert_with(|| JudgedVector {
            under_load: None,
            ..vector.clone()
        });
        keep_worse(known, vector, results.differing(vector));
    }
    let offered = of_tests.iter().find_map(|results| results.offered_load());
    let load = offered.or_else(|| of_tests.iter().find_map(|results| results.load.as_ref()));
    RequirementResults {
        load: load.cloned(),
        vectors: worst.into_values().collect(),
    }
}

/// Puts what another test found of a vector in the place of what is known, where it is worse.
fn keep_worse(known: &mut JudgedVector, found: &JudgedVector, loaded: Option<&LoadedFinding>) {
    if found.result < known.result {
        *known = JudgedVector {
            under_load: known.under_load.take(),
            ..found.clone()
        };
    }
    let before = known.under_load.as_ref().map(|before| before.result);
    if let Some(loaded) = loaded.filter(|loaded| before.is_none_or(|it| loaded.result < it)) {
        known.under_load = Some(Box::new(loaded.clone()));
    }
}

/// Returns the sentence on devices of which the first is the worst.
fn of_several(devices: &[AskedDevice]) -> String {
    let worst = &devices[0];
    let number = devices.len();
    let violating = devices.iter().filter(|device| device.musts() > 0).count();
    let all = if number == 2 {
        "Both devices".to_owned()
    } else {
        format!("All {number} devices")
    };
    if worst.violated() == 0 {
        return format!("{all} meet every requirement that has a result.");
    }
    let figures = requirements_in_words(&worst.results);
    let subject = match violating {
        0 => {
            return format!(
                "None of {number} devices violates a MUST; the worst is {}: {}{}.",
                worst.title,
                met_in_words(&worst.results),
                loaded_beside(&worst.results)
            );
        }
        1 => {
            return format!(
                "{} alone of {number} devices violates a MUST: {figures}.",
                worst.title
            );
        }
        all_of_them if all_of_them == number => format!("{all} violate a MUST"),
        some => format!("{some} of {number} devices violate a MUST"),
    };
    format!("{subject}; the worst is {}: {figures}.", worst.title)
}
