//! The two sides of a device, by the kind of the device.

use super::edges::EdgeSides;
use super::nat::NatSides;
use super::setting::FamilySides;
use super::subscribers;
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
    /// Those of a customer edge or of the router of a site.
    Edge(EdgeSides<'r>),
}

impl<'r> DeviceSides<'r> {
    pub(super) fn of_recipe(recipe: &'r Recipe) -> Result<Self, RunError> {
        if let Some(sides) = EdgeSides::of_recipe(recipe) {
            return Ok(Self::Edge(sides));
        }
        // The NAT of an AFTR is behind a tunnel: its vectors are those of the tunnel.
        let nat =
            NatSides::of_recipe(recipe).filter(|_| !subscribers::are_served_by(recipe.technology));
        match nat {
            Some(sides) => Ok(Self::Nat(sides)),
            None => FamilySides::of_recipe(recipe).map(Self::Family),
        }
    }

    pub(super) fn sides(&self) -> [Side; 2] {
        match self {
            Self::Family(sides) => sides.sides(),
            Self::Nat(sides) => sides.sides(),
            Self::Edge(sides) => sides.sides(),
        }
    }

    pub(super) fn link(&self, side: Side) -> &'r RecipeLink {
        match self {
            Self::Family(sides) => sides.link(side),
            Self::Nat(sides) => sides.link(side),
            Self::Edge(sides) => sides.link(side),
        }
    }

    pub(super) fn setting(&self, mtu: u16) -> Result<DeviceSetting, RunError> {
        match self {
            Self::Family(sides) => sides.setting(mtu),
            Self::Nat(sides) => sides.setting(mtu),
            Self::Edge(sides) => sides.setting(mtu),
        }
    }
}
