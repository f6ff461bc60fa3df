//! The loads of a measurement's trials, in one description from which everything else about them follows.

use super::context::TestContext;
use super::load::{Load, scaled};
use crate::terms::FrameRate;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

/// The loads at which a measurement makes its trials.
#[derive(Clone, Debug, PartialEq)]
pub enum Loads<'a> {
    /// A search finds the load, up to the highest rate of the plan.
    Searched,
    /// One load.
    At(Load),
    /// This multiple of the throughput, for as long as the overload lasts.
    Overload(f64),
    /// Each of several loads.
    Listed {
        /// The rates in frames per second per direction; empty: those that follow from the medium.
        rates: &'a [FrameRate],
        /// True if the trials end once nothing is lost, so that repetitions may try different loads.
        end_when_lossless: bool,
    },
    /// A load that grows with the number of clients.
    PerClient {
        /// Requests per second of each client.
        rate: FrameRate,
        /// Requests of each client that may wait for their replies at once; `None` if no client waits for replies.
        outstanding: Option<NonZeroU32>,
    },
    /// A number is searched for rather than a rate.
    Number(NumberSearch),
    /// Nothing is sent at a rate.
    None,
}

/// The search for the largest number of frames or connections.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberSearch {
    /// The rate of all its trials, per second; `None` if that is searched for as well, up to the highest rate of the plan.
    pub rate: Option<FrameRate>,
    /// The largest number it can find.
    pub most: f64,
    /// The plan keys that set this number, as a message names them.
    pub keys: &'static str,
    /// The smallest and the largest number of connections that phase 1 of its trials opens; `None` if it has no phase 1.
    pub phase_one: Option<RangeInclusive<u64>>,
}

impl<'a> Loads<'a> {
    /// Returns the load that the result belongs to; `None` if it is searched for, or if there is not one alone.
    pub fn single(&self) -> Option<Load> {
        match self {
            Self::At(load) => Some(*load),
            // What is measured is how the device recovers to its throughput.
            Self::Overload(_) => Some(Load::OfThroughput(1.0)),
            Self::Searched
            | Self::Listed { .. }
            | Self::PerClient { .. }
            | Self::Number(_)
            | Self::None => None,
        }
    }

    /// Returns the highest rate of any trial.
    pub(crate) fn highest_rate(&self, test: &TestContext<'_>) -> FrameRate {
        let most = test.search.maximum;
        match self {
            Self::Searched => most,
            Self::At(load) => load.highest(most),
            Self::Overload(factor) => scaled(most, factor.max(1.0)),
            // A scan without a list of its own starts at the medium's maximum rate.
            Self::Listed { rates, .. } => rates
                .iter()
                .copied()
                .max()
                .or(test.highest_theoretical())
                .unwrap_or(most),
            Self::PerClient { rate, .. } => rate_of_clients(*rate, test.traffic.clients()),
            Self::Number(number) => number.rate.unwrap_or(most),
            Self::None => FrameRate(0),
        }
    }

    /// Returns the most requests that may wait for their replies at once; `None` if no client waits for replies.
    pub(crate) fn most_outstanding(&self, test: &TestContext<'_>) -> Option<u32> {
        match self {
            Self::PerClient { outstanding, .. } => {
                outstanding_of_clients(*outstanding, test.traffic.clients())
            }
            Self::Searched
            | Self::At(_)
            | Self::Overload(_)
            | Self::Listed { .. }
            | Self::Number(_)
            | Self::None => None,
        }
    }

    /// Returns the loads of a list, in frames per second per direction; empty if there is no list.
    pub fn listed(&self) -> &'a [FrameRate] {
        match self {
            Self::Listed { rates, .. } => rates,
            Self::Searched
            | Self::At(_)
            | Self::Overload(_)
            | Self::PerClient { .. }
            | Self::Number(_)
            | Self::None => &[],
        }
    }

    /// Returns whether a scan of loads ends once nothing is lost, so that repetitions may try different loads.
    pub fn end_when_lossless(&self) -> bool {
        match self {
            Self::Listed {
                end_when_lossless, ..
            } => *end_when_lossless,
            Self::Searched
            | Self::At(_)
            | Self::Overload(_)
            | Self::PerClient { .. }
            | Self::Number(_)
            | Self::None => false,
        }
    }

    /// Returns the search for a number; `None` if no number is searched for.
    pub fn number(self) -> Option<NumberSearch> {
        match self {
            Self::Number(number) => Some(number),
            Self::Searched
            | Self::At(_)
            | Self::Overload(_)
            | Self::Listed { .. }
            | Self::PerClient { .. }
            | Self::None => None,
        }
    }
}

/// Returns the requests per second of all clients together.
pub(super) fn rate_of_clients(each: FrameRate, clients: u32) -> FrameRate {
    FrameRate(each.0.saturating_mul(u64::from(clients)).max(1))
}

/// Returns the requests of all clients together that may wait for their replies at once; `None` if no client waits for replies.
pub(super) fn outstanding_of_clients(each: Option<NonZeroU32>, clients: u32) -> Option<u32> {
    each.map(|each| each.get().saturating_mul(clients))
}
