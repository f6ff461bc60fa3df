//! Simulated devices: what methods are tested on, in milliseconds and without root. Time is virtual, chance is seeded.

use crate::terms::{Direction, Directions, FrameRate};
use crate::trial::{DirectionResult, Fault, Measurer, TrialResult, TrialSpec};
use std::convert::Infallible;

/// In which way a simulated device is imperfect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Behaviour {
    /// Forwards up to its capacity and loses the rest.
    HardLimit,
    /// The capacity of each trial is drawn anew: Gaussian, with this standard deviation as a share of the capacity.
    Noisy {
        /// 0.02 is a noisy software DUT.
        deviation: f64,
    },
    /// Now and then a trial has a lower capacity: a thread on the wrong core, a hash collision.
    Bimodal {
        /// Share of the trials, 0..=1.
        often: f64,
        /// Capacity in these trials as a share of the usual one.
        at: f64,
    },
    /// Loses at a band of loads although higher ones pass, as power saving and interrupt moderation do.
    LossInversion {
        /// Lower end of the band as a share of the capacity.
        from: f64,
        /// Upper end of the band as a share of the capacity.
        to: f64,
        /// Loss ratio inside the band, 0..=1.
        loss: f64,
    },
    /// The device is well, but the tester cannot offer more than this.
    SlowTester {
        /// As a share of the device's capacity.
        ceiling: f64,
    },
}

/// A device under test with the tester around it, made of arithmetic.
#[derive(Clone, Debug)]
pub struct SimulatedDut {
    behaviour: Behaviour,
    capacity: FrameRate,
    directions: Directions,
    base_loss: f64,
    stalls: f64,
    overhead_ns: u64,
    elapsed_ns: u64,
    random: SplitMix64,
}

impl SimulatedDut {
    /// A bidirectional device of this capacity, frames per second per direction. Equal seeds give equal devices.
    pub fn new(behaviour: Behaviour, capacity: FrameRate, seed: u64) -> Self {
        Self {
            behaviour,
            capacity,
            directions: Directions::Both,
            base_loss: 0.0,
            stalls: 0.0,
            overhead_ns: 9_000_000_000,
            elapsed_ns: 0,
            random: SplitMix64::new(seed),
        }
    }

    /// Loads these directions.
    pub fn with_directions(self, directions: Directions) -> Self {
        Self { directions, ..self }
    }

    /// Loses this ratio of the offered frames at every load, 0..=1.
    pub fn with_base_loss(self, base_loss: f64) -> Self {
        Self { base_loss, ..self }
    }

    /// In this share of the trials, 0..=1, the sender stalls for 5 ms and half of the frames that leave late are lost.
    pub fn with_stalls(self, stalls: f64) -> Self {
        Self { stalls, ..self }
    }

    /// Virtual time each trial takes besides sending, nanoseconds. By default the 9 s that RFC 2544 section 23 comes to:
    /// 2 s after the learning frames, 2 s for residual frames, 5 s of rest.
    pub fn with_overhead(self, overhead_ns: u64) -> Self {
        Self { overhead_ns, ..self }
    }

    /// Virtual time spent in trials so far, nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    /// The highest load a perfect method finds: the usual capacity, or the tester's ceiling below it.
    pub fn truth(&self) -> FrameRate {
        match self.behaviour {
            Behaviour::SlowTester { ceiling } => self.capacity.scaled(ceiling.min(1.0)),
            _ => self.capacity,
        }
    }

    fn capacity_of_this_trial(&mut self) -> FrameRate {
        let share = match self.behaviour {
            Behaviour::Noisy { deviation } => 1.0 + deviation * self.random.gaussian(),
            Behaviour::Bimodal { often, at } if self.random.uniform() < often => at,
            _ => 1.0,
        };
        self.capacity.scaled(share)
    }

    fn tester_ceiling(&self) -> FrameRate {
        match self.behaviour {
            Behaviour::SlowTester { ceiling } => self.capacity.scaled(ceiling),
            _ => FrameRate(u64::MAX),
        }
    }

    /// The loss ratio the device has at this load even with capacity to spare.
    fn loss_at(&self, rate: FrameRate) -> f64 {
        let load = rate.0 as f64 / self.capacity.0 as f64;
        match self.behaviour {
            Behaviour::LossInversion { from, to, loss } if from <= load && load <= to => loss.max(self.base_loss),
            _ => self.base_loss,
        }
    }

    fn direction(&self, direction: Direction, spec: &TrialSpec, passing: u64) -> DirectionResult {
        let offered = spec.frames().min(self.tester_ceiling().frames_in(spec.duration_ns));
        let lost = (offered as f64 * self.loss_at(spec.rate)).round() as u64;
        let received = (offered - lost).min(passing);
        let counted = DirectionResult::counted(direction, offered, received);
        DirectionResult { intended: spec.frames(), ..counted }
    }
}

