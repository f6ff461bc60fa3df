//! A reference translator, written from RFC 7915 without any code of the tester, that can be rigged.

pub(crate) mod datagram;
pub(crate) mod fault;
mod icmp;
pub(crate) mod translator;
mod transport;
