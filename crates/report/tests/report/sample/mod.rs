//! A realistic run, built in code: four tests, two sizes, three repetitions, with lost and invalid trials.

mod dns;
mod measures;
pub(crate) mod requirements;
mod response;
mod scaling;
mod simulated;
mod soak;
mod stateful;

use sixbench_method::budget::Budget;
use sixbench_method::disturbance::signs_of;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::*;
use sixbench_method::record::*;
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{
    Bracket, CapacityEstimate, Limit, RepetitionStart, SearchMethod, SearchSettings,
};
use sixbench_method::terms::*;
use sixbench_method::trial::*;
use sixbench_report::{Document, Input};

pub(super) const SECOND: u64 = 1_000_000_000;

pub(crate) struct Sample {
    pub(crate) plan: Plan,
    pub(crate) records: Vec<TrialRecord>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) facts: Facts,
    pub(crate) interrupted: bool,
}

impl Sample {
    /// Returns the plan and the facts, without measurements.
    pub(crate) fn empty() -> Self {
        Self {
            plan: plan(),
            records: Vec::new(),
            outcomes: Vec::new(),
            facts: facts(),
            interrupted: true,
        }
        .ended(Some(Ending::Interrupted))
    }

    /// Returns the run with another ending.
    pub(crate) fn ended(mut self, ending: Option<Ending>) -> Self {
        self.interrupted = ending != Some(Ending::Complete);
        self.facts.runs = vec![part(ending)];
        self
    }

    /// Returns a completed run.
    pub(crate) fn complete() -> Self {
        Self::empty().ended(Some(Ending::Complete)).measured()
    }

    /// Returns a completed run of this many tests, each at two sizes, with delays recorded.
    pub(crate) fn of_many(tests: usize) -> Self {
        let mut sample = Self::empty().ended(Some(Ending::Complete));
        let of = |i: usize| {
            test(
                &format!("test-{i}"),
                &format!("Device {i}"),
                ["linux-router", "tayga"][i % 2],
            )
        };
        sample.plan.tests = (0..tests).map(of).collect();
        let mut sample = sample.measured();
        let delays = |i: u64| Bucket::from((20_000 + i * i * 37, 40_000 / (i + 1)));
        let directions = sample
            .records
            .iter_mut()
            .flat_map(|record| &mut record.result.directions);
        directions.for_each(|direction| direction.delays = (0..150).map(delays).collect());
        sample
    }

    fn measured(self) -> Self {
        let mut sample = self;
        let points: Vec<Point> = sample.plan.tests.iter().flat_map(Test::points).collect();
        for (i, point) in points.iter().enumerate() {
            (1..=3).for_each(|repetition| sample.measure(i, point, repetition));
        }
        sample
    }

    /// Writes all views for inspection to a folder in the directory that `SIXBENCH_SAMPLE` names.
    pub(crate) fn keep(&self, folder: &str) {
        let Ok(directory) = std::env::var("SIXBENCH_SAMPLE") else {
            return;
        };
        let directory = format!("{directory}/{folder}");
        std::fs::create_dir_all(format!("{directory}/figures")).expect("a directory");
        let input = self.input();
        let document = Document::new(&input).expect("a report");
        std::fs::write(
            format!("{directory}/report.txt"),
            document.terminal(100, false),
        )
        .expect("a view");
        for (name, text) in document.files().map(|file| file.expect("a report")) {
            std::fs::write(format!("{directory}/{name}"), text).expect("a view");
        }
    }

