//! The JSON Schema of a plan file as people write it, for editors: which keys each table has, what they mean, and of which type their values are. What
//! only `sixbench check` sees, such as a unit or a value out of range, is not in it.

pub(crate) mod rows;

use rows::{KeyRow, rows};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};
use sixbench_method::measures::Measure;
use std::collections::{BTreeMap, BTreeSet};

/// The address of the schema, which the line `#:schema` of a plan names.
pub const URL: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/main/docs/schema/plan-file.json"
);

/// The folder of the pages to which descriptions refer.
const PAGES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/");

/// The measure of a test that names none.
const USUAL_MEASURE: &str = "throughput";

/// Tables of a plan that are rows of keys of their own.
const TABLES: [&str; 3] = ["trial", "search", "testbed"];

/// Tables of the documentation whose keys are those of tests, besides those that only some measures have.
const OF_EVERY_TEST: [&str; 3] = ["test", "traffic", "stateful"];

/// Returns the schema. Its draft is the one that editors of TOML support.
pub fn plan_file() -> Schema {
    let rows = rows();
    let mut plan = table(&rows, |row| row.table == "plan");
    for name in TABLES {
        plan["properties"][name] = table(&rows, |row| row.table == name);
    }
    plan["properties"]["test"] = json!({
        "description": "The tests, each with one measure of one device.",
        "type": "array",
        "minItems": 1,
        "items": test(&rows),
    });
    let mut schema = json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": URL,
        "description": format!("A plan of sixbench: {PAGES}PLANS.md"),
    });
    for (key, value) in plan.as_object().into_iter().flatten() {
        schema.insert(key.clone(), value.clone());
    }
    schema.insert("required".to_owned(), ["name", "test"].as_slice().into());
    schema
}

/// Adds the keys of an object that `to` lacks.
fn merge(to: &mut Value, from: Value) {
    let (Value::Object(to), Value::Object(from)) = (to, from) else {
        return;
    };
    for (key, value) in from {
        to.entry(key).or_insert(value);
    }
}

