//! Simulated devices on which the methods are tested, in milliseconds and without root. Time is virtual, and random numbers are seeded.

mod behaviour;
mod delay_line;
mod forwarding;
pub(crate) mod gateway;
mod relay;
mod resolver;

pub use behaviour::Behaviour;
pub use relay::SimulatedRelay;
use sixbench_stats::SplitMix64;

use crate::terms::{Direction, Directions, FrameRate};
use crate::trial::{
    DirectionDetails, DirectionResult, Fault, Measurer, RequirementResults, TrialKind,
    TrialOutcome, TrialResult, TrialSpec,
};
use behaviour::scaled;
use delay_line::SimulatedDelayLine;
use forwarding::ForwardingDevice;
use gateway::SimulatedGateway;
use resolver::SimulatedResolver;
use std::convert::Infallible;

/// A simulated device under test with its tester.
#[derive(Clone, Debug)]
pub struct SimulatedDut {
    behaviour: Behaviour,
    capacity: FrameRate,
    directions: Directions,
    noise: f64,
    drift_per_hour: f64,
    base_loss: f64,
    stalls: f64,
    buffer: u64,
    recovery_ns: u64,
    outage_ns: u64,
    delay_line: Option<SimulatedDelayLine>,
    gateway: SimulatedGateway,
    resolver: SimulatedResolver,
    requirements: RequirementResults,
    overhead_ns: u64,
    elapsed_ns: u64,
    random: SplitMix64,
}

impl SimulatedDut {
    /// Returns a bidirectional device of this capacity, in frames per second per direction. Equal seeds give equal devices.
    pub fn new(behaviour: Behaviour, capacity: FrameRate, seed: u64) -> Self {
        Self {
            behaviour,
            capacity,
            directions: Directions::Both,
            noise: 0.0,
            drift_per_hour: 0.0,
            base_loss: 0.0,
            stalls: 0.0,
            buffer: 0,
            recovery_ns: 0,
            outage_ns: 0,
            delay_line: None,
            gateway: SimulatedGateway {
                opens: capacity,
                table: u64::MAX,
                deletes: FrameRate(1_000_000),
                half_open: 0,
            },
            resolver: SimulatedResolver::default(),
            requirements: RequirementResults::default(),
            overhead_ns: 9_000_000_000,
            elapsed_ns: 0,
            random: SplitMix64::new(seed),
        }
    }

    /// Sets the directions that are loaded.
    pub fn with_directions(self, directions: Directions) -> Self {
        Self { directions, ..self }
    }

    /// Multiplies the capacity of each trial by a Gaussian draw with this standard deviation, in addition to the effect of its behaviour.
    pub fn with_noise(self, deviation: f64) -> Self {
        Self {
            noise: deviation,
            ..self
        }
    }

    /// Makes the capacity grow exponentially by this share in each hour of virtual time; a negative share makes it fall.
    pub fn with_drift(self, per_hour: f64) -> Self {
        Self {
            drift_per_hour: per_hour,
            ..self
        }
    }

    /// Loses this ratio of the offered frames at every load, 0..=1.
    pub fn with_base_loss(self, base_loss: f64) -> Self {
        Self { base_loss, ..self }
    }

    /// Makes the sender stall for 5 ms in this share of the trials, 0..=1; half of the frames that leave late are lost.
    pub fn with_stalls(self, stalls: f64) -> Self {
        Self { stalls, ..self }
    }

    /// Sets the length of the queue: a burst of n frames at rate r passes a capacity of c exactly if `n * (1 - c / r)` does not exceed it.
    pub fn with_buffer(self, frames: u64) -> Self {
        Self {
            buffer: frames,
            ..self
        }
    }

    /// Delays every frame by `base_ns` and an individual random time, uniform over `0..jitter_ns`, in nanoseconds. TL is therefore base + jitter / 2,
    /// WCL base + 0.999 jitter, PDV 0.999 jitter, and IPDV lies within +-jitter with a median of 0.
    pub fn with_delay(self, base_ns: u64, jitter_ns: u64) -> Self {
        Self {
            delay_line: Some(SimulatedDelayLine {
                base_ns,
                jitter_ns,
                samples: SimulatedDelayLine::SAMPLES,
            }),
            ..self
        }
    }

