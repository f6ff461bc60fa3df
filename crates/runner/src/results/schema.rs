//! The JSON Schemas of a run's output, generated from the types that write and read it, and those of the files that people write, for editors. They are
//! also in `docs/schema/`.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use sixbench_conformance::DeviceResults;
use sixbench_method::event::Event;
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_plan::resolved;
use sixbench_plan::schema as plan_schema;
use sixbench_report as report;
use sixbench_testbed::recipe::schema as recipe_schema;

/// A schema: its name, its title, and the function that generates it.
type NamedSchema = (&'static str, &'static str, fn() -> Schema);

const SCHEMAS: [NamedSchema; 8] = [
    (
        "trial",
        "A line of trials.jsonl of sixbench",
        schema_of::<TrialRecord>,
    ),
    ("facts", "facts.json of sixbench", schema_of::<Facts>),
    (
        "results",
        "results.json of sixbench",
        report::results_schema,
    ),
    (
        "plan",
        "resolved.toml of sixbench, as JSON has it",
        resolved::schema,
    ),
    (
        "event",
        "A line that a run prints with --json",
        of_written::<Event>,
    ),
    (
        "conformance",
        "conformance.json of sixbench, and what its command prints with --json",
        of_written::<DeviceResults>,
    ),
    ("plan-file", "A plan of sixbench", plan_schema::plan_file),
    ("recipe", "A recipe of sixbench", recipe_schema::recipe_file),
];

/// Returns the names of the schemas.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, ..)| *name)
}

/// Returns the schema with this name as text that ends in a newline.
///
/// # Errors
/// No schema has this name. The error lists the existing names.
pub fn text(name: &str) -> Result<String, String> {
    let (_, title, schema) = SCHEMAS
        .iter()
        .find(|(word, ..)| *word == name)
        .ok_or_else(|| {
            let names: Vec<&str> = names().collect();
            format!("expected one of {}, not `{name}`", names.join(", "))
        })?;
    let mut schema = schema();
    schema.insert("title".to_owned(), (*title).into());
    Ok(format!("{:#}\n", schema.as_value()))
}

/// Returns the schema of a format that is read: older files may lack fields with a default.
fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
}

/// Returns the schema of a format that is only written.
fn of_written<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// Like snapshots, the schemas are updated with `INSTA_UPDATE=always`.
    #[test]
    fn the_schemas_in_docs_are_those_of_the_code() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        let is_updated = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
        for name in names() {
            let (path, schema) = (
                folder.join(format!("{name}.json")),
                text(name).expect("a schema"),
            );
            if is_updated {
                fs::create_dir_all(&folder)
                    .and_then(|()| fs::write(&path, &schema))
                    .expect("a file");
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                kept == schema,
                "{} is old: INSTA_UPDATE=always writes it again",
                path.display()
            );
        }
    }

    #[test]
    fn a_name_that_no_schema_has_is_answered_with_those_there_are() {
        assert_eq!(
            text("record"),
            Err(
                "expected one of trial, facts, results, plan, event, conformance, plan-file, recipe, not `record`"
                    .to_owned()
            )
        );
    }
}
