//! The numbers of a resolved plan against the bounds that stand beside each setting in `method`. A plan file is checked with the same bounds, key by
//! key where it is read; a resolved plan may come from any source.

use crate::reader::diagnostic::Diagnostic;
use sixbench_method::terms::bounds::{NumberBound, TableBounds};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Returns the first number of a table that lies outside its bound. Other mistakes are not looked for: sixbench writes resolved plans, and no user
/// corrects one line by line.
pub(crate) fn first_outside(table: &DeTable<'_>, bounds: &TableBounds) -> Option<Diagnostic> {
    let outside = table
        .iter()
        .find_map(|(key, value)| in_entry(key.get_ref(), value, bounds));
    outside.or_else(|| disordered(table, bounds))
}

fn in_entry(key: &str, value: &Spanned<DeValue<'_>>, bounds: &TableBounds) -> Option<Diagnostic> {
    match (bounds.number(key), bounds.table(key)) {
        (Some(bound), _) => in_number(key, value, bound),
        (None, Some(inner)) => in_tables(value, inner),
        (None, None) => None,
    }
}

fn in_tables(value: &Spanned<DeValue<'_>>, bounds: &TableBounds) -> Option<Diagnostic> {
    match value.get_ref() {
        DeValue::Table(table) => first_outside(table, bounds),
        DeValue::Array(items) => items.iter().find_map(|item| in_tables(item, bounds)),
        _ => None,
    }
}

/// Looks at a number, at every number of a list, or at every number that a table has under a name of the user.
fn in_number(key: &str, value: &Spanned<DeValue<'_>>, bound: NumberBound) -> Option<Diagnostic> {
    match value.get_ref() {
        DeValue::Table(table) => table
            .iter()
            .find_map(|(key, value)| in_number(key.get_ref(), value, bound)),
        DeValue::Array(items) => items.iter().find_map(|item| in_number(key, item, bound)),
        other => {
            let number = number(other)?;
            let title = format!("`{key}` must be {bound}, not {number}");
            (!bound.contains(number)).then(|| Diagnostic::new(value.span(), title))
        }
    }
}