/// Returns the schema of a table that has the keys of these rows and no others.
fn table(rows: &[KeyRow], is_of_table: impl Fn(&KeyRow) -> bool) -> Value {
    let own: Vec<&KeyRow> = rows.iter().filter(|row| is_of_table(row)).collect();
    let required: Vec<&String> = own
        .iter()
        .filter(|row| row.is_required())
        .flat_map(|row| &row.keys)
        .collect();
    let mut table = json!({
        "type": "object",
        "properties": properties(rows, &own),
        "additionalProperties": false,
    });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

/// Returns the schemas of the keys of some rows. A key that several rows have, for different measures, takes what any of them takes.
fn properties(rows: &[KeyRow], own: &[&KeyRow]) -> Map<String, Value> {
    let mut by_key: BTreeMap<&str, Vec<&KeyRow>> = BTreeMap::new();
    for row in own {
        for key in &row.keys {
            by_key.entry(key).or_default().push(row);
        }
    }
    by_key
        .into_iter()
        .map(|(key, same)| (key.to_owned(), property(rows, key, &same)))
        .collect()
}

fn property(rows: &[KeyRow], key: &str, same: &[&KeyRow]) -> Value {
    let descriptions: Vec<String> = same.iter().map(|row| description(row)).collect();
    let mut choices: Vec<Value> = Vec::new();
    for choice in same.iter().flat_map(|row| values(rows, key, row)) {
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    let mut property = json!({ "description": descriptions.join("\n\n") });
    match <[Value; 1]>::try_from(choices) {
        Ok([only]) => merge(&mut property, only),
        Err(choices) => property["anyOf"] = choices.into(),
    }
    property
}

/// Returns the schemas of the values that a row accepts.
fn values(rows: &[KeyRow], key: &str, row: &KeyRow) -> Vec<Value> {
    let scalars = scalar_types(row);
    let tables: Vec<Value> = row
        .kinds()
        .filter(|kind| *kind == "table")
        .map(|_| inner_table(rows, key, row))
        .collect();
    let one: Vec<Value> = (!scalars.is_empty())
        .then(|| one_of_types(key, &scalars))
        .into_iter()
        .chain(tables)
        .collect();
    let list = row
        .kinds()
        .any(|kind| kind == "list")
        .then(|| json!({ "type": "array", "items": { "anyOf": one } }));
    one.iter().cloned().chain(list).collect()
}

fn one_of_types(key: &str, types: &BTreeSet<&str>) -> Value {
    if key == "measure" {
        let names: Vec<&str> = Measure::infos().map(|info| info.term.name).collect();
        return json!({ "enum": names });
    }
    json!({ "type": types })
}

/// Returns the JSON types of the single values that a row accepts.
fn scalar_types(row: &KeyRow) -> BTreeSet<&'static str> {
    row.kinds()
        .flat_map(|kind| match kind {
            "text" => &["string"][..],
            "number" => &["integer"],
            "true/false" => &["boolean"],
            "list" | "table" => &[],
            // A time, a rate, a share or a quantity: a number, or a text with a unit.
            _ => &["number", "string"],
        })
        .copied()
        .collect()
}

/// Returns the schema of the table that the value of a key may be: one of the documentation, one with the inner keys of the row, or one whose keys are
/// names of devices.
fn inner_table(rows: &[KeyRow], key: &str, row: &KeyRow) -> Value {
    if rows.iter().any(|row| row.table == key) {
        return table(rows, |row| row.table == key);
    }
    let is_open = row.inner.is_empty();
    let keys: Map<String, Value> = row
        .inner
        .iter()
        .map(|key| (key.clone(), json!({ "type": ["number", "string"] })))
        .collect();
    json!({ "type": "object", "properties": keys, "additionalProperties": is_open })
}

/// Returns the schema of a test, in which a key of some measures needs one of them.
fn test(rows: &[KeyRow]) -> Value {
    let is_of_test =
        |row: &KeyRow| OF_EVERY_TEST.contains(&row.table.as_str()) || !row.measures.is_empty();
    let mut test = table(rows, is_of_test);
    let needed: Map<String, Value> = measures_of_keys(rows)
        .into_iter()
        .map(|(key, measures)| (key.to_owned(), of_measures(&measures)))
        .collect();
    test["dependencies"] = needed.into();
    test
}

/// Returns the keys that only tests with some measures have, and these measures.
fn measures_of_keys(rows: &[KeyRow]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        for key in &row.keys {
            let measures = row.measures.iter().map(String::as_str);
            found.entry(key).or_default().extend(measures);
        }
    }
    let of_every_test = rows
        .iter()
        .filter(|row| OF_EVERY_TEST.contains(&row.table.as_str()));
    for key in of_every_test.flat_map(|row| &row.keys) {
        found.remove(key.as_str());
    }
    found.retain(|_, measures| !measures.is_empty());
    found
}

/// Returns what a test with one of these measures fulfils.
fn of_measures(measures: &BTreeSet<&str>) -> Value {
    let mut needed = json!({ "properties": { "measure": { "enum": measures } } });
    if !measures.contains(USUAL_MEASURE) {
        needed["required"] = json!(["measure"]);
    }
    needed
}

/// Returns the meaning of a row with its default, as Markdown whose links lead to the pages of the repository.
fn description(row: &KeyRow) -> String {
    let of = if row.measures.is_empty() {
        String::new()
    } else {
        format!("For {}: ", row.measures.join(", "))
    };
    let default = match row.default.as_str() {
        "" => String::new(),
        "required" => ". Required".to_owned(),
        default => format!(". Default: {default}"),
    };
    with_links(&format!("{of}{}{default}", row.meaning))
}

/// Returns a text whose links, which are relative to the page of the keys, have whole addresses.
fn with_links(text: &str) -> String {
    text.replace("](#", &format!("]({PAGES}PLANS.md#"))
        .replace("](RESULTS.md", &format!("]({PAGES}RESULTS.md"))
}

#[cfg(test)]
mod tests;
