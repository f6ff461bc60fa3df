//! Everything that the samples write is valid by the JSON Schemas in `docs/schema`.

use crate::formats::json;
use crate::sample::Sample;
use jsonschema::Validator;
use serde_json::Value;
use std::path::Path;

fn schema(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"));
    let text = std::fs::read_to_string(&path).expect("a schema");
    jsonschema::validator_for(&serde_json::from_str(&text).expect("JSON")).expect("a schema")
}

fn assert_valid(schema: &Validator, value: &Value, what: &str) {
    let mistakes: Vec<String> = schema
        .iter_errors(value)
        .map(|mistake| format!("{}: {mistake}", mistake.instance_path()))
        .collect();
    assert!(mistakes.is_empty(), "{what}: {}", mistakes.join("\n"));
}

fn samples() -> Vec<Sample> {
    let mut samples = vec![
        Sample::empty(),
        Sample::complete(),
        Sample::of_every_measure(),
        Sample::of_stateful_gateways(),
        Sample::of_dns_servers(),
    ];
    samples.extend([
        Sample::of_chains(),
        Sample::of_clients(),
        Sample::of_every_status(),
    ]);
    samples
}

#[test]
fn records_facts_plans_and_results_of_all_samples_are_as_the_schemas_say() {
    let [trial, facts, plan, results] = ["trial", "facts", "plan", "results"].map(schema);
    for sample in samples() {
        let name = &sample.plan.name;
        for record in &sample.records {
            assert_valid(&trial, &serde_json::to_value(record).expect("JSON"), name);
        }
        assert_valid(
            &facts,
            &serde_json::to_value(&sample.facts).expect("JSON"),
            name,
        );
        assert_valid(
            &plan,
            &serde_json::to_value(&sample.plan).expect("JSON"),
            name,
        );
        assert_valid(
            &results,
            &serde_json::from_str(&json(&sample.input())).expect("JSON"),
            name,
        );
    }
}

#[test]
fn a_record_that_lacks_a_count_or_has_a_word_for_a_number_is_told() {
    let schema = schema("trial");
    let record = serde_json::to_value(&Sample::complete().records[0]).expect("JSON");
    let changed = |change: fn(&mut Value)| {
        let mut record = record.clone();
        change(&mut record);
        schema.is_valid(&record)
    };
    assert!(changed(|_| ()));
    assert!(!changed(|record| drop(
        record["result"]["directions"][0]
            .as_object_mut()
            .map(|counts| counts.remove("received"))
    )));
    assert!(!changed(|record| record["repetition"] = "first".into()));
    assert!(!changed(
        |record| record["result"]["directions"][0]["direction"] = "sideways".into()
    ));
}
