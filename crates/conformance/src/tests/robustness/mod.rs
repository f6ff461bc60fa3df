//! Malformed frames: what the grammar makes, and the procedure with the reference translator of RFC 7915, which lives, crashes on two frames together, or
//! leaks memory.

mod grammar;
mod procedure;
mod reduction;
mod results;

use super::rigs;
use crate::frame::Side;
use crate::notation::Vector;
use crate::robustness::{ValidDatagram, valid_datagrams};

const SIDES: [Side; 2] = [Side::Ipv4, Side::Ipv6];

/// Returns the datagrams of RFC 7915 for the reference translator.
fn valid() -> Vec<ValidDatagram> {
    let vectors = rigs::vectors_of("rfc7915.toml");
    let vectors: Vec<&Vector> = vectors.iter().collect();
    valid_datagrams(&vectors, &rigs::setting(), SIDES)
}
