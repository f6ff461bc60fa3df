//! A resolved plan as text: the content of `resolved.toml` in a results directory. It is the plan with every default filled in, and with the parts that
//! belong to the file rather than to the measurements: where the run took place, and where its recipes are. It can therefore be checked, shown and run
//! like any plan file: `plan_file` reads it.

use crate::reader::bounds;
use crate::reader::diagnostic::Diagnostic;
use schemars::generate::SchemaSettings;
use schemars::{Schema, json_schema};
use serde::Deserialize;
use sixbench_method::fnv;
use sixbench_method::names::{RESOLVED_TEST, check_resolved_title};
use sixbench_method::plan::Plan;
use sixbench_method::terms::bounds::Bounded;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of a resolved plan in addition to those of [`Plan`].
const TESTBED: &str = "testbed";
const RECIPES: &str = "recipes";
const DIGEST: &str = "plan-digest";

const INTRODUCTION: &str = "\
# The plan with every default filled in, written by sixbench. Times are in nanoseconds, rates in frames/s per direction.
# It is a plan itself: `sixbench run` with this file repeats the run.
";

/// Returns the text for a plan that was read from `source`; its recipes are in the directory `recipes` next to it.
///
/// # Errors
/// A number does not fit into TOML.
pub fn write(plan: &Plan, source: &str, recipes: &str) -> Result<String, toml::ser::Error> {
    let mut own = toml::Table::new();
    own.insert(RECIPES.to_owned(), vec![recipes].into());
    own.insert(DIGEST.to_owned(), digest(source).into());
    let written: toml::Table = toml::from_str(source).unwrap_or_default();
    let testbed: toml::Table = written
        .into_iter()
        .filter(|(key, _)| key == TESTBED)
        .collect();
    // The keys of the file come first: behind a table, they would be read as keys of it.
    Ok(format!(
        "{INTRODUCTION}{}{}\n{}",
        toml::to_string(&own)?,
        toml::to_string(plan)?,
        toml::to_string(&testbed)?
    ))
}

/// Returns the digest of the plan file from which a resolved plan was made; resolved plans of earlier versions have none.
pub fn digest_in(resolved: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(resolved).ok()?;
    table.get(DIGEST)?.as_str().map(str::to_owned)
}

/// Returns the 64-bit FNV-1a digest, which distinguishes a changed plan from an unchanged one. It does not protect against forgery.
pub fn digest(source: &str) -> String {
    format!("{:016x}", fnv::hash(source.as_bytes()))
}

/// Returns the JSON schema of a resolved plan, although the plan itself is TOML.
pub fn schema() -> Schema {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Plan>();
    let of_the_file = json_schema!({
        RECIPES: { "description": "Directories of recipes, beside the file.", "type": "array", "items": { "type": "string" } },
        DIGEST: { "description": "The digest of the plan file that it was made of.", "type": "string" },
        TESTBED: { "description": "Where the run took place, as in the plan file.", "type": "object" },
    });
    let own = schema
        .get_mut("properties")
        .and_then(|properties| properties.as_object_mut());
    if let Some(own) = own {
        own.extend(of_the_file.as_object().cloned().unwrap_or_default());
    }
    schema
}

/// Returns whether the file is a resolved plan, which has `duration-ns`. Plan files have `duration`, with a unit.
pub(crate) fn is_resolved(file: &DeTable<'_>) -> bool {
    let trial = file
        .get("trial")
        .and_then(|value| value.get_ref().as_table());
    trial.is_some_and(|trial| trial.contains_key("duration-ns"))
}

/// Reads the plan of a resolved plan file, without the keys that only belong to the file.
///
/// # Errors
/// The first mistake that prevents the text from being a resolved plan of this version.
pub fn plan_of(source: &str) -> Result<Plan, Diagnostic> {
    let mistake =
        |error: &toml::de::Error| Diagnostic::new(error.span().unwrap_or(0..0), error.message());
    let mut table = DeTable::parse(source).map_err(|error| mistake(&error))?;
    for key in [TESTBED, RECIPES, DIGEST] {
        table.get_mut().remove(key);
    }
    if let Some(outside) = bounds::first_outside(table.get_ref(), &Plan::BOUNDS) {
        return Err(outside);
    }
    let plan =
        Plan::deserialize(toml::Deserializer::from(table)).map_err(|error| mistake(&error))?;
    // They become names of files, and this file is untrusted.
    let names = plan.tests.iter().map(|test| &test.name).chain([&plan.name]);
    let wrong = names.filter_map(|name| Some((name, RESOLVED_TEST.check(name).err()?.to_string())));
    let titles = plan.tests.iter().filter_map(|test| {
        Some((
            &test.title,
            check_resolved_title(&test.title).err()?.to_string(),
        ))
    });
    if let Some((text, wrong)) = wrong.chain(titles).next() {
        return Err(Diagnostic::new(span_of(text, source), wrong));
    }
    if plan.search.goals.is_empty() {
        Err(Diagnostic::new(0..0, "at least one loss goal is needed"))
    } else {
        Ok(plan)
    }
}

