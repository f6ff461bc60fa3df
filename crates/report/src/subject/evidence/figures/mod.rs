//! The figures of the evidence behind the results.

mod delay;
mod directions;
mod headroom;
mod loss;
mod processor;
mod repetitions;
mod search;
mod timeout;

use crate::digest::Digest;
use crate::plot::Figure;

/// Returns the figures in the order of the report.
pub(super) fn figures(digest: &Digest) -> Vec<Figure> {
    vec![
        repetitions::figure(digest),
        search::figure(digest),
        delay::figure(digest),
        timeout::figure(digest),
        loss::figure(digest),
        headroom::figure(digest),
        processor::figure(digest),
    ]
}
