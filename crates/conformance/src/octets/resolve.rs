//! The values of fields, for one device and one vector.

use crate::frame::{FieldInfo, LayerKind, Side};
use crate::notation::{FrameSpec, LayerSpec, Operand, SpecValue};
use crate::setting::{DeviceSetting, PortRanges, Role, SubscriberSetting};
use std::net::IpAddr;

/// A value that the device's recipe does not determine, or that makes no sense in its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnresolvedValue {
    /// The recipe has no such address.
    #[error("the recipe gives {role} no IPv{family} address")]
    NoAddress {
        /// The name of the role.
        role: &'static str,
        /// The family.
        family: Side,
    },
    /// The device has no such property.
    #[error("the device has no {name}: {reason}")]
    NoProperty {
        /// The name in the notation.
        name: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// A sum is negative, or larger than its field.
    #[error("{field} would be out of its range")]
    OutOfRange {
        /// The name of the field.
        field: &'static str,
    },
    /// The device chose an address that has none in the other family.
    #[error("the recipe says no address of the other family for ${name}")]
    NoCounterpart {
        /// The name of the address.
        name: String,
    },
    /// A wait refers to a timer that the recipe does not set.
    #[error("the recipe does not say what the device's timer {timer} is set to")]
    NoTimer {
        /// The name of the timer.
        timer: &'static str,
    },
    /// A vector needs a device with a small pool.
    #[error("the recipe does not say how the device is given a small pool")]
    NoSmallPool,
    /// An exchange waits for longer than is wanted.
    #[error("it waits for {seconds} s; only --long does")]
    LongWait {
        /// The time of all its waits.
        seconds: u64,
    },
    /// `same`, but no frame that was sent has the field.
    #[error("no frame that is sent has {field}, which is to be the same")]
    NothingAlike {
        /// The name of the field.
        field: &'static str,
    },
}

/// Gives the values of fields of a vector's frames, for one device.
#[derive(Clone, Copy)]
pub struct Resolver<'a> {
    /// The device.
    pub setting: &'a DeviceSetting,
    /// The first frame that is sent.
    pub sent: &'a FrameSpec,
}

/// The TTL or hop limit of a frame that does not say another.
pub(super) const USUAL_HOP_LIMIT: u8 = 64;

