//! The sections of a plan file, and the keys of each: what a key says, and what is wrong with it, is found in the file of its section.

pub(crate) mod agent;
pub(crate) mod authority;
pub(crate) mod broadcasts;
pub(crate) mod bursts;
pub(crate) mod cores;
pub(crate) mod dns;
pub(crate) mod expect;
pub(crate) mod filters;
pub(crate) mod machines;
pub(crate) mod measure;
pub(crate) mod requirements;
pub(crate) mod search;
pub(crate) mod stateful;
pub(crate) mod test;
pub(crate) mod traffic;
pub(crate) mod vector_load;
