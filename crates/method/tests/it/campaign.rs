//! A plan that several runs measure: its separable parts, shards, and selections by name.

use sixbench_method::campaign::{self, CampaignError, WorkUnit, work_units};
use sixbench_method::measures::{Latency, Load};
use sixbench_method::plan::{Measure, Plan, Point, Selection, Test};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{RepetitionStart, SearchMethod, SearchSettings};
use sixbench_method::terms::FrameSize;

/// Returns a plan for two devices with throughput tests at two sizes, and a latency test of the first at the smaller size.
fn plan(start: RepetitionStart, repetitions: Repetition) -> Plan {
    let of = |name: &str, dut: &str, sizes: &[u16]| Test {
        frame_sizes: sizes.iter().map(|&size| FrameSize(size)).collect(),
        repetitions,
        ..Test::new(name, dut)
    };
    let load = Load::OfThroughput(1.0);
    let latency = Latency {
        load,
        duration_ns: 120_000_000_000,
        tag_after_ns: 60_000_000_000,
        tagged: 500,
    };
    let at_throughput = Test {
        measure: Measure::Latency(latency),
        ..of("delay", "jool", &[84])
    };
    let tests = vec![
        at_throughput,
        of("jool", "jool", &[84, 1518]),
        of("tayga", "tayga", &[84, 1518]),
    ];
    let plan = sixbench_method::fixtures::plan(SearchMethod::Binary, &[0.0]);
    Plan {
        tests,
        search: SearchSettings {
            start,
            ..plan.search
        },
        ..plan
    }
}

fn cold() -> Plan {
    plan(RepetitionStart::Cold, Repetition::Fixed(3))
}

fn keys(selection: &Selection) -> Vec<String> {
    selection.keys().map(ToString::to_string).collect()
}

#[test]
fn cold_repetitions_are_parts_of_their_own_and_what_follows_from_a_search_stays_with_it() {
    let units = work_units(&cold());
    let of = |unit: &WorkUnit| {
        unit.measurements
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut found: Vec<String> = units.iter().map(of).collect();
    found.sort_unstable();
    let apart = ["jool/1518", "tayga/84", "tayga/1518"]
        .map(|point| [1, 2, 3].map(|n| format!("{point}/{n}")))
        .concat();
    let mut expected: Vec<String> = apart
        .into_iter()
        .chain(["delay/84 jool/84".to_owned()])
        .collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(
        units.iter().all(|unit| unit.trials > 0 && unit.seconds > 0),
        "{units:?}"
    );
}

#[test]
fn repetitions_that_follow_from_each_other_are_one_part() {
    for plan in [
        plan(RepetitionStart::Dithered, Repetition::Fixed(3)),
        plan(RepetitionStart::Cold, Repetition::ADAPTIVE),
    ] {
        assert_eq!(
            work_units(&plan).len(),
            4,
            "three points, and one with its latency"
        );
        let error = campaign::read(&plan, "# mine\n\ntayga/84/2\n").unwrap_err();
        assert!(
            matches!(error, CampaignError::Inseparable { line: 3, .. }),
            "{error}"
        );
    }
}

#[test]
fn shards_are_of_similar_length_and_make_every_measurement_once() {
    let plan = cold();
    for shards in 1..=10 {
        let parts: Vec<Selection> = (1..=shards)
            .map(|i| campaign::shard(&plan, i, shards).expect("a shard"))
            .collect();
        for test in &plan.tests {
            for (point, repetition) in test
                .points()
                .flat_map(|point| (1..=3).map(move |n| (point.clone(), n)))
            {
                let count = parts
                    .iter()
                    .filter(|part| part.contains(&point, repetition))
                    .count();
                assert_eq!(count, 1, "{point}/{repetition} of {shards}");
            }
        }
        assert!(
            parts.iter().all(|part| !part.is_all()),
            "a shard without measurements would make all of them"
        );
    }
    let error = campaign::shard(&plan, 1, 11).unwrap_err();
    assert_eq!(
        error,
        CampaignError::TooMany {
            units: 10,
            shards: 11,
            hint: ""
        }
    );
}

#[test]
fn a_selection_names_measurements_of_the_plan() {
    let plan = cold();
    let read = |text: &str| campaign::read(&plan, text);
    assert_eq!(
        keys(&read("tayga/84/2 # on b\ntayga/1518\n").unwrap()),
        ["tayga/84/2", "tayga/1518"]
    );
    for (text, line) in [
        ("tayga/84/4", 1),
        ("\ntayga/85", 2),
        ("tayga", 1),
        ("tayga/84/0", 1),
        ("tayga/84/1/1", 1),
        ("x/84", 1),
    ] {
        let error = read(text).unwrap_err();
        assert!(
            matches!(&error, CampaignError::Unknown { line: at, .. } if *at == line),
            "{text}: {error}"
        );
    }
    assert_eq!(read("# nothing\n"), Err(CampaignError::Empty));
    let error = read("delay/84\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "delay/84 is measured at the throughput that jool/84 finds; name both, or neither"
    );
    assert!(read("delay/84\njool/84\n").is_ok());
}

#[test]
fn a_narrowed_plan_has_what_is_measured_of_it() {
    let plan = cold();
    let selection = campaign::read(&plan, "tayga/84/2\ntayga/84/3\n").unwrap();
    let narrowed = selection.narrowed(&plan);
    let found: Vec<_> = narrowed
        .tests
        .iter()
        .map(|test| (&test.name[..], &test.frame_sizes[..], test.repetitions))
        .collect();
    assert_eq!(
        found,
        [("tayga", &[FrameSize(84)][..], Repetition::Fixed(2))]
    );
    let point = Point {
        test: "tayga".to_owned(),
        frame_size: FrameSize(84),
    };
    assert_eq!(
        [2, 3].map(|repetition| selection.ordinal(&point, repetition)),
        [1, 2]
    );
    assert_eq!(Selection::default().narrowed(&plan), plan);
}

#[test]
fn a_selection_is_kept_as_text() {
    let selection = campaign::read(&cold(), "tayga/84/2\ntayga/1518\n").unwrap();
    let text = serde_json::to_string(&selection).unwrap();
    assert_eq!(text, r#"["tayga/84/2","tayga/1518"]"#);
    assert_eq!(serde_json::from_str::<Selection>(&text).unwrap(), selection);
    assert!(serde_json::from_str::<Selection>(r#"["tayga/x"]"#).is_err());
}
