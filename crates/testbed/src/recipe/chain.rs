//! Recipes of several devices in a row (RFC 8219 section 4.2: the dual DUT setup), each with its own recipe. In the recipe of a single device, the
//! tester emulates its neighbour. In a row, the neighbour itself is there, with the same addresses.

use super::{DeviceHost, Pool, Recipe, RecipeTraffic, Technology, check_reference};
use serde::{Deserialize, Serialize};
use sixbench_method::lists::each_once;
use sixbench_method::names::check_title;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ChainFile {
    /// A unique name: letters, digits, `-`.
    name: String,
    /// A one-line title for users.
    title: String,
    technology: Technology,
    /// Names of recipes, from left to right.
    chain: Vec<String>,
    /// The pools to which sources are translated behind the last device, if the stateful device is not the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pool: Vec<Pool>,
}

impl ChainFile {
    /// Returns the recipe of the whole row from those of its devices. `find` returns a recipe by name; `names` are all names.
    ///
    /// # Errors
    /// The problem: a name is not a recipe's, or neighbours do not match.
    pub(super) fn resolve<'l>(
        self,
        find: impl Fn(&str) -> Option<&'l Recipe>,
        names: &[&str],
    ) -> Result<Recipe, String> {
        check_reference(&self.name).map_err(|wrong| format!("name: {wrong}"))?;
        check_title(&self.title).map_err(|wrong| format!("title: {wrong}"))?;
        let part = |name: &String| {
            let found = find(name).cloned();
            found.ok_or_else(|| {
                format!(
                    "chain: there is no recipe `{name}`; those known are: {}",
                    names.join(", ")
                )
            })
        };
        let parts = self.chain.iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let [first, .., last] = &parts[..] else {
            return Err(format!(
                "chain: expected the names of two recipes or more, not {}",
                parts.len()
            ));
        };
        if let Some(part) = parts.iter().find(|part| part.host == DeviceHost::Memif) {
            return Err(format!(
                "chain: {} runs at links in shared memory, which lead to the tester: it cannot be one of several in a row",
                part.name
            ));
        }
        if let Some(part) = parts.iter().find(|part| part.is_bare_wire()) {
            return Err(format!(
                "chain: {} is no device: the links between devices in a row are wires already",
                part.name
            ));
        }
        for pair in parts.windows(2) {
            check_neighbours(&pair[0], &pair[1])?;
        }
        let mut stateful = parts.iter().filter_map(|part| part.state.clone());
        let mut state = stateful.next();
        if stateful.next().is_some() {
            return Err("chain: two of its devices have a [state]: connections can be followed through one only".to_owned());
        }
        if let Some(state) = state.as_mut().filter(|_| !self.pool.is_empty()) {
            state.pool = self.pool;
        }
        Ok(Recipe {
            name: self.name,
            title: self.title,
            technology: self.technology,
            source: parts
                .iter()
                .map(|part| part.source.as_str())
                .collect::<Vec<_>>()
                .join("; "),
            needs: parts.iter().flat_map(|part| part.needs.clone()).collect(),
            known_defects: each_once(
                parts
                    .iter()
                    .flat_map(|part| part.known_defects.iter().copied()),
            ),
            left: first.left.clone(),
            right: last.right.clone(),
            foreground: RecipeTraffic {
                left: first.foreground.left,
                right: last.foreground.right,
                hops: parts.iter().map(|part| part.foreground.hops).sum(),
                reverse_hops: Some(
                    parts
                        .iter()
                        .map(|part| part.foreground.hops_in_reverse())
                        .sum(),
                ),
            },
            state,
            parts: parts.clone(),
            ..first.bare()
        })
    }
}

impl Recipe {
    /// Returns the names and texts of this recipe's files. For a row, these are the devices' files and its own.
    ///
    /// # Errors
    /// None for a recipe that was read from a file.
    pub fn to_files(&self) -> Result<Vec<(String, String)>, toml::ser::Error> {
        let mut files = Vec::new();
        for part in &self.parts {
            files.extend(part.to_files()?);
        }
        let text = if self.parts.is_empty() {
            toml::to_string(self)?
        } else {
            toml::to_string(&ChainFile {
                name: self.name.clone(),
                title: self.title.clone(),
                technology: self.technology,
                chain: self.parts.iter().map(|part| part.name.clone()).collect(),
                pool: self
                    .state
                    .as_ref()
                    .map(|state| state.pool.clone())
                    .unwrap_or_default(),
            })?
        };
        files.push((format!("{}.toml", self.name), text));
        Ok(files)
    }

    /// Returns the recipe with its host and version, but without its setup: a row is set up part by part.
    fn bare(&self) -> Self {
        Self {
            background: None,
            translation: None,
            state: None,
            subscribers: None,
            dns: None,
            files: vec![],
            setup: vec![],
            daemon: None,
            after: vec![],
            ready: None,
            reset: vec![],
            ..self.clone()
        }
    }
}

/// Checks that each has the tester's addresses in the other's recipe, and accepts its datagrams.
fn check_neighbours(left: &Recipe, right: &Recipe) -> Result<(), String> {
    let pair = format!("chain: {} and {}", left.name, right.name);
    let owns = |link: &super::RecipeLink, address| link.dut.iter().any(|own| own.addr() == address);
    if let Some(address) = left
        .right
        .tester
        .iter()
        .find(|address| !owns(&right.left, **address))
    {
        return Err(format!(
            "{pair}: the first sends to {address}, but the second has no such address on its left link"
        ));
    }
    if let Some(address) = right
        .left
        .tester
        .iter()
        .find(|address| !owns(&left.right, **address))
    {
        return Err(format!(
            "{pair}: the second sends to {address}, but the first has no such address on its right link"
        ));
    }
    let (sent, taken) = (left.foreground.right, right.foreground.left);
    let is_same = sent.destination == taken.destination
        && sent.outer.map(|outer| outer.destination) == taken.outer.map(|outer| outer.destination);
    if !is_same {
        return Err(format!(
            "{pair}: the first sends to {}, but the second expects frames to {}",
            sent.outermost().1,
            taken.outermost().1
        ));
    }
    Ok(())
}
