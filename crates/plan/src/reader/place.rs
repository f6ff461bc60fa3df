//! Where in the text of a plan a value is, for mistakes that are found after the plan was read.

use std::ops::Range;
use toml::de::DeTable;

/// Returns the octets of a value in the text of a plan: of a key, of a key of a table, or of a key of the test with a name.
pub fn span_in(source: &str, path: &[&str]) -> Option<Range<usize>> {
    let (table, _) = DeTable::parse_recoverable(source);
    let file = table.get_ref();
    match path {
        [key] => Some(file.get(*key)?.span()),
        [table, key] => Some(file.get(*table)?.get_ref().as_table()?.get(*key)?.span()),
        ["test", name, key] => {
            let tests = file
                .get("test")?
                .get_ref()
                .as_array()?
                .iter()
                .filter_map(|test| test.get_ref().as_table());
            // A step of a series has the name of its test, a dot, and more.
            let is_step = |test: &&DeTable<'_>| {
                test.get("name")
                    .and_then(|found| found.get_ref().as_str())
                    .and_then(|found| name.strip_prefix(found))
                    .is_some_and(|step| step.starts_with('.'))
            };
            let found = tests
                .clone()
                .find(|test| {
                    test.get("name").and_then(|found| found.get_ref().as_str()) == Some(*name)
                })
                .or_else(|| tests.clone().find(is_step))?;
            Some(found.get(*key)?.span())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_of_the_test_whose_whole_name_it_begins_with() {
        let source =
            "[[test]]\nname = \"tayga\"\nflows = 1\n[[test]]\nname = \"tayga2\"\nflows = 2\n";
        let value = |name| span_in(source, &["test", name, "flows"]).map(|span| &source[span]);
        assert_eq!(value("tayga2.84"), Some("2"));
        assert_eq!(value("tayga.84"), Some("1"));
        assert_eq!(value("tayga3.84"), None);
    }
}
