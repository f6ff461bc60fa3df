//! Recipes that build on others: a recipe inherits everything it does not define itself from its `base`, or only its traffic from `traffic-of`. The
//! result is a complete recipe.

use toml::{Table, Value};

/// The key that names the recipe from which everything is inherited.
const BASE: &str = "base";

/// The key that names the recipe from which only the traffic is inherited.
const TRAFFIC_OF: &str = "traffic-of";

/// The keys that define which traffic a device understands, as opposed to its setup.
const TRAFFIC: [&str; 7] = [
    "technology",
    "left",
    "right",
    "foreground",
    "background",
    "translation",
    "subscribers",
];

/// The key of configuration files. Each file that the recipe does not define itself is inherited.
const FILE: &str = "file";

/// Returns the names of the recipes from which `table` inherits.
pub(super) fn sources(table: &Table) -> impl Iterator<Item = &str> {
    [BASE, TRAFFIC_OF]
        .into_iter()
        .filter_map(|key| table.get(key)?.as_str())
}

/// Returns the recipe `own` completed with what it inherits. `find` returns a recipe by its name.
///
/// # Errors
/// The problem: a key does not name a recipe.
pub(super) fn resolve<'l>(
    mut own: Table,
    find: impl Fn(&str) -> Option<&'l Table>,
) -> Result<Table, String> {
    let mut named = |key: &str| {
        own.remove(key)
            .map(|name| found(key, &name, &find))
            .transpose()
    };
    let (base, traffic) = (named(BASE)?, named(TRAFFIC_OF)?);
    let is_traffic = |key: &str| TRAFFIC.contains(&key);
    let mut whole = base.cloned().unwrap_or_default();
    // `traffic-of` replaces all of the base's traffic, so that no key of one recipe is combined with those of another.
    if let Some(traffic) = traffic {
        whole.retain(|key, _| !is_traffic(key));
        whole.extend(
            traffic
                .iter()
                .filter(|(key, _)| is_traffic(key))
                .map(|(k, v)| (k.clone(), v.clone())),
        );
    }
    merge(&mut whole, own);
    Ok(whole)
}

fn found<'l>(
    key: &str,
    name: &Value,
    find: impl Fn(&str) -> Option<&'l Table>,
) -> Result<&'l Table, String> {
    let name = name
        .as_str()
        .ok_or_else(|| format!("{key}: expected the name of a recipe, not {name}"))?;
    find(name).ok_or_else(|| format!("{key}: there is no recipe `{name}` of one device"))
}

/// Merges `own` into `whole`: tables key by key, configuration files one by one; everything else is replaced.
fn merge(whole: &mut Table, own: Table) {
    for (key, value) in own {
        match (whole.get_mut(&key), value) {
            (Some(Value::Table(there)), Value::Table(value)) => merge(there, value),
            (Some(Value::Array(there)), Value::Array(files)) if key == FILE => {
                there.retain(|old| !files.iter().any(|new| is_same_file(old, new)));
                there.extend(files);
            }
            (_, value) => drop(whole.insert(key, value)),
        }
    }
}

/// Returns true if one file replaces the other because it has the same path and is for the same host.
fn is_same_file(one: &Value, other: &Value) -> bool {
    ["path", "host"]
        .iter()
        .all(|key| one.get(key) == other.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().expect("TOML")
    }

    const ROUTER: &str = "name = 'router'\npolling = true\n[left]\ndut = ['a']\ntester = ['b']\n[state]\npool = ['c']\n\
                          [[file]]\npath = 'x'\ncontent = '1'\n[[file]]\npath = 'x'\nhost = 'netns'\ncontent = '2'\n";
    const TUNNEL: &str = "name = 'tunnel'\nsource = 's'\ntechnology = 't'\n[left]\ndut = ['d']\ntester = ['e']\n[state]\npool = ['f']\n";

    fn resolved(own: &str) -> Result<Table, String> {
        let known = [table(ROUTER), table(TUNNEL)];
        resolve(table(own), |name| {
            known
                .iter()
                .find(|table| table["name"].as_str() == Some(name))
        })
    }

    #[test]
    fn what_a_recipe_does_not_say_is_its_base_s() {
        let whole = resolved(
            "name = 'n'\nbase = 'router'\n[left]\ntester = ['g']\n[[file]]\npath = 'x'\ncontent = '3'\n",
        );
        let files = "[[file]]\npath = 'x'\nhost = 'netns'\ncontent = '2'\n[[file]]\npath = 'x'\ncontent = '3'\n";
        let expected = format!(
            "name = 'n'\npolling = true\n[left]\ndut = ['a']\ntester = ['g']\n[state]\npool = ['c']\n{files}"
        );
        assert_eq!(whole, Ok(table(&expected)));
    }

    #[test]
    fn the_traffic_may_be_that_of_another() {
        let whole =
            resolved("name = 'n'\nbase = 'router'\ntraffic-of = 'tunnel'\n").expect("a recipe");
        assert_eq!(whole["left"], table("dut = ['d']\ntester = ['e']").into());
        assert_eq!(
            (whole["technology"].as_str(), whole.get("source")),
            (Some("t"), None)
        );
        assert_eq!(whole["state"], table("pool = ['c']").into());
        assert_eq!(
            sources(&table("base = 'a'\ntraffic-of = 'b'")).collect::<Vec<_>>(),
            ["a", "b"]
        );
    }

    #[test]
    fn a_name_of_no_recipe_is_told() {
        assert_eq!(
            resolved("base = 'x'"),
            Err("base: there is no recipe `x` of one device".to_owned())
        );
        assert_eq!(
            resolved("traffic-of = 1"),
            Err("traffic-of: expected the name of a recipe, not 1".to_owned())
        );
    }
}
