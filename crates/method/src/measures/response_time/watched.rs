//! Observations of the DUT itself during a trial, as values of a measurement whose result includes them.

use crate::measures::{Quantity, Value};
use crate::terms::Direction;
use crate::trial::{Fault, TrialResult};
use crate::watch::{CoreWatch, Watch};
use sixbench_stats::Summary;

/// Returns the load of the DUT's processors and the growth of its memory while frames were sent. The processor load is left out for a device that
/// polls, which keeps its processors busy at any load.
pub(super) fn values(result: &TrialResult, watch: &Watch) -> Vec<Value> {
    let samples = (result.spec.duration_ns / watch.interval_ns.max(1)).max(1) as usize;
    let load = Summary::of(&busy(watch, samples))
        .filter(|_| !watch.polling && is_the_duts_own(result, watch));
    let found = [
        (Quantity::ProcessorLoad, load.map(|load| load.mean)),
        // A single sample has no deviation.
        (
            Quantity::ProcessorLoadDeviation,
            load.filter(|load| load.n > 1).map(|load| load.deviation),
        ),
        (Quantity::MemoryGrowth, growth(watch, samples)),
    ];
    let (direction, load) = (Direction::Forward, result.spec.rate);
    found
        .into_iter()
        .filter_map(|(quantity, value)| {
            Some(Value {
                quantity,
                direction,
                load,
                value: value?,
                is_at_least: false,
                is_at_most: false,
            })
        })
        .collect()
}

/// Returns whether the load of the cores is caused by the DUT: always if it has its own machine, and on the host's cores unless other processes ran
/// there, too.
fn is_the_duts_own(result: &TrialResult, watch: &Watch) -> bool {
    let is_taken = result
        .faults
        .iter()
        .any(|fault| matches!(fault, Fault::CpuTaken { .. }));
    !is_taken || watch.devices.iter().any(|device| !device.cores.is_empty())
}

/// Returns the cores of the DUT: those of its own machines if it has any, otherwise those of the host assigned to it.
fn cores(watch: &Watch) -> Vec<&CoreWatch> {
    let own: Vec<&CoreWatch> = watch
        .devices
        .iter()
        .flat_map(|device| &device.cores)
        .collect();
    if own.is_empty() {
        watch.dut_cores().collect()
    } else {
        own
    }
}

/// Returns the mean load of the cores, in per cent, in each of the first `samples` intervals; the later ones belong to the wait for residual frames.
fn busy(watch: &Watch, samples: usize) -> Vec<f64> {
    let cores = cores(watch);
    let length = cores
        .iter()
        .map(|core| core.samples.len())
        .min()
        .unwrap_or(0)
        .min(samples);
    (0..length)
        .map(|i| cores.iter().map(|core| load(core, i)).sum::<f64>() / cores.len() as f64)
        .collect()
}

/// Returns the load of a core in an interval, in per cent.
fn load(core: &CoreWatch, interval: usize) -> f64 {
    let sample = &core.samples[interval];
    f64::from(u32::from(sample.user) + u32::from(sample.system) + u32::from(sample.softirq)) / 10.0
}

/// Returns the growth of the memory in use. The first sample is taken before the first frame.
fn growth(watch: &Watch, samples: usize) -> Option<f64> {
    let own: Vec<&[u64]> = watch
        .devices
        .iter()
        .map(|d| &d.memory[..])
        .filter(|memory| !memory.is_empty())
        .collect();
    let memories = if own.is_empty() {
        vec![&watch.memory[..]]
    } else {
        own
    };
    memories
        .into_iter()
        .map(|memory| {
            Some(
                memory
                    .iter()
                    .take(samples + 1)
                    .max()?
                    .saturating_sub(*memory.first()?) as f64,
            )
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::FrameRate;
    use crate::trial::TrialSpec;
    use crate::watch::{CoreRole, CpuSample, DeviceWatch};

    fn found(watch: Watch) -> Vec<(Quantity, f64)> {
        found_with(watch, vec![])
    }

    /// Evaluates a trial of half a second with ten samples per second.
    fn found_with(watch: Watch, faults: Vec<Fault>) -> Vec<(Quantity, f64)> {
        let rate_per_client = FrameRate(1000);
        let spec = TrialSpec::response(rate_per_client, 500_000_000);
        let result = TrialResult::new(spec, vec![], faults);
        values(&result, &watch)
            .into_iter()
            .map(|value| (value.quantity, value.value))
            .collect()
    }

    fn core(role: CoreRole, system: &[u16]) -> CoreWatch {
        let sample = |&system: &u16| CpuSample {
            system,
            softirq: 100,
            idle: 900 - system,
            ..CpuSample::default()
        };
        CoreWatch {
            core: 0,
            role,
            samples: system.iter().map(sample).collect(),
        }
    }

    fn watch(cores: Vec<CoreWatch>) -> Watch {
        Watch {
            interval_ns: 100_000_000,
            cores,
            ..Watch::default()
        }
    }

    #[test]
    fn the_load_of_the_duts_cores_is_averaged_over_the_time_of_sending() {
        let seen = watch(vec![
            core(CoreRole::Tester, &[900; 7]),
            core(CoreRole::Dut, &[100, 200, 300, 200, 200, 0, 0]),
        ]);
        let (load, deviation) = (Quantity::ProcessorLoad, Quantity::ProcessorLoadDeviation);
        assert_eq!(found(seen), [(load, 30.0), (deviation, 50f64.sqrt())]);
        assert!(found(watch(vec![])).is_empty(), "nobody looked");
    }

    #[test]
    fn a_virtual_machine_has_cores_and_memory_of_its_own() {
        let relay = DeviceWatch {
            device: "relay".into(),
            machine: None,
            cores: vec![core(CoreRole::Dut, &[400; 5])],
            memory: vec![5000, 5000, 9000, 8000],
        };
        let seen = Watch {
            devices: vec![relay],
            memory: vec![1, 9],
            ..watch(vec![core(CoreRole::Dut, &[900; 5])])
        };
        let expected = [
            (Quantity::ProcessorLoad, 50.0),
            (Quantity::ProcessorLoadDeviation, 0.0),
            (Quantity::MemoryGrowth, 4000.0),
        ];
        assert_eq!(found(seen), expected);
    }

    #[test]
    fn what_others_ran_on_the_hosts_cores_is_no_load_of_the_dut() {
        let taken = || vec![Fault::CpuTaken { milliseconds: 400 }];
        let shared = Watch {
            memory: vec![1000, 3000],
            ..watch(vec![core(CoreRole::Dut, &[900; 5])])
        };
        assert_eq!(
            found_with(shared.clone(), taken()),
            [(Quantity::MemoryGrowth, 2000.0)]
        );
        let relay = DeviceWatch {
            device: "relay".into(),
            machine: None,
            cores: vec![core(CoreRole::Dut, &[400; 5])],
            memory: vec![],
        };
        assert_eq!(
            found_with(
                Watch {
                    devices: vec![relay],
                    ..shared
                },
                taken()
            )
            .len(),
            3,
            "a machine's own time is known"
        );
    }
}
