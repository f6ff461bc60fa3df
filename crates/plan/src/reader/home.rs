//! The section that a key belongs to, for the answer to a key that was put into another one.

use std::sync::LazyLock;
use toml::de::DeTable;

/// The documentation of all keys. A test of this crate compares it with the keys that the reader takes.
const DESCRIBED: &str = include_str!("../../../../docs/plan-keys.toml");

/// The tables of the documentation whose keys every plan or test may have, each with the section of a plan that they are written in. Of a key that
/// several sections have, the first one is named. Those of `[testbed]` are left out: its `authority` is a machine, which is not what a test of a DNS
/// server with this key means.
const SECTIONS: [(&str, &str); 6] = [
    ("plan", "the plan"),
    ("trial", "[trial]"),
    ("search", "[search]"),
    ("test", "[[test]]"),
    ("traffic", "[[test]]"),
    ("stateful", "[[test]]"),
];

/// Every key of these tables, in their order. A plan may have thousands of mistakes, so the documentation is parsed once.
static KEYS: LazyLock<Vec<DocumentedKey>> = LazyLock::new(|| {
    // The tests of this crate read the documentation, so it is always TOML; without it, no section would be named.
    let Ok(described) = DeTable::parse(DESCRIBED) else {
        return Vec::new();
    };
    SECTIONS
        .into_iter()
        .flat_map(|(table, section)| keys_of(described.get_ref(), table, section))
        .collect()
});

/// A key of the documentation.
struct DocumentedKey {
    key: String,
    section: &'static str,
}

/// Returns the section other than `section` that has this key; `None` if no other has it.
pub(super) fn of_key(key: &str, section: &str) -> Option<&'static str> {
    KEYS.iter()
        .find(|own| own.key == key && own.section != section)
        .map(|own| own.section)
}

fn keys_of(described: &DeTable<'_>, table: &str, section: &'static str) -> Vec<DocumentedKey> {
    let rows = described
        .get(table)
        .and_then(|rows| rows.get_ref().as_array());
    rows.into_iter()
        .flatten()
        .filter_map(|row| row.get_ref().as_table()?.get("keys"))
        .filter_map(|keys| keys.get_ref().as_array())
        .flatten()
        .filter_map(|key| key.get_ref().as_str())
        .map(|key| DocumentedKey {
            key: key.to_owned(),
            section,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests::mistakes;
    use crate::schema::rows::rows;
    use std::collections::BTreeSet;

    /// Returns the sections that have a key, each once.
    fn homes(key: &str) -> BTreeSet<&'static str> {
        let own = KEYS.iter().filter(|own| own.key == key);
        own.map(|own| own.section).collect()
    }

    #[test]
    fn a_key_in_another_section_is_told_where_it_belongs() {
        let rows = rows();
        let mut told = 0;
        for key in rows.iter().flat_map(|row| &row.keys) {
            let homes: Vec<_> = homes(key).into_iter().collect();
            let [home] = homes[..] else {
                continue;
            };
            let section = if home == "[trial]" { "search" } else { "trial" };
            let plan = format!("[{section}]\n{key} = []\n[[test]]\n");
            let answer = mistakes(&plan, &["linux-ipv4"]);
            assert!(
                answer.contains(&format!("it is a key of {home}")),
                "{key}: {answer}"
            );
            told += 1;
        }
        assert!(told > 40, "{told} keys");
    }

    #[test]
    fn a_key_of_several_sections_is_told_the_first_other_one() {
        assert_eq!(of_key("frame-timeout", "[search]"), Some("[trial]"));
        assert_eq!(of_key("frame-timeout", "[trial]"), Some("[[test]]"));
        assert_eq!(of_key("no-such-key", "[trial]"), None);
    }
}
