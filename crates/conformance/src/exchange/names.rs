//! The values of names in an exchange: numbers that the tester chooses, and what the device chose.

use crate::frame::{DissectedLayer, FieldForm, FieldInfo, LayerKind, dissect};
use crate::judge::{CameFrame, FieldDifference, value_text};
use crate::notation::{
    FrameSpec, NamedValue, NumberClass, Operand, RequiredAnswer, SpecValue, SumTerm, Vector,
    named_in,
};
use crate::octets::UnresolvedValue;
use crate::setting::DeviceSetting;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The first and the last of the ports and identifiers that the tester chooses.
const NUMBERS: (u16, u16) = (30_000, 59_999);
/// The same of those that a vector wants among the Well-Known ports.
const LOW_NUMBERS: (u16, u16) = (600, 1023);

/// Ports and identifiers that no exchange before has used, so that each starts without mappings.
#[derive(Clone, Copy, Debug)]
pub struct FreshNumbers {
    next: u16,
    next_low: u16,
}

impl Default for FreshNumbers {
    fn default() -> Self {
        Self {
            next: NUMBERS.0,
            next_low: LOW_NUMBERS.0,
        }
    }
}

impl FreshNumbers {
    /// Returns a number of a class that was not returned before, until all were.
    fn take(&mut self, class: NumberClass) -> u16 {
        let (next, (first, last)) = match class {
            NumberClass::Range(_, last) if last < NUMBERS.0 => (&mut self.next_low, LOW_NUMBERS),
            _ => (&mut self.next, NUMBERS),
        };
        // Every class holds one of two numbers that follow each other.
        for _ in 0..2 {
            let number = *next;
            *next = if number == last { first } else { number + 1 };
            if class.contains(number.into()) {
                return number;
            }
        }
        *next
    }
}

/// A value with a name: a number, or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoundValue {
    Number(u128),
    Address(IpAddr),
}

/// The names of an exchange that have values.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundNames {
    values: BTreeMap<String, BoundValue>,
}

impl BoundNames {
    /// Returns the names that the tester gives values: those that first appear in a frame that is sent.
    pub(super) fn chosen(vector: &Vector, fresh: &mut FreshNumbers) -> Self {
        let mut chosen = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for step in &vector.steps {
            for (named, _) in step.send.iter().flat_map(named_in) {
                if !seen.contains(&&named.name[..]) {
                    let number = fresh.take(named.class);
                    let value = BoundValue::Number(number.into());
                    chosen.values.insert(named.name.clone(), value);
                    seen.push(&named.name);
                }
            }
            let allowed = step.allowed.iter().map(|choice| &choice.expect);
            for answer in allowed.chain([&step.expect]) {
                if let RequiredAnswer::Frames(frames) = answer {
                    seen.extend(
                        frames
                            .iter()
                            .flat_map(named_in)
                            .map(|(named, _)| &named.name[..]),
                    );
                }
            }
        }
        chosen
    }

    pub(super) fn set(&mut self, name: &str, number: u128) {
        self.values
            .insert(name.to_owned(), BoundValue::Number(number));
    }

    /// Returns the frame with the values of its names. Those that have none yet are left: any value will do for them.
    ///
    /// # Errors
    /// The recipe does not give an address that the device chose in the family of its layer.
    pub(super) fn filled(
        &self,
        frame: &FrameSpec,
        setting: &DeviceSetting,
    ) -> Result<FrameSpec, UnresolvedValue> {
        let mut filled = frame.clone();
        for layer in &mut filled.layers {
            for given in &mut layer.fields {
                if let SpecValue::Named(named) = &given.value
                    && let Some(value) = self.values.get(&named.name)
                {
                    given.value = spec_value(*value, layer.kind, &named.name, setting)?;
                }
            }
        }
        Ok(filled)
    }

