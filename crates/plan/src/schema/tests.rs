//! The schema accepts what the reader accepts, as far as keys and types go: every ready plan, every documented key, and no other.

use super::*;
use crate::documented_keys_tests::{Place, places};
use crate::plans;
use jsonschema::Validator;

fn validator() -> Validator {
    jsonschema::validator_for(plan_file().as_value()).expect("a schema")
}

/// Returns a plan file as editors pass it to the schema.
fn json_of(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

/// Returns the mistakes that the schema finds.
fn mistakes(validator: &Validator, text: &str) -> Vec<String> {
    validator
        .iter_errors(&json_of(text))
        .map(|mistake| mistake.to_string())
        .collect()
}

#[test]
fn every_ready_plan_is_valid() {
    let validator = validator();
    for plan in plans::ready() {
        let found = mistakes(&validator, plan.text);
        assert!(found.is_empty(), "{}: {found:?}", plan.name);
    }
}

#[test]
fn an_unknown_key_is_refused_in_every_table() {
    let validator = validator();
    let test = "[[test]]\nname = \"t\"\ndut = \"d\"\n";
    assert_eq!(
        mistakes(&validator, &format!("name = \"p\"\n{test}")),
        [""; 0]
    );
    for unknown in [
        format!("name = \"p\"\nprofil = \"rfc\"\n{test}"),
        format!("name = \"p\"\n[trial]\nlength = \"1s\"\n{test}"),
        format!("name = \"p\"\n[search]\nmost = 1\n{test}"),
        format!("name = \"p\"\n[testbed]\nup = \"eth0\"\n{test}"),
        format!(
            "name = \"p\"\n[testbed.authority]\nhost = \"ssh:a\"\ninterface = \"e\"\nself-test = \"f\"\nup = 1\n{test}"
        ),
        format!("name = \"p\"\n{test}frame-size = 84\n"),
        format!("name = \"p\"\n{test}repetitions = {{ lest = 6 }}\n"),
        format!("name = \"p\"\n{test}expect = {{ at-lest = 6 }}\n"),
    ] {
        assert!(!mistakes(&validator, &unknown).is_empty(), "{unknown}");
    }
}

#[test]
fn a_key_of_a_measure_needs_that_measure() {
    let validator = validator();
    let plan = |lines: &str| format!("name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"d\"\n{lines}");
    let is_valid = |lines: &str| mistakes(&validator, &plan(lines)).is_empty();
    assert!(is_valid("measure = \"frame-loss-rate\"\nrates = [1000]\n"));
    assert!(!is_valid("measure = \"latency\"\nrates = [1000]\n"));
    assert!(!is_valid("rates = [1000]\n"));
    assert!(!is_valid("measure = \"thruput\"\n"));
}

#[test]
fn a_plan_without_a_name_a_test_or_a_device_is_refused() {
    let validator = validator();
    for lacking in [
        "[[test]]\nname = \"t\"\ndut = \"d\"\n",
        "name = \"p\"\n",
        "name = \"p\"\n[[test]]\nname = \"t\"\n",
    ] {
        assert!(!mistakes(&validator, lacking).is_empty(), "{lacking}");
    }
}

/// Returns whether the schema refuses the value of a key: a mistake at the key, at the table that has it, or below it.
fn is_refused(validator: &Validator, place: Place<'_>, text: &str, key: &str) -> bool {
    let json = json_of(text);
    let place = match place {
        Place::Inner(table) => format!("/{table}"),
        Place::Plan | Place::Table(_) | Place::Test(_) => format!("/{key}"),
    };
    validator
        .iter_errors(&json)
        .any(|mistake| mistake.instance_path().to_string().contains(&place))
}

/// Returns the types of a key: of a test those of all measures that have it, since the schema does not tell them apart.
fn types_of_all<'r>(rows: &'r [KeyRow], row: &KeyRow, key: &str) -> BTreeSet<&'r str> {
    const TABLES: [&str; 6] = ["plan", "trial", "search", "testbed", "authority", "expect"];
    let is_of_test = |row: &KeyRow| !TABLES.contains(&row.table.as_str());
    let same_place = rows
        .iter()
        .filter(|other| other.table == row.table || (is_of_test(row) && is_of_test(other)));
    same_place
        .filter(|other| other.keys.iter().any(|own| own == key))
        .flat_map(scalar_types)
        .collect()
}

#[test]
fn every_key_takes_the_types_that_the_reader_takes() {
    let validator = validator();
    let rows = rows();
    for row in &rows {
        for (place, key) in places(row) {
            let types = types_of_all(&rows, row, key);
            // Of its words the enumeration has more than the type.
            if key == "measure" {
                continue;
            }
            for (value, type_name) in [("\"1\"", "string"), ("1", "integer"), ("true", "boolean")] {
                let is_taken = types.contains(type_name)
                    || (type_name == "integer" && types.contains("number"));
                let text = place.plan(key, &format!("{key} = {value}"));
                assert_eq!(
                    is_refused(&validator, place, &text, key),
                    !is_taken,
                    "{place:?} {key} = {value}"
                );
            }
        }
    }
}

#[test]
fn links_lead_to_the_pages_of_the_repository() {
    let text = plan_file().as_value().to_string();
    assert!(text.contains("/blob/main/docs/PLANS.md#names)"), "{text}");
    for relative in ["](#", "](RESULTS", "](../"] {
        assert!(!text.contains(relative), "{relative}");
    }
}
