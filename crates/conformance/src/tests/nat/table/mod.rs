//! The rigs, and which vectors each of them fails.

pub(super) mod nat44;
pub(super) mod nat64;

use super::reference::nat::Filtering;
use crate::notation::Vector;
use crate::tests::patterns::names_meant;
use std::collections::BTreeSet;

/// A rig, with the names of the vectors that it fails: a `*` at the end stands for any rest.
pub(crate) struct RigRow<F: 'static> {
    pub(crate) fault: F,
    pub(crate) filtering: Filtering,
    pub(crate) fails: &'static [&'static str],
}

impl<F> RigRow<F> {
    /// Returns the names of the vectors that it fails.
    pub(crate) fn fails(&self, vectors: &[Vector]) -> BTreeSet<String> {
        names_meant(
            self.fails,
            vectors.iter().map(|vector| vector.name.as_str()),
        )
    }
}
