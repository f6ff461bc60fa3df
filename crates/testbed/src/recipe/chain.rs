//! Recipes of several devices in a row (RFC 8219 section 4.2: the dual DUT setup), each with its own recipe. In the recipe of a single device, the
//! tester emulates its neighbour. In a row, the neighbour itself is there, with the same addresses.

use super::{DeviceHost, Pool, Recipe, RecipeTraffic, Technology, check_reference};
use serde::{Deserialize, Serialize};
use sixbench_method::lists::each_once;
use sixbench_method::names::check_title;
use std::net::IpAddr;
use thiserror::Error;

/// The reason why recipes cannot stand in a row.
#[derive(Debug, Error)]
enum RowError {
    #[error("there is no recipe `{name}`; those known are: {known}")]
    Unknown { name: String, known: String },
    #[error(
        "{0} runs at links in shared memory, which lead to the tester: it cannot be one of several in a row"
    )]
    InSharedMemory(String),
    #[error("{0} is no device: the links between devices in a row are wires already")]
    BareWire(String),
    #[error(
        "{pair}: the first sends to {address}, but the second has no such address on its left link"
    )]
    NotOnTheLeft { pair: String, address: IpAddr },
    #[error(
        "{pair}: the second sends to {address}, but the first has no such address on its right link"
    )]
    NotOnTheRight { pair: String, address: IpAddr },
    #[error("{pair}: the first sends to {sent}, but the second expects frames to {taken}")]
    OtherDestination {
        pair: String,
        sent: IpAddr,
        taken: IpAddr,
    },
}

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
        let in_chain = |wrong: RowError| format!("chain: {wrong}");
        let parts = self.parts(find, names).map_err(in_chain)?;
        let [first, .., last] = &parts[..] else {
            return Err(format!(
                "chain: expected the names of two recipes or more, not {}",
                parts.len()
            ));
        };
        check_row(&parts).map_err(in_chain)?;
        let mut stateful = parts.iter().filter_map(|part| part.state.clone());
        let mut state = stateful.next();
        if stateful.next().is_some() {
            return Err("chain: two of its devices have a [state]: connections can be followed through one only".to_owned());
        }
        if let Some(state) = state.as_mut().filter(|_| !self.pool.is_empty()) {
            state.pool = self.pool;
        }
        let sources: Vec<&str> = parts.iter().map(|part| part.source.as_str()).collect();
        let defects = parts
            .iter()
            .flat_map(|part| part.known_defects.iter().copied());
        let hops_in_reverse = parts
            .iter()
            .map(|part| part.foreground.hops_in_reverse())
            .sum();
        Ok(Recipe {
            name: self.name,
            title: self.title,
            technology: self.technology,
            source: sources.join("; "),
            needs: parts.iter().flat_map(|part| part.needs.clone()).collect(),
            known_defects: each_once(defects),
            left: first.left.clone(),
            right: last.right.clone(),
            foreground: RecipeTraffic {
                left: first.foreground.left,
                right: last.foreground.right,
                hops: parts.iter().map(|part| part.foreground.hops).sum(),
                reverse_hops: Some(hops_in_reverse),
            },
            state,
            filters: None,
            parts: parts.clone(),
            ..first.bare()
        })
    }

    /// Returns the recipes of the devices in the row.
    fn parts<'l>(
        &self,
        find: impl Fn(&str) -> Option<&'l Recipe>,
        names: &[&str],
    ) -> Result<Vec<Recipe>, RowError> {
        let unknown = |name: &String| RowError::Unknown {
            name: name.clone(),
            known: names.join(", "),
        };
        self.chain
            .iter()
            .map(|name| find(name).cloned().ok_or_else(|| unknown(name)))
            .collect()
    }
}

/// Checks that devices can stand in a row, each next to its neighbour.
fn check_row(parts: &[Recipe]) -> Result<(), RowError> {
    if let Some(part) = parts.iter().find(|part| part.host == DeviceHost::Memif) {
        return Err(RowError::InSharedMemory(part.name.clone()));
    }
    if let Some(part) = parts.iter().find(|part| part.is_bare_wire()) {
        return Err(RowError::BareWire(part.name.clone()));
    }
    for pair in parts.windows(2) {
        check_neighbours(&pair[0], &pair[1])?;
    }
    Ok(())
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

/// Returns whether the device has this address on a link.
fn owns(link: &super::RecipeLink, address: IpAddr) -> bool {
    link.dut.iter().any(|own| own.addr() == address)
}

/// Checks that each has the tester's addresses in the other's recipe, and accepts its datagrams.
fn check_neighbours(left: &Recipe, right: &Recipe) -> Result<(), RowError> {
    let pair = format!("{} and {}", left.name, right.name);
    if let Some(address) = left
        .right
        .tester
        .iter()
        .find(|address| !owns(&right.left, **address))
    {
        let address = *address;
        return Err(RowError::NotOnTheLeft { pair, address });
    }
    if let Some(address) = right
        .left
        .tester
        .iter()
        .find(|address| !owns(&left.right, **address))
    {
        let address = *address;
        return Err(RowError::NotOnTheRight { pair, address });
    }
    let (sent, taken) = (left.foreground.right, right.foreground.left);
    let is_same = sent.destination == taken.destination
        && sent.outer.map(|outer| outer.destination) == taken.outer.map(|outer| outer.destination);
    if !is_same {
        return Err(RowError::OtherDestination {
            pair,
            sent: sent.outermost().1,
            taken: taken.outermost().1,
        });
    }
    Ok(())
}