    /// Gives the names of an expected frame that have no value yet those of the frame that came, and returns where that fails.
    pub(super) fn bind(
        &mut self,
        expected: &FrameSpec,
        came: &CameFrame,
        setting: &DeviceSetting,
    ) -> Vec<FieldDifference> {
        let found = dissect(&came.datagram);
        let mut differences = Vec::new();
        for (layer, found) in expected.layers.iter().zip(&found) {
            for given in &layer.fields {
                if let SpecValue::Named(named) = &given.value {
                    let value = NamedField {
                        named,
                        field: given.field,
                        layer: found,
                    };
                    differences.extend(value.bind(&mut self.values, setting));
                }
            }
        }
        differences
    }

    /// Returns the names whose values are new since `earlier`, such as `$port=4096`.
    pub(super) fn new_since(&self, earlier: &Self, setting: &DeviceSetting) -> Vec<String> {
        let new = self
            .values
            .iter()
            .filter(|(name, _)| !earlier.values.contains_key(*name));
        new.map(|(name, value)| format!("${name}={}", text_of(*value, setting)))
            .collect()
    }

    /// Returns all names with their values.
    pub(super) fn all(&self, setting: &DeviceSetting) -> Vec<String> {
        self.new_since(&Self::default(), setting)
    }
}

/// A field with a named value, in a layer that came.
struct NamedField<'a> {
    named: &'a NamedValue,
    field: &'static FieldInfo,
    layer: &'a DissectedLayer<'a>,
}

impl NamedField<'_> {
    fn bind(
        &self,
        values: &mut BTreeMap<String, BoundValue>,
        setting: &DeviceSetting,
    ) -> Option<FieldDifference> {
        let number = self.field.read(self.layer.octets)?;
        let came = match self.field.form {
            FieldForm::Address => BoundValue::Address(address_of(self.layer.kind, number)),
            _ => BoundValue::Number(number),
        };
        let known = *values.entry(self.named.name.clone()).or_insert(came);
        let is_other = known != came && self.counterpart(known, setting) != Some(came);
        let is_outside = match came {
            BoundValue::Number(number) if self.named.class == NumberClass::PortSet => {
                !setting.is_in_port_set(number)
            }
            BoundValue::Number(number) => !self.named.class.contains(number),
            BoundValue::Address(address) => {
                self.named.class == NumberClass::External && !setting.is_external(address)
            }
        };
        (is_other || is_outside).then(|| {
            let expected = if is_other {
                text_of(known, setting)
            } else {
                self.named.class.to_string()
            };
            FieldDifference::new(
                format!("{}.{}", self.layer.kind.name(), self.field.name),
                format!("{expected} (${})", self.named.name),
                value_text(self.layer.kind, self.field, number, setting),
            )
        })
    }

    fn counterpart(&self, known: BoundValue, setting: &DeviceSetting) -> Option<BoundValue> {
        let BoundValue::Address(address) = known else {
            return None;
        };
        setting.counterpart(address).map(BoundValue::Address)
    }
}

fn address_of(kind: LayerKind, number: u128) -> IpAddr {
    if kind == LayerKind::Ipv4 {
        IpAddr::V4((number as u32).into())
    } else {
        IpAddr::V6(number.into())
    }
}

fn spec_value(
    value: BoundValue,
    kind: LayerKind,
    name: &str,
    setting: &DeviceSetting,
) -> Result<SpecValue, UnresolvedValue> {
    let address = match value {
        BoundValue::Number(number) => {
            let term = SumTerm {
                is_negative: false,
                operand: Operand::Number(number),
            };
            return Ok(SpecValue::Sum(vec![term]));
        }
        BoundValue::Address(address) => address,
    };
    if address.is_ipv4() == (kind == LayerKind::Ipv4) {
        return Ok(SpecValue::Address(address));
    }
    let other = setting.counterpart(address).map(SpecValue::Address);
    other.ok_or_else(|| UnresolvedValue::NoCounterpart {
        name: name.to_owned(),
    })
}

fn text_of(value: BoundValue, setting: &DeviceSetting) -> String {
    match value {
        BoundValue::Number(number) => number.to_string(),
        BoundValue::Address(address) => setting
            .role_at(address)
            .map_or(address.to_string(), |role| role.name().to_owned()),
    }
}
