//! The rules against the numbers of their RFCs, and against slow computations of the same.

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::{Prefix4, Prefix6};

mod address;
mod map;
mod ports;
mod six_rd;
mod softwires;

fn v4(text: &str) -> Prefix4 {
    text.parse().unwrap()
}

fn v6(text: &str) -> Prefix6 {
    text.parse().unwrap()
}

fn ipv4(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// What was said against a rule set.
fn refusal<T: std::fmt::Debug>(refused: Result<T, RuleError>) -> String {
    refused.unwrap_err().to_string()
}

/// A number written with `width` binary digits; of none of them for width 0.
fn digits(number: u64, width: u8) -> String {
    let all = format!("{number:064b}");
    all[64 - usize::from(width)..].to_owned()
}

/// The first `len` binary digits of an IPv6 prefix.
fn digits_of(prefix: Prefix6) -> String {
    format!("{:0128b}", prefix.address().to_bits())[..usize::from(prefix.len())].to_owned()
}

/// The IPv6 address of these binary digits, filled up with zeros behind.
fn address_of(digits: &str) -> IpAddr {
    let bits = u128::from_str_radix(&format!("{digits:0<128}"), 2).unwrap();
    IpAddr::V6(bits.into())
}
