//! Why a port of the tester cannot be opened.

use sixbench_io::PortError;
use std::io;

/// The reason why a port could not be opened.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum OpenError {
    /// Its network namespace cannot be entered.
    #[error("cannot enter namespace {namespace}: {error}; was it removed in the meantime?")]
    Namespace { namespace: String, error: io::Error },
    /// The port cannot be used.
    #[error(transparent)]
    Port(#[from] PortError),
}