    pub(crate) fn input(&self) -> Input<'_> {
        Input {
            plan: &self.plan,
            records: &self.records,
            outcomes: &self.outcomes,
            facts: &self.facts,
            commands: "ip netns add sb-dut\nip link add sb-left type veth peer name dut-left netns sb-dut\n",
            generated: "2026-11-21 10:00 UTC",
            interrupted: self.interrupted,
            rfc_budget: Some(Budget {
                measurements: 0,
                trials: 2240,
                seconds: 154_560,
            }),
        }
    }

    /// Makes a binary search on a DUT of known capacity. The third test is faster than the tester.
    fn measure(&mut self, i: usize, point: &Point, repetition: u32) {
        let capacity = [
            412_000, 398_000, 365_000, 350_000, 520_000, 480_000, 49_800, 48_100,
        ][i % 8];
        let capacity = capacity
            * (1000 + u64::from(repetition) * 7 % 13 - 5 + (i as u64 * u64::from(repetition)) % 5)
            / 1000;
        let tester = 460_000;
        let (mut lower, mut upper, mut trial, mut invalid) = (1_000, 600_000, 0, 0);
        while upper - lower > upper / 100 {
            let rate = (lower + upper) / 2;
            trial += 1;
            let unlucky = (i as u32 + trial + repetition).is_multiple_of(11);
            if unlucky {
                invalid += 1;
                self.push(point, repetition, trial, stalled(rate));
                trial += 1;
            }
            let result = if rate > tester {
                too_slow(rate)
            } else {
                trial_result(rate, capacity, repetition)
            };
            match result.verdict(LossRatio::ZERO) {
                Verdict::Passed => lower = rate,
                _ => upper = rate,
            }
            invalid += u32::from(rate > tester);
            self.push(point, repetition, trial, result);
        }
        let limit = if capacity > tester {
            Limit::Tester
        } else {
            Limit::Dut
        };
        let bracket = Bracket {
            goal: LossRatio::ZERO,
            lower: Some(FrameRate(lower)),
            upper: Some(FrameRate(upper)),
            limit,
            exceed_ratio: 0.0,
            conditional_throughput: None,
        };
        let signs = signs_of(
            &bracket,
            LossRatio::ZERO,
            &self.of_repetition(point, repetition),
        );
        self.outcomes.push(Outcome {
            point: point.clone(),
            repetition,
            trials: trial,
            invalid,
            load: None,
            brackets: vec![bracket],
            values: vec![],
            signs,
        });
    }

    /// Returns the trials of a repetition.
    fn of_repetition(&self, point: &Point, repetition: u32) -> Vec<&TrialRecord> {
        self.records
            .iter()
            .filter(|record| record.point == *point && record.repetition == repetition)
            .collect()
    }

    fn push(&mut self, point: &Point, repetition: u32, trial: u32, result: TrialResult) {
        let load = (result.spec.rate.0 / 1000).min(900) as u16;
        let started = "2026-11-21T09:00:00Z".to_owned();
        let watch = Some(watch(load).into());
        self.records.push(TrialRecord {
            format: FORMAT,
            point: point.clone(),
            repetition,
            trial,
            load: None,
            started,
            result,
            watch,
        });
    }
}

fn trial_result(rate: u64, capacity: u64, repetition: u32) -> TrialResult {
    let offered = rate * 3;
    let received = offered.min(capacity * 3);
    let direction = |direction, factor: u64| {
        let mut d = DirectionResult::counted(direction, offered, received);
        d.sending = Sending {
            nominal_ns: 3 * SECOND,
            took_ns: 3 * SECOND,
            worst_lateness_ns: 40_000 + rate / 4,
            late_frames: 0,
        };
        d.receiving = Receiving {
            worst_gap_ns: 90_000 + rate / 3 * factor,
            overruns: 0,
        };
        let lost = offered - received;
        if lost > 0 {
            d.lost_by_bin = (0..30)
                .map(|bin| lost / 30 * (28 + (bin * 7 * factor) % 5) / 30)
                .collect();
            d.reordered = factor * 12;
            d.refused = lost / 2;
        }
        d.foreign = u64::from(repetition == 1);
        let busy = 1000 + rate / 200;
        let median_ns = 21_000 + busy * factor;
        d.delay = Some(Delay {
            count: received,
            min_ns: 8_000,
            median_ns,
            p999_ns: 9 * median_ns,
            max_ns: 60 * median_ns,
            moments: None,
            bounds: None,
        });
        d
    };
    let mut directions = vec![
        direction(Direction::Forward, 1),
        direction(Direction::Reverse, 2),
    ];
    if rate == 75_875 {
        directions[0].mistranslated = 3;
        directions[0].examples =
            vec!["expected hop limit 63, got 64 <in the IPv6 header>".to_owned()];
    }
    TrialResult::new(
        TrialSpec::constant(FrameRate(rate), 3 * SECOND),
        directions,
        vec![],
    )
}

fn stalled(rate: u64) -> TrialResult {
    let mut result = trial_result(rate, u64::MAX / 8, 2);
    result.directions[1].received -= 200;
    result.directions[1].sending.worst_lateness_ns = 6_400_000;
    let fault = Fault::SenderStalled {
        direction: Direction::Reverse,
        worst_lateness_ns: 6_400_000,
        frames: 2_300,
    };
    result.faults.push(fault);
    result
}

fn too_slow(rate: u64) -> TrialResult {
    let mut result = trial_result(rate, u64::MAX / 8, 2);
    let took_ns = 3 * SECOND * rate / 460_000;
    for d in &mut result.directions {
        d.sending.took_ns = took_ns;
        d.sending.worst_lateness_ns = took_ns - 3 * SECOND;
    }
    result.faults.push(Fault::SentTooSlowly {
        direction: Direction::Forward,
        nominal_ns: 3 * SECOND,
        took_ns,
    });
    result
}

pub(super) fn watch(load: u16) -> Watch {
    let sample = |i: u16| {
        let softirq = (load + (i * 37) % 60).min(940);
        CpuSample {
            user: 10 + i % 7,
            system: 25 + (i * 13) % 20,
            softirq,
            idle: 960 - softirq,
            steal: i % 4,
        }
    };
    let core = |core, role| CoreWatch {
        core,
        role,
        samples: (0..16).map(sample).collect(),
    };
    let cores = vec![core(0, CoreRole::Tester), core(1, CoreRole::Dut)];
    Watch {
        interval_ns: 200_000_000,
        cores,
        ..Watch::default()
    }
}

