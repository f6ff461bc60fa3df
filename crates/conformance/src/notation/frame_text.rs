//! One frame of a vector: `4: ipv4(src=host4, dst=host6, tos=0xb8) / udp(sport=4096) / payload(32)`.

use super::mistake::FrameMistake;
use super::named::NamedValue;
use crate::frame::{FieldForm, FieldInfo, LayerKind, Side};
use crate::setting::Role;
use std::net::IpAddr;

/// A part of a value that is a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumTerm {
    /// True if it is subtracted.
    pub is_negative: bool,
    /// The number that is added or subtracted.
    pub operand: Operand,
}

/// A number, or the name of one that the device or the frame sent determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number.
    Number(u128),
    /// The TTL or hop limit of the first frame that was sent.
    SentHopLimit,
    /// The amount by which the device lowers it in the direction of the first frame that was sent.
    Hops,
    /// The MTU of the link on this side.
    Mtu(Side),
    /// The first port of the subscriber's port set.
    FirstPort,
    /// The last port of the first range of the subscriber's port set.
    LastPort,
    /// The distance from the first range of the subscriber's port set to the next one.
    NextRange,
    /// The distance from the first range of the subscriber's port set to the last one.
    LastRange,
    /// The hop limit or TTL that the device writes into outer headers.
    OuterHopLimit,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecValue {
    /// A sum; most often of one number.
    Sum(Vec<SumTerm>),
    /// An address.
    Address(IpAddr),
    /// The address of a role, in the family of the layer.
    Role(Role),
    /// In an expectation: any value.
    Any,
    /// In an expectation: the value of this field in the first frame that was sent.
    Same,
    /// A wrong checksum.
    Bad,
    /// The right checksum; in an expectation, it is then compared in a datagram in error too.
    Right,
    /// Of the source port of UDP that is sent: one with which the checksum comes out as zero on the other side. In an expectation: any.
    ZeroSum,
    /// The checksum of UDP in a first fragment, over the whole datagram, whose payload is the vector's.
    Whole,
    /// A value that has a name in the steps of a vector.
    Named(NamedValue),
}

/// A field with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// The field.
    pub field: &'static FieldInfo,
    /// Its value.
    pub value: SpecValue,
}

/// The octets of a layer that are no fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerFill {
    /// None are given.
    Absent,
    /// These octets.
    Octets(Vec<u8>),
    /// Octets of the vector's payload.
    Pattern {
        /// Their number; [`SpecValue::Any`] of an expected part of the payload, wherever it begins and ends.
        length: SpecValue,
        /// The first of them, counted from the begin of the payload.
        from: usize,
    },
}

/// A layer of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerSpec {
    /// Its kind.
    pub kind: LayerKind,
    /// The fields that are written.
    pub fields: Vec<FieldValue>,
    /// Its options, or the octets of a payload.
    pub fill: LayerFill,
}

impl LayerSpec {
    /// Returns the value that is written for a field.
    pub fn value(&self, name: &str) -> Option<&SpecValue> {
        self.fields
            .iter()
            .find(|given| given.field.name == name)
            .map(|given| &given.value)
    }
}

/// A frame of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSpec {
    /// The side on which it is sent or expected.
    pub side: Side,
    /// Its layers, from the outermost; there is at least one.
    pub layers: Vec<LayerSpec>,
    /// The text.
    pub text: String,
}

impl FrameSpec {
    /// Reads a frame.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse(text: &str) -> Result<Self, FrameMistake> {
        let (side, layers) = text.split_once(':').ok_or(FrameMistake::NoSide)?;
        let side = Side::of_name(side.trim()).ok_or(FrameMistake::NoSide)?;
        let layers = layers
            .split('/')
            .map(|layer| layer_of(layer.trim()))
            .collect::<Result<Vec<_>, _>>()?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self { side, layers, text })
    }
}

fn layer_of(text: &str) -> Result<LayerSpec, FrameMistake> {
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (
            name.trim(),
            rest.strip_suffix(')').ok_or_else(|| form_mistake(text))?,
        ),
        None => (text, ""),
    };
    let kind =
        LayerKind::of_name(name).ok_or_else(|| FrameMistake::UnknownLayer(name.to_owned()))?;
    let mut layer = LayerSpec {
        kind,
        fields: Vec::new(),
        fill: LayerFill::Absent,
    };
    arguments
        .split(',')
        .map(str::trim)
        .filter(|argument| !argument.is_empty())
        .try_for_each(|argument| layer.read_argument(argument))?;
    match (kind, &layer.fill) {
        (LayerKind::Payload | LayerKind::Bytes, LayerFill::Absent) => Err(form_mistake(text)),
        _ => Ok(layer),
    }
}

