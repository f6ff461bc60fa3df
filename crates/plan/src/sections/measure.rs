//! The measure of a `[[test]]`. Each measure reads its own settings.

use crate::defaults::PlanDefaults;
use crate::reader::Section;
use crate::sections::dns::check_dns;
use crate::sections::requirements::check_requirements;
use sixbench_method::measures::{Keys, MeasureDefaults};
use sixbench_method::plan::Measure;
use sixbench_method::units::word;

/// Reads `measure` and the keys that belong to it. Keys of other measures are not read, so they are reported as unknown.
pub(crate) fn read_measure(section: &Section<'_>, defaults: &PlanDefaults<'_>) -> Measure {
    let names: Vec<_> = Measure::infos()
        .map(|info| (info.term.name, info.term.name))
        .collect();
    let of_measure = MeasureDefaults {
        trial_ns: defaults.trial.duration_ns,
        profile: defaults.profile,
        maximum: defaults.search.maximum,
        is_medium_known: defaults.link_rate.is_some(),
    };
    let name = section.text("measure", |text| word(text, "what to measure", &names));
    let measure = name
        .and_then(|name| Measure::read(name, section, &of_measure))
        .unwrap_or_default();
    check_dns(section, &measure, defaults.duts);
    check_requirements(section, &measure);
    measure
}

#[cfg(test)]
mod tests {
    use crate::{fixture_tests, parse};
    use sixbench_method::plan::{Measure, Payload, Plan, ResponseTime, SeriesBy};
    use sixbench_method::terms::FrameRate;

    /// Returns a plan with one test for each of these texts.
    fn source(tests: &[&str]) -> String {
        fixture_tests::plan(|_| "relay", tests)
    }

    fn plan_with(test: &str) -> Plan {
        parse(&source(&[test]), &["relay"]).expect("a plan").plan
    }

    fn mistakes(tests: &[&str]) -> String {
        fixture_tests::mistakes(&source(tests), &["relay"])
    }

    #[test]
    fn ten_numbers_of_clients_are_ten_tests_of_the_response_time() {
        let plan = plan_with(
            "measure = \"response-time\"\nrate-per-client = \"15k\"\nduration = \"30s\"\npayload = \"echo\"\n\
                              subscribers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
        );
        assert_eq!(plan.tests.len(), 10);
        let (first, last) = (&plan.tests[0], &plan.tests[9]);
        let response = ResponseTime {
            rate_per_client: FrameRate(15_000),
            duration_ns: 30_000_000_000,
            outstanding: None,
        };
        assert_eq!(first.measure, Measure::ResponseTime(response));
        assert_eq!(
            (first.clients(), last.clients(), last.traffic.payload),
            (1, 10, Payload::Echo)
        );
        assert_eq!(
            last.series.as_ref().map(|series| (series.by, series.at)),
            Some((SeriesBy::Subscribers, 10.0))
        );
    }

    #[test]
    fn clients_wait_for_their_replies_where_a_plan_says_how_many() {
        let plan =
            plan_with("measure = \"response-time\"\nrate-per-client = \"15k\"\noutstanding = 8");
        let Measure::ResponseTime(response) = &plan.tests[0].measure else {
            panic!("{:?}", plan.tests[0].measure)
        };
        assert_eq!(response.outstanding.map(u32::from), Some(8));
        let mistake =
            mistakes(&["measure = \"response-time\"\nrate-per-client = \"15k\"\noutstanding = 0"]);
        assert!(
            mistake.contains("expected a number of requests of each client, such as 8"),
            "{mistake}"
        );
    }

    #[test]
    fn what_a_response_time_lacks_or_cannot_have_is_told_at_its_line() {
        insta::assert_snapshot!(mistakes(&[
            "measure = \"response-time\"",
            "measure = \"response-time\"\nrate-per-client = \"15k\"\ndirections = \"forward\"\nconnections = \"10k\"",
            "measure = \"throughput\"\nrate-per-client = \"15k\"",
        ]));
    }
}
