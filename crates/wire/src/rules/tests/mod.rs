//! The rules compared with the numbers in their RFCs, and with slow computations of the same values.

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

/// Returns the message of the error that a rule set was refused with.
fn refusal<T: std::fmt::Debug>(refused: Result<T, RuleError>) -> String {
    refused.unwrap_err().to_string()
}

/// Returns a number as `width` binary digits; an empty string for width 0.
fn digits(number: u64, width: u8) -> String {
    let all = format!("{number:064b}");
    all[64 - usize::from(width)..].to_owned()
}

/// Returns the first `len` binary digits of an IPv6 prefix.
fn digits_of(prefix: Prefix6) -> String {
    format!("{:0128b}", prefix.address().to_bits())[..usize::from(prefix.len())].to_owned()
}

/// Returns the IPv6 address of these binary digits, padded with trailing zeros.
fn address_of(digits: &str) -> IpAddr {
    let bits = u128::from_str_radix(&format!("{digits:0<128}"), 2).unwrap();
    IpAddr::V6(bits.into())
}