    /// Sets the time for which frame loss continues after an overload, in nanoseconds.
    pub fn with_recovery(self, recovery_ns: u64) -> Self {
        Self {
            recovery_ns,
            ..self
        }
    }

    /// Sets the time for which nothing is forwarded after a reset, in nanoseconds.
    pub fn with_outage(self, outage_ns: u64) -> Self {
        Self { outage_ns, ..self }
    }

    /// Sets the number of connections opened per second, and the largest number held.
    pub fn with_connections(mut self, opens: FrameRate, table: u64) -> Self {
        (self.gateway.opens, self.gateway.table) = (opens, table);
        self
    }

    /// Sets the number of connections deleted per second.
    pub fn with_tear_down(mut self, deletes: FrameRate) -> Self {
        self.gateway.deletes = deletes;
        self
    }

    /// Sets the number of opened connections without a return path.
    pub fn with_half_open(mut self, connections: u64) -> Self {
        self.gateway.half_open = connections;
        self
    }

    /// Makes the device a DNS server that resolved this percentage of the names before the trial and has since forgotten `forgotten` of them. Its
    /// tester is certified for this many queries per second.
    pub fn with_names(mut self, certified: FrameRate, cached: u8, forgotten: u64) -> Self {
        self.resolver = SimulatedResolver {
            certified,
            cached,
            forgotten,
        };
        self
    }

    /// Sets what vectors of requirements find of the device; without, it is asked for nothing.
    pub fn with_requirements(self, requirements: RequirementResults) -> Self {
        Self {
            requirements,
            ..self
        }
    }

    /// Sets the virtual time each trial takes besides sending, in nanoseconds. The default is the 9 s of RFC 2544 section 23: 2 s after the learning
    /// frames, 2 s for residual frames, 5 s of rest.
    pub fn with_overhead(self, overhead_ns: u64) -> Self {
        Self {
            overhead_ns,
            ..self
        }
    }

    /// Returns the virtual time spent in trials so far, in nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    /// Advances the virtual time to this moment, in nanoseconds since the start, unless it has already passed.
    pub fn wait_until(&mut self, elapsed_ns: u64) {
        self.elapsed_ns = self.elapsed_ns.max(elapsed_ns);
    }

    /// Returns the highest load that a perfect method finds: the usual capacity, or the tester's ceiling if that is lower.
    pub fn truth(&self) -> FrameRate {
        match self.behaviour {
            Behaviour::SlowTester { ceiling } => scaled(self.capacity, ceiling.min(1.0)),
            _ => self.capacity,
        }
    }

    /// Returns the properties of the device in this trial.
    fn device(&mut self) -> ForwardingDevice {
        let capacity = scaled(self.capacity, self.capacity_share());
        let Self {
            buffer,
            recovery_ns,
            outage_ns,
            ..
        } = *self;
        ForwardingDevice {
            capacity,
            buffer,
            recovery_ns,
            outage_ns,
        }
    }

    /// Returns the capacity of the next trial as a share of the usual one.
    fn capacity_share(&mut self) -> f64 {
        const HOUR_NS: f64 = 3.6e12;
        let drift = (self.elapsed_ns as f64 / HOUR_NS * self.drift_per_hour.ln_1p()).exp();
        // A device without noise must not draw a number for it, so that equal seeds keep giving the same devices.
        let noise = if self.noise > 0.0 {
            1.0 + self.noise * self.random.gaussian()
        } else {
            1.0
        };
        self.behaviour.capacity_share(&mut self.random) * drift * noise
    }

    fn direction(
        &mut self,
        direction: Direction,
        spec: &TrialSpec,
        device: ForwardingDevice,
    ) -> DirectionResult {
        let (usual, base_loss, behaviour) = (self.capacity, self.base_loss, self.behaviour);
        let loss = |rate: FrameRate| {
            behaviour
                .loss_at(rate.0 as f64 / usual.0 as f64)
                .max(base_loss)
        };
        let counts = device.forward(spec, behaviour.tester_ceiling(usual), loss);
        let mut result = DirectionResult {
            intended: spec.frames(),
            ..DirectionResult::counted(direction, counts.offered, counts.received)
        };
        let (last_missing_ns, silence) = (counts.last_missing_ns, counts.silence);
        result.change_details(|of| DirectionDetails {
            last_missing_ns,
            silence,
            ..of
        });
        if let Some(line) = self.delay_line {
            line.delay(&mut result, spec, &mut self.random);
        }
        result
    }
}

