//! Big-endian reads and length checks that the views share.

use crate::WireError;

/// Refuses fewer than `need` octets.
pub(crate) fn at_least(octets: &[u8], need: usize, what: &'static str) -> Result<(), WireError> {
    let have = octets.len();
    if have < need {
        return Err(WireError::Truncated { what, need, have });
    }
    Ok(())
}

/// Refuses a field that does not hold a required value.
pub(crate) fn must(
    holds: bool,
    what: &'static str,
    field: &'static str,
    value: impl Into<u64>,
    expected: &'static str,
) -> Result<(), WireError> {
    if holds {
        return Ok(());
    }
    let value = value.into();
    Err(WireError::Field {
        what,
        field,
        value,
        expected,
    })
}

/// Returns the `N` octets at `at`; the caller has checked the length.
#[inline(always)]
pub(crate) fn array<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    *octets[at..]
        .first_chunk()
        .expect("length was checked when the view was made")
}

/// Returns the 16-bit big-endian number at `at`; the caller has checked the length.
#[inline(always)]
pub(crate) fn be16(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(octets, at))
}

/// Returns the 32-bit big-endian number at `at`; the caller has checked the length.
#[inline(always)]
pub(crate) fn be32(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array(octets, at))
}

/// Returns the octets written in a test as hexadecimal digits, as a capture prints them.
#[cfg(test)]
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).expect("hexadecimal digits"))
        .collect()
}
