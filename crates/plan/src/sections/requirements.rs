//! Settings of a `[[test]]` of the requirements on a device in addition to those of its measure: whether there are such vectors, and the keys of
//! frames at a rate, which do not apply.

use crate::reader::{Section, nearest};
use sixbench_conformance::notation::{RequirementFile, built_in};
use sixbench_method::measures::Keys;
use sixbench_method::plan::{Measure, RequirementTest};

/// The keys of a test that do not apply to vectors: those of frames at a rate, of repetitions, and of the device's set-up, which the vectors
/// determine themselves.
const INAPPLICABLE_KEYS: &str = "background broadcast burst connections cores directions duration dut-rss-hash enumerate filters flow-step \
    flows forward-ports frame-sizes frame-timeout fresh-device left-addresses left-networks loss-goals maximum payload phase-1-delay \
    phase-1-rate phase-1-timeout ports rate rate-per-client rates repetitions responder-order reverse-ports right-addresses \
    right-networks state-table subscribers table-size timeout validation-rate";

/// Checks the settings of a test of requirements; those of any other test are not looked at.
pub(crate) fn check_requirements(section: &Section<'_>, measure: &Measure) {
    let Some(test) = measure.requirements() else {
        return;
    };
    check_inapplicable_keys(section);
    match built_in() {
        Ok(files) => check_names(section, test, files),
        Err(mistake) => section.mistake("measure", mistake.to_string()),
    }
}

fn check_inapplicable_keys(section: &Section<'_>) {
    // Asking whether a key is mentioned also marks it as known, so that it is not reported once more as an unknown one.
    let given = INAPPLICABLE_KEYS
        .split(' ')
        .filter(|key| section.is_given(key) && section.mentions(key));
    for key in given {
        let help = if key == "rate" {
            "leave it out: vectors are sent at no rate; the load beside which they are sent once more is `under-load`"
        } else {
            "leave it out: vectors have frames of their own, which are sent once and at no rate, to a device that is set up for them alone"
        };
        section.mistake_with_help(key, format!("`{key}` does not apply to conformance"), help);
    }
}

fn check_names(section: &Section<'_>, test: &RequirementTest, files: &[RequirementFile]) {
    let rfcs: Vec<u32> = files.iter().map(|file| file.rfc).collect();
    for rfc in test.only.iter().filter(|rfc| !rfcs.contains(rfc)) {
        let known: Vec<String> = rfcs.iter().map(|rfc| format!("rfc{rfc}")).collect();
        let help = format!("known: {}", known.join(", "));
        section.mistake_with_help("only", format!("there are no vectors of RFC {rfc}"), help);
    }
    let names: Vec<&str> = files
        .iter()
        .flat_map(|file| &file.vectors)
        .map(|vector| vector.name.as_str())
        .collect();
    let named = [
        ("vectors", &test.vectors),
        ("known-violations", &test.known_violations),
    ];
    for (key, wanted) in named {
        let unknown = wanted.iter().filter(|name| !names.contains(&name.as_str()));
        for name in unknown {
            let near = nearest(name, &names).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| {
                "expected the name of one in the files of conformance/".to_owned()
            });
            section.mistake_with_help(key, format!("no vector is named `{name}`"), help);
        }
    }
    for key in ["only", "vectors"] {
        if section.is_empty_list(key) {
            section.mistake(key, "at least one RFC or vector is needed");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{fixture_tests, parse};
    use sixbench_method::plan::{Measure, RequirementTest};
    use sixbench_method::repeat::Repetition;
    use sixbench_method::terms::FrameRate;

    fn source(tests: &[&str]) -> String {
        fixture_tests::plan(|_| "tayga-siit", tests)
    }

    #[test]
    fn a_test_of_requirements_has_one_point_and_one_repetition_in_every_profile() {
        let lines = "measure = \"conformance\"\nonly = [\"rfc7915\", \"rfc6052\"]\nvectors = \"64-udp\"\nknown-violations = [\"46-udp\"]\nunder-load = \"20k\"";
        let profile = "profile = \"rfc\"\n".to_owned();
        let plan = parse(&(profile + &source(&[lines])), &["tayga-siit"])
            .expect("a plan")
            .plan;
        let test = &plan.tests[0];
        let expected = RequirementTest {
            only: vec![7915, 6052],
            vectors: vec!["64-udp".to_owned()],
            known_violations: vec!["46-udp".to_owned()],
            under_load: Some(FrameRate(20_000)),
        };
        assert_eq!(test.measure, Measure::Requirements(expected));
        assert_eq!(test.points().count(), 1);
        assert_eq!(test.repetitions, Repetition::Fixed(1));
        assert_eq!(test.label(test.frame_sizes[0]), "t0");
    }

    #[test]
    fn keys_of_a_rate_and_names_that_no_vector_has_are_told_at_their_lines() {
        insta::assert_snapshot!(fixture_tests::mistakes(
            &source(&[
                "measure = \"conformance\"\nframe-sizes = [84]\ndirections = \"forward\"\nrate = \"10k\"\nrepetitions = 7",
                "measure = \"conformance\"\nonly = [\"bcp14\"]",
                "measure = \"conformance\"\nvectors = [\"64-upd\"]\nknown-violations = [\"no-vector-resembles-this\"]",
                "measure = \"conformance\"\nonly = []",
                "measure = \"conformance\"\nunder-load = \"fast\"",
            ]),
            &["tayga-siit"]
        ));
    }

    #[test]
    fn an_rfc_without_vectors_is_told_with_those_that_have_some() {
        let unknown = source(&["measure = \"conformance\"\nonly = [\"rfc7916\"]"]);
        let said = fixture_tests::mistakes(&unknown, &["tayga-siit"]);
        assert!(
            said.contains("there are no vectors of RFC 7916") && said.contains("rfc7915"),
            "{said}"
        );
    }
}
