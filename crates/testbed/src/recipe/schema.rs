//! The JSON Schema of a recipe file, for editors: which keys each table has, what they mean, and of which type their values are. A recipe may inherit any
//! table, or a part of one, from another, so the schema does not say which keys a recipe lacks.

use super::Recipe;
use schemars::generate::SchemaSettings;
use schemars::{Schema, json_schema};
use serde_json::Value;

/// The address of the schema, for the line `#:schema` of a recipe.
pub const URL: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/main/docs/schema/recipe.json"
);

/// Returns the schema. Its draft is the one that editors of TOML support.
pub fn recipe_file() -> Schema {
    let mut schema = SchemaSettings::draft07()
        .into_generator()
        .into_root_schema_for::<Recipe>();
    let of_files = of_files();
    let own = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let (Some(own), Some(further)) = (own, of_files.as_object()) {
        own.extend(further.clone());
    }
    if let Some(own) = schema.as_object_mut() {
        own.values_mut().for_each(relax);
    }
    schema.insert("required".to_owned(), ["name"].as_slice().into());
    schema.insert("$id".to_owned(), URL.into());
    schema
}

/// Returns the keys of a file by which its recipe is made of others.
fn of_files() -> Schema {
    json_schema!({
        "base": {
            "description": "The recipe from which this one takes every key that it does not set itself.",
            "type": "string",
        },
        "traffic-of": {
            "description": "The recipe from which this one takes technology, left, right, foreground, background, translation and subscribers.",
            "type": "string",
        },
        "chain": list_of_names("The recipes of the devices in a row, from left to right. Such a recipe has no other keys but name, title, technology and pool."),
        "pool": list_of_names("For a row: the pools to which sources are translated behind the last device, if the stateful device is not the last."),
    })
}

fn list_of_names(description: &str) -> Schema {
    json_schema!({ "description": description, "type": "array", "items": { "type": "string" } })
}

/// Removes from a schema, and from those in it, which keys must be there, and null, which TOML has not.
fn relax(schema: &mut Value) {
    match schema {
        Value::Object(own) => {
            own.retain(|key, value| !(key == "required" && value.is_array()));
            own.retain(|key, value| !(key == "default" && value.is_null()));
            own.values_mut().for_each(relax);
        }
        Value::Array(items) => {
            items.retain(|item| *item != "null" && item["type"] != "null");
            items.iter_mut().for_each(relax);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::built_in::BUILT_IN;
    use super::*;
    use jsonschema::Validator;

    fn validator() -> Validator {
        jsonschema::validator_for(recipe_file().as_value()).expect("a schema")
    }

    /// Returns the mistakes that the schema finds in a recipe.
    fn mistakes(validator: &Validator, text: &str) -> Vec<String> {
        let table: toml::Table = text.parse().expect("TOML");
        let json = serde_json::to_value(table).expect("JSON");
        validator
            .iter_errors(&json)
            .map(|mistake| mistake.to_string())
            .collect()
    }

    #[test]
    fn every_built_in_recipe_is_valid() {
        let validator = validator();
        for (name, text) in BUILT_IN {
            let found = mistakes(&validator, text);
            assert!(found.is_empty(), "{name}: {found:?}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_in_every_table() {
        let validator = validator();
        assert_eq!(mistakes(&validator, "name = \"d\"\n"), [""; 0]);
        for unknown in [
            "nam = \"d\"\n",
            "polls = true\n",
            "[left]\ndevice = []\n",
            "[foreground]\nhop = 1\n",
            "[foreground.left]\nfrom = \"::1\"\n",
            "[foreground.left.outer]\nttl = 1\n",
            "[state]\nsize = 1\n",
            "[state.timers]\nsctp = 1\n",
            "[subscribers.map]\nea = 1\n",
            "[dns]\nprot = 53\n",
            "[daemon]\nexec = \"x\"\n",
            "[[file]]\nname = \"x\"\n",
            "[[setup]]\ncommand = \"x\"\n",
        ] {
            let text = format!("name = \"d\"\n{unknown}");
            assert!(!mistakes(&validator, &text).is_empty(), "{unknown}");
        }
    }

    #[test]
    fn a_value_of_another_type_or_word_is_refused() {
        let validator = validator();
        for wrong in [
            "technology = \"nat65\"",
            "host = \"docker\"",
            "polling = \"yes\"",
            "modules = \"jool\"",
            "known-defects = [\"rust\"]",
            "left = []",
            "version = \"tayga --version\"",
        ] {
            let text = format!("name = \"d\"\n{wrong}\n");
            assert!(!mistakes(&validator, &text).is_empty(), "{wrong}");
        }
    }

    #[test]
    fn what_a_recipe_inherits_it_need_not_say() {
        let text = "name = \"d\"\nbase = \"tayga-siit\"\n[left]\nroutes = [\"2001:db8::/32\"]\n";
        assert_eq!(mistakes(&validator(), text), [""; 0]);
    }
}