impl LayerSpec {
    fn read_argument(&mut self, argument: &str) -> Result<(), FrameMistake> {
        let Some((name, value)) = argument
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
        else {
            return self.read_fill(argument);
        };
        // `from` follows the length.
        if let (LayerKind::Payload, "from", LayerFill::Pattern { from, .. }) =
            (self.kind, name, &mut self.fill)
        {
            *from = value
                .parse()
                .map_err(|_| bad_value(self.kind, name, value, "a number of octets"))?;
            return Ok(());
        }
        if self.kind.octets_argument() == Some(name) {
            return self.read_octets(name, value);
        }
        self.read_field(name, value)
    }

    /// Reads the argument that has all octets of the layer.
    fn read_octets(&mut self, name: &str, value: &str) -> Result<(), FrameMistake> {
        self.refuse_second_fill(name)?;
        let octets = octets_of(value)
            .ok_or_else(|| bad_value(self.kind, name, value, "hexadecimal digits"))?;
        self.fill = LayerFill::Octets(octets);
        Ok(())
    }

    fn read_field(&mut self, name: &str, value: &str) -> Result<(), FrameMistake> {
        let field = self
            .kind
            .field(name)
            .ok_or_else(|| unknown_field(self.kind, name))?;
        if self.value(name).is_some() {
            return Err(self.repeated(name));
        }
        let value = value_of(self.kind, field, value)?;
        self.fields.push(FieldValue { field, value });
        Ok(())
    }

    fn repeated(&self, field: &str) -> FrameMistake {
        FrameMistake::Repeated {
            layer: self.kind.name(),
            field: field.to_owned(),
        }
    }

    /// Refuses octets for a layer that has some: the last ones would silently replace the first.
    fn refuse_second_fill(&self, argument: &str) -> Result<(), FrameMistake> {
        if self.fill == LayerFill::Absent {
            Ok(())
        } else {
            Err(FrameMistake::SecondFill {
                layer: self.kind.name(),
                argument: argument.to_owned(),
            })
        }
    }

    /// Reads the argument without a name, of `payload(N)` and `bytes(HEX)`.
    fn read_fill(&mut self, argument: &str) -> Result<(), FrameMistake> {
        self.refuse_second_fill(argument)?;
        self.fill = match self.kind {
            LayerKind::Payload if argument == "any" => LayerFill::Pattern {
                length: SpecValue::Any,
                from: 0,
            },
            LayerKind::Payload => {
                let length = sum_of(argument).ok_or_else(|| {
                    bad_value(self.kind, "length", argument, "a number of octets")
                })?;
                LayerFill::Pattern { length, from: 0 }
            }
            LayerKind::Bytes => {
                let octets = octets_of(argument);
                LayerFill::Octets(octets.ok_or_else(|| {
                    bad_value(self.kind, "octets", argument, "hexadecimal digits")
                })?)
            }
            kind => return Err(unknown_field(kind, argument)),
        };
        Ok(())
    }
}

fn form_mistake(text: &str) -> FrameMistake {
    FrameMistake::Form(text.to_owned())
}

fn bad_value(kind: LayerKind, field: &str, value: &str, expected: &'static str) -> FrameMistake {
    FrameMistake::BadValue {
        layer: kind.name(),
        field: field.to_owned(),
        value: value.to_owned(),
        expected,
    }
}

fn unknown_field(kind: LayerKind, field: &str) -> FrameMistake {
    let names = kind
        .fields()
        .iter()
        .map(|field| field.name)
        .chain(kind.octets_argument());
    FrameMistake::UnknownField {
        layer: kind.name(),
        field: field.to_owned(),
        known: names.collect::<Vec<_>>().join(", "),
    }
}