pub(super) fn plan() -> Plan {
    let duts = [
        ("linux-ipv4", "Linux IPv4 forwarding", "linux-router"),
        ("jool-siit", "Jool SIIT <b>\"4.1\"</b>", "jool-siit"),
        ("vpp-nat64", "VPP NAT64", "vpp"),
        ("tayga", "TAYGA NAT64", "tayga"),
    ];
    Plan {
        name: "quickstart".to_owned(),
        profile: Profile::Smoke,
        seed: 8219,
        trial: TrialSettings {
            duration_ns: 3 * SECOND,
            residual_ns: SECOND / 2,
            rest_ns: SECOND / 5,
            frame_timeout_ns: 0,
            stall_ns: 2_000_000,
        },
        search: SearchSettings {
            method: SearchMethod::Binary,
            minimum: FrameRate(1_000),
            maximum: FrameRate(600_000),
            width: 0.01,
            goals: vec![LossRatio::ZERO],
            max_invalid: 3,
            start: RepetitionStart::Median,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        },
        patience_ns: Plan::USUAL_PATIENCE_NS,
        link_rate: None,
        interleave: false,
        exports: Vec::new(),
        reference: None,
        tests: duts
            .map(|(name, title, dut)| test(name, title, dut))
            .to_vec(),
    }
}

pub(super) fn test(name: &str, title: &str, dut: &str) -> Test {
    Test {
        title: title.to_owned(),
        frame_sizes: vec![FrameSize(84), FrameSize(1518)],
        repetitions: Repetition::Fixed(3),
        ..Test::new(name, dut)
    }
}

fn facts() -> Facts {
    let dut = |title: &str, version: &str, technology: &str, path: &str, text: &str| DutFacts {
        title: title.to_owned(),
        version: version.to_owned(),
        technology: technology.to_owned(),
        files: [(path.to_owned(), text.to_owned())].into(),
        certificates: vec![],
        layout: [
            "tester and DUT are joined by two veth pairs; the DUT is in namespace sb-dut"
                .to_owned(),
            format!("core 0 sends and receives; core 1 is that of {title}"),
        ]
        .into(),
        machine: Default::default(),
        defect_vectors: vec![],
        authority: Default::default(),
        in_memory: false,
        links: LinkKind::Unknown,
        cables: vec![],
        path: None,
    };
    let named = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect()
    };
    Facts {
        sixbench: "0.1.0".to_owned(),
        host: named(&[
            ("cores", "4"),
            ("kernel", "Linux 6.1.0-26-amd64"),
            ("memory", "8 GiB"),
            ("processor", "AMD EPYC 7B13"),
        ]),
        layout: vec![],
        duts: [
            (
                "linux-router".to_owned(),
                dut(
                    "Linux kernel",
                    "6.1.0-26-amd64",
                    "ipv4",
                    "/etc/sysctl.d/60-forward.conf",
                    "net.ipv4.ip_forward = 1\n",
                ),
            ),
            (
                "tayga".to_owned(),
                dut(
                    "TAYGA",
                    "0.9.2",
                    "nat64",
                    "/etc/tayga.conf",
                    "tun-device nat64\nprefix 64:ff9b::/96\n",
                ),
            ),
        ]
        .into(),
        warnings: vec![warning(
            "the machine is virtual: its host may take processor time away",
        )],
        runs: vec![part(Some(Ending::Complete))],
        labels: [("rack".to_owned(), "b4".to_owned())].into(),
        selection: Selection::default(),
        measured_on: Default::default(),
        not_run: vec![],
        disturbers: vec![],
        code: code(),
    }
}

/// Returns the recipes of the run: one that comes with sixbench, and one from the plan.
fn code() -> Vec<CodeFile> {
    let file = |of: &str, path: &str, digit: &str, origin| CodeFile {
        of: of.to_owned(),
        path: path.to_owned(),
        sha256: digit.repeat(64),
        origin,
    };
    vec![
        file(
            "linux-router",
            "linux-router.toml",
            "1",
            CodeOrigin::BuiltIn,
        ),
        file("tayga", "recipes/tayga.toml", "f", CodeOrigin::Plan),
    ]
}

/// Returns a run in one part with this ending.
pub(crate) fn part(ending: Option<Ending>) -> RunPart {
    let [started, ended] = ["2026-11-21T08:59:58Z", "2026-11-21T09:30:00Z"].map(str::to_owned);
    let command = "sixbench run plans/quickstart.toml --label rack=b4".to_owned();
    RunPart {
        host: "alpha".to_owned(),
        command,
        started,
        ended: ending.is_some().then_some(ended),
        estimate_s: None,
        ending,
    }
}

/// Returns a warning that is only a sentence, as facts of version 0.1 have them.
pub(crate) fn warning(text: &str) -> Warning {
    Warning::Text {
        text: text.to_owned(),
    }
}
