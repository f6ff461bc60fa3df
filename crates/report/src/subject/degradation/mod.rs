//! Series: what changes with flows, connections, the size of a table, cores or the mix.

pub(crate) mod sentences;