impl Measurer for SimulatedDut {
    type Error = Infallible;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Infallible> {
        self.elapsed_ns += spec.duration_ns + self.overhead_ns + gateway::extra_ns(spec);
        if let TrialKind::TcpCapacity { connections } = spec.kind {
            return Ok(self.gateway.hold(spec, connections));
        }
        if spec.kind == TrialKind::Requirements {
            return Ok(TrialResult {
                outcome: TrialOutcome::Requirements(Some(Box::new(self.requirements.clone()))),
                ..TrialResult::new(*spec, Vec::new(), Vec::new())
            });
        }
        if spec.kind == TrialKind::Queries {
            let device = self.device();
            let asked = self.direction(Direction::Forward, spec, device);
            let slow = slow(&asked, spec);
            return Ok(self.resolver.trial(spec, asked, slow));
        }
        let phase_one = spec.opens();
        if let Some(phase_one) = phase_one {
            if spec.kind.connections().is_some() {
                return Ok(self.gateway.trial(spec, phase_one));
            }
            if let Some(refusal) = self.gateway.refusal(spec, phase_one) {
                return Ok(refusal);
            }
        }
        let connections = phase_one.map(|phase_one| Box::new(self.gateway.open(phase_one)));
        let device = self.device();
        let each = self.directions.each().iter();
        let mut directions: Vec<_> = each.map(|&d| self.direction(d, spec, device)).collect();
        let mut faults: Vec<_> = directions.iter().filter_map(|d| slow(d, spec)).collect();
        if self.random.uniform() < self.stalls {
            faults.push(stall(&mut directions[0], spec));
        }
        Ok(TrialResult {
            outcome: TrialOutcome::Frames(connections),
            ..TrialResult::new(*spec, directions, faults)
        })
    }
}

/// Returns the fault of a sender that could not offer the intended load, or `None` if it could.
fn slow(result: &DirectionResult, spec: &TrialSpec) -> Option<Fault> {
    let slowness = result.intended as f64 / result.offered.max(1) as f64;
    (result.offered < result.intended).then_some(Fault::SentTooSlowly {
        direction: result.direction,
        nominal_ns: spec.duration_ns,
        took_ns: (spec.duration_ns as f64 * slowness) as u64,
    })
}