impl Measurer for SimulatedDut {
    type Error = Infallible;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Infallible> {
        self.elapsed_ns += spec.duration_ns + self.overhead_ns;
        let passing = self.capacity_of_this_trial().frames_in(spec.duration_ns);
        let each = self.directions.each().iter();
        let mut directions: Vec<_> = each.map(|&d| self.direction(d, spec, passing)).collect();
        let mut faults: Vec<_> = directions.iter().filter_map(|d| slow(d, spec)).collect();
        if self.random.uniform() < self.stalls {
            faults.push(stall(&mut directions[0], spec));
        }
        Ok(TrialResult { spec: *spec, directions, faults })
    }
}

/// The fault of a sender that could not offer what was intended.
fn slow(result: &DirectionResult, spec: &TrialSpec) -> Option<Fault> {
    let slowness = result.intended as f64 / result.offered.max(1) as f64;
    (result.offered < result.intended).then_some(Fault::SentTooSlowly {
        direction: result.direction,
        nominal_ns: spec.duration_ns,
        took_ns: (spec.duration_ns as f64 * slowness) as u64,
    })
}

/// Makes the sender stall: its catching up costs some frames that the device would have forwarded.
fn stall(result: &mut DirectionResult, spec: &TrialSpec) -> Fault {
    const AWAY_NS: u64 = 5_000_000;
    let frames = spec.rate.frames_in(AWAY_NS);
    result.received = result.received.saturating_sub(frames / 2);
    Fault::SenderStalled { direction: result.direction, worst_lateness_ns: AWAY_NS, frames }
}

impl FrameRate {
    fn scaled(self, share: f64) -> Self {
        Self((self.0 as f64 * share.max(0.0)).round() as u64)
    }
}

/// Steele, Lea and Flood's splitmix64: a small generator, good enough to simulate with, the same on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 pseudorandom bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform over 0..1.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Gaussian, mean 0, standard deviation 1 (Box and Muller).
    pub fn gaussian(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::LossRatio;
    use crate::trial::Verdict;

    const SECOND: u64 = 1_000_000_000;

    fn measure(dut: &mut SimulatedDut, rate: u64) -> TrialResult {
        let Ok(result) = dut.measure(&TrialSpec { rate: FrameRate(rate), duration_ns: SECOND });
        result
    }

    #[test]
    fn a_hard_limit_forwards_its_capacity_in_both_directions() {
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(1000), 1);
        assert_eq!(measure(&mut dut, 1000).verdict(LossRatio::ZERO), Verdict::Passed);
        let over = measure(&mut dut, 1250);
        let received: Vec<u64> = over.directions.iter().map(|d| d.received).collect();
        assert_eq!(received, [1000, 1000]);
        assert_eq!(dut.elapsed_ns(), 20 * SECOND);
    }

    #[test]
    fn a_slow_tester_offers_less_than_intended_and_says_so() {
        let slow = Behaviour::SlowTester { ceiling: 0.5 };
        let mut dut = SimulatedDut::new(slow, FrameRate(1000), 1);
        let result = measure(&mut dut, 800);
        assert_eq!((result.directions[0].intended, result.directions[0].offered), (800, 500));
        assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Invalid);
        assert_eq!(dut.truth(), FrameRate(500));
    }

    #[test]
    fn a_stall_that_loses_a_little_is_invalid() {
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(1000), 1).with_stalls(1.0);
        assert_eq!(measure(&mut dut, 900).verdict(LossRatio::ZERO), Verdict::Invalid);
    }

    #[test]
    fn a_bimodal_device_is_slow_as_often_as_it_says() {
        let often = Behaviour::Bimodal { often: 0.08, at: 0.7 };
        let mut dut = SimulatedDut::new(often, FrameRate(1000), 1);
        let lossy = (0..10_000).filter(|_| measure(&mut dut, 1000).not_received() > 0).count();
        assert!((700..900).contains(&lossy), "{lossy}");
    }

    #[test]
    fn a_noisy_device_has_the_standard_deviation_it_says() {
        let mut random = SplitMix64::new(1);
        let draws: Vec<f64> = (0..10_000).map(|_| random.gaussian()).collect();
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn a_band_of_loss_lies_below_loads_that_pass() {
        let band = Behaviour::LossInversion { from: 0.4, to: 0.6, loss: 0.01 };
        let mut dut = SimulatedDut::new(band, FrameRate(1000), 1);
        let lost = [300, 500, 900, 1100].map(|rate| measure(&mut dut, rate).not_received() > 0);
        assert_eq!(lost, [false, true, false, true]);
    }
}