fn value_of(
    kind: LayerKind,
    field: &'static FieldInfo,
    text: &str,
) -> Result<SpecValue, FrameMistake> {
    match text {
        "any" => return Ok(SpecValue::Any),
        "same" => return Ok(SpecValue::Same),
        "bad" if field.name == "sum" => return Ok(SpecValue::Bad),
        "zero-sum" if kind == LayerKind::Udp && field.name == "sport" => {
            return Ok(SpecValue::ZeroSum);
        }
        "right" if field.name == "sum" => return Ok(SpecValue::Right),
        "whole" if kind == LayerKind::Udp && field.name == "sum" => return Ok(SpecValue::Whole),
        _ => {}
    }
    if let Some(named) = text.strip_prefix('$') {
        let value = NamedValue::parse(named, field.form == FieldForm::Address);
        return value
            .map(SpecValue::Named)
            .ok_or_else(|| bad_value(kind, field.name, text, NamedValue::FORM));
    }
    if field.form == FieldForm::Address {
        let expected = "an address of the layer's family, or the name of a role";
        return address_of(kind, text).ok_or_else(|| bad_value(kind, field.name, text, expected));
    }
    let value = word_value(field, text)
        .map(SpecValue::number)
        .or_else(|| sum_of(text));
    let value = value.ok_or_else(|| {
        bad_value(
            kind,
            field.name,
            text,
            "a number, or a sum of numbers and names",
        )
    })?;
    check_number(field, &value).map_err(|expected| bad_value(kind, field.name, text, expected))?;
    Ok(value)
}

/// Returns the number of a field that is written as a word or as octets.
fn word_value(field: &FieldInfo, text: &str) -> Option<u128> {
    match field.form {
        FieldForm::Protocol => LayerKind::of_name(text)
            .and_then(LayerKind::protocol)
            .map(u128::from),
        FieldForm::TcpFlags => tcp_flags(text),
        FieldForm::Octets => octets_of(text)
            .filter(|octets| octets.len() * 8 == field.bits)
            .map(|octets| big_endian(&octets)),
        FieldForm::Decimal | FieldForm::Hexadecimal | FieldForm::Address => None,
    }
}

/// Refuses a number that the field cannot have.
fn check_number(field: &FieldInfo, value: &SpecValue) -> Result<(), &'static str> {
    let SpecValue::Sum(terms) = value else {
        return Ok(());
    };
    let [
        SumTerm {
            operand: Operand::Number(number),
            is_negative: false,
        },
    ] = terms[..]
    else {
        return Ok(());
    };
    if number > field.largest() {
        Err("a number for which the field has enough bits")
    } else if number % field.unit != 0 {
        // Only the fragment offset has a unit other than 1.
        Err("a multiple of 8")
    } else {
        Ok(())
    }
}

impl SpecValue {
    /// Returns the value of a number.
    pub(crate) fn number(number: u128) -> Self {
        Self::Sum(vec![SumTerm {
            is_negative: false,
            operand: Operand::Number(number),
        }])
    }
}

fn big_endian(octets: &[u8]) -> u128 {
    octets
        .iter()
        .fold(0, |number, octet| number << 8 | u128::from(*octet))
}

fn address_of(kind: LayerKind, text: &str) -> Option<SpecValue> {
    if let Some(role) = Role::of_name(text) {
        return Some(SpecValue::Role(role));
    }
    let address: IpAddr = text.parse().ok()?;
    (address.is_ipv4() == (kind == LayerKind::Ipv4)).then_some(SpecValue::Address(address))
}

/// Returns the value of flags as scapy writes them, such as `SA`.
fn tcp_flags(text: &str) -> Option<u128> {
    text.chars()
        .try_fold(0, |flags, letter| {
            Some(flags | 1 << "FSRPAUEC".find(letter)?)
        })
        .filter(|_| !text.is_empty())
}

fn octets_of(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|sign| !sign.is_whitespace())
        .map(|sign| sign.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| {
        digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect()
    })
}

/// Reads a sum such as `mtu6-20`.
fn sum_of(text: &str) -> Option<SpecValue> {
    let mut terms = Vec::new();
    let mut rest = text;
    let mut is_negative = false;
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        terms.push(SumTerm {
            is_negative,
            operand: operand_of(rest[..end].trim())?,
        });
        if end == rest.len() {
            return Some(SpecValue::Sum(terms));
        }
        is_negative = rest[end..].starts_with('-');
        rest = &rest[end + 1..];
    }
}

fn operand_of(text: &str) -> Option<Operand> {
    match text {
        "ttl" | "hlim" => Some(Operand::SentHopLimit),
        "hops" => Some(Operand::Hops),
        "mtu4" => Some(Operand::Mtu(Side::Ipv4)),
        "mtu6" => Some(Operand::Mtu(Side::Ipv6)),
        "firstport" => Some(Operand::FirstPort),
        "lastport" => Some(Operand::LastPort),
        "nextrange" => Some(Operand::NextRange),
        "lastrange" => Some(Operand::LastRange),
        "outerhlim" => Some(Operand::OuterHopLimit),
        _ => match text.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16),
            None => text.parse(),
        }
        .ok()
        .map(Operand::Number),
    }
}
