//! The two sides of a device, by the kind of the device.

use super::nat::NatSides;
use super::setting::FamilySides;
use crate::error::RunError;
use sixbench_conformance::DeviceSetting;
use sixbench_conformance::frame::Side;
use sixbench_testbed::Recipe;
use sixbench_testbed::recipe::RecipeLink;

/// A device with the sides that its vectors have.
pub(super) enum DeviceSides<'r> {
    /// By the version of IP.
    Family(FamilySides<'r>),
    /// By who may open connections.
    Nat(NatSides<'r>),
}

impl<'r> DeviceSides<'r> {
    pub(super) fn of_recipe(recipe: &'r Recipe) -> Result<Self, RunError> {
        if let Some(sides) = NatSides::of_recipe(recipe) {
            return Ok(Self::Nat(sides));
        }
        FamilySides::of_recipe(recipe).map(Self::Family)
    }

    pub(super) fn sides(&self) -> [Side; 2] {
        match self {
            Self::Family(sides) => sides.sides(),
            Self::Nat(sides) => sides.sides(),
        }
    }

    pub(super) fn link(&self, side: Side) -> &'r RecipeLink {
        match self {
            Self::Family(sides) => sides.link(side),
            Self::Nat(sides) => sides.link(side),
        }
    }

    pub(super) fn setting(&self, mtu: u16) -> Result<DeviceSetting, RunError> {
        match self {
            Self::Family(sides) => sides.setting(mtu),
            Self::Nat(sides) => sides.setting(mtu),
        }
    }
}
