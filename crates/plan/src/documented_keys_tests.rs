//! The keys that docs/plan-keys.toml describes, from which the tables of docs/PLANS.md are made, are those that the reader takes.

use crate::parse;
use crate::schema::rows::{KeyRow, rows};
use sixbench_method::plan::Measure;
use std::collections::BTreeSet;

/// Tables of a plan that have tables of their own in the documentation.
const TABLES: [&str; 4] = ["test", "trial", "search", "testbed"];
/// A key that no table has and that no key resembles, so that the reader answers with all keys that it knows.
const UNKNOWN: &str = "no-such-key-anywhere";

/// A place in a plan at which a key can be given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// Before all tables.
    Plan,
    /// In the table with this name in brackets.
    Table(&'a str),
    /// In a test with this measure.
    Test(&'a str),
    /// In an inline table, the value of this key, of a test that searches for the throughput.
    Inner(&'a str),
}

impl Place<'_> {
    /// Returns a plan with `line` at this place, in which the key is not set anywhere else.
    pub(crate) fn plan(self, key: &str, line: &str) -> String {
        let own = |named: &str, text: &'static str| if key == named { "" } else { text };
        let (name, dut) = (own("name", "name = \"t\"\n"), own("dut", "dut = \"d\"\n"));
        let test = "[[test]]\nname = \"t\"\ndut = \"d\"\n";
        match self {
            Self::Plan => format!("{line}\n{}{test}", own("name", "name = \"p\"\n")),
            Self::Table(table) => format!("name = \"p\"\n{table}\n{line}\n{test}"),
            Self::Test(measure) => {
                let measure = match key {
                    "measure" => String::new(),
                    _ => format!("measure = \"{measure}\"\n"),
                };
                format!("name = \"p\"\n[[test]]\n{name}{dut}{measure}{line}\n")
            }
            Self::Inner(outer) => format!("name = \"p\"\n{test}{outer} = {{ {line} }}\n"),
        }
    }

    /// Returns what the reader answers to a key that it does not know at this place; `None` if it knows the key.
    fn answer(self, key: &str, value: &str) -> Option<String> {
        let mistakes = parse(&self.plan(key, &format!("{key} = {value}")), &["d"]).err()?;
        let title = format!("unknown key `{key}` ");
        let unknown = mistakes
            .into_iter()
            .find(|mistake| mistake.title.starts_with(&title))?;
        Some(unknown.help.unwrap_or_default())
    }

    /// Returns the keys that the reader knows at this place.
    fn known(self) -> BTreeSet<String> {
        let answer = self.answer(UNKNOWN, "1").expect("an unknown key");
        let keys = answer.strip_prefix("known keys: ").expect(&answer);
        keys.split(", ").map(str::to_owned).collect()
    }
}

/// Returns each place at which each key of a row can be given.
pub(crate) fn places(row: &KeyRow) -> Vec<(Place<'_>, &str)> {
    let places: Vec<Place<'_>> = match row.table.as_str() {
        "plan" => vec![Place::Plan],
        "trial" => vec![Place::Table("[trial]")],
        "search" => vec![Place::Table("[search]")],
        "testbed" => vec![Place::Table("[testbed]")],
        "authority" => vec![Place::Table("[testbed.authority]")],
        "expect" => vec![Place::Inner("expect")],
        "test" | "traffic" => vec![Place::Test("throughput")],
        // This measure is stateful without `connections`.
        "stateful" => vec![Place::Test("table-capacity")],
        _ => row.measures.iter().map(|name| Place::Test(name)).collect(),
    };
    let keys = |place| row.keys.iter().map(move |key| (place, key.as_str()));
    places.into_iter().flat_map(keys).collect()
}

fn is_of_test_with(row: &KeyRow, measure: &str) -> bool {
    let is_of_every = ["test", "traffic", "stateful"].contains(&row.table.as_str());
    is_of_every || row.measures.iter().any(|name| name == measure)
}

/// Returns the keys of those rows that are wanted.
fn described(rows: &[KeyRow], is_wanted: impl Fn(&KeyRow) -> bool) -> BTreeSet<String> {
    let wanted = rows.iter().filter(|row| is_wanted(row));
    wanted.flat_map(|row| row.keys.iter().cloned()).collect()
}

#[test]
fn every_key_that_a_table_takes_is_documented_and_no_other() {
    let rows = rows();
    for (table, place) in [
        ("plan", Place::Plan),
        ("trial", Place::Table("[trial]")),
        ("search", Place::Table("[search]")),
        ("testbed", Place::Table("[testbed]")),
        ("authority", Place::Table("[testbed.authority]")),
        ("expect", Place::Inner("expect")),
    ] {
        let mut known = place.known();
        known.retain(|key| table != "plan" || !TABLES.contains(&key.as_str()));
        assert_eq!(described(&rows, |row| row.table == table), known, "{table}");
    }
}

#[test]
fn every_key_that_a_test_takes_is_documented_for_its_measure_and_no_other() {
    let rows = rows();
    for measure in Measure::infos().map(|info| info.term.name) {
        let described = described(&rows, |row| is_of_test_with(row, measure));
        let known = Place::Test(measure).known();
        let missing: Vec<_> = known.difference(&described).collect();
        assert!(missing.is_empty(), "{measure}: not described: {missing:?}");
        // Some keys are read only if they are given.
        let is_refused = |key: &&String| {
            !known.contains(*key) && Place::Test(measure).answer(key, "1").is_some()
        };
        let refused: Vec<_> = described.iter().filter(is_refused).collect();
        assert!(refused.is_empty(), "{measure}: not taken: {refused:?}");
    }
}

#[test]
fn every_key_of_an_inline_table_is_documented_and_no_other() {
    for row in rows() {
        for (place, key) in places(&row).into_iter().filter(|_| !row.inner.is_empty()) {
            let measure = match place {
                Place::Test(measure) => measure,
                other => panic!("an inline table in {other:?}"),
            };
            let inner = format!("measure = \"{measure}\"\n{key}");
            let described: BTreeSet<String> = row.inner.iter().cloned().collect();
            assert_eq!(Place::Inner(&inner).known(), described, "{key}");
        }
    }
}

#[test]
fn every_measure_that_the_documentation_names_exists() {
    let names: Vec<&str> = Measure::infos().map(|info| info.term.name).collect();
    for row in rows() {
        for measure in &row.measures {
            assert!(
                names.contains(&measure.as_str()),
                "{measure}: {:?}",
                row.keys
            );
        }
    }
}
