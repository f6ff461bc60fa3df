//! The figures of stateful gateways.

mod capacity;
mod connections;

use crate::digest::Digest;
use crate::plot::Figure;

pub(super) fn figures(digest: &Digest) -> Vec<Figure> {
    vec![connections::figure(digest), capacity::figure(digest)]
}