fn disordered(table: &DeTable<'_>, bounds: &TableBounds) -> Option<Diagnostic> {
    bounds.ordered.iter().find_map(|(low, high)| {
        let (below, above) = (table.get(*low)?, table.get(*high)?);
        let is_wrong = number(below.get_ref())? > number(above.get_ref())?;
        is_wrong
            .then(|| Diagnostic::new(below.span(), format!("`{low}` must not be above `{high}`")))
    })
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => whole(integer),
        // TOML allows underscores between digits, Rust does not.
        DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

fn whole(integer: &DeInteger<'_>) -> Option<f64> {
    i128::from_str_radix(integer.as_str(), integer.radix())
        .ok()
        .map(|number| number as f64)
}

#[cfg(test)]
mod tests {
    use crate::fixture_tests::SMALLEST;
    use crate::{parse, resolved};
    use serde_json::Value;
    use sixbench_method::plan::Plan;
    use sixbench_method::terms::bounds::{Bounded, TableBounds};

    const STATEFUL: &str = "measure = \"pdv\"\nrate = \"5k\"\nrepetitions = \"adaptive\"\nconnections = \"1k\"\nflow-step = \"0s\"\n";

    fn resolved_of(lines: &str) -> String {
        let source = format!("{SMALLEST}{lines}");
        let plan = parse(&source, &["linux-ipv4"]).expect("a plan").plan;
        resolved::write(&plan, &source, "recipes").expect("text")
    }

    #[test]
    fn a_number_outside_of_its_range_is_refused_at_its_line_and_one_at_its_end_is_not() {
        let whole = resolved_of(STATEFUL);
        for (key, at_the_end, outside) in [
            ("duration-ns", "86400000000000", "9_000_000_000_000_000_000"),
            ("residual-ns", "0", "18446744073709551615"),
            ("patience-ns", "432000000000000", "432000000000001"),
            ("minimum", "1", "0"),
            ("maximum", "1000000000", "18000000000000000000"),
            ("max-invalid", "1000", "4294967295"),
            ("width", "0.5", "nan"),
            ("least", "6", "0"),
            ("most", "1000", "4000000000"),
            ("within", "1.0", "-0.1"),
            ("of", "10000", "0"),
            ("connections", "1000000000", "18000000000000000000"),
            ("validation", "1.0", "inf"),
            ("rate", "20000000000", "0"),
        ] {
            let with = |value: &str| changed(&whole, key, value);
            assert!(
                resolved::plan_of(&with(at_the_end)).is_ok(),
                "{key} = {at_the_end}: {:?}",
                resolved::plan_of(&with(at_the_end))
            );
            let (text, mistake) = (
                with(outside),
                resolved::plan_of(&with(outside)).expect_err(key),
            );
            assert!(
                mistake
                    .title
                    .starts_with(&format!("`{key}` must be between ")),
                "{}",
                mistake.title
            );
            let line = text[..mistake.span.start]
                .lines()
                .last()
                .unwrap_or_default();
            assert!(line.starts_with(&format!("{key} = ")), "{line}");
        }
    }

    /// Returns the text with the first number of this key replaced.
    fn changed(text: &str, key: &str, value: &str) -> String {
        let mut is_open = true;
        let set = |line: &str| {
            let is_it = is_open && line.starts_with(&format!("{key} = "));
            is_open &= !is_it;
            if is_it {
                format!("{key} = {value}")
            } else {
                line.to_owned()
            }
        };
        let changed: Vec<String> = text.lines().map(set).collect();
        assert!(!is_open, "no {key} in {text}");
        changed.join("\n")
    }

    #[test]
    fn so_many_addresses_that_the_guard_could_not_look_at_each_are_refused() {
        let text = resolved_of("right-addresses = { range = \"0-1048575\" }\n");
        assert!(resolved::plan_of(&text).is_ok());
        let mistake = resolved::plan_of(&text.replacen("last = 1048575", "last = 1048576", 1))
            .expect_err("too many");
        assert_eq!(
            mistake.title,
            "`last` must be between 0 and 1048575, not 1048576"
        );
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_refused() {
        let text = resolved_of("forward-ports = { source = \"10-20\" }\n");
        assert!(resolved::plan_of(&text).is_ok());
        let mistake =
            resolved::plan_of(&text.replacen("first = 10", "first = 30", 1)).expect_err("a range");
        assert_eq!(mistake.title, "`first` must not be above `last`");
    }

    #[test]
    fn every_number_of_a_list_is_looked_at() {
        let text = resolved_of("frame-sizes = [84, 128]\nloss-goals = [\"0%\", \"1%\"]\n");
        assert!(resolved::plan_of(&text).is_ok(), "{text}");
        for (from, to) in [("128", "65535"), ("0.01", "1.0")] {
            let mistake = resolved::plan_of(&text.replacen(from, to, 1)).expect_err(to);
            assert!(
                mistake.title.contains(" must be between "),
                "{}",
                mistake.title
            );
        }
    }

    #[test]
    fn every_number_of_a_plan_and_of_every_measure_has_a_bound() {
        let schema = resolved::schema().to_value();
        let mut unbounded = Vec::new();
        collect_unbounded(&schema, &schema, &Plan::BOUNDS, "plan", &mut unbounded);
        assert_eq!(unbounded, Vec::<String>::new());
    }

    /// Adds the paths of the numbers in a schema that have no bound.
    fn collect_unbounded(
        root: &Value,
        schema: &Value,
        bounds: &TableBounds,
        path: &str,
        unbounded: &mut Vec<String>,
    ) {
        if is_number(schema) {
            unbounded.push(path.to_owned());
        }
        for inner in parts(root, schema) {
            collect_unbounded(root, inner, bounds, path, unbounded);
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        for (key, inner) in properties.filter(|(key, _)| bounds.number(key).is_none()) {
            let of_key = bounds.table(key).unwrap_or(&TableBounds::NONE);
            collect_unbounded(root, inner, of_key, &format!("{path}.{key}"), unbounded);
        }
    }

    /// Returns whether the schema allows a number; it may allow the lack of one beside it.
    fn is_number(schema: &Value) -> bool {
        let is_word = |word: &Value| word == "number" || word == "integer";
        is_word(&schema["type"])
            || schema["type"]
                .as_array()
                .is_some_and(|types| types.iter().any(is_word))
    }

    /// Returns the schemas that describe the same value, its variants, or its items.
    fn parts<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
        let lists = ["oneOf", "anyOf", "allOf", "prefixItems"]
            .into_iter()
            .filter_map(|key| schema[key].as_array())
            .flatten();
        let single = ["items", "additionalProperties"]
            .into_iter()
            .filter_map(|key| schema.get(key));
        let named = schema["$ref"]
            .as_str()
            .and_then(|name| root.pointer(name.trim_start_matches('#')));
        lists.chain(single).chain(named).collect()
    }
}
