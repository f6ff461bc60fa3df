//! DNS servers (RFC 8219 section 9).

pub(crate) mod sentences;
