//! Response times over the number of clients.

pub(crate) mod sentences;
