//! The names of tables in a paper: of their files, and in their labels.

use std::collections::BTreeMap;

/// The most words of a title that become part of a name.
const NAME_WORDS: usize = 5;

/// The names that tables have already, with the number of tables that would have each.
#[derive(Default)]
pub(super) struct TableLabels(BTreeMap<String, usize>);

impl TableLabels {
    /// Returns a name that no other table has, of ASCII letters, digits and `-`: `throughput`, `frame-loss-rate-2`.
    pub(super) fn name(&mut self, title: &str) -> String {
        let words: Vec<String> = title
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(NAME_WORDS)
            .map(str::to_ascii_lowercase)
            .collect();
        let name = if words.is_empty() {
            "table".to_owned()
        } else {
            words.join("-")
        };
        let uses = self.0.entry(name.clone()).or_default();
        *uses += 1;
        if *uses == 1 {
            name
        } else {
            format!("{name}-{uses}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_name_of_its_own() {
        let mut labels = TableLabels::default();
        let names = ["Frame loss rate", "Frame loss rate", "中"].map(|title| labels.name(title));
        assert_eq!(names, ["frame-loss-rate", "frame-loss-rate-2", "table"]);
    }
}
