//! A machine whose level changes between two runs: how often one device is then called different from itself, and how often a real change is found.

use super::*;

const RUNS: usize = 1_000;
const REPETITIONS: usize = 10;

/// Two runs of a device, and of a reference device beside it, on a machine whose level changes in between by up to this share either way; the device of B
/// is faster by a factor.
#[derive(Clone, Copy)]
struct Sessions {
    level: f64,
    factor: f64,
    noise: f64,
}

impl Sessions {
    /// Returns the finding on the device, with or without the reference.
    fn found(self, random: &mut SplitMix64, has_reference: bool) -> ComparisonFinding {
        let level = if random.uniform() < 0.5 {
            1.0 + self.level
        } else {
            1.0 - self.level
        };
        let mut repetitions = |usual: f64| -> Vec<u64> {
            (0..REPETITIONS)
                .map(|_| (usual * (1.0 + self.noise * random.gaussian())) as u64)
                .collect()
        };
        let device = [repetitions(1e6), repetitions(1e6 * level * self.factor)];
        let reference = [repetitions(2e6), repetitions(2e6 * level)];
        let tests = [test_of("t", &[84], REPETITIONS as u32)];
        let [a, b] = device.map(|device| rates("t", 84, &device));
        let [x, y] = reference.map(|reference| rates("t", 84, &reference));
        let reference = Reference::compare(
            "reference",
            &side(ComparedSide::A, &tests, &x),
            &side(ComparedSide::B, &tests, &y),
        );
        let compared = compare(
            &side(ComparedSide::A, &tests, &a),
            &side(ComparedSide::B, &tests, &b),
            0.0,
            RunOrder::AFirst,
        );
        let compared = compared
            .expect("a test in common")
            .between_sessions(has_reference.then_some(reference));
        compared.rows().next().expect("a row").finding
    }

    /// Returns the percentage of pairs of runs that are called different.
    fn called_different(self, seed: u64, has_reference: bool) -> f64 {
        let mut random = SplitMix64::new(seed);
        let is_shown = |finding| {
            matches!(
                finding,
                ComparisonFinding::Better | ComparisonFinding::Worse
            )
        };
        100.0
            * (0..RUNS)
                .filter(|_| is_shown(self.found(&mut random, has_reference)))
                .count() as f64
            / RUNS as f64
    }
}

#[test]
fn a_level_that_changes_between_two_runs_is_no_difference_of_the_device() {
    for level in [0.0, 0.02, 0.05] {
        for noise in [0.002, 0.005, 0.01] {
            let same = Sessions {
                level,
                factor: 1.0,
                noise,
            };
            let (alone, with_reference) = (
                same.called_different(31, false),
                same.called_different(32, true),
            );
            assert!(
                alone <= 5.0,
                "level {level}, noise {noise}, without a reference: {alone} %"
            );
            assert!(
                with_reference <= 5.0,
                "level {level}, noise {noise}: {with_reference} %"
            );
        }
    }
}

#[test]
fn a_change_of_the_device_is_still_found_beside_a_reference() {
    // The limits are some three standard deviations of a thousand runs below what was found.
    for (factor, noise, least) in [(0.9, 0.01, 90.0), (0.95, 0.005, 90.0), (0.97, 0.002, 90.0)] {
        let slower = Sessions {
            level: 0.0,
            factor,
            noise,
        };
        let found = slower.called_different(33, true);
        assert!(found >= least, "factor {factor}, noise {noise}: {found} %");
    }
}

#[test]
fn a_machine_that_changed_says_so_and_is_inconclusive() {
    let changed = Sessions {
        level: 0.05,
        factor: 1.0,
        noise: 0.002,
    };
    let finding = changed.found(&mut SplitMix64::new(34), true);
    assert_eq!(
        (finding, finding.gate()),
        (ComparisonFinding::MachineChanged, Gate::Inconclusive)
    );
    let changed = Sessions {
        level: 0.02,
        ..changed
    };
    let finding = changed.found(&mut SplitMix64::new(34), false);
    assert_eq!(
        (finding, finding.gate()),
        (ComparisonFinding::NotInTurns, Gate::Inconclusive)
    );
}

#[test]
fn a_difference_larger_than_sessions_differ_by_is_shown_without_a_reference() {
    let slower = |factor| Sessions {
        level: 0.02,
        factor,
        noise: 0.005,
    };
    let found = slower(0.9).called_different(35, false);
    assert!(found >= 90.0, "{found} %");
    assert_eq!(slower(0.99).called_different(36, false), 0.0);
}

#[test]
fn a_reference_of_too_few_repetitions_says_nothing() {
    let tests = [test_of("t", &[84], 2)];
    let few = rates("t", 84, &[1_000_000, 1_001_000]);
    let reference = Reference::compare(
        "reference",
        &side(ComparedSide::A, &tests, &few),
        &side(ComparedSide::B, &tests, &few),
    );
    assert_eq!((reference.shift, reference.is_changed), (None, false));
}