/// Makes the sender stall: as it catches up, some frames are lost that the device would have forwarded otherwise.
fn stall(result: &mut DirectionResult, spec: &TrialSpec) -> Fault {
    const AWAY_NS: u64 = 5_000_000;
    let frames = spec.rate.frames_in(AWAY_NS);
    result.received = result.received.saturating_sub(frames / 2);
    Fault::SenderStalled {
        direction: result.direction,
        worst_lateness_ns: AWAY_NS,
        frames,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{LossRatio, SECOND_NS};
    use crate::trial::Verdict;

    fn measure(dut: &mut SimulatedDut, rate: u64) -> TrialResult {
        let Ok(result) = dut.measure(&TrialSpec::constant(FrameRate(rate), SECOND_NS));
        result
    }

    #[test]
    fn a_hard_limit_forwards_its_capacity_in_both_directions() {
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(1000), 1);
        assert_eq!(
            measure(&mut dut, 1000).verdict(LossRatio::ZERO),
            Verdict::Passed
        );
        let over = measure(&mut dut, 1250);
        let received: Vec<u64> = over.directions.iter().map(|d| d.received).collect();
        assert_eq!(received, [1000, 1000]);
        assert_eq!(dut.elapsed_ns(), 20 * SECOND_NS);
    }

    #[test]
    fn a_slow_tester_offers_less_than_intended_and_says_so() {
        let slow = Behaviour::SlowTester { ceiling: 0.5 };
        let mut dut = SimulatedDut::new(slow, FrameRate(1000), 1);
        let result = measure(&mut dut, 800);
        assert_eq!(
            (result.directions[0].intended, result.directions[0].offered),
            (800, 500)
        );
        assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Invalid);
        assert_eq!(dut.truth(), FrameRate(500));
    }

    #[test]
    fn a_stall_that_loses_a_little_is_invalid() {
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(1000), 1).with_stalls(1.0);
        assert_eq!(
            measure(&mut dut, 900).verdict(LossRatio::ZERO),
            Verdict::Invalid
        );
    }

    #[test]
    fn a_bimodal_device_is_slow_as_often_as_it_says() {
        let often = Behaviour::Bimodal {
            often: 0.08,
            at: 0.7,
        };
        let mut dut = SimulatedDut::new(often, FrameRate(1000), 1);
        let lossy = (0..10_000)
            .filter(|_| measure(&mut dut, 1000).not_received() > 0)
            .count();
        assert!((700..900).contains(&lossy), "{lossy}");
    }

    #[test]
    fn a_noisy_device_has_the_standard_deviation_it_says() {
        let mut dut = SimulatedDut::new(
            Behaviour::Noisy { deviation: 0.02 },
            FrameRate(1_000_000),
            1,
        );
        let shares = (0..10_000)
            .map(|_| measure(&mut dut, 2_000_000).directions[0].received as f64 / 1e6 - 1.0);
        let deviation = (shares.map(|share| share * share).sum::<f64>() / 10_000.0).sqrt();
        assert!((deviation / 0.02 - 1.0).abs() < 0.03, "{deviation}");
    }

    #[test]
    fn noise_comes_on_top_of_two_modes() {
        let slow = Behaviour::Bimodal {
            often: 0.5,
            at: 0.5,
        };
        let mut dut = SimulatedDut::new(slow, FrameRate(1_000_000), 1).with_noise(0.01);
        let shares: Vec<f64> = (0..1_000)
            .map(|_| measure(&mut dut, 2_000_000).directions[0].received as f64 / 1e6)
            .collect();
        let of = |mode: f64| {
            shares
                .iter()
                .filter(|share| (**share / mode - 1.0).abs() < 0.05)
                .count()
        };
        assert!(
            of(1.0) + of(0.5) == 1_000 && (450..550).contains(&of(0.5)),
            "{} {}",
            of(1.0),
            of(0.5)
        );
        assert!(
            shares.iter().any(|share| *share != 1.0 && *share != 0.5),
            "the modes themselves scatter"
        );
    }

    #[test]
    fn a_device_that_drifts_has_lost_its_share_after_each_hour() {
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(1_000_000), 1)
            .with_drift(-0.1)
            .with_overhead(0);
        let hours = |dut: &SimulatedDut| dut.elapsed_ns() as f64 / 3.6e12;
        while hours(&dut) < 2.0 {
            let Ok(_) = dut.measure(&TrialSpec::constant(FrameRate(1_000), 60 * SECOND_NS));
        }
        let received = measure(&mut dut, 2_000_000).directions[0].received as f64 / 1e6;
        assert!((received - 0.81).abs() < 1e-4, "{received}");
    }

    #[test]
    fn a_base_loss_is_exact_at_every_load() {
        let mut dut =
            SimulatedDut::new(Behaviour::HardLimit, FrameRate(1_000_000), 1).with_base_loss(0.001);
        let lost = [1_000, 500_000, 1_000_000]
            .map(|rate| measure(&mut dut, rate).directions[0].not_received());
        assert_eq!(lost, [1, 500, 1_000]);
    }

    #[test]
    fn both_directions_have_delays_of_their_own() {
        let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(100_000), 1)
            .with_delay(50_000, 10_000);
        let result = measure(&mut dut, 50_000);
        let delays: Vec<_> = result
            .directions
            .iter()
            .map(|d| d.delay.clone().unwrap())
            .collect();
        assert!(
            delays[0] != delays[1]
                && delays
                    .iter()
                    .all(|delay| (50_000..51_000).contains(&delay.min_ns))
        );
        assert_eq!(
            result.verdict(LossRatio::ZERO),
            Verdict::Passed,
            "delay is no loss"
        );
    }

    #[test]
    fn a_band_of_loss_lies_below_loads_that_pass() {
        let band = Behaviour::LossInversion {
            from: 0.4,
            to: 0.6,
            loss: 0.01,
        };
        let mut dut = SimulatedDut::new(band, FrameRate(1000), 1);
        let lost = [300, 500, 900, 1100].map(|rate| measure(&mut dut, rate).not_received() > 0);
        assert_eq!(lost, [false, true, false, true]);
    }
}