impl Resolver<'_> {
    /// Returns the value of a field, or `None` if any value will do, or the octets around it determine it.
    ///
    /// # Errors
    /// The device does not determine it.
    pub fn value(
        &self,
        layer: LayerKind,
        field: &'static FieldInfo,
        value: &SpecValue,
    ) -> Result<Option<u128>, UnresolvedValue> {
        Ok(Some(match value {
            SpecValue::Any
            | SpecValue::Bad
            | SpecValue::Right
            | SpecValue::Whole
            | SpecValue::ZeroSum
            | SpecValue::Named(_) => {
                return Ok(None);
            }
            SpecValue::Address(address) => number_of(*address),
            SpecValue::Role(role) => {
                let family = if layer == LayerKind::Ipv4 {
                    Side::Ipv4
                } else {
                    Side::Ipv6
                };
                number_of(self.address_of(*role, family)?)
            }
            SpecValue::Same => {
                let sent = self
                    .sent
                    .layers
                    .iter()
                    .find_map(|layer| counterpart(layer, field.name));
                let (layer, field, value) =
                    sent.ok_or(UnresolvedValue::NothingAlike { field: field.name })?;
                return self.value(layer, field, value);
            }
            SpecValue::Sum(_) => {
                let number = self.number(field.name, value)?;
                if number > field.largest() {
                    return Err(UnresolvedValue::OutOfRange { field: field.name });
                }
                number
            }
        }))
    }

    fn address_of(&self, role: Role, family: Side) -> Result<IpAddr, UnresolvedValue> {
        self.setting
            .address(role, family)
            .ok_or(UnresolvedValue::NoAddress {
                role: role.name(),
                family,
            })
    }

    /// Returns the address that a role of the first frame's IP header has on the other side of the device.
    ///
    /// # Errors
    /// The header has no role in this field, or the recipe gives it no such address.
    pub(super) fn address_across(&self, field: &'static str) -> Result<IpAddr, UnresolvedValue> {
        let family = self.sent.side.other();
        let written = self
            .sent
            .layers
            .first()
            .and_then(|layer| layer.value(field));
        let Some(SpecValue::Role(role)) = written else {
            return Err(UnresolvedValue::OutOfRange { field });
        };
        let role = *role;
        let address = self.setting.address(role, family);
        address.ok_or(UnresolvedValue::NoAddress {
            role: role.name(),
            family,
        })
    }

    /// Returns the number that a sum amounts to.
    ///
    /// # Errors
    /// It is negative, or the value is no sum. `field` is its name in the error.
    pub fn number(&self, field: &'static str, value: &SpecValue) -> Result<u128, UnresolvedValue> {
        let out_of_range = UnresolvedValue::OutOfRange { field };
        let SpecValue::Sum(terms) = value else {
            return Err(out_of_range);
        };
        let mut sum = 0i128;
        for term in terms {
            let number = i128::try_from(self.operand(term.operand)?).ok();
            let next = number.and_then(|number| {
                if term.is_negative {
                    sum.checked_sub(number)
                } else {
                    sum.checked_add(number)
                }
            });
            sum = next.ok_or_else(|| out_of_range.clone())?;
        }
        u128::try_from(sum).map_err(|_| out_of_range)
    }

    /// Returns the number of octets of a payload.
    ///
    /// # Errors
    /// No datagram can have so many.
    pub fn payload_octets(&self, length: &SpecValue) -> Result<usize, UnresolvedValue> {
        let octets = self.number("the length of the payload", length)?;
        u16::try_from(octets)
            .map(usize::from)
            .map_err(|_| UnresolvedValue::OutOfRange {
                field: "the length of the payload",
            })
    }

    fn operand(&self, operand: Operand) -> Result<u128, UnresolvedValue> {
        Ok(match operand {
            Operand::Number(number) => number,
            Operand::SentHopLimit => self.sent_hop_limit(),
            Operand::Hops => self.setting.hops_from(self.sent.side).into(),
            Operand::Mtu(side) => self.setting.mtu(side).into(),
            Operand::FirstPort => self.subscribers("firstport")?.first_port().into(),
            Operand::LastPort => {
                let ports = self.subscribers("lastport")?.ports;
                let (_, last) = ports.ok_or(UnresolvedValue::NoProperty {
                    name: "lastport",
                    reason: "each subscriber has every port",
                })?;
                last.into()
            }
            Operand::NextRange => self.ranges("nextrange")?.interval.into(),
            Operand::LastRange => self.ranges("lastrange")?.to_last.into(),
            Operand::OuterHopLimit => {
                let written = self.subscribers("outerhlim")?.outer_hop_limit;
                written
                    .ok_or(UnresolvedValue::NoProperty {
                        name: "outerhlim",
                        reason: "it does not encapsulate",
                    })?
                    .into()
            }
        })
    }

    /// Returns the ranges of the subscriber's port set; `name` is what is asked of them.
    fn ranges(&self, name: &'static str) -> Result<PortRanges, UnresolvedValue> {
        let ranges = self.subscribers(name)?.ranges;
        ranges.ok_or(UnresolvedValue::NoProperty {
            name,
            reason: "the ports of a subscriber are contiguous",
        })
    }

    /// Returns what serves subscribers; `name` is what is asked of it.
    fn subscribers(&self, name: &'static str) -> Result<SubscriberSetting, UnresolvedValue> {
        self.setting.subscribers.ok_or(UnresolvedValue::NoProperty {
            name,
            reason: "it serves no subscribers",
        })
    }

    fn sent_hop_limit(&self) -> u128 {
        let outermost = self.sent.layers.first();
        let written =
            outermost.and_then(|layer| layer.value("ttl").or_else(|| layer.value("hlim")));
        written
            .and_then(|value| self.number("ttl", value).ok())
            .unwrap_or(USUAL_HOP_LIMIT.into())
    }
}

/// Returns the field of a layer that was sent which is the same as this one, by the names of the other family if need be.
fn counterpart<'l>(
    layer: &'l LayerSpec,
    name: &str,
) -> Option<(LayerKind, &'static FieldInfo, &'l SpecValue)> {
    let other = match name {
        "tc" => "tos",
        "tos" => "tc",
        "hlim" => "ttl",
        "ttl" => "hlim",
        "next" => "proto",
        "proto" => "next",
        _ => name,
    };
    let found = layer
        .fields
        .iter()
        .find(|given| given.field.name == name || given.field.name == other)?;
    Some((layer.kind, found.field, &found.value))
}

fn number_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => u128::from(address),
    }
}
