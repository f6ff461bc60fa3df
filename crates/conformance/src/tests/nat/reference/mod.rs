//! A reference NAT, written from RFC 4787, 5382, 5508, 7857 and 6146 without any code of the tester, that can be rigged.

pub(crate) mod fault;
pub(crate) mod nat;
pub(crate) mod nat64;
pub(crate) mod packet;
pub(crate) mod table;
