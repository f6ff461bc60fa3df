//! Values with names: `$port` is the tester's choice or the device's where it first appears in the steps of a vector, and the same everywhere after.

use std::fmt;

/// The values that a name may have, checked where it appears: `$port:even`, `$port:0-1023`, `$address:external`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberClass {
    /// Any value.
    Any,
    /// An address of the device's pool, or its own outside.
    External,
    /// An even number.
    Even,
    /// An odd number.
    Odd,
    /// A port, or an identifier, of the port set of a customer edge.
    PortSet,
    /// A port of UDP: as the source port of the expected frame inside, it makes the checksum come out as zero, which is sent as 0xffff.
    ZeroSum,
    /// A number in this range, both ends included.
    Range(u16, u16),
}

impl NumberClass {
    /// Returns true if a number belongs to the class.
    pub fn contains(self, number: u128) -> bool {
        match self {
            Self::Any | Self::External | Self::PortSet | Self::ZeroSum => true,
            Self::Even => number.is_multiple_of(2),
            Self::Odd => !number.is_multiple_of(2),
            Self::Range(first, last) => (u128::from(first)..=u128::from(last)).contains(&number),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "even" => Some(Self::Even),
            "odd" => Some(Self::Odd),
            "portset" => Some(Self::PortSet),
            "external" => Some(Self::External),
            "zero-sum" => Some(Self::ZeroSum),
            _ => {
                let (first, last) = text.split_once('-')?;
                let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                (first <= last).then_some(Self::Range(first, last))
            }
        }
    }
}

impl fmt::Display for NumberClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::External => f.write_str("an external address of the device"),
            Self::PortSet => f.write_str("a port of the device's port set"),
            Self::Even => f.write_str("an even number"),
            Self::Odd => f.write_str("an odd number"),
            Self::ZeroSum => f.write_str("the port for a checksum of zero"),
            Self::Range(first, last) => write!(f, "a number of {first} to {last}"),
        }
    }
}

/// A value with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedValue {
    /// The name, without `$`.
    pub name: String,
    /// The numbers that it may be.
    pub class: NumberClass,
}

impl NamedValue {
    /// The form of a named value, for errors.
    pub(super) const FORM: &str = "a name such as $port, with a class if need be: $port:even, $port:odd, $port:0-1023, $port:portset, $port:zero-sum, $address:external";

    /// Reads the text after `$`; classes of numbers are none of addresses.
    pub(super) fn parse(text: &str, is_address: bool) -> Option<Self> {
        let (name, class) = match text.split_once(':') {
            Some((name, class)) => (name, NumberClass::parse(class)?),
            None => (text, NumberClass::Any),
        };
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|octet| octet.is_ascii_lowercase() || octet.is_ascii_digit());
        let is_class = class == NumberClass::Any || is_address == (class == NumberClass::External);
        (is_name && is_class).then(|| Self {
            name: name.to_owned(),
            class,
        })
    }
}