/// Returns the place of a text in the source: that of the first string that says the same.
fn span_of(text: &str, source: &str) -> Range<usize> {
    fn find(value: &Spanned<DeValue<'_>>, text: &str) -> Option<Range<usize>> {
        match value.get_ref() {
            DeValue::String(found) => (found == text).then(|| value.span()),
            DeValue::Array(items) => items.iter().find_map(|item| find(item, text)),
            DeValue::Table(fields) => fields.values().find_map(|field| find(field, text)),
            _ => None,
        }
    }
    let table = DeTable::parse(source).ok();
    table
        .and_then(|table| table.get_ref().values().find_map(|value| find(value, text)))
        .unwrap_or(0..0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests::SMALLEST;
    use crate::plans;
    use crate::{load, parse, render};
    use sixbench_method::record::CodeOrigin;
    use sixbench_testbed::Library;
    use std::path::Path;

    fn all_recipes() -> Library {
        Library::load::<&Path>(&[])
            .and_then(|library| library.with_texts(plans::devices(), CodeOrigin::BuiltIn))
            .expect("recipes")
    }

    fn small() -> String {
        let plan = parse(SMALLEST, &["linux-ipv4"]).expect("a plan").plan;
        write(&plan, SMALLEST, "recipes").expect("text")
    }

    #[test]
    fn every_ready_plan_is_the_same_when_its_resolved_text_is_read() {
        let library = all_recipes();
        for ready in plans::ready() {
            let loaded = load(ready.text, &library).expect("a plan");
            let resolved = write(&loaded.plan, ready.text, "recipes").expect("text");
            let again = load(&resolved, &library);
            assert_eq!(
                again.ok().as_ref(),
                Some(&loaded),
                "{}: {resolved}",
                ready.name
            );
        }
    }

    #[test]
    fn every_ready_plan_is_as_the_schema_says_and_a_wrong_key_is_not() {
        let (library, schema) = (
            all_recipes(),
            jsonschema::validator_for(schema().as_value()).expect("a schema"),
        );
        for ready in plans::ready() {
            let loaded = load(ready.text, &library).expect("a plan");
            let resolved: toml::Table = write(&loaded.plan, ready.text, "recipes")
                .expect("text")
                .parse()
                .expect("TOML");
            let mut json = serde_json::to_value(resolved).expect("JSON");
            let mistakes: Vec<String> = schema
                .iter_errors(&json)
                .map(|mistake| mistake.to_string())
                .collect();
            assert!(mistakes.is_empty(), "{}: {mistakes:?}", ready.name);
            json["trail"] = json["trial"].clone();
            assert!(!schema.is_valid(&json), "{}", ready.name);
        }
    }

    #[test]
    fn a_series_of_a_test_with_the_longest_name_and_title_can_be_read_again() {
        let (name, title) = (format!("name = \"{}\"", "n".repeat(64)), "t".repeat(200));
        let source = SMALLEST.replace("name = \"t\"", &name)
            + &format!("title = \"{title}\"\nflows = [1, 30_000]\n");
        let loaded = parse(&source, &["linux-ipv4"]).expect("a plan");
        assert_eq!(loaded.plan.tests[1].title, format!("{title}, 30000 flows"));
        let resolved = write(&loaded.plan, &source, "recipes").expect("text");
        assert_eq!(parse(&resolved, &["linux-ipv4"]).expect("a plan"), loaded);
    }

    #[test]
    fn where_the_run_took_place_is_kept() {
        let testbed = "[testbed]\nleft = \"e0\"\nright = \"e1\"\nio = \"packet\"\ntester-cores = [0, 2]\nlink-rate = \"10G\"\n";
        let source = format!("{SMALLEST}{testbed}");
        let loaded = parse(&source, &["linux-ipv4"]).expect("a plan");
        let resolved = write(&loaded.plan, &source, "recipes").expect("text");
        assert_eq!(parse(&resolved, &["linux-ipv4"]).expect("a plan"), loaded);
    }

    #[test]
    fn a_resolved_plan_whose_test_is_named_as_a_path_is_refused() {
        let text = small();
        assert!(text.contains("name = \"t\"") && plan_of(&text).is_ok());
        let mistake =
            plan_of(&text.replace("name = \"t\"", "name = \"../../t\"")).expect_err("a path");
        assert!(
            mistake.title.contains("such as `t`, not \"../../t\""),
            "{}",
            mistake.title
        );
        let named = text.replace("name = \"t\"", "name = \"../../t\"");
        assert_eq!(&named[mistake.span], "\"../../t\"");
        let titled = text.replace("title = \"t\"", "title = \"a\\nb\"");
        assert_ne!(titled, text);
        let mistake = plan_of(&titled).expect_err("two lines");
        assert!(
            mistake.title.starts_with("a title is one line")
                && &titled[mistake.span] == "\"a\\nb\"",
            "{}",
            mistake.title
        );
    }

    #[test]
    fn a_resolved_plan_whose_domain_would_be_more_than_a_domain_is_refused_at_its_line() {
        let ready = plans::find(Path::new("dns64")).expect("a ready plan");
        let loaded = load(ready.text, &all_recipes()).expect("a plan");
        let resolved = write(&loaded.plan, ready.text, "recipes").expect("text");
        assert!(resolved.contains("domain = \"dns64perf.test\"") && plan_of(&resolved).is_ok());
        for hostile in ["x; touch y", "$(touch y)", "a\\nb", "it's", "a b"] {
            let text = resolved.replacen("dns64perf.test", hostile, 1);
            let mistake = plan_of(&text).expect_err(hostile);
            assert!(
                mistake.title.contains("expected a domain such as"),
                "{}",
                mistake.title
            );
            assert!(
                text[mistake.span.start..].starts_with(&format!("\"{hostile}")),
                "{:?}",
                &text[mistake.span]
            );
        }
    }

    #[test]
    fn a_resolved_plan_of_an_earlier_version_is_one_too() {
        let plan = parse(SMALLEST, &["linux-ipv4"]).expect("a plan").plan;
        let earlier = toml::to_string(&plan).expect("text");
        assert_eq!(parse(&earlier, &["linux-ipv4"]).expect("a plan").plan, plan);
        assert_eq!(digest_in(&earlier), None);
        assert_eq!(digest_in(&small()), Some(digest(SMALLEST)));
        assert_ne!(digest(SMALLEST), digest(""));
    }

    #[test]
    fn mistakes_in_an_edited_resolved_plan_are_told_at_their_line() {
        let mistakes = |from: &str, to: &str| {
            let source = small().replace(from, to);
            assert_ne!(source, small(), "{from}");
            let mistakes = parse(&source, &["linux-ipv4"]).expect_err("mistakes");
            render("resolved.toml", &source, &mistakes, false)
        };
        let key = mistakes("stall-ns", "stal-ns");
        assert!(
            key.contains("unknown field `stal-ns`")
                && key.contains(&format!("resolved.toml:{}:1", line("stall-ns"))),
            "{key}"
        );
        let dut = mistakes("\"linux-ipv4\"", "\"linux-ipv5\"");
        assert!(
            dut.contains("did you mean `linux-ipv4`?")
                && dut.contains(&format!("resolved.toml:{}:7", line("dut"))),
            "{dut}"
        );
        assert!(
            mistakes("[84", "[5, 84").contains("`frame-sizes` must be between 84 and 9216, not 5")
        );
        assert!(
            mistakes("minimum = 1000", "minimum = 3000000")
                .contains("`minimum` must not be above `maximum`")
        );
        assert!(
            mistakes("minimum = 1000", "minimum = 1")
                .contains("a trial of 750ms at 1/s would send nothing")
        );
    }

    fn line(key: &str) -> usize {
        small()
            .lines()
            .position(|line| line.starts_with(key))
            .expect("a line")
            + 1
    }
}
