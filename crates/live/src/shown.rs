//! Trials as the page shows them: numbers in the same words as in the reports.

use serde::Serialize;
use sixbench_method::lists::by_key;
use sixbench_method::record::{CoreRole, CoreWatch, TrialRecord};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{DirectionResult, Verdict};
use sixbench_method::units::show_rate;
use sixbench_report::event_words;

/// The most trials of a search that the page draws; it draws the latest.
const MOST_DRAWN: usize = 60;

/// The trials of the measurement under way.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct SearchTrace {
    pub(crate) trials: Vec<SearchedLoad>,
}

/// One load that was tried.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SearchedLoad {
    pub(crate) number: u32,
    pub(crate) rate: u64,
    words: String,
    verdict: &'static str,
}

impl SearchTrace {
    pub(crate) fn note(&mut self, record: &TrialRecord, verdict: Verdict) {
        let rate = record.result.spec.rate;
        let (words, verdict) = (load(record, rate), event_words::word(verdict));
        self.trials.push(SearchedLoad {
            number: record.trial,
            rate: rate.0,
            words,
            verdict,
        });
        let surplus = self.trials.len().saturating_sub(MOST_DRAWN);
        self.trials.drain(..surplus);
    }
}

fn load(record: &TrialRecord, rate: FrameRate) -> String {
    format!(
        "{} {}",
        show_rate(rate),
        record.result.spec.kind.rate_unit()
    )
}

/// The trial that ended last.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LastTrial {
    point: String,
    load: String,
    verdict: &'static str,
    /// The faults of the trial in words, including those that did not make it invalid.
    faults: Vec<String>,
    pub(crate) directions: Vec<LastDirection>,
    pub(crate) processors: Vec<Processors>,
}

/// One direction of a trial: counts of frames, or of whatever else the trial sends.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LastDirection {
    pub(crate) direction: String,
    pub(crate) intended: u64,
    pub(crate) offered: u64,
    pub(crate) received: u64,
    pub(crate) missing: u64,
    pub(crate) lateness_ns: u64,
}

/// The cores of one owner during a trial, each with its mean load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Processors {
    pub(crate) owner: String,
    pub(crate) cores: Vec<BusyCore>,
}

/// One core during a trial.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BusyCore {
    pub(crate) core: u32,
    pub(crate) busy_percent: f64,
}

impl LastTrial {
    pub(crate) fn new(record: &TrialRecord, verdict: Verdict) -> Self {
        let result = &record.result;
        Self {
            point: record.point.to_string(),
            load: load(record, result.spec.rate),
            verdict: event_words::word(verdict),
            faults: result.faults.iter().map(ToString::to_string).collect(),
            directions: result.directions.iter().map(LastDirection::new).collect(),
            processors: processors(record),
        }
    }
}

impl LastDirection {
    fn new(result: &DirectionResult) -> Self {
        Self {
            direction: result.direction.to_string(),
            intended: result.intended,
            offered: result.offered,
            received: result.received,
            missing: result.not_received(),
            lateness_ns: result.sending.worst_lateness_ns,
        }
    }
}

/// Returns the cores of the tester and of the device; other cores are left out.
fn processors(record: &TrialRecord) -> Vec<Processors> {
    let Some(watch) = &record.watch else {
        return Vec::new();
    };
    let owner = |role| match role {
        CoreRole::Tester => Some("tester".to_owned()),
        CoreRole::Dut => Some("device".to_owned()),
        CoreRole::Other => None,
    };
    let here = watch
        .cores
        .iter()
        .filter_map(|core| Some((owner(core.role)?, busy(core)?)));
    let own = watch.devices.iter().flat_map(|device| {
        device
            .cores
            .iter()
            .filter_map(|core| Some((device.device.clone(), busy(core)?)))
    });
    by_key(here.chain(own))
        .into_iter()
        .map(|(owner, cores)| Processors { owner, cores })
        .collect()
}

fn busy(core: &CoreWatch) -> Option<BusyCore> {
    if core.samples.is_empty() {
        return None;
    }
    // The idle share of a sample is in per mille.
    let mean = core
        .samples
        .iter()
        .map(|sample| f64::from(1000 - sample.idle.min(1000)) / 10.0)
        .sum::<f64>()
        / core.samples.len() as f64;
    Some(BusyCore {
        core: core.core,
        busy_percent: mean,
    })
}

/// A trial that gave no information.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InvalidTrial {
    /// The time it began, RFC 3339.
    started: String,
    point: String,
    load: String,
    reason: String,
}

impl InvalidTrial {
    pub(crate) fn new(record: &TrialRecord) -> Self {
        let faults = &record.result.faults;
        let first = faults
            .first()
            .map_or_else(|| "no fault is on record".to_owned(), ToString::to_string);
        let reason = if faults.len() > 1 {
            format!("{first}; {} more faults", faults.len() - 1)
        } else {
            first
        };
        let (started, point) = (record.started.clone(), record.point.to_string());
        Self {
            started,
            point,
            load: load(record, record.result.spec.rate),
            reason,
        }
    }
}
