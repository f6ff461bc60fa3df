//! The imperfections of a simulated device: the variation of its capacity from trial to trial, and losses with capacity to spare.

use super::SplitMix64;
use crate::terms::FrameRate;

/// The imperfection of a simulated device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Behaviour {
    /// Forwards up to its capacity and loses the rest.
    HardLimit,
    /// The capacity of each trial is drawn at random: Gaussian, with this standard deviation as a share of the capacity.
    Noisy {
        /// 0.02 corresponds to a noisy software DUT.
        deviation: f64,
    },
    /// Occasionally a trial has a lower capacity, as with a thread on the wrong core or a hash collision.
    Bimodal {
        /// The share of such trials, 0..=1.
        often: f64,
        /// The capacity in these trials as a share of the usual one.
        at: f64,
    },
    /// Loses frames within a band of loads although higher loads pass, as can happen with power saving and interrupt moderation.
    LossInversion {
        /// Lower end of the band as a share of the capacity.
        from: f64,
        /// Upper end of the band as a share of the capacity.
        to: f64,
        /// Loss ratio inside the band, 0..=1.
        loss: f64,
    },
    /// Forwards less the further the load is above its capacity, because it is busy with receiving frames that it then drops (receive livelock).
    Livelock {
        /// The load as a multiple of the capacity, above 1, from which on it forwards nothing.
        nothing_from: f64,
    },
    /// The device is perfect, but the tester cannot offer more than this.
    SlowTester {
        /// The limit, as a share of the device's capacity.
        ceiling: f64,
    },
}

impl Behaviour {
    /// Returns the capacity of one trial as a share of the usual one.
    pub(super) fn capacity_share(self, random: &mut SplitMix64) -> f64 {
        match self {
            Self::Noisy { deviation } => 1.0 + deviation * random.gaussian(),
            Self::Bimodal { often, at } if random.uniform() < often => at,
            _ => 1.0,
        }
    }

    /// Returns the highest load that the tester of a device of this capacity can offer.
    pub(super) fn tester_ceiling(self, capacity: FrameRate) -> FrameRate {
        match self {
            Self::SlowTester { ceiling } => scaled(capacity, ceiling),
            _ => FrameRate(u64::MAX),
        }
    }

    /// Returns the loss ratio at this load, given as a share of the capacity, that does not follow from the capacity.
    pub(super) fn loss_at(self, load: f64) -> f64 {
        match self {
            Self::LossInversion { from, to, loss } if from <= load && load <= to => loss,
            Self::Livelock { nothing_from } if load > 1.0 => {
                let forwarded = ((nothing_from - load) / (nothing_from - 1.0)).max(0.0);
                1.0 - forwarded / load
            }
            _ => 0.0,
        }
    }
}

pub(super) fn scaled(rate: FrameRate, share: f64) -> FrameRate {
    FrameRate((rate.0 as f64 * share.max(0.0)).round() as u64)
}
