//! Which trials can have the conditions of RFC 2544 section 11, and bursts (section 21).

use super::{Stateful, Test, TrafficSettings};
use crate::measures::Measure;
use crate::terms::Share;

/// The parts of a test that decide which conditions its trials can have.
#[derive(Clone, Copy, Debug)]
pub struct ConditionedTrials<'a> {
    /// The measure.
    pub measure: &'a Measure,
    /// The connections that are opened first.
    pub stateful: Option<&'a Stateful>,
    /// The share of the frames that are foreground traffic.
    pub foreground: Share,
    /// The frames.
    pub traffic: &'a TrafficSettings,
}

/// The reason why trials cannot have broadcast frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BroadcastConflict {
    /// The load is not constant, or its loss does not count.
    Measure,
    /// Connections are opened first.
    State,
    /// The frames are mixed already: with background traffic, or of several sizes.
    Mix,
}

/// The reason why frames would not meet the filters of a device, or not pass them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterConflict {
    /// State changes the addresses on the way.
    State,
    /// A filter permits one pair of addresses.
    Addresses,
}

/// The reason why the frames of trials cannot be sent in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstConflict {
    /// The load is not held from the first frame to the last.
    Measure,
    /// Flows start one after the other.
    FlowStep,
}

impl ConditionedTrials<'_> {
    /// Returns why these trials cannot have broadcast frames (RFC 2544 section 11.1); `None` if they can.
    pub fn broadcast_conflict(&self) -> Option<BroadcastConflict> {
        if self.stateful.is_some() {
            Some(BroadcastConflict::State)
        } else if !self.measure.can_have_broadcasts() {
            Some(BroadcastConflict::Measure)
        } else if self.foreground != Share::ALL || self.traffic.size_mix.is_some() {
            Some(BroadcastConflict::Mix)
        } else {
            None
        }
    }

    /// Returns why the frames of these trials cannot be sent in bursts (RFC 2544 section 21); `None` if they can.
    pub fn burst_conflict(&self) -> Option<BurstConflict> {
        if !self.measure.has_held_load() {
            Some(BurstConflict::Measure)
        } else if self.traffic.flows.is_some_and(|flows| flows.step_ns > 0) {
            Some(BurstConflict::FlowStep)
        } else {
            None
        }
    }

    /// Returns why the device of these trials cannot have filters (RFC 2544 section 11.4); `None` if it can.
    pub fn filter_conflict(&self) -> Option<FilterConflict> {
        if self.measure.family().needs_hosts() || self.stateful.is_some() {
            Some(FilterConflict::State)
        } else if !self.traffic.has_one_address_pair() || self.traffic.subscribers.is_some() {
            Some(FilterConflict::Addresses)
        } else {
            None
        }
    }
}

impl Test {
    /// Returns what decides which conditions its trials can have.
    pub fn conditioned(&self) -> ConditionedTrials<'_> {
        ConditionedTrials {
            measure: &self.measure,
            stateful: self.stateful.as_ref(),
            foreground: self.foreground,
            traffic: &self.traffic,
        }
    }
}
