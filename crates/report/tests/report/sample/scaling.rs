//! A run of a chain of two devices over cores, as by Lencse and Nagy: 464XLAT with the PLAT as the bottleneck, MAP-T with the CE as the bottleneck.

use super::{SECOND, Sample, plan, test, watch};
use sixbench_method::plan::*;
use sixbench_method::record::{CoreRole, CoreWatch, CpuSample, DeviceWatch, Ending, Watch};
use sixbench_method::terms::*;
use sixbench_method::trial::*;
use sixbench_method::units::counted;

const CORES: [u32; 5] = [1, 2, 4, 8, 16];
/// The medians in the paper's tables 2 and 3.
const XLAT: [u64; 5] = [165_403, 236_869, 425_021, 510_155, 530_064];
const MAP_T: [u64; 5] = [143_498, 250_858, 475_051, 835_180, 1_183_615];

impl Sample {
    /// Returns 464XLAT and MAP-T over the cores of both devices.
    pub(crate) fn of_chains() -> Self {
        let of =
            |name: &'static str, title: &'static str| CORES.map(|cores| step(name, title, cores));
        let tests = of("xlat", "Jool, 464XLAT")
            .into_iter()
            .chain(of("mapt", "Jool, MAP-T"))
            .collect();
        let mut plan = Plan {
            name: "cores".to_owned(),
            tests,
            ..plan()
        };
        plan.search.maximum = FrameRate(2_000_000);
        plan.search.width = 0.001;
        let mut sample = Self {
            plan,
            ..Self::empty().ended(Some(Ending::Complete))
        };
        for test in sample.plan.tests.clone() {
            for point in test.points() {
                (1..=3).for_each(|repetition| sample.forward(&test, &point, repetition));
            }
        }
        sample
    }

    /// Adds five repetitions of a test at the rate of 464XLAT on one core, in which the devices are half as busy.
    pub(crate) fn of_repeated_chains() -> Self {
        let mut sample = Self::of_chains();
        let pdv = PdvStream {
            load: Load::OfThroughput(1.0),
            duration_ns: SECOND,
        };
        let test = Test {
            name: "again".to_owned(),
            measure: Measure::Pdv(pdv),
            series: None,
            ..sample.plan.tests[0].clone()
        };
        sample.plan.tests.push(test.clone());
        let point = test.points().next().expect("a frame size");
        for repetition in 1..=5 {
            sample.drive(&point, repetition, |spec| {
                (forwarded(*spec, XLAT[0]), watched(&test, 0.5))
            });
        }
        sample
    }

    fn forward(&mut self, test: &Test, point: &Point, repetition: u32) {
        let place = CORES
            .iter()
            .position(|cores| Some(*cores) == test.cores)
            .expect("a step");
        let median = if test.dut == "xlat" {
            XLAT[place]
        } else {
            MAP_T[place]
        };
        let capacity = median * (990 + 5 * u64::from(repetition)) / 1000;
        self.drive(point, repetition, |spec| {
            let load = spec.rate.0 as f64 / capacity as f64;
            (forwarded(*spec, capacity), watched(test, load.min(1.0)))
        });
    }
}

fn step(name: &str, title: &str, cores: u32) -> Test {
    let series = Series {
        name: name.to_owned(),
        by: SeriesBy::Cores,
        at: f64::from(cores),
        device: None,
    };
    let test = test(
        &format!("{name}-{cores}"),
        &format!("{title}, {}", counted(cores, "core")),
        name,
    );
    Test {
        cores: Some(cores),
        series: Some(series),
        frame_sizes: vec![FrameSize(84)],
        ..test
    }
}

fn forwarded(spec: TrialSpec, capacity: u64) -> TrialResult {
    let received = spec.frames().min(capacity * spec.duration_ns / SECOND);
    let of = |&direction: &Direction| DirectionResult::counted(direction, spec.frames(), received);
    let directions = Directions::Both.each().iter().map(of).collect();
    TrialResult::new(spec, directions, vec![])
}

/// Returns how busy the devices are. On one core of 464XLAT the PLAT is fully busy and the CLAT has a fifth left, as in figures 8 and 9; on 16 cores
/// two thirds, as in 10 and 11. With MAP-T the CE is fully busy, and the BR has less and less left, as in figures 14 to 17.
fn watched(test: &Test, load: f64) -> Watch {
    let cores = test.cores.unwrap_or(1);
    let many = f64::from(cores).log2() / 4.0;
    let devices = match test.dut.as_str() {
        "xlat" => [
            ("jool-clat", 0.8 - 0.47 * many),
            ("jool-plat", 0.99 - 0.04 * many),
        ],
        _ => [
            ("jool-ce", 0.98 + 0.01 * many),
            ("jool-br", 0.68 + 0.23 * many),
        ],
    };
    let mut watch = watch(500);
    watch.cores.retain(|core| core.role != CoreRole::Dut);
    watch.devices = devices
        .map(|(name, busy)| device(name, cores, busy * load))
        .into();
    watch
}

fn device(name: &str, cores: u32, busy: f64) -> DeviceWatch {
    let sample = |core: u32, at: u32| {
        let softirq = if at == 0 || at == 15 {
            100
        } else {
            (busy * 990.0) as u16 + ((core * 5 + at * 3) % 11) as u16
        };
        CpuSample {
            softirq,
            idle: 1000 - softirq,
            ..CpuSample::default()
        }
    };
    let core = |core| CoreWatch {
        core,
        role: CoreRole::Dut,
        samples: (0..16).map(|at| sample(core, at)).collect(),
    };
    DeviceWatch {
        device: name.to_owned(),
        machine: None,
        cores: (0..cores).map(core).collect(),
        memory: vec![],
    }
}
